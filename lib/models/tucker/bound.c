#include "models/tucker/tucker_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "stats/distributions/normal.h"

#define MEMORY_FOR "for a grid of inducing points"

/* Rows of a piece, whose sums are made by one thread; sums that every piece has, before those of
 * the gradient: squared residuals, shares of the variance left, products of a and of c. */
enum { PIECE = 8 * GPNN_TUCKER_TILE, SQUARES = 0, LEFT, EXPLAINED, KEPT, N_SUMS };

/* What a thread works with. */
struct worker {
  struct gpnn_tucker_tile tile;
  double *sums; /* owned; N_SUMS + n_numbers */
};

struct gpnn_tucker_bound {
  struct gpnn_tucker_matrices matrices;
  size_t n_workers;
  struct worker *worker;                /* owned; n_workers */
  double *total;                        /* owned; as the sums of a worker */
  double *g[GPNN_TUCKER_DIMENSIONS];    /* G_l = U_l'R_l U_l, q by q */
  double *work, *product, *gram, *wide; /* gpnn_tucker_core_work(); n_core; q by q; 2 m by m or q */
  double *block;                        /* owned: g and these */
};

/* ---- memory -------------------------------------------------------------------------------- */

void gpnn_tucker_bound_free(struct gpnn_tucker_bound *b)
{
  if (b == NULL) return;
  for (size_t i = 0; b->worker != NULL && i < b->n_workers; i++) {
    gpnn_tucker_tile_release(&b->worker[i].tile);
    free(b->worker[i].sums);
  }
  gpnn_tucker_matrices_release(&b->matrices);
  free(b->worker);
  free(b->total);
  free(b->block);
  free(b);
}

static enum gpnn_status allocate(struct gpnn_tucker_bound *b, const struct gpnn_tucker *t,
                                 struct gpnn_error *err)
{
  const struct gpnn_tucker_shape *shape = &t->shape;
  size_t work = gpnn_tucker_core_work(shape), most = 0, grams = 0, widest = 0;
  for (size_t l = 0; l < shape->p; l++) {
    size_t wide = shape->m[l] > shape->q[l] ? shape->m[l] : shape->q[l];
    grams += shape->q[l] * shape->q[l];
    most = shape->q[l] > most ? shape->q[l] : most;
    widest = wide > widest ? wide : widest;
  }
  b->total = gpnn_alloc(N_SUMS + t->n_numbers, 1, sizeof(double));
  b->block =
      gpnn_alloc(grams + work + t->n_core + most * most + 2 * widest * widest, 1, sizeof(double));
  if (b->total == NULL || b->block == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  double *at = b->block;
  for (size_t l = 0; l < shape->p; at += shape->q[l] * shape->q[l], l++) b->g[l] = at;
  b->work = at;
  b->product = b->work + work;
  b->gram = b->product + t->n_core;
  b->wide = b->gram + most * most;
  return GPNN_OK;
}

static enum gpnn_status allocate_workers(struct gpnn_tucker_bound *b, const struct gpnn_tucker *t,
                                         struct gpnn_error *err)
{
  b->worker = calloc(b->n_workers, sizeof *b->worker);
  enum gpnn_status status = b->worker == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : GPNN_OK;
  for (size_t i = 0; i < b->n_workers && status == GPNN_OK; i++) {
    status = gpnn_tucker_tile_new(&b->worker[i].tile, t, err);
    b->worker[i].sums = gpnn_alloc(N_SUMS + t->n_numbers, 1, sizeof(double));
    if (status == GPNN_OK && b->worker[i].sums == NULL) status = gpnn_fail_memory(err, MEMORY_FOR);
  }
  return status;
}

enum gpnn_status gpnn_tucker_bound_new(struct gpnn_tucker_bound **bound,
                                       const struct gpnn_tucker *tucker, int threads,
                                       struct gpnn_error *err)
{
  struct gpnn_tucker_bound *b = calloc(1, sizeof *b);
  if (b == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  b->n_workers = (size_t)threads;
  enum gpnn_status status = gpnn_tucker_matrices_new(&b->matrices, tucker, err);
  if (status == GPNN_OK) status = allocate(b, tucker, err);
  if (status == GPNN_OK) status = allocate_workers(b, tucker, err);
  if (status == GPNN_OK)
    *bound = b;
  else
    gpnn_tucker_bound_free(b);
  return status;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* What the pieces of rows need to know. */
struct rows {
  struct gpnn_tucker_bound *b;
  const struct gpnn_tucker *t;
  const struct gpnn_tucker_data *data;
  double kernelscale, noise;
  bool with_gradient;
};

/* Adds what n rows of a tile, with 'residual' over the noise variance, say of the mean: to the
 * derivatives by the core, the factors and the lengthscales. */
static void add_mean(const struct rows *rows, size_t n, const double *residual,
                     const struct gpnn_tucker_tile *tile, double *gradient)
{
  const struct gpnn_tucker *t = rows->t;
  const double *v[GPNN_TUCKER_DIMENSIONS];
  double *h[GPNN_TUCKER_DIMENSIONS];
  for (size_t i = 0; i < n; i++) {
    for (size_t l = 0; l < t->shape.p; l++) {
      v[l] = tile->dimension[l].v + i * t->shape.q[l];
      h[l] = tile->dimension[l].h + i * t->shape.q[l];
    }
    gpnn_tucker_core_partials(&t->shape, t->numbers, v, tile->by_core, h, tile->work);
    cblas_daxpy((int)t->n_core, residual[i], tile->by_core, 1, gradient, 1);
    for (size_t l = 0; l < t->shape.p; l++)
      for (size_t a = 0; a < t->shape.q[l]; a++) h[l][a] *= residual[i];
  }
  for (size_t l = 0; l < t->shape.p; l++) {
    const struct gpnn_tucker_view *own = &tile->dimension[l];
    int m = (int)t->shape.m[l], q = (int)t->shape.q[l];
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, q, (int)n, 1, own->r, m, own->h, q, 1,
                gradient + t->factor[l], q);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, m, q, 1, own->h, q,
                t->numbers + t->factor[l], q, 0, tile->moment, m);
    gradient[t->lengthscale + l] += cblas_ddot((int)n * m, tile->moment, 1, own->slope, 1);
  }
}

/* The products of a and of c of a row over all dimensions but l. */
static void others(const struct rows *rows, const struct gpnn_tucker_tile *tile, size_t i, size_t l,
                   double *a, double *c)
{
  *a = *c = 1;
  for (size_t k = 0; k < rows->t->shape.p; k++) {
    *a *= k == l ? 1 : tile->dimension[k].a[i];
    *c *= k == l ? 1 : tile->dimension[k].c[i];
  }
}

/* Adds what n rows say of the variance, to the derivatives by rho_l and the lengthscale of one
 * dimension. */
static void add_variance(const struct rows *rows, size_t l, size_t n,
                         const struct gpnn_tucker_tile *tile, double *gradient)
{
  const struct gpnn_tucker *t = rows->t;
  const struct gpnn_tucker_view *own = &tile->dimension[l];
  const struct gpnn_tucker_matrix *matrix = &rows->b->matrices.dimension[l];
  size_t m = t->shape.m[l];
  double scale = rows->data->weight * rows->kernelscale / rows->noise, sum = 0;
  const double *const vector[] = {own->e, own->w};
  for (int which = 0; which < 2; which++) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)m, (int)m, 1, vector[which],
                (int)m, matrix->slope, (int)m, 0, tile->moment, (int)m);
    for (size_t i = 0; i < n; i++) {
      double a, c;
      others(rows, tile, i, l, &a, &c);
      sum += 0.5 * (which == 0 ? c - a : -c) *
             cblas_ddot((int)m, vector[which] + i * m, 1, tile->moment + i * m, 1);
    }
  }
  for (size_t i = 0; i < n; i++) {
    double a, c;
    others(rows, tile, i, l, &a, &c);
    for (size_t j = 0; j < m; j++) {
      double e = own->e[i * m + j], w = own->w[i * m + j];
      sum += (a * e - c * (e - w)) * own->slope[i * m + j];
      gradient[t->rho[l] + j] -= 0.5 * scale * matrix->s[j] * c * w * w;
    }
  }
  gradient[t->lengthscale + l] += scale * sum;
}

static void add_shares(const struct rows *rows, size_t n, const struct gpnn_tucker_tile *tile,
                       double *sums)
{
  for (size_t i = 0; i < n; i++) {
    double a, c;
    others(rows, tile, i, rows->t->shape.p, &a, &c);
    sums[LEFT] += gpnn_tucker_tile_left(rows->t, tile, i);
    sums[EXPLAINED] += a;
    sums[KEPT] += c;
  }
}

/* Adds what a tile's rows say to the sums. */
static void add_tile(const struct rows *rows, size_t first, size_t n,
                     const struct gpnn_tucker_tile *tile, double *sums)
{
  double residual[GPNN_TUCKER_TILE];
  gpnn_tucker_tile_project(rows->t, rows->data, first, n, rows->with_gradient, tile);
  gpnn_tucker_tile_means(rows->t, n, tile);
  for (size_t i = 0; i < n; i++) {
    residual[i] = rows->data->y[gpnn_tucker_row(rows->data, first + i)] - tile->mean[i];
    sums[SQUARES] += residual[i] * residual[i];
    residual[i] *= rows->data->weight / rows->noise;
  }
  if (rows->with_gradient) add_mean(rows, n, residual, tile, sums + N_SUMS);
  if (!rows->t->has_covariance) {
    sums[LEFT] += (double)n;
    sums[EXPLAINED] += (double)n;
    sums[KEPT] += (double)n;
    return;
  }
  gpnn_tucker_tile_variances(rows->t, &rows->b->matrices, n, tile);
  add_shares(rows, n, tile, sums);
  for (size_t l = 0; l < rows->t->shape.p && rows->with_gradient; l++)
    add_variance(rows, l, n, tile, sums + N_SUMS);
}

static size_t n_sums(const struct rows *rows)
{
  return N_SUMS + (rows->with_gradient ? rows->t->n_numbers : 0);
}

static enum gpnn_status add_piece(void *context, size_t thread, size_t piece,
                                  struct gpnn_error *err)
{
  const struct rows *rows = context;
  const struct worker *worker = &rows->b->worker[thread];
  size_t end = (piece + 1) * PIECE < rows->data->n ? (piece + 1) * PIECE : rows->data->n;
  (void)err;
  memset(worker->sums, 0, n_sums(rows) * sizeof *worker->sums);
  for (size_t first = piece * PIECE; first < end; first += GPNN_TUCKER_TILE)
    add_tile(rows, first, end - first < GPNN_TUCKER_TILE ? end - first : GPNN_TUCKER_TILE,
             &worker->tile, worker->sums);
  return GPNN_OK;
}

static enum gpnn_status take_piece(void *context, size_t thread, size_t piece,
                                   struct gpnn_error *err)
{
  const struct rows *rows = context;
  const double *sums = rows->b->worker[thread].sums;
  (void)piece;
  (void)err;
  for (size_t i = 0; i < n_sums(rows); i++) rows->b->total[i] += sums[i];
  return GPNN_OK;
}

/* ---- the prior ----------------------------------------------------------------------------- */

/* G_l of all dimensions. */
static void find_grams(struct gpnn_tucker_bound *b, const struct gpnn_tucker *t)
{
  for (size_t l = 0; l < t->shape.p; l++) {
    int m = (int)t->shape.m[l], q = (int)t->shape.q[l];
    const double *u = t->numbers + t->factor[l];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, q, m, 1, b->matrices.dimension[l].r,
                m, u, q, 0, b->wide, q);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, q, q, m, 1, u, q, b->wide, q, 0, b->g[l],
                q);
  }
}

/* Adds the derivatives of -<W, W x_l G_l> / (2 s) by U_l and its lengthscale. */
static void add_penalty(struct gpnn_tucker_bound *b, const struct gpnn_tucker *t, size_t l,
                        double kernelscale, double *gradient)
{
  int m = (int)t->shape.m[l], q = (int)t->shape.q[l];
  const struct gpnn_tucker_matrix *matrix = &b->matrices.dimension[l];
  const double *u = t->numbers + t->factor[l];
  double *by_lengthscale = b->wide + m * q;
  gpnn_tucker_core_gram(&t->shape, l, t->numbers, (const double *const *)b->g, b->gram, b->work);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, q, q, 1, u, q, b->gram, q, 0, b->wide,
              q); /* U H */
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, q, m, -1 / kernelscale, matrix->r, m,
              b->wide, q, 1, gradient + t->factor[l], q);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, q, m, 1, matrix->slope, m, u, q, 0,
              by_lengthscale, q);
  gradient[t->lengthscale + l] -=
      0.5 / kernelscale * cblas_ddot(m * q, b->wide, 1, by_lengthscale, 1);
}

/* The probability, so to speak, that no other dimension has an eigenvalue's share: phi_l, and in
 * '*any' 1 - phi_l, which does not cancel. */
static double none_of_others(const struct gpnn_tucker_bound *b, size_t p, size_t l, double *any)
{
  double none = 1;
  *any = 0;
  for (size_t k = 0; k < p; k++) {
    if (k == l) continue;
    *any += b->matrices.dimension[k].mean * none;
    none *= 1 - b->matrices.dimension[k].mean;
  }
  return none;
}

/* Adds the derivatives of minus the divergence (17.39) by rho_l and its lengthscale (17.43). */
static void add_divergence(struct gpnn_tucker_bound *b, const struct gpnn_tucker *t, size_t l,
                           double *gradient)
{
  size_t m = t->shape.m[l];
  const struct gpnn_tucker_matrix *matrix = &b->matrices.dimension[l];
  double *share = b->wide, *slope = b->wide + m * m; /* C^-1 R and C^-1 dR */
  double any, none = none_of_others(b, t->shape.p, l, &any), sum = 0;
  double scale = 0.5 * t->n_points / (double)m;
  memcpy(share, matrix->r, m * m * sizeof *share);
  memcpy(slope, matrix->slope, m * m * sizeof *slope);
  for (int which = 0; which < 2; which++) {
    gpnn_cholesky_forward(m, matrix->root_c, m, which == 0 ? share : slope);
    gpnn_cholesky_backward(m, matrix->root_c, m, which == 0 ? share : slope);
  }
  for (size_t j = 0; j < m; j++) {
    double squares = 0;
    for (size_t k = 0; k < m; k++) {
      squares += share[k * m + j] * share[k * m + j] / matrix->s[k];
      sum += none * share[k * m + j] * slope[j * m + k];
    }
    sum += any * slope[j * m + j];
    gradient[t->rho[l] + j] += scale * (any * share[j * m + j] + none * matrix->s[j] * squares);
  }
  gradient[t->lengthscale + l] -= scale * sum;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void add_prior(const struct rows *rows, double quadratic, double *gradient)
{
  const struct gpnn_tucker *t = rows->t;
  const double *total = rows->b->total;
  double weight = rows->data->weight, s = rows->kernelscale, v = rows->noise;
  cblas_daxpy((int)t->n_core, -1 / s, rows->b->product, 1, gradient, 1);
  for (size_t l = 0; l < t->shape.p; l++) {
    add_penalty(rows->b, t, l, s, gradient);
    if (t->has_covariance) add_divergence(rows->b, t, l, gradient);
  }
  gradient[t->kernelscale] = -0.5 * weight * s * total[LEFT] / v + 0.5 * quadratic / s;
  gradient[t->noise] =
      0.5 * weight * ((total[SQUARES] + s * total[LEFT]) / v - (double)rows->data->n);
}

static enum gpnn_status finish(const struct rows *rows, struct gpnn_tucker_value *value,
                               struct gpnn_error *err)
{
  struct gpnn_tucker_bound *b = rows->b;
  const double *total = b->total;
  double weight = rows->data->weight, s = rows->kernelscale, v = rows->noise;
  struct gpnn_tucker_value found = {.squares = weight * total[SQUARES],
                                    .left = weight * total[LEFT],
                                    .shrinkage =
                                        total[EXPLAINED] > 0 ? total[KEPT] / total[EXPLAINED] : 1};
  find_grams(b, rows->t);
  found.quadratic = gpnn_tucker_core_quadratic(&rows->t->shape, rows->t->numbers,
                                               (const double *const *)b->g, b->product, b->work);
  found.bound = -0.5 * (weight * (double)rows->data->n * (GPNN_LOG_TWO_PI + log(v)) +
                        (found.squares + s * found.left) / v + found.quadratic / s) -
                b->matrices.divergence;
  if (!isfinite(found.bound))
    return gpnn_fail(err, GPNN_ENUMERIC, "the bound of a grid of inducing points is not finite");
  *value = found;
  return GPNN_OK;
}

enum gpnn_status gpnn_tucker_bound_at(struct gpnn_tucker_bound *bound,
                                      const struct gpnn_tucker *tucker,
                                      const struct gpnn_tucker_data *data,
                                      struct gpnn_tucker_value *value, double *gradient,
                                      struct gpnn_error *err)
{
  struct rows rows = {.b = bound,
                      .t = tucker,
                      .data = data,
                      .kernelscale = exp(tucker->numbers[tucker->kernelscale]),
                      .noise = exp(tucker->numbers[tucker->noise]),
                      .with_gradient = gradient != NULL};
  enum gpnn_status status = gpnn_tucker_matrices_set(&bound->matrices, tucker, err);
  if (status != GPNN_OK) return status;
  memset(bound->total, 0, n_sums(&rows) * sizeof *bound->total);
  int threads = data->threads < (int)bound->n_workers ? data->threads : (int)bound->n_workers;
  status = gpnn_threads_in_order(threads, (data->n + PIECE - 1) / PIECE, add_piece, take_piece,
                                 &rows, err);
  struct gpnn_tucker_value found;
  if (status == GPNN_OK) status = finish(&rows, &found, err);
  if (status != GPNN_OK) return status;
  if (gradient != NULL) {
    memcpy(gradient, bound->total + N_SUMS, tucker->n_numbers * sizeof *gradient);
    add_prior(&rows, found.quadratic, gradient);
  }
  *value = found;
  return GPNN_OK;
}
