/*
 * axis: the values of a column of the table, and rows that are given others.
 *
 * Values are numbers: of a column of numbers or dates (days, table/date.h) as the steps leave them
 * (dataset/steps.h), which may differ from those of the table; of a period the place in it; of a
 * category the ranks of its levels, from 0.  A coded category counts as the numbers that its levels
 * became.
 *
 * Calling sequence: gpnn_axis_init(), the other functions any number of times, gpnn_axis_release().
 * Threads: one at a time.
 */
#ifndef GPNN_EXPLAIN_AXIS_H
#define GPNN_EXPLAIN_AXIS_H

#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "explain/columns.h"

enum gpnn_axis_kind {
  GPNN_AXIS_NUMBER,
  GPNN_AXIS_DATE,
  GPNN_AXIS_CIRCLE,
  GPNN_AXIS_LEVELS,
};

/* A zeroed object may be released. */
struct gpnn_axis {
  enum gpnn_axis_kind kind;
  size_t n_levels; /* of a category */
  double period;   /* of a circle */
  /* The rest is for axis.c. */
  const struct gpnn_dataset *dataset, *view;
  const struct gpnn_explain_column *column;
  struct gpnn_scaling scaling; /* the dataset's, without steps; all borrowed */
  size_t place;                /* the first standardised input of the view that has the values */
  size_t *level;               /* n_levels: those of the schema by rank */
  double *codes;               /* n_levels by the column's width: what a row of each has */
  double *cells, *features, *z;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/*
 * 'dataset' is that of a model, and 'view' the same in the index, neither seen otherwise nor
 * transformed; 'column' is one of 'dataset'.  All are borrowed.  GPNN_EDATA: the column is a
 * position, which has no single axis, a regressor alone, or does not vary.  GPNN_ENOMEM.  'axis'
 * must be zeroed; the caller releases it, also after a failure.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_axis_init(struct gpnn_axis *axis,
                                                const struct gpnn_dataset *dataset,
                                                const struct gpnn_dataset *view,
                                                const struct gpnn_explain_column *column,
                                                struct gpnn_error *err);

/* The value of training row 'row'; NaN if it lacked the column, or is of no level that is known. */
double gpnn_axis_value(const struct gpnn_axis *axis, size_t row);

/* Gives a row the value: 'x' (the dataset's d), and 'regressors' (NULL: none) where the column is
 * one of these too. */
void gpnn_axis_set(struct gpnn_axis *axis, double value, double *x, double *regressors);

/* A value as the table has it: a number, or days; and the same as gpnn_axis_set() with such a
 * value, of what is no category. */
double gpnn_axis_shown(const struct gpnn_axis *axis, double value);
void gpnn_axis_set_shown(struct gpnn_axis *axis, double shown, double *x, double *regressors);

/* The text of a level of this rank, of '*length' bytes. */
const char *gpnn_axis_level(const struct gpnn_axis *axis, size_t rank, size_t *length);

void gpnn_axis_release(struct gpnn_axis *axis);

#endif
