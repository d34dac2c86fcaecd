#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "models/grid/system_private.h"

#define MEMORY_FOR "for the covariance of a grid"

void gpnn_grid_cells_release(struct gpnn_grid_cells *cells)
{
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) free(cells->k[a]);
  free(cells->root);
  free(cells->noise);
  free(cells->observed);
  *cells = (struct gpnn_grid_cells){0};
}

/* Makes room for matrices of the sizes 'n' and for the cells. */
static enum gpnn_status allocate(struct gpnn_grid_cells *cells, size_t n_factors, const size_t *n,
                                 struct gpnn_error *err)
{
  bool fits = true;
  cells->n_factors = n_factors;
  cells->outer = n[0];
  cells->inner = 1;
  for (size_t a = 0; a < n_factors; a++) {
    cells->n[a] = n[a];
    cells->k[a] = gpnn_alloc(n[a], n[a], sizeof *cells->k[a]);
    fits =
        fits && cells->k[a] != NULL && (a == 0 || gpnn_multiply(cells->inner, n[a], &cells->inner));
  }
  if (fits) cells->noise = gpnn_alloc(cells->outer, cells->inner, sizeof *cells->noise);
  if (fits) cells->observed = gpnn_alloc(cells->outer, cells->inner, sizeof *cells->observed);
  if (!fits || cells->noise == NULL || cells->observed == NULL)
    return gpnn_fail_memory(err, MEMORY_FOR);
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_cells_fill(struct gpnn_grid_cells *cells, size_t n_factors,
                                      const size_t *n, const double *const *k, size_t n_cells,
                                      const int64_t *cell, const double *noise,
                                      struct gpnn_error *err)
{
  enum gpnn_status status = allocate(cells, n_factors, n, err);
  if (status != GPNN_OK) return status;
  for (size_t a = 0; a < n_factors; a++)
    memcpy(cells->k[a], k[a], n[a] * n[a] * sizeof *cells->k[a]);
  for (size_t i = 0; i < n_cells; i++) {
    cells->noise[cell[i]] = noise[i];
    cells->observed[cell[i]] = true;
  }
  cells->n_observed = n_cells;
  return GPNN_OK;
}

/* ---- the reduced grid --------------------------------------------------------------------- */

/* A level and what it is ordered by. */
struct place {
  size_t key, level;
};

static int by_key(const void *a, const void *b)
{
  const struct place *x = a, *y = b;
  int order = gpnn_compare_sizes(&y->key, &x->key);
  return order != 0 ? order : gpnn_compare_sizes(&x->level, &y->level);
}

/* The level of factor 'a' that the combination 'j' of all factors but the first has. */
static size_t level_of(const struct gpnn_grid_cells *all, size_t a, size_t j)
{
  for (size_t b = all->n_factors - 1; b > a; b--) j /= all->n[b];
  return j % all->n[a];
}

/* Levels of the first factor by their last observation, the latest first, so that those with an
 * observation at or after a time come first.  '*n' is how many have any. */
static void order_outer(const struct gpnn_grid_cells *all, struct place *place, size_t *n)
{
  *n = 0;
  for (size_t i = 0; i < all->outer; i++) {
    size_t last = all->inner;
    while (last > 0 && !all->observed[i * all->inner + last - 1]) last--;
    place[i] = (struct place){.key = last, .level = i};
    *n += last > 0;
  }
  qsort(place, all->outer, sizeof *place, by_key);
}

/* Levels of factor 'a' > 0 that have an observation, in their own order. */
static void order_inner(const struct gpnn_grid_cells *all, size_t a, struct place *place, size_t *n)
{
  for (size_t l = 0; l < all->n[a]; l++) place[l] = (struct place){.level = l};
  for (size_t i = 0; i < all->outer; i++)
    for (size_t j = 0; j < all->inner; j++)
      if (all->observed[i * all->inner + j]) place[level_of(all, a, j)].key = 1;
  *n = 0;
  for (size_t l = 0; l < all->n[a]; l++) *n += place[l].key;
  qsort(place, all->n[a], sizeof *place, by_key);
}

/* Chooses the levels of factor 'a' that stay: system->level[a], n[a] of them. */
static enum gpnn_status choose(struct gpnn_grid_system *system, size_t a, size_t *n,
                               struct gpnn_error *err)
{
  const struct gpnn_grid_cells *all = &system->all;
  struct place *place = gpnn_alloc(all->n[a], 1, sizeof *place);
  system->level[a] = gpnn_alloc(all->n[a], 1, sizeof *system->level[a]);
  if (place == NULL || system->level[a] == NULL) {
    free(place);
    return gpnn_fail_memory(err, MEMORY_FOR);
  }
  if (a == 0)
    order_outer(all, place, n);
  else
    order_inner(all, a, place, n);
  for (size_t l = 0; l < *n; l++) system->level[a][l] = place[l].level;
  free(place);
  return GPNN_OK;
}

/* Copies the rows and columns that stay. */
static void copy_matrix(struct gpnn_grid_system *system, size_t a)
{
  const size_t *level = system->level[a], n = system->reduced.n[a], n_all = system->all.n[a];
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      system->reduced.k[a][i * n + j] = system->all.k[a][level[i] * n_all + level[j]];
}

/* Which combination of all factors but the first the reduced one 'j' is. */
static size_t combination(const struct gpnn_grid_system *system, size_t j)
{
  size_t all = 0, stride = 1;
  for (size_t a = system->all.n_factors - 1; a > 0; a--) {
    all += stride * system->level[a][j % system->reduced.n[a]];
    j /= system->reduced.n[a];
    stride *= system->all.n[a];
  }
  return all;
}

static enum gpnn_status copy_cells(struct gpnn_grid_system *system, struct gpnn_error *err)
{
  const struct gpnn_grid_cells *all = &system->all;
  struct gpnn_grid_cells *reduced = &system->reduced;
  system->inner = gpnn_alloc(reduced->inner, 1, sizeof *system->inner);
  if (system->inner == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t j = 0; j < reduced->inner; j++) system->inner[j] = combination(system, j);
  for (size_t i = 0; i < reduced->outer; i++) {
    for (size_t j = 0; j < reduced->inner; j++) {
      size_t from = system->level[0][i] * all->inner + system->inner[j];
      reduced->noise[i * reduced->inner + j] = all->noise[from];
      reduced->observed[i * reduced->inner + j] = all->observed[from];
    }
  }
  reduced->n_observed = all->n_observed;
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_reduce(struct gpnn_grid_system *system, struct gpnn_error *err)
{
  size_t n[GPNN_GRID_FACTORS] = {0}, n_factors = system->all.n_factors;
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < n_factors && status == GPNN_OK; a++)
    status = choose(system, a, &n[a], err);
  if (status == GPNN_OK) status = allocate(&system->reduced, n_factors, n, err);
  if (status != GPNN_OK) return status;
  for (size_t a = 0; a < n_factors; a++) copy_matrix(system, a);
  status = copy_cells(system, err);
  return status == GPNN_OK ? gpnn_grid_find_root(&system->reduced, err) : status;
}

/* ---- vectors ------------------------------------------------------------------------------ */

void gpnn_grid_gather(const struct gpnn_grid_system *system, size_t columns, size_t first,
                      size_t count, const double *all, double *reduced)
{
  const struct gpnn_grid_cells *cells = &system->reduced;
  for (size_t i = 0; i < cells->outer; i++) {
    const bool *observed = cells->observed + i * cells->inner;
    for (size_t c = 0; c < count; c++) {
      const double *from = all + (system->level[0][i] * columns + first + c) * system->all.inner;
      double *to = reduced + (i * count + c) * cells->inner;
      for (size_t j = 0; j < cells->inner; j++) to[j] = observed[j] ? from[system->inner[j]] : 0;
    }
  }
}

void gpnn_grid_scatter(const struct gpnn_grid_system *system, size_t columns, size_t first,
                       size_t count, const double *reduced, double *all)
{
  const struct gpnn_grid_cells *cells = &system->reduced;
  for (size_t i = 0; i < system->all.outer; i++)
    memset(all + (i * columns + first) * system->all.inner, 0,
           count * system->all.inner * sizeof *all);
  for (size_t i = 0; i < cells->outer; i++) {
    for (size_t c = 0; c < count; c++) {
      double *to = all + (system->level[0][i] * columns + first + c) * system->all.inner;
      const double *from = reduced + (i * count + c) * cells->inner;
      for (size_t j = 0; j < cells->inner; j++) to[system->inner[j]] = from[j];
    }
  }
}
