/*
 * diag: a small problem of inducing points, and its bounds by the textbook formulas, dense and in
 * long double, for the tests of models/inducing/diag/diag.
 */
#ifndef GPNN_TESTS_DIAG_H
#define GPNN_TESTS_DIAG_H

#include "dense.h"
#include "models/inducing/diag/diag.h"
#include "random.h"
#include "unit.h"

enum { DIAG_D = 3, DIAG_L = 2 };

struct diag_case {
  struct gpnn_diag_problem problem;
  size_t size;
  double *x, *y, *z, *noise, *point;
};

static const uint32_t diag_group[DIAG_D] = {0, 1, 1};

/* n rows of three inputs, of which the last two share a lengthscale; the inducing inputs are the
 * first m rows. */
static inline struct diag_case diag_case(const char *kernel, size_t n, size_t m, uint64_t seed)
{
  struct diag_case c = {.x = normal_rows(n, DIAG_D, seed), .y = normal_rows(n, 1, seed + 1)};
  double smoothness = 0;
  c.problem = (struct gpnn_diag_problem){
      .n = n, .d = DIAG_D, .x = c.x, .y = c.y, .m = m, .n_lengthscales = DIAG_L, .threads = 1};
  assert_true(gpnn_kernel_parse(kernel, &c.problem.kernel, &smoothness));
  c.problem.smoothness = smoothness;
  c.problem.group = diag_group;
  c.z = gpnn_alloc(m, DIAG_D, sizeof *c.z);
  memcpy(c.z, c.x, m * DIAG_D * sizeof *c.z);
  c.problem.z = c.z;
  for (size_t i = 0; i < n; i++) c.y[i] = sin(2 * c.x[i * DIAG_D]) + 0.3 * c.y[i];
  c.size = gpnn_diag_size(&c.problem);
  c.point = normal_rows(c.size, 1, seed + 2);
  for (size_t i = 0; i < m; i++) {
    c.point[i] *= 0.3;
    c.point[m + i] = log(0.15 * (double)m / (double)n) + 0.3 * c.point[m + i];
  }
  c.point[2 * m] = log(0.8);
  c.point[2 * m + 1] = log(1.3);
  c.point[2 * m + 2] = log(1.3);
  c.point[2 * m + 3] = log(0.15);
  return c;
}

/* Gives every row a noise variance of its own besides. */
static inline void diag_case_add_noise(struct diag_case *c)
{
  c->noise = normal_rows(c->problem.n, 1, 77);
  for (size_t i = 0; i < c->problem.n; i++) c->noise[i] = 0.1 * fabs(c->noise[i]);
  c->problem.noise = c->noise;
}

static inline void diag_case_free(struct diag_case *c)
{
  free(c->x);
  free(c->y);
  free(c->z);
  free(c->noise);
  free(c->point);
}

/* ---- long double matrices, row-major ------------------------------------------------------ */

typedef long double real;

static inline real *real_new(size_t n, size_t m)
{
  real *a = calloc(n * m + 1, sizeof *a);
  assert_non_null(a);
  return a;
}

/* The inverse of a positive definite matrix, and its log determinant. */
static inline real *real_inverse(size_t n, const real *a, real *logdet)
{
  real *work = real_new(n, 2 * n), *inverse = real_new(n, n), sum = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) work[i * 2 * n + j] = a[i * n + j];
    work[i * 2 * n + n + i] = 1;
  }
  for (size_t k = 0; k < n; k++) {
    real pivot = work[k * 2 * n + k];
    assert_true(pivot > 0);
    sum += logl(pivot);
    for (size_t j = 0; j < 2 * n; j++) work[k * 2 * n + j] /= pivot;
    for (size_t i = 0; i < n; i++) {
      real f = work[i * 2 * n + k];
      for (size_t j = k; j < 2 * n && i != k; j++) work[i * 2 * n + j] -= f * work[k * 2 * n + j];
    }
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) inverse[i * n + j] = work[i * 2 * n + n + j];
  if (logdet != NULL) *logdet = sum;
  free(work);
  return inverse;
}

/* a (n by k) times b (k by m). */
static inline real *real_times(size_t n, size_t k, size_t m, const real *a, const real *b)
{
  real *c = real_new(n, m);
  for (size_t i = 0; i < n; i++)
    for (size_t l = 0; l < k; l++)
      for (size_t j = 0; j < m; j++) c[i * m + j] += a[i * k + l] * b[l * m + j];
  return c;
}

static inline real real_quadratic(size_t n, const real *u, const real *a, const real *v)
{
  real sum = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) sum += u[i] * a[i * n + j] * v[j];
  return sum;
}

/* Covariances of rows 'a' (n) with rows 'b' (m) under the point. */
static inline real *diag_kernel(const struct diag_case *c, size_t n, const double *a, size_t m,
                                const double *b)
{
  char name[GPNN_KERNEL_BYTES];
  double lengthscale[DIAG_D];
  real *k = real_new(n, m);
  gpnn_kernel_write(c->problem.kernel, c->problem.smoothness, name);
  for (size_t l = 0; l < DIAG_D; l++)
    lengthscale[l] = exp(c->point[2 * c->problem.m + diag_group[l]]);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++)
      k[i * m + j] =
          expl((real)c->point[2 * c->problem.m + DIAG_L]) *
          dense_kernel(name, DIAG_D, a + i * DIAG_D, b + j * DIAG_D, DIAG_D, lengthscale);
  return k;
}

static inline real diag_noise(const struct diag_case *c, size_t i)
{
  return expl((real)c->point[c->size - 1]) + (c->noise == NULL ? 0 : (real)c->noise[i]);
}

/* The bound of any q(u) = N(mean, S): expected log density of the observations, less the divergence
 * of q from the prior. */
static inline real diag_uncollapsed(const struct diag_case *c, const real *mean, const real *s)
{
  size_t n = c->problem.n, m = c->problem.m;
  real *kuu = diag_kernel(c, m, c->z, m, c->z), *kfu = diag_kernel(c, n, c->x, m, c->z);
  real logdet, logdet_s, sum = 0, scale = expl((real)c->point[c->size - 2]);
  real *inverse = real_inverse(m, kuu, &logdet), *inverse_s = real_inverse(m, s, &logdet_s);
  for (size_t i = 0; i < n; i++) {
    real *a = real_times(1, m, m, kfu + i * m, inverse), noise = diag_noise(c, i), f = 0;
    for (size_t j = 0; j < m; j++) f += a[j] * mean[j];
    real variance =
        scale - real_quadratic(m, kfu + i * m, inverse, kfu + i * m) + real_quadratic(m, a, s, a);
    sum += -0.5L * logl(2 * acosl(-1) * noise) -
           ((c->y[i] - f) * (c->y[i] - f) + variance) / 2 / noise;
    free(a);
  }
  real *ratio = real_times(m, m, m, inverse, s), trace = 0;
  for (size_t j = 0; j < m; j++) trace += ratio[j * m + j];
  sum -= (trace + real_quadratic(m, mean, inverse, mean) - (real)m + logdet - logdet_s) / 2;
  free(kuu), free(kfu), free(inverse), free(inverse_s), free(ratio);
  return sum;
}

/* mean = Kuu mu and S = Kuu - Kuu B^-1 Kuu of the point. */
static inline void diag_moments(const struct diag_case *c, real **mean, real **s)
{
  size_t m = c->problem.m;
  real *kuu = diag_kernel(c, m, c->z, m, c->z), *b = diag_kernel(c, m, c->z, m, c->z);
  *mean = real_new(m, 1);
  for (size_t i = 0; i < m; i++) b[i * m + i] += expl((real)c->point[m + i]);
  real *inverse = real_inverse(m, b, NULL), *half = real_times(m, m, m, kuu, inverse);
  *s = real_times(m, m, m, half, kuu);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < m; j++) {
      (*mean)[i] += kuu[i * m + j] * c->point[j];
      (*s)[i * m + j] = kuu[i * m + j] - (*s)[i * m + j];
    }
  free(kuu), free(b), free(inverse), free(half);
}

/* log N(y | 0, k + noise) for n by n 'k', which is overwritten. */
static inline real diag_log_normal(const struct diag_case *c, real *k)
{
  size_t n = c->problem.n;
  real *y = real_new(n, 1), logdet;
  for (size_t i = 0; i < n; i++) {
    k[i * n + i] += diag_noise(c, i);
    y[i] = c->y[i];
  }
  real *inverse = real_inverse(n, k, &logdet);
  real value = -(real_quadratic(n, y, inverse, y) + logdet + (real)n * logl(2 * acosl(-1))) / 2;
  free(y), free(inverse);
  return value;
}

static inline real diag_log_likelihood(const struct diag_case *c)
{
  real *k = diag_kernel(c, c->problem.n, c->x, c->problem.n, c->x);
  real value = diag_log_normal(c, k);
  free(k);
  return value;
}

/* The bound of the optimal q(u) of any covariance (Titsias 2009). */
static inline real diag_collapsed(const struct diag_case *c)
{
  size_t n = c->problem.n, m = c->problem.m;
  real *kuu = diag_kernel(c, m, c->z, m, c->z), *kfu = diag_kernel(c, n, c->x, m, c->z);
  real *inverse = real_inverse(m, kuu, NULL), *q = real_new(n, n), trace = 0;
  real scale = expl((real)c->point[c->size - 2]);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      q[i * n + j] = real_quadratic(m, kfu + i * m, inverse, kfu + j * m);
  for (size_t i = 0; i < n; i++) trace += (scale - q[i * n + i]) / diag_noise(c, i);
  real value = diag_log_normal(c, q) - trace / 2;
  free(kuu), free(kfu), free(inverse), free(q);
  return value;
}

#endif
