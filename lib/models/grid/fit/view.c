#include "models/grid/fit/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/grid/means.h"

static enum gpnn_status count_cells(struct gpnn_grid_view *view, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = view->grid;
  size_t p = grid->factor[0].n, level[GPNN_GRID_FACTORS];
  view->inner = gpnn_grid_size(grid) / p;
  view->first = gpnn_alloc(p + 1, 1, sizeof *view->first);
  bool is_complete = view->first != NULL;
  for (size_t a = 0; a < grid->n_factors; a++) {
    view->n_at[a] = gpnn_alloc(grid->factor[a].n, 1, sizeof *view->n_at[a]);
    is_complete = is_complete && view->n_at[a] != NULL;
  }
  if (!is_complete) return gpnn_fail_memory(err, "for levels");
  for (size_t c = 0; c < grid->n_cells; c++) {
    gpnn_grid_levels(grid, grid->cell[c], level);
    for (size_t a = 0; a < grid->n_factors; a++) view->n_at[a][level[a]]++;
  }
  for (size_t i = 0; i < p; i++) view->first[i + 1] = view->first[i] + view->n_at[0][i];
  return GPNN_OK;
}

/* The means of the levels of the parameters' mean factor, to each cell. */
static enum gpnn_status find_means(struct gpnn_grid_view *view, size_t factor,
                                   struct gpnn_error *err)
{
  const struct gpnn_grid *grid = view->grid;
  struct gpnn_grid_means means = {0};
  size_t level[GPNN_GRID_FACTORS];
  view->mean = gpnn_alloc(grid->n_cells, 1, sizeof *view->mean);
  if (view->mean == NULL) return gpnn_fail_memory(err, "for means of levels");
  enum gpnn_status status = gpnn_grid_means_make(&means, grid, factor, grid->y, err);
  for (size_t c = 0; c < grid->n_cells && status == GPNN_OK; c++) {
    gpnn_grid_levels(grid, grid->cell[c], level);
    view->mean[c] = gpnn_grid_means_at(&means, level);
  }
  gpnn_grid_means_release(&means);
  return status;
}

enum gpnn_status gpnn_grid_view_make(struct gpnn_grid_view *view, const struct gpnn_grid *grid,
                                     const struct gpnn_parameters *parameters,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  view->grid = grid;
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++) {
    const struct gpnn_grid_factor *factor = &grid->factor[a];
    view->prepared[a] = gpnn_alloc(factor->n, factor->d, sizeof(double));
    if (view->prepared[a] == NULL) status = gpnn_fail_memory(err, "for levels");
    if (status == GPNN_OK)
      status = gpnn_factor_prepare(&parameters->grid.factor[a], factor->d, factor->n, factor->x,
                                   factor->n, factor->x, view->prepared[a], err);
  }
  if (status == GPNN_OK) status = count_cells(view, err);
  if (status == GPNN_OK && parameters->grid.mean_factor > 0)
    status = find_means(view, parameters->grid.mean_factor, err);
  if (status != GPNN_OK) gpnn_grid_view_release(view);
  return status;
}

void gpnn_grid_view_release(struct gpnn_grid_view *view)
{
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) {
    free(view->prepared[a]);
    free(view->n_at[a]);
  }
  free(view->first);
  free(view->mean);
  memset(view, 0, sizeof *view);
}
