#include "cmd/predict/batch.h"

#include <stdlib.h>

#include "base/memory.h"

/* Allocates what holds the rows as they are read. */
static bool alloc_rows(struct batch *batch, const struct batch_shape *shape)
{
  size_t n = shape->capacity;
  batch->is_good = gpnn_alloc(n, 1, sizeof *batch->is_good);
  batch->x = gpnn_alloc(n, shape->d, sizeof *batch->x);
  batch->regressors = gpnn_alloc(n, shape->n_regressors, sizeof *batch->regressors);
  batch->noise = gpnn_alloc(n, 1, sizeof *batch->noise);
  batch->offset = gpnn_alloc(n, shape->n_offsets, sizeof *batch->offset);
  batch->self = gpnn_alloc(n, 1, sizeof *batch->self);
  batch->number = gpnn_alloc(n, 1, sizeof *batch->number);
  batch->truth = gpnn_alloc(n, shape->n_targets, sizeof *batch->truth);
  return batch->is_good != NULL && batch->x != NULL && batch->regressors != NULL &&
         batch->noise != NULL && batch->offset != NULL && batch->self != NULL &&
         batch->number != NULL && batch->truth != NULL;
}

/* Allocates what holds their predictions. */
static bool alloc_predictions(struct batch *batch, const struct batch_shape *shape)
{
  size_t n = shape->capacity, n_scored = shape->has_scores ? n : 0, n_targets = shape->n_targets;
  batch->distributions = gpnn_alloc(n, n_targets, sizeof *batch->distributions);
  batch->mean = gpnn_alloc(n, n_targets, sizeof *batch->mean);
  batch->sd = gpnn_alloc(n, n_targets, sizeof *batch->sd);
  batch->observed = gpnn_alloc(n_scored, n_targets, sizeof *batch->observed);
  batch->scores = gpnn_alloc(n_scored, n_targets, sizeof *batch->scores);
  return batch->distributions != NULL && batch->mean != NULL && batch->sd != NULL &&
         batch->observed != NULL && batch->scores != NULL;
}

enum gpnn_status batch_begin(struct batch *batch, const struct batch_shape *shape,
                             struct gpnn_error *err)
{
  batch->n_rows = batch->n_good = 0;
  carried_clear(&batch->carried);
  if (batch->shape.capacity > 0) return GPNN_OK;
  if (!alloc_rows(batch, shape) || !alloc_predictions(batch, shape))
    return gpnn_fail_memory(err, "for a batch of rows");
  batch->shape = *shape;
  return GPNN_OK;
}

void batch_release(struct batch *batch)
{
  free(batch->is_good);
  free(batch->x);
  free(batch->regressors);
  free(batch->noise);
  free(batch->offset);
  free(batch->self);
  free(batch->number);
  free(batch->truth);
  free(batch->distributions);
  free(batch->mean);
  free(batch->sd);
  free(batch->observed);
  free(batch->scores);
  carried_release(&batch->carried);
}
