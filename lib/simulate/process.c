/*
 * The factor is kept in square tiles, and every operation works on whole tiles from left to right,
 * so that the value at a point does not depend on how many points come after its tile.
 */
#include "simulate/process.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "linalg/simd.h"

enum { TILE = GPNN_PROCESS_TILE, AREA = TILE * TILE };

struct draw {
  const struct gpnn_covariance *covariance;
  size_t n, d, n_tiles; /* tiles per side */
  size_t n_draws;
  double *x;       /* the points over the lengthscale, row by row */
  double *columns; /* the same tile by tile, each column by column */
  double *tiles;   /* lower triangle, row by row of tiles; each tile column-major */
  double *z, *f;   /* n_draws by n_tiles times TILE */
};

/* The part of draw 'k' in 'values', which is z or f, that belongs to tile 'i'. */
static double *draw_at(const struct draw *w, double *values, size_t k, size_t i)
{
  return values + (k * w->n_tiles + i) * TILE;
}

static double *tile_at(const struct draw *w, size_t i, size_t j)
{
  return w->tiles + (i * (i + 1) / 2 + j) * AREA;
}

/* The number of points in tile 'i'. */
static size_t height(const struct draw *w, size_t i)
{
  size_t left = w->n - i * TILE;
  return left < TILE ? left : TILE;
}

/* False if a point is not finite once divided by the lengthscale. */
static bool scale_points(const struct draw *w, const double *x)
{
  double lengthscale = *gpnn_covariance_lengthscales(w->covariance);
  bool good = true;
  for (size_t i = 0; i < w->n; i++)
    for (size_t j = 0; j < w->d; j++) {
      double value = x[i * w->d + j] / lengthscale;
      good = good && isfinite(value);
      w->x[i * w->d + j] = value;
      w->columns[(i / TILE * w->d + j) * TILE + i % TILE] = value;
    }
  return good;
}

/* Writes the covariances of the points of tile 'i' with those of tile 'j', zero past the last
 * point.  They are computed for whole tiles, as the end of a vector loop may round differently. */
static void fill(const struct draw *w, size_t i, size_t j)
{
  size_t n_points = height(w, i);
  for (size_t c = 0; c < height(w, j); c++) {
    double *column = tile_at(w, i, j) + c * TILE;
    gpnn_covariance_vector(w->covariance, TILE, w->d, TILE, w->columns + i * w->d * TILE,
                           w->x + (j * TILE + c) * w->d, column);
    memset(column + n_points, 0, (TILE - n_points) * sizeof *column);
  }
}

/* Subtracts what the tiles to the left explain. */
static void reduce(const struct draw *w, size_t i, size_t j)
{
  for (size_t k = 0; k < j; k++)
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, TILE, TILE, TILE, -1, tile_at(w, i, k),
                TILE, tile_at(w, j, k), TILE, 1, tile_at(w, i, j), TILE);
}

/* Factors the leading 'n' by 'n' part of a tile in place.  A point whose value the points before it
 * determine is left out: its pivot is 1, and nothing depends on it. */
GPNN_SIMD static void factor(size_t n, double least, double *restrict a, bool *determined)
{
  for (size_t j = 0; j < n; j++) {
    double *column = a + j * TILE;
    for (size_t k = 0; k < j; k++) {
      const double *left = a + k * TILE;
      double multiplier = left[j];
#pragma omp simd
      for (size_t i = j; i < n; i++) column[i] -= multiplier * left[i];
    }
    determined[j] = !(column[j] > least);
    double root = determined[j] ? 1 : sqrt(column[j]);
    column[j] = root;
    for (size_t i = j + 1; i < n; i++) column[i] = determined[j] ? 0 : column[i] / root;
  }
}

/* Multiplies tile (i, j) by the inverse of the factor on the diagonal. */
static void divide(const struct draw *w, size_t i, size_t j, const bool *determined)
{
  double *a = tile_at(w, i, j);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, TILE, TILE, 1,
              tile_at(w, j, j), TILE, a, TILE);
  for (size_t c = 0; c < TILE; c++)
    if (determined[c]) memset(a + c * TILE, 0, TILE * sizeof *a);
}

/* The column of tiles being factored. */
struct column {
  const struct draw *draw;
  size_t j;
  bool determined[TILE];
};

static void begin_tile(void *context, size_t thread, size_t piece)
{
  const struct column *column = context;
  size_t i = column->j + piece;
  (void)thread;
  fill(column->draw, i, column->j);
  reduce(column->draw, i, column->j);
}

static void end_tile(void *context, size_t thread, size_t piece)
{
  const struct column *column = context;
  (void)thread;
  divide(column->draw, column->j + 1 + piece, column->j, column->determined);
}

/* Takes away the deviates of points that are determined by those before them. */
static void clear_deviates(const struct draw *w, size_t j, const bool *determined)
{
  for (size_t k = 0; k < w->n_draws; k++) {
    double *z = draw_at(w, w->z, k, j);
    for (size_t i = 0; i < height(w, j); i++)
      if (determined[i]) z[i] = 0;
  }
}

static void factor_all(const struct draw *w, int threads)
{
  double least = GPNN_PROCESS_LEAST * w->covariance->kernelscale;
  for (size_t j = 0; j < w->n_tiles; j++) {
    struct column column = {.draw = w, .j = j};
    gpnn_threads_each(threads, w->n_tiles - j, 1, begin_tile, &column);
    factor(height(w, j), least, tile_at(w, j, j), column.determined);
    clear_deviates(w, j, column.determined);
    gpnn_threads_each(threads, w->n_tiles - j - 1, 1, end_tile, &column);
  }
}

/* f = L z of one draw in the rows of tile 'i'; f starts out as z. */
static void multiply_draw(const struct draw *w, size_t draw, size_t i)
{
  double *f = draw_at(w, w->f, draw, i);
  cblas_dtrmv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)height(w, i),
              tile_at(w, i, i), TILE, f, 1);
  for (size_t k = 0; k < i; k++)
    cblas_dgemv(CblasColMajor, CblasNoTrans, TILE, TILE, 1, tile_at(w, i, k), TILE,
                draw_at(w, w->z, draw, k), 1, 1, f, 1);
}

static void multiply_tiles(void *context, size_t thread, size_t i)
{
  const struct draw *w = context;
  (void)thread;
  for (size_t k = 0; k < w->n_draws; k++) multiply_draw(w, k, i);
}

/* f = L z */
static void multiply(struct draw *w, int threads)
{
  memcpy(w->f, w->z, w->n_draws * w->n_tiles * TILE * sizeof *w->f);
  gpnn_threads_each(threads, w->n_tiles, 1, multiply_tiles, w);
}

enum gpnn_status gpnn_process_draw(const struct gpnn_covariance *covariance, size_t n, size_t d,
                                   const double *x, int threads, size_t n_draws, double *z,
                                   struct gpnn_error *err)
{
  assert(n <= GPNN_PROCESS_MOST);
  threads = gpnn_blas_claim(threads);
  if (threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  enum gpnn_status status = GPNN_OK;
  struct draw w = {.covariance = covariance,
                   .n = n,
                   .d = d,
                   .n_tiles = (n + TILE - 1) / TILE,
                   .n_draws = n_draws};
  size_t padded = w.n_tiles * TILE;
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY(w.x, n, d), GPNN_ARRAY(w.columns, padded, d),
                  GPNN_ARRAY(w.tiles, w.n_tiles * (w.n_tiles + 1) / 2, AREA),
                  GPNN_ARRAY(w.z, n_draws, padded), GPNN_ARRAY(w.f, n_draws, padded));
  if (arrays == NULL) {
    status = gpnn_fail(err, GPNN_ENOMEM,
                       "not enough memory for a Gaussian process at %zu points: it takes %.3g GiB",
                       n, 4 * (double)n * (double)n / 0x1p30);
  } else if (!scale_points(&w, x)) {
    status = gpnn_fail(
        err, GPNN_ENUMERIC,
        "a point divided by the lengthscale is not finite: scales or parameters are extreme");
  } else {
    for (size_t k = 0; k < n_draws; k++) memcpy(draw_at(&w, w.z, k, 0), z + k * n, n * sizeof *z);
    factor_all(&w, threads);
    multiply(&w, threads);
    for (size_t k = 0; k < n_draws; k++) memcpy(z + k * n, draw_at(&w, w.f, k, 0), n * sizeof *z);
  }
  gpnn_arrays_free(arrays);
  return status;
}

/* ---- features ----------------------------------------------------------------------------- */

enum { BLOCK = 256 }; /* features evaluated at a time, with their angles on the stack */

struct gpnn_features {
  size_t n, d;
  double *frequency; /* block after block of BLOCK features; in each, input after input */
  double *phase, *amplitude;
};

/* What the normal frequencies of a feature are divided by: 1 for rbf; for the others a deviate that
 * turns them into Student's t.  Frequencies stay finite however rough the kernel is. */
static double spread(const struct gpnn_covariance *covariance, struct gpnn_rng *rng)
{
  bool needed = gpnn_kernel_needs_smoothness(covariance->kernel);
  double nu = needed ? covariance->smoothness : covariance->kernel->smoothness;
  return isinf(nu) ? 1 : sqrt(fmax(gpnn_rng_gamma(rng, nu), 1e-200) / nu);
}

static void draw_features(struct gpnn_features *features, const struct gpnn_covariance *covariance,
                          uint64_t seed)
{
  for (size_t k = 0; k < features->n; k++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, seed, GPNN_RNG_RESPONSE, k);
    double *frequency = features->frequency + k / BLOCK * BLOCK * features->d + k % BLOCK;
    features->phase[k] = 2 * M_PI * gpnn_rng_uniform(&rng);
    features->amplitude[k] =
        sqrt(2 * gpnn_rng_exponential(&rng) * covariance->kernelscale / (double)features->n);
    double divisor = spread(covariance, &rng) * *gpnn_covariance_lengthscales(covariance);
    for (size_t j = 0; j < features->d; j++) frequency[j * BLOCK] = gpnn_rng_normal(&rng) / divisor;
  }
}

enum gpnn_status gpnn_features_new(struct gpnn_features **features,
                                   const struct gpnn_covariance *covariance, size_t n, size_t d,
                                   uint64_t seed, struct gpnn_error *err)
{
  assert(n >= 1);
  struct gpnn_features *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for random features");
  size_t n_blocks = (n - 1) / BLOCK + 1;
  *new = (struct gpnn_features){.n = n, .d = d};
  new->frequency = gpnn_alloc(n_blocks, d, BLOCK * sizeof *new->frequency);
  new->phase = gpnn_alloc(n_blocks, BLOCK, sizeof *new->phase);
  new->amplitude = gpnn_alloc(n_blocks, BLOCK, sizeof *new->amplitude);
  if (new->frequency == NULL || new->phase == NULL || new->amplitude == NULL) {
    gpnn_features_free(new);
    return gpnn_fail_memory(err, "for random features");
  }
  draw_features(new, covariance, seed);
  *features = new;
  return GPNN_OK;
}

/* The sum of a block of features at one point.  Features past the last have amplitude 0. */
GPNN_SIMD static double block_value(size_t d, const double *restrict frequency,
                                    const double *restrict phase, const double *restrict amplitude,
                                    const double *restrict x)
{
  double angle[BLOCK], sum = 0;
  for (size_t k = 0; k < BLOCK; k++) angle[k] = phase[k];
  for (size_t j = 0; j < d; j++)
#pragma omp simd
    for (size_t k = 0; k < BLOCK; k++) angle[k] += frequency[j * BLOCK + k] * x[j];
#pragma omp simd reduction(+ : sum)
  for (size_t k = 0; k < BLOCK; k++) sum += amplitude[k] * cos(angle[k]);
  return sum;
}

void gpnn_features_values(const struct gpnn_features *features, size_t n_rows, const double *x,
                          double *f)
{
  size_t d = features->d;
  for (size_t i = 0; i < n_rows; i++) f[i] = 0;
  for (size_t k = 0; k < features->n; k += BLOCK)
    for (size_t i = 0; i < n_rows; i++)
      f[i] += block_value(d, features->frequency + k * d, features->phase + k,
                          features->amplitude + k, x + i * d);
}

void gpnn_features_free(struct gpnn_features *features)
{
  if (features == NULL) return;
  free(features->frequency);
  free(features->phase);
  free(features->amplitude);
  free(features);
}

/* ---- draws on a grid ---------------------------------------------------------------------- */

/* 'to' (columns by rows) becomes the transpose of 'from' (rows by columns). */
static void transpose(size_t rows, size_t columns, const double *from, double *to)
{
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) to[j * rows + i] = from[i * columns + j];
}

static void draw_sites(const struct gpnn_separable_options *o, double *x)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, o->seed, GPNN_RNG_POINT);
  for (size_t i = 0; i < o->sites * o->d; i++) x[i] = sqrt(3) * (2 * gpnn_rng_uniform(&rng) - 1);
}

/* f = L_S Z L_T': each time is a draw of the sites' process, and each site then one of the times'.
 * 'work' has room for the cells, 't' for the times. */
static enum gpnn_status draw_process(const struct gpnn_separable_options *o, const double *x,
                                     double *t, double *work, double *f, struct gpnn_error *err)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, o->seed, GPNN_RNG_RESPONSE);
  gpnn_rng_normals(&rng, o->sites * o->times, work);
  enum gpnn_status status =
      gpnn_process_draw(&o->site, o->sites, o->d, x, o->threads, o->times, work, err);
  if (status != GPNN_OK) return status;
  transpose(o->times, o->sites, work, f);
  for (size_t j = 0; j < o->times; j++) t[j] = (double)j;
  return gpnn_process_draw(&o->time, o->times, 1, t, o->threads, o->sites, f, err);
}

static void observe(const struct gpnn_separable_options *o, const double *f, double *y)
{
  struct gpnn_rng noise, holes;
  gpnn_rng_init(&noise, o->seed, GPNN_RNG_NOISE);
  gpnn_rng_init(&holes, o->seed, GPNN_RNG_HOLES);
  double sd = sqrt(o->noise);
  for (size_t c = 0; c < o->sites * o->times; c++) {
    double observed = f[c] + sd * gpnn_rng_normal(&noise);
    y[c] = gpnn_rng_uniform(&holes) < o->missing ? NAN : observed;
  }
}

enum gpnn_status gpnn_separable_draw(struct gpnn_separable *separable,
                                     const struct gpnn_separable_options *o, struct gpnn_error *err)
{
  struct gpnn_separable made = {.x = gpnn_alloc(o->sites, o->d, sizeof(double)),
                                .f = gpnn_alloc(o->sites, o->times, sizeof(double)),
                                .y = gpnn_alloc(o->sites, o->times, sizeof(double))};
  double *t = gpnn_alloc(o->times, 1, sizeof *t);
  enum gpnn_status status = GPNN_OK;
  if (made.x == NULL || made.f == NULL || made.y == NULL || t == NULL)
    status = gpnn_fail_memory(err, "for a grid");
  if (status == GPNN_OK) {
    draw_sites(o, made.x);
    status = draw_process(o, made.x, t, made.y, made.f, err);
  }
  free(t);
  if (status != GPNN_OK) {
    gpnn_separable_release(&made);
    return status;
  }
  observe(o, made.f, made.y);
  *separable = made;
  return GPNN_OK;
}

void gpnn_separable_release(struct gpnn_separable *separable)
{
  free(separable->x);
  free(separable->f);
  free(separable->y);
  *separable = (struct gpnn_separable){0};
}
