/*
 * deal: which rank gets which rows.
 *
 * Space is cut into boxes, one a rank, each cut across the direction in which the rows are widest
 * and so that each side has its share of the rows; the cuts are those of a sample.  Rows that are
 * equal in that direction go by their numbers, so that shares are equal whatever the rows are.
 * Threads: no shared state.
 */
#ifndef GPNN_SHARD_DEAL_H
#define GPNN_SHARD_DEAL_H

#include <stddef.h>

#include "base/status.h"

/* Between ranks: rows that come before it go to the first of them. */
struct gpnn_cut {
  size_t axis;
  double value, number; /* of the first row behind it */
};

/*
 * Finds the cuts between 'n_ranks' > 0 ranks, 'cuts' (n_ranks), of which entry 0 is not used, for
 * 'n' sampled rows 'x' (n by d, row-major), row i of which is row number[i] of all.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_deal_cuts(size_t n, size_t d, const double *x,
                                                const double *number, size_t n_ranks,
                                                struct gpnn_cut *cuts, struct gpnn_error *err);

/* The rank that row 'x' (d), which is row 'number' of all, goes to. */
size_t gpnn_deal_rank(size_t n_ranks, const struct gpnn_cut *cuts, const double *x, double number);

#endif
