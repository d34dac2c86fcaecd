#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/grid/system/system_private.h"

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

/* The level of factor 'a' that cell 'cell' has. */
static size_t level_of(const struct gpnn_grid_cells *all, size_t a, size_t cell)
{
  for (size_t b = all->n_factors - 1; b > a; b--) cell /= all->n[b];
  return cell % all->n[a];
}

/* Chooses the levels of factor 'a' that stay: system->level[a], n[a] of them. */
static enum gpnn_status choose(struct gpnn_grid_system *system, size_t a, size_t *n,
                               struct gpnn_error *err)
{
  const struct gpnn_grid_cells *all = &system->all;
  bool *stays = gpnn_alloc(all->n[a], 1, sizeof *stays);
  system->level[a] = gpnn_alloc(all->n[a], 1, sizeof *system->level[a]);
  if (stays == NULL || system->level[a] == NULL) {
    free(stays);
    return gpnn_fail_memory(err, MEMORY_FOR);
  }
  for (size_t i = 0; i < all->outer * all->inner; i++)
    if (all->observed[i]) stays[level_of(all, a, i)] = true;
  *n = 0;
  for (size_t l = 0; l < all->n[a]; l++)
    if (stays[l]) system->level[a][(*n)++] = l;
  free(stays);
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
