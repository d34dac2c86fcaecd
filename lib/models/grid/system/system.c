#include "models/grid/system/system.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "models/grid/system/precondition_private.h"

#define MEMORY_FOR "for the covariance of a grid"

/* A quarter of the machine's memory. */
static size_t default_memory(void)
{
  long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && bytes > 0 ? (size_t)pages / 4 * (size_t)bytes : (size_t)1 << 30;
}

static enum gpnn_status check_finite(size_t n, const double *k, struct gpnn_error *err)
{
  for (size_t i = 0; i < n * n; i++)
    if (!isfinite(k[i]))
      return gpnn_fail(err, GPNN_ENUMERIC, "the covariance of a factor of the grid is not finite");
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_system_from_matrices(struct gpnn_grid_system **made, size_t n_factors,
                                                const size_t *n, const double *const *k,
                                                size_t n_cells, const int64_t *cell,
                                                const double *noise,
                                                const struct gpnn_grid_system_options *options,
                                                struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < n_factors && status == GPNN_OK; a++)
    status = check_finite(n[a], k[a], err);
  if (status != GPNN_OK) return status;
  struct gpnn_grid_system *system = gpnn_alloc(1, 1, sizeof *system);
  if (system == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  system->options = *options;
  if (options->threads < 1) system->options.threads = 1;
  if (options->memory == 0) system->options.memory = default_memory();
  status = gpnn_grid_cells_fill(&system->all, n_factors, n, k, n_cells, cell, noise, err);
  if (status == GPNN_OK) status = gpnn_grid_reduce(system, err);
  if (status == GPNN_OK)
    status = gpnn_grid_precondition_new(&system->preconditioner, &system->reduced, &system->options,
                                        err);
  if (status == GPNN_OK)
    *made = system;
  else
    gpnn_grid_system_free(system);
  return status;
}

void gpnn_grid_system_free(struct gpnn_grid_system *system)
{
  if (system == NULL) return;
  gpnn_grid_cells_release(&system->all);
  gpnn_grid_cells_release(&system->reduced);
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) free(system->level[a]);
  free(system->inner);
  gpnn_grid_precondition_free(system->preconditioner);
  free(system);
}

/* ---- accessors ---------------------------------------------------------------------------- */

size_t gpnn_grid_system_outer(const struct gpnn_grid_system *system)
{
  return system->all.outer;
}

size_t gpnn_grid_system_inner(const struct gpnn_grid_system *system)
{
  return system->all.inner;
}

const double *gpnn_grid_system_factor(const struct gpnn_grid_system *system, size_t a)
{
  return system->all.k[a];
}

const double *gpnn_grid_system_noise(const struct gpnn_grid_system *system)
{
  return system->all.noise;
}

const char *gpnn_grid_system_preconditioner(const struct gpnn_grid_system *system, size_t *rank)
{
  static const char *const names[] = {[GPNN_GRID_PRECONDITION_AUTO] = "auto",
                                      [GPNN_GRID_PRECONDITION_EIGEN] = "eigen",
                                      [GPNN_GRID_PRECONDITION_PIVOTED] = "pivoted",
                                      [GPNN_GRID_PRECONDITION_GRID] = "grid",
                                      [GPNN_GRID_PRECONDITION_NONE] = "none"};
  *rank = system->preconditioner->rank;
  return names[system->preconditioner->kind];
}

/* ---- products ----------------------------------------------------------------------------- */

enum gpnn_status gpnn_grid_system_spread(const struct gpnn_grid_system *system, size_t columns,
                                         const double *x, double *y, struct gpnn_error *err)
{
  size_t cells = system->all.outer * system->all.inner;
  if (columns == 0) return GPNN_OK;
  double *scratch = gpnn_alloc(cells, columns, sizeof *scratch);
  if (scratch == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status =
      gpnn_grid_cells_spread(&system->all, columns, x, y, scratch, system->options.threads, err);
  free(scratch);
  return status;
}

enum gpnn_status gpnn_grid_system_multiply(const struct gpnn_grid_system *system, size_t columns,
                                           const double *x, double *y, struct gpnn_error *err)
{
  const struct gpnn_grid_cells *reduced = &system->reduced;
  bool whole = reduced->outer * reduced->inner == system->all.outer * system->all.inner;
  int threads = system->options.threads;
  size_t size;
  if (columns == 0) return GPNN_OK;
  if (!gpnn_multiply(reduced->outer * reduced->inner, columns, &size))
    return gpnn_fail_memory(err, MEMORY_FOR);
  double *scratch = gpnn_alloc(size, whole ? 1 : 3, sizeof *scratch);
  if (scratch == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status;
  if (whole) {
    status = gpnn_grid_cells_multiply(reduced, columns, x, y, scratch, threads, err);
  } else {
    double *from = scratch + size, *to = from + size;
    gpnn_grid_gather(system, columns, 0, columns, x, from);
    status = gpnn_grid_cells_multiply(reduced, columns, from, to, scratch, threads, err);
    if (status == GPNN_OK) gpnn_grid_scatter(system, columns, 0, columns, to, y);
  }
  free(scratch);
  return status;
}
