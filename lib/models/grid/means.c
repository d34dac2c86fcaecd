#include "models/grid/means.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "kernel/factor.h"

/* Cells of value 0 that each level is taken to have besides those observed. */
static const double PRIOR_CELLS = 1;

struct place {
  double x, mean;
};

static int by_coordinate(const void *a, const void *b)
{
  const struct place *left = a, *right = b;
  return gpnn_compare_doubles(&left->x, &right->x);
}

/* Sums and numbers of the observed cells of each level. */
static void sum_cells(const struct gpnn_grid *grid, size_t a, const double *y, double *sum,
                      size_t *n)
{
  size_t level[GPNN_GRID_FACTORS];
  for (size_t i = 0; i < grid->n_cells; i++) {
    gpnn_grid_levels(grid, grid->cell[i], level);
    sum[level[a]] += y[i];
    n[level[a]]++;
  }
}

/* The levels that have an observation, by their coordinate. */
static void sort_levels(struct gpnn_grid_means *means, const struct gpnn_grid_factor *factor,
                        const size_t *n, struct place *place)
{
  for (size_t l = 0; l < factor->n; l++)
    if (n[l] > 0) place[means->n_sorted++] = (struct place){factor->x[l], means->mean[l]};
  qsort(place, means->n_sorted, sizeof *place, by_coordinate);
  for (size_t i = 0; i < means->n_sorted; i++) {
    means->x[i] = place[i].x;
    means->at[i] = place[i].mean;
  }
}

static enum gpnn_status fill(struct gpnn_grid_means *means, const struct gpnn_grid *grid,
                             const double *y, size_t *n, struct place *place,
                             struct gpnn_error *err)
{
  size_t a = means->factor - 1;
  const struct gpnn_grid_factor *factor = &grid->factor[a];
  if (means->mean == NULL || means->x == NULL || means->at == NULL || n == NULL || place == NULL)
    return gpnn_fail_memory(err, "for means of levels");
  sum_cells(grid, a, y, means->mean, n);
  for (size_t l = 0; l < factor->n; l++) means->mean[l] /= (double)n[l] + PRIOR_CELLS;
  if (factor->d == 1 && factor->labels == NULL) sort_levels(means, factor, n, place);
  for (size_t l = 0; l < factor->n; l++)
    if (n[l] == 0) means->mean[l] = gpnn_grid_means_between(means, factor->x[l]);
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_means_make(struct gpnn_grid_means *means, const struct gpnn_grid *grid,
                                      size_t factor, const double *y, struct gpnn_error *err)
{
  if (factor == 0) return GPNN_OK;
  size_t levels = grid->factor[factor - 1].n;
  size_t *n = gpnn_alloc(levels, 1, sizeof *n);
  struct place *place = gpnn_alloc(levels, 1, sizeof *place);
  means->factor = factor;
  means->mean = gpnn_alloc(levels, 1, sizeof *means->mean);
  means->x = gpnn_alloc(levels, 1, sizeof *means->x);
  means->at = gpnn_alloc(levels, 1, sizeof *means->at);
  enum gpnn_status status = fill(means, grid, y, n, place, err);
  free(n);
  free(place);
  if (status != GPNN_OK) gpnn_grid_means_release(means);
  return status;
}

double gpnn_grid_means_at(const struct gpnn_grid_means *means, const size_t *level)
{
  return means->factor == 0 ? 0 : means->mean[level[means->factor - 1]];
}

double gpnn_grid_means_between(const struct gpnn_grid_means *means, double x)
{
  size_t low = 0, high = means->n_sorted; /* the first coordinate not below x is in between */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (means->x[middle] < x)
      low = middle + 1;
    else
      high = middle;
  }
  if (means->n_sorted == 0) return 0;
  if (low == means->n_sorted) return means->at[low - 1];
  if (low == 0 || means->x[low] == x) return means->at[low];
  double share = (x - means->x[low - 1]) / (means->x[low] - means->x[low - 1]);
  return means->at[low - 1] + share * (means->at[low] - means->at[low - 1]);
}

void gpnn_grid_means_release(struct gpnn_grid_means *means)
{
  free(means->mean);
  free(means->x);
  free(means->at);
  memset(means, 0, sizeof *means);
}
