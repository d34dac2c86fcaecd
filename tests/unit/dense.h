/*
 * dense: Gaussian-process prediction by the textbook formula, in long double and by Gaussian
 * elimination: an independent check that shares no code with the library.
 */
#ifndef GPNN_TESTS_DENSE_H
#define GPNN_TESTS_DENSE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The Matern kernel of smoothness nu at distance r: 2^(1-nu)/Gamma(nu) z^nu K_nu(z) with z =
 * sqrt(2 nu) r, K as the integral of exp(-z cosh t) cosh(nu t), whose trapezoidal sums converge as
 * exp(-10 / step) do; all factors go into the exponent, so that nothing overflows. */
static inline long double dense_matern(long double nu, long double r)
{
  const long double step = 1 / 16.0L, gone = -50;
  long double z = sqrtl(2 * nu) * r, sum = 0; /* for nu up to some 20 */
  if (z == 0) return 1;
  long double front = (1 - nu) * logl(2) - lgammal(nu) + nu * logl(z) + logl(step);
  for (long double t = 0;; t += step) {
    long double power = front - z * coshl(t) + nu * t;
    sum += expl(power) * (1 + expl(-2 * nu * t)) / (t == 0 ? 4 : 2);
    if (z * sinhl(t) > nu && power < gone) return sum;
  }
}

/* 'name' is that of a kernel, or "matern:" and a smoothness. */
static inline long double dense_kernel(const char *name, size_t d, const double *a, const double *b,
                                       size_t n_lengthscales, const double *lengthscale)
{
  long double r2 = 0;
  for (size_t j = 0; j < d; j++) {
    long double t = ((long double)a[j] - b[j]) / lengthscale[n_lengthscales > 1 ? j : 0];
    r2 += t * t;
  }
  long double r = sqrtl(r2), s3 = sqrtl(3.0L) * r, s5 = sqrtl(5.0L) * r;
  if (strcmp(name, "rbf") == 0) return expl(-r2 / 2);
  if (strcmp(name, "exp") == 0) return expl(-r);
  if (strcmp(name, "matern32") == 0) return (1 + s3) * expl(-s3);
  if (strncmp(name, "matern:", 7) == 0) return dense_matern(strtold(name + 7, NULL), r);
  return (1 + s5 + s5 * s5 / 3) * expl(-s5);
}

/* Solves A z = b for two right-hand sides by elimination with pivoting; A and b are
 * overwritten. */
static inline void dense_solve(size_t n, long double *a, long double *b1, long double *b2)
{
  for (size_t k = 0; k < n; k++) {
    size_t p = k;
    for (size_t i = k + 1; i < n; i++)
      if (fabsl(a[i * n + k]) > fabsl(a[p * n + k])) p = i;
    for (size_t j = 0; j < n; j++) {
      long double t = a[k * n + j];
      a[k * n + j] = a[p * n + j];
      a[p * n + j] = t;
    }
    long double t = b1[k];
    b1[k] = b1[p];
    b1[p] = t;
    t = b2[k];
    b2[k] = b2[p];
    b2[p] = t;
    for (size_t i = k + 1; i < n; i++) {
      long double f = a[i * n + k] / a[k * n + k];
      for (size_t j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
      b1[i] -= f * b1[k];
      b2[i] -= f * b2[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; j++) {
      b1[k] -= a[k * n + j] * b1[j];
      b2[k] -= a[k * n + j] * b2[j];
    }
    b1[k] /= a[k * n + k];
    b2[k] /= a[k * n + k];
  }
}

/* Mean and latent variance at 'point' given n rows of x (n by d) and y. */
static inline void dense_predict(const char *kernel, size_t n, size_t d, const double *x,
                                 const double *y, const double *point, size_t n_lengthscales,
                                 const double *lengthscale, double kernelscale, double noise,
                                 double *mean, double *latent)
{
  long double *k = malloc(n * n * sizeof *k), *c = malloc(n * sizeof *c);
  long double *u = malloc(n * sizeof *u), *v = malloc(n * sizeof *v);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++)
      k[i * n + j] = (long double)kernelscale * dense_kernel(kernel, d, x + i * d, x + j * d,
                                                             n_lengthscales, lengthscale) +
                     (i == j ? (long double)noise : 0);
    c[i] = (long double)kernelscale *
           dense_kernel(kernel, d, x + i * d, point, n_lengthscales, lengthscale);
    u[i] = c[i];
    v[i] = y[i];
  }
  dense_solve(n, k, u, v);
  long double m = 0, s = kernelscale;
  for (size_t i = 0; i < n; i++) {
    m += c[i] * v[i];
    s -= c[i] * u[i];
  }
  *mean = (double)m;
  *latent = (double)s;
  free(k);
  free(c);
  free(u);
  free(v);
}

#endif
