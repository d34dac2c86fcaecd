#include "cmd/predict/batch.h"

#include <stdlib.h>

#include "base/memory.h"

/* Lengthens an array from batch->room rows, of 'width' items each, to 'rows'.  It exists even
 * without items. */
static bool lengthen(const struct batch *batch, void *array, size_t rows, size_t width,
                     size_t item_bytes)
{
  size_t capacity, needed;
  if (!gpnn_multiply(batch->room, width, &capacity) || !gpnn_multiply(rows, width, &needed))
    return false;
  return gpnn_grow(array, &capacity, needed > 0 ? needed : 1, item_bytes);
}

/* Makes room for rows as they are read. */
static bool lengthen_rows(struct batch *batch, size_t rows)
{
  const struct batch_shape *shape = &batch->shape;
  const size_t number = sizeof(double);
  return lengthen(batch, &batch->is_good, rows, 1, sizeof *batch->is_good) &&
         lengthen(batch, &batch->x, rows, shape->d, number) &&
         lengthen(batch, &batch->regressors, rows, shape->n_regressors, number) &&
         lengthen(batch, &batch->noise, rows, 1, number) &&
         lengthen(batch, &batch->exposure, rows, 1, number) &&
         lengthen(batch, &batch->offset, rows, shape->n_offsets, number) &&
         lengthen(batch, &batch->self, rows, shape->n_selves, sizeof *batch->self) &&
         lengthen(batch, &batch->number, rows, 1, sizeof *batch->number) &&
         lengthen(batch, &batch->truth, rows, shape->n_targets, number);
}

/* Makes room for their predictions. */
static bool lengthen_predictions(struct batch *batch, size_t rows)
{
  size_t n = batch->shape.n_targets, n_scored = batch->shape.has_scores ? n : 0;
  const size_t number = sizeof(double);
  return lengthen(batch, &batch->distributions, rows, n, sizeof *batch->distributions) &&
         lengthen(batch, &batch->mean, rows, n, number) &&
         lengthen(batch, &batch->sd, rows, n, number) &&
         lengthen(batch, &batch->classes, rows, batch->shape.n_classes, number) &&
         lengthen(batch, &batch->observed, rows, n_scored, number) &&
         lengthen(batch, &batch->scores, rows, n_scored, sizeof *batch->scores);
}

void batch_begin(struct batch *batch, const struct batch_shape *shape)
{
  batch->shape = *shape;
  batch->n_rows = batch->n_good = 0;
  carried_clear(&batch->carried);
  texts_clear(&batch->truths);
}

enum gpnn_status batch_make_room(struct batch *batch, struct gpnn_error *err)
{
  enum { FIRST = 1024 };
  bool is_all = batch->shape.capacity == SIZE_MAX;
  size_t rows = is_all ? batch->room + batch->room / 2 + FIRST : batch->shape.capacity;
  if (batch->n_rows < batch->room) return GPNN_OK;
  if (!lengthen_rows(batch, rows) || !lengthen_predictions(batch, rows))
    return gpnn_fail_memory(err, is_all ? BATCH_ALL_ROWS : "for a batch of rows");
  batch->room = rows;
  return GPNN_OK;
}

void batch_release(struct batch *batch)
{
  free(batch->is_good);
  free(batch->x);
  free(batch->regressors);
  free(batch->noise);
  free(batch->exposure);
  free(batch->offset);
  free(batch->self);
  free(batch->number);
  free(batch->truth);
  free(batch->classes);
  free(batch->distributions);
  free(batch->mean);
  free(batch->sd);
  free(batch->observed);
  free(batch->scores);
  free(batch->draws);
  carried_release(&batch->carried);
  texts_release(&batch->truths);
}
