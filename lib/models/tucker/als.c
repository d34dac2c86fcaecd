#include "linalg/arrays.h"
#include "models/tucker/tucker_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/iterative/cg.h"

#define MEMORY_FOR "for least squares on a grid"

/* Rows of a piece, whose sums are made by one thread, and of the block of the design that it
 * multiplies at a time. */
enum { PIECE = 4096, BLOCK = 4 * GPNN_TUCKER_TILE };

/* What a thread works with. */
struct worker {
  struct gpnn_tucker_tile tile;
  double *design;             /* owned; BLOCK by unknowns, row-major */
  double *y;                  /* owned; BLOCK */
  double *sums;               /* owned; sums of x (y or x'b), then of x x' */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

struct gpnn_tucker_als {
  struct gpnn_tucker_matrices matrices;
  size_t most_dense, most; /* unknowns of any step, at most */
  size_t n_workers;
  struct worker *worker;             /* owned; n_workers */
  double *total;                     /* owned; as the sums of a worker */
  double *normal;                    /* owned; unknowns squared, if dense */
  double *solution, *scratch;        /* owned; the most unknowns, each */
  double *g[GPNN_TUCKER_DIMENSIONS]; /* G_l */
  double *gram, *work;               /* H_l; gpnn_tucker_core_work() */
  double *block;                     /* owned: g and these */
  struct gpnn_arrays *arrays;        /* owned; what frees the arrays */
};

/* The least squares of one step: the core, or the factor of a dimension. */
struct step {
  struct gpnn_tucker_als *als;
  const struct gpnn_tucker *t;
  const struct gpnn_tucker_data *data;
  size_t l;        /* the dimension; p: the core */
  size_t n;        /* unknowns */
  const double *b; /* n: multiply the design of each row by this in place of y; NULL: y */
  bool is_dense;
  double kernelscale, noise;
};

/* ---- memory -------------------------------------------------------------------------------- */

void gpnn_tucker_als_free(struct gpnn_tucker_als *a)
{
  if (a == NULL) return;
  for (size_t i = 0; a->worker != NULL && i < a->n_workers; i++) {
    gpnn_tucker_tile_release(&a->worker[i].tile);
    gpnn_arrays_free(a->worker[i].arrays);
  }
  gpnn_tucker_matrices_release(&a->matrices);
  gpnn_arrays_free(a->arrays);
  free(a->worker);
  free(a);
}

static size_t unknowns(const struct gpnn_tucker *t, size_t l)
{
  return l == t->shape.p ? t->n_core : t->shape.m[l] * t->shape.q[l];
}

/* The sums of a step: those of products only if they are solved with. */
static size_t n_sums(size_t n, bool is_dense)
{
  return n + (is_dense ? n * n : 0);
}

static size_t most_sums(const struct gpnn_tucker_als *a, const struct gpnn_tucker *t)
{
  size_t most = 0;
  for (size_t l = 0; l <= t->shape.p; l++) {
    size_t n = unknowns(t, l), sums = n_sums(n, n <= a->most_dense);
    most = sums > most ? sums : most;
  }
  return most;
}

static enum gpnn_status allocate(struct gpnn_tucker_als *a, const struct gpnn_tucker *t,
                                 struct gpnn_error *err)
{
  const struct gpnn_tucker_shape *shape = &t->shape;
  size_t grams = 0, widest = 0, sums = most_sums(a, t);
  for (size_t l = 0; l < shape->p; l++) {
    grams += shape->q[l] * shape->q[l];
    widest = shape->q[l] > widest ? shape->q[l] : widest;
  }
  for (size_t l = 0; l <= shape->p; l++)
    a->most = unknowns(t, l) > a->most ? unknowns(t, l) : a->most;
  size_t block = grams + widest * widest + gpnn_tucker_core_work(shape);
  a->arrays = GPNN_ARRAYS(GPNN_ARRAY(a->total, sums, 1), GPNN_ARRAY(a->normal, sums, 1),
                          GPNN_ARRAY(a->solution, a->most, 1), GPNN_ARRAY(a->scratch, a->most, 1),
                          GPNN_ARRAY(a->block, block, 1));
  if (a->arrays == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  double *at = a->block;
  for (size_t l = 0; l < shape->p; at += shape->q[l] * shape->q[l], l++) a->g[l] = at;
  a->gram = at;
  a->work = at + widest * widest;
  return GPNN_OK;
}

static enum gpnn_status allocate_worker(struct gpnn_tucker_als *a, const struct gpnn_tucker *t,
                                        struct worker *worker, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_tucker_tile_new(&worker->tile, t, err);
  if (status != GPNN_OK) return status;
  worker->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(worker->design, BLOCK, a->most), GPNN_ARRAY(worker->y, BLOCK, 1),
                  GPNN_ARRAY(worker->sums, most_sums(a, t), 1));
  return worker->arrays != NULL ? GPNN_OK : gpnn_fail_memory(err, MEMORY_FOR);
}

enum gpnn_status gpnn_tucker_als_new(struct gpnn_tucker_als **als, const struct gpnn_tucker *tucker,
                                     size_t most_dense, int threads, struct gpnn_error *err)
{
  struct gpnn_tucker_als *a = calloc(1, sizeof *a);
  if (a == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  a->most_dense = most_dense;
  a->worker = calloc((size_t)threads, sizeof *a->worker);
  enum gpnn_status status = a->worker == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : GPNN_OK;
  if (status == GPNN_OK) status = gpnn_tucker_matrices_new(&a->matrices, tucker, err);
  if (status == GPNN_OK) status = allocate(a, tucker, err);
  for (; a->n_workers < (size_t)threads && status == GPNN_OK; a->n_workers++)
    status = allocate_worker(a, tucker, &a->worker[a->n_workers], err);
  if (status == GPNN_OK)
    *als = a;
  else
    gpnn_tucker_als_free(a);
  return status;
}

enum gpnn_status gpnn_tucker_als_set(struct gpnn_tucker_als *als, const struct gpnn_tucker *tucker,
                                     struct gpnn_error *err)
{
  return gpnn_tucker_matrices_set(&als->matrices, tucker, err);
}

/* ---- sums over rows ------------------------------------------------------------------------ */

/* The design of n rows from 'first' on: what the mean of each is linear in.  For a factor these are
 * correlations whitened by L_R, so that the prior's part of the equations is well conditioned. */
static void fill_design(const struct step *step, size_t first, size_t n,
                        const struct gpnn_tucker_tile *tile, double *design)
{
  const struct gpnn_tucker *t = step->t;
  const double *v[GPNN_TUCKER_DIMENSIONS];
  double *h[GPNN_TUCKER_DIMENSIONS];
  bool is_core = step->l == t->shape.p;
  gpnn_tucker_tile_project(t, step->data, first, n, false, tile);
  if (!is_core) gpnn_tucker_tile_whiten(t, &step->als->matrices, step->l, n, tile);
  for (size_t i = 0; i < n; i++, design += step->n) {
    for (size_t l = 0; l < t->shape.p; l++) {
      v[l] = tile->dimension[l].v + i * t->shape.q[l];
      h[l] = tile->dimension[l].h + i * t->shape.q[l];
    }
    gpnn_tucker_core_partials(&t->shape, t->numbers, v, is_core ? design : NULL, is_core ? NULL : h,
                              tile->work);
    if (is_core) continue;
    size_t m = t->shape.m[step->l], q = t->shape.q[step->l];
    const double *white = tile->dimension[step->l].white + i * m;
    for (size_t j = 0; j < m; j++)
      for (size_t a = 0; a < q; a++) design[j * q + a] = white[j] * h[step->l][a];
  }
}

/* Adds the products of a block of n rows. */
static void add_block(const struct step *step, size_t first, size_t n, const struct worker *worker)
{
  int width = (int)step->n;
  for (size_t at = 0; at < n; at += GPNN_TUCKER_TILE)
    fill_design(step, first + at, n - at < GPNN_TUCKER_TILE ? n - at : GPNN_TUCKER_TILE,
                &worker->tile, worker->design + at * step->n);
  for (size_t i = 0; i < n; i++)
    worker->y[i] = step->b == NULL ? step->data->y[gpnn_tucker_row(step->data, first + i)] : 0;
  if (step->b != NULL)
    cblas_dgemv(CblasColMajor, CblasTrans, width, (int)n, 1, worker->design, width, step->b, 1, 0,
                worker->y, 1);
  cblas_dgemv(CblasColMajor, CblasNoTrans, width, (int)n, 1, worker->design, width, worker->y, 1, 1,
              worker->sums, 1);
  if (step->is_dense && step->b == NULL)
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, width, (int)n, 1, worker->design, width, 1,
                worker->sums + step->n, width);
}

static enum gpnn_status add_piece(void *context, size_t thread, size_t piece,
                                  struct gpnn_error *err)
{
  const struct step *step = context;
  const struct worker *worker = &step->als->worker[thread];
  size_t end = (piece + 1) * PIECE < step->data->n ? (piece + 1) * PIECE : step->data->n;
  (void)err;
  memset(worker->sums, 0, n_sums(step->n, step->is_dense) * sizeof *worker->sums);
  for (size_t first = piece * PIECE; first < end; first += BLOCK)
    add_block(step, first, end - first < BLOCK ? end - first : BLOCK, worker);
  return GPNN_OK;
}

static enum gpnn_status take_piece(void *context, size_t thread, size_t piece,
                                   struct gpnn_error *err)
{
  const struct step *step = context;
  (void)piece;
  (void)err;
  cblas_daxpy((int)n_sums(step->n, step->is_dense), 1, step->als->worker[thread].sums, 1,
              step->als->total, 1);
  return GPNN_OK;
}

static enum gpnn_status sum_rows(struct step *step, struct gpnn_error *err)
{
  struct gpnn_tucker_als *a = step->als;
  int threads = step->data->threads < (int)a->n_workers ? step->data->threads : (int)a->n_workers;
  memset(a->total, 0, n_sums(step->n, step->is_dense) * sizeof *a->total);
  return gpnn_threads_in_order(threads, (step->data->n + PIECE - 1) / PIECE, add_piece, take_piece,
                               step, err);
}

/* ---- the prior's part ---------------------------------------------------------------------- */

static void find_gram(struct gpnn_tucker_als *a, const struct gpnn_tucker *t, size_t l)
{
  size_t m = t->shape.m[l], q = t->shape.q[l];
  const double *u = t->numbers + t->factor[l];
  memset(a->g[l], 0, q * q * sizeof *a->g[l]);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < m; j++) {
      double r = a->matrices.dimension[l].r[i * m + j];
      for (size_t b = 0; b < q; b++)
        cblas_daxpy((int)q, r * u[i * q + b], u + j * q, 1, a->g[l] + b * q, 1);
    }
}

/* The digits of all indices of the core, p each. */
static void find_digits(const struct gpnn_tucker_shape *shape, size_t i, size_t *digit)
{
  for (size_t l = shape->p; l-- > 0;) {
    digit[l] = i % shape->q[l];
    if (!shape->is_diagonal) i /= shape->q[l];
  }
}

/* Adds the lower triangle of (kron_l G_l) / kernelscale, or of its part on the diagonal core. */
static void add_core_penalty(const struct step *step, double *matrix)
{
  const struct gpnn_tucker_shape *shape = &step->t->shape;
  size_t row[GPNN_TUCKER_DIMENSIONS], column[GPNN_TUCKER_DIMENSIONS];
  for (size_t j = 0; j < step->n; j++) {
    find_digits(shape, j, column);
    for (size_t i = j; i < step->n; i++) {
      double product = 1 / step->kernelscale;
      find_digits(shape, i, row);
      for (size_t l = 0; l < shape->p && product != 0; l++)
        product *= step->als->g[l][row[l] * shape->q[l] + column[l]];
      matrix[j * step->n + i] += product;
    }
  }
}

/* Adds that of (I kron H_l) / kernelscale. */
static void add_factor_penalty(const struct step *step, double *matrix)
{
  size_t q = step->t->shape.q[step->l];
  for (size_t j = 0; j < step->n; j++)
    for (size_t b = 0; b < q; b++) {
      size_t i = j / q * q + b;
      if (i >= j) matrix[j * step->n + i] += step->als->gram[b * q + j % q] / step->kernelscale;
    }
}

/* The lower triangle of the equations' matrix. */
static void fill_normal(void *context, double *matrix)
{
  const struct step *step = context;
  const double *products = step->als->total + step->n;
  for (size_t i = 0; i < step->n * step->n; i++) matrix[i] = products[i] / step->noise;
  if (step->l == step->t->shape.p)
    add_core_penalty(step, matrix);
  else
    add_factor_penalty(step, matrix);
}

/* ---- solving ------------------------------------------------------------------------------- */

static enum gpnn_status solve_dense(struct step *step, struct gpnn_error *err)
{
  struct gpnn_tucker_als *a = step->als;
  double scale = 0;
  enum gpnn_status status = sum_rows(step, err);
  if (status != GPNN_OK) return status;
  fill_normal(step, a->normal);
  for (size_t j = 0; j < step->n; j++) scale += a->normal[j * (step->n + 1)] / (double)step->n;
  status = gpnn_cholesky_factor(step->n, a->normal, NULL, scale > 0 ? scale : 1, fill_normal, step,
                                NULL, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "least squares on a grid");
  for (size_t j = 0; j < step->n; j++) a->solution[j] = a->total[j] / step->noise;
  gpnn_cholesky_solve(step->n, a->normal, a->solution);
  return GPNN_OK;
}

/* y = (D'D / noise + prior) x. */
static enum gpnn_status multiply(void *context, size_t columns, const double *x, double *y,
                                 struct gpnn_error *err)
{
  struct step *step = context;
  struct gpnn_tucker_als *a = step->als;
  const struct gpnn_tucker_shape *shape = &step->t->shape;
  (void)columns; /* 1 */
  step->b = x;
  enum gpnn_status status = sum_rows(step, err);
  if (status != GPNN_OK) return status;
  if (step->l == shape->p) {
    gpnn_tucker_core_quadratic(shape, x, (const double *const *)a->g, y, a->work);
  } else {
    int m = (int)shape->m[step->l], q = (int)shape->q[step->l];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, q, q, 1, x, q, a->gram, q, 0, y, q);
  }
  for (size_t j = 0; j < step->n; j++) y[j] = y[j] / step->kernelscale + a->total[j] / step->noise;
  return GPNN_OK;
}

static enum gpnn_status solve_iteratively(struct step *step, struct gpnn_error *err)
{
  struct gpnn_tucker_als *a = step->als;
  const struct gpnn_cg_matrix matrix = {1, step->n, multiply, NULL, step};
  const struct gpnn_cg_options options = {.tolerance = 1e-8, .most_iterations = 500, .threads = 1};
  struct gpnn_cg_report report;
  enum gpnn_status status = sum_rows(step, err);
  for (size_t j = 0; j < step->n && status == GPNN_OK; j++)
    a->scratch[j] = a->total[j] / step->noise;
  if (status == GPNN_OK)
    status = gpnn_cg_solve(&matrix, 1, a->scratch, a->solution, &options, NULL, &report, err);
  return status;
}

static enum gpnn_status solve(struct step *step, struct gpnn_error *err)
{
  struct gpnn_tucker_als *a = step->als;
  const struct gpnn_tucker *t = step->t;
  step->n = unknowns(t, step->l);
  step->is_dense = step->n <= a->most_dense;
  step->kernelscale = exp(t->numbers[t->kernelscale]);
  step->noise = exp(t->numbers[t->noise]);
  for (size_t k = 0; k < t->shape.p; k++) find_gram(a, t, k);
  if (step->l < t->shape.p)
    gpnn_tucker_core_gram(&t->shape, step->l, t->numbers, (const double *const *)a->g, a->gram,
                          a->work);
  enum gpnn_status status = step->is_dense ? solve_dense(step, err) : solve_iteratively(step, err);
  for (size_t j = 0; j < step->n && status == GPNN_OK; j++)
    if (!isfinite(a->solution[j]))
      return gpnn_fail(err, GPNN_ENUMERIC, "least squares on a grid: a solution is not finite");
  return status;
}

enum gpnn_status gpnn_tucker_als_core(struct gpnn_tucker_als *als, struct gpnn_tucker *tucker,
                                      const struct gpnn_tucker_data *data, struct gpnn_error *err)
{
  struct step step = {.als = als, .t = tucker, .data = data, .l = tucker->shape.p};
  memcpy(als->solution, tucker->numbers, tucker->n_core * sizeof *als->solution);
  enum gpnn_status status = solve(&step, err);
  if (status == GPNN_OK)
    memcpy(tucker->numbers, als->solution, tucker->n_core * sizeof *als->solution);
  return status;
}

enum gpnn_status gpnn_tucker_als_factor(struct gpnn_tucker_als *als, struct gpnn_tucker *tucker,
                                        const struct gpnn_tucker_data *data, size_t l,
                                        struct gpnn_error *err)
{
  struct step step = {.als = als, .t = tucker, .data = data, .l = l};
  size_t n = unknowns(tucker, l);
  memcpy(als->solution, tucker->numbers + tucker->factor[l], n * sizeof *als->solution);
  gpnn_tucker_whiten(&als->matrices, tucker, l, false, als->solution);
  enum gpnn_status status = solve(&step, err);
  if (status != GPNN_OK) return status;
  gpnn_tucker_whiten(&als->matrices, tucker, l, true, als->solution);
  memcpy(tucker->numbers + tucker->factor[l], als->solution, n * sizeof *als->solution);
  return GPNN_OK;
}

/* ---- the gauge ----------------------------------------------------------------------------- */

/* G_l, for which the caller's matrix has room. */
struct gram {
  const double *g;
  size_t q;
};

static void refill_gram(void *context, double *matrix)
{
  const struct gram *gram = context;
  memcpy(matrix, gram->g, gram->q * gram->q * sizeof *matrix);
}

/* The columns of U_l get the length 1, in the metric of R_l. */
static void scale_columns(struct gpnn_tucker *t, size_t l, const double *g)
{
  size_t q = t->shape.q[l];
  for (size_t k = 0; k < q; k++) {
    double length = sqrt(g[k * (q + 1)]);
    if (!(length > 0)) continue;
    t->numbers[k] *= length;
    for (size_t j = 0; j < t->shape.m[l]; j++) t->numbers[t->factor[l] + j * q + k] /= length;
  }
}

enum gpnn_status gpnn_tucker_als_gauge(struct gpnn_tucker_als *als, struct gpnn_tucker *tucker,
                                       size_t l, struct gpnn_error *err)
{
  size_t q = tucker->shape.q[l];
  double *root = als->gram, scale = 0;
  find_gram(als, tucker, l);
  if (tucker->shape.is_diagonal) {
    scale_columns(tucker, l, als->g[l]);
    return GPNN_OK;
  }
  struct gram gram = {als->g[l], q};
  refill_gram(&gram, root);
  for (size_t k = 0; k < q; k++) scale += root[k * (q + 1)] / (double)q;
  if (scale == 0) return GPNN_OK; /* a factor of zeros */
  enum gpnn_status status =
      gpnn_cholesky_factor(q, root, NULL, scale, refill_gram, &gram, NULL, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "dimension %zu of the grid", l + 1);
  gpnn_cholesky_forward(q, root, tucker->shape.m[l], tucker->numbers + tucker->factor[l]);
  for (size_t j = 1; j < q; j++) memset(root + j * q, 0, j * sizeof *root);
  gpnn_tucker_core_transform(&tucker->shape, l, q, root, tucker->numbers, als->work);
  return GPNN_OK;
}

enum gpnn_status gpnn_tucker_als_sweep(struct gpnn_tucker_als *als, struct gpnn_tucker *tucker,
                                       const struct gpnn_tucker_data *data, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_tucker_als_core(als, tucker, data, err);
  for (size_t l = 0; l < tucker->shape.p && status == GPNN_OK; l++) {
    status = gpnn_tucker_als_factor(als, tucker, data, l, err);
    if (status == GPNN_OK) status = gpnn_tucker_als_gauge(als, tucker, l, err);
  }
  return status;
}
