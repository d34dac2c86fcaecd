/* The training rows of the index, in their order, which is that of the table that it was made
 * from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/predict/source.h"
#include "dataset/training.h"

enum gpnn_status source_training_open(struct source *s, struct gpnn_error *err)
{
  s->next_of = calloc(s->opened->n, sizeof *s->next_of);
  if (s->next_of == NULL) return gpnn_fail_memory(err, "for the targets");
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

/* The first value of the column of target 't' in an array of the index that has one number for each
 * row and target. */
static const double *column_of(const struct gpnn_dataset *rows, const double *first,
                               const double *more, size_t t)
{
  return t == 0 ? first : more + (t - 1) * rows->n;
}

/* Reads the targets of a row from the index itself, which has them as they were in the table but
 * for standardisation; NaN where it lacks one.  Returns how many it has. */
static size_t read_targets(const struct source *s, double *truth, size_t row)
{
  const struct gpnn_dataset *rows = gpnn_index_dataset(s->opened->index);
  size_t n = 0;
  for (size_t k = 0; k < s->opened->n; k++) {
    size_t t = s->opened->channels[k].dataset->target;
    double y = column_of(rows, rows->y, rows->more, t)[row];
    double offset = rows->offset == NULL ? 0 : rows->offset[t * rows->n + row];
    truth[k] = gpnn_scaling_restore(&gpnn_dataset_target(rows, t)->scaling, y, offset);
    n += isnan(y) ? 0 : 1;
  }
  return n;
}

/* Sets which training row a row is: of all, or of those that have each target, which 'truth' has.
 */
static void read_selves(struct source *s, const double *truth, int64_t *self)
{
  if (!s->is_apart) self[0] = (int64_t)s->next;
  for (size_t k = 0; k < s->opened->n && s->is_apart; k++)
    self[k] = isnan(truth[k]) ? -1 : (int64_t)s->next_of[k]++;
}

static void read_offsets(const struct source *s, struct batch *batch, size_t row, size_t i)
{
  const struct gpnn_dataset *rows = s->opened->dataset;
  size_t n = batch->shape.n_offsets;
  for (size_t t = 0; t < n; t++) batch->offset[i * n + t] = rows->offset[t * rows->n + row];
}

/* Reads the next row as row number 'i' of the batch, unless it has none of the targets. */
static bool read_row(struct source *s, struct batch *batch, size_t i)
{
  const struct gpnn_dataset *dataset = s->opened->dataset;
  size_t row = s->next, d = dataset->d, p = dataset->n_regressors;
  const double *noise =
      gpnn_index_dataset(s->opened->index)->noise; /* of pseudo-targets it differs */
  double unit = dataset->scaling.y_sd * dataset->scaling.y_sd;
  double *truth = batch->truth + i * batch->shape.n_targets;
  bool has_any = read_targets(s, truth, row) > 0;
  if (has_any) {
    memcpy(batch->x + i * d, dataset->x + row * d, d * sizeof *batch->x);
    if (p > 0)
      memcpy(batch->regressors + i * p, dataset->regressors + row * p,
             p * sizeof *batch->regressors);
    batch->noise[i] = noise == NULL ? 0 : noise[row] * unit;
    batch->exposure[i] = dataset->exposure == NULL ? 1 : dataset->exposure[row];
    read_selves(s, truth, batch->self + i * batch->shape.n_selves);
    batch->is_good[i] = true;
    read_offsets(s, batch, row, i);
  }
  batch->number[i] = take_number(s);
  return has_any;
}

enum gpnn_status source_training_read(struct source *s, struct batch *batch, struct gpnn_error *err)
{
  while (batch->n_rows < batch->shape.capacity && s->next < s->opened->dataset->n) {
    enum gpnn_status status = batch_make_room(batch, err);
    if (status != GPNN_OK) return status;
    batch->n_rows += read_row(s, batch, batch->n_rows) ? 1 : 0;
  }
  batch->n_good = batch->n_rows;
  if (batch->n_rows == 0) return GPNN_END;
  batch->first = (size_t)batch->number[0];
  batch->last = (size_t)batch->number[batch->n_rows - 1];
  return GPNN_OK;
}
