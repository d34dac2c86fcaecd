/*
 * The reference: A written out and factored (gpnn-methods(7), equation 16.18).
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/cholesky.h"
#include "models/grid/posterior_private.h"

#define MEMORY_FOR "for the covariance matrix of all observed cells"

struct dense {
  const struct gpnn_grid_posterior *posterior;
  size_t n;
  uint32_t *level; /* n by n_factors */
  double *factor;  /* n by n, column-major */
  double jitter;
};

static void dense_free(void *state)
{
  struct dense *d = state;
  free(d->level);
  free(d->factor);
  free(d);
}

/* The lower triangle of A. */
static void fill(void *context, double *a)
{
  const struct dense *d = context;
  const struct gpnn_grid_posterior *p = d->posterior;
  const double *noise = gpnn_grid_system_noise(p->system);
  size_t f = p->grid->n_factors;
  for (size_t j = 0; j < d->n; j++) {
    for (size_t i = j; i < d->n; i++) {
      double k = 1;
      for (size_t b = 0; b < f; b++)
        k *= gpnn_grid_system_factor(p->system,
                                     b)[d->level[i * f + b] * p->dims[b] + d->level[j * f + b]];
      a[j * d->n + i] = k;
    }
    a[j * d->n + j] += noise[p->grid->cell[j]];
  }
}

/* Matrices that take longer than the other engines ever do. */
enum { MOST_CELLS = 20000 };

static enum gpnn_status dense_make(const struct gpnn_grid_posterior *p, void **state,
                                   struct gpnn_error *err)
{
  size_t n = p->grid->n_cells, f = p->grid->n_factors, level[GPNN_GRID_FACTORS];
  if (n > MOST_CELLS)
    return gpnn_fail(
        err, GPNN_EINVAL,
        "the engine dense is for at most %d observed cells, and the grid has %zu, whose "
        "matrix would take %.3g GB: use latent",
        MOST_CELLS, n, 8e-9 * (double)n * (double)n);
  struct dense *d = gpnn_alloc(1, 1, sizeof *d);
  if (d == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  *d = (struct dense){.posterior = p, .n = n};
  *state = d;
  d->level = gpnn_alloc(n, f, sizeof *d->level);
  d->factor = gpnn_alloc(n, n, sizeof *d->factor);
  if (d->level == NULL || d->factor == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t i = 0; i < n; i++) {
    gpnn_grid_levels(p->grid, p->grid->cell[i], level);
    for (size_t b = 0; b < f; b++) d->level[i * f + b] = (uint32_t)level[b];
  }
  fill(d, d->factor);
  return gpnn_cholesky_factor(n, d->factor, NULL, p->parameters->covariance.kernelscale, fill, d,
                              &d->jitter, err);
}

/* Where cell 'i' of column 'c' lies in a padded block. */
static size_t padded(const struct gpnn_grid_posterior *p, size_t columns, size_t c, size_t i)
{
  size_t cell = (size_t)p->grid->cell[i];
  return (cell / p->inner * columns + c) * p->inner + cell % p->inner;
}

static enum gpnn_status dense_solve(const struct gpnn_grid_posterior *p, double tolerance,
                                    size_t columns, const double *b, double *x,
                                    struct gpnn_cg_report *report, struct gpnn_error *err)
{
  const struct dense *d = p->engine;
  double *z = gpnn_alloc(d->n, columns, sizeof *z);
  (void)tolerance;
  (void)report; /* a direct solution has nothing to say */
  if (z == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t c = 0; c < columns; c++)
    for (size_t i = 0; i < d->n; i++) z[c * d->n + i] = b[padded(p, columns, c, i)];
  gpnn_cholesky_forward(d->n, d->factor, columns, z);
  gpnn_cholesky_backward(d->n, d->factor, columns, z);
  memset(x, 0, p->outer * p->inner * columns * sizeof *x);
  for (size_t c = 0; c < columns; c++)
    for (size_t i = 0; i < d->n; i++) x[padded(p, columns, c, i)] = z[c * d->n + i];
  free(z);
  return GPNN_OK;
}

/* The covariances of a place with the observed cells. */
static void fill_row(const struct dense *d, const struct gpnn_grid_rows *rows, size_t i, double *k)
{
  const struct gpnn_grid_posterior *p = d->posterior;
  size_t f = p->grid->n_factors;
  const uint32_t *number = rows->number + i * f;
  for (size_t j = 0; j < d->n; j++) {
    k[j] = 1;
    for (size_t b = 0; b < f; b++) k[j] *= rows->k[b][number[b] * p->dims[b] + d->level[j * f + b]];
  }
}

/* Places that are solved for together: always as many, so that what becomes of one does not depend
 * on the others. */
enum { COLUMNS = 64 };

static enum gpnn_status dense_variance(const struct gpnn_grid_posterior *p,
                                       const struct gpnn_grid_rows *rows, double *variance,
                                       struct gpnn_error *err)
{
  const struct dense *d = p->engine;
  size_t f = p->grid->n_factors;
  double *k = gpnn_alloc(d->n, COLUMNS, sizeof *k);
  if (k == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t first = 0; first < rows->n; first += COLUMNS) {
    size_t count = rows->n - first < COLUMNS ? rows->n - first : COLUMNS;
    for (size_t c = 0; c < count; c++) fill_row(d, rows, first + c, k + c * d->n);
    memset(k + count * d->n, 0, (COLUMNS - count) * d->n * sizeof *k);
    gpnn_cholesky_forward(d->n, d->factor, COLUMNS, k);
    for (size_t c = 0; c < count; c++) {
      double *v = &variance[first + c];
      *v = 1;
      for (size_t b = 0; b < f; b++) *v *= rows->own[b][rows->number[(first + c) * f + b]];
      for (size_t j = 0; j < d->n; j++) *v -= k[c * d->n + j] * k[c * d->n + j];
    }
  }
  free(k);
  return GPNN_OK;
}

static double dense_jitter(const void *state)
{
  return ((const struct dense *)state)->jitter;
}

const struct gpnn_grid_engine_ops gpnn_grid_dense_ops = {
    "dense", true, dense_make, dense_solve, dense_variance, dense_jitter, dense_free};
