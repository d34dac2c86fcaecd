/*
 * Writing and reading the sections of gpnn-index(5) that an index of kind grid has.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/grid_reading.h"
#include "dataset/index_columns_private.h"
#include "dataset/index_reading_private.h"
#include "dataset/index_writing_private.h"

static const struct gpnn_container_tag tags[] = {
    {"INFO", true, 0}, {"COLS", true, 0}, {"COLX", true, 0}, {"NAME", true, 0},  {"NOTA", true, 0},
    {"STDZ", true, 0}, {"FACT", true, 0}, {"GRID", true, 0}, {"OPTS", false, 0}, {"CELL", true, 0},
    {"LEVL", true, 0}, {"YVAL", true, 0}, {"CNTS", true, 0},
};

const struct gpnn_container_format gpnn_index_grid_format = {GPNN_CONTAINER_GRID,
                                                             sizeof tags / sizeof *tags, tags};

/* ---- writing ------------------------------------------------------------------------------ */

/* The factors, and how many inputs of the schema are theirs. */
static void compose_factors(struct blob *blob, const struct gpnn_grid *grid)
{
  put_u32(blob, (uint32_t)grid->n_factors);
  put_u32(blob, 0);
  for (size_t a = 0; a < grid->n_factors; a++) {
    put_u32(blob, (uint32_t)grid->factor[a].n_columns);
    put_text(blob, grid->factor[a].name, strlen(grid->factor[a].name));
  }
}

static void compose_grid(struct blob *blob, const struct gpnn_grid *grid)
{
  put_u64(blob, grid->n_observations);
  put_f64(blob, grid->within);
  for (size_t a = 0; a < grid->n_factors; a++) put_u64(blob, grid->factor[a].n);
}

static enum gpnn_status write_levels(struct gpnn_index_writing *writing,
                                     const struct gpnn_grid *grid, struct gpnn_error *err)
{
  struct blob blob = {0};
  for (size_t a = 0; a < grid->n_factors; a++)
    put_f64s(&blob, grid->factor[a].n * grid->factor[a].d, grid->factor[a].x);
  return gpnn_index_write_blob(writing, "LEVL", true, &blob, err);
}

static enum gpnn_status write_sections(struct gpnn_index_writing *writing,
                                       const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = dataset->grid;
  const char *provenance = dataset->provenance == NULL ? "" : dataset->provenance;
  struct blob blob = {0};
  enum gpnn_status status = gpnn_index_write_metadata(writing, dataset, err);
  if (status != GPNN_OK) return status;
  compose_factors(&blob, grid);
  status = gpnn_index_write_blob(writing, "FACT", true, &blob, err);
  if (status != GPNN_OK) return status;
  compose_grid(&blob, grid);
  status = gpnn_index_write_blob(writing, "GRID", true, &blob, err);
  if (status == GPNN_OK)
    status = gpnn_index_write_section(writing, "OPTS", false, provenance, strlen(provenance), err);
  if (status == GPNN_OK)
    status = gpnn_index_write_section(writing, "CELL", true, grid->cell,
                                      grid->n_cells * sizeof *grid->cell, err);
  if (status == GPNN_OK) status = write_levels(writing, grid, err);
  if (status == GPNN_OK)
    status = gpnn_index_write_rows(writing, "YVAL", grid->n_cells, 1, grid->y, err);
  if (status == GPNN_OK && grid->counts != NULL)
    status = gpnn_index_write_section(writing, "CNTS", true, grid->counts,
                                      grid->n_cells * sizeof *grid->counts, err);
  return status;
}

enum gpnn_status gpnn_index_write_grid(const char *path, const struct gpnn_dataset *dataset,
                                       const char *volatile *watch, struct gpnn_error *err)
{
  struct gpnn_index_writing writing = {.mapping = dataset->mapping};
  enum gpnn_status status =
      gpnn_container_create(&writing.writer, path, &gpnn_index_grid_format, watch, err);
  if (status != GPNN_OK) return status;
  status = write_sections(&writing, dataset, err);
  if (status == GPNN_OK)
    return gpnn_container_commit(writing.writer, gpnn_fingerprint_value(&writing.fingerprint), err);
  gpnn_container_abandon(writing.writer);
  return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* The columns of a factor that vary, of those from input 'first' on. */
static size_t count_kept(const struct gpnn_scaling *scaling, size_t first, size_t n_inputs)
{
  size_t kept = 0;
  for (size_t j = first; j < first + n_inputs; j++) kept += scaling->weight[j] != 0;
  return kept;
}

static void decode_factors(struct cursor *cursor, struct gpnn_index *index)
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

static void decode_grid(struct cursor *cursor, struct gpnn_index *index)
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
  const double *x = NULL;
  size_t n = 0, own;
  for (size_t a = 0; a < index->grid.n_factors; a++) {
    if (!gpnn_multiply(index->factor[a].n, index->factor[a].d, &own) || own > SIZE_MAX - n)
      return gpnn_fail_memory(err, "for opening an index");
    n += own;
  }
  enum gpnn_status status = gpnn_index_find_rows(index, "LEVL", n, 1, &x, err);
  if (status != GPNN_OK) return status;
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

/* Finds a section of n_cells items of 'width' bytes. */
static enum gpnn_status find_cells(const struct gpnn_index *index, const char *tag, size_t width,
                                   const void **items, struct gpnn_error *err)
{
  const struct gpnn_container_section *section;
  size_t length;
  enum gpnn_status status = gpnn_index_find_section(index, tag, &section, err);
  if (status != GPNN_OK) return status;
  if (!gpnn_multiply(index->grid.n_cells, width, &length) || section->length != length)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s has another length",
                     gpnn_container_path(index->container), tag);
  *items = gpnn_container_bytes(index->container, section);
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
  enum gpnn_status status = gpnn_index_read_metadata(index, true, err);
  if (status == GPNN_OK) status = gpnn_index_read_section(index, "FACT", decode_factors, err);
  if (status == GPNN_OK) status = gpnn_index_read_section(index, "GRID", decode_grid, err);
  if (status == GPNN_OK) status = find_levels(index, err);
  if (status == GPNN_OK) status = find_cells(index, "CELL", sizeof *grid->cell, &cells, err);
  if (status == GPNN_OK)
    status = gpnn_index_find_rows(index, "YVAL", dataset->n, 1, &dataset->y, err);
  if (status == GPNN_OK && gpnn_container_find(index->container, "CNTS") != NULL)
    status = find_cells(index, "CNTS", sizeof *grid->counts, &counts, err);
  if (status != GPNN_OK) return status;
  grid->cell = cells;
  grid->counts = counts;
  grid->y = dataset->y;
  if (!are_cells_good(grid))
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: its cells are not those of a grid",
                     gpnn_container_path(index->container));
  dataset->mapping = gpnn_container_mapping(index->container);
  dataset->grid = grid;
  return GPNN_OK;
}
