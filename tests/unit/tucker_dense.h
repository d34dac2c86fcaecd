/*
 * tucker_dense: small models on grids, at random, and what the formulas of any variational process
 * say of them, with matrices as large as the grid and in long double.
 */
#ifndef GPNN_TESTS_TUCKER_DENSE_H
#define GPNN_TESTS_TUCKER_DENSE_H

#include "dense.h"
#include "random.h"
#include "unit.h"

#include "models/tucker/tucker.h"
#include "models/tucker/tucker_private.h"

/* A model and its rows. */
struct tucker_case {
  struct gpnn_tucker tucker;
  struct gpnn_tucker_data data;
  double *x, *y;
};

static inline struct tucker_case tucker_made_of(const struct gpnn_tucker_shape *shape,
                                                const char *kernel, size_t n, uint64_t seed)
{
  struct tucker_case c = {0};
  struct gpnn_rng rng = seeded(seed);
  size_t p = shape->p;
  assert_ok(gpnn_tucker_new(&c.tucker, shape, gpnn_kernel_by_name(kernel), &err));
  struct gpnn_tucker *t = &c.tucker;
  for (size_t l = 0; l < p; l++)
    for (size_t j = 0; j < shape->m[l]; j++)
      t->points[l][j] = shape->m[l] == 1 ? 0.1 : -1.1 + 2.2 * (double)j / (double)(shape->m[l] - 1);
  for (size_t i = 0; i < t->rho[0]; i++)
    t->numbers[i] = (i < t->n_core ? 0.7 : 0.5) * gpnn_rng_normal(&rng);
  for (size_t i = t->rho[0]; i < t->lengthscale; i++)
    t->numbers[i] = 0.3 * gpnn_rng_normal(&rng) - 0.5;
  for (size_t l = 0; l < p; l++) t->numbers[t->lengthscale + l] = log(0.7 + 0.2 * (double)l);
  t->numbers[t->kernelscale] = log(1.4);
  t->numbers[t->noise] = log(0.2);
  c.x = gpnn_alloc(n, p, sizeof *c.x);
  c.y = gpnn_alloc(n, 1, sizeof *c.y);
  assert_true(c.x != NULL && c.y != NULL);
  for (size_t i = 0; i < n * p; i++) c.x[i] = 2 * gpnn_rng_uniform(&rng) - 1;
  for (size_t i = 0; i < n; i++)
    c.y[i] = sin(2 * c.x[i * p]) + c.x[i * p + p - 1] + 0.3 * gpnn_rng_normal(&rng);
  c.data = (struct gpnn_tucker_data){.n = n, .x = c.x, .y = c.y, .weight = 1, .threads = 1};
  return c;
}

/* Unequal sizes and ranks. */
static inline struct tucker_case tucker_made(const char *kernel, uint64_t seed)
{
  const struct gpnn_tucker_shape shape = {.p = 3, .m = {4, 5, 3}, .q = {2, 3, 2}};
  return tucker_made_of(&shape, kernel, 40, seed);
}

static inline void tucker_case_release(struct tucker_case *c)
{
  gpnn_tucker_release(&c->tucker);
  free(c->x);
  free(c->y);
}

/* ---- dense matrices ----------------------------------------------------------------------- */

/* L of A = L L', in place; returns log|A|. */
static inline long double tucker_factor(size_t n, long double *a)
{
  long double logdet = 0;
  for (size_t j = 0; j < n; j++) {
    for (size_t k = 0; k < j; k++) a[j * n + j] -= a[j * n + k] * a[j * n + k];
    assert_true(a[j * n + j] > 0);
    a[j * n + j] = sqrtl(a[j * n + j]);
    logdet += 2 * logl(a[j * n + j]);
    for (size_t i = j + 1; i < n; i++) {
      for (size_t k = 0; k < j; k++) a[i * n + j] -= a[i * n + k] * a[j * n + k];
      a[i * n + j] /= a[j * n + j];
    }
  }
  return logdet;
}

static inline void tucker_forward(size_t n, const long double *l, long double *b)
{
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++) b[i] -= l[i * n + k] * b[k];
    b[i] /= l[i * n + i];
  }
}

static inline void tucker_backward(size_t n, const long double *l, long double *b)
{
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; k++) b[i] -= l[k * n + i] * b[k];
    b[i] /= l[i * n + i];
  }
}

/* The digits of i in the mixed base of sizes: the first index is the slowest. */
static inline size_t tucker_digit(const struct gpnn_tucker_shape *shape, const size_t *size,
                                  size_t i, size_t l)
{
  for (size_t k = shape->p; k-- > l + 1;) i /= size[k];
  return i % size[l];
}

struct tucker_dense {
  size_t n, points;
  long double *k;     /* points by points: Kuu */
  long double *cross; /* n by points: Kfu */
  long double *s;     /* points by points: covariance of u */
  long double *alpha; /* points: Kuu^-1 times the mean of u */
};

static inline long double tucker_correlation(const struct tucker_case *c, const char *kernel,
                                             size_t l, double a, double b)
{
  const double lengthscale = exp(c->tucker.numbers[c->tucker.lengthscale + l]);
  return dense_kernel(kernel, 1, &a, &b, 1, &lengthscale);
}

/* R_l - R_l (R_l + diag(s_l))^-1 R_l, 'm' by 'm'. */
static inline void tucker_left_of(const struct tucker_case *c, size_t l, const long double *r,
                                  long double *left)
{
  size_t m = c->tucker.shape.m[l];
  long double matrix[32 * 32], column[32];
  assert_true(m <= 32);
  for (size_t i = 0; i < m * m; i++)
    matrix[i] = r[i] + (i % (m + 1) == 0
                            ? expl((long double)c->tucker.numbers[c->tucker.rho[l] + i / (m + 1)])
                            : 0);
  tucker_factor(m, matrix);
  for (size_t j = 0; j < m; j++) {
    for (size_t i = 0; i < m; i++) column[i] = r[i * m + j];
    tucker_forward(m, matrix, column);
    tucker_backward(m, matrix, column);
    for (size_t i = 0; i < m; i++) {
      left[i * m + j] = r[i * m + j];
      for (size_t k = 0; k < m; k++) left[i * m + j] -= r[i * m + k] * column[k];
    }
  }
}

/* The mean's weights: U_1 kron ... kron U_p times the core, over the kernel scale. */
static inline long double tucker_alpha(const struct gpnn_tucker *t, size_t i)
{
  long double sum = 0;
  for (size_t a = 0; a < t->n_core; a++) {
    long double product = t->numbers[a];
    for (size_t l = 0; l < t->shape.p; l++) {
      size_t q = t->shape.q[l], j = tucker_digit(&t->shape, t->shape.m, i, l);
      size_t b = t->shape.is_diagonal ? a : tucker_digit(&t->shape, t->shape.q, a, l);
      product *= t->numbers[t->factor[l] + j * q + b];
    }
    sum += product;
  }
  return sum / expl((long double)t->numbers[t->kernelscale]);
}

/* Of rows 'x' of the model; 'kernel' is its name. */
static inline struct tucker_dense tucker_dense_of(const struct tucker_case *c, const char *kernel,
                                                  size_t n, const double *x)
{
  const struct gpnn_tucker *t = &c->tucker;
  const struct gpnn_tucker_shape *shape = &t->shape;
  size_t points = (size_t)t->n_points;
  struct tucker_dense d = {n,
                           points,
                           calloc(points * points, sizeof(long double)),
                           calloc(n * points, sizeof(long double)),
                           calloc(points * points, sizeof(long double)),
                           calloc(points, sizeof(long double))};
  assert_true(d.k && d.cross && d.s && d.alpha);
  long double scale = expl((long double)t->numbers[t->kernelscale]);
  for (size_t i = 0; i < points * points; i++) d.k[i] = d.s[i] = scale;
  for (size_t i = 0; i < n * points; i++) d.cross[i] = scale;
  for (size_t l = 0; l < shape->p; l++) {
    size_t m = shape->m[l];
    long double r[32 * 32], left[32 * 32];
    for (size_t i = 0; i < m * m; i++)
      r[i] = tucker_correlation(c, kernel, l, t->points[l][i / m], t->points[l][i % m]) +
             (i % (m + 1) == 0 ? (long double)t->jitter : 0);
    tucker_left_of(c, l, r, left);
    for (size_t i = 0; i < points; i++) {
      size_t a = tucker_digit(shape, shape->m, i, l);
      for (size_t j = 0; j < points; j++) {
        size_t b = tucker_digit(shape, shape->m, j, l);
        d.k[i * points + j] *= r[a * m + b];
        d.s[i * points + j] *= left[a * m + b];
      }
      for (size_t row = 0; row < n; row++)
        d.cross[row * points + i] *=
            tucker_correlation(c, kernel, l, x[row * shape->p + l], t->points[l][a]);
    }
  }
  for (size_t i = 0; i < points; i++) d.alpha[i] = tucker_alpha(t, i);
  return d;
}

static inline void tucker_dense_release(struct tucker_dense *d)
{
  free(d->k);
  free(d->cross);
  free(d->s);
  free(d->alpha);
}

/* Mean and latent variance of a row: k'alpha, and k_** - k'K^-1 k + k'K^-1 S K^-1 k. */
static inline void tucker_dense_predict(const struct tucker_case *c, const struct tucker_dense *d,
                                        const long double *factor, size_t row, long double *mean,
                                        long double *variance)
{
  size_t m = d->points;
  const long double *k = d->cross + row * m;
  long double *e = calloc(m, sizeof *e);
  assert_non_null(e);
  memcpy(e, k, m * sizeof *e);
  tucker_forward(m, factor, e);
  tucker_backward(m, factor, e);
  *mean = 0;
  *variance = expl((long double)c->tucker.numbers[c->tucker.kernelscale]);
  for (size_t i = 0; i < m; i++) {
    *mean += k[i] * d->alpha[i];
    *variance -= k[i] * e[i];
    for (size_t j = 0; j < m; j++) *variance += e[i] * d->s[i * m + j] * e[j];
  }
  free(e);
}

/* The bound of q(u) = N(mean, S): the expected log likelihood minus the divergence. */
static inline long double tucker_dense_bound(const struct tucker_case *c, const char *kernel)
{
  struct tucker_dense d = tucker_dense_of(c, kernel, c->data.n, c->x);
  size_t m = d.points;
  long double noise = expl((long double)c->tucker.numbers[c->tucker.noise]);
  long double *factor = calloc(m * m, sizeof *factor), *column = calloc(m, sizeof *column);
  assert_true(factor && column);
  memcpy(factor, d.k, m * m * sizeof *factor);
  long double divergence = tucker_factor(m, factor) - (long double)m, bound = 0;
  for (size_t i = 0; i < c->data.n; i++) {
    long double mean, variance;
    tucker_dense_predict(c, &d, factor, i, &mean, &variance);
    bound -= 0.5L * (logl(2 * acosl(-1) * noise) +
                     ((c->y[i] - mean) * (c->y[i] - mean) + variance) / noise);
  }
  for (size_t j = 0; j < m; j++) {
    for (size_t i = 0; i < m; i++) column[i] = d.s[i * m + j];
    tucker_forward(m, factor, column);
    tucker_backward(m, factor, column);
    divergence += column[j];
    for (size_t i = 0; i < m; i++) divergence += d.alpha[i] * d.k[i * m + j] * d.alpha[j];
  }
  memcpy(factor, d.s, m * m * sizeof *factor);
  divergence -= tucker_factor(m, factor);
  tucker_dense_release(&d);
  free(factor);
  free(column);
  return bound - 0.5L * divergence;
}

/* log N(y; 0, K + noise I), K n by n (overwritten). */
static inline long double tucker_log_normal(const struct tucker_case *c, long double *k)
{
  size_t n = c->data.n;
  long double *y = calloc(n, sizeof *y);
  assert_non_null(y);
  for (size_t i = 0; i < n; i++) {
    k[i * n + i] += expl((long double)c->tucker.numbers[c->tucker.noise]);
    y[i] = c->y[i];
  }
  long double sum = tucker_factor(n, k) + (long double)n * logl(2 * acosl(-1));
  tucker_forward(n, k, y);
  for (size_t i = 0; i < n; i++) sum += y[i] * y[i];
  free(y);
  return -0.5L * sum;
}

/* The log marginal likelihood, and in '*collapsed' the bound of the best q(u). */
static inline long double tucker_dense_evidence(const struct tucker_case *c, const char *kernel,
                                                long double *collapsed)
{
  const struct gpnn_tucker *t = &c->tucker;
  struct tucker_dense d = tucker_dense_of(c, kernel, c->data.n, c->x);
  size_t n = c->data.n, m = d.points, p = t->shape.p;
  long double *full = calloc(n * n, sizeof *full), *sparse = calloc(n * n, sizeof *sparse);
  assert_true(full && sparse);
  long double scale = expl((long double)t->numbers[t->kernelscale]), left = 0;
  tucker_factor(m, d.k);
  for (size_t i = 0; i < n; i++) tucker_forward(m, d.k, d.cross + i * m);
  for (size_t i = 0; i < n * n; i++) {
    full[i] = scale;
    for (size_t l = 0; l < p; l++)
      full[i] *= tucker_correlation(c, kernel, l, c->x[i / n * p + l], c->x[i % n * p + l]);
    for (size_t j = 0; j < m; j++) sparse[i] += d.cross[i / n * m + j] * d.cross[i % n * m + j];
    if (i % (n + 1) == 0) left += full[i] - sparse[i];
  }
  *collapsed = tucker_log_normal(c, sparse) - left / (2 * expl((long double)t->numbers[t->noise]));
  long double evidence = tucker_log_normal(c, full);
  tucker_dense_release(&d);
  free(full);
  free(sparse);
  return evidence;
}

#endif
