/*
 * shard_private: shared by the files of shards: the manifest, which shard_deal.c writes and shard.c
 * reads; how rows are dealt; and rows that ranks send each other.  Threads: no shared state.
 */
#ifndef GPNN_SHARD_SHARD_PRIVATE_H
#define GPNN_SHARD_SHARD_PRIVATE_H

#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "shard/shard.h"

/* What the manifest says of a shard. */
struct gpnn_shard_entry {
  uint64_t n;           /* rows */
  uint64_t fingerprint; /* of its index */
  uint64_t numbers;     /* checksum of their numbers */
};

/* The checksum of the numbers of rows and, unless it is NULL, of the sets of copies they are of. */
uint64_t gpnn_shard_checksum(uint64_t n, const uint64_t *number, const uint32_t *set);

#define GPNN_SHARD_FIRST_LINE "gpnn-shards 1\n"

/* ---- deal.c: which rank gets which rows ------------------------------------------------------ */

/*
 * Space is cut into boxes, one a rank, each cut across the direction in which the rows are widest
 * and so that each side has its share of the rows; the cuts are those of a sample.  Rows that are
 * equal in that direction go by their numbers, so that shares are equal whatever the rows are.
 */

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

/* ---- rows.c: rows that ranks send each other ------------------------------------------------- */

/*
 * All that a dataset has of a training row as numbers in a line: its number among all rows, the
 * target, the inputs, the regressors, and then noise variance, offset, exposure and set of copies
 * as far as there are any.  The numbers of rows are exact up to 2^53.
 */

/* How many numbers a packed row of 'dataset', the view of one target, has. */
size_t gpnn_rows_width(const struct gpnn_dataset *dataset);

/* Writes row 'i', which is row 'number' of all, to 'packed'. */
void gpnn_rows_pack(const struct gpnn_dataset *dataset, size_t i, double number, double *packed);

/* Rows in memory, with all else that a dataset has. */
struct gpnn_rows {
  struct gpnn_dataset dataset; /* borrows from the one it is like */
  double *numbers;             /* owned; n: that of each among all rows */
  double *memory;              /* owned */
  uint32_t *sets;              /* owned; n: dataset.row_group, if the rows have any */
};

/* Room for 'n' rows of a dataset like 'like', whose fingerprint and search it has.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_rows_new(struct gpnn_rows *rows,
                                               const struct gpnn_dataset *like, size_t n,
                                               struct gpnn_error *err);

/* Sets row 'i' to a packed one. */
void gpnn_rows_set(struct gpnn_rows *rows, size_t i, const double *packed);

/* Zeroed rows may be released. */
void gpnn_rows_release(struct gpnn_rows *rows);

#endif
