/*
 * holdout_private: shared by the files of holdout.
 *
 * holdout.c leaves out rows alone and in clusters, and finds the nearest remaining rows by scanning
 * all rows, because a search cannot leave out balls or clusters.  holdout_like.c leaves out balls
 * around rows.
 */
#ifndef GPNN_MODELS_LOCAL_HOLDOUT_PRIVATE_H
#define GPNN_MODELS_LOCAL_HOLDOUT_PRIVATE_H

#include "models/heldout_rows.h"
#include "models/local/local_private.h"

/* A training row and its squared distance, in lengthscales. */
struct gpnn_ranked_row {
  double r2;
  int64_t row;
};

/* Training rows along the axes of the lengthscales, as all points passed to a scan must be. */
struct gpnn_scan {
  const struct gpnn_dataset *data;
  const double *x;       /* n by d */
  double *rotated;       /* owned; 'x' if the rows had to be rotated, or NULL */
  const double *inverse; /* d: 1 / lengthscale */
  size_t k;              /* nearest rows to find */
  int threads;
  struct gpnn_ranked_row *heap; /* owned; threads by k */
};

/* Training rows that are left out: a list, those of a row's group, and those in a ball. */
struct gpnn_left_out {
  size_t n;
  const int64_t *row;   /* n, ascending */
  const int64_t *self;  /* the row whose group is left out, if rows have groups; NULL: none */
  const double *centre; /* d: the centre of the ball; NULL: no ball */
  double ball_r2;       /* its squared radius; rows at this distance remain */
};

/* 'scan' must be zeroed, borrows from 'channel', and is released even after a failure. */
GPNN_MUST_CHECK enum gpnn_status gpnn_scan_init(struct gpnn_scan *scan,
                                                const struct gpnn_local_channel *channel, size_t k,
                                                int threads, struct gpnn_error *err);
void gpnn_scan_release(struct gpnn_scan *scan);

/* Squared distance, in lengthscales, from the point 'x' to a training row. */
double gpnn_scan_distance(const struct gpnn_scan *scan, const double *x, size_t row);

/* Writes the k remaining training rows nearest to 'x', nearest first, padded with -1. */
void gpnn_scan_find(const struct gpnn_scan *scan, size_t thread, const double *x,
                    const struct gpnn_left_out *left_out, int64_t *found);

/* For qsort(): ranked rows by distance, then by row. */
int gpnn_ranked_row_compare(const void *a, const void *b);

/* gpnn_local_hold_out() for GPNN_HOLDOUT_LIKE. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_local_hold_out_like(const struct gpnn_local_channel *channel, int threads,
                         const struct gpnn_holdout_options *options, struct gpnn_heldout *heldout,
                         struct gpnn_error *err);

#endif
