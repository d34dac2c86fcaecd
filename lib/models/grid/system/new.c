#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "models/grid/system/system_private.h"

#define MEMORY_FOR "for the covariance of a grid"

/* ---- memory ------------------------------------------------------------------------------- */

/* Matrices of each factor at a time: as computed, of all levels, and of those observed.  For each
 * cell: noise and whether it was observed, of both, and the vectors of conjugate gradients. */
enum { MATRICES = 3, CELL_BYTES = 2 * (sizeof(double) + sizeof(bool)), VECTORS = 6 };

static double needed_bytes(const struct gpnn_grid *grid, size_t vectors)
{
  double cells = 1, squares = 0;
  for (size_t a = 0; a < grid->n_factors; a++) {
    double n = (double)grid->factor[a].n;
    cells *= n;
    squares += n * n;
  }
  return MATRICES * sizeof(double) * squares +
         (CELL_BYTES + sizeof(double) * (VECTORS + (double)vectors)) * cells;
}

/* Writes "30 levels of site x 4 of time". */
static void write_sizes(const struct gpnn_grid *grid, char *text, size_t size)
{
  size_t length = 0;
  text[0] = '\0';
  for (size_t a = 0; a < grid->n_factors && length < size; a++)
    length += (size_t)snprintf(text + length, size - length, "%s%zu%s of %s", a > 0 ? " x " : "",
                               grid->factor[a].n, a > 0 ? "" : " levels", grid->factor[a].name);
}

enum gpnn_status gpnn_grid_check_memory(const struct gpnn_grid *grid, size_t vectors,
                                        struct gpnn_error *err)
{
  enum { SIZES = 300 };
  long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
  double there = (double)pages * (double)bytes, needed = needed_bytes(grid, vectors);
  char sizes[SIZES];
  if (pages <= 0 || bytes <= 0 || needed <= there) return GPNN_OK;
  write_sizes(grid, sizes, sizeof sizes);
  return gpnn_fail(err, GPNN_ENOMEM,
                   "%s: their covariances and %zu vectors with a number for each cell need %.3g GB "
                   "of memory at least, and this machine has %.3g GB: take fewer levels or draws, "
                   "or nearest neighbours (gpnn-index)",
                   sizes, VECTORS + vectors, needed / 1e9, there / 1e9);
}

/* ---- parts -------------------------------------------------------------------------------- */

/* The matrices of the factors and the noise of the observed cells. */
struct parts {
  size_t n[GPNN_GRID_FACTORS];
  double *k[GPNN_GRID_FACTORS];
  double *noise; /* n_cells */
};

static void release(struct parts *parts)
{
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) free(parts->k[a]);
  free(parts->noise);
}

/* Fills the matrix of factor 'a'. */
static enum gpnn_status fill_factor(struct parts *parts, const struct gpnn_grid *grid,
                                    const struct gpnn_parameters *parameters, size_t a, int threads,
                                    struct gpnn_error *err)
{
  const struct gpnn_grid_factor *levels = &grid->factor[a];
  const struct gpnn_factor *factor = &parameters->grid.factor[a];
  size_t n = levels->n;
  double *x = gpnn_alloc(n, levels->d, sizeof *x);
  parts->n[a] = n;
  parts->k[a] = gpnn_alloc(n, n, sizeof *parts->k[a]);
  enum gpnn_status status =
      x == NULL || parts->k[a] == NULL
          ? gpnn_fail_memory(err, MEMORY_FOR)
          : gpnn_factor_prepare(factor, levels->d, n, levels->x, n, levels->x, x, err);
  if (status == GPNN_OK) {
    gpnn_factor_matrix(factor, levels->d, n, x, n, x, true, threads, parts->k[a]);
    double scale = a == 0 ? parameters->covariance.kernelscale : 1;
    for (size_t i = 0; i < n * n; i++) parts->k[a][i] *= scale;
  }
  free(x);
  return status == GPNN_OK ? GPNN_OK : gpnn_prefix(err, status, "factor %s", levels->name);
}

/* The noise variance of each observed cell: less where the mean of several was observed. */
static void fill_noise(double *noise, const struct gpnn_grid *grid,
                       const struct gpnn_parameters *parameters)
{
  const struct gpnn_grid_process *process = &parameters->grid;
  size_t level[GPNN_GRID_FACTORS];
  for (size_t i = 0; i < grid->n_cells; i++) {
    noise[i] = parameters->covariance.noise;
    if (process->noise_factor > 0) {
      gpnn_grid_levels(grid, grid->cell[i], level);
      noise[i] = process->noise[level[process->noise_factor - 1]];
    }
    if (grid->counts != NULL) noise[i] /= grid->counts[i];
  }
}

enum gpnn_status gpnn_grid_system_new(struct gpnn_grid_system **system,
                                      const struct gpnn_grid *grid,
                                      const struct gpnn_parameters *parameters,
                                      const struct gpnn_grid_system_options *options,
                                      struct gpnn_error *err)
{
  struct parts parts = {0};
  int threads = options->threads > 1 ? options->threads : 1;
  enum gpnn_status status = gpnn_grid_check_memory(grid, 0, err);
  if (status != GPNN_OK) return status;
  parts.noise = gpnn_alloc(grid->n_cells, 1, sizeof *parts.noise);
  if (parts.noise == NULL) status = gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++)
    status = fill_factor(&parts, grid, parameters, a, threads, err);
  if (status == GPNN_OK) {
    fill_noise(parts.noise, grid, parameters);
    status = gpnn_grid_system_from_matrices(system, grid->n_factors, parts.n,
                                            (const double *const *)parts.k, grid->n_cells,
                                            grid->cell, parts.noise, options, err);
  }
  release(&parts);
  return status;
}
