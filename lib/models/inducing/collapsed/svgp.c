#include "linalg/arrays.h"
#include "models/inducing/collapsed/collapsed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/optimize.h"
#include "stats/distributions/normal.h"

#define MEMORY_FOR "for inducing points"

/* Rows that are whitened at a time, and columns of a sum of products that a thread takes. */
enum { BLOCK = 1024, TILES = BLOCK / GPNN_CROSS_TILE, PANEL = 128 };

struct svgp {
  const struct gpnn_collapsed_data *data;
  const struct gpnn_svgp_options *options;
  struct gpnn_cross cross;
  double noise;
  size_t n_tiles;
  struct gpnn_cross_tile *tile; /* owned; n_tiles, one for each thread; as are all arrays: */
  double *lengthscale;          /* n_lengthscales */
  double *factor;               /* m by m: L, Kuu = L L' */
  double *precision;            /* m by m: P of the whitened values, complete */
  double *covariance;           /* m by m: P^-1 */
  double *products;             /* m by m: sums over rows */
  double *block;                /* m by BLOCK: whitened covariances a = L^-1 k */
  double *adjoint;              /* m by BLOCK: what belongs to each */
  double *natural;              /* m: P times the mean */
  double *moment;               /* m: sum of a y */
  double *mean;                 /* m */
  double *partial;              /* TILES by n_lengthscales + 1 */
  uint64_t *order;              /* n: the rows in the order of this pass */
  size_t n_batches, step;       /* of a pass; steps taken */
  struct gpnn_arrays *arrays;   /* owned; what frees the arrays */
};

/* ---- memory ------------------------------------------------------------------------------- */

static void release(struct svgp *s)
{
  for (size_t t = 0; s->tile != NULL && t < s->n_tiles; t++) gpnn_cross_tile_release(&s->tile[t]);
  gpnn_arrays_free(s->arrays);
  free(s->tile);
  gpnn_cross_release(&s->cross);
}

static enum gpnn_status allocate(struct svgp *s, struct gpnn_error *err)
{
  size_t m = s->cross.problem.m, n_lengthscales = s->cross.problem.n_lengthscales;
  s->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(s->lengthscale, n_lengthscales, 1), GPNN_ARRAY(s->factor, m, m),
      GPNN_ARRAY(s->precision, m, m), GPNN_ARRAY(s->covariance, m, m),
      GPNN_ARRAY(s->products, m, m), GPNN_ARRAY(s->block, m, BLOCK),
      GPNN_ARRAY(s->adjoint, m, BLOCK), GPNN_ARRAY(s->natural, m, 1), GPNN_ARRAY(s->moment, m, 1),
      GPNN_ARRAY(s->mean, m, 1), GPNN_ARRAY(s->partial, TILES, n_lengthscales + 1),
      GPNN_ARRAY(s->order, s->data->n, 1));
  s->tile = gpnn_alloc(s->n_tiles, 1, sizeof *s->tile);
  if (s->arrays == NULL || s->tile == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < s->n_tiles && status == GPNN_OK; t++)
    status = gpnn_cross_tile_new(&s->tile[t], m, s->cross.problem.d, err);
  return status;
}

/* The distribution before any data. */
static enum gpnn_status prepare(struct svgp *s, const struct gpnn_cross_problem *problem,
                                struct gpnn_error *err)
{
  size_t n = s->data->n, batch = s->options->batch < n ? s->options->batch : n;
  s->n_batches = (n + batch - 1) / batch;
  s->n_tiles = (size_t)gpnn_threads_for(s->data->threads, TILES);
  enum gpnn_status status = gpnn_cross_new(&s->cross, problem, err);
  if (status == GPNN_OK) status = allocate(s, err);
  for (size_t j = 0; j < problem->m && status == GPNN_OK; j++)
    s->precision[j * (problem->m + 1)] = 1;
  return status;
}

/* ---- inducing points ---------------------------------------------------------------------- */

static enum gpnn_status set_parameters(struct svgp *s, const double *log_parameters,
                                       struct gpnn_error *err)
{
  size_t width = s->cross.problem.n_lengthscales;
  for (size_t l = 0; l < width; l++) s->lengthscale[l] = exp(log_parameters[l]);
  s->noise = exp(log_parameters[width + 1]);
  gpnn_cross_set(&s->cross, s->lengthscale, exp(log_parameters[width]));
  return gpnn_cross_factor(&s->cross, &s->tile[0], s->data->jitter, s->factor, err);
}

/* ---- blocks of rows ----------------------------------------------------------------------- */

/* Some rows, and which of them are the block; what comes of them. */
struct rows {
  struct svgp *s;
  struct gpnn_cross_points points;
  size_t first, n;
  double weight; /* of each row: how many of all it stands for */
};

static double target_of(const struct rows *rows, size_t i)
{
  const uint64_t *row = rows->points.row;
  return rows->s->data->y[row == NULL ? rows->first + i : (size_t)row[rows->first + i]];
}

static void whiten_tile(void *context, size_t thread, size_t tile)
{
  const struct rows *rows = context;
  struct svgp *s = rows->s;
  size_t m = s->cross.problem.m, at = tile * GPNN_CROSS_TILE,
         n = gpnn_cross_tile_rows(rows->n, tile);
  gpnn_cross_covariances(&s->cross, &rows->points, rows->first + at, n, false, &s->tile[thread]);
  memcpy(s->block + at * m, s->tile[thread].k, n * m * sizeof *s->block);
  gpnn_cholesky_forward(m, s->factor, n, s->block + at * m);
}

static void whiten_block(struct rows *rows)
{
  gpnn_threads_each((int)rows->s->n_tiles, gpnn_cross_n_tiles(rows->n), 1, whiten_tile, rows);
}

/* Adds to PANEL columns of 'products' those of 'left' and the block. */
static void add_products(const struct rows *rows, const double *left, size_t panel)
{
  const struct svgp *s = rows->s;
  size_t m = s->cross.problem.m, first = panel * PANEL;
  size_t width = m - first < PANEL ? m - first : PANEL;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)m, (int)width, (int)rows->n, 1, left,
              (int)m, s->block + first, (int)m, 1, s->products + first * m, (int)m);
}

static void add_squares(void *context, size_t thread, size_t panel)
{
  const struct rows *rows = context;
  (void)thread;
  add_products(rows, rows->s->block, panel);
}

static void add_adjoints(void *context, size_t thread, size_t panel)
{
  const struct rows *rows = context;
  (void)thread;
  add_products(rows, rows->s->adjoint, panel);
}

static void share_panels(struct rows *rows, gpnn_threads_step *step)
{
  size_t m = rows->s->cross.problem.m;
  gpnn_threads_each(rows->s->data->threads, (m + PANEL - 1) / PANEL, 1, step, rows);
}

/* ---- natural gradients -------------------------------------------------------------------- */

static void add_moments(struct rows *rows, double *sums)
{
  struct svgp *s = rows->s;
  size_t m = s->cross.problem.m;
  (void)sums;
  whiten_block(rows);
  share_panels(rows, add_squares);
  for (size_t i = 0; i < rows->n; i++)
    cblas_daxpy((int)m, target_of(rows, i), s->block + i * m, 1, s->moment, 1);
}

/* Calls 'visit' for 'n' rows in blocks. */
static void each_block(struct svgp *s, const struct gpnn_cross_points *points, size_t n,
                       void (*visit)(struct rows *rows, double *sums), double *sums)
{
  double weight = (double)s->data->n / (double)n;
  for (size_t first = 0; first < n; first += BLOCK) {
    struct rows rows = {s, *points, first, n - first < BLOCK ? n - first : BLOCK, weight};
    visit(&rows, sums);
  }
}

/* A step of size 'size' with the given rows, n of them (17.12). */
static void step_naturally(struct svgp *s, const struct gpnn_cross_points *points, size_t n,
                           double size)
{
  size_t m = s->cross.problem.m;
  double scale = (double)s->data->n / (double)n / s->noise;
  memset(s->products, 0, m * m * sizeof *s->products);
  memset(s->moment, 0, m * sizeof *s->moment);
  each_block(s, points, n, add_moments, NULL);
  for (size_t i = 0; i < m * m; i++)
    s->precision[i] += size * ((i % (m + 1) == 0) + scale * s->products[i] - s->precision[i]);
  for (size_t j = 0; j < m; j++) s->natural[j] += size * (scale * s->moment[j] - s->natural[j]);
}

static void copy_precision(void *svgp, double *to)
{
  const struct svgp *s = svgp;
  memcpy(to, s->precision, s->cross.problem.m * s->cross.problem.m * sizeof *to);
}

/* Mean and covariance of the whitened values, and log|P|. */
static enum gpnn_status solve(struct svgp *s, double *logdet, struct gpnn_error *err)
{
  size_t m = s->cross.problem.m;
  copy_precision(s, s->covariance);
  enum gpnn_status status =
      gpnn_cholesky_factor(m, s->covariance, NULL, 1, copy_precision, s, NULL, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%zu inducing points", m);
  *logdet = gpnn_cholesky_logdet(m, s->covariance);
  memcpy(s->mean, s->natural, m * sizeof *s->mean);
  gpnn_cholesky_solve(m, s->covariance, s->mean);
  gpnn_cholesky_invert(m, s->covariance, NULL);
  for (size_t j = 0; j < m; j++)
    for (size_t i = j + 1; i < m; i++) s->covariance[i * m + j] = s->covariance[j * m + i];
  return GPNN_OK;
}

/* The rows of the next step: all rows in random order, pass by pass. */
static enum gpnn_status next_batch(struct svgp *s, struct gpnn_cross_points *points, size_t *n,
                                   struct gpnn_error *err)
{
  size_t all = s->data->n, pass = s->step / s->n_batches, batch = s->step % s->n_batches;
  size_t from = (size_t)((double)all * (double)batch / (double)s->n_batches);
  size_t to = (size_t)((double)all * (double)(batch + 1) / (double)s->n_batches);
  *points = (struct gpnn_cross_points){.n = to - from, .x = s->data->x};
  *n = to - from;
  s->step++;
  if (s->n_batches == 1) return GPNN_OK;
  points->row = s->order + from;
  if (batch > 0) return GPNN_OK;
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, s->options->seed, GPNN_RNG_SVGP, pass);
  return gpnn_rng_sample(&rng, all, all, s->order, err);
}

/* ---- the bound and its gradient ----------------------------------------------------------- */

/* Sums over rows: of what (17.11) has for each, times 2 v, and the derivatives of the bound. */
enum { MISFIT = 0, GRADIENT = 1 };

/* The covariance times each row of the block, in 'adjoint'; adds to the sum of misfits. */
static void add_misfits(struct rows *rows, double *sums)
{
  struct svgp *s = rows->s;
  size_t m = s->cross.problem.m;
  whiten_block(rows);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)rows->n, (int)m, 1,
              s->covariance, (int)m, s->block, (int)m, 0, s->adjoint, (int)m);
  for (size_t i = 0; i < rows->n; i++) {
    const double *a = s->block + i * m;
    double e = target_of(rows, i) - cblas_ddot((int)m, a, 1, s->mean, 1);
    sums[MISFIT] += rows->weight * (e * e + s->cross.kernelscale - cblas_ddot((int)m, a, 1, a, 1) +
                                    cblas_ddot((int)m, a, 1, s->adjoint + i * m, 1));
  }
}

/* The adjoints of a tile's whitened covariances, (e mean + a - S a) times weight / v, and the
 * derivatives by way of its covariances. */
static void differentiate_tile(void *context, size_t thread, size_t tile)
{
  const struct rows *rows = context;
  struct svgp *s = rows->s;
  const struct gpnn_cross_tile *own = &s->tile[thread];
  size_t m = s->cross.problem.m, at = tile * GPNN_CROSS_TILE,
         n = gpnn_cross_tile_rows(rows->n, tile);
  size_t width = s->cross.problem.n_lengthscales;
  double *partial = s->partial + tile * (width + 1);
  for (size_t i = at; i < at + n; i++) {
    const double *a = s->block + i * m;
    double e = target_of(rows, i) - cblas_ddot((int)m, a, 1, s->mean, 1);
    for (size_t j = 0; j < m; j++)
      s->adjoint[i * m + j] =
          rows->weight / s->noise * (e * s->mean[j] + a[j] - s->adjoint[i * m + j]);
  }
  gpnn_cross_covariances(&s->cross, &rows->points, rows->first + at, n, true, own);
  memcpy(own->adjoint, s->adjoint + at * m, n * m * sizeof *own->adjoint);
  gpnn_cholesky_backward(m, s->factor, n, own->adjoint);
  memset(partial, 0, (width + 1) * sizeof *partial);
  partial[width] = gpnn_cross_contract(&s->cross, own, n, partial);
}

static void visit_gradient(struct rows *rows, double *sums)
{
  struct svgp *s = rows->s;
  size_t width = s->cross.problem.n_lengthscales + 1;
  add_misfits(rows, sums);
  gpnn_threads_each((int)s->n_tiles, gpnn_cross_n_tiles(rows->n), 1, differentiate_tile, rows);
  for (size_t t = 0; t < gpnn_cross_n_tiles(rows->n); t++)
    for (size_t j = 0; j < width; j++) sums[GRADIENT + j] += s->partial[t * width + j];
  share_panels(rows, add_adjoints);
}

/* Replaces G, the sum of adjoints times a', by the adjoint of Kuu, -L^-T sym(low(G)) L^-1, where
 * low() keeps the lower triangle and half of the diagonal (17.13). */
static void make_inducing_adjoint(struct svgp *s)
{
  size_t m = s->cross.problem.m;
  for (size_t j = 0; j < m; j++)
    for (size_t i = j; i < m; i++)
      s->products[j * m + i] = s->products[i * m + j] = s->products[j * m + i] / 2;
  gpnn_cholesky_backward(m, s->factor, m, s->products);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int)m, (int)m, -1,
              s->factor, (int)m, s->products, (int)m);
}

/* The derivatives by way of Kuu. */
static void differentiate_inducing(struct svgp *s, double *gradient)
{
  size_t m = s->cross.problem.m, width = s->cross.problem.n_lengthscales;
  make_inducing_adjoint(s);
  gpnn_cross_contract_inducing(&s->cross, &s->tile[0], s->products, gradient);
  for (size_t j = 0; j < m; j++)
    gradient[width] += s->data->jitter * s->cross.kernelscale * s->products[j * (m + 1)];
}

/* The bound (17.11), where 'misfit' is the sum over all rows. */
static double bound_of(const struct svgp *s, double misfit, double logdet)
{
  size_t m = s->cross.problem.m;
  double n = (double)s->data->n, divergence = logdet - (double)m;
  for (size_t j = 0; j < m; j++) divergence += s->covariance[j * (m + 1)] + s->mean[j] * s->mean[j];
  return -0.5 * (n * (GPNN_LOG_TWO_PI + log(s->noise)) + misfit / s->noise + divergence);
}

/* ---- parameters --------------------------------------------------------------------------- */

/* The negative bound of a batch for a row, after a natural step with it, and its gradient. */
static enum gpnn_status negative_bound(void *context, size_t n_parameters, const double *x,
                                       double *f, double *gradient, struct gpnn_error *err)
{
  struct svgp *s = context;
  struct gpnn_cross_points points;
  size_t m = s->cross.problem.m, width = s->cross.problem.n_lengthscales, n;
  double logdet = 0, scale = -1 / (double)s->data->n;
  enum gpnn_status status = set_parameters(s, x, err);
  if (gradient == NULL) *f = 0; /* the last of all, which nobody reads */
  if (status != GPNN_OK || gradient == NULL) return status;
  status = next_batch(s, &points, &n, err);
  if (status != GPNN_OK) return status;
  step_naturally(s, &points, n, fmax(1 / (double)s->step, s->options->least_step));
  status = solve(s, &logdet, err);
  double *sums = gpnn_alloc(n_parameters + GRADIENT, 1, sizeof *sums);
  if (status == GPNN_OK && sums == NULL) status = gpnn_fail_memory(err, MEMORY_FOR);
  if (status == GPNN_OK) {
    memset(s->products, 0, m * m * sizeof *s->products);
    each_block(s, &points, n, visit_gradient, sums);
    differentiate_inducing(s, sums + GRADIENT);
    sums[GRADIENT + width] -= (double)s->data->n * s->cross.kernelscale / (2 * s->noise);
    sums[GRADIENT + width + 1] = 0.5 * (sums[MISFIT] / s->noise - (double)s->data->n);
    *f = scale * bound_of(s, sums[MISFIT], logdet);
    for (size_t j = 0; j < n_parameters; j++) gradient[j] = scale * sums[GRADIENT + j];
  }
  free(sums);
  return status;
}

static enum gpnn_status move_parameters(struct svgp *s, double *log_parameters,
                                        struct gpnn_error *err)
{
  const struct gpnn_adam adam = {
      .n_steps = s->options->n_parameter_steps, .rate = s->options->rate, .falling = true};
  struct gpnn_optimize_report report;
  if (adam.n_steps == 0) return GPNN_OK;
  return gpnn_optimize_adam(negative_bound, s, s->cross.problem.n_lengthscales + 2, &adam,
                            log_parameters, &report, err);
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* Steps of sizes 1, 1/2, 1/3, ... with parameters held. */
static enum gpnn_status find_posterior(struct svgp *s, const double *log_parameters,
                                       struct gpnn_error *err)
{
  enum gpnn_status status = set_parameters(s, log_parameters, err);
  s->step = 0;
  for (size_t t = 0; t < s->options->n_steps && status == GPNN_OK; t++) {
    struct gpnn_cross_points points;
    size_t n;
    status = next_batch(s, &points, &n, err);
    if (status == GPNN_OK) step_naturally(s, &points, n, 1 / (double)(t + 1));
  }
  return status;
}

static enum gpnn_status finish(struct svgp *s, double *bound, double *weights, double *root,
                               size_t *rank, struct gpnn_error *err)
{
  size_t m = s->cross.problem.m;
  double logdet = 0, misfit = 0;
  const struct gpnn_cross_points points = {.n = s->data->n, .x = s->data->x};
  enum gpnn_status status = solve(s, &logdet, err);
  if (status != GPNN_OK) return status;
  if (bound != NULL) {
    each_block(s, &points, s->data->n, add_misfits, &misfit);
    *bound = bound_of(s, misfit, logdet);
  }
  memcpy(weights, s->mean, m * sizeof *weights);
  gpnn_cholesky_backward(m, s->factor, 1, weights);
  return gpnn_whitened_root(m, s->precision, s->factor, s->moment, root, rank, err);
}

enum gpnn_status gpnn_svgp_fit(const struct gpnn_cross_problem *problem,
                               const struct gpnn_collapsed_data *data,
                               const struct gpnn_svgp_options *options, double *log_parameters,
                               double *bound, double *weights, double *root, size_t *rank,
                               struct gpnn_error *err)
{
  struct svgp s = {.data = data, .options = options};
  size_t n_parameters = problem->n_lengthscales + 2;
  double *moved = gpnn_alloc(n_parameters, 1, sizeof *moved);
  if (moved == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  memcpy(moved, log_parameters, n_parameters * sizeof *moved);
  enum gpnn_status status = prepare(&s, problem, err);
  if (status == GPNN_OK) status = move_parameters(&s, moved, err);
  if (status == GPNN_OK) status = find_posterior(&s, moved, err);
  if (status == GPNN_OK) status = finish(&s, bound, weights, root, rank, err);
  if (status == GPNN_OK) memcpy(log_parameters, moved, n_parameters * sizeof *moved);
  release(&s);
  free(moved);
  return status;
}
