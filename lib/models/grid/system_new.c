#include <stdlib.h>

#include "base/memory.h"
#include "models/grid/system_private.h"

#define MEMORY_FOR "for the covariance of a grid"

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
  enum gpnn_status status = GPNN_OK;
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
