#include "models/grid/fit/likelihood.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "linalg/cholesky.h"
#include "models/grid/fit/coordinates.h"
#include "models/grid/fit/likelihood_private.h"

#define LOG_2PI 1.8378770664093454836

/* ---- factors --------------------------------------------------------------------------------- */

static enum gpnn_status make_factor(struct gpnn_grid_factors *factors, size_t a,
                                    const struct gpnn_grid_subset *cells,
                                    const struct gpnn_parameters *parameters, bool derivatives,
                                    int threads, struct gpnn_error *err)
{
  const struct gpnn_grid_subset_factor *levels = &cells->factor[a];
  size_t n = levels->n;
  double *k = gpnn_alloc(n, n, sizeof *k), sum = 0;
  factors->k[a] = k;
  if (derivatives) factors->gamma[a] = gpnn_alloc(n, n, sizeof *k);
  if (k == NULL || (derivatives && factors->gamma[a] == NULL))
    return gpnn_fail_memory(err, "for a factor's matrix");
  gpnn_factor_matrix(&parameters->grid.factor[a], levels->d, n, levels->x, n, levels->x, true,
                     threads, k);
  double scale = a == 0 ? parameters->covariance.kernelscale : 1;
  for (size_t i = 0; i < n * n; i++) sum += k[i] *= scale;
  return isfinite(sum) ? GPNN_OK : gpnn_fail(err, GPNN_ENUMERIC, "a covariance is not finite");
}

enum gpnn_status gpnn_grid_factors_make(struct gpnn_grid_factors *factors,
                                        const struct gpnn_grid_subset *cells,
                                        const struct gpnn_parameters *parameters, bool derivatives,
                                        int threads, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  factors->n_factors = cells->n_factors;
  for (size_t a = 0; a < cells->n_factors && status == GPNN_OK; a++)
    status = make_factor(factors, a, cells, parameters, derivatives, threads, err);
  return status;
}

enum gpnn_status gpnn_grid_factors_contract(const struct gpnn_grid_factors *factors,
                                            const struct gpnn_grid_subset *cells,
                                            const struct gpnn_parameters *parameters, int threads,
                                            double *gradient, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  size_t n = cells->factor[0].n, at = 0;
  double scale = parameters->covariance.kernelscale, sum = 0;
  for (size_t i = 0; i < n * n; i++) sum += factors->k[0][i] * factors->gamma[0][i];
  for (size_t a = 0; a < cells->n_factors && status == GPNN_OK; a++) {
    const struct gpnn_factor *factor = &parameters->grid.factor[a];
    const struct gpnn_grid_subset_factor *levels = &cells->factor[a];
    size_t n_coordinates = gpnn_factor_n_coordinates(factor);
    for (size_t i = 0; i < n_coordinates; i++) gradient[at + i] = 0;
    status = gpnn_factor_contract(factor, levels->d, levels->n, levels->x, factors->gamma[a],
                                  threads, gradient + at, err);
    for (size_t i = 0; a == 0 && i < n_coordinates; i++) gradient[at + i] *= scale;
    at += n_coordinates;
  }
  gradient[at] = sum;
  return status;
}

void gpnn_grid_factors_release(struct gpnn_grid_factors *factors)
{
  for (size_t a = 0; a < factors->n_factors; a++) {
    free(factors->k[a]);
    free(factors->gamma[a]);
    factors->k[a] = factors->gamma[a] = NULL;
  }
}

/* ---- noise ----------------------------------------------------------------------------------- */

size_t gpnn_grid_noise_number(const struct gpnn_grid_subset *cells,
                              const struct gpnn_parameters *parameters, size_t i)
{
  size_t a = parameters->grid.noise_factor;
  if (a == 0) return 0;
  return cells->factor[a - 1].origin[cells->level[i * cells->n_factors + a - 1]];
}

double gpnn_grid_noise_value(const struct gpnn_parameters *parameters, size_t number)
{
  return parameters->grid.noise_factor == 0 ? parameters->covariance.noise
                                            : parameters->grid.noise[number];
}

double gpnn_grid_likelihood_repeats(const struct gpnn_grid_subset *cells,
                                    const struct gpnn_parameters *parameters, double *gradient)
{
  double value = 0, degrees = 0;
  for (size_t i = 0; i < cells->n; i++) degrees += cells->count[i] - 1;
  for (size_t i = 0; degrees > 0 && i < cells->n; i++) {
    double more = cells->count[i] - 1;
    size_t number = gpnn_grid_noise_number(cells, parameters, i);
    double noise = gpnn_grid_noise_value(parameters, number);
    double misfit = cells->within * more / degrees / noise;
    value -= 0.5 * (more * (LOG_2PI + log(noise)) + log(cells->count[i]) + misfit);
    if (gradient != NULL) gradient[number] += 0.5 * (misfit - more);
  }
  return value;
}

/* ---- the dense matrix ------------------------------------------------------------------------ */

/* What a matrix of cells is filled from. */
struct dense {
  const struct gpnn_grid_subset *cells;
  const struct gpnn_parameters *parameters;
  const struct gpnn_grid_factors *factors;
};

/* The rows of the factors' matrices that belong to cell 'j'. */
static void find_rows(const struct dense *dense, size_t j, double *const matrix[],
                      double *row[GPNN_GRID_FACTORS])
{
  const struct gpnn_grid_subset *cells = dense->cells;
  for (size_t a = 0; a < cells->n_factors; a++)
    row[a] = matrix[a] + cells->level[j * cells->n_factors + a] * cells->factor[a].n;
}

static void fill(void *context, double *matrix)
{
  const struct dense *dense = context;
  const struct gpnn_grid_subset *cells = dense->cells;
  size_t n = cells->n, f = cells->n_factors;
  double *row[GPNN_GRID_FACTORS];
  for (size_t j = 0; j < n; j++) {
    double *column = matrix + j * n;
    find_rows(dense, j, dense->factors->k, row);
    for (size_t i = j; i < n; i++) {
      const uint32_t *level = cells->level + i * f;
      column[i] = row[0][level[0]] * row[1][level[1]];
      for (size_t a = 2; a < f; a++) column[i] *= row[a][level[a]];
    }
    column[j] += gpnn_grid_noise_value(dense->parameters,
                                       gpnn_grid_noise_number(cells, dense->parameters, j)) /
                 cells->count[j];
  }
}

/* Adds what the derivative 'g' of L in the covariance of cells i and j, and j and i, means for the
 * elements of the factors' matrices: once, in row 'level j'. */
static inline void spread(size_t f, const uint32_t *level, double *const row[],
                          double *const gamma[], double g)
{
  if (f == 2) {
    gamma[0][level[0]] += g * row[1][level[1]];
    gamma[1][level[1]] += g * row[0][level[0]];
    return;
  }
  for (size_t a = 0; a < f; a++) {
    double product = g;
    for (size_t b = 0; b < f; b++)
      if (b != a) product *= row[b][level[b]];
    gamma[a][level[a]] += product;
  }
}

static void symmetrise(size_t n, double *gamma)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      gamma[i * n + j] = gamma[j * n + i] = 0.5 * (gamma[i * n + j] + gamma[j * n + i]);
}

enum gpnn_status gpnn_grid_factors_cholesky(const struct gpnn_grid_factors *factors,
                                            const struct gpnn_grid_subset *cells,
                                            const struct gpnn_parameters *parameters,
                                            double *matrix, double *work, struct gpnn_error *err)
{
  struct dense dense = {cells, parameters, factors};
  double jitter;
  fill(&dense, matrix);
  return gpnn_cholesky_factor(cells->n, matrix, work, matrix[0], fill, &dense, &jitter, err);
}

void gpnn_grid_factors_spread(const struct gpnn_grid_factors *factors,
                              const struct gpnn_grid_subset *cells,
                              const struct gpnn_parameters *parameters, const double *g,
                              double *noise_gradient)
{
  const struct dense dense = {cells, parameters, factors};
  size_t n = cells->n, f = cells->n_factors;
  double *row[GPNN_GRID_FACTORS], *gamma[GPNN_GRID_FACTORS];
  for (size_t j = 0; j < n; j++) {
    const double *column = g + j * n;
    find_rows(&dense, j, factors->k, row);
    find_rows(&dense, j, factors->gamma, gamma);
    spread(f, cells->level + j * f, row, gamma, column[j]);
    for (size_t i = j + 1; i < n; i++) spread(f, cells->level + i * f, row, gamma, 2 * column[i]);
    size_t number = gpnn_grid_noise_number(cells, parameters, j);
    noise_gradient[number] +=
        column[j] * gpnn_grid_noise_value(parameters, number) / cells->count[j];
  }
  for (size_t a = 0; a < f; a++) symmetrise(cells->factor[a].n, factors->gamma[a]);
}

/* 'work' is scratch memory of the factorisation; the other arrays are scratch, too. */
static enum gpnn_status evaluate(const struct dense *dense, double *matrix, double *work,
                                 double *alpha, double *value, double *noise_gradient,
                                 struct gpnn_error *err)
{
  const struct gpnn_grid_subset *cells = dense->cells;
  size_t n = cells->n;
  double misfit = 0;
  enum gpnn_status status =
      gpnn_grid_factors_cholesky(dense->factors, cells, dense->parameters, matrix, work, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < n; i++) alpha[i] = cells->y[i];
  gpnn_cholesky_solve(n, matrix, alpha);
  for (size_t i = 0; i < n; i++) misfit += cells->y[i] * alpha[i];
  *value = -0.5 * (misfit + gpnn_cholesky_logdet(n, matrix) + (double)n * LOG_2PI) +
           gpnn_grid_likelihood_repeats(cells, dense->parameters, noise_gradient);
  if (noise_gradient == NULL) return GPNN_OK;
  gpnn_cholesky_invert(n, matrix, work);
  for (size_t j = 0; j < n; j++) /* dL/dA, equation 16.51 */
    for (size_t i = j; i < n; i++)
      matrix[j * n + i] = 0.5 * (alpha[i] * alpha[j] - matrix[j * n + i]);
  gpnn_grid_factors_spread(dense->factors, cells, dense->parameters, matrix, noise_gradient);
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_likelihood_dense(const struct gpnn_grid_subset *cells,
                                            const struct gpnn_parameters *parameters, double *value,
                                            double *gradient, struct gpnn_error *err)
{
  struct gpnn_grid_factors factors = {0};
  struct dense dense = {cells, parameters, &factors};
  size_t at = gpnn_grid_first_coordinate(parameters, cells->n_factors) + 1;
  double *noise_gradient = gradient == NULL ? NULL : gradient + at;
  double *matrix = gpnn_alloc(cells->n, cells->n, sizeof *matrix);
  double *work = gpnn_alloc(gpnn_cholesky_work(cells->n), 1, sizeof *work);
  double *alpha = gpnn_alloc(cells->n, 1, sizeof *alpha), found = 0;
  enum gpnn_status status = GPNN_OK;
  if (matrix == NULL || work == NULL || alpha == NULL)
    status = gpnn_fail_memory(err, "for a covariance matrix");
  if (status == GPNN_OK)
    status = gpnn_grid_factors_make(&factors, cells, parameters, gradient != NULL, 1, err);
  for (size_t i = 0; gradient != NULL && i < gpnn_grid_n_noise(parameters); i++)
    noise_gradient[i] = 0;
  if (status == GPNN_OK)
    status = evaluate(&dense, matrix, work, alpha, &found, noise_gradient, err);
  if (status == GPNN_OK && gradient != NULL)
    status = gpnn_grid_factors_contract(&factors, cells, parameters, 1, gradient, err);
  if (status == GPNN_OK) *value = found;
  gpnn_grid_factors_release(&factors);
  free(matrix);
  free(work);
  free(alpha);
  return status;
}
