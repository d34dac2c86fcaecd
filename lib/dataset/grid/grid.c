#include "dataset/grid/grid.h"

#include <math.h>

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

struct gpnn_grid_cost gpnn_grid_cost(const struct gpnn_grid *grid)
{
  const double number = sizeof(double);
  double cells = 1, levels = 0, squares = 0, pairs = GPNN_GRID_COST_EIGENPAIRS;
  for (size_t a = 0; a < grid->n_factors; a++) {
    double n = (double)grid->factor[a].n;
    cells *= n;
    levels += n;
    squares += n * n;
  }
  double inner = cells / (double)grid->factor[0].n;
  if (pairs > cells) pairs = cells;
  return (struct gpnn_grid_cost){.factors = number * squares,
                                 .vector = number * cells,
                                 .draws =
                                     number * cells * GPNN_GRID_COST_DRAWS * GPNN_GRID_COST_ARRAYS,
                                 .pivoted = number * (double)grid->n_cells * GPNN_GRID_COST_PIVOTS,
                                 .eigen = number * (cells * inner + pairs * pairs),
                                 .flops = 2 * cells * levels,
                                 .missing_time = 1 - sqrt(levels / cells),
                                 .missing_memory = 1 - sqrt(squares) / cells};
}
