#include "dataset/grid.h"

size_t gpnn_grid_size(const struct gpnn_grid *grid)
{
  size_t size = 1;
  for (size_t a = 0; a < grid->n_factors; a++) size *= grid->factor[a].n;
  return size;
}

void gpnn_grid_levels(const struct gpnn_grid *grid, int64_t cell, size_t *level)
{
  size_t rest = (size_t)cell;
  for (size_t a = grid->n_factors; a-- > 0;) {
    level[a] = rest % grid->factor[a].n;
    rest /= grid->factor[a].n;
  }
}
