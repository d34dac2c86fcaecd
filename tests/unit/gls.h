/*
 * gls: generalised least squares by the textbook formula, in long double and by elimination: an
 * independent check that shares no code with the library.
 */
#ifndef GPNN_TESTS_GLS_H
#define GPNN_TESTS_GLS_H

#include "dense.h"

enum { GLS_ROWS = 64, GLS_TERMS = 4 };

/* n rows of terms (n by p) and y, their covariance M; M^-1 [T, y] and what follows. */
struct gls {
  size_t n, p;
  double t[GLS_ROWS * GLS_TERMS], y[GLS_ROWS];
  long double m[GLS_ROWS * GLS_ROWS];
  long double coefficients[GLS_TERMS], covariance[GLS_TERMS * GLS_TERMS];
  long double left; /* y'M^-1 y - g'V^-1 g */
};

/* M^-1 b into 'z'. */
static inline void gls_apply(const struct gls *g, const long double *b, long double *z)
{
  long double m[GLS_ROWS * GLS_ROWS], unused[GLS_ROWS] = {0};
  memcpy(m, g->m, g->n * g->n * sizeof *m);
  memcpy(z, b, g->n * sizeof *z);
  dense_solve(g->n, m, z, unused);
}

static inline void gls_fit(struct gls *g)
{
  size_t n = g->n, p = g->p;
  long double z[GLS_TERMS + 1][GLS_ROWS], products[GLS_TERMS + 1][GLS_TERMS + 1];
  for (size_t a = 0; a <= p; a++) {
    long double column[GLS_ROWS] = {0};
    for (size_t i = 0; i < n; i++) column[i] = a < p ? g->t[i * p + a] : g->y[i];
    gls_apply(g, column, z[a]);
    for (size_t b = 0; b <= p; b++) {
      products[b][a] = 0;
      for (size_t i = 0; i < n; i++)
        products[b][a] += (long double)(b < p ? g->t[i * p + b] : g->y[i]) * z[a][i];
    }
  }
  g->left = products[p][p];
  for (size_t a = 0; a < p; a++) {
    long double k[GLS_TERMS * GLS_TERMS], unit[GLS_TERMS] = {0}, target[GLS_TERMS];
    for (size_t b = 0; b < p; b++) {
      for (size_t c = 0; c < p; c++) k[b * p + c] = products[b][c];
      target[b] = products[b][p];
    }
    unit[a] = 1;
    dense_solve(p, k, unit, target);
    for (size_t b = 0; b < p; b++) g->covariance[b * p + a] = unit[b];
    g->coefficients[a] = target[a];
  }
  for (size_t a = 0; a < p; a++) g->left -= g->coefficients[a] * products[a][p];
}

#endif
