/*
 * subset: some of the rows of a batch, copied, to be predicted apart from the others.
 */
#ifndef GPNN_CMD_PREDICT_SUBSET_H
#define GPNN_CMD_PREDICT_SUBSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/predict.h"

/* A zeroed object may be released. */
struct subset {
  size_t n;
  size_t *at;                                         /* owned; n: their places among all rows */
  double *x, *regressors, *noise, *offset, *exposure; /* owned; NULL: there are none */
  int64_t *self;                                      /* owned; n */
  struct gpnn_predict_rows rows;                      /* borrows the arrays */
};

/* Copies those of 'rows' for which 'chosen' is true; of the dataset, only the numbers of inputs,
 * regressors and targets count.  'self' replaces that of 'rows'.  'subset' must be zeroed; release
 * it after a failure too.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status
subset_init(struct subset *subset, const struct gpnn_predict_rows *rows, const int64_t *self,
            bool (*chosen)(const void *context, int64_t self), const void *context,
            const struct gpnn_dataset *dataset, struct gpnn_error *err);

void subset_release(struct subset *subset);

#endif
