/*
 * copies: whether rows to predict are training rows, whose scores say nothing about new rows.
 *
 * Calling sequence: a zeroed object; gpnn_copies_add() for rows as they come; then, if there is
 * reason to suspect them, gpnn_copies_count(), which reads all training rows once;
 * gpnn_copies_release().
 *
 * A row is known by a hash of 64 bits of its standardised inputs and, if that is known, its target:
 * reading the same text again gives the same bits.  Rows of a table with few different values are
 * alike by chance; how often shows in the training rows themselves.
 *
 * Cost: hashing a row, 8 bytes for each of the first GPNN_COPIES_ROWS; counting takes one pass over
 * the training rows and a search among those kept for each.
 * Threads: an object belongs to one thread at a time.
 */
#ifndef GPNN_DATASET_COPIES_H
#define GPNN_DATASET_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"

enum { GPNN_COPIES_ROWS = 100000 };

struct gpnn_copies {
  size_t n, capacity, key_capacity;
  uint64_t *hash, *key; /* owned; n: of a row, and of one of its numbers */
};

/* Adds a row to predict: 'x' (d numbers, NaN where it lacks an input) and target 'y', both
 * standardised and 'y' without its offset; NaN: the target is not known, which then is so of all
 * rows.  Rows beyond GPNN_COPIES_ROWS are left aside.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_copies_add(struct gpnn_copies *copies,
                                                 const struct gpnn_dataset *dataset,
                                                 const double *x, double y, struct gpnn_error *err);

struct gpnn_copies_report {
  size_t n, n_copies; /* rows looked at, and those that are training rows */
  size_t n_training;  /* training rows looked at, */
  size_t n_twins;     /* and those that another training row equals */
};

/* Counts.  'has_target' says whether the rows' targets are known.  n = 0 gives zeros.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_copies_count(const struct gpnn_copies *copies, const struct gpnn_dataset *dataset,
                  bool has_target, struct gpnn_copies_report *report, struct gpnn_error *err);

/*
 * True if more than chance makes rows equal to training rows: at least 5 rows and a tenth of them
 * are, and with the fraction p of training rows that have a twin, to be expected of new rows as
 * well, the excess (copies/n - p) / (1 - p) is above a tenth and copies/n - p above 3 standard
 * errors, sqrt(p (1 - p) (1/n + 1/n_training)).
 */
bool gpnn_copies_exceed_chance(const struct gpnn_copies_report *report);

void gpnn_copies_release(struct gpnn_copies *copies);

#endif
