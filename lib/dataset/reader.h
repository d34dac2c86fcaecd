/*
 * reader: reading tables by the columns and the scaling of a dataset, row by row or whole.
 *
 * Row by row: gpnn_reader_open() finds the columns; then for each record of the table
 * gpnn_reader_read() gives what a prediction needs, gpnn_reader_offsets() what to add to it,
 * gpnn_reader_exposure() what to multiply it by, and gpnn_reader_target() what to compare it with;
 * gpnn_reader_release() at the end.
 * gpnn_reader_rows_read() does all of this for a whole table.
 */
#ifndef GPNN_DATASET_READER_H
#define GPNN_DATASET_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "table/groups.h"
#include "table/skipped.h"
#include "table/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A zeroed object may be released. */
struct gpnn_reader {
  const struct gpnn_dataset *dataset; /* borrowed */
  const struct gpnn_table *table;     /* borrowed */
  bool reads_regressors;
  struct gpnn_columns_map map; /* where the columns are; has_noise: with noise variances */
  double *features;            /* owned; one row before scaling */
  bool *ignores_offset;        /* owned; for each offset of the dataset's schema */
};

/*
 * Finds the columns of 'dataset' in 'table'.  'reader' must be zeroed.  With 'reads_regressors',
 * for parameters whose mean has regressors, those are required and read; otherwise they are
 * ignored.  A category may be missing where training rows may lack some, as a level of its own; of
 * other inputs see gpnn_reader_take_missing().  GPNN_EMISMATCH names the columns that are missing
 * (gpnn_schema_match()).  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_reader_open(struct gpnn_reader *reader,
                                                  const struct gpnn_dataset *dataset,
                                                  const struct gpnn_table *table,
                                                  bool reads_regressors, struct gpnn_error *err);

/*
 * Reads 'record': d standardised inputs to 'x'; n_regressors standardised regressors to
 * 'regressors', which may be NULL unless they are read; and to '*noise' the row's noise variance in
 * the target's units squared, 0 if the table has none (gpnn_scaling_noise() standardises it for a
 * target).  'n_unseen' as in gpnn_schema_encode().  GPNN_EDATA: a value is bad; then 'x' and
 * 'regressors' may hold anything.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_reader_read(const struct gpnn_reader *reader,
                                                  const struct gpnn_record *record, double *x,
                                                  double *regressors, double *noise,
                                                  size_t *n_unseen, struct gpnn_error *err);

/* From now on all inputs may be missing, if rows that lack some can be predicted
 * (dataset/missing.h): 'x' has NaN for them. */
void gpnn_reader_take_missing(struct gpnn_reader *reader);

/* From now on the offset of target 't', of which there is one, is neither required nor read. */
void gpnn_reader_ignore_offset(struct gpnn_reader *reader, size_t t);

/* To be called once before gpnn_reader_offsets().  GPNN_EMISMATCH: the table lacks columns of
 * offsets; the message names them. */
GPNN_MUST_CHECK enum gpnn_status gpnn_reader_require_offsets(const struct gpnn_reader *reader,
                                                             struct gpnn_error *err);

/* Reads the offset of each target of the dataset's schema, in table units: schema.n_offsets
 * numbers, which may be none; 0 for those that are ignored.  GPNN_EDATA: one is missing or not a
 * number. */
GPNN_MUST_CHECK enum gpnn_status gpnn_reader_offsets(const struct gpnn_reader *reader,
                                                     const struct gpnn_record *record,
                                                     double *offsets, struct gpnn_error *err);

/* The exposure of rows, for callers that predict counts: to be required once, and then read from
 * each record.  Nothing is required, and 1 is read, where training rows had none.  GPNN_EMISMATCH:
 * the table lacks its column, which the message names.  GPNN_EDATA: it is missing, not a number or
 * not above 0. */
GPNN_MUST_CHECK enum gpnn_status gpnn_reader_require_exposure(const struct gpnn_reader *reader,
                                                              struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_reader_exposure(const struct gpnn_reader *reader,
                                                      const struct gpnn_record *record,
                                                      double *exposure, struct gpnn_error *err);

/* The table's column of target 't', or SIZE_MAX if it has none: 0 is the dataset's target, 1 and
 * more are the further ones. */
size_t gpnn_reader_target_column(const struct gpnn_reader *reader, size_t t);

/* Reads target 't' of 'record', in table units and with its offset; NaN if it is missing or has no
 * column.  Of classes that is the number of the class, or GPNN_CLASS_UNSEEN if no training row is
 * of it.  GPNN_EDATA: it is not a number, which classes never are. */
GPNN_MUST_CHECK enum gpnn_status gpnn_reader_target(const struct gpnn_reader *reader,
                                                    const struct gpnn_record *record, size_t t,
                                                    double *y, struct gpnn_error *err);

/* The text of target 't' of 'record' as the table has it, without quotes around it: of a class also
 * one that training has not seen.  NULL: it is missing or has no column.  Belongs to 'record'. */
const struct gpnn_field *gpnn_reader_target_text(const struct gpnn_reader *reader,
                                                 const struct gpnn_record *record, size_t t);

void gpnn_reader_release(struct gpnn_reader *reader);

/* The rows of a table.  A zeroed object is empty and may be released. */
struct gpnn_reader_rows {
  const char *by; /* borrowed; a column of the table, by name or number, rows with the same text in
                     which are a group; NULL: none */
  size_t n;
  double *x; /* owned; n by d, standardised */
  double *y; /* owned; n, standardised, without the offset; numbers of classes */
  size_t n_regressors;
  double *regressors; /* owned; n by n_regressors, standardised; NULL: not read */
  double *noise;      /* owned; n, standardised; NULL: the table has no noise variances */
  double *exposure;   /* owned; n; NULL: training rows have none */
  uint32_t *group;    /* owned; n: the group of each; NULL: without 'by' */
  struct gpnn_groups groups;
  size_t x_capacity, y_capacity, regressors_capacity, noise_capacity, exposure_capacity,
      group_capacity;
  struct gpnn_skipped skipped; /* bad rows left out */
  size_t n_lacking;            /* rows left out because they lack the target, one of several */
  size_t n_unseen;             /* rows left out because no training row is of their class */
};

/*
 * Reads the remaining records of 'table', which must have the target of 'dataset', and its offset
 * and exposure if there are any (GPNN_EMISMATCH), unless 'inputs_only': then 'y', 'noise' and
 * 'exposure' stay NULL. 'reads_regressors' as in gpnn_reader_open().  Targets go through the
 * transform of 'dataset', if it has one, and are bad if that does not take them; a missing one is
 * bad too, unless the dataset has several targets: then the row is left out, as is one of a class
 * that training has not seen.  With 'skip_bad', bad rows are left out and counted; otherwise the
 * first is GPNN_EDATA.  'rows' must be zeroed but for 'by', which the table must have
 * (GPNN_EINVAL); release it on failure too.  A table without records gives n = 0.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_reader_rows_read(struct gpnn_reader_rows *rows,
                                                       const struct gpnn_dataset *dataset,
                                                       struct gpnn_table *table, bool inputs_only,
                                                       bool reads_regressors, bool skip_bad,
                                                       struct gpnn_error *err);

/* Shuffles the rows, which have 'd' inputs each. */
void gpnn_reader_rows_shuffle(struct gpnn_reader_rows *rows, size_t d, uint64_t seed);

void gpnn_reader_rows_release(struct gpnn_reader_rows *rows);

#ifdef __cplusplus
}
#endif

#endif
