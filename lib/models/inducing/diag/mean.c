/*
 * With Kuu = L L' and V = L^-1 Kuf W^1/2, the equations (Kuu + Kuf W Kfu) mu = Kuf W y become
 * mu = L'^-1 (I + V V')^-1 V W^1/2 y, whose matrix is well-conditioned however close inducing
 * inputs are to each other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/iterative/cg.h"
#include "models/inducing/diag/diag_private.h"

/* Steps of conjugate gradients. */
enum { MOST_STEPS = 1000 };

/* The rows whose equations are solved directly. */
struct sample {
  struct gpnn_diag_pass pass;
  struct gpnn_diag_batch batch;
  uint64_t *row;
  double *sum; /* of the partial sums */
};

/* diag->inverse has L and diag->middle the factor of I + V V'. */
static void apply_inverse(const struct gpnn_diag *diag, double *b)
{
  size_t m = diag->problem.m;
  gpnn_cholesky_forward(m, diag->inverse, 1, b);
  gpnn_cholesky_solve(m, diag->middle, b);
  gpnn_cholesky_backward(m, diag->inverse, 1, b);
}

/* V' of a tile, and what of Kuf W y it has. */
static void whiten_tile(void *context, size_t thread, size_t piece)
{
  const struct gpnn_diag_pass *pass = context;
  struct gpnn_diag *diag = pass->diag;
  struct gpnn_diag_piece b = gpnn_diag_begin(pass, thread, piece, false);
  size_t m = diag->problem.m;
  double *kept = diag->rows + piece * GPNN_CROSS_TILE * m;
  for (size_t i = 0; i < b.n; i++) {
    size_t row = gpnn_diag_row(pass, b.first + i);
    double weight = gpnn_diag_weight(pass, row);
    const double *k = b.tile->k + i * m;
    cblas_daxpy((int)m, weight * diag->problem.y[row], k, 1, b.partial, 1);
    for (size_t j = 0; j < m; j++) kept[i * m + j] = sqrt(weight) * k[j];
  }
  gpnn_cholesky_forward(m, diag->inverse, b.n, kept);
}

static void refill_kuu(void *context, double *k)
{
  gpnn_diag_fill(context, NULL, k);
}

/* I + V V', and Kuf W y in the sum. */
static void fill_middle(void *context, double *middle)
{
  struct sample *s = context;
  size_t m = s->pass.diag->problem.m;
  memset(middle, 0, m * m * sizeof *middle);
  for (size_t i = 0; i < m; i++) middle[i * m + i] = 1;
  memset(s->sum, 0, m * sizeof *s->sum);
  gpnn_diag_pass_over(&s->pass, s->batch.n, whiten_tile, s->sum);
  gpnn_diag_symmetrise(s->pass.diag);
}

static enum gpnn_status factor(struct sample *s, struct gpnn_error *err)
{
  struct gpnn_diag *diag = s->pass.diag;
  size_t m = diag->problem.m;
  gpnn_diag_fill(diag, NULL, diag->inverse);
  enum gpnn_status status = gpnn_cholesky_factor(m, diag->inverse, NULL, diag->kernel.kernelscale,
                                                 refill_kuu, diag, NULL, err);
  if (status == GPNN_OK) {
    fill_middle(s, diag->middle);
    status = gpnn_cholesky_factor(m, diag->middle, NULL, 1, fill_middle, s, NULL, err);
  }
  return status == GPNN_OK ? GPNN_OK : gpnn_prefix(err, status, "inducing points");
}

/* ---- all rows, by conjugate gradients ----------------------------------------------------- */

/* Kuf W times Kfu v, or times y without a vector. */
static void multiply_tile(void *context, size_t thread, size_t piece)
{
  const struct gpnn_diag_pass *pass = context;
  struct gpnn_diag *diag = pass->diag;
  struct gpnn_diag_piece b = gpnn_diag_begin(pass, thread, piece, false);
  size_t m = diag->problem.m;
  for (size_t i = 0; i < b.n; i++) {
    const double *k = b.tile->k + i * m;
    double value = pass->vector == NULL ? diag->problem.y[b.first + i]
                                        : cblas_ddot((int)m, k, 1, pass->vector, 1);
    cblas_daxpy((int)m, value * gpnn_diag_weight(pass, b.first + i), k, 1, b.partial, 1);
  }
}

/* Kuu v, whose numbers each belong to one tile. */
static void multiply_kuu(void *context, size_t thread, size_t piece)
{
  const struct gpnn_diag_pass *pass = context;
  struct gpnn_diag_piece b = gpnn_diag_begin(pass, thread, piece, false);
  size_t m = pass->diag->problem.m;
  for (size_t i = 0; i < b.n; i++)
    b.partial[b.first + i] = cblas_ddot((int)m, b.tile->k + i * m, 1, pass->vector, 1);
}

static enum gpnn_status multiply(void *context, size_t columns, const double *x, double *y,
                                 struct gpnn_error *err)
{
  struct sample *s = context;
  const struct gpnn_diag_problem *p = &s->pass.diag->problem;
  (void)columns; /* one */
  (void)err;
  struct gpnn_diag_pass pass = s->pass;
  struct gpnn_diag_batch all = gpnn_diag_all(p);
  pass.batch = &all;
  pass.vector = x;
  pass.keeps_rows = false;
  memset(s->sum, 0, p->m * sizeof *s->sum);
  pass.points = (struct gpnn_cross_points){p->n, p->x, NULL};
  gpnn_diag_pass_over(&pass, p->n, multiply_tile, s->sum);
  if (x != NULL) {
    pass.points = (struct gpnn_cross_points){p->m, p->z, NULL};
    gpnn_diag_pass_over(&pass, p->m, multiply_kuu, s->sum);
  }
  memcpy(y, s->sum, p->m * sizeof *y);
  return GPNN_OK;
}

static enum gpnn_status precondition(void *context, size_t columns, const double *x, double *y,
                                     struct gpnn_error *err)
{
  const struct sample *s = context;
  (void)columns;
  (void)err;
  memcpy(y, x, s->pass.diag->problem.m * sizeof *y);
  apply_inverse(s->pass.diag, y);
  return GPNN_OK;
}

/* Improves 'mu', the solution for the sample. */
static enum gpnn_status solve_all(struct sample *s, double tolerance, double *mu, double *residual,
                                  struct gpnn_error *err)
{
  const struct gpnn_diag_problem *p = &s->pass.diag->problem;
  struct gpnn_cg_matrix matrix = {1, p->m, multiply, precondition, s};
  struct gpnn_cg_options options = {
      .tolerance = tolerance, .most_iterations = MOST_STEPS, .threads = p->threads};
  struct gpnn_cg_report report = {0};
  double *b = gpnn_alloc(p->m, 1, sizeof *b);
  if (b == NULL) return gpnn_fail_memory(err, "for a mean");
  enum gpnn_status status = multiply(s, 1, NULL, b, err);
  if (status == GPNN_OK) status = gpnn_cg_solve(&matrix, 1, b, mu, &options, NULL, &report, err);
  if (status == GPNN_OK && residual != NULL) *residual = report.residual;
  free(b);
  return status;
}

/* ---- the mean ----------------------------------------------------------------------------- */

static enum gpnn_status solve(struct sample *s, double tolerance, double *mu, double *residual,
                              struct gpnn_error *err)
{
  struct gpnn_diag *diag = s->pass.diag;
  size_t n = diag->problem.n;
  for (size_t i = 0; i < s->batch.n; i++)
    s->row[i] = (uint64_t)((double)i * (double)n / (double)s->batch.n);
  enum gpnn_status status = factor(s, err);
  if (status != GPNN_OK) return status;
  memcpy(mu, s->sum, diag->problem.m * sizeof *mu);
  apply_inverse(diag, mu);
  if (residual != NULL) *residual = 0;
  return s->batch.n == n ? GPNN_OK : solve_all(s, tolerance, mu, residual, err);
}

enum gpnn_status gpnn_diag_optimal_mean(struct gpnn_diag *diag, double *point, size_t most_rows,
                                        double tolerance, double *residual, struct gpnn_error *err)
{
  const struct gpnn_diag_problem *p = &diag->problem;
  size_t n = p->n < most_rows ? p->n : most_rows;
  struct sample s = {.row = gpnn_alloc(n, 1, sizeof *s.row)};
  s.sum = gpnn_alloc(p->m, 1, sizeof *s.sum);
  enum gpnn_status status = GPNN_OK;
  if (s.row == NULL || s.sum == NULL) {
    status = gpnn_fail_memory(err, "for a mean");
    goto out;
  }
  s.batch = (struct gpnn_diag_batch){n, s.row, n == 0 ? 1 : (double)p->n / (double)n};
  s.pass = (struct gpnn_diag_pass){.diag = diag,
                                   .size = p->m,
                                   .partial = diag->partial,
                                   .batch = &s.batch,
                                   .points = {n, p->x, s.row},
                                   .point = point,
                                   .keeps_rows = true};
  gpnn_diag_set(diag, point);
  status = gpnn_diag_reserve(diag, err);
  if (status == GPNN_OK) status = solve(&s, tolerance, point, residual, err);
out:
  free(s.row);
  free(s.sum);
  return status;
}
