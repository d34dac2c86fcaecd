#include "models/grid/fit/subset.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Numbers the levels of factor 'a' that occur in cells, whose levels are still the grid's. */
static enum gpnn_status number_levels(struct gpnn_grid_subset *cells, size_t a,
                                      const struct gpnn_grid_factor *from, const double *prepared,
                                      struct gpnn_error *err)
{
  struct gpnn_grid_subset_factor *factor = &cells->factor[a];
  size_t f = cells->n_factors;
  uint32_t *number = gpnn_alloc(from->n, 1, sizeof *number); /* 0: the level does not occur */
  if (number == NULL) return gpnn_fail_memory(err, "for levels");
  for (size_t i = 0; i < cells->n; i++) number[cells->level[i * f + a]] = 1;
  for (size_t l = 0; l < from->n; l++) factor->n += number[l];
  factor->d = from->d;
  factor->x = gpnn_alloc(factor->n, from->d, sizeof *factor->x);
  factor->origin = gpnn_alloc(factor->n, 1, sizeof *factor->origin);
  bool is_complete = factor->x != NULL && factor->origin != NULL;
  for (size_t l = 0, next = 0; is_complete && l < from->n; l++) {
    if (number[l] == 0) continue;
    memcpy(factor->x + next * from->d, prepared + l * from->d, from->d * sizeof *prepared);
    factor->origin[next] = (uint32_t)l;
    number[l] = (uint32_t)next++;
  }
  for (size_t i = 0; is_complete && i < cells->n; i++)
    cells->level[i * f + a] = number[cells->level[i * f + a]];
  free(number);
  return is_complete ? GPNN_OK : gpnn_fail_memory(err, "for levels");
}

/* The share of the sum of squares within cells that falls to those that were collected. */
static double share_within(const struct gpnn_grid *grid, const struct gpnn_grid_subset *cells)
{
  size_t all = grid->n_observations - grid->n_cells, here = 0;
  for (size_t i = 0; i < cells->n; i++) here += cells->count[i] - 1;
  if (here == all) return grid->within; /* exactly */
  return grid->within * (double)here / (double)all;
}

enum gpnn_status gpnn_grid_subset_collect(struct gpnn_grid_subset *cells,
                                          const struct gpnn_grid *grid,
                                          const double *const prepared[], const double *mean,
                                          size_t n, const size_t *chosen, struct gpnn_error *err)
{
  size_t level[GPNN_GRID_FACTORS];
  enum gpnn_status status = GPNN_OK;
  cells->n_factors = grid->n_factors;
  cells->n = n;
  cells->level = gpnn_alloc(n, grid->n_factors, sizeof *cells->level);
  cells->y = gpnn_alloc(n, 1, sizeof *cells->y);
  cells->count = gpnn_alloc(n, 1, sizeof *cells->count);
  if (cells->level == NULL || cells->y == NULL || cells->count == NULL)
    status = gpnn_fail_memory(err, "for cells");
  for (size_t i = 0; status == GPNN_OK && i < n; i++) {
    size_t c = chosen[i];
    gpnn_grid_levels(grid, grid->cell[c], level);
    for (size_t a = 0; a < grid->n_factors; a++)
      cells->level[i * grid->n_factors + a] = (uint32_t)level[a];
    cells->y[i] = grid->y[c] - (mean == NULL ? 0 : mean[c]);
    cells->count[i] = grid->counts == NULL ? 1 : grid->counts[c];
  }
  if (status == GPNN_OK) cells->within = share_within(grid, cells);
  for (size_t a = 0; status == GPNN_OK && a < grid->n_factors; a++)
    status = number_levels(cells, a, &grid->factor[a], prepared[a], err);
  if (status != GPNN_OK) gpnn_grid_subset_release(cells);
  return status;
}

void gpnn_grid_subset_release(struct gpnn_grid_subset *cells)
{
  for (size_t a = 0; a < cells->n_factors; a++) {
    free(cells->factor[a].x);
    free(cells->factor[a].origin);
  }
  free(cells->level);
  free(cells->y);
  free(cells->count);
  memset(cells, 0, sizeof *cells);
}
