/*
 * rows: later tables read for an index: one row at a time, or a whole table with its targets.
 *
 * gpnn_reader_open() finds the columns; then for each record of the table gpnn_reader_read() gives
 * what a prediction needs, and gpnn_reader_target() what it is compared with;
 * gpnn_reader_release() at the end.  gpnn_rows_read() does all of this.
 */
#ifndef GPNN_DATASET_READER_H
#define GPNN_DATASET_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/index.h"
#include "table/skipped.h"
#include "table/table.h"

/* A zeroed object may be released. */
struct gpnn_reader {
  const struct gpnn_dataset *dataset; /* borrowed */
  const struct gpnn_table *table;     /* borrowed */
  const char *na;                     /* borrowed */
  bool reads_regressors;
  struct gpnn_columns_map map; /* where the columns are; has_noise tells of noise variances */
  double *features;            /* owned; one row as the table has it */
};

/*
 * Finds the columns of 'dataset' in 'table' (gpnn_schema_match()); 'reader' must be zeroed.  Where
 * the mean of the parameters in use has regressors, 'reads_regressors' makes those necessary
 * (GPNN_EMISMATCH names what is missing) and read; otherwise they are left alone.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_reader_open(struct gpnn_reader *reader,
                                                  const struct gpnn_dataset *dataset,
                                                  const struct gpnn_table *table, const char *na,
                                                  bool reads_regressors, struct gpnn_error *err);

/*
 * Reads 'record': d standardised inputs to 'x', n_regressors standardised regressors to
 * 'regressors' (untouched, and may be NULL, unless they are read), and the row's noise variance to
 * '*noise', in the target's units squared, 0 where the table has none: gpnn_scaling_noise() of a
 * target's view standardises it.  'n_unseen' as in gpnn_schema_encode().  GPNN_EDATA: a value is
 * bad (as there, and in gpnn_schema_noise()); then 'x' and 'regressors' may hold anything.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_reader_read(const struct gpnn_reader *reader,
                                                  const struct gpnn_record *record, double *x,
                                                  double *regressors, double *noise,
                                                  size_t *n_unseen, struct gpnn_error *err);

/* Column of the table that target 't' is in: 0 is that of the contents, 1 and more are the further
 * ones; SIZE_MAX: the table does not have it. */
size_t gpnn_reader_target_column(const struct gpnn_reader *reader, size_t t);

/* Reads target 't' of 'record', in table units; NaN if it is missing or the table does not have it.
 * GPNN_EDATA: it is no number. */
GPNN_MUST_CHECK enum gpnn_status gpnn_reader_target(const struct gpnn_reader *reader,
                                                    const struct gpnn_record *record, size_t t,
                                                    double *y, struct gpnn_error *err);

void gpnn_reader_release(struct gpnn_reader *reader);

/* A zeroed object is empty and may be released. */
struct gpnn_rows {
  size_t n;
  double *x; /* owned; n by d, standardised */
  double *y; /* owned; n, standardised */
  size_t n_regressors;
  double *regressors; /* owned; n by n_regressors, standardised; NULL: not read */
  double *noise;      /* owned; n, standardised; NULL: the table has no noise variances */
  size_t x_capacity, y_capacity, regressors_capacity, noise_capacity;
  struct gpnn_skipped skipped; /* bad rows left out */
};

/*
 * Reads the rest of 'table' for the target of 'dataset', which must be there (GPNN_EMISMATCH)
 * unless only the inputs are wanted: then 'y' and 'noise' stay NULL.  'reads_regressors' as in
 * gpnn_reader_open().  Bad rows are left out if 'skip_bad', else GPNN_EDATA.  'rows' must be
 * zeroed.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_rows_read(struct gpnn_rows *rows,
                                                const struct gpnn_dataset *dataset,
                                                struct gpnn_table *table, const char *na,
                                                bool inputs_only, bool reads_regressors,
                                                bool skip_bad, struct gpnn_error *err);

/* Puts the rows, of 'd' inputs each, in random order. */
void gpnn_rows_shuffle(struct gpnn_rows *rows, size_t d, uint64_t seed);

void gpnn_rows_release(struct gpnn_rows *rows);

#endif
