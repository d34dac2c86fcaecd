#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "models/grid/fit/coordinates.h"
#include "models/grid/fit/likelihood.h"
#include "models/grid/fit/likelihood_private.h"
#include "models/grid/system/system.h"

#define LOG_2PI 1.8378770664093454836

/* A complete grid in the basis of its factors' eigenvectors. */
struct complete {
  const struct gpnn_grid_view *view;
  const struct gpnn_parameters *parameters;
  struct gpnn_grid_subset levels; /* borrows the view's: all levels, no cells */
  struct gpnn_grid_factors factors;
  size_t dims[GPNN_GRID_FACTORS], n;
  double *vector[GPNN_GRID_FACTORS]; /* rows are eigenvectors */
  double *value[GPNN_GRID_FACTORS];  /* eigenvalues */
  double *y, *other;                 /* n: targets in that basis; scratch */
  double noise;                      /* of a cell */
};

bool gpnn_grid_likelihood_is_complete(const struct gpnn_grid *grid,
                                      const struct gpnn_parameters *parameters)
{
  bool is_complete = grid->n_cells == gpnn_grid_size(grid) && parameters->grid.noise_factor == 0;
  for (size_t c = 0; is_complete && grid->counts != NULL && c < grid->n_cells; c++)
    is_complete = grid->counts[c] == grid->counts[0];
  return is_complete;
}

static enum gpnn_status decompose(struct complete *c, size_t a, struct gpnn_error *err)
{
  size_t n = c->dims[a];
  c->vector[a] = gpnn_alloc(n, n, sizeof(double));
  c->value[a] = gpnn_alloc(n, 1, sizeof(double));
  if (c->vector[a] == NULL || c->value[a] == NULL) return gpnn_fail_memory(err, "for eigenvectors");
  memcpy(c->vector[a], c->factors.k[a], n * n * sizeof(double));
  if (LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (int)n, c->vector[a], (int)n, c->value[a]) != 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "the eigenvectors of a covariance do not converge");
  for (size_t i = 0; i < n; i++) c->value[a][i] = fmax(c->value[a][i], 0);
  return GPNN_OK;
}

/* The targets in the basis of the eigenvectors. */
static enum gpnn_status rotate(struct complete *c, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = c->view->grid;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < c->n; i++)
    c->y[i] = grid->y[i] - (c->view->mean == NULL ? 0 : c->view->mean[i]);
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++) {
    status = gpnn_grid_contract_axis(grid->n_factors, c->dims, 1, a, c->dims[a], c->vector[a], c->y,
                                     c->other, 1, err);
    double *swapped = c->y;
    c->y = c->other;
    c->other = swapped;
  }
  return status;
}

/* The product of the eigenvalues that belong to number 'i', without that of factor 'skip'. */
static double multiply_values(const struct complete *c, size_t i, size_t skip)
{
  double product = 1;
  for (size_t a = c->view->grid->n_factors; a-- > 0;) {
    if (a != skip) product *= c->value[a][i % c->dims[a]];
    i /= c->dims[a];
  }
  return product;
}

/* The derivatives in the elements of factor 'a's matrix: first in the basis of its eigenvectors.
 * 'y' holds A^-1 y there by now. */
static void differentiate(struct complete *c, size_t a, double *scratch)
{
  size_t n = c->dims[a], right = 1;
  double *gamma = c->factors.gamma[a];
  for (size_t b = a + 1; b < c->view->grid->n_factors; b++) right *= c->dims[b];
  for (size_t i = 0; i < c->n; i++) c->other[i] = 0.5 * c->y[i] * multiply_values(c, i, a);
  for (size_t l = 0; l < c->n / (n * right); l++)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)right, 1,
                c->y + l * n * right, (int)right, c->other + l * n * right, (int)right,
                l == 0 ? 0 : 1, gamma, (int)n);
  for (size_t i = 0; i < c->n; i++) {
    double others = multiply_values(c, i, a);
    size_t k = i / right % n;
    gamma[k * n + k] -= 0.5 * others / (others * c->value[a][k] + c->noise);
  }
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)n, (int)n, 1, gamma, (int)n,
              c->vector[a], (int)n, 0, scratch, (int)n);
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)n, (int)n, (int)n, 1, c->vector[a],
              (int)n, scratch, (int)n, 0, gamma, (int)n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      gamma[i * n + j] = gamma[j * n + i] = 0.5 * (gamma[i * n + j] + gamma[j * n + i]);
}

/* The value; leaves A^-1 y in 'y', and the derivative in the logarithm of the noise variance. */
static double evaluate(struct complete *c, double *noise_gradient)
{
  const struct gpnn_grid *grid = c->view->grid;
  double count = grid->counts == NULL ? 1 : grid->counts[0], cells = (double)c->n;
  double value = cells * LOG_2PI, variance = c->parameters->covariance.noise;
  *noise_gradient = 0.5 * (grid->within / variance - cells * (count - 1));
  for (size_t i = 0; i < c->n; i++) {
    double d = multiply_values(c, i, SIZE_MAX) + c->noise, alpha = c->y[i] / d;
    value += c->y[i] * alpha + log(d);
    *noise_gradient += 0.5 * c->noise * (alpha * alpha - 1 / d);
    c->y[i] = alpha;
  }
  value += cells * ((count - 1) * (LOG_2PI + log(variance)) + log(count)) + grid->within / variance;
  return -0.5 * value;
}

static enum gpnn_status prepare(struct complete *c, bool derivatives, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = c->view->grid;
  c->n = grid->n_cells;
  c->noise = c->parameters->covariance.noise / (grid->counts == NULL ? 1 : grid->counts[0]);
  c->levels.n_factors = grid->n_factors;
  for (size_t a = 0; a < grid->n_factors; a++) {
    c->dims[a] = grid->factor[a].n;
    c->levels.factor[a] =
        (struct gpnn_grid_subset_factor){c->dims[a], grid->factor[a].d, c->view->prepared[a], NULL};
  }
  c->y = gpnn_alloc(c->n, 1, sizeof *c->y);
  c->other = gpnn_alloc(c->n, 1, sizeof *c->other);
  if (c->y == NULL || c->other == NULL) return gpnn_fail_memory(err, "for vectors of a grid");
  enum gpnn_status status =
      gpnn_grid_factors_make(&c->factors, &c->levels, c->parameters, derivatives, 1, err);
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++) status = decompose(c, a, err);
  return status == GPNN_OK ? rotate(c, err) : status;
}

static void release(struct complete *c)
{
  gpnn_grid_factors_release(&c->factors);
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) {
    free(c->vector[a]);
    free(c->value[a]);
  }
  free(c->y);
  free(c->other);
}

enum gpnn_status gpnn_grid_likelihood_complete(const struct gpnn_grid_view *view,
                                               const struct gpnn_parameters *parameters,
                                               double *value, double *gradient,
                                               struct gpnn_error *err)
{
  struct complete c = {.view = view, .parameters = parameters};
  size_t at = gpnn_grid_first_coordinate(parameters, view->grid->n_factors) + 1;
  double found = 0, noise_gradient = 0;
  enum gpnn_status status = prepare(&c, gradient != NULL, err);
  if (status == GPNN_OK) found = evaluate(&c, &noise_gradient);
  for (size_t a = 0; a < view->grid->n_factors && status == GPNN_OK && gradient != NULL; a++) {
    double *scratch = gpnn_alloc(c.dims[a], c.dims[a], sizeof *scratch);
    if (scratch == NULL) status = gpnn_fail_memory(err, "for derivatives");
    if (status == GPNN_OK) differentiate(&c, a, scratch);
    free(scratch);
  }
  if (status == GPNN_OK && gradient != NULL) {
    status = gpnn_grid_factors_contract(&c.factors, &c.levels, parameters, 1, gradient, err);
    gradient[at] = noise_gradient;
  }
  if (status == GPNN_OK) *value = found;
  release(&c);
  return status;
}
