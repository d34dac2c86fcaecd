#include "linalg/arrays.h"
#include "models/inducing/diag/diag_private.h"

#include <math.h>
#include <string.h>

#include "linalg/blas.h"
#include "linalg/dense.h"
#include "models/inducing/diag/diag.h"

/* An estimate in the making: vectors of m numbers, one after another. */
struct estimate {
  struct gpnn_diag_pass pass; /* first: steps get its address */
  size_t d;                   /* probes */
  double *b;                  /* 2d: right-hand sides, the probes r and then N r */
  double *x;                  /* 2d + 1: their solutions x and z, and mu */
  double *right;   /* 2d + 1: z, x, both over 2d, and mu: what x, z and mu meet in the adjoint */
  double *weights; /* (d + 1) by m: mu, and the probes over d */
  double *sum;     /* a partial sum */
  double *partial; /* partial sums */
  double *scratch; /* of each thread: TILE by 3 (d + 1) */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static double *scratch_of(const struct estimate *e, size_t thread)
{
  return e->scratch + thread * GPNN_CROSS_TILE * 3 * (e->d + 1);
}

/* to (n by d) = K (n by m) times d vectors. */
static void times_vectors(size_t n, size_t m, size_t d, const double *k, const double *vectors,
                          double *to)
{
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)d, (int)m, 1, k, (int)m,
              vectors, (int)m, 0, to, (int)d);
}

/* ---- N r ---------------------------------------------------------------------------------- */

/* A tile's share of Kuf W Kfu r. */
static void multiply_tile(void *context, size_t thread, size_t piece)
{
  const struct estimate *e = context;
  struct gpnn_diag_piece b = gpnn_diag_begin(&e->pass, thread, piece, false);
  size_t m = e->pass.diag->problem.m, d = e->d;
  double *product = scratch_of(e, thread);
  times_vectors(b.n, m, d, b.tile->k, e->b, product);
  for (size_t i = 0; i < b.n; i++) {
    double weight = gpnn_diag_weight(&e->pass, gpnn_diag_row(&e->pass, b.first + i));
    for (size_t j = 0; j < d; j++) product[i * d + j] *= weight;
  }
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d, (int)m, (int)b.n, 1, product, (int)d,
              b.tile->k, (int)m, 0, b.partial, (int)m);
}

/* N r = (B - Sigma) r + Kuf W Kfu r, after the probes. */
static void multiply_probes(struct estimate *e)
{
  struct gpnn_diag *diag = e->pass.diag;
  size_t m = diag->problem.m;
  const double *rho = e->pass.point + gpnn_diag_rho(&diag->problem);
  double *to = e->b + e->d * m;
  e->pass.size = e->d * m;
  memset(e->sum, 0, e->pass.size * sizeof *e->sum);
  gpnn_diag_pass_over(&e->pass, e->pass.batch->n, multiply_tile, e->sum);
  gpnn_diag_multiply(diag, e->d, e->b, diag->inverse, to);
  for (size_t j = 0; j < m; j++) {
    double sigma = exp(rho[j]);
    for (size_t i = j; i < e->d * m; i += m) to[i] += e->sum[i] - sigma * e->b[i];
  }
}

/* ---- derivatives -------------------------------------------------------------------------- */

/* What a row adds apart from its adjoint, whose factors (d + 1) it leaves in 'left'; 'solved' and
 * 'probed' (d) are k'x and k'r. */
static void add_row(const struct estimate *e, size_t i, const double *k, const double *solved,
                    const double *probed, double *left, double *partial)
{
  const struct gpnn_diag_pass *pass = &e->pass;
  const struct gpnn_diag_problem *p = &pass->diag->problem;
  size_t row = gpnn_diag_row(pass, i);
  double weight = gpnn_diag_weight(pass, row), scale = pass->batch->scale;
  double kernelscale = pass->diag->kernel.kernelscale, *logs = partial + p->m;
  double residual = p->y[row] - cblas_ddot((int)p->m, k, 1, pass->point, 1);
  double squares = residual * residual + kernelscale, noise = exp(pass->point[gpnn_diag_noise(p)]);
  for (size_t j = 0; j < e->d; j++) {
    squares -= solved[j] * probed[j] / (double)e->d;
    left[j + 1] = weight * solved[j];
  }
  left[0] = weight * residual;
  cblas_daxpy((int)p->m, weight * residual, k, 1, partial, 1);
  logs[p->n_lengthscales] -= weight * kernelscale / 2;
  logs[p->n_lengthscales + 1] += weight * noise * (weight / scale * squares - 1) / 2;
}

static void take_tile(void *context, size_t thread, size_t piece)
{
  const struct estimate *e = context;
  struct gpnn_diag *diag = e->pass.diag;
  struct gpnn_diag_piece b = gpnn_diag_begin(&e->pass, thread, piece, true);
  size_t m = diag->problem.m, d = e->d;
  double *solved = scratch_of(e, thread), *probed = solved + b.n * d, *left = probed + b.n * d;
  times_vectors(b.n, m, d, b.tile->k, e->x, solved);
  times_vectors(b.n, m, d, b.tile->k, e->b, probed);
  for (size_t i = 0; i < b.n; i++)
    add_row(e, b.first + i, b.tile->k + i * m, solved + i * d, probed + i * d, left + i * (d + 1),
            b.partial);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)b.n, (int)m, (int)(d + 1), 1, left,
              (int)(d + 1), e->weights, (int)m, 0, b.tile->adjoint, (int)m);
  b.partial[m + diag->problem.n_lengthscales] +=
      gpnn_cross_contract(&diag->kernel, b.tile, b.n, b.partial + m);
}

/* The adjoint of Kuu is -(mean of (x z' + z x') / 2 + mu mu') / 2. */
static void contract_kuu(void *context, size_t thread, size_t piece)
{
  const struct estimate *e = context;
  struct gpnn_diag *diag = e->pass.diag;
  struct gpnn_diag_piece b = gpnn_diag_begin(&e->pass, thread, piece, true);
  size_t m = diag->problem.m, factors = 2 * e->d + 1;
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)b.n, (int)m, (int)factors, -0.5,
              e->x + b.first, (int)m, e->right, (int)m, 0, b.tile->adjoint, (int)m);
  b.partial[m + diag->problem.n_lengthscales] =
      gpnn_cross_contract(&diag->kernel, b.tile, b.n, b.partial + m);
}

/* The factors of the adjoints, from solutions and probes. */
static void prepare_factors(struct estimate *e)
{
  size_t m = e->pass.diag->problem.m, block = e->d * m;
  double share = 1 / (double)e->d;
  memcpy(e->x + 2 * block, e->pass.point, m * sizeof *e->x);
  memcpy(e->right + 2 * block, e->pass.point, m * sizeof *e->x);
  memcpy(e->weights, e->pass.point, m * sizeof *e->x);
  for (size_t i = 0; i < block; i++) {
    e->right[i] = share / 2 * e->x[block + i];
    e->right[block + i] = share / 2 * e->x[i];
    e->weights[m + i] = share * e->b[i];
  }
}

/* The derivatives, from Kuu mu. */
static void finish(const struct estimate *e, const double *kuu_mu, double *gradient)
{
  const struct gpnn_diag_problem *p = &e->pass.diag->problem;
  const double *rho = e->pass.point + gpnn_diag_rho(p);
  size_t m = p->m, block = e->d * m;
  for (size_t j = 0; j < m; j++) {
    double inverse = 0, middle = 0, s = exp(rho[j]);
    for (size_t i = j; i < block; i += m) {
      inverse += e->b[i] * e->x[i] / (double)e->d;
      middle += e->x[i] * e->x[block + i] / (double)e->d;
    }
    gradient[j] = e->sum[j] - kuu_mu[j];
    gradient[gpnn_diag_rho(p) + j] = (1 - s * (inverse + middle)) / 2;
  }
  memcpy(gradient + gpnn_diag_lengthscale(p), e->sum + m, (p->n_lengthscales + 2) * sizeof(double));
}

static void multiply_mean(const struct estimate *e, double *kuu_mu)
{
  const struct gpnn_diag_problem *p = &e->pass.diag->problem;
  const double *mu = e->pass.point, *rho = mu + gpnn_diag_rho(p);
  cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)p->m, (int)p->m, 1, e->pass.diag->inverse,
              (int)p->m, mu, 1, 0, kuu_mu, 1);
  for (size_t j = 0; j < p->m; j++) kuu_mu[j] -= exp(rho[j]) * mu[j];
}

static void derive(struct estimate *e, double *gradient)
{
  struct gpnn_diag *diag = e->pass.diag;
  const struct gpnn_diag_problem *p = &diag->problem;
  size_t last = p->m + p->n_lengthscales;
  e->pass.size = last + 2;
  memset(e->sum, 0, e->pass.size * sizeof *e->sum);
  prepare_factors(e);
  gpnn_diag_pass_over(&e->pass, e->pass.batch->n, take_tile, e->sum);
  e->pass.points = (struct gpnn_cross_points){p->m, p->z, NULL};
  gpnn_diag_pass_over(&e->pass, p->m, contract_kuu, e->sum);
  multiply_mean(e, diag->kuu_mu);
  finish(e, diag->kuu_mu, gradient);
}

/* ---- the estimate ------------------------------------------------------------------------- */

static enum gpnn_status allocate(struct estimate *e, struct gpnn_error *err)
{
  size_t m = e->pass.diag->problem.m, d = e->d;
  size_t sum = m * d > m + e->pass.diag->problem.n_lengthscales + 2
                   ? m * d
                   : m + e->pass.diag->problem.n_lengthscales + 2;
  e->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(e->b, 2 * d, m), GPNN_ARRAY(e->x, 2 * d + 1, m),
                  GPNN_ARRAY(e->right, 2 * d + 1, m), GPNN_ARRAY(e->weights, d + 1, m),
                  GPNN_ARRAY(e->sum, sum, 1), GPNN_ARRAY(e->partial, GPNN_DIAG_TILES, sum),
                  GPNN_ARRAY(e->scratch, e->pass.diag->n_tiles * GPNN_CROSS_TILE, 3 * (d + 1)));
  return e->arrays != NULL ? GPNN_OK : gpnn_fail_memory(err, "for probes");
}

enum gpnn_status gpnn_diag_estimate(struct gpnn_diag *diag, const double *point,
                                    const struct gpnn_diag_batch *batch,
                                    const struct gpnn_diag_probes *probes,
                                    const struct gpnn_diag_solver *solver, uint64_t number,
                                    double *gradient, struct gpnn_diag_solutions *solutions,
                                    struct gpnn_error *err)
{
  const struct gpnn_diag_problem *p = &diag->problem;
  struct estimate e = {.d = probes->n};
  e.pass = (struct gpnn_diag_pass){
      .diag = diag, .batch = batch, .points = {batch->n, p->x, batch->row}, .point = point};
  enum gpnn_status status = allocate(&e, err);
  if (status == GPNN_OK) {
    e.pass.partial = e.partial;
    memcpy(e.b, probes->r, e.d * p->m * sizeof *e.b);
    gpnn_diag_set(diag, point);
    gpnn_diag_fill(diag, point, diag->inverse);
    multiply_probes(&e);
    status = gpnn_diag_solve(p->m, diag->inverse, 2 * e.d, e.b, e.x, solver, number * 2 * e.d,
                             p->threads, solutions, err);
  }
  if (status == GPNN_OK) derive(&e, gradient);
  gpnn_arrays_free(e.arrays);
  return status;
}

/* ---- solutions ------------------------------------------------------------------------------- */

/* Adds the numbers of a report. */
static void add(const struct gpnn_truncated_cg_report *report, bool is_random,
                struct gpnn_diag_solutions *to)
{
  to->n += report->n;
  to->steps += report->steps;
  to->most = report->most > to->most ? report->most : to->most;
  to->n_capped += report->n_capped;
  to->n_refused += report->n_refused;
  if (is_random) {
    to->extra += report->tail;
    to->most_weight = fmax(to->most_weight, report->most_weight);
  } else
    to->tail += (double)report->tail;
}

enum gpnn_status gpnn_diag_solve(size_t m, const double *b_matrix, size_t columns, const double *b,
                                 double *x, const struct gpnn_diag_solver *solver, uint64_t first,
                                 int threads, struct gpnn_diag_solutions *solutions,
                                 struct gpnn_error *err)
{
  struct gpnn_dense dense = {m, b_matrix, threads};
  const struct gpnn_cg_matrix matrix = gpnn_dense_matrix(&dense);
  const struct gpnn_truncated_cg_options options = {.truncation = solver->truncation,
                                                    .head = solver->head,
                                                    .tolerance = solver->tolerance,
                                                    .rate = solver->rate,
                                                    .most_steps = solver->most_steps,
                                                    .seed = solver->seed,
                                                    .first = first,
                                                    .threads = threads};
  struct gpnn_truncated_cg_report report = {0};
  enum gpnn_status status =
      gpnn_truncated_cg_solve(&matrix, columns, b, x, &options, NULL, &report, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%zu inducing points", m);
  add(&report, solver->truncation != GPNN_TRUNCATION_NONE, solutions);
  return GPNN_OK;
}
