/* The rows that an index has itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/predict/source.h"
#include "dataset/grid/grid.h"
#include "dataset/missing.h"
#include "dataset/training/training.h"
#include "table/date.h"

/* ---- training rows, in the order of the table that the index was made from ------------------ */

enum gpnn_status source_training_open(struct source *s, struct gpnn_error *err)
{
  s->next_of = calloc(s->opened->n, sizeof *s->next_of);
  if (s->next_of == NULL) return gpnn_fail_memory(err, "for the targets");
  return gpnn_training_held_out(s->opened->dataset, &s->held_out, err);
}

/* Advances to the next training row, and returns the number that it has in its table. */
static uint64_t take_number(struct source *s)
{
  while (s->n_held_out_before < s->opened->dataset->n_calibration &&
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
    if (s->a->needs_all)
      memcpy(batch->x + i * d, dataset->x + row * d, d * sizeof *batch->x);
    else
      gpnn_missing_restore(dataset, row, batch->x + i * d);
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

/* ---- the cells of a grid: those that were not observed, or all ------------------------------- */

/* The value of the factor's column 'j' at level 'level', in the units of the table; columns that do
 * not vary have none of the coordinates. */
static double value_of(const struct gpnn_dataset *dataset, size_t a, size_t first, size_t j,
                       size_t level)
{
  const struct gpnn_grid_factor *factor = &dataset->grid->factor[a];
  size_t at = 0;
  for (size_t c = first; c < first + j; c++) at += dataset->scaling.weight[c] != 0;
  bool varies = dataset->scaling.weight[first + j] != 0;
  double z = varies ? factor->x[level * factor->d + at] : 0;
  return gpnn_scaling_restore_input(&dataset->scaling, first + j, z);
}

static enum gpnn_status write_level(const struct gpnn_dataset *dataset, size_t a, size_t first,
                                    size_t level, struct sink *sink, struct gpnn_error *err)
{
  const struct gpnn_grid_factor *factor = &dataset->grid->factor[a];
  enum gpnn_status status = GPNN_OK;
  if (factor->labels != NULL) return sink_text(sink, factor->labels[level], err);
  for (size_t j = 0; j < factor->n_columns && status == GPNN_OK; j++) {
    double value = value_of(dataset, a, first, j, level);
    char date[GPNN_DATE_BYTES];
    status = dataset->schema.inputs[first + j].date != NULL
                 ? sink_text(sink, gpnn_date_write(date, value), err)
                 : sink_value(sink, value, err);
  }
  return status;
}

enum gpnn_status source_cells_write(const struct source *s, const struct batch *batch, size_t i,
                                    struct sink *sink, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = s->opened->dataset;
  size_t level[GPNN_GRID_FACTORS], first = 0;
  enum gpnn_status status = GPNN_OK;
  gpnn_grid_levels(dataset->grid, (int64_t)batch->number[i], level);
  for (size_t a = 0; a < dataset->grid->n_factors && status == GPNN_OK; a++) {
    status = write_level(dataset, a, first, level[a], sink, err);
    first += dataset->grid->factor[a].n_columns;
  }
  return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* Adds cell number 's->next', whose truth is that of observation 'seen' (SIZE_MAX: there is none).
 */
static void add_cell(const struct source *s, struct batch *batch, size_t seen)
{
  const struct gpnn_dataset *dataset = s->opened->dataset;
  const struct gpnn_dataset *indexed = gpnn_index_dataset(s->opened->index);
  size_t level[GPNN_GRID_FACTORS], i = batch->n_rows++;
  double *x = batch->x + i * batch->shape.d;
  gpnn_grid_levels(dataset->grid, (int64_t)s->next, level);
  for (size_t a = 0; a < dataset->grid->n_factors; a++) {
    const struct gpnn_grid_factor *factor = &dataset->grid->factor[a];
    memcpy(x, factor->x + level[a] * factor->d, factor->d * sizeof *x);
    x += factor->d;
  }
  batch->truth[i] =
      seen == SIZE_MAX ? NAN : gpnn_scaling_restore(&indexed->scaling, indexed->y[seen], 0);
  batch->number[i] = s->next;
  batch->noise[i] = 0;
  batch->exposure[i] = 1;
  batch->self[i] = -1;
  batch->is_good[i] = true;
}

enum gpnn_status source_cells_read(struct source *s, struct batch *batch, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = s->opened->dataset->grid;
  size_t size = gpnn_grid_size(grid);
  for (; batch->n_rows < batch->shape.capacity && s->next < size; s->next++) {
    bool is_observed = s->n_seen < grid->n_cells && grid->cell[s->n_seen] == (int64_t)s->next;
    size_t seen = is_observed ? s->n_seen++ : SIZE_MAX;
    if (is_observed && s->a->complete == PREDICT_HOLES) continue;
    enum gpnn_status status = batch_make_room(batch, err);
    if (status != GPNN_OK) return status;
    add_cell(s, batch, seen);
  }
  batch->n_good = batch->n_rows;
  if (batch->n_rows == 0) return GPNN_END;
  batch->first = (size_t)batch->number[0];
  batch->last = (size_t)batch->number[batch->n_rows - 1];
  return GPNN_OK;
}
