#include "cmd/info/info.h"

#include <stdlib.h>

#include "base/memory.h"
#include "dataset/grid/grid.h"

/* Marks the levels that have observations, those of one factor after another. */
static bool *mark_levels(const struct gpnn_grid *grid, size_t *level)
{
  size_t n = 0;
  for (size_t a = 0; a < grid->n_factors; a++) n += grid->factor[a].n;
  bool *seen = gpnn_alloc(n, 1, sizeof *seen);
  for (size_t c = 0; c < grid->n_cells && seen != NULL; c++) {
    bool *of_factor = seen;
    gpnn_grid_levels(grid, grid->cell[c], level);
    for (size_t a = 0; a < grid->n_factors; of_factor += grid->factor[a++].n)
      of_factor[level[a]] = true;
  }
  return seen;
}

/* A line per factor: name, levels, those of them without any observation, what levels are, and the
 * columns. */
static void put_factors(struct facts *facts, const struct gpnn_dataset *dataset, const bool *seen)
{
  const struct gpnn_grid *grid = dataset->grid;
  size_t input = 0;
  char name[GPNN_MASK_BYTES];
  facts_open_list(facts, "factor");
  for (size_t a = 0; a < grid->n_factors; a++) {
    const struct gpnn_grid_factor *factor = &grid->factor[a];
    size_t n_empty = 0;
    for (size_t l = 0; l < factor->n; l++) n_empty += !*seen++;
    facts_open_row(facts, NULL, '{');
    facts_name(facts, "name", factor->name);
    facts_count(facts, "levels", factor->n);
    facts_count(facts, "empty", n_empty);
    facts_text(facts, "kind", factor->labels != NULL ? "names" : "numbers");
    facts_open_row(facts, "columns", '[');
    for (size_t j = 0; j < factor->n_columns; j++)
      facts_text(facts, NULL, gpnn_schema_column_name(&dataset->schema.inputs[input++], name));
    facts_close_row(facts, ']');
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
}

static void put_cells(struct facts *facts, const struct gpnn_grid *grid)
{
  size_t size = gpnn_grid_size(grid), n_repeated = 0;
  for (size_t c = 0; c < grid->n_cells && grid->counts != NULL; c++)
    n_repeated += grid->counts[c] > 1;
  facts_count(facts, "grid-cells", size);
  facts_count(facts, "cells", grid->n_cells);
  facts_number(facts, "missing", 1 - (double)grid->n_cells / (double)size);
  facts_count(facts, "observations", grid->n_observations);
  facts_count(facts, "repeated-cells", n_repeated);
  if (n_repeated > 0)
    facts_number(facts, "within-variance",
                 grid->within / (double)(grid->n_observations - grid->n_cells));
}

/* Whole numbers as such, unless they are beyond counting. */
static void add_bytes(struct facts *facts, const char *name, double bytes)
{
  if (bytes < 0x1p53)
    facts_count(facts, name, (uint64_t)bytes);
  else
    facts_number(facts, name, bytes);
}

/* What computing with the grid will take, in bytes and floating-point operations. */
static void put_cost(struct facts *facts, const struct gpnn_grid *grid)
{
  const struct gpnn_grid_cost cost = gpnn_grid_cost(grid);
  facts_number(facts, "break-even-time", cost.missing_time);
  facts_number(facts, "break-even-memory", cost.missing_memory);
  add_bytes(facts, "bytes-factors", cost.factors);
  add_bytes(facts, "bytes-vector", cost.vector);
  add_bytes(facts, "bytes-draws", cost.draws);
  add_bytes(facts, "bytes-pivoted", cost.pivoted);
  add_bytes(facts, "bytes-eigen", cost.eigen);
  facts_number(facts, "flops-product", cost.flops);
}

void info_put_grid(struct facts *facts, const struct gpnn_dataset *dataset)
{
  const struct gpnn_grid *grid = dataset->grid;
  size_t *level = gpnn_alloc(grid->n_factors, 1, sizeof *level);
  bool *seen = level == NULL ? NULL : mark_levels(grid, level);
  if (seen == NULL)
    facts->status = gpnn_fail_memory(&facts->error, "for the levels of a grid");
  else
    put_factors(facts, dataset, seen);
  put_cells(facts, grid);
  put_cost(facts, grid);
  free(level);
  free(seen);
}
