/*
 * A grid without holes, whose covariance has products of the factors' eigenvectors for eigenvectors
 * (gpnn-methods(7), equations 16.19 and 16.20).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "models/grid/posterior_private.h"

#define MEMORY_FOR "for the eigenvectors of a grid"

struct complete {
  double *vectors[GPNN_GRID_FACTORS]; /* n by n, row-major: eigenvectors are columns */
  double *rows[GPNN_GRID_FACTORS];    /* the transpose */
  double *values[GPNN_GRID_FACTORS];
  double *inverse; /* outer by inner: 1 / (product of eigenvalues + noise) */
};

static void complete_free(void *state)
{
  struct complete *c = state;
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) {
    free(c->vectors[a]);
    free(c->rows[a]);
    free(c->values[a]);
  }
  free(c->inverse);
  free(c);
}

static enum gpnn_status decompose(struct complete *c, const struct gpnn_grid_posterior *p, size_t a,
                                  struct gpnn_error *err)
{
  size_t n = p->dims[a];
  c->vectors[a] = gpnn_alloc(n, n, sizeof(double));
  c->rows[a] = gpnn_alloc(n, n, sizeof(double));
  c->values[a] = gpnn_alloc(n, 1, sizeof(double));
  if (c->vectors[a] == NULL || c->rows[a] == NULL || c->values[a] == NULL)
    return gpnn_fail_memory(err, MEMORY_FOR);
  memcpy(c->rows[a], gpnn_grid_system_factor(p->system, a), n * n * sizeof(double));
  if (LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)n, c->rows[a], (lapack_int)n,
                     c->values[a]) != 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "the eigenvectors of factor %s do not converge",
                     p->grid->factor[a].name);
  for (size_t i = 0; i < n; i++) {
    c->values[a][i] = fmax(c->values[a][i], 0);
    for (size_t j = 0; j < n; j++) c->vectors[a][i * n + j] = c->rows[a][j * n + i];
  }
  return GPNN_OK;
}

/* 1 / (eigenvalue + noise) for each product of eigenvalues. */
static enum gpnn_status invert(struct complete *c, const struct gpnn_grid_posterior *p,
                               struct gpnn_error *err)
{
  double noise = gpnn_grid_system_noise(p->system)[0];
  size_t level[GPNN_GRID_FACTORS];
  for (size_t i = 0; i < p->outer * p->inner; i++) {
    double value = 1;
    gpnn_grid_levels(p->grid, (int64_t)i, level);
    for (size_t a = 0; a < p->grid->n_factors; a++) value *= c->values[a][level[a]];
    c->inverse[i] = 1 / (value + noise);
    if (!isfinite(c->inverse[i]))
      return gpnn_fail(err, GPNN_ENUMERIC, "the covariance of the grid is not positive definite");
  }
  return GPNN_OK;
}

static enum gpnn_status complete_make(const struct gpnn_grid_posterior *p, void **state,
                                      struct gpnn_error *err)
{
  struct complete *c = gpnn_alloc(1, 1, sizeof *c);
  if (c == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  *c = (struct complete){0};
  *state = c;
  if (gpnn_blas_claim(1) == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  c->inverse = gpnn_alloc(p->outer, p->inner, sizeof *c->inverse);
  if (c->inverse == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < p->grid->n_factors && status == GPNN_OK; a++)
    status = decompose(c, p, a, err);
  return status == GPNN_OK ? invert(c, p, err) : status;
}

/* Multiplies 'x' along all axes by square matrices, back and forth between two blocks; where the
 * result is. */
static enum gpnn_status rotate(const struct gpnn_grid_posterior *p, size_t columns,
                               double *const *k, double **x, double **other, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < p->grid->n_factors && status == GPNN_OK; a++) {
    status = gpnn_grid_contract_axis(p->grid->n_factors, p->dims, columns, a, p->dims[a], k[a], *x,
                                     *other, p->options.system.threads, err);
    double *swapped = *x;
    *x = *other;
    *other = swapped;
  }
  return status;
}

static enum gpnn_status complete_solve(const struct gpnn_grid_posterior *p, double tolerance,
                                       size_t columns, const double *b, double *x,
                                       struct gpnn_cg_report *report, struct gpnn_error *err)
{
  const struct complete *c = p->engine;
  size_t cells = p->outer * p->inner;
  double *blocks = gpnn_alloc(cells * columns, 2, sizeof *blocks);
  (void)tolerance;
  (void)report; /* a direct solution has nothing to say */
  if (blocks == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  double *now = blocks, *other = blocks + cells * columns;
  memcpy(now, b, cells * columns * sizeof *b);
  enum gpnn_status status = rotate(p, columns, c->rows, &now, &other, err);
  if (status == GPNN_OK) {
    for (size_t i = 0; i < p->outer * columns; i++)
      for (size_t j = 0; j < p->inner; j++)
        now[i * p->inner + j] *= c->inverse[i / columns * p->inner + j];
    status = rotate(p, columns, c->vectors, &now, &other, err);
  }
  if (status == GPNN_OK) memcpy(x, now, cells * columns * sizeof *x);
  free(blocks);
  return status;
}

/* Rows that are multiplied together: always as many, so that what becomes of one does not depend on
 * the others. */
enum { GROUP = 32 };

/* The squared coordinates of the rows of factor 'a' in its eigenvectors. */
static enum gpnn_status square_rows(const struct gpnn_grid_posterior *p,
                                    const struct gpnn_grid_rows *rows, size_t a, double **square,
                                    struct gpnn_error *err)
{
  const struct complete *c = p->engine;
  size_t n = rows->n_rows[a], d = p->dims[a], padded = (n + GROUP - 1) / GROUP * GROUP;
  double *group = gpnn_alloc(GROUP, d, sizeof *group);
  *square = gpnn_alloc(padded, d, sizeof **square);
  enum gpnn_status status =
      group == NULL || *square == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : GPNN_OK;
  for (size_t first = 0; first < n && status == GPNN_OK; first += GROUP) {
    size_t count = n - first < GROUP ? n - first : GROUP;
    memset(group, 0, GROUP * d * sizeof *group);
    memcpy(group, rows->k[a] + first * d, count * d * sizeof *group);
    status = gpnn_grid_contract_axis(2, (size_t[]){GROUP, d}, 1, 1, d, c->rows[a], group,
                                     *square + first * d, p->options.system.threads, err);
  }
  for (size_t i = 0; status == GPNN_OK && i < n * d; i++) (*square)[i] *= (*square)[i];
  free(group);
  return status;
}

static enum gpnn_status complete_variance(const struct gpnn_grid_posterior *p,
                                          const struct gpnn_grid_rows *rows, double *variance,
                                          struct gpnn_error *err)
{
  const struct complete *c = p->engine;
  size_t f = p->grid->n_factors;
  double *square[GPNN_GRID_FACTORS] = {0};
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < f && status == GPNN_OK; a++)
    status = square_rows(p, rows, a, &square[a], err);
  if (status == GPNN_OK)
    status = gpnn_grid_evaluate(f, p->dims, square, rows->n, rows->number, 1, c->inverse,
                                p->options.system.threads, variance, err);
  for (size_t i = 0; status == GPNN_OK && i < rows->n; i++) {
    double own = 1;
    for (size_t a = 0; a < f; a++) own *= rows->own[a][rows->number[i * f + a]];
    variance[i] = own - variance[i];
  }
  for (size_t a = 0; a < f; a++) free(square[a]);
  return status;
}

static double complete_jitter(const void *state)
{
  (void)state;
  return 0;
}

const struct gpnn_grid_engine_ops gpnn_grid_complete_ops = {
    "complete",      true,         complete_make, complete_solve, complete_variance,
    complete_jitter, complete_free};
