#include "models/grid/fit/likelihood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "models/grid/fit/fit_private.h"
#include "stats/distributions/normal.h"

/* ---- coordinates ----------------------------------------------------------------------------- */

size_t gpnn_grid_n_noise(const struct gpnn_parameters *parameters)
{
  return parameters->grid.noise_factor > 0 ? parameters->grid.n_noise : 1;
}

size_t gpnn_grid_first_coordinate(const struct gpnn_parameters *parameters, size_t a)
{
  size_t n = 0;
  for (size_t i = 0; i < a; i++) n += gpnn_factor_n_coordinates(&parameters->grid.factor[i]);
  return n;
}

size_t gpnn_grid_n_coordinates(const struct gpnn_parameters *parameters)
{
  return gpnn_grid_first_coordinate(parameters, parameters->grid.n_factors) + 1 +
         gpnn_grid_n_noise(parameters);
}

void gpnn_grid_get_coordinates(const struct gpnn_parameters *parameters, double *coordinates)
{
  const struct gpnn_grid_process *grid = &parameters->grid;
  for (size_t a = 0; a < grid->n_factors; a++) {
    gpnn_factor_get_coordinates(&grid->factor[a], coordinates);
    coordinates += gpnn_factor_n_coordinates(&grid->factor[a]);
  }
  *coordinates++ = log(parameters->covariance.kernelscale);
  if (grid->noise_factor == 0) *coordinates = log(parameters->covariance.noise);
  for (size_t i = 0; grid->noise_factor > 0 && i < grid->n_noise; i++)
    coordinates[i] = log(grid->noise[i]);
}

void gpnn_grid_set_coordinates(struct gpnn_parameters *parameters, const double *coordinates)
{
  struct gpnn_grid_process *grid = &parameters->grid;
  for (size_t a = 0; a < grid->n_factors; a++) {
    gpnn_factor_set_coordinates(&grid->factor[a], coordinates);
    coordinates += gpnn_factor_n_coordinates(&grid->factor[a]);
  }
  parameters->covariance.kernelscale = exp(*coordinates++);
  if (grid->noise_factor == 0) parameters->covariance.noise = exp(*coordinates);
  for (size_t i = 0; grid->noise_factor > 0 && i < grid->n_noise; i++)
    grid->noise[i] = exp(coordinates[i]);
}

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

/* Which noise variance cell 'i' has. */
static size_t noise_number(const struct gpnn_grid_subset *cells,
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

/* What observations of the same cells add to the log likelihood (equation 16.52); its derivatives
 * in the logarithms of the noise variances are added to 'gradient' unless that is NULL. */
static double repeats(const struct gpnn_grid_subset *cells,
                      const struct gpnn_parameters *parameters, double *gradient)
{
  double value = 0, degrees = 0;
  for (size_t i = 0; i < cells->n; i++) degrees += cells->count[i] - 1;
  for (size_t i = 0; degrees > 0 && i < cells->n; i++) {
    double more = cells->count[i] - 1;
    size_t number = noise_number(cells, parameters, i);
    double noise = gpnn_grid_noise_value(parameters, number);
    double misfit = cells->within * more / degrees / noise;
    value -= 0.5 * (more * (GPNN_LOG_TWO_PI + log(noise)) + log(cells->count[i]) + misfit);
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
    column[j] +=
        gpnn_grid_noise_value(dense->parameters, noise_number(cells, dense->parameters, j)) /
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

/* Writes the covariance matrix of the cells' targets to 'matrix' (n by n) and factors it; 'work' is
 * gpnn_cholesky_work(n) doubles.  GPNN_ENUMERIC: it is not positive definite. */
static enum gpnn_status cholesky_of_factors(const struct gpnn_grid_factors *factors,
                                            const struct gpnn_grid_subset *cells,
                                            const struct gpnn_parameters *parameters,
                                            double *matrix, double *work, struct gpnn_error *err)
{
  struct dense dense = {cells, parameters, factors};
  fill(&dense, matrix);
  return gpnn_cholesky_factor(cells->n, matrix, work, matrix[0], fill, &dense, NULL, err);
}

/* From 'g', the lower triangle (n by n) of the symmetric matrix of derivatives in the elements of
 * the cells' covariance matrix, to those in the elements of the factors' matrices, which become
 * symmetric; adds those in the logarithms of the noise variances to 'noise_gradient'. */
static void spread_derivatives(const struct gpnn_grid_factors *factors,
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
    size_t number = noise_number(cells, parameters, j);
    noise_gradient[number] +=
        column[j] * gpnn_grid_noise_value(parameters, number) / cells->count[j];
  }
  for (size_t a = 0; a < f; a++) symmetrise(cells->factor[a].n, factors->gamma[a]);
}

/* 'work' is scratch memory of the factorisation; the other arrays are scratch, too. */
static enum gpnn_status evaluate_dense(const struct dense *dense, double *matrix, double *work,
                                       double *alpha, double *value, double *noise_gradient,
                                       struct gpnn_error *err)
{
  const struct gpnn_grid_subset *cells = dense->cells;
  size_t n = cells->n;
  double misfit = 0;
  enum gpnn_status status =
      cholesky_of_factors(dense->factors, cells, dense->parameters, matrix, work, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < n; i++) alpha[i] = cells->y[i];
  gpnn_cholesky_solve(n, matrix, alpha);
  for (size_t i = 0; i < n; i++) misfit += cells->y[i] * alpha[i];
  *value = -0.5 * (misfit + gpnn_cholesky_logdet(n, matrix) + (double)n * GPNN_LOG_TWO_PI) +
           repeats(cells, dense->parameters, noise_gradient);
  if (noise_gradient == NULL) return GPNN_OK;
  gpnn_cholesky_invert(n, matrix, work);
  for (size_t j = 0; j < n; j++) /* dL/dA, equation 16.51 */
    for (size_t i = j; i < n; i++)
      matrix[j * n + i] = 0.5 * (alpha[i] * alpha[j] - matrix[j * n + i]);
  spread_derivatives(dense->factors, cells, dense->parameters, matrix, noise_gradient);
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
    status = evaluate_dense(&dense, matrix, work, alpha, &found, noise_gradient, err);
  if (status == GPNN_OK && gradient != NULL)
    status = gpnn_grid_factors_contract(&factors, cells, parameters, 1, gradient, err);
  if (status == GPNN_OK) *value = found;
  gpnn_grid_factors_release(&factors);
  free(matrix);
  free(work);
  free(alpha);
  return status;
}

/* ---- some cells given others ----------------------------------------------------------------- */

/* Targets and the cells that they are given, and what is computed of them. */
struct conditional {
  const struct gpnn_grid_subset *cells;
  struct gpnn_grid_subset known; /* borrows the arrays of 'cells', without the targets */
  const struct gpnn_parameters *parameters;
  struct gpnn_grid_factors factors;
  size_t n, m;                /* known cells; targets */
  double *matrix;             /* n by n */
  double *work, *alpha;       /* alpha = A^-1 y, n */
  double *k, *w;              /* n by m: covariances with targets, and A^-1 times these */
  double *a, *b;              /* m: derivatives in mean and variance */
  double *x, *y, *g;          /* n by m + 1, twice; n + m squared: only for the gradient */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static enum gpnn_status reserve_conditional(struct conditional *c, bool derivatives,
                                            struct gpnn_error *err)
{
  size_t n = c->n, m = c->m, all = n + m;
  c->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(c->matrix, n, n), GPNN_ARRAY(c->work, gpnn_cholesky_work(n), 1),
      GPNN_ARRAY(c->alpha, n, 1), GPNN_ARRAY(c->k, n, m), GPNN_ARRAY(c->w, n, m),
      GPNN_ARRAY(c->a, m, 1), GPNN_ARRAY(c->b, m, 1), GPNN_ARRAY_IF(derivatives, c->x, n, m + 1),
      GPNN_ARRAY_IF(derivatives, c->y, n, m + 1), GPNN_ARRAY_IF(derivatives, c->g, all, all));
  return c->arrays != NULL ? GPNN_OK : gpnn_fail_memory(err, "for a covariance matrix");
}

static void release_conditional(struct conditional *c)
{
  gpnn_arrays_free(c->arrays);
  gpnn_grid_factors_release(&c->factors);
}

/* The covariance of the processes at two cells. */
static double covariance(const struct conditional *c, size_t i, size_t j)
{
  const struct gpnn_grid_subset *cells = c->cells;
  size_t f = cells->n_factors;
  double k = 1;
  for (size_t a = 0; a < f; a++)
    k *= c->factors.k[a][cells->level[i * f + a] * cells->factor[a].n + cells->level[j * f + a]];
  return k;
}

/* Predicts the targets; returns the sum of their log densities. */
static double predict(struct conditional *c, double *mean, double *variance)
{
  double value = 0;
  for (size_t i = 0; i < c->n; i++) c->alpha[i] = c->cells->y[i];
  gpnn_cholesky_solve(c->n, c->matrix, c->alpha);
  for (size_t t = 0; t < c->m; t++)
    for (size_t i = 0; i < c->n; i++) c->k[t * c->n + i] = covariance(c, i, c->n + t);
  memcpy(c->w, c->k, c->n * c->m * sizeof *c->w);
  gpnn_cholesky_forward(c->n, c->matrix, c->m, c->w);
  gpnn_cholesky_backward(c->n, c->matrix, c->m, c->w);
  for (size_t t = 0; t < c->m; t++) {
    size_t at = c->n + t;
    double noise = gpnn_grid_noise_value(c->parameters, noise_number(c->cells, c->parameters, at)) /
                   c->cells->count[at];
    double prior = covariance(c, at, at) + noise, v = prior;
    mean[t] = 0;
    for (size_t i = 0; i < c->n; i++) {
      mean[t] += c->k[t * c->n + i] * c->alpha[i];
      v -= c->k[t * c->n + i] * c->w[t * c->n + i];
    }
    variance[t] = v = fmax(v, fmax(noise, 1e-12 * prior));
    double e = c->cells->y[at] - mean[t];
    c->a[t] = e / v;
    c->b[t] = 0.5 * (e * e / v - 1) / v;
    value -= 0.5 * (GPNN_LOG_TWO_PI + log(v) + e * e / v);
  }
  return value;
}

/* The matrix of derivatives in the elements of the covariance matrix of all cells (equation 16.57):
 * of rank m + 1 among the known ones. */
static void differentiate(struct conditional *c)
{
  size_t n = c->n, m = c->m, all = n + m;
  double *s = c->y + m * n;
  memcpy(c->x, c->w, n * m * sizeof *c->x);
  memcpy(c->x + n * m, c->alpha, n * sizeof *c->x);
  for (size_t t = 0; t < m; t++)
    for (size_t i = 0; i < n; i++) {
      double w = c->w[t * n + i];
      c->y[t * n + i] = c->b[t] * w;
      s[i] = (t == 0 ? 0 : s[i]) - c->a[t] * w;
      c->g[i * all + n + t] = 0.5 * c->a[t] * c->alpha[i] - c->b[t] * w;
    }
  cblas_dsyr2k(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)m + 1, 0.5, c->x, (int)n, c->y,
               (int)n, 0, c->g, (int)all);
  for (size_t t = 0; t < m; t++) c->g[(n + t) * all + n + t] = c->b[t];
}

static enum gpnn_status evaluate_conditional(struct conditional *c, double *mean, double *variance,
                                             double *value, double *gradient,
                                             struct gpnn_error *err)
{
  size_t at = gpnn_grid_first_coordinate(c->parameters, c->cells->n_factors) + 1;
  enum gpnn_status status =
      gpnn_grid_factors_make(&c->factors, c->cells, c->parameters, gradient != NULL, 1, err);
  if (status == GPNN_OK && c->n > 0)
    status = cholesky_of_factors(&c->factors, &c->known, c->parameters, c->matrix, c->work, err);
  if (status != GPNN_OK) return status;
  *value = predict(c, mean, variance);
  if (gradient == NULL) return GPNN_OK;
  for (size_t i = 0; i < gpnn_grid_n_noise(c->parameters); i++) gradient[at + i] = 0;
  differentiate(c);
  spread_derivatives(&c->factors, c->cells, c->parameters, c->g, gradient + at);
  return gpnn_grid_factors_contract(&c->factors, c->cells, c->parameters, 1, gradient, err);
}

enum gpnn_status gpnn_grid_likelihood_conditional(const struct gpnn_grid_subset *cells,
                                                  size_t n_targets,
                                                  const struct gpnn_parameters *parameters,
                                                  double *mean, double *variance, double *value,
                                                  double *gradient, struct gpnn_error *err)
{
  struct conditional c = {.cells = cells,
                          .known = *cells,
                          .parameters = parameters,
                          .n = cells->n - n_targets,
                          .m = n_targets};
  c.known.n = c.n;
  enum gpnn_status status = reserve_conditional(&c, gradient != NULL, err);
  if (status == GPNN_OK) status = evaluate_conditional(&c, mean, variance, value, gradient, err);
  release_conditional(&c);
  return status;
}
