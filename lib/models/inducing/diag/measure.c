#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/cg.h"
#include "linalg/lanczos.h"
#include "models/inducing/diag/diag_private.h"
#include "models/inducing/diag/gradient.h"

static const double log_2pi = 1.8378770664093454836;

/* B times vectors, one after another; diag->inverse has B. */
static enum gpnn_status multiply(void *context, size_t columns, const double *from, double *to,
                                 struct gpnn_error *err)
{
  const struct gpnn_diag *diag = context;
  (void)err;
  gpnn_diag_multiply(diag, columns, from, diag->inverse, to);
  return GPNN_OK;
}

/* log|B|, and the trace of Sigma B^-1. */
static enum gpnn_status measure_matrix(struct gpnn_diag *diag, const double *point,
                                       const struct gpnn_diag_probes *probes, double *logdet,
                                       double *trace, struct gpnn_error *err)
{
  const struct gpnn_diag_problem *p = &diag->problem;
  const struct gpnn_cg_matrix matrix = {1, p->m, multiply, NULL, diag};
  const struct gpnn_cg_options options = {
      .tolerance = 1e-4, .most_iterations = 200, .threads = p->threads};
  struct gpnn_lanczos_estimate estimate = {0};
  struct gpnn_cg_steps steps = {0};
  struct gpnn_cg_report report;
  double *x = gpnn_alloc(probes->n, p->m, sizeof *x);
  if (x == NULL) return gpnn_fail_memory(err, "for a log determinant");
  enum gpnn_status status =
      gpnn_cg_solve(&matrix, probes->n, probes->r, x, &options, &steps, &report, err);
  if (status == GPNN_OK) status = gpnn_lanczos_logdet(&steps, 0, probes->n, p->m, &estimate, err);
  *logdet = estimate.value;
  *trace = 0;
  for (size_t i = 0; i < probes->n * p->m; i++)
    *trace += exp(point[gpnn_diag_rho(p) + i % p->m]) * probes->r[i] * x[i] / (double)probes->n;
  gpnn_cg_steps_release(&steps);
  free(x);
  return status;
}

/* Covariances of the batch's rows with the inducing inputs; context of a step is the pass, whose
 * result they are. */
static void keep_tile(void *context, size_t thread, size_t piece)
{
  const struct gpnn_diag_pass *pass = context;
  struct gpnn_diag_piece b = gpnn_diag_begin(pass, thread, piece, false);
  size_t m = pass->diag->problem.m;
  memcpy(pass->kept + b.first * m, b.tile->k, b.n * m * sizeof *pass->kept);
}

/* What the rows add, from their covariances 'k' and B^-1 k in 'x'. */
static double sum_rows(const struct gpnn_diag_pass *pass, const double *k, const double *x)
{
  const struct gpnn_diag_problem *p = &pass->diag->problem;
  double sum = 0, scale = pass->batch->scale;
  int m = (int)p->m;
  for (size_t i = 0; i < pass->batch->n; i++) {
    size_t row = gpnn_diag_row(pass, i);
    double weight = gpnn_diag_weight(pass, row);
    double e = p->y[row] - cblas_ddot(m, k + i * p->m, 1, pass->point, 1);
    double variance =
        pass->diag->kernel.kernelscale - cblas_ddot(m, k + i * p->m, 1, x + i * p->m, 1);
    sum += (scale * (log(weight / scale) - log_2pi) - weight * (e * e + variance)) / 2;
  }
  return sum;
}

static enum gpnn_status measure_rows(struct gpnn_diag_pass *pass,
                                     const struct gpnn_diag_solver *solver, double *sum,
                                     struct gpnn_error *err)
{
  const struct gpnn_diag_problem *p = &pass->diag->problem;
  struct gpnn_diag_solver exact = *solver;
  struct gpnn_diag_solutions solutions = {0};
  double *k = gpnn_alloc(pass->batch->n, 2 * p->m, sizeof *k);
  if (k == NULL) return gpnn_fail_memory(err, "for a bound");
  double *x = k + pass->batch->n * p->m;
  exact.truncation = GPNN_TRUNCATION_NONE;
  pass->kept = k;
  gpnn_diag_pass_over(pass, pass->batch->n, keep_tile, NULL);
  enum gpnn_status status = gpnn_diag_solve(p->m, pass->diag->inverse, pass->batch->n, k, x, &exact,
                                            0, p->threads, &solutions, err);
  if (status == GPNN_OK) *sum = sum_rows(pass, k, x);
  free(k);
  return status;
}

enum gpnn_status gpnn_diag_measure(struct gpnn_diag *diag, const double *point,
                                   const struct gpnn_diag_batch *batch,
                                   const struct gpnn_diag_probes *probes,
                                   const struct gpnn_diag_solver *solver, double *bound,
                                   struct gpnn_error *err)
{
  const struct gpnn_diag_problem *p = &diag->problem;
  const double *rho = point + gpnn_diag_rho(p);
  struct gpnn_diag_pass pass = {.diag = diag,
                                .batch = batch,
                                .points = {batch->n, p->x, batch->row},
                                .point = point,
                                .partial = diag->partial};
  double rows = 0, logdet = 0, trace = 0;
  gpnn_diag_set(diag, point);
  gpnn_diag_fill(diag, point, diag->inverse);
  enum gpnn_status status = measure_rows(&pass, solver, &rows, err);
  if (status == GPNN_OK) status = measure_matrix(diag, point, probes, &logdet, &trace, err);
  if (status != GPNN_OK) return status;
  gpnn_diag_multiply(diag, 1, point, diag->inverse, diag->kuu_mu);
  double prior = (double)p->m - trace - logdet;
  for (size_t j = 0; j < p->m; j++)
    prior += rho[j] - point[j] * (diag->kuu_mu[j] - exp(rho[j]) * point[j]);
  *bound = rows + prior / 2;
  return GPNN_OK;
}
