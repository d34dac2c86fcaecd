#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "models/grid/posterior_private.h"

#define MEMORY_FOR "for draws of a grid"

/* What the vectors of a block of draws may take; a machine's memory would make results depend on
 * it. */
static const double BLOCK_BYTES = 1 << 30;
enum { BLOCK_VECTORS = 5, LEAST_WIDTH = 4 };

size_t gpnn_grid_n_blocks(const struct gpnn_grid_posterior *p)
{
  return p->width == 0 ? 0 : (p->options.draws + p->width - 1) / p->width;
}

size_t gpnn_grid_block_draws(const struct gpnn_grid_posterior *p, size_t b)
{
  size_t left = p->options.draws - b * p->width;
  return left < p->width ? left : p->width;
}

static size_t choose_width(const struct gpnn_grid_posterior *p)
{
  double draw = BLOCK_VECTORS * sizeof(double) * (double)p->outer * (double)p->inner;
  double most = BLOCK_BYTES / draw;
  if (most < LEAST_WIDTH) most = LEAST_WIDTH;
  if (p->options.block > 0) most = (double)p->options.block;
  return most < (double)p->options.draws ? (size_t)most : p->options.draws;
}

/* ---- random numbers ----------------------------------------------------------------------- */

struct normals {
  uint64_t seed;
  size_t first, columns, outer, inner;
  double *z;
};

static void draw_column(void *context, size_t thread, size_t column)
{
  const struct normals *n = context;
  struct gpnn_rng rng;
  (void)thread;
  gpnn_rng_init_at(&rng, n->seed, GPNN_RNG_GRID_DRAW, n->first + column);
  for (size_t i = 0; i < n->outer; i++)
    gpnn_rng_normals(&rng, n->inner, n->z + (i * n->columns + column) * n->inner);
}

void gpnn_grid_draw_normals(const struct gpnn_grid_posterior *p, size_t first, size_t columns,
                            double *z)
{
  struct normals n = {p->options.seed, first, columns, p->outer, p->inner, z};
  gpnn_threads_each(p->options.system.threads, columns, 1, draw_column, &n);
}

/* ---- a block ------------------------------------------------------------------------------ */

/* Multiplies a block by the roots along all axes, back and forth; where the result is. */
static enum gpnn_status colour(const struct gpnn_grid_posterior *p, size_t columns, double **x,
                               double **other, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < p->grid->n_factors && status == GPNN_OK; a++) {
    status = gpnn_grid_contract_axis(p->grid->n_factors, p->dims, columns, a, p->dims[a],
                                     p->root[a].f, *x, *other, p->options.system.threads, err);
    double *swapped = *x;
    *x = *other;
    *other = swapped;
  }
  return status;
}

/* y - P f - e of the draws in 'f', to 'b'. */
static void subtract(const struct gpnn_grid_posterior *p, size_t first, size_t columns,
                     const double *f, double *b)
{
  const double *noise = gpnn_grid_system_noise(p->system);
  for (size_t i = 0; i < p->outer * p->inner * columns; i++) b[i] = 0;
  for (size_t c = 0; c < columns; c++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, p->options.seed, GPNN_RNG_GRID_NOISE, first + c);
    for (size_t o = 0; o < p->grid->n_cells; o++) {
      size_t cell = (size_t)p->grid->cell[o];
      size_t at = (cell / p->inner * columns + c) * p->inner + cell % p->inner;
      b[at] = p->y[cell] - f[at] - sqrt(noise[cell]) * gpnn_rng_normal(&rng);
    }
  }
}

/* What the solutions of a block start from: 0 where nothing is known. */
static void start(const struct gpnn_grid_posterior *p, size_t first, size_t columns, double *x)
{
  const struct gpnn_grid *grid = p->grid;
  for (size_t c = 0; c < columns && first + c < p->options.n_start; c++)
    for (size_t o = 0; o < grid->n_cells; o++) {
      size_t cell = (size_t)grid->cell[o];
      x[(cell / p->inner * columns + c) * p->inner + cell % p->inner] =
          p->options.start[(first + c) * grid->n_cells + o];
    }
}

/* Adds a block's differences from the mean, and their squares. */
static void add_differences(const struct gpnn_grid_posterior *p, size_t columns, const double *f,
                            const double *update, double *sum, double *squares)
{
  for (size_t i = 0; i < p->outer; i++) {
    for (size_t c = 0; c < columns; c++) {
      for (size_t j = 0; j < p->inner; j++) {
        size_t at = (i * columns + c) * p->inner + j, cell = i * p->inner + j;
        double off = f[at] + update[at] - p->mean[cell];
        sum[cell] += off;
        squares[cell] += off * off;
      }
    }
  }
}

/* Solves for block 'b' in 'scratch', three blocks, and keeps the solution if that is wanted. */
static enum gpnn_status solve_block(struct gpnn_grid_posterior *p, size_t b, double *scratch,
                                    double *sum, double *squares, struct gpnn_error *err)
{
  size_t columns = gpnn_grid_block_draws(p, b), size = p->outer * p->inner * columns;
  double *f = scratch, *rhs = scratch + size, *x = gpnn_alloc(size, 1, sizeof *x);
  if (x == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  gpnn_grid_draw_normals(p, b * p->width, columns, f);
  enum gpnn_status status = colour(p, columns, &f, &rhs, err);
  if (status == GPNN_OK) {
    subtract(p, b * p->width, columns, f, rhs);
    start(p, b * p->width, columns, x);
    status = gpnn_grid_posterior_solve(p, p->options.tolerance, columns, rhs, x, err);
  }
  if (status == GPNN_OK)
    status = gpnn_grid_system_spread(p->system, p->options.tolerance, columns, x, rhs, err);
  if (status == GPNN_OK) add_differences(p, columns, f, rhs, sum, squares);
  if (p->blocks != NULL)
    p->blocks[b] = x;
  else
    free(x);
  return status;
}

/* ---- all of them -------------------------------------------------------------------------- */

/* Makes the mean and the variance of the grid's cells of these sums; 'squares' becomes that. */
static void summarise(struct gpnn_grid_posterior *p, const double *sum, double *squares)
{
  double draws = (double)p->options.draws;
  for (size_t i = 0; i < p->outer * p->inner; i++) {
    if (p->options.mean == GPNN_GRID_MEAN_SAMPLE) {
      squares[i] = (squares[i] - sum[i] * sum[i] / draws) / (draws - 1);
      p->mean[i] += sum[i] / draws;
    } else
      squares[i] /= draws;
  }
}

static enum gpnn_status make_all(struct gpnn_grid_posterior *p, double *sum, double *squares,
                                 struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  double *scratch = gpnn_alloc(p->outer * p->inner * p->width, 2, sizeof *scratch);
  if (scratch == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t a = 0; a < p->grid->n_factors && status == GPNN_OK; a++)
    status =
        gpnn_grid_root_make(&p->root[a], p->dims[a], gpnn_grid_system_factor(p->system, a), err);
  for (size_t b = 0; b < gpnn_grid_n_blocks(p) && status == GPNN_OK; b++)
    status = solve_block(p, b, scratch, sum, squares, err);
  free(scratch);
  p->options.start = NULL; /* borrowed until here */
  p->options.n_start = 0;
  if (status == GPNN_OK) summarise(p, sum, squares);
  return status;
}

enum gpnn_status gpnn_grid_make_draws(struct gpnn_grid_posterior *p, struct gpnn_error *err)
{
  size_t cells = p->outer * p->inner;
  if (p->options.draws < 2) p->options.draws = 2;
  p->width = choose_width(p);
  double *sum = gpnn_alloc(cells, 1, sizeof *sum), *squares = gpnn_alloc(cells, 1, sizeof *squares);
  if (p->options.keep_draws) p->blocks = gpnn_alloc(gpnn_grid_n_blocks(p), 1, sizeof *p->blocks);
  enum gpnn_status status =
      sum == NULL || squares == NULL || (p->options.keep_draws && p->blocks == NULL)
          ? gpnn_fail_memory(err, MEMORY_FOR)
          : make_all(p, sum, squares, err);
  free(sum);
  if (status == GPNN_OK && !p->exact_variance && p->options.variance != GPNN_GRID_VARIANCE_NONE)
    p->variance = squares;
  else
    free(squares);
  return status;
}

/* ---- draws at places, old and new levels together ----------------------------------------- */

/* gpnn-methods-grid(7), equations 16.24 and 16.25. */

/* ---- roots that reach new levels ---------------------------------------------------------- */

/* The root of a factor continued to 'n' of its new levels, from number 'first' on: their rows are
 * those of [B, C].  A zeroed object may be released. */
struct growth {
  size_t first, n;
  double *b;                    /* n by the factor's levels */
  struct gpnn_grid_root beyond; /* C */
};

static void growth_release(struct growth *growth)
{
  free(growth->b);
  gpnn_grid_root_release(&growth->beyond);
  memset(growth, 0, sizeof *growth);
}

/* K_new,old to 'b', and K_new,new - B B' to 'left'. */
static enum gpnn_status fill_growth(const struct gpnn_grid_posterior *p, size_t a, size_t n,
                                    const double *x, double *b, double *left,
                                    struct gpnn_error *err)
{
  const struct gpnn_factor *factor = &p->parameters->grid.factor[a];
  size_t levels = p->dims[a], d = p->grid->factor[a].d;
  int threads = p->options.system.threads;
  double scale = a == 0 ? p->parameters->covariance.kernelscale : 1;
  gpnn_factor_matrix(factor, d, n, x, levels, p->prepared[a], false, threads, b);
  gpnn_factor_matrix(factor, d, n, x, n, x, true, threads, left);
  for (size_t i = 0; i < n * levels; i++) b[i] *= scale;
  enum gpnn_status status = gpnn_grid_root_extend(&p->root[a], n, b, err);
  if (status != GPNN_OK) return status;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)levels, -1, b,
              (int)levels, b, (int)levels, scale, left, (int)n);
  return GPNN_OK;
}

/* 'growth' must be zeroed, and is released by the caller whatever the outcome. */
static enum gpnn_status grow(struct growth *growth, const struct gpnn_grid_posterior *p,
                             const struct gpnn_grid_places *places, size_t a, size_t first,
                             size_t n, struct gpnn_error *err)
{
  const struct gpnn_grid_factor *levels = &p->grid->factor[a];
  growth->first = first;
  growth->n = n;
  if (n == 0) return GPNN_OK;
  if (gpnn_blas_claim(1) == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  double *x = gpnn_alloc(n, levels->d, sizeof *x), *left = gpnn_alloc(n, n, sizeof *left);
  growth->b = gpnn_alloc(n, levels->n, sizeof *growth->b);
  enum gpnn_status status =
      x == NULL || left == NULL || growth->b == NULL
          ? gpnn_fail_memory(err, MEMORY_FOR)
          : gpnn_factor_prepare(&p->parameters->grid.factor[a], levels->d, levels->n, levels->x, n,
                                places->x[a] + first * levels->d, x, err);
  if (status == GPNN_OK) status = fill_growth(p, a, n, x, growth->b, left, err);
  if (status == GPNN_OK) status = gpnn_grid_root_make(&growth->beyond, n, left, err);
  free(x);
  free(left);
  return status;
}

/* The rows of [F; B, C] for the levels of 'rows', to 'k', which the caller frees. */
static enum gpnn_status grown_rows(const struct growth *growth, const struct gpnn_grid_posterior *p,
                                   const struct gpnn_grid_rows *rows, size_t a, double **k,
                                   struct gpnn_error *err)
{
  size_t n = p->dims[a], width = n + growth->n;
  *k = gpnn_alloc(rows->n_rows[a], width, sizeof **k);
  if (*k == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t i = 0; i < rows->n_rows[a]; i++) {
    size_t level = rows->level[a][i];
    double *row = *k + i * width;
    if (level < n) {
      memcpy(row, p->root[a].f + level * n, n * sizeof *row);
      continue;
    }
    level -= n + growth->first;
    memcpy(row, growth->b + level * n, n * sizeof *row);
    memcpy(row + n, growth->beyond.f + level * growth->n, growth->n * sizeof *row);
  }
  return GPNN_OK;
}

/* ---- random numbers ----------------------------------------------------------------------- */

/* Where an old combination of all factors but the first lies among old and new ones. */
static size_t old_among_all(const struct gpnn_grid_posterior *p, const size_t *dims, size_t j)
{
  size_t at = 0, stride = 1;
  for (size_t a = p->grid->n_factors; a-- > 1;) {
    at += stride * (j % p->dims[a]);
    j /= p->dims[a];
    stride *= dims[a];
  }
  return at;
}

/*
 * The numbers behind draws 'first' and following, continued to 'dims': old ones are those of the
 * grid's draws; of the others, those at old levels of the first factor are the same for every chunk
 * of its new levels, of which this is number 'chunk'.
 */
static void fill_normals(const struct gpnn_grid_posterior *p, const size_t *dims, size_t inner,
                         size_t chunk, size_t first, size_t columns, const double *old, double *z)
{
  for (size_t c = 0; c < columns; c++) {
    struct gpnn_rng common, own;
    uint64_t draw = first + c;
    gpnn_rng_init_at(&common, p->options.seed, GPNN_RNG_GRID_NEW, draw);
    gpnn_rng_init_at(&own, p->options.seed, GPNN_RNG_GRID_NEW, draw | (uint64_t)(chunk + 1) << 32);
    for (size_t i = 0; i < dims[0]; i++)
      gpnn_rng_normals(i < p->outer ? &common : &own, inner, z + (i * columns + c) * inner);
  }
  for (size_t j = 0; j < p->inner; j++) {
    size_t at = old_among_all(p, dims, j);
    for (size_t i = 0; i < p->outer * columns; i++) z[i * inner + at] = old[i * p->inner + j];
  }
}

/* ---- chunks ------------------------------------------------------------------------------- */

/* Places whose new levels of the first factor, if any, belong to one chunk. */
struct chunk {
  const struct gpnn_grid_posterior *posterior;
  const struct gpnn_grid_places *places;
  size_t number;
  size_t n;
  size_t *chosen;         /* n */
  uint32_t *level_number; /* n by n_factors */
  struct gpnn_grid_rows rows;
  size_t dims[GPNN_GRID_FACTORS], inner; /* old and new */
  double *k[GPNN_GRID_FACTORS];
};

static void choose_places(struct chunk *chunk)
{
  const struct gpnn_grid_posterior *p = chunk->posterior;
  chunk->n = 0;
  for (size_t i = 0; i < chunk->places->n; i++) {
    size_t level = chunk->places->level[i * p->grid->n_factors], own = 0;
    if (level >= p->dims[0]) own = (level - p->dims[0]) / GPNN_GRID_CHUNK;
    if (own == chunk->number) chunk->chosen[chunk->n++] = i;
  }
}

/* Adds the values of block 'b' of draws at the chunk's places, n by columns. */
static enum gpnn_status draw_block(const struct chunk *chunk, size_t b, double *values,
                                   double *updates, struct gpnn_error *err)
{
  const struct gpnn_grid_posterior *p = chunk->posterior;
  size_t f = p->grid->n_factors, columns = gpnn_grid_block_draws(p, b);
  int threads = p->options.system.threads;
  double *old = gpnn_alloc(p->outer * p->inner, columns, sizeof *old);
  double *z = gpnn_alloc(chunk->dims[0] * chunk->inner, columns, sizeof *z);
  enum gpnn_status status = old == NULL || z == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : GPNN_OK;
  if (status == GPNN_OK) {
    gpnn_grid_draw_normals(p, b * p->width, columns, old);
    fill_normals(p, chunk->dims, chunk->inner, chunk->number, b * p->width, columns, old, z);
    status = gpnn_grid_evaluate(f, chunk->dims, chunk->k, chunk->n, chunk->level_number, columns, z,
                                threads, values, err);
  }
  if (status == GPNN_OK)
    status = gpnn_grid_evaluate(f, p->dims, chunk->rows.k, chunk->n, chunk->level_number, columns,
                                p->blocks[b], threads, updates, err);
  for (size_t i = 0; status == GPNN_OK && i < chunk->n * columns; i++) values[i] += updates[i];
  free(old);
  free(z);
  return status;
}

/* Draws first to first + count - 1 of a chunk's places. */
static enum gpnn_status draw_chunk(const struct chunk *chunk, size_t first, size_t count,
                                   double *draws, struct gpnn_error *err)
{
  const struct gpnn_grid_posterior *p = chunk->posterior;
  double *values = gpnn_alloc(chunk->n, p->width, sizeof *values);
  double *updates = gpnn_alloc(chunk->n, p->width, sizeof *updates);
  enum gpnn_status status =
      values == NULL || updates == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : GPNN_OK;
  for (size_t b = first / p->width; status == GPNN_OK && b * p->width < first + count; b++) {
    size_t columns = gpnn_grid_block_draws(p, b);
    status = draw_block(chunk, b, values, updates, err);
    for (size_t j = 0; status == GPNN_OK && j < chunk->n; j++) {
      size_t i = chunk->chosen[j];
      double level = gpnn_grid_level_of(p, chunk->places, i).mean;
      for (size_t c = 0; c < columns; c++) {
        size_t draw = b * p->width + c;
        if (draw >= first && draw < first + count)
          draws[i * count + draw - first] = values[j * columns + c] + level;
      }
    }
  }
  free(values);
  free(updates);
  return status;
}

/* Prepares a chunk, 'growth' having the roots of all factors but the first, and draws. */
static enum gpnn_status do_chunk(struct chunk *chunk, struct growth *growth, size_t first,
                                 size_t count, double *draws, struct gpnn_error *err)
{
  const struct gpnn_grid_posterior *p = chunk->posterior;
  size_t from = chunk->number * GPNN_GRID_CHUNK, left = chunk->places->n_new[0] - from;
  choose_places(chunk);
  if (chunk->n == 0) return GPNN_OK;
  enum gpnn_status status = gpnn_grid_rows_make(&chunk->rows, p, chunk->places, chunk->n,
                                                chunk->chosen, chunk->level_number, err);
  if (status == GPNN_OK)
    status = grow(&growth[0], p, chunk->places, 0, from,
                  left < GPNN_GRID_CHUNK ? left : GPNN_GRID_CHUNK, err);
  chunk->inner = 1;
  for (size_t a = 0; a < p->grid->n_factors && status == GPNN_OK; a++) {
    chunk->dims[a] = p->dims[a] + growth[a].n;
    if (a > 0) chunk->inner *= chunk->dims[a];
    status = grown_rows(&growth[a], p, &chunk->rows, a, &chunk->k[a], err);
  }
  if (status == GPNN_OK) status = draw_chunk(chunk, first, count, draws, err);
  for (size_t a = 0; a < p->grid->n_factors; a++) {
    free(chunk->k[a]);
    chunk->k[a] = NULL;
  }
  gpnn_grid_rows_release(&chunk->rows, p->grid->n_factors);
  growth_release(&growth[0]);
  return status;
}

/* ---- means of levels that were not observed ----------------------------------------------- */

/* A level whose mean is uncertain. */
struct open_level {
  double x;
  size_t number;
};

static int by_place(const void *a, const void *b)
{
  const struct open_level *left = a, *right = b;
  return gpnn_compare_doubles(&left->x, &right->x);
}

/* Finds these levels, in the order of their places, which go to 'x'; returns how many. */
static size_t find_open(const struct gpnn_grid_posterior *p, const struct gpnn_grid_places *places,
                        size_t levels, struct open_level *open, double *x)
{
  size_t n = 0;
  for (size_t l = 0; l < levels; l++) {
    struct gpnn_grid_level level = gpnn_grid_find_level(p, places, l);
    if (!level.is_known) open[n++] = (struct open_level){level.x, l};
  }
  qsort(open, n, sizeof *open, by_place);
  for (size_t k = 0; k < n; k++) x[k] = open[k].x;
  return n;
}

/* Adds the errors of their means, which all cells of a level share, to draws. */
static enum gpnn_status add_levels(const struct gpnn_grid_posterior *p,
                                   const struct gpnn_grid_places *places, size_t first,
                                   size_t count, double *draws, struct gpnn_error *err)
{
  if (p->means.factor == 0) return GPNN_OK;
  size_t f = p->grid->n_factors, a = p->means.factor - 1, levels = p->dims[a] + places->n_new[a];
  struct open_level *open;
  double *x, *error, *of_level;
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY(open, levels, 1), GPNN_ARRAY(x, levels, 1),
                  GPNN_ARRAY(error, levels, 1), GPNN_ARRAY(of_level, levels, 1));
  if (arrays == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  size_t n = find_open(p, places, levels, open, x);
  for (size_t d = 0; d < count && n > 0; d++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, p->options.seed, GPNN_RNG_GRID_LEVELS, first + d);
    gpnn_grid_series_draw(&p->means.series, &rng, n, x, error);
    for (size_t k = 0; k < n; k++) of_level[open[k].number] = error[k];
    for (size_t i = 0; i < places->n; i++)
      draws[i * count + d] += of_level[places->level[i * f + a]];
  }
  gpnn_arrays_free(arrays);
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_posterior_draws(const struct gpnn_grid_posterior *p,
                                           const struct gpnn_grid_places *places, size_t first,
                                           size_t count, double *draws, struct gpnn_error *err)
{
  size_t f = p->grid->n_factors;
  struct chunk chunk = {.posterior = p, .places = places};
  struct growth growth[GPNN_GRID_FACTORS] = {0};
  enum gpnn_status status = GPNN_OK;
  if (p->blocks == NULL || first + count > p->options.draws)
    return gpnn_fail(err, GPNN_EINVAL, "so many draws of the grid were not kept");
  chunk.chosen = gpnn_alloc(places->n, 1, sizeof *chunk.chosen);
  chunk.level_number = gpnn_alloc(places->n, f, sizeof *chunk.level_number);
  if (chunk.chosen == NULL || chunk.level_number == NULL)
    status = gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t a = 1; a < f && status == GPNN_OK; a++)
    status = grow(&growth[a], p, places, a, 0, places->n_new[a], err);
  for (; status == GPNN_OK; chunk.number++) {
    status = do_chunk(&chunk, growth, first, count, draws, err);
    if ((chunk.number + 1) * GPNN_GRID_CHUNK >= places->n_new[0]) break;
  }
  if (status == GPNN_OK) status = add_levels(p, places, first, count, draws, err);
  for (size_t a = 1; a < f; a++) growth_release(&growth[a]);
  free(chunk.chosen);
  free(chunk.level_number);
  return status;
}
