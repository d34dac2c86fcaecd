/*
 * rows: training rows that ranks send each other, all that a dataset has of a row as numbers in a
 * line: its number among all rows, the target, the inputs, the regressors, and then noise variance,
 * offset and exposure as far as there are any.
 *
 * The numbers of rows are exact up to 2^53.  Threads: no shared state.
 */
#ifndef GPNN_SHARD_ROWS_H
#define GPNN_SHARD_ROWS_H

#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"

/* How many numbers a packed row of 'dataset', the view of one target, has. */
size_t gpnn_rows_width(const struct gpnn_dataset *dataset);

/* Writes row 'i', which is row 'number' of all, to 'packed'. */
void gpnn_rows_pack(const struct gpnn_dataset *dataset, size_t i, double number, double *packed);

/* Rows in memory, with all else that a dataset has. */
struct gpnn_rows {
  struct gpnn_dataset dataset; /* borrows from the one it is like */
  double *numbers;             /* owned; n: that of each among all rows */
  double *memory;              /* owned */
};

/* Room for 'n' rows of a dataset like 'like', whose fingerprint and search it has; rows have no
 * groups.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_rows_new(struct gpnn_rows *rows,
                                               const struct gpnn_dataset *like, size_t n,
                                               struct gpnn_error *err);

/* Sets row 'i' to a packed one. */
void gpnn_rows_set(struct gpnn_rows *rows, size_t i, const double *packed);

/* Zeroed rows may be released. */
void gpnn_rows_release(struct gpnn_rows *rows);

#endif
