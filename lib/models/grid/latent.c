/*
 * Any grid, by conjugate gradients (models/grid/system/system.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/grid/posterior_private.h"

#define MEMORY_FOR "for exact variances"

static enum gpnn_status latent_make(const struct gpnn_grid_posterior *posterior, void **state,
                                    struct gpnn_error *err)
{
  (void)posterior; /* whose system is all that is needed */
  (void)err;
  *state = NULL;
  return GPNN_OK;
}

static void latent_free(void *state)
{
  (void)state;
}

static double latent_jitter(const void *state)
{
  (void)state;
  return 0;
}

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
enum { COLUMNS = 16 };

/* Padded covariances of 'count' places with the observed cells. */
static enum gpnn_status fill(const struct gpnn_grid_posterior *p, const struct gpnn_grid_rows *rows,
                             size_t first, size_t count, double *k, struct gpnn_error *err)
{
  size_t f = p->grid->n_factors;
  double *inner = gpnn_alloc(p->inner, 1, sizeof *inner);
  if (inner == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
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
static void take(const struct gpnn_grid_posterior *p, const struct gpnn_grid_rows *rows,
                 size_t first, size_t count, const double *k, const double *x, const double *ax,
                 double *variance)
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
  enum gpnn_status status = fill(p, rows, first, count, k, err);
  for (size_t i = 0; i < size; i++) x[i] = 0;
  if (status == GPNN_OK) status = latent_solve(p, tolerance, count, k, x, &report, err);
  if (status == GPNN_OK && !report.converged && !p->options.accept)
    status = gpnn_grid_not_converged(tolerance, &report, err);
  if (status == GPNN_OK) status = gpnn_grid_system_multiply(p->system, count, x, ax, err);
  if (status == GPNN_OK) take(p, rows, first, count, k, x, ax, variance);
  return status;
}

static enum gpnn_status latent_variance(const struct gpnn_grid_posterior *p,
                                        const struct gpnn_grid_rows *rows, double *variance,
                                        struct gpnn_error *err)
{
  double *blocks = gpnn_alloc(p->outer * p->inner, (size_t)3 * COLUMNS, sizeof *blocks);
  if (blocks == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = GPNN_OK;
  for (size_t first = 0; first < rows->n && status == GPNN_OK; first += COLUMNS) {
    size_t count = rows->n - first < COLUMNS ? rows->n - first : COLUMNS;
    status = solve_some(p, rows, first, count, blocks, variance, err);
  }
  free(blocks);
  return status;
}

const struct gpnn_grid_engine_ops gpnn_grid_latent_ops = {
    "latent", false, latent_make, latent_solve, latent_variance, latent_jitter, latent_free};
