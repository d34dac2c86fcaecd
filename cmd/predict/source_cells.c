/* The cells of a grid: those that were not observed, or all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/predict/source.h"
#include "dataset/grid.h"
#include "table/date.h"

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
