#include "models/inducing/diag/diag.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/factors/triangular.h"
#include "linalg/iterative/cg.h"
#include "linalg/iterative/lanczos.h"
#include "models/inducing/diag/diag_private.h"
#include "stats/distributions/normal.h"

/* For the policy of jitter: B again. */
struct refilling {
  struct gpnn_diag *diag;
  const double *point;
};

static void refill(void *context, double *k)
{
  const struct refilling *r = context;
  gpnn_diag_fill(r->diag, r->point, k);
}

enum gpnn_status gpnn_diag_invert(struct gpnn_diag *diag, const double *point, double *logdet,
                                  struct gpnn_error *err)
{
  const struct gpnn_diag_problem *p = &diag->problem;
  struct refilling r = {diag, point};
  gpnn_diag_fill(diag, point, diag->inverse);
  cblas_dsymv(CblasColMajor, CblasLower, (int)p->m, 1, diag->inverse, (int)p->m, point, 1, 0,
              diag->kuu_mu, 1);
  for (size_t j = 0; j < p->m; j++) diag->kuu_mu[j] -= exp(point[gpnn_diag_rho(p) + j]) * point[j];
  enum gpnn_status status = gpnn_cholesky_factor(p->m, diag->inverse, NULL,
                                                 diag->kernel.kernelscale, refill, &r, NULL, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "inducing points");
  *logdet = gpnn_cholesky_logdet(p->m, diag->inverse);
  gpnn_cholesky_invert(p->m, diag->inverse, NULL);
  gpnn_triangular_mirror(p->m, diag->inverse);
  return GPNN_OK;
}

/* ---- B^-1 N B^-1, from rows times B^-1 ---------------------------------------------------- */

/* B^-1 Kuu B^-1 = B^-1 - B^-1 Sigma B^-1. */
static void begin_middle(struct gpnn_diag *diag, const double *point)
{
  size_t m = diag->problem.m;
  const double *rho = point + gpnn_diag_rho(&diag->problem);
  memcpy(diag->middle, diag->inverse, m * m * sizeof *diag->middle);
  for (size_t first = 0; first < m; first += GPNN_DIAG_BLOCK) {
    size_t n = m - first < GPNN_DIAG_BLOCK ? m - first : GPNN_DIAG_BLOCK;
    for (size_t i = 0; i < n; i++) {
      double root = exp(rho[first + i] / 2);
      for (size_t j = 0; j < m; j++)
        diag->rows[i * m + j] = root * diag->inverse[(first + i) * m + j];
    }
    gpnn_diag_add_product(diag, n, -1);
  }
}

/* ---- rows --------------------------------------------------------------------------------- */

/* A row's share of the bound and of its derivatives: its adjoint, and 'kept' for
 * gpnn_diag_add_product(); 'solved' is B^-1 k. */
static void add_row(const struct gpnn_diag_pass *pass, size_t i, const double *k,
                    const double *solved, double *adjoint, double *kept, double *partial)
{
  const struct gpnn_diag_problem *p = &pass->diag->problem;
  size_t row = gpnn_diag_row(pass, i);
  double weight = gpnn_diag_weight(pass, row), scale = pass->batch->scale;
  double noise = exp(pass->point[gpnn_diag_noise(p)]), kernelscale = pass->diag->kernel.kernelscale;
  double e = p->y[row] - cblas_ddot((int)p->m, k, 1, pass->point, 1);
  double squares = e * e + kernelscale - cblas_ddot((int)p->m, k, 1, solved, 1);
  double *logs = partial + p->m;
  logs[p->n_lengthscales + 2] +=
      (scale * (log(weight / scale) - GPNN_LOG_TWO_PI) - weight * squares) / 2;
  if (!pass->keeps_rows) return;
  logs[p->n_lengthscales] -= weight * kernelscale / 2;
  logs[p->n_lengthscales + 1] += weight * noise * (weight / scale * squares - 1) / 2;
  for (size_t j = 0; j < p->m; j++) {
    partial[j] += weight * e * k[j];
    adjoint[j] = weight * (e * pass->point[j] + solved[j]);
    kept[j] = sqrt(weight) * solved[j];
  }
}

static void take_tile(void *context, size_t thread, size_t piece)
{
  const struct gpnn_diag_pass *pass = context;
  struct gpnn_diag *diag = pass->diag;
  struct gpnn_diag_piece b = gpnn_diag_begin(pass, thread, piece, pass->keeps_rows);
  size_t m = diag->problem.m;
  const struct gpnn_cross_tile *tile = b.tile;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)b.n, (int)m, (int)m, 1, tile->k,
              (int)m, diag->inverse, (int)m, 0, tile->product, (int)m);
  for (size_t i = 0; i < b.n; i++)
    add_row(pass, b.first + i, tile->k + i * m, tile->product + i * m, tile->adjoint + i * m,
            diag->rows + (piece * GPNN_CROSS_TILE + i) * m, b.partial);
  if (!pass->keeps_rows) return;
  b.partial[m + diag->problem.n_lengthscales] +=
      gpnn_cross_contract(&diag->kernel, tile, b.n, b.partial + m);
}

/* ---- the bound ---------------------------------------------------------------------------- */

/* What of the bound does not depend on rows. */
static double prior_terms(const struct gpnn_diag *diag, const double *point, double logdet)
{
  const struct gpnn_diag_problem *p = &diag->problem;
  const double *rho = point + gpnn_diag_rho(p);
  double sum = (double)p->m - logdet;
  for (size_t j = 0; j < p->m; j++)
    sum += rho[j] - exp(rho[j]) * diag->inverse[j * p->m + j] - point[j] * diag->kuu_mu[j];
  return sum / 2;
}

/* The adjoint of Kuu is -(B^-1 N B^-1 + mu mu') / 2. */
static void contract_kuu(void *context, size_t thread, size_t piece)
{
  const struct gpnn_diag_pass *pass = context;
  struct gpnn_diag *diag = pass->diag;
  struct gpnn_diag_piece b = gpnn_diag_begin(pass, thread, piece, true);
  size_t m = diag->problem.m;
  for (size_t i = 0; i < b.n; i++)
    for (size_t j = 0; j < m; j++)
      b.tile->adjoint[i * m + j] =
          -(diag->middle[(b.first + i) * m + j] + pass->point[b.first + i] * pass->point[j]) / 2;
  b.partial[m + diag->problem.n_lengthscales] =
      gpnn_cross_contract(&diag->kernel, b.tile, b.n, b.partial + m);
}

/* The derivatives, once all rows have been seen. */
static void finish_gradient(struct gpnn_diag_pass *pass, double *sum, double *gradient)
{
  struct gpnn_diag *diag = pass->diag;
  const struct gpnn_diag_problem *p = &diag->problem;
  const double *rho = pass->point + gpnn_diag_rho(p);
  size_t m = p->m;
  gpnn_diag_symmetrise(diag);
  pass->points = (struct gpnn_cross_points){m, p->z, NULL};
  pass->keeps_rows = false;
  gpnn_diag_pass_over(pass, m, contract_kuu, sum);
  for (size_t j = 0; j < m; j++) {
    double both = diag->inverse[j * m + j] + diag->middle[j * m + j];
    gradient[j] = sum[j] - diag->kuu_mu[j];
    gradient[gpnn_diag_rho(p) + j] = (1 - exp(rho[j]) * both) / 2;
  }
  memcpy(gradient + gpnn_diag_lengthscale(p), sum + m, (p->n_lengthscales + 2) * sizeof *sum);
}

enum gpnn_status gpnn_diag_bound(struct gpnn_diag *diag, const double *point,
                                 const struct gpnn_diag_batch *batch, double *bound,
                                 double *gradient, struct gpnn_error *err)
{
  const struct gpnn_diag_problem *p = &diag->problem;
  struct gpnn_diag_pass pass = {.diag = diag,
                                .size = gpnn_diag_partial_size(p),
                                .partial = diag->partial,
                                .batch = batch,
                                .points = {batch->n, p->x, batch->row},
                                .point = point,
                                .keeps_rows = gradient != NULL};
  double logdet = 0, *sum = gpnn_alloc(gpnn_diag_partial_size(p), 1, sizeof *sum);
  if (sum == NULL) return gpnn_fail_memory(err, "for a bound");
  gpnn_diag_set(diag, point);
  enum gpnn_status status = gpnn_diag_reserve(diag, err);
  if (status == GPNN_OK) status = gpnn_diag_invert(diag, point, &logdet, err);
  if (status == GPNN_OK) {
    if (gradient != NULL) begin_middle(diag, point);
    gpnn_diag_pass_over(&pass, batch->n, take_tile, sum);
    *bound = sum[gpnn_diag_partial_size(p) - 1] + prior_terms(diag, point, logdet);
    if (gradient != NULL) finish_gradient(&pass, sum, gradient);
    if (!isfinite(*bound)) status = gpnn_fail(err, GPNN_ENUMERIC, "the bound is not finite");
  }
  free(sum);
  return status;
}

static void square_tile(void *context, size_t thread, size_t piece)
{
  const struct gpnn_diag_pass *pass = context;
  const struct gpnn_diag_problem *p = &pass->diag->problem;
  struct gpnn_diag_piece b = gpnn_diag_begin(pass, thread, piece, false);
  for (size_t i = 0; i < b.n; i++) {
    double e = p->y[gpnn_diag_row(pass, b.first + i)] -
               cblas_ddot((int)p->m, b.tile->k + i * p->m, 1, pass->point, 1);
    b.partial[0] += e * e;
  }
}

double gpnn_diag_squares(struct gpnn_diag *diag, const double *point,
                         const struct gpnn_diag_batch *batch)
{
  struct gpnn_diag_pass pass = {.diag = diag,
                                .batch = batch,
                                .points = {batch->n, diag->problem.x, batch->row},
                                .point = point,
                                .size = 1,
                                .partial = diag->partial};
  double sum = 0;
  gpnn_diag_set(diag, point);
  gpnn_diag_pass_over(&pass, batch->n, square_tile, &sum);
  return sum;
}

/* ---- estimates of the bound ------------------------------------------------------------------ */

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
    sum += (scale * (log(weight / scale) - GPNN_LOG_TWO_PI) - weight * (e * e + variance)) / 2;
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
