/*
 * split: assigning rows at random to the parts of a split.
 *
 * By rows: gpnn_split_init(), then gpnn_split_next() for each row.  Each part gets an exact number
 * of rows, and all ways to choose them are equally likely (selection sampling: Knuth, The Art of
 * Computer Programming 2, 3.4.2, algorithm S, here for several parts).  Rows are assigned one at a
 * time and in constant memory, but their number must be known beforehand.
 * By groups: gpnn_split_init(), then gpnn_split_group() for each row.  Rows of the same group go to
 * the same part, which follows from a hash of the group's name, so that parts have their shares
 * only on average.
 *
 * Threads: gpnn_split_next() changes the split, which belongs to one thread at a time.
 */
#ifndef GPNN_TABLE_SPLIT_H
#define GPNN_TABLE_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"

enum { GPNN_SPLIT_PARTS = 500 };

/* Holds no memory of its own: nothing to release. */
struct gpnn_split {
  size_t n_parts;
  double share[GPNN_SPLIT_PARTS];       /* of all rows, for each part; they sum to 1 */
  uint64_t remaining[GPNN_SPLIT_PARTS]; /* rows that each part is still to get */
  uint64_t n_remaining;                 /* their sum */
  uint64_t seed;
  struct gpnn_rng rng;
};

/*
 * Prepares to split 'n_rows' rows into 'n_parts' parts (2 to GPNN_SPLIT_PARTS) in proportion to
 * 'weights' (> 0).  Shares are rounded to whole rows by the largest remainders.  GPNN_EDATA: some
 * part would get no row, as with fewer rows than parts.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_split_init(struct gpnn_split *split, size_t n_parts,
                                                 const double *weights, uint64_t n_rows,
                                                 uint64_t seed, struct gpnn_error *err);

/* Draws the part of the next row, from 0.  GPNN_EDATA: there have been 'n_rows' already. */
GPNN_MUST_CHECK enum gpnn_status gpnn_split_next(struct gpnn_split *split, size_t *part,
                                                 struct gpnn_error *err);

/* The part of the group called 'name' ('length' bytes), from 0; depends on nothing but the name,
 * the shares and the seed. */
size_t gpnn_split_group(const struct gpnn_split *split, const char *name, size_t length);

#endif
