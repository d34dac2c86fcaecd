/*
 * batch: rows on their way through gpnn-predict, which reads, predicts and writes many at a time.
 */
#ifndef GPNN_CMD_PREDICT_BATCH_H
#define GPNN_CMD_PREDICT_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "cmd/common/carry.h"
#include "likelihood/distribution.h"

/* What the rows of a batch consist of. */
struct batch_shape {
  size_t capacity; /* rows */
  size_t d, n_regressors, n_targets;
  size_t n_offsets; /* of a row: one for each target of the index, or none */
  bool has_scores;  /* predictions are scored */
};

/* Only good rows, which could be read, are predicted.  A zeroed object may be released. */
struct batch {
  struct batch_shape shape; /* what the arrays, all of them owned, have room for */
  size_t n_rows, n_good;
  size_t first, last;             /* lines of the table, or numbers of training rows */
  bool *is_good;                  /* all rows */
  double *x, *regressors, *noise; /* by d, by n_regressors, by 1: the good rows */
  double *offset;                 /* by n_offsets: the good rows, in the units of the table */
  int64_t *self;                  /* good rows: the training row that each is, or -1 */
  uint64_t *number;               /* all rows: that of a training row in its table, from 1, or
                                     if that is not known, among the training rows */
  struct carried carried;         /* all rows */
  double *truth;                  /* targets by capacity: of all rows, in the units of the table;
                                     NaN: missing */
  struct gpnn_distribution *distributions; /* targets by n_good, like all that follows */
  double *mean, *sd;
  double *observed; /* has_scores: the truths in the units asked for */
  struct gpnn_distribution_score *scores;
};

/* Empties the batch; allocates it when it is first needed, so that a short table needs only one. */
GPNN_MUST_CHECK enum gpnn_status batch_begin(struct batch *batch, const struct batch_shape *shape,
                                             struct gpnn_error *err);

void batch_release(struct batch *batch);

#endif
