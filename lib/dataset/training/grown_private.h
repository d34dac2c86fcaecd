/*
 * grown_private: groups of rows in what grows, which are held out for calibration as a whole.
 */
#ifndef GPNN_DATASET_TRAINING_GROWN_PRIVATE_H
#define GPNN_DATASET_TRAINING_GROWN_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "dataset/training/grown.h"

/* What becomes of the rows of a group. */
enum gpnn_grown_place {
  GPNN_GROWN_NEW,    /* it has rows that are added, and no others */
  GPNN_GROWN_TRAINS, /* and may have been used to estimate parameters */
  GPNN_GROWN_HELD,   /* out, for calibration */
};

/* Zeroed: rows have no groups. */
struct gpnn_grown_groups {
  size_t n;         /* of them */
  uint32_t *of_row; /* owned; the group of each training row of the index, then of each calibration
                       row, then of each row that is added */
  uint64_t *key;    /* owned; n, of groups of a column: see struct gpnn_dataset */
  unsigned char *place; /* owned; n: enum gpnn_grown_place */
};

/* Finds the groups: those of the index, which rows that are added may belong to, and theirs.
 * GPNN_EFORMAT: the index is damaged.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grown_groups_find(const struct gpnn_grown *grown,
                                                        struct gpnn_grown_groups *groups,
                                                        struct gpnn_error *err);

/*
 * Decides of the groups that are new which ones are held out: in random order, until about
 * 'expected' rows of those added are; then lets whole groups that were held out train, in random
 * order, as long as 'wanted' rows stay.  '*n' becomes how many rows are held out.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grown_groups_choose(const struct gpnn_grown *grown,
                                                          struct gpnn_grown_groups *groups,
                                                          struct gpnn_rng *rng, double expected,
                                                          size_t wanted, size_t *n,
                                                          struct gpnn_error *err);

void gpnn_grown_groups_release(struct gpnn_grown_groups *groups);

#endif
