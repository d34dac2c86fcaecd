#include "models/grid/means.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "kernel/factor.h"

/* Cells of value 0 that each level is taken to have besides those observed. */
static const double PRIOR_CELLS = 1;

/* ---- levels that were observed --------------------------------------------------------------- */

static enum gpnn_status fill(struct gpnn_grid_means *means, const struct gpnn_grid *grid,
                             const double *y, size_t *n, struct gpnn_error *err)
{
  size_t a = means->factor - 1, level[GPNN_GRID_FACTORS];
  if (means->mean == NULL || means->is_known == NULL || n == NULL)
    return gpnn_fail_memory(err, "for means of levels");
  for (size_t i = 0; i < grid->n_cells; i++) {
    gpnn_grid_levels(grid, grid->cell[i], level);
    means->mean[level[a]] += y[i];
    n[level[a]]++;
  }
  for (size_t l = 0; l < grid->factor[a].n; l++) {
    means->mean[l] /= (double)n[l] + PRIOR_CELLS;
    means->is_known[l] = n[l] > 0;
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_means_make(struct gpnn_grid_means *means, const struct gpnn_grid *grid,
                                      size_t factor, const double *y, struct gpnn_error *err)
{
  if (factor == 0) return GPNN_OK;
  size_t levels = grid->factor[factor - 1].n, *n = gpnn_alloc(levels, 1, sizeof *n);
  means->factor = factor;
  means->mean = gpnn_alloc(levels, 1, sizeof *means->mean);
  means->is_known = gpnn_alloc(levels, 1, sizeof *means->is_known);
  enum gpnn_status status = fill(means, grid, y, n, err);
  free(n);
  if (status != GPNN_OK) gpnn_grid_means_release(means);
  return status;
}

double gpnn_grid_means_at(const struct gpnn_grid_means *means, const size_t *level)
{
  return means->factor == 0 ? 0 : means->mean[level[means->factor - 1]];
}

/* ---- the others ------------------------------------------------------------------------------ */

struct place {
  double x, mean;
};

static int by_coordinate(const void *a, const void *b)
{
  const struct place *left = a, *right = b;
  return gpnn_compare_doubles(&left->x, &right->x);
}

/* Fits the series to the 'n' levels that were observed, by their coordinate. */
static enum gpnn_status fit_series(struct gpnn_grid_means *means,
                                   const struct gpnn_grid_factor *factor, struct place *place,
                                   double *x, double *y, struct gpnn_error *err)
{
  size_t n = 0;
  if (place == NULL || x == NULL || y == NULL) return gpnn_fail_memory(err, "for means of levels");
  for (size_t l = 0; l < factor->n; l++)
    if (means->is_known[l]) place[n++] = (struct place){factor->x[l], means->mean[l]};
  qsort(place, n, sizeof *place, by_coordinate);
  for (size_t i = 0; i < n; i++) {
    x[i] = place[i].x;
    y[i] = place[i].mean;
  }
  return gpnn_grid_series_fit(&means->series, n, x, y, err);
}

/* A series without values, and without correlation: levels vary about 0 as those observed do. */
static void scatter(struct gpnn_grid_means *means, size_t levels)
{
  double squares = 0, n = 0;
  for (size_t l = 0; l < levels; l++) {
    squares += means->mean[l] * means->mean[l];
    n += means->is_known[l];
  }
  means->series = (struct gpnn_grid_series){.range = DBL_MIN, .variance = n > 0 ? squares / n : 0};
}

enum gpnn_status gpnn_grid_means_extend(struct gpnn_grid_means *means, const struct gpnn_grid *grid,
                                        struct gpnn_error *err)
{
  if (means->factor == 0) return GPNN_OK;
  const struct gpnn_grid_factor *factor = &grid->factor[means->factor - 1];
  size_t n = factor->n;
  means->is_ordered = factor->d == 1 && factor->labels == NULL;
  if (!means->is_ordered) scatter(means, n);
  if (!means->is_ordered) return GPNN_OK;
  struct place *place = gpnn_alloc(n, 1, sizeof *place);
  double *x = gpnn_alloc(n, 1, sizeof *x), *y = gpnn_alloc(n, 1, sizeof *y);
  enum gpnn_status status = fit_series(means, factor, place, x, y, err);
  free(place);
  free(x);
  free(y);
  return status;
}

void gpnn_grid_means_release(struct gpnn_grid_means *means)
{
  free(means->mean);
  free(means->is_known);
  gpnn_grid_series_release(&means->series);
  memset(means, 0, sizeof *means);
}
