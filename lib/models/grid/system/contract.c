#include <limits.h>

#include "base/threads.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "models/grid/system/system_private.h"

/* The largest pieces of a result that are multiplied at once.  They do not depend on the threads,
 * so neither do sums; they are large enough for the BLAS to reach its speed, which copies a panel
 * of both matrices for each piece, and many enough to share. */
enum { TILE_ROWS = 512, TILE_COLUMNS = 256 };

/* A chunk of pieces should have about as many operations. */
static const double CHUNK_OPERATIONS = 4e6;

/* Result rows and columns, in 'blocks' separate matrices, and how each is cut. */
struct tiles {
  const struct gpnn_grid_contraction *c;
  const double *x;
  double *y;
  size_t blocks, rows, columns; /* matrices, and the size of each */
  size_t height, width;         /* of a tile */
  size_t down, across;          /* tiles of a matrix */
};

/* The smallest size that cuts 'n' into pieces of at most 'most', nearly equal ones. */
static size_t tile_size(size_t n, size_t most)
{
  size_t pieces = (n + most - 1) / most, size = (n + pieces - 1) / pieces;
  return size + (8 - size % 8) % 8 < most ? size + (8 - size % 8) % 8 : most;
}

static void multiply_tile(void *context, size_t thread, size_t piece)
{
  const struct tiles *t = context;
  const struct gpnn_grid_contraction *c = t->c;
  size_t block = piece / (t->down * t->across), tile = piece % (t->down * t->across);
  size_t i = tile / t->across * t->height, j = tile % t->across * t->width;
  size_t rows = t->rows - i < t->height ? t->rows - i : t->height;
  size_t columns = t->columns - j < t->width ? t->columns - j : t->width;
  (void)thread;
  bool t_k = c->transposed;
  size_t at = c->right == 1 ? j : i; /* of the axis that k makes */
  const double *k = t_k ? c->k + at : c->k + at * c->stride;
  if (c->right == 1)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, t_k ? CblasNoTrans : CblasTrans, (int)rows,
                (int)columns, (int)c->d, 1, t->x + i * c->d, (int)c->d, k, (int)c->stride, 0,
                t->y + i * c->n_to + j, (int)c->n_to);
  else
    cblas_dgemm(CblasRowMajor, t_k ? CblasTrans : CblasNoTrans, CblasNoTrans, (int)rows,
                (int)columns, (int)c->d, 1, k, (int)c->stride, t->x + block * c->d * c->right + j,
                (int)c->right, 0, t->y + (block * c->n_to + i) * c->right + j, (int)c->right);
}

/* With nothing behind the axis, all that is before it makes the rows of one matrix. */
static struct tiles cut(const struct gpnn_grid_contraction *c, const double *x, double *y)
{
  struct tiles t = {.c = c, .x = x, .y = y};
  t.blocks = c->right == 1 ? 1 : c->left;
  t.rows = c->right == 1 ? c->left : c->n_to;
  t.columns = c->right == 1 ? c->n_to : c->right;
  t.height = tile_size(t.rows, TILE_ROWS);
  t.width = tile_size(t.columns, TILE_COLUMNS);
  t.down = (t.rows + t.height - 1) / t.height;
  t.across = (t.columns + t.width - 1) / t.width;
  return t;
}

enum gpnn_status gpnn_grid_contract(const struct gpnn_grid_contraction *c, const double *x,
                                    double *y, int threads, struct gpnn_error *err)
{
  if (c->left == 0 || c->right == 0 || c->n_to == 0) return GPNN_OK;
  if (c->right > INT_MAX || c->d > INT_MAX || c->n_to > INT_MAX || c->stride > INT_MAX)
    return gpnn_fail(err, GPNN_EINVAL, "a grid has more cells in a row than the BLAS can count");
  struct tiles t = cut(c, x, y);
  double operations = 2. * (double)t.height * (double)t.width * (double)c->d;
  size_t chunk = 1 + (size_t)(CHUNK_OPERATIONS / (operations + 1));
  threads = gpnn_blas_claim(threads);
  if (threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  gpnn_threads_each(threads, t.blocks * t.down * t.across, chunk, multiply_tile, &t);
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_contract_axis(size_t n_factors, const size_t *dims, size_t columns,
                                         size_t axis, size_t n_to, const double *k, const double *x,
                                         double *y, int threads, struct gpnn_error *err)
{
  struct gpnn_grid_contraction c = {
      .left = axis == 0 ? 1 : columns, .right = axis == 0 ? columns : 1, .n_to = n_to, .k = k};
  c.d = c.stride = dims[axis];
  for (size_t a = 0; a < axis; a++) c.left *= dims[a];
  for (size_t a = axis + 1; a < n_factors; a++) c.right *= dims[a];
  return gpnn_grid_contract(&c, x, y, threads, err);
}
