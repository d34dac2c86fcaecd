/*
 * Whether the parameters of a grid fit a dataset.
 */
#include <string.h>

#include "dataset/grid.h"
#include "kernel/parameters_private.h"

/* Kernels of distance take numbers; names have none. */
static enum gpnn_status check_kernel(const struct gpnn_factor *factor,
                                     const struct gpnn_grid_factor *levels, struct gpnn_error *err)
{
  if (factor->n_terms > 0 && levels->labels != NULL)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "factor %s has names in the index, between which there is no distance: its "
                     "kernel must be icm",
                     factor->name);
  for (size_t t = 0; t < factor->n_terms; t++) {
    const struct gpnn_factor_term *term = &factor->term[t];
    if (term->n_lengthscales != 1 && term->n_lengthscales != levels->d)
      return gpnn_fail(
          err, GPNN_EMISMATCH,
          "the parameters of factor %s have %zu lengthscales, the index has %zu columns",
          factor->name, term->n_lengthscales, levels->d);
    if (term->kernel == NULL && levels->d != 1)
      return gpnn_fail(err, GPNN_EMISMATCH,
                       "the parameters of factor %s have a period, the index has %zu columns: a "
                       "periodic kernel needs one",
                       factor->name, levels->d);
  }
  if (factor->n_terms > 0 || levels->d == 1) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "the kernel of factor %s is icm, the index has %zu columns: tasks have one",
                   factor->name, levels->d);
}

static enum gpnn_status check_factor(const struct gpnn_grid_process *process, size_t a,
                                     const struct gpnn_grid_factor *levels, struct gpnn_error *err)
{
  const struct gpnn_factor *factor = &process->factor[a];
  if (strcmp(factor->name, levels->name) != 0)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "factor %zu of the parameters is %s, that of the index %s", a + 1,
                     factor->name, levels->name);
  if (factor->n_terms == 0 && factor->n_tasks != levels->n)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters of factor %s are of %zu tasks, the index has %zu",
                     factor->name, factor->n_tasks, levels->n);
  if (process->noise_factor == a + 1 && process->n_noise != levels->n)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters have the noise of %zu levels of factor %s, the index has %zu "
                     "levels",
                     process->n_noise, factor->name, levels->n);
  return check_kernel(factor, levels, err);
}

enum gpnn_status gpnn_parameters_check_grid(const struct gpnn_parameters *params,
                                            const struct gpnn_dataset *dataset,
                                            struct gpnn_error *err)
{
  const struct gpnn_grid_process *process = &params->grid;
  const struct gpnn_grid *grid = dataset->grid;
  enum gpnn_status status = GPNN_OK;
  if (grid == NULL) return gpnn_parameters_check_rows(params, err);
  if (process->n_factors == 0)
    return gpnn_fail(
        err, GPNN_EMISMATCH,
        "the parameters are of rows, but the index is a grid: use those that gpnn-grid "
        "fit makes from it");
  if (process->n_factors != grid->n_factors)
    return gpnn_fail(err, GPNN_EMISMATCH, "the parameters have %zu factors, the grid has %zu",
                     process->n_factors, grid->n_factors);
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++)
    status = check_factor(process, a, &grid->factor[a], err);
  return status;
}

enum gpnn_status gpnn_parameters_check_rows(const struct gpnn_parameters *params,
                                            struct gpnn_error *err)
{
  if (params->grid.n_factors == 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "the parameters are of a grid, expected those of rows, as gpnn-fit makes them");
}
