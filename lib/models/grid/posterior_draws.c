#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
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
  if (status == GPNN_OK) status = gpnn_grid_system_spread(p->system, columns, x, rhs, err);
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
