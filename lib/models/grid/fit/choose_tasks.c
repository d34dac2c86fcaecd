/* A start for tasks: the eigenvectors of their second moments where they were observed together. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "models/grid/fit/choose_private.h"

#define MEMORY_FOR "for the covariance of tasks"

/* The share of a task's variance that it has to itself. */
static const double own_share = 0.1, least_own = 1e-3;

/* A cell by the levels of all factors but that of the tasks. */
struct entry {
  size_t rest, task;
  double y;
};

static int compare_rest(const void *a, const void *b)
{
  const struct entry *x = a, *y = b;
  if (x->rest != y->rest) return x->rest < y->rest ? -1 : 1;
  return x->task < y->task ? -1 : x->task > y->task;
}

static void fill_entries(const struct gpnn_grid *grid, size_t a, struct entry *entry)
{
  for (size_t i = 0; i < grid->n_cells; i++) {
    size_t level[GPNN_GRID_FACTORS], rest = 0;
    gpnn_grid_levels(grid, grid->cell[i], level);
    for (size_t f = 0; f < grid->n_factors; f++)
      if (f != a) rest = rest * grid->factor[f].n + level[f];
    entry[i] = (struct entry){rest, level[a], grid->y[i]};
  }
  qsort(entry, grid->n_cells, sizeof *entry, compare_rest);
}

/* Mean products of the values of each pair of tasks, to 'c' (n by n, lower triangle); 0 for a pair
 * that was never observed together.  'count' (n by n) is scratch. */
static void fill_moments(size_t n_entries, const struct entry *entry, size_t n, double *c,
                         double *count)
{
  for (size_t i = 0; i < n * n; i++) c[i] = count[i] = 0;
  for (size_t first = 0, i = 0; i < n_entries; i++) {
    if (entry[i].rest != entry[first].rest) first = i;
    for (size_t j = first; j <= i; j++) {
      size_t at = entry[j].task * n + entry[i].task; /* column-major */
      c[at] += entry[i].y * entry[j].y;
      count[at]++;
    }
  }
  for (size_t i = 0; i < n * n; i++)
    if (count[i] > 0) c[i] /= count[i];
}

/* Loadings are the leading eigenvectors; 'c' is replaced by all, 'values' (n) has room for their
 * eigenvalues, ascending. */
static enum gpnn_status set_loadings(struct gpnn_factor *factor, double *c, double *values,
                                     struct gpnn_error *err)
{
  size_t n = factor->n_tasks;
  for (size_t i = 0; i < n; i++) factor->own[i] = fmax(own_share * c[i * n + i], least_own);
  if (gpnn_blas_claim(1) == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  if (LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)n, c, (lapack_int)n, values) != 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "the eigenvectors of the tasks cannot be found");
  for (size_t r = 0; r < factor->rank; r++) {
    size_t k = n - 1 - r;
    double size = r < n ? sqrt((1 - own_share) * fmax(values[k], 0)) : 0;
    for (size_t i = 0; i < n; i++)
      factor->loadings[i * factor->rank + r] = r < n ? size * c[k * n + i] : 0;
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_choice_start_tasks(const struct gpnn_grid_choice *choice,
                                              struct gpnn_grid_trial *trial, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = choice->dataset->grid;
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++) {
    struct gpnn_factor *factor = &trial->parameters.grid.factor[a];
    size_t n = factor->n_tasks;
    if (factor->n_terms > 0) continue;
    struct entry *entry = gpnn_alloc(grid->n_cells, 1, sizeof *entry);
    double *moments = gpnn_alloc(n, 2 * n + 1, sizeof *moments);
    if (entry == NULL || moments == NULL) status = gpnn_fail_memory(err, MEMORY_FOR);
    if (status == GPNN_OK) {
      fill_entries(grid, a, entry);
      fill_moments(grid->n_cells, entry, n, moments, moments + n * n);
      status = set_loadings(factor, moments, moments + 2 * n * n, err);
    }
    free(entry);
    free(moments);
  }
  return status;
}
