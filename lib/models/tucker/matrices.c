#include "models/tucker/tucker_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"

/* ---- memory -------------------------------------------------------------------------------- */

enum gpnn_status gpnn_tucker_matrices_new(struct gpnn_tucker_matrices *matrices,
                                          const struct gpnn_tucker *tucker, struct gpnn_error *err)
{
  const struct gpnn_tucker_shape *shape = &tucker->shape;
  size_t size = 0;
  for (size_t l = 0; l < shape->p; l++) size += 4 * shape->m[l] * shape->m[l] + shape->m[l];
  *matrices = (struct gpnn_tucker_matrices){.block = gpnn_alloc(size, 1, sizeof(double))};
  if (matrices->block == NULL) return gpnn_fail_memory(err, "for a grid of inducing points");
  double *at = matrices->block;
  for (size_t l = 0; l < shape->p; l++) {
    struct gpnn_tucker_matrix *own = &matrices->dimension[l];
    double **const square[] = {&own->r, &own->slope, &own->root_r, &own->root_c};
    for (size_t i = 0; i < 4; i++, at += shape->m[l] * shape->m[l]) *square[i] = at;
    own->s = at;
    at += shape->m[l];
  }
  return GPNN_OK;
}

void gpnn_tucker_matrices_release(struct gpnn_tucker_matrices *matrices)
{
  free(matrices->block);
  *matrices = (struct gpnn_tucker_matrices){0};
}

/* ---- the divergence ------------------------------------------------------------------------ */

double gpnn_tucker_rest(double lambda)
{
  if (lambda >= 0.01) return -log1p(-lambda) - lambda;
  double sum = 0; /* lambda^2/2 + lambda^3/3 + ..., from its end */
  for (int k = 9; k >= 2; k--) sum = lambda * (sum + 1.0 / k);
  return lambda * sum;
}

double gpnn_tucker_divergence(size_t p, double n_points, const double *mean,
                              const double *mean_rest)
{
  double twice = 0, any = 0, none = 1; /* no term is negative, so nothing cancels */
  for (size_t l = 0; l < p; l++) {
    twice += mean[l] * any + mean_rest[l];
    any += mean[l] * none;
    none *= 1 - mean[l];
  }
  return 0.5 * n_points * twice;
}

/* ---- matrices of a dimension --------------------------------------------------------------- */

static void fill_correlations(const struct gpnn_tucker *t, size_t l,
                              const struct gpnn_tucker_matrix *own)
{
  size_t m = t->shape.m[l];
  const double *z = t->points[l];
  double inverse = exp(-t->numbers[t->lengthscale + l]);
  for (size_t j = 0; j < m; j++) {
    double *r2 = own->root_c + j * m, *slope = own->slope + j * m; /* root_c is scratch so far */
    for (size_t i = 0; i < m; i++) {
      double distance = (z[i] - z[j]) * inverse;
      r2[i] = distance * distance;
    }
    t->kernel->with_slope(0, m, r2, own->r + j * m, slope);
    for (size_t i = 0; i < m; i++) slope[i] *= r2[i];
    own->r[j * m + j] += t->jitter;
  }
}

/* The factor of a matrix that is already there; it is to be positive definite as it is. */
static enum gpnn_status factor(size_t m, double *matrix, size_t l, struct gpnn_error *err)
{
  bool is_positive = true;
  for (size_t i = 0; i < m * m; i++) is_positive = is_positive && isfinite(matrix[i]);
  if (is_positive) is_positive = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (int)m, matrix, (int)m) == 0;
  for (size_t j = 0; j < m && is_positive; j++)
    is_positive = matrix[j * m + j] * matrix[j * m + j] > gpnn_cholesky_rounding(m);
  if (is_positive) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENUMERIC,
                   "dimension %zu of the grid: the correlation matrix of its %zu points is not "
                   "positive definite",
                   l + 1, m);
}

/* Mean of the eigenvalues of C^-1 R and of their rests. */
static enum gpnn_status find_eigenvalues(size_t m, struct gpnn_tucker_matrix *own, double *matrix,
                                         double *values, struct gpnn_error *err)
{
  memcpy(matrix, own->r, m * m * sizeof *matrix);
  lapack_int info =
      LAPACKE_dsygst(LAPACK_COL_MAJOR, 1, 'L', (int)m, matrix, (int)m, own->root_c, (int)m);
  if (info == 0) info = LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', (int)m, matrix, (int)m, values);
  if (info != 0) return gpnn_fail(err, GPNN_ENUMERIC, "a grid's eigenvalues cannot be found");
  own->mean = own->mean_rest = 0;
  for (size_t j = 0; j < m; j++) {
    double lambda = fmin(fmax(values[j], 0), 1 - 0x1p-52);
    own->mean += lambda / (double)m;
    own->mean_rest += gpnn_tucker_rest(lambda) / (double)m;
  }
  return GPNN_OK;
}

static enum gpnn_status add_covariance(const struct gpnn_tucker *t, size_t l,
                                       struct gpnn_tucker_matrix *own, struct gpnn_error *err)
{
  size_t m = t->shape.m[l];
  double *work = gpnn_alloc(m, m + 1, sizeof *work);
  if (work == NULL) return gpnn_fail_memory(err, "for a grid of inducing points");
  memcpy(own->root_c, own->r, m * m * sizeof *own->r);
  for (size_t j = 0; j < m; j++) {
    own->s[j] = exp(t->numbers[t->rho[l] + j]);
    own->root_c[j * m + j] += own->s[j];
  }
  enum gpnn_status status = factor(m, own->root_c, l, err);
  if (status == GPNN_OK) status = find_eigenvalues(m, own, work, work + m * m, err);
  free(work);
  return status;
}

static enum gpnn_status set_dimension(const struct gpnn_tucker *t, size_t l,
                                      struct gpnn_tucker_matrix *own, struct gpnn_error *err)
{
  size_t m = t->shape.m[l];
  fill_correlations(t, l, own);
  memcpy(own->root_r, own->r, m * m * sizeof *own->r);
  enum gpnn_status status = factor(m, own->root_r, l, err);
  return status == GPNN_OK && t->has_covariance ? add_covariance(t, l, own, err) : status;
}

enum gpnn_status gpnn_tucker_matrices_set(struct gpnn_tucker_matrices *matrices,
                                          const struct gpnn_tucker *tucker, struct gpnn_error *err)
{
  double mean[GPNN_TUCKER_DIMENSIONS], rest[GPNN_TUCKER_DIMENSIONS];
  enum gpnn_status status = GPNN_OK;
  for (size_t l = 0; l < tucker->shape.p && status == GPNN_OK; l++) {
    status = set_dimension(tucker, l, &matrices->dimension[l], err);
    mean[l] = matrices->dimension[l].mean;
    rest[l] = matrices->dimension[l].mean_rest;
  }
  if (status != GPNN_OK) return status;
  matrices->divergence = tucker->has_covariance
                             ? gpnn_tucker_divergence(tucker->shape.p, tucker->n_points, mean, rest)
                             : 0;
  return GPNN_OK;
}

enum gpnn_status gpnn_tucker_matrices_escalate(struct gpnn_tucker_matrices *matrices,
                                               struct gpnn_tucker *tucker, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_tucker_matrices_set(matrices, tucker, err);
  while (status == GPNN_ENUMERIC && tucker->jitter * 10 <= GPNN_TUCKER_MOST_JITTER * (1 + 1e-9)) {
    tucker->jitter *= 10;
    status = gpnn_tucker_matrices_set(matrices, tucker, err);
  }
  return status;
}

/* Row-major U is column-major U', whose product with the factor from the right is wanted. */
void gpnn_tucker_whiten(const struct gpnn_tucker_matrices *matrices,
                        const struct gpnn_tucker *tucker, size_t l, bool back, double *u)
{
  int m = (int)tucker->shape.m[l], q = (int)tucker->shape.q[l];
  const double *root = matrices->dimension[l].root_r;
  if (back)
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, q, m, 1, root, m,
                u, q);
  else
    cblas_dtrmm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, q, m, 1, root, m,
                u, q);
}
