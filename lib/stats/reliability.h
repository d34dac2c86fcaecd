/*
 * reliability: whether events that were predicted with some probability occur that often
 * (gpnn-methods(7), section 9).
 *
 * Each row has a probability and is right or not.  Rows are divided into bins ((b-1)/B, b/B] by
 * their probability; in a bin of n_b rows, the mean probability and the share of right rows should
 * agree.  The expected calibration error is ECE = sum over bins of n_b/n |share - mean| (Naeini,
 * Cooper and Hauskrecht 2015; Guo, Pleiss, Sun and Weinberger 2017, with the bins of the latter).
 *
 * By chance alone the two differ, the more so the fewer rows there are.  How much is found by
 * drawing: 100 times, each row is right with its probability, and the error is averaged.
 *
 * Calling sequence: gpnn_reliability_add() row by row on a zeroed object, then its results;
 * gpnn_reliability_release().  It takes 8 bytes of memory per row.  Results do not depend on the
 * order of the rows but for rounding.
 */
#ifndef GPNN_STATS_RELIABILITY_H
#define GPNN_STATS_RELIABILITY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "stats/sum.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GPNN_RELIABILITY_BINS = 15 };

/* A zeroed object is empty. */
struct gpnn_reliability {
  size_t n;
  struct gpnn_reliability_sums {
    size_t n, n_right;
    struct gpnn_sum probability, variance; /* p and p (1 - p), summed */
  } sums[GPNN_RELIABILITY_BINS];
  double *probabilities; /* owned; n */
  size_t capacity;
};

/* Adds a row; 'probability' in [0, 1].  GPNN_ENOMEM: nothing is added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_reliability_add(struct gpnn_reliability *reliability,
                                                      double probability, bool is_right,
                                                      struct gpnn_error *err);

struct gpnn_reliability_bin {
  double from, to;
  size_t n;
  double predicted, observed; /* mean probability, share of right rows; NaN without rows */
  double se;                  /* the standard error of 'observed', if the probabilities are right */
};

/* Bin 'b' < GPNN_RELIABILITY_BINS. */
struct gpnn_reliability_bin gpnn_reliability_bin(const struct gpnn_reliability *reliability,
                                                 size_t b);

/* The expected calibration error; NaN without rows. */
double gpnn_reliability_error(const struct gpnn_reliability *reliability);

/* Its mean if the probabilities are right, from draws that are always the same; sorts the rows. */
double gpnn_reliability_chance(struct gpnn_reliability *reliability);

void gpnn_reliability_release(struct gpnn_reliability *reliability);

#ifdef __cplusplus
}
#endif

#endif
