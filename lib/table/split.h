/*
 * split: which part of a split each row goes to.
 *
 * By rows: every way to give the parts their exact numbers of rows is equally likely
 * (selection sampling: Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S, for
 * several parts), one row at a time and in constant memory, once the number of rows is known.
 * By groups: rows with the same group name go to the same part, which is drawn from a hash of
 * the name, so that the parts' shares are right only on average.
 */
#ifndef GPNN_TABLE_SPLIT_H
#define GPNN_TABLE_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"

enum { GPNN_SPLIT_PARTS = 500 };

struct gpnn_split {
  size_t n_parts;
  double share[GPNN_SPLIT_PARTS];  /* of each part; they sum to 1 */
  uint64_t left[GPNN_SPLIT_PARTS]; /* rows that each part still gets */
  uint64_t n_left;                 /* their sum */
  uint64_t seed;
  struct gpnn_rng rng;
};

/*
 * Prepares a split into 'n_parts' parts (2 to GPNN_SPLIT_PARTS) in proportion to 'weights'
 * (> 0), of 'n_rows' rows.  Each part's number of rows is its share rounded down, or up for
 * those of the largest remainders.  GPNN_EDATA: a part would have no row.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_split_init(struct gpnn_split *split, size_t n_parts,
                                                 const double *weights, uint64_t n_rows,
                                                 uint64_t seed, struct gpnn_error *err);

/* The part of the next row.  GPNN_EDATA: all 'n_rows' have been given out. */
GPNN_MUST_CHECK enum gpnn_status gpnn_split_next(struct gpnn_split *split, size_t *part,
                                                 struct gpnn_error *err);

/* The part of the group called 'name'. */
size_t gpnn_split_group(const struct gpnn_split *split, const char *name, size_t length);

#endif
