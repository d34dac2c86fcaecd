/* The training rows of the index, in their order, which is that of the table that it was made
 * from. */
#include <string.h>

#include "cmd/predict/source.h"
#include "dataset/training.h"

enum gpnn_status source_training_open(struct source *s, struct gpnn_error *err)
{
  return gpnn_training_held_out(s->opened->dataset, &s->held_out, err);
}

/* Advances to the next training row, and returns the number that it has in its table or, if that is
 * not known, among the training rows. */
static uint64_t take_number(struct source *s)
{
  size_t n_held_out = s->held_out == NULL ? 0 : s->opened->dataset->n_calibration;
  while (s->n_held_out_before < n_held_out &&
         s->held_out[s->n_held_out_before] == s->next + s->n_held_out_before)
    s->n_held_out_before++;
  return ++s->next + s->n_held_out_before;
}

/* From the views of the index itself, which has the targets as they were in the table but for
 * standardisation. */
static void read_targets(const struct source *s, struct batch *batch, size_t row, size_t i)
{
  for (size_t t = 0; t < s->opened->n; t++) {
    const struct gpnn_dataset *dataset = gpnn_dataset_target(
        gpnn_index_dataset(s->opened->index), s->opened->channels[t].dataset->target);
    double offset = dataset->offset == NULL ? 0 : dataset->offset[row];
    batch->truth[i * batch->shape.n_targets + t] =
        gpnn_scaling_restore(&dataset->scaling, dataset->y[row], offset);
  }
}

static void read_offsets(const struct source *s, struct batch *batch, size_t row, size_t i)
{
  size_t n = batch->shape.n_offsets;
  for (size_t t = 0; t < n; t++)
    batch->offset[i * n + t] = gpnn_dataset_target(s->opened->dataset, t)->offset[row];
}

enum gpnn_status source_training_read(struct source *s, struct batch *batch, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = s->opened->dataset;
  size_t d = dataset->d, p = dataset->n_regressors;
  double unit = dataset->scaling.y_sd * dataset->scaling.y_sd;
  for (; batch->n_rows < batch->shape.capacity && s->next < dataset->n; batch->n_rows++) {
    size_t row = s->next, i = batch->n_rows;
    enum gpnn_status status = batch_make_room(batch, err);
    if (status != GPNN_OK) return status;
    memcpy(batch->x + i * d, dataset->x + row * d, d * sizeof *batch->x);
    if (p > 0)
      memcpy(batch->regressors + i * p, dataset->regressors + row * p,
             p * sizeof *batch->regressors);
    batch->noise[i] = dataset->noise == NULL ? 0 : dataset->noise[row] * unit;
    batch->self[i] = (int64_t)row;
    batch->is_good[i] = true;
    read_targets(s, batch, row, i);
    read_offsets(s, batch, row, i);
    batch->number[i] = take_number(s);
  }
  batch->n_good = batch->n_rows;
  if (batch->n_rows == 0) return GPNN_END;
  batch->first = (size_t)batch->number[0];
  batch->last = (size_t)batch->number[batch->n_rows - 1];
  return GPNN_OK;
}
