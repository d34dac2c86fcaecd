/*
 * columns: the columns of the table that an index was made from, and what a model sees of each.
 *
 * A model sees standardised inputs, several of which may come from one column: the indicators of a
 * category, the circles of a date, an input's value and its score (kernel/sight.h); and one that is
 * a position comes from two columns, which therefore count as one. Threads: read-only, once made.
 */
#ifndef GPNN_EXPLAIN_COLUMNS_H
#define GPNN_EXPLAIN_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"

struct gpnn_explain_column {
  char name[GPNN_MASK_BYTES]; /* as in messages: "hour", "lat,lon" */
  size_t input;               /* the first of the schema's that is of this column, of a position its
                                 latitude; SIZE_MAX: it is a regressor alone */
  size_t n;                 /* standardised inputs that come from it; 0: the model does not see it,
                               as it does not vary */
  const size_t *coordinate; /* n: which */
  size_t regressor;         /* which it is of the mean function's; SIZE_MAX: none */
};

/* Columns that count together. */
struct gpnn_explain_group {
  size_t n; /* > 0 */
  const struct gpnn_explain_column *const *of;
};

/* A zeroed object is empty and may be released. */
struct gpnn_explain_columns {
  size_t n;
  struct gpnn_explain_column *of; /* owned; in the order of the schema's inputs, then regressors
                                     that are no inputs */
  size_t *coordinates;            /* owned; those of all columns */
};

/*
 * Finds the columns of a view, and with 'with_regressors' those of the mean function.
 * GPNN_EDATA: whitening has mixed the inputs.  GPNN_ENOMEM.  'columns' must be zeroed, and stays so
 * after a failure.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_explain_columns_find(struct gpnn_explain_columns *columns,
                                                           const struct gpnn_dataset *dataset,
                                                           bool with_regressors,
                                                           struct gpnn_error *err);

/* The column that the table calls name[length], of a position by either of its names; SIZE_MAX:
 * none. */
size_t gpnn_explain_columns_named(const struct gpnn_explain_columns *columns,
                                  const struct gpnn_dataset *dataset, const char *name,
                                  size_t length);

/*
 * How much of the variance of each column goes along with the target of the view 'dataset', to
 * 'share' (columns->n of them): of its standardised inputs the largest squared correlation or, if
 * the target holds classes, the largest correlation ratio.  A cheap look, O(n d), at which of very
 * many columns may matter; it does not see what acts only together with others.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_explain_columns_share(const struct gpnn_explain_columns *columns,
                           const struct gpnn_dataset *dataset, double *share,
                           struct gpnn_error *err);

void gpnn_explain_columns_release(struct gpnn_explain_columns *columns);

#endif
