/*
 * Three engines that solve the equations of a grid (models/grid/posterior.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "linalg/factors/cholesky.h"
#include "linalg/factors/eigen.h"
#include "models/grid/posterior_private.h"

#define MEMORY_FOR_COMPLETE "for the eigenvectors of a grid"
#define MEMORY_FOR_DENSE "for the covariance matrix of all observed cells"
#define MEMORY_FOR_LATENT "for exact variances"

/* ---- complete ----------------------------------------------------------------------------- */

/* A grid without holes, whose covariance has products of the factors' eigenvectors for eigenvectors
 * (gpnn-methods-grid(7), equations 16.19 and 16.20). */

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
    return gpnn_fail_memory(err, MEMORY_FOR_COMPLETE);
  memcpy(c->rows[a], gpnn_grid_system_factor(p->system, a), n * n * sizeof(double));
  enum gpnn_status status = gpnn_eigen(n, c->rows[a], c->values[a], "a factor's covariance", err);
  if (status != GPNN_OK) return status;
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
  if (c == NULL) return gpnn_fail_memory(err, MEMORY_FOR_COMPLETE);
  *c = (struct complete){0};
  *state = c;
  if (gpnn_blas_claim(1) == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  c->inverse = gpnn_alloc(p->outer, p->inner, sizeof *c->inverse);
  if (c->inverse == NULL) return gpnn_fail_memory(err, MEMORY_FOR_COMPLETE);
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
  if (blocks == NULL) return gpnn_fail_memory(err, MEMORY_FOR_COMPLETE);
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
      group == NULL || *square == NULL ? gpnn_fail_memory(err, MEMORY_FOR_COMPLETE) : GPNN_OK;
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

const struct gpnn_grid_engine_ops gpnn_grid_complete_ops = {.name = "complete",
                                                            .exact_variance = true,
                                                            .make = complete_make,
                                                            .solve = complete_solve,
                                                            .variance = complete_variance,
                                                            .free = complete_free};

/* ---- dense -------------------------------------------------------------------------------- */

/* The reference: A written out and factored (gpnn-methods-grid(7), equation 16.18). */

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
static void fill_matrix(void *context, double *a)
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
  if (d == NULL) return gpnn_fail_memory(err, MEMORY_FOR_DENSE);
  *d = (struct dense){.posterior = p, .n = n};
  *state = d;
  d->level = gpnn_alloc(n, f, sizeof *d->level);
  d->factor = gpnn_alloc(n, n, sizeof *d->factor);
  if (d->level == NULL || d->factor == NULL) return gpnn_fail_memory(err, MEMORY_FOR_DENSE);
  for (size_t i = 0; i < n; i++) {
    gpnn_grid_levels(p->grid, p->grid->cell[i], level);
    for (size_t b = 0; b < f; b++) d->level[i * f + b] = (uint32_t)level[b];
  }
  fill_matrix(d, d->factor);
  return gpnn_cholesky_factor(n, d->factor, NULL, p->parameters->covariance.kernelscale,
                              fill_matrix, d, &d->jitter, err);
}

/* Where cell 'i' of column 'c' lies in a padded_at block. */
static size_t padded_at(const struct gpnn_grid_posterior *p, size_t columns, size_t c, size_t i)
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
  if (z == NULL) return gpnn_fail_memory(err, MEMORY_FOR_DENSE);
  for (size_t c = 0; c < columns; c++)
    for (size_t i = 0; i < d->n; i++) z[c * d->n + i] = b[padded_at(p, columns, c, i)];
  gpnn_cholesky_forward(d->n, d->factor, columns, z);
  gpnn_cholesky_backward(d->n, d->factor, columns, z);
  memset(x, 0, p->outer * p->inner * columns * sizeof *x);
  for (size_t c = 0; c < columns; c++)
    for (size_t i = 0; i < d->n; i++) x[padded_at(p, columns, c, i)] = z[c * d->n + i];
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
enum { DENSE_COLUMNS = 64 };

static enum gpnn_status dense_variance(const struct gpnn_grid_posterior *p,
                                       const struct gpnn_grid_rows *rows, double *variance,
                                       struct gpnn_error *err)
{
  const struct dense *d = p->engine;
  size_t f = p->grid->n_factors;
  double *k = gpnn_alloc(d->n, DENSE_COLUMNS, sizeof *k);
  if (k == NULL) return gpnn_fail_memory(err, MEMORY_FOR_DENSE);
  for (size_t first = 0; first < rows->n; first += DENSE_COLUMNS) {
    size_t count = rows->n - first < DENSE_COLUMNS ? rows->n - first : DENSE_COLUMNS;
    for (size_t c = 0; c < count; c++) fill_row(d, rows, first + c, k + c * d->n);
    memset(k + count * d->n, 0, (DENSE_COLUMNS - count) * d->n * sizeof *k);
    gpnn_cholesky_forward(d->n, d->factor, DENSE_COLUMNS, k);
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

const struct gpnn_grid_engine_ops gpnn_grid_dense_ops = {.name = "dense",
                                                         .exact_variance = true,
                                                         .make = dense_make,
                                                         .solve = dense_solve,
                                                         .variance = dense_variance,
                                                         .jitter = dense_jitter,
                                                         .free = dense_free};

/* ---- latent: conjugate gradients ---------------------------------------------------------- */

/* Whose progress is told. */
struct told {
  const struct gpnn_grid_posterior *posterior;
};

static void tell(void *context, size_t iteration, double residual)
{
  const struct gpnn_grid_posterior *p = ((const struct told *)context)->posterior;
  const struct gpnn_grid_posterior_options *options = &p->options;
  size_t columns = 1 + (p->has_draws ? options->draws : 0);
  if (p->solved >= columns) columns = 0; /* exact variances: whoever asks knows how many */
  options->progress(options->progress_context, p->solved, columns, iteration, residual);
}

static enum gpnn_status latent_solve(const struct gpnn_grid_posterior *p, double tolerance,
                                     size_t columns, const double *b, double *x,
                                     struct gpnn_cg_report *report, struct gpnn_error *err)
{
  const struct gpnn_grid_posterior_options *options = &p->options;
  struct gpnn_cg_options cg = {.tolerance = tolerance,
                               .most_iterations = options->most_iterations,
                               .threads = options->system.threads};
  struct told told = {p};
  if (options->progress != NULL) {
    cg.progress = tell;
    cg.progress_context = &told;
  }
  return gpnn_grid_system_solve(p->system, columns, b, x, &cg, report, err);
}

/* ---- exact variances ---------------------------------------------------------------------- */

/* Places in one batch: enough for products of matrices with matrices. */
enum { LATENT_COLUMNS = 16 };

/* Padded covariances of 'count' places with the observed cells. */
static enum gpnn_status fill_block(const struct gpnn_grid_posterior *p,
                                   const struct gpnn_grid_rows *rows, size_t first, size_t count,
                                   double *k, struct gpnn_error *err)
{
  size_t f = p->grid->n_factors;
  double *inner = gpnn_alloc(p->inner, 1, sizeof *inner);
  if (inner == NULL) return gpnn_fail_memory(err, MEMORY_FOR_LATENT);
  memset(k, 0, p->outer * p->inner * count * sizeof *k);
  for (size_t c = 0; c < count; c++) {
    const uint32_t *number = rows->number + (first + c) * f;
    const double *outer = rows->k[0] + number[0] * p->outer;
    gpnn_grid_inner_row(f, rows->k, p->dims, number, inner);
    for (size_t o = 0; o < p->grid->n_cells; o++) {
      size_t i = (size_t)p->grid->cell[o] / p->inner, j = (size_t)p->grid->cell[o] % p->inner;
      k[(i * count + c) * p->inner + j] = outer[i] * inner[j];
    }
  }
  free(inner);
  return GPNN_OK;
}

/* With x near A^-1 k and r = k - A x, x'(k + r) is never above k' A^-1 k (equation 16.27). */
static void take_variances(const struct gpnn_grid_posterior *p, const struct gpnn_grid_rows *rows,
                           size_t first, size_t count, const double *k, const double *x,
                           const double *ax, double *variance)
{
  size_t f = p->grid->n_factors;
  for (size_t c = 0; c < count; c++) {
    double own = 1, known = 0;
    for (size_t a = 0; a < f; a++) own *= rows->own[a][rows->number[(first + c) * f + a]];
    for (size_t i = 0; i < p->outer; i++) {
      size_t at = (i * count + c) * p->inner;
      for (size_t j = at; j < at + p->inner; j++) known += x[j] * (2 * k[j] - ax[j]);
    }
    variance[first + c] = own - known;
  }
}

static enum gpnn_status solve_some(const struct gpnn_grid_posterior *p,
                                   const struct gpnn_grid_rows *rows, size_t first, size_t count,
                                   double *blocks, double *variance, struct gpnn_error *err)
{
  size_t size = p->outer * p->inner * count;
  double *k = blocks, *x = k + size, *ax = x + size;
  struct gpnn_cg_report report;
  const double tolerance = gpnn_grid_exact_tolerance(p);
  enum gpnn_status status = fill_block(p, rows, first, count, k, err);
  for (size_t i = 0; i < size; i++) x[i] = 0;
  if (status == GPNN_OK) status = latent_solve(p, tolerance, count, k, x, &report, err);
  if (status == GPNN_OK && !report.converged && !p->options.accept)
    status = gpnn_grid_not_converged(tolerance, &report, err);
  if (status == GPNN_OK) status = gpnn_grid_system_multiply(p->system, count, x, ax, err);
  if (status == GPNN_OK) take_variances(p, rows, first, count, k, x, ax, variance);
  return status;
}

static enum gpnn_status latent_variance(const struct gpnn_grid_posterior *p,
                                        const struct gpnn_grid_rows *rows, double *variance,
                                        struct gpnn_error *err)
{
  double *blocks = gpnn_alloc(p->outer * p->inner, (size_t)3 * LATENT_COLUMNS, sizeof *blocks);
  if (blocks == NULL) return gpnn_fail_memory(err, MEMORY_FOR_LATENT);
  enum gpnn_status status = GPNN_OK;
  for (size_t first = 0; first < rows->n && status == GPNN_OK; first += LATENT_COLUMNS) {
    size_t count = rows->n - first < LATENT_COLUMNS ? rows->n - first : LATENT_COLUMNS;
    status = solve_some(p, rows, first, count, blocks, variance, err);
  }
  free(blocks);
  return status;
}

const struct gpnn_grid_engine_ops gpnn_grid_latent_ops = {
    .name = "latent", .solve = latent_solve, .variance = latent_variance};
