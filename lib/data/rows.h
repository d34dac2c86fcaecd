/*
 * rows: a whole table of inputs and targets, standardised as an index is.
 */
#ifndef GPNN_DATA_ROWS_H
#define GPNN_DATA_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "data/index.h"
#include "data/table.h"

/* A zeroed object is empty and may be released. */
struct gpnn_rows {
  size_t n;
  double *x; /* owned; n by d, standardised */
  double *y; /* owned; n, standardised */
  size_t x_capacity, y_capacity;
  size_t n_skipped; /* bad rows left out */
};

/*
 * Reads the rest of 'table', whose columns are found as gpnn_schema_match() does; the target
 * must be there (GPNN_EMISMATCH), unless only the inputs are wanted: then y stays NULL.  Bad rows
 * are left out if 'skip_bad', else GPNN_EDATA. 'rows' must be zeroed.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_rows_read(struct gpnn_rows *rows,
                                                const struct gpnn_index_contents *contents,
                                                struct gpnn_table *table, const char *na,
                                                bool inputs_only, bool skip_bad,
                                                struct gpnn_error *err);

/* Puts the rows, of 'd' inputs each, in random order. */
void gpnn_rows_shuffle(struct gpnn_rows *rows, size_t d, uint64_t seed);

void gpnn_rows_release(struct gpnn_rows *rows);

#endif
