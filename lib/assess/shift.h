/*
 * shift: how the inputs of a table's rows differ from those of the training rows, one standardised
 * input at a time.
 * Threads: no shared state.
 */
#ifndef GPNN_ASSESS_SHIFT_H
#define GPNN_ASSESS_SHIFT_H

#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "table/table.h"

/* Of a standardised input, over the rows that have it.  NaN where none has it. */
struct gpnn_shift_input {
  double shift;   /* the mean minus that of the training rows, in their sds */
  double spread;  /* the sd over that of the training rows; NaN: that is 0 */
  double beyond;  /* the share of rows below all training rows, or above them */
  double missing; /* the share of all rows that lack it */
};

/* A zeroed object is empty and may be released. */
struct gpnn_shift {
  size_t n_rows, n_bad;            /* rows that could be read, and those that could not */
  size_t n_unseen;                 /* cells of categories whose level no training row has */
  struct gpnn_shift_input *inputs; /* owned; of each of the dataset's d inputs */
};

/* Compares the remaining records of 'table' with the training rows of 'dataset', the one of an
 * index.  'shift' must be zeroed; the caller releases it, also after a failure.  GPNN_EDATA: no row
 * can be read.  Otherwise as gpnn_reader_open() and gpnn_table_next(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_shift_find(struct gpnn_shift *shift,
                                                 const struct gpnn_dataset *dataset,
                                                 struct gpnn_table *table, struct gpnn_error *err);

void gpnn_shift_release(struct gpnn_shift *shift);

#endif
