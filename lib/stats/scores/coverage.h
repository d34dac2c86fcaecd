/*
 * coverage: how good predicted intervals are, wherever they come from.
 *
 * For intervals [l, u] that should contain the truth y with probability p = 1 - alpha:
 *   coverage: the fraction of rows with l <= y <= u;   width: the mean of u - l;
 *   score: the mean of u - l + 2/alpha (l - y) [y < l] + 2/alpha (y - u) [y > u]
 * (gpnn-methods(7), equations 9.10 to 9.12).  The score is proper: its expectation is least for the
 * true quantiles.
 *
 * Calling sequence: gpnn_coverage_add() row by row on a zeroed object, then gpnn_coverage_result().
 * Nothing needs to be released.
 */
#ifndef GPNN_STATS_COVERAGE_H
#define GPNN_STATS_COVERAGE_H

#include <stddef.h>

#include "base/status.h"
#include "stats/sum.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A zeroed object is empty.  No memory is owned. */
struct gpnn_coverage {
  size_t n;
  struct gpnn_sum covered;        /* of each row 1, 0, or with which probability it is */
  struct gpnn_sum width, outside; /* outside: the distance of the truth from its interval */
};

struct gpnn_coverage_result {
  size_t n; /* rows added; without any, the rest is NaN */
  double coverage, width, score;
};

/* Adds one row; the bounds may be infinite.  GPNN_EDATA, with nothing added: 'lower' is not at most
 * 'upper', or one of them is NaN. */
GPNN_MUST_CHECK enum gpnn_status gpnn_coverage_add(struct gpnn_coverage *coverage, double truth,
                                                   double lower, double upper,
                                                   struct gpnn_error *err);

/* Adds one row of which only is known whether its interval contains the truth, 1 or 0, or with
 * which probability: width and score of all rows are then NaN. */
void gpnn_coverage_add_unmeasured(struct gpnn_coverage *coverage, double covered);

/* 'level' is p in (0, 1), or NaN if it is unknown; then the score is NaN too. */
struct gpnn_coverage_result gpnn_coverage_result(const struct gpnn_coverage *coverage,
                                                 double level);

/* The standard error of a coverage counted over 'n' independent rows whose intervals have the
 * coverage p = 'level': sqrt(p (1 - p) / n); INFINITY for n = 0. */
double gpnn_coverage_se(double level, size_t n);

#ifdef __cplusplus
}
#endif

#endif
