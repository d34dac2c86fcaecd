#include "models/grid/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MEMORY_FOR "for places on a grid"

/* A point and what it is of. */
struct key {
  const double *x;
  size_t d;
  size_t number;
};

static int compare_points(size_t d, const double *a, const double *b)
{
  for (size_t j = 0; j < d; j++)
    if (a[j] != b[j]) return a[j] < b[j] ? -1 : 1;
  return 0;
}

static int compare_keys(const void *a, const void *b)
{
  const struct key *p = a, *q = b;
  int order = compare_points(p->d, p->x, q->x);
  return order != 0 ? order : (p->number > q->number) - (p->number < q->number);
}

/* ---- the grid's levels -------------------------------------------------------------------- */

static enum gpnn_status sort_levels(struct gpnn_grid_finder *finder, size_t a,
                                    struct gpnn_error *err)
{
  const struct gpnn_grid_factor *factor = &finder->grid->factor[a];
  struct key *keys = gpnn_alloc(factor->n, 1, sizeof *keys);
  finder->order[a] = gpnn_alloc(factor->n, 1, sizeof *finder->order[a]);
  bool fits = keys != NULL && finder->order[a] != NULL;
  for (size_t l = 0; fits && l < factor->n; l++)
    keys[l] = (struct key){factor->x + l * factor->d, factor->d, l};
  if (fits) qsort(keys, factor->n, sizeof *keys, compare_keys);
  for (size_t l = 0; fits && l < factor->n; l++) finder->order[a][l] = (uint32_t)keys[l].number;
  free(keys);
  return fits ? GPNN_OK : gpnn_fail_memory(err, MEMORY_FOR);
}

enum gpnn_status gpnn_grid_finder_make(struct gpnn_grid_finder *finder,
                                       const struct gpnn_grid *grid, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  finder->grid = grid;
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++)
    status = sort_levels(finder, a, err);
  if (status != GPNN_OK) gpnn_grid_finder_release(finder);
  return status;
}

void gpnn_grid_finder_release(struct gpnn_grid_finder *finder)
{
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) free(finder->order[a]);
  memset(finder, 0, sizeof *finder);
}

/* The level with these coordinates, or the number of levels. */
static size_t find_level(const struct gpnn_grid_finder *finder, size_t a, const double *x)
{
  const struct gpnn_grid_factor *factor = &finder->grid->factor[a];
  size_t low = 0, high = factor->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2, level = finder->order[a][middle];
    int order = compare_points(factor->d, factor->x + level * factor->d, x);
    if (order == 0) return level;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return factor->n;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Numbers the new levels of factor 'a' of rows, 'keys' (n of them). */
static enum gpnn_status number_new(struct gpnn_grid_found *found, size_t a, size_t n_factors,
                                   size_t levels, size_t n, struct key *keys,
                                   struct gpnn_error *err)
{
  size_t d = n > 0 ? keys[0].d : 0, count = 0;
  if (n > 0) qsort(keys, n, sizeof *keys, compare_keys);
  found->x[a] = gpnn_alloc(n, d, sizeof *found->x[a]);
  if (found->x[a] == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || compare_points(d, keys[i - 1].x, keys[i].x) != 0)
      memcpy(found->x[a] + count++ * d, keys[i].x, d * sizeof(double));
    found->level[keys[i].number * n_factors + a] = (uint32_t)(levels + count - 1);
  }
  found->places.x[a] = found->x[a];
  found->places.n_new[a] = count;
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_find(struct gpnn_grid_found *found,
                                const struct gpnn_grid_finder *finder, size_t n, const double *x,
                                struct gpnn_error *err)
{
  const struct gpnn_grid *grid = finder->grid;
  size_t f = grid->n_factors, width = 0, from = 0;
  struct key *keys = gpnn_alloc(n, 1, sizeof *keys);
  found->level = gpnn_alloc(n, f, sizeof *found->level);
  enum gpnn_status status =
      keys == NULL || found->level == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : GPNN_OK;
  found->places = (struct gpnn_grid_places){.n = n, .level = found->level};
  for (size_t a = 0; a < f; a++) width += grid->factor[a].d;
  for (size_t a = 0; a < f && status == GPNN_OK; from += grid->factor[a++].d) {
    size_t n_new = 0;
    for (size_t i = 0; i < n; i++) {
      size_t level = find_level(finder, a, x + i * width + from);
      found->level[i * f + a] = (uint32_t)level;
      if (level == grid->factor[a].n)
        keys[n_new++] = (struct key){x + i * width + from, grid->factor[a].d, i};
    }
    status = number_new(found, a, f, grid->factor[a].n, n_new, keys, err);
  }
  free(keys);
  if (status != GPNN_OK) gpnn_grid_found_release(found);
  return status;
}

void gpnn_grid_found_release(struct gpnn_grid_found *found)
{
  free(found->level);
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) free(found->x[a]);
  memset(found, 0, sizeof *found);
}
