#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "models/grid/system/precondition_private.h"

#define MEMORY_FOR "for the preconditioner of a grid"

double gpnn_grid_blocks_bytes(const struct gpnn_grid_cells *cells, bool diagonal)
{
  double diagonals = (double)cells->outer * (double)cells->inner * sizeof(double);
  return diagonal ? diagonals : diagonals * (double)cells->inner;
}

void gpnn_grid_blocks_release(struct gpnn_grid_blocks *blocks)
{
  free(blocks->inverse);
  *blocks = (struct gpnn_grid_blocks){0};
}

/* ---- making them -------------------------------------------------------------------------- */

struct making {
  struct gpnn_grid_blocks *blocks;
  const struct gpnn_grid_cells *cells;
  const struct gpnn_grid_spectrum *inner;
  const double *weight;
  double *scratch; /* for each thread three matrices of order inner, and the factor's own */
  size_t stride;
};

/* The diagonal of a block alone. */
static void invert_diagonal(const struct making *m, size_t s)
{
  size_t q = m->blocks->inner;
  double *inverse = m->blocks->inverse + s * q;
  const double *noise = m->cells->noise + s * q, *weight = m->weight + s * q;
  for (size_t k = 0; k < q; k++)
    for (size_t t = 0; t < q && weight[k] > 0; t++)
      inverse[t] += weight[k] * m->inner->vectors[k * q + t] * m->inner->vectors[k * q + t];
  for (size_t t = 0; t < q; t++)
    inverse[t] = m->cells->observed[s * q + t] ? 1 / (inverse[t] + noise[t]) : 0;
}

/* Which of the 'q' cells are observed; returns how many. */
static size_t list_observed(const bool *observed, size_t q, size_t *at)
{
  size_t n = 0;
  for (size_t t = 0; t < q; t++)
    if (observed[t]) at[n++] = t;
  return n;
}

/* The block of level 's' over its n observed cells, as the lower triangle of 'block' and of the
 * same with 'rows', the eigenvectors at these cells times the roots of their weights. */
static void fill_block(const struct making *m, size_t s, size_t n, const size_t *at, double *rows,
                       double *block)
{
  size_t q = m->blocks->inner;
  for (size_t k = 0; k < q; k++) {
    double root = sqrt(m->weight[s * q + k]);
    for (size_t i = 0; i < n; i++) rows[k * n + i] = root * m->inner->vectors[k * q + at[i]];
  }
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)q, 1, rows, (int)n, 0, block,
              (int)n);
  for (size_t i = 0; i < n; i++) block[i * n + i] += m->cells->noise[s * q + at[i]];
}

static enum gpnn_status invert_block(void *context, size_t thread, size_t s, struct gpnn_error *err)
{
  const struct making *m = context;
  size_t q = m->blocks->inner;
  if (m->blocks->diagonal) {
    invert_diagonal(m, s);
    return GPNN_OK;
  }
  double *rows = m->scratch + thread * m->stride, *block = rows + q * q;
  size_t *at = (size_t *)(void *)(block + q * q);
  size_t n = list_observed(m->cells->observed + s * q, q, at);
  double *inverse = m->blocks->inverse + s * q * q;
  fill_block(m, s, n, at, rows, block);
  if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)n, block, (int)n) != 0 ||
      LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', (int)n, block, (int)n) != 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "the noise is too small for the equations of a grid");
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < n; i++)
      inverse[at[i] * q + at[j]] = inverse[at[j] * q + at[i]] = block[j * n + i];
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_blocks_make(struct gpnn_grid_blocks *blocks,
                                       const struct gpnn_grid_cells *cells,
                                       const struct gpnn_grid_spectrum *inner, const double *weight,
                                       bool diagonal, int threads, struct gpnn_error *err)
{
  size_t p = cells->outer, q = cells->inner;
  threads = gpnn_blas_claim(gpnn_threads_for(threads, p));
  if (threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  *blocks = (struct gpnn_grid_blocks){.outer = p, .inner = q, .diagonal = diagonal};
  struct making m = {.blocks = blocks, .cells = cells, .inner = inner, .weight = weight};
  m.stride = diagonal ? 0 : 2 * q * q + q;
  m.scratch = gpnn_alloc((size_t)threads, m.stride, sizeof *m.scratch);
  blocks->inverse = gpnn_alloc(p * q, diagonal ? 1 : q, sizeof *blocks->inverse);
  enum gpnn_status status = GPNN_OK;
  if (m.scratch == NULL || blocks->inverse == NULL) status = gpnn_fail_memory(err, MEMORY_FOR);
  size_t chunk = 1 + 100000 / (q * q * q + 1);
  if (status == GPNN_OK) status = gpnn_threads_try(threads, p, chunk, invert_block, &m, err);
  free(m.scratch);
  if (status != GPNN_OK) gpnn_grid_blocks_release(blocks);
  return status;
}

/* ---- applying them ------------------------------------------------------------------------ */

struct applying {
  const struct gpnn_grid_blocks *blocks;
  size_t columns;
  const double *x;
  double *y;
};

static void apply_block(void *context, size_t thread, size_t s)
{
  const struct applying *a = context;
  size_t q = a->blocks->inner, columns = a->columns;
  const double *x = a->x + s * columns * q;
  double *y = a->y + s * columns * q;
  (void)thread;
  if (!a->blocks->diagonal) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)columns, (int)q, (int)q, 1, x,
                (int)q, a->blocks->inverse + s * q * q, (int)q, 0, y, (int)q);
    return;
  }
  const double *inverse = a->blocks->inverse + s * q;
  for (size_t c = 0; c < columns; c++)
    for (size_t t = 0; t < q; t++) y[c * q + t] = inverse[t] * x[c * q + t];
}

void gpnn_grid_blocks_apply(const struct gpnn_grid_blocks *blocks, size_t columns, const double *x,
                            double *y, int threads)
{
  struct applying a = {.blocks = blocks, .columns = columns, .x = x, .y = y};
  size_t work = columns * blocks->inner * (blocks->diagonal ? 1 : blocks->inner);
  gpnn_threads_each(threads, blocks->outer, 1 + 1000000 / (work + 1), apply_block, &a);
}
