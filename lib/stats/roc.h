/*
 * roc: how well scores tell rows of one class from all others (gpnn-methods(7), section 9).
 *
 * Rows with a score of at least some threshold are taken for the class.  The share of the class
 * that this finds (the true positive rate) against the share of all others that it takes too (the
 * false positive rate), for every threshold, is the receiver operating characteristic.  The area
 * below it is the probability that a row of the class has a higher score than another one, ties
 * counting one half (Mann and Whitney 1947; Hanley and McNeil 1982).
 *
 * Calling sequence: gpnn_roc_area() with all rows, which sorts them, then gpnn_roc_curve().
 */
#ifndef GPNN_STATS_ROC_H
#define GPNN_STATS_ROC_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_roc_row {
  double score; /* not NaN */
  bool is_positive;
};

/* Sorts the rows by descending score and returns the area in [0, 1]; NaN unless there are rows of
 * the class and others. */
double gpnn_roc_area(size_t n, struct gpnn_roc_row *rows);

struct gpnn_roc_point {
  double threshold; /* INFINITY at the first point: no row is taken for the class */
  double false_positive, true_positive;
};

/*
 * Writes points of the curve, from (0, 0) to (1, 1), to 'points' and returns how many: those of all
 * thresholds, but for points so near to the one before that there are more than 'most' (at least
 * 3).  The rows are sorted as above; 0 if they do not include both kinds.
 */
size_t gpnn_roc_curve(size_t n, const struct gpnn_roc_row *rows, size_t most,
                      struct gpnn_roc_point *points);

#ifdef __cplusplus
}
#endif

#endif
