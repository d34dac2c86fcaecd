/*
 * Writing and reading the sections of gpnn-index(5) that an index of kind grid has.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/grid/reading.h"
#include "dataset/index/index_private.h"

/* ---- writing ------------------------------------------------------------------------------- */

/* The factors, and how many inputs of the schema are theirs. */
void gpnn_index_compose_factors(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_grid *grid = contents->dataset->grid;
  put_u32(blob, (uint32_t)grid->n_factors);
  put_u32(blob, 0);
  for (size_t a = 0; a < grid->n_factors; a++) {
    put_u32(blob, (uint32_t)grid->factor[a].n_columns);
    put_text(blob, grid->factor[a].name, strlen(grid->factor[a].name));
  }
}

void gpnn_index_compose_grid(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_grid *grid = contents->dataset->grid;
  put_u64(blob, grid->n_observations);
  put_f64(blob, grid->within);
  for (size_t a = 0; a < grid->n_factors; a++) put_u64(blob, grid->factor[a].n);
}

void gpnn_index_compose_levels(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_grid *grid = contents->dataset->grid;
  for (size_t a = 0; a < grid->n_factors; a++)
    put_f64s(blob, grid->factor[a].n * grid->factor[a].d, grid->factor[a].x);
}

enum gpnn_status gpnn_index_write_cells(struct gpnn_index_writing *writing,
                                        const struct gpnn_index_section *section,
                                        struct gpnn_error *err)
{
  const struct gpnn_grid *grid = writing->contents.dataset->grid;
  return gpnn_index_write_bytes(writing, section, grid->cell, grid->n_cells * sizeof *grid->cell,
                                err);
}

bool gpnn_index_has_counts(const struct gpnn_index_contents *contents)
{
  return contents->dataset->grid != NULL && contents->dataset->grid->counts != NULL;
}

enum gpnn_status gpnn_index_write_counts(struct gpnn_index_writing *writing,
                                         const struct gpnn_index_section *section,
                                         struct gpnn_error *err)
{
  const struct gpnn_grid *grid = writing->contents.dataset->grid;
  return gpnn_index_write_bytes(writing, section, grid->counts,
                                grid->n_cells * sizeof *grid->counts, err);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The columns of a factor that vary, of those from input 'first' on. */
static size_t count_kept(const struct gpnn_scaling *scaling, size_t first, size_t n_inputs)
{
  size_t kept = 0;
  for (size_t j = first; j < first + n_inputs; j++) kept += scaling->weight[j] != 0;
  return kept;
}

void gpnn_index_decode_factors(struct cursor *cursor, struct gpnn_index *index)
{
  enum { LEAST_FACTOR = 8 };
  const struct gpnn_dataset *dataset = &index->dataset;
  size_t n = take_u32(cursor), first = 0, n_inputs = dataset->schema.n_inputs;
  require(cursor, take_u32(cursor) == 0);
  require(cursor, n >= GPNN_GRID_LEAST_FACTORS && n <= GPNN_GRID_MOST_FACTORS);
  require(cursor, dataset->scaling.method == GPNN_SCALING_SCALE);
  index->factor = take_array(cursor, n, LEAST_FACTOR, sizeof *index->factor);
  index->factor_name = take_array(cursor, n, LEAST_FACTOR, sizeof *index->factor_name);
  if (cursor->failed) return;
  index->n_factor_names = n;
  for (size_t a = 0; a < n && !cursor->failed; a++) {
    struct gpnn_grid_factor *factor = &index->factor[a];
    size_t own = take_u32(cursor), length;
    factor->name = index->factor_name[a] = take_text(cursor, &length);
    require(cursor, own <= n_inputs - first && factor->name != NULL);
    if (cursor->failed) return;
    require(cursor, length > 0 && strlen(factor->name) == length);
    const struct gpnn_column *column = &dataset->schema.inputs[first];
    factor->n_columns = own;
    factor->d = count_kept(&dataset->scaling, first, own);
    require(cursor, factor->d > 0);
    for (size_t j = 0; j < own; j++) require(cursor, own == 1 || column[j].n_levels == 0);
    if (column->kind == GPNN_COLUMN_NAMES && own == 1)
      factor->labels = (const char *const *)column->levels;
    first += own;
  }
  require(cursor, first == n_inputs);
  index->grid.n_factors = n;
  index->grid.factor = index->factor;
}

void gpnn_index_decode_grid(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_grid *grid = &index->grid;
  size_t size = 1;
  grid->n_cells = index->dataset.n;
  grid->n_observations = take_size(cursor);
  grid->within = take_f64(cursor);
  require(cursor, grid->n_cells >= 2 && grid->n_observations >= grid->n_cells);
  require(cursor, grid->within >= 0);
  for (size_t a = 0, first = 0; a < grid->n_factors; a++) {
    struct gpnn_grid_factor *factor = &index->factor[a];
    const struct gpnn_column *column = &index->dataset.schema.inputs[first];
    factor->n = take_size(cursor);
    require(cursor, factor->n >= 2 && gpnn_multiply(size, factor->n, &size));
    require(cursor, factor->labels == NULL || factor->n == column->n_levels);
    first += factor->n_columns;
  }
  require(cursor, size <= INT64_MAX / 16 && grid->n_cells <= size);
}

/* Points the factors to their levels where these are mapped, and checks that they are finite. */
static enum gpnn_status find_levels(struct gpnn_index *index, struct gpnn_error *err)
{
  const void *levels = NULL;
  size_t n = 0, own;
  for (size_t a = 0; a < index->grid.n_factors; a++) {
    if (!gpnn_multiply(index->factor[a].n, index->factor[a].d, &own) || own > SIZE_MAX - n)
      return gpnn_fail_memory(err, "for opening an index");
    n += own;
  }
  enum gpnn_status status =
      gpnn_index_find_items(index, "LEVL", n, 1, sizeof(double), &levels, err);
  if (status != GPNN_OK) return status;
  const double *x = levels;
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i]))
      return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: a level of the grid is not finite",
                       gpnn_container_path(index->container));
  for (size_t a = 0; a < index->grid.n_factors; a++) {
    index->factor[a].x = x;
    x += index->factor[a].n * index->factor[a].d;
  }
  return GPNN_OK;
}

/* Checks that cells are among those there are and ascend, that there are as many observations as
 * the file says, and that they are numbers, so that cells can be used as numbers of elements and
 * predictions are numbers whatever it holds. */
static bool are_cells_good(const struct gpnn_grid *grid)
{
  uint64_t total = 0;
  int64_t before = -1;
  for (size_t c = 0; c < grid->n_cells; c++) {
    if (grid->cell[c] <= before || !isfinite(grid->y[c])) return false;
    before = grid->cell[c];
    uint32_t count = grid->counts == NULL ? 1 : grid->counts[c];
    if (count == 0) return false;
    total += count;
  }
  return before < (int64_t)gpnn_grid_size(grid) && total == grid->n_observations;
}

enum gpnn_status gpnn_index_read_grid(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &index->dataset;
  struct gpnn_grid *grid = &index->grid;
  const void *cells = NULL, *counts = NULL;
  enum gpnn_status status = find_levels(index, err);
  if (status == GPNN_OK)
    status = gpnn_index_find_items(index, "CELL", dataset->n, 1, sizeof *grid->cell, &cells, err);
  if (status == GPNN_OK && gpnn_container_find(index->container, "CNTS") != NULL)
    status =
        gpnn_index_find_items(index, "CNTS", dataset->n, 1, sizeof *grid->counts, &counts, err);
  if (status != GPNN_OK) return status;
  grid->cell = cells;
  grid->counts = counts;
  grid->y = dataset->y;
  if (!are_cells_good(grid))
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: its cells are not those of a grid",
                     gpnn_container_path(index->container));
  dataset->grid = grid;
  return GPNN_OK;
}
