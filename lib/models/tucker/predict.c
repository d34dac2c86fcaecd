/*
 * Predictions of the family tucker (models/tucker/tucker.h): gpnn_tucker_ops.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "dataset/stored.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/simd.h"
#include "models/stored_model.h"
#include "models/tucker/fit.h"
#include "models/tucker/tucker.h"
#include "models/tucker/tucker_private.h"

#define MEMORY_FOR "for predictions of a grid"

/* Rows of a tile, side by side: number j of row i is at [j * LANES + i].  Every loop is over rows,
 * which are the lanes of vectors, and each is computed alike wherever in the tile it is
 * (gpnn-methods-sparse(7), equations 17.35, 17.37 and 17.51). */
enum { LANES = 32 };

struct predictor {
  struct gpnn_tucker tucker;
  double inverse[GPNN_TUCKER_DIMENSIONS]; /* of lengthscales */
  double kernelscale;
  double *whitener[GPNN_TUCKER_DIMENSIONS]; /* m by m, column-major: h = P r (17.51) */
  double *share[GPNN_TUCKER_DIMENSIONS];    /* m: of h_k^2, what the covariance of q(u) keeps */
  double *block;                            /* owned: these; NULL: variances do not need them */
  bool is_residual;                         /* the variance is that of residuals */
  bool is_constant; /* the variance of the function is the same for all rows */
  double constant;
  int threads;
};

static void free_channel(void *state)
{
  struct predictor *g = state;
  if (g == NULL) return;
  gpnn_tucker_release(&g->tucker);
  free(g->block);
  free(g);
}

/* ---- making -------------------------------------------------------------------------------- */

static enum gpnn_status restore(struct predictor *g, const struct gpnn_channel *channel,
                                struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  const struct gpnn_dataset *dataset = channel->dataset;
  const struct gpnn_covariance *covariance = &channel->parameters->covariance;
  enum gpnn_status status =
      gpnn_kernel_needs_smoothness(covariance->kernel)
          ? gpnn_fail(err, GPNN_EFORMAT, "a kernel that no model on a grid has")
          : gpnn_tucker_restore(&g->tucker, dataset->d, covariance->kernel,
                                dataset->schema.target.name, dataset->stored->arrays, err);
  if (status == GPNN_OK) return GPNN_OK;
  gpnn_schema_column_name(&dataset->schema.target, shown);
  return gpnn_prefix(err, status, "target '%s'", shown);
}

static void take_parameters(struct predictor *g, const struct gpnn_channel *channel)
{
  const struct gpnn_covariance *covariance = &channel->parameters->covariance;
  const double *lengthscale = gpnn_covariance_lengthscales(covariance);
  g->kernelscale = covariance->kernelscale;
  for (size_t l = 0; l < g->tucker.shape.p; l++) {
    double own = lengthscale[covariance->n_lengthscales == 1 ? 0 : channel->dataset->group[l]];
    g->tucker.numbers[g->tucker.lengthscale + l] = log(own);
    g->inverse[l] = 1 / own;
  }
}

/* The constant variance, if the model has one: that of residuals (17.53), or of a covariance that
 * is still the prior's. */
static enum gpnn_status find_constant(struct predictor *g, const struct gpnn_channel *channel,
                                      struct gpnn_error *err)
{
  const struct gpnn_state_array *residual =
      gpnn_state_find(channel->dataset->stored->arrays, channel->dataset->schema.target.name,
                      GPNN_TUCKER_RESIDUAL_VARIANCE);
  g->is_residual = residual != NULL;
  g->is_constant = g->is_residual || !g->tucker.has_covariance;
  g->constant = g->kernelscale;
  if (residual == NULL) return GPNN_OK;
  if (residual->n != 1 || !(residual->values[0] >= 0))
    return gpnn_fail(err, GPNN_EFORMAT, "the model has no valid array '%s'",
                     GPNN_TUCKER_RESIDUAL_VARIANCE);
  g->constant = fmax(residual->values[0] - channel->parameters->covariance.noise, 0);
  return GPNN_OK;
}

/*
 * Of one dimension: with R = L L' and the singular values sigma and left vectors Q of L^-1 S^(1/2),
 * P = Q'L^-1 and the shares sigma^2 / (1 + sigma^2), of which none is lost to rounding where S is
 * small or large (17.51).  'root' has m by m numbers of scratch.
 */
static enum gpnn_status whiten(size_t m, const struct gpnn_tucker_matrix *matrix, double *root,
                               double *whitener, double *share, struct gpnn_error *err)
{
  int order = (int)m;
  double unused[1];
  memset(root, 0, m * m * sizeof *root);
  for (size_t j = 0; j < m; j++) root[j * m + j] = sqrt(matrix->s[j]);
  gpnn_cholesky_forward(m, matrix->root_r, m, root);
  double *rest = gpnn_alloc(m, 1, sizeof *rest);
  if (rest == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  lapack_int info = LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'A', 'N', order, order, root, order, share,
                                   whitener, order, unused, order, rest);
  free(rest);
  if (info != 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "the covariance of a grid cannot be decomposed");
  for (size_t k = 0; k < m; k++) share[k] = 1 / (1 + 1 / (share[k] * share[k]));
  gpnn_cholesky_backward(m, matrix->root_r, m, whitener); /* L^-T Q */
  for (size_t j = 0; j < m; j++)
    for (size_t k = 0; k < j; k++) {
      double kept = whitener[j * m + k];
      whitener[j * m + k] = whitener[k * m + j];
      whitener[k * m + j] = kept;
    }
  return GPNN_OK;
}

static enum gpnn_status whiten_all(struct predictor *g, const struct gpnn_tucker_matrices *matrices,
                                   struct gpnn_error *err)
{
  const struct gpnn_tucker_shape *shape = &g->tucker.shape;
  size_t size = 0, most = 0;
  for (size_t l = 0; l < shape->p; l++) {
    size += shape->m[l] * (shape->m[l] + 1);
    if (shape->m[l] > most) most = shape->m[l];
  }
  g->block = gpnn_alloc(size, 1, sizeof *g->block);
  double *root = gpnn_alloc(most, most, sizeof *root), *at = g->block;
  enum gpnn_status status =
      g->block == NULL || root == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : GPNN_OK;
  for (size_t l = 0; l < shape->p && status == GPNN_OK; l++) {
    g->whitener[l] = at;
    g->share[l] = at + shape->m[l] * shape->m[l];
    at = g->share[l] + shape->m[l];
    status = whiten(shape->m[l], &matrices->dimension[l], root, g->whitener[l], g->share[l], err);
  }
  free(root);
  return status;
}

/* What varying variances need, with the jitter that was needed when the model was estimated. */
static enum gpnn_status prepare_variances(struct predictor *g, struct gpnn_error *err)
{
  struct gpnn_tucker_matrices matrices;
  enum gpnn_status status = gpnn_tucker_matrices_new(&matrices, &g->tucker, err);
  if (status == GPNN_OK) status = gpnn_tucker_matrices_set(&matrices, &g->tucker, err);
  if (status == GPNN_OK) status = whiten_all(g, &matrices, err);
  gpnn_tucker_matrices_release(&matrices);
  return status;
}

static enum gpnn_status make_channel(void **state, const struct gpnn_channel *channel, int threads,
                                     struct gpnn_error *err)
{
  if (channel->parameters->family != GPNN_FAMILY_TUCKER)
    return gpnn_fail(err, GPNN_EMISMATCH, "not the parameters of a model on a grid of points");
  struct predictor *g = calloc(1, sizeof *g);
  if (g == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  g->threads = threads;
  enum gpnn_status status = restore(g, channel, err);
  if (status == GPNN_OK) take_parameters(g, channel);
  if (status == GPNN_OK) status = find_constant(g, channel, err);
  if (status == GPNN_OK && !g->is_constant) status = prepare_variances(g, err);
  if (status == GPNN_OK)
    *state = g;
  else
    free_channel(g);
  return status;
}

/* ---- lanes --------------------------------------------------------------------------------- */

/* to[k] = sum_j a[j * n_to + k] from[j] for n_from numbers of each row; k < n_to. */
GPNN_SIMD static void lanes_multiply(size_t n_from, size_t n_to, const double *restrict a,
                                     const double *restrict from, double *restrict to)
{
  for (size_t k = 0; k < n_to; k++) {
    double sum[LANES] = {0};
    for (size_t j = 0; j < n_from; j++) {
      double factor = a[j * n_to + k];
#pragma omp simd
      for (size_t i = 0; i < LANES; i++) sum[i] += factor * from[j * LANES + i];
    }
    memcpy(to + k * LANES, sum, sizeof sum);
  }
}

/* Distances are limited so that their squares stay finite. */
static const double most_distance = 1e100;

/* r[j]: the squared distance of x, one number of each row, from point j in lengthscales. */
GPNN_SIMD static void lanes_distances(size_t m, const double *restrict points,
                                      double inverse_lengthscale, const double *restrict x,
                                      double *restrict r)
{
  for (size_t j = 0; j < m; j++) {
#pragma omp simd
    for (size_t i = 0; i < LANES; i++) {
      double distance = (x[i] - points[j]) * inverse_lengthscale;
      distance = distance < 0 ? -distance : distance;
      distance = distance > most_distance ? most_distance : distance;
      r[j * LANES + i] = distance * distance;
    }
  }
}

/* Adds to 'outside' the squared distance of x from [low, high] in lengthscales. */
GPNN_SIMD static void lanes_outside(double low, double high, double inverse_lengthscale,
                                    const double *restrict x, double *restrict outside)
{
#pragma omp simd
  for (size_t i = 0; i < LANES; i++) {
    double beyond = x[i] < low ? low - x[i] : x[i] > high ? x[i] - high : 0;
    beyond *= inverse_lengthscale;
    beyond = beyond > most_distance ? most_distance : beyond;
    outside[i] += beyond * beyond;
  }
}

/* Multiplies 'explained' by sum_k h[k]^2, and 'kept' by sum_k share[k] h[k]^2; k < m. */
GPNN_SIMD static void lanes_explain(size_t m, const double *restrict share,
                                    const double *restrict h, double *restrict explained,
                                    double *restrict kept)
{
  double all[LANES] = {0}, part[LANES] = {0};
  for (size_t k = 0; k < m; k++) {
    double factor = share[k];
#pragma omp simd
    for (size_t i = 0; i < LANES; i++) {
      double square = h[k * LANES + i] * h[k * LANES + i];
      all[i] += square;
      part[i] += factor * square;
    }
  }
#pragma omp simd
  for (size_t i = 0; i < LANES; i++) {
    explained[i] *= all[i];
    kept[i] *= part[i];
  }
}

/* ---- the core ------------------------------------------------------------------------------ */

/* sum_k w_k prod_l v_lk. */
GPNN_SIMD static void contract_diagonal(size_t p, size_t q, const double *restrict core,
                                        const double *const *v, double *restrict mean)
{
  memset(mean, 0, LANES * sizeof *mean);
  for (size_t k = 0; k < q; k++) {
    double product[LANES];
    for (size_t i = 0; i < LANES; i++) product[i] = core[k];
    for (size_t l = 0; l < p; l++) {
      const double *restrict own = v[l] + k * LANES;
#pragma omp simd
      for (size_t i = 0; i < LANES; i++) product[i] *= own[i];
    }
#pragma omp simd
    for (size_t i = 0; i < LANES; i++) mean[i] += product[i];
  }
}

GPNN_SIMD static void add_product(const double *restrict a, const double *restrict b,
                                  double *restrict sum)
{
#pragma omp simd
  for (size_t i = 0; i < LANES; i++) sum[i] += a[i] * b[i];
}

/* Contracts the modes from 'mode' on of a part of the core, to which the indices of the modes
 * before have led, into 'to'; returns the end of that part. */
static const double *contract(const struct gpnn_tucker_shape *shape, size_t mode,
                              const double *core, const double *const *v, double *work, double *to)
{
  size_t q = shape->q[mode];
  if (mode + 1 == shape->p) {
    lanes_multiply(q, 1, core, v[mode], to);
    return core + q;
  }
  memset(to, 0, LANES * sizeof *to);
  for (size_t k = 0; k < q; k++) {
    core = contract(shape, mode + 1, core, v, work + LANES, work);
    add_product(v[mode] + k * LANES, work, to);
  }
  return core;
}

/* The core contracted with the vectors v[l] (q_l numbers of each row) in every mode.  'work' has
 * GPNN_TUCKER_DIMENSIONS numbers for each row. */
static void lanes_contract(const struct gpnn_tucker_shape *shape, const double *core,
                           const double *const *v, double *work, double *mean)
{
  if (shape->is_diagonal)
    contract_diagonal(shape->p, shape->q[0], core, v, mean);
  else
    contract(shape, 0, core, v, work, mean);
}

/* ---- tiles of rows ------------------------------------------------------------------------- */

/* Scratch memory of a thread, in one block. */
struct tile {
  double *x, *outside, *explained, *kept, *mean; /* a number of each row */
  double *work;                                  /* GPNN_TUCKER_DIMENSIONS */
  double *r, *h;                                 /* the most points of a dimension */
  double *v[GPNN_TUCKER_DIMENSIONS];             /* q_l */
};

static size_t most_points(const struct predictor *g)
{
  size_t most = 0;
  for (size_t l = 0; l < g->tucker.shape.p; l++)
    if (g->tucker.shape.m[l] > most) most = g->tucker.shape.m[l];
  return most;
}

/* Numbers of a tile. */
static size_t tile_size(const struct predictor *g)
{
  size_t each = 5 + GPNN_TUCKER_DIMENSIONS + 2 * most_points(g);
  for (size_t l = 0; l < g->tucker.shape.p; l++) each += g->tucker.shape.q[l];
  return each * LANES;
}

static struct tile tile_of(const struct predictor *g, double *block)
{
  struct tile t = {.x = block};
  t.outside = t.x + LANES;
  t.explained = t.outside + LANES;
  t.kept = t.explained + LANES;
  t.mean = t.kept + LANES;
  t.work = t.mean + LANES;
  t.r = t.work + GPNN_TUCKER_DIMENSIONS * LANES;
  t.h = t.r + most_points(g) * LANES;
  double *at = t.h + most_points(g) * LANES;
  for (size_t l = 0; l < g->tucker.shape.p; at += g->tucker.shape.q[l++] * LANES) t.v[l] = at;
  return t;
}

static void fill(double *values, double value)
{
  for (size_t i = 0; i < LANES; i++) values[i] = value;
}

/* Dimension l of n rows; those that the tile has room for besides are the last one again. */
static void load(const struct predictor *g, size_t l, size_t n, const double *x,
                 const struct tile *t)
{
  size_t p = g->tucker.shape.p, m = g->tucker.shape.m[l];
  for (size_t i = 0; i < LANES; i++) t->x[i] = x[(i < n ? i : n - 1) * p + l];
  lanes_distances(m, g->tucker.points[l], g->inverse[l], t->x, t->r);
  gpnn_kernel_correlate(g->tucker.kernel, 0, m * LANES, t->r);
}

/* After load(). */
static void add_dimension(const struct predictor *g, size_t l, const struct gpnn_latent *latent,
                          const struct tile *t)
{
  const struct gpnn_tucker *tucker = &g->tucker;
  size_t m = tucker->shape.m[l];
  const double *points = tucker->points[l];
  if (latent->mean != NULL)
    lanes_multiply(m, tucker->shape.q[l], tucker->numbers + tucker->factor[l], t->r, t->v[l]);
  if (latent->variance != NULL && !g->is_constant) {
    lanes_multiply(m, m, g->whitener[l], t->r, t->h);
    lanes_explain(m, g->share[l], t->h, t->explained, t->kept);
  }
  if (latent->nearest != NULL)
    lanes_outside(points[0], points[m - 1], g->inverse[l], t->x, t->outside);
}

/* The share of the prior variance that is left (17.36). */
static double left(double explained, double kept)
{
  return fmin(fmax(1 - explained + kept, 0), 1);
}

static void predict_tile(const struct predictor *g, size_t n, const double *x,
                         const struct gpnn_latent *latent, const struct tile *t)
{
  const struct gpnn_tucker_shape *shape = &g->tucker.shape;
  const double *v[GPNN_TUCKER_DIMENSIONS] = {NULL};
  fill(t->outside, 0);
  fill(t->explained, 1);
  fill(t->kept, 1);
  for (size_t l = 0; l < shape->p; l++) {
    load(g, l, n, x, t);
    add_dimension(g, l, latent, t);
    v[l] = t->v[l];
  }
  if (latent->mean != NULL) {
    lanes_contract(shape, g->tucker.numbers, v, t->work, t->mean);
    memcpy(latent->mean, t->mean, n * sizeof *t->mean);
  }
  for (size_t i = 0; i < n && latent->variance != NULL; i++)
    latent->variance[i] =
        g->is_constant ? g->constant : g->kernelscale * left(t->explained[i], t->kept[i]);
  for (size_t i = 0; i < n && latent->nearest != NULL; i++)
    latent->nearest[i] = sqrt(t->outside[i]);
}

/* ---- predictions --------------------------------------------------------------------------- */

struct work {
  const struct predictor *g;
  size_t n;
  const double *x;
  const struct gpnn_latent *latent;
  double *blocks; /* a tile for each thread */
};

static double *from(double *values, size_t first)
{
  return values == NULL ? NULL : values + first;
}

static void predict_piece(void *context, size_t thread, size_t piece)
{
  const struct work *w = context;
  size_t first = piece * LANES, n = w->n - first < LANES ? w->n - first : LANES;
  const struct tile tile = tile_of(w->g, w->blocks + thread * tile_size(w->g));
  const struct gpnn_latent latent = {.mean = from(w->latent->mean, first),
                                     .variance = from(w->latent->variance, first),
                                     .nearest = from(w->latent->nearest, first)};
  predict_tile(w->g, n, w->x + first * w->g->tucker.shape.p, &latent, &tile);
}

static enum gpnn_status predict_channel(const void *state, size_t n, const double *x,
                                        const struct gpnn_latent *latent, struct gpnn_error *err)
{
  enum { CHUNK = 16 }; /* tiles, which take about 100 us */
  const struct predictor *g = state;
  size_t n_tiles = n / LANES + (n % LANES > 0);
  int threads = gpnn_threads_for(g->threads, n_tiles / CHUNK + 1);
  struct work work = {.g = g, .n = n, .x = x, .latent = latent};
  work.blocks = gpnn_alloc((size_t)threads, tile_size(g), sizeof *work.blocks);
  if (work.blocks == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  gpnn_threads_each(threads, n_tiles, CHUNK, predict_piece, &work);
  free(work.blocks);
  return GPNN_OK;
}

/* ---- joint covariances --------------------------------------------------------------------- */

/* For the covariance of rows (17.52): in one dimension, h of each. */
struct joint {
  double *h[GPNN_TUCKER_DIMENSIONS]; /* m_l by n, column-major: those of dimension l */
  double *part;                      /* n */
  double *explained, *kept;          /* n */
  double *scaled;                    /* the most points */
  double *tile, *block;              /* owned: all of these */
};

static enum gpnn_status joint_new(struct joint *j, const struct predictor *g, size_t n,
                                  struct gpnn_error *err)
{
  const struct gpnn_tucker_shape *shape = &g->tucker.shape;
  size_t each = g->tucker.n_grid + 3, size;
  if (gpnn_multiply(n, each, &size))
    j->block = gpnn_alloc(size + most_points(g) + tile_size(g), 1, sizeof *j->block);
  if (j->block == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  j->part = j->block;
  j->explained = j->part + n;
  j->kept = j->explained + n;
  double *at = j->kept + n;
  for (size_t l = 0; l < shape->p; at += n * shape->m[l++]) j->h[l] = at;
  j->scaled = at;
  j->tile = at + most_points(g);
  return GPNN_OK;
}

static void whiten_rows(const struct predictor *g, size_t n, const double *x, const struct joint *j)
{
  const struct tile t = tile_of(g, j->tile);
  size_t p = g->tucker.shape.p;
  for (size_t l = 0; l < p; l++) {
    size_t m = g->tucker.shape.m[l];
    for (size_t first = 0; first < n; first += LANES) {
      size_t here = n - first < LANES ? n - first : LANES;
      load(g, l, here, x + first * p, &t);
      lanes_multiply(m, m, g->whitener[l], t.r, t.h);
      for (size_t i = 0; i < here; i++)
        for (size_t k = 0; k < m; k++) j->h[l][(first + i) * m + k] = t.h[k * LANES + i];
    }
  }
}

/* values[i] *= h_i'a for the first n rows of a dimension. */
static void multiply_by_products(size_t n, size_t m, const double *h, const double *a,
                                 const struct joint *j, double *values)
{
  cblas_dgemv(CblasColMajor, CblasTrans, (int)m, (int)n, 1, h, (int)m, a, 1, 0, j->part, 1);
  for (size_t i = 0; i < n; i++) values[i] *= j->part[i];
}

/* prod_l kappa_l of two rows. */
static double correlation(const struct predictor *g, const double *a, const double *b)
{
  double r[GPNN_TUCKER_DIMENSIONS], product = 1;
  size_t p = g->tucker.shape.p;
  for (size_t l = 0; l < p; l++) {
    double distance = fmin(fabs(a[l] - b[l]) * g->inverse[l], 1e100);
    r[l] = distance * distance;
  }
  gpnn_kernel_correlate(g->tucker.kernel, 0, p, r);
  for (size_t l = 0; l < p; l++) product *= r[l];
  return product;
}

/* What the covariance of 'row' with itself and those before loses and keeps. */
static void explain_row(const struct predictor *g, size_t row, const struct joint *j)
{
  for (size_t i = 0; i <= row; i++) j->explained[i] = j->kept[i] = 1;
  for (size_t l = 0; l < g->tucker.shape.p; l++) {
    size_t m = g->tucker.shape.m[l];
    const double *own = j->h[l] + row * m;
    multiply_by_products(row + 1, m, j->h[l], own, j, j->explained);
    for (size_t k = 0; k < m; k++) j->scaled[k] = g->share[l][k] * own[k];
    multiply_by_products(row + 1, m, j->h[l], j->scaled, j, j->kept);
  }
}

static enum gpnn_status join_channel(const void *state, size_t n, const double *x,
                                     double *covariance, struct gpnn_error *err)
{
  const struct predictor *g = state;
  size_t p = g->tucker.shape.p;
  struct joint j = {0};
  if (g->is_residual)
    return gpnn_fail(err, GPNN_EINVAL,
                     "the variance of this model is that of residuals, which says nothing of how "
                     "errors of rows go together");
  enum gpnn_status status = joint_new(&j, g, n, err);
  if (status != GPNN_OK) return status;
  if (!g->is_constant) whiten_rows(g, n, x, &j);
  for (size_t row = 0; row < n; row++) {
    if (!g->is_constant) explain_row(g, row, &j);
    for (size_t i = 0; i <= row; i++) {
      double c = correlation(g, x + row * p, x + i * p);
      if (!g->is_constant) c += j.kept[i] - j.explained[i];
      covariance[row * n + i] = covariance[i * n + row] = g->kernelscale * c;
    }
  }
  free(j.block);
  return GPNN_OK;
}

/* ---- the model ----------------------------------------------------------------------------- */

static enum gpnn_status tucker_make(void **state, size_t n, const struct gpnn_channel *channels,
                                    const struct gpnn_model_options *options,
                                    struct gpnn_error *err)
{
  return gpnn_stored_model_new(state, n, channels, options->threads, make_channel, free_channel,
                               err);
}

static enum gpnn_status tucker_predict(const void *state, const struct gpnn_query *query,
                                       const struct gpnn_latent *latent, struct gpnn_counts *counts,
                                       struct gpnn_error *err)
{
  (void)counts; /* whose events are those of single rows */
  return gpnn_stored_model_predict(state, query, latent, predict_channel, err);
}

static enum gpnn_status tucker_joint(const void *state, size_t channel,
                                     const struct gpnn_query *query,
                                     const struct gpnn_errors *errors, double *covariance,
                                     struct gpnn_error *err)
{
  return gpnn_stored_model_joint(state, channel, query, errors, covariance, join_channel, err);
}

const struct gpnn_model_ops gpnn_tucker_ops = {.make = tucker_make,
                                               .with = gpnn_stored_model_with,
                                               .predict = tucker_predict,
                                               .joint = tucker_joint,
                                               .free = gpnn_stored_model_free};
