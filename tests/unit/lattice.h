/*
 * lattice: product kernels on small grids with holes, with their covariance written out in full.
 */
#ifndef GPNN_TESTS_LATTICE_H
#define GPNN_TESTS_LATTICE_H

#include "linalg/factors/cholesky.h"
#include "models/grid/system/system_private.h"
#include "random.h"

struct lattice {
  size_t n_factors, n[GPNN_GRID_FACTORS], cells; /* cells of all of the grid */
  double *k[GPNN_GRID_FACTORS];
  size_t n_cells; /* observed */
  int64_t *cell;
  double *noise; /* n_cells */
};

/* exp(-r / lengthscale) between points on a line, some of them close to each other. */
static inline double *lattice_matrix(size_t n, double lengthscale, double scale, uint64_t seed)
{
  double *x = normal_rows(n, 1, seed), *k = gpnn_alloc(n, n, sizeof *k);
  assert_non_null(k);
  for (size_t i = 0; i < n * n; i++) k[i] = scale * exp(-fabs(x[i / n] - x[i % n]) / lengthscale);
  free(x);
  return k;
}

/* A grid of which each cell is missing with probability 'missing', at least one being observed, and
 * with noise from 'noise' to twice that. */
static inline struct lattice lattice_make(size_t n_factors, const size_t *n, double missing,
                                          double noise, uint64_t seed)
{
  struct lattice l = {.n_factors = n_factors, .cells = 1};
  struct gpnn_rng rng = seeded(seed);
  for (size_t a = 0; a < n_factors; a++) {
    l.n[a] = n[a];
    l.cells *= n[a];
    l.k[a] = lattice_matrix(n[a], a == 0 ? 0.7 : 1.3, a == 0 ? 1.7 : 1, seed + 100 * (a + 1));
  }
  l.cell = gpnn_alloc(l.cells, 1, sizeof *l.cell);
  l.noise = gpnn_alloc(l.cells, 1, sizeof *l.noise);
  assert_true(l.cell != NULL && l.noise != NULL);
  size_t sure = (size_t)gpnn_rng_below(&rng, l.cells);
  for (size_t i = 0; i < l.cells; i++) {
    if (gpnn_rng_uniform(&rng) < missing && i != sure) continue;
    l.noise[l.n_cells] = noise * (1 + gpnn_rng_uniform(&rng));
    l.cell[l.n_cells++] = (int64_t)i;
  }
  return l;
}

static inline void lattice_free(struct lattice *l)
{
  for (size_t a = 0; a < l->n_factors; a++) free(l->k[a]);
  free(l->cell);
  free(l->noise);
}

/* The covariance of cells a and b of the grid, without noise. */
static inline double lattice_covariance(const struct lattice *l, size_t a, size_t b)
{
  long double k = 1;
  for (size_t f = l->n_factors; f-- > 0;) {
    k *= l->k[f][a % l->n[f] * l->n[f] + b % l->n[f]];
    a /= l->n[f];
    b /= l->n[f];
  }
  return (double)k;
}

/* Where cell 'cell' of vector 'column' of 'columns' lies in a padded block. */
static inline size_t lattice_at(const struct lattice *l, size_t columns, size_t column, size_t cell)
{
  size_t inner = l->cells / l->n[0];
  return (cell / inner * columns + column) * inner + cell % inner;
}

/* Normal deviates at the observed cells, 0 at the others. */
static inline double *lattice_vectors(const struct lattice *l, size_t columns, uint64_t seed)
{
  double *x = gpnn_alloc(l->cells, columns, sizeof *x);
  struct gpnn_rng rng = seeded(seed);
  assert_non_null(x);
  for (size_t c = 0; c < columns; c++)
    for (size_t i = 0; i < l->n_cells; i++)
      x[lattice_at(l, columns, c, (size_t)l->cell[i])] = gpnn_rng_normal(&rng);
  return x;
}

static inline struct gpnn_grid_system *
lattice_system(const struct lattice *l, const struct gpnn_grid_system_options *options)
{
  struct gpnn_grid_system *system = NULL;
  assert_ok(gpnn_grid_system_from_matrices(&system, l->n_factors, l->n, (const double *const *)l->k,
                                           l->n_cells, l->cell, l->noise, options, &err));
  return system;
}

/* The solution by LAPACK, at the observed cells, padded. */
static inline double *lattice_solution(const struct lattice *l, size_t columns, const double *b)
{
  size_t n = l->n_cells;
  double jitter, *a = gpnn_alloc(n, n, sizeof *a), *z = gpnn_alloc(n, 1, sizeof *z);
  double *x = gpnn_alloc(l->cells, columns, sizeof *x);
  assert_true(a != NULL && z != NULL && x != NULL);
  for (size_t i = 0; i < n * n; i++)
    a[i] = lattice_covariance(l, (size_t)l->cell[i / n], (size_t)l->cell[i % n]) +
           (i / n == i % n ? l->noise[i / n] : 0);
  assert_ok(gpnn_cholesky_factor(n, a, NULL, 1, NULL, NULL, &jitter, &err));
  for (size_t c = 0; c < columns; c++) {
    for (size_t i = 0; i < n; i++) z[i] = b[lattice_at(l, columns, c, (size_t)l->cell[i])];
    gpnn_cholesky_solve(n, a, z);
    for (size_t i = 0; i < n; i++) x[lattice_at(l, columns, c, (size_t)l->cell[i])] = z[i];
  }
  free(a);
  free(z);
  return x;
}

static const struct gpnn_cg_options lattice_exactly = {
    .tolerance = 1e-11, .most_iterations = 5000, .threads = 2};

/* Solves with these options and compares with LAPACK; returns the iterations. */
static inline size_t lattice_check(const struct lattice *l, size_t columns,
                                   const struct gpnn_grid_system_options *options)
{
  struct gpnn_grid_system *system = lattice_system(l, options);
  struct gpnn_cg_report report;
  double *b = lattice_vectors(l, columns, 3), *x = gpnn_alloc(l->cells, columns, sizeof *x);
  double *expected = lattice_solution(l, columns, b);
  assert_non_null(x);
  assert_ok(gpnn_grid_system_solve(system, columns, b, x, &lattice_exactly, &report, &err));
  assert_true(report.converged);
  assert_true(report.residual <= 2e-11);
  for (size_t i = 0; i < l->cells * columns; i++) assert_near(x[i], expected[i], 1e-8);
  gpnn_grid_system_free(system);
  free(b);
  free(x);
  free(expected);
  return report.iterations;
}

#endif
