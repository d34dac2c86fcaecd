/*
 * classification: how good predictions of classes are, and how honest their probabilities
 * (gpnn-methods(7), section 9).
 *
 * Over n rows with true class y, label and probabilities p_c of the K classes:
 *   error = share of rows whose label is not y;
 *   NLL = mean of -log p_y, with p_y no less than GPNN_CLASSIFICATION_FLOOR;
 *   Brier score = mean of sum_c (p_c - [c = y])^2 (Brier 1950), from 0 to 2, also for two classes;
 *   ECE = expected calibration error of the largest probability (stats/reliability.h), and its mean
 *   by chance;
 *   AUC = area below the curve of stats/roc.h: with two classes that of the second one's
 *   probability, with more the mean over classes, each against all others (classes that no row or
 *   every row belongs to are left out);
 *   counts of labels, precision and recall (stats/confusion.h).
 * Rows of a class that has no probability ("unseen") count in the error and the counts alone.
 *
 * Calling sequence: gpnn_classification_init() on a zeroed object, gpnn_classification_add() row by
 * row, the results, gpnn_classification_release().  It takes 8 bytes of memory per row, and if it
 * ranks, 8 more per row and class (or per row, with two classes) and 4 per row.
 */
#ifndef GPNN_STATS_CLASSIFICATION_H
#define GPNN_STATS_CLASSIFICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "stats/confusion.h"
#include "stats/reliability.h"
#include "stats/roc.h"
#include "stats/sum.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GPNN_CLASSIFICATION_FLOOR 1e-300

/* How far probabilities may be outside [0, 1], and their sum from 1: some have few digits. */
#define GPNN_CLASSIFICATION_EXCESS 1e-6
#define GPNN_CLASSIFICATION_SUM_TOLERANCE 0.01

/* The prediction of a row and its truth; classes are numbers from 0. */
struct gpnn_classification_row {
  uint32_t truth, label;
  const double *p; /* of classes 0 to n_classes - 1; NULL: not known */
  /* What is known without 'p': the most probable class and its probability (NaN: not known), and
   * the logarithm of the probability of the truth (NaN: not known; may be -INFINITY). */
  uint32_t top;
  double top_probability, logp;
};

struct gpnn_classification {
  size_t n_classes; /* with probabilities; 0: there are none */
  bool ranks;       /* AUC and curves are wanted */
  size_t n;         /* rows added */
  size_t n_unseen;  /* rows of a class without a probability */
  size_t n_scored;  /* rows with a 'logp', given or from probabilities */
  size_t n_floored; /* those whose truth had a probability below the floor */
  size_t n_unequal; /* rows whose probabilities do not sum to 1 */
  struct gpnn_confusion confusion;
  struct gpnn_sum nll, brier;
  struct gpnn_reliability reliability;
  /* If it ranks, of the rows with probabilities that are not unseen: */
  size_t n_ranked;
  double *scores;   /* owned; n_ranked by n_classes, or n_ranked of the second of two classes */
  uint32_t *truths; /* owned; n_ranked */
  size_t scores_capacity, truths_capacity;
};

/* Sets what is fixed: the number of classes that rows have probabilities of, at most 2^31, and
 * whether AUC and curves will be asked for. */
void gpnn_classification_init(struct gpnn_classification *classification, size_t n_classes,
                              bool ranks);

/*
 * Adds a row; with n_classes > 0 every row has probabilities.
 * GPNN_EDATA: a probability is not between 0 and 1, or a logp above 0.  GPNN_ENOMEM.  After a
 * failure, only release the object.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_classification_add(struct gpnn_classification *classification,
                                                         const struct gpnn_classification_row *row,
                                                         struct gpnn_error *err);

/* NaN: not known, for want of probabilities or of rows. */
struct gpnn_classification_result {
  size_t n, n_unseen;
  double error, nll, brier, ece, ece_chance, auc;
};

/* Computes the result; more rows may be added afterwards.  GPNN_EDATA: no row has been added.
 * GPNN_ENOMEM: no room to sort. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_classification_result(struct gpnn_classification *classification,
                           struct gpnn_classification_result *result, struct gpnn_error *err);

/* The area of class 'c' < n_classes against all others; NaN if it has no rows, or all of them, or
 * nothing is ranked.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_classification_area(const struct gpnn_classification *classification, size_t c, double *area,
                         struct gpnn_error *err);

/* The curve of class 'c', of two classes the second: '*n_points' <= 'most' points
 * (gpnn_roc_curve()).  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_classification_curve(const struct gpnn_classification *classification, size_t c, size_t most,
                          struct gpnn_roc_point *points, size_t *n_points, struct gpnn_error *err);

void gpnn_classification_release(struct gpnn_classification *classification);

#ifdef __cplusplus
}
#endif

#endif
