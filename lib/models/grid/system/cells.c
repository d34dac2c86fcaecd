/*
 * The covariance matrix of the cells of a grid: its factors, and products with it.
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "models/grid/system/system_private.h"

#define MEMORY_FOR "for the covariance of a grid"

/* ---- products with one matrix ------------------------------------------------------------- */

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

/* ---- the root of a second factor ---------------------------------------------------------- */

/* How many eigenvalues exceed 1e-13 of the largest variance, or the rounding of the largest of
 * them. */
static size_t numerical_rank(const struct gpnn_grid_spectrum *spectrum, const double *k)
{
  size_t n = spectrum->n, rank = 0;
  double variance = 0;
  for (size_t i = 0; i < n; i++) variance = fmax(variance, k[i * n + i]);
  double least = fmax(1e-13 * variance, 4 * DBL_EPSILON * spectrum->values[0]);
  while (rank < n && spectrum->values[rank] > least) rank++;
  return rank;
}

/* Decompositions pay where a product takes longer; the product of rank r saves work if
 * 2 r (p + 2 q) p is clearly less than 2 q (p + q) p. */
/* Finds the root of a second factor whose numerical rank is so low that products save work. */
static enum gpnn_status find_root(struct gpnn_grid_cells *cells, struct gpnn_error *err)
{
  double p = (double)cells->outer, q = (double)cells->inner;
  struct gpnn_grid_spectrum spectrum = {0};
  if (cells->n_factors != 2 || q > 2 * p) return GPNN_OK;
  enum gpnn_status status = gpnn_grid_decompose(&spectrum, cells->n[1], cells->k[1], err);
  if (status != GPNN_OK) return status;
  size_t n = cells->n[1], rank = numerical_rank(&spectrum, cells->k[1]);
  if ((double)rank * (p + 2 * q) < 0.9 * q * (p + q)) {
    cells->root = gpnn_alloc(n, rank, sizeof *cells->root);
    if (cells->root == NULL) status = gpnn_fail_memory(err, MEMORY_FOR);
  }
  if (cells->root != NULL) {
    cells->rank = rank;
    for (size_t i = 0; i < n; i++)
      for (size_t r = 0; r < rank; r++)
        cells->root[i * rank + r] = sqrt(spectrum.values[r]) * spectrum.vectors[r * n + i];
  }
  gpnn_grid_spectrum_release(&spectrum);
  return status;
}

/* ---- cells -------------------------------------------------------------------------------- */

void gpnn_grid_cells_release(struct gpnn_grid_cells *cells)
{
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) free(cells->k[a]);
  free(cells->root);
  free(cells->noise);
  free(cells->observed);
  *cells = (struct gpnn_grid_cells){0};
}

/* Makes room for matrices of the sizes 'n' and for the cells. */
static enum gpnn_status allocate_cells(struct gpnn_grid_cells *cells, size_t n_factors,
                                       const size_t *n, struct gpnn_error *err)
{
  bool fits = true;
  cells->n_factors = n_factors;
  cells->outer = n[0];
  cells->inner = 1;
  for (size_t a = 0; a < n_factors; a++) {
    cells->n[a] = n[a];
    cells->k[a] = gpnn_alloc(n[a], n[a], sizeof *cells->k[a]);
    fits =
        fits && cells->k[a] != NULL && (a == 0 || gpnn_multiply(cells->inner, n[a], &cells->inner));
  }
  if (fits) cells->noise = gpnn_alloc(cells->outer, cells->inner, sizeof *cells->noise);
  if (fits) cells->observed = gpnn_alloc(cells->outer, cells->inner, sizeof *cells->observed);
  if (!fits || cells->noise == NULL || cells->observed == NULL)
    return gpnn_fail_memory(err, MEMORY_FOR);
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_cells_fill(struct gpnn_grid_cells *cells, size_t n_factors,
                                      const size_t *n, const double *const *k, size_t n_cells,
                                      const int64_t *cell, const double *noise,
                                      struct gpnn_error *err)
{
  enum gpnn_status status = allocate_cells(cells, n_factors, n, err);
  if (status != GPNN_OK) return status;
  for (size_t a = 0; a < n_factors; a++)
    memcpy(cells->k[a], k[a], n[a] * n[a] * sizeof *cells->k[a]);
  for (size_t i = 0; i < n_cells; i++) {
    cells->noise[cell[i]] = noise[i];
    cells->observed[cell[i]] = true;
  }
  cells->n_observed = n_cells;
  return GPNN_OK;
}

/* ---- the reduced grid --------------------------------------------------------------------- */

/* The level of factor 'a' that cell 'cell' has. */
static size_t level_of(const struct gpnn_grid_cells *all, size_t a, size_t cell)
{
  for (size_t b = all->n_factors - 1; b > a; b--) cell /= all->n[b];
  return cell % all->n[a];
}

/* Chooses the levels of factor 'a' that stay: system->level[a], n[a] of them. */
static enum gpnn_status choose_levels(struct gpnn_grid_system *system, size_t a, size_t *n,
                                      struct gpnn_error *err)
{
  const struct gpnn_grid_cells *all = &system->all;
  bool *stays = gpnn_alloc(all->n[a], 1, sizeof *stays);
  system->level[a] = gpnn_alloc(all->n[a], 1, sizeof *system->level[a]);
  if (stays == NULL || system->level[a] == NULL) {
    free(stays);
    return gpnn_fail_memory(err, MEMORY_FOR);
  }
  for (size_t i = 0; i < all->outer * all->inner; i++)
    if (all->observed[i]) stays[level_of(all, a, i)] = true;
  *n = 0;
  for (size_t l = 0; l < all->n[a]; l++)
    if (stays[l]) system->level[a][(*n)++] = l;
  free(stays);
  return GPNN_OK;
}

/* Copies the rows and columns that stay. */
static void copy_matrix(struct gpnn_grid_system *system, size_t a)
{
  const size_t *level = system->level[a], n = system->reduced.n[a], n_all = system->all.n[a];
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      system->reduced.k[a][i * n + j] = system->all.k[a][level[i] * n_all + level[j]];
}

/* Which combination of all factors but the first the reduced one 'j' is. */
static size_t combination(const struct gpnn_grid_system *system, size_t j)
{
  size_t all = 0, stride = 1;
  for (size_t a = system->all.n_factors - 1; a > 0; a--) {
    all += stride * system->level[a][j % system->reduced.n[a]];
    j /= system->reduced.n[a];
    stride *= system->all.n[a];
  }
  return all;
}

static enum gpnn_status copy_cells(struct gpnn_grid_system *system, struct gpnn_error *err)
{
  const struct gpnn_grid_cells *all = &system->all;
  struct gpnn_grid_cells *reduced = &system->reduced;
  system->inner = gpnn_alloc(reduced->inner, 1, sizeof *system->inner);
  if (system->inner == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t j = 0; j < reduced->inner; j++) system->inner[j] = combination(system, j);
  for (size_t i = 0; i < reduced->outer; i++) {
    for (size_t j = 0; j < reduced->inner; j++) {
      size_t from = system->level[0][i] * all->inner + system->inner[j];
      reduced->noise[i * reduced->inner + j] = all->noise[from];
      reduced->observed[i * reduced->inner + j] = all->observed[from];
    }
  }
  reduced->n_observed = all->n_observed;
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_reduce(struct gpnn_grid_system *system, struct gpnn_error *err)
{
  size_t n[GPNN_GRID_FACTORS] = {0}, n_factors = system->all.n_factors;
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < n_factors && status == GPNN_OK; a++)
    status = choose_levels(system, a, &n[a], err);
  if (status == GPNN_OK) status = allocate_cells(&system->reduced, n_factors, n, err);
  if (status != GPNN_OK) return status;
  for (size_t a = 0; a < n_factors; a++) copy_matrix(system, a);
  status = copy_cells(system, err);
  return status == GPNN_OK ? find_root(&system->reduced, err) : status;
}

/* ---- vectors ------------------------------------------------------------------------------ */

void gpnn_grid_gather(const struct gpnn_grid_system *system, size_t columns, size_t first,
                      size_t count, const double *all, double *reduced)
{
  const struct gpnn_grid_cells *cells = &system->reduced;
  for (size_t i = 0; i < cells->outer; i++) {
    const bool *observed = cells->observed + i * cells->inner;
    for (size_t c = 0; c < count; c++) {
      const double *from = all + (system->level[0][i] * columns + first + c) * system->all.inner;
      double *to = reduced + (i * count + c) * cells->inner;
      for (size_t j = 0; j < cells->inner; j++) to[j] = observed[j] ? from[system->inner[j]] : 0;
    }
  }
}

void gpnn_grid_scatter(const struct gpnn_grid_system *system, size_t columns, size_t first,
                       size_t count, const double *reduced, double *all)
{
  const struct gpnn_grid_cells *cells = &system->reduced;
  for (size_t i = 0; i < system->all.outer; i++)
    memset(all + (i * columns + first) * system->all.inner, 0,
           count * system->all.inner * sizeof *all);
  for (size_t i = 0; i < cells->outer; i++) {
    for (size_t c = 0; c < count; c++) {
      double *to = all + (system->level[0][i] * columns + first + c) * system->all.inner;
      const double *from = reduced + (i * count + c) * cells->inner;
      for (size_t j = 0; j < cells->inner; j++) to[system->inner[j]] = from[j];
    }
  }
}

/* ---- products with all factors ------------------------------------------------------------ */

/* Y = K_1 X K_2 by the root of K_2: inwards, across and outwards.  'y' has room for what comes
 * first, as the rank is at most K_2's order. */
static enum gpnn_status spread_by_root(const struct gpnn_grid_cells *cells, size_t columns,
                                       const double *x, double *y, double *scratch, int threads,
                                       struct gpnn_error *err)
{
  size_t p = cells->outer, q = cells->inner, rank = cells->rank;
  struct gpnn_grid_contraction in = {.left = p * columns, .d = q, .right = 1, .n_to = rank};
  in.k = cells->root;
  in.stride = rank;
  in.transposed = true;
  struct gpnn_grid_contraction across = {.left = 1, .d = p, .right = columns * rank, .n_to = p};
  across.k = cells->k[0];
  across.stride = p;
  struct gpnn_grid_contraction out = {.left = p * columns, .d = rank, .right = 1, .n_to = q};
  out.k = cells->root;
  out.stride = rank;
  enum gpnn_status status = gpnn_grid_contract(&in, x, y, threads, err);
  if (status == GPNN_OK) status = gpnn_grid_contract(&across, y, scratch, threads, err);
  return status == GPNN_OK ? gpnn_grid_contract(&out, scratch, y, threads, err) : status;
}

enum gpnn_status gpnn_grid_cells_spread(const struct gpnn_grid_cells *cells, size_t columns,
                                        const double *x, double *y, double *scratch, int threads,
                                        struct gpnn_error *err)
{
  size_t n_factors = cells->n_factors;
  const double *from = x;
  if (cells->rank > 0) return spread_by_root(cells, columns, x, y, scratch, threads, err);
  enum gpnn_status status = GPNN_OK;
  /* The last of the factors writes to y. */
  for (size_t a = 0; a < n_factors && status == GPNN_OK; a++) {
    double *to = (n_factors - a) % 2 == 1 ? y : scratch;
    status = gpnn_grid_contract_axis(n_factors, cells->n, columns, a, cells->n[a], cells->k[a],
                                     from, to, threads, err);
    from = to;
  }
  return status;
}

struct mask {
  const struct gpnn_grid_cells *cells;
  size_t columns;
  const double *x;
  double *y;
};

/* Adds the noise at the observed cells of a level of the first factor, and clears the others. */
static void project(void *context, size_t thread, size_t outer)
{
  const struct mask *m = context;
  size_t inner = m->cells->inner;
  const bool *observed = m->cells->observed + outer * inner;
  const double *noise = m->cells->noise + outer * inner;
  (void)thread;
  for (size_t c = 0; c < m->columns; c++) {
    const double *x = m->x + (outer * m->columns + c) * inner;
    double *y = m->y + (outer * m->columns + c) * inner;
    for (size_t j = 0; j < inner; j++) y[j] = observed[j] ? y[j] + noise[j] * x[j] : 0;
  }
}

void gpnn_grid_cells_project(const struct gpnn_grid_cells *cells, size_t columns, const double *x,
                             double *y, int threads)
{
  struct mask m = {.cells = cells, .columns = columns, .x = x, .y = y};
  size_t chunk = 1 + 100000 / (columns * cells->inner + 1);
  gpnn_threads_each(threads, cells->outer, chunk, project, &m);
}

enum gpnn_status gpnn_grid_cells_multiply(const struct gpnn_grid_cells *cells, size_t columns,
                                          const double *x, double *y, double *scratch, int threads,
                                          struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_grid_cells_spread(cells, columns, x, y, scratch, threads, err);
  if (status == GPNN_OK) gpnn_grid_cells_project(cells, columns, x, y, threads);
  return status;
}
