#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/cholesky.h"
#include "models/grid/fit/coordinates.h"
#include "models/grid/fit/likelihood.h"
#include "models/grid/fit/likelihood_private.h"

#define LOG_2PI 1.8378770664093454836

/* Targets and the cells that they are given, and what is computed of them. */
struct conditional {
  const struct gpnn_grid_subset *cells;
  struct gpnn_grid_subset known; /* borrows the arrays of 'cells', without the targets */
  const struct gpnn_parameters *parameters;
  struct gpnn_grid_factors factors;
  size_t n, m;          /* known cells; targets */
  double *matrix;       /* n by n */
  double *work, *alpha; /* alpha = A^-1 y, n */
  double *k, *w;        /* n by m: covariances with targets, and A^-1 times these */
  double *a, *b;        /* m: derivatives in mean and variance */
  double *x, *y, *g;    /* n by m + 1, twice; n + m squared: only for the gradient */
};

static enum gpnn_status reserve(struct conditional *c, bool derivatives, struct gpnn_error *err)
{
  size_t n = c->n, m = c->m, all = n + m;
  c->matrix = gpnn_alloc(n, n, sizeof(double));
  c->work = gpnn_alloc(gpnn_cholesky_work(n), 1, sizeof(double));
  c->alpha = gpnn_alloc(n, 1, sizeof(double));
  c->k = gpnn_alloc(n, m, sizeof(double));
  c->w = gpnn_alloc(n, m, sizeof(double));
  c->a = gpnn_alloc(m, 1, sizeof(double));
  c->b = gpnn_alloc(m, 1, sizeof(double));
  bool is_complete = c->matrix != NULL && c->work != NULL && c->alpha != NULL && c->k != NULL &&
                     c->w != NULL && c->a != NULL && c->b != NULL;
  if (derivatives) {
    c->x = gpnn_alloc(n, m + 1, sizeof(double));
    c->y = gpnn_alloc(n, m + 1, sizeof(double));
    c->g = gpnn_alloc(all, all, sizeof(double));
    is_complete = is_complete && c->x != NULL && c->y != NULL && c->g != NULL;
  }
  return is_complete ? GPNN_OK : gpnn_fail_memory(err, "for a covariance matrix");
}

static void release(struct conditional *c)
{
  double *const arrays[] = {c->matrix, c->work, c->alpha, c->k, c->w, c->a, c->b, c->x, c->y, c->g};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
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
    double noise =
        gpnn_grid_noise_value(c->parameters, gpnn_grid_noise_number(c->cells, c->parameters, at)) /
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
    value -= 0.5 * (LOG_2PI + log(v) + e * e / v);
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

static enum gpnn_status evaluate(struct conditional *c, double *mean, double *variance,
                                 double *value, double *gradient, struct gpnn_error *err)
{
  size_t at = gpnn_grid_first_coordinate(c->parameters, c->cells->n_factors) + 1;
  enum gpnn_status status =
      gpnn_grid_factors_make(&c->factors, c->cells, c->parameters, gradient != NULL, 1, err);
  if (status == GPNN_OK && c->n > 0)
    status =
        gpnn_grid_factors_cholesky(&c->factors, &c->known, c->parameters, c->matrix, c->work, err);
  if (status != GPNN_OK) return status;
  *value = predict(c, mean, variance);
  if (gradient == NULL) return GPNN_OK;
  for (size_t i = 0; i < gpnn_grid_n_noise(c->parameters); i++) gradient[at + i] = 0;
  differentiate(c);
  gpnn_grid_factors_spread(&c->factors, c->cells, c->parameters, c->g, gradient + at);
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
  enum gpnn_status status = reserve(&c, gradient != NULL, err);
  if (status == GPNN_OK) status = evaluate(&c, mean, variance, value, gradient, err);
  release(&c);
  return status;
}
