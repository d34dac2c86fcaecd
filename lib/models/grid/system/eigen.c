/*
 * The preconditioner of leading eigenvectors: a low rank, and blocks on the diagonal for the rest.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "models/grid/system/system_private.h"

#define MEMORY_FOR "for the preconditioner of a grid"

/* ---- blocks ------------------------------------------------------------------------------- */

/* The inverse of a symmetric matrix that has a block for each level of the first factor, or of its
 * diagonal alone, over the observed cells; 0 at the others. */
struct gpnn_grid_blocks {
  size_t outer, inner;
  bool diagonal;   /* only that is kept */
  double *inverse; /* owned; outer by inner by inner, or outer by inner */
};

double gpnn_grid_blocks_bytes(const struct gpnn_grid_cells *cells, bool diagonal)
{
  double diagonals = (double)cells->outer * (double)cells->inner * sizeof(double);
  return diagonal ? diagonals : diagonals * (double)cells->inner;
}

static void blocks_release(struct gpnn_grid_blocks *blocks)
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

/*
 * Of block s, E_T' diag(weight[s]) E_T plus the noise, where the rows of E_T are the eigenvectors
 * of 'inner' and 'weight' is outer by inner.n, none below 0.
 */
static enum gpnn_status blocks_make(struct gpnn_grid_blocks *blocks,
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
  if (status != GPNN_OK) blocks_release(blocks);
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

/* Multiplies 'columns' vectors by the inverse; 'x' and 'y' do not overlap. */
static void blocks_apply(const struct gpnn_grid_blocks *blocks, size_t columns, const double *x,
                         double *y, int threads)
{
  struct applying a = {.blocks = blocks, .columns = columns, .x = x, .y = y};
  size_t work = columns * blocks->inner * (blocks->diagonal ? 1 : blocks->inner);
  gpnn_threads_each(threads, blocks->outer, 1 + 1000000 / (work + 1), apply_block, &a);
}

/* ---- eigenvectors ------------------------------------------------------------------------- */

/* The preconditioner B + F F' with the blocks B and the pairs F. */
struct gpnn_grid_eigen {
  struct gpnn_grid_pairs pairs;
  struct gpnn_grid_blocks blocks;
  double *factor; /* owned; rank by rank, row-major: the lower triangle L of L L' = I + F' B^-1 F */
};

void gpnn_grid_eigen_free(struct gpnn_grid_eigen *eigen)
{
  if (eigen == NULL) return;
  gpnn_grid_pairs_release(&eigen->pairs);
  free(eigen->factor);
  blocks_release(&eigen->blocks);
  free(eigen);
}

/* ---- what pairs leave --------------------------------------------------------------------- */

/* What the pairs leave of each block: its weight of the eigenvector 'k' of K_T is value k of K_T
 * times what the eigenvectors of K_S from count[k] on give to the level. */
static double *left_over(const struct gpnn_grid_spectrum *outer,
                         const struct gpnn_grid_spectrum *inner, const size_t *count)
{
  size_t p = outer->n, q = inner->n, k = 0;
  double *weight = gpnn_alloc(p, q, sizeof *weight), *tail = gpnn_alloc(p, 1, sizeof *tail);
  if (weight == NULL || tail == NULL) {
    free(weight);
    free(tail);
    return NULL;
  }
  while (k < q && count[k] == p) k++;
  for (size_t i = p; i-- > 0;) {
    for (size_t s = 0; s < p; s++)
      tail[s] += outer->values[i] * outer->vectors[i * p + s] * outer->vectors[i * p + s];
    for (; k < q && count[k] == i; k++)
      for (size_t s = 0; s < p; s++) weight[s * q + k] = inner->values[k] * tail[s];
  }
  free(tail);
  return weight;
}

/* ---- the small system --------------------------------------------------------------------- */

/* How many eigenvectors of K_T the blocks are applied to at once: 16, or as many as take about 32
 * MiB, at least one. */
static size_t vectors_together(const struct gpnn_grid_eigen *e)
{
  size_t n = ((size_t)1 << 22) / (e->pairs.p * e->pairs.q);
  return n > 16 ? 16 : n + (n == 0);
}

struct forming {
  struct gpnn_grid_eigen *eigen;
  int threads;
  size_t together;
  double *spread;  /* p by together by q: eigenvectors of K_T at every level */
  double *applied; /* the same, times the blocks' inverses */
  double *weight;  /* p by together by used: what E_T B_s^-1 E_T' is at level s */
  double *scaled;  /* widest by p */
  double *product; /* widest by widest */
};

/* The part of F' B^-1 F for eigenvectors j and k <= j of K_T, which is E_S diag(w) E_S'. */
static enum gpnn_status form_pair(const struct forming *f, size_t j, size_t k, size_t n_rows,
                                  struct gpnn_error *err)
{
  struct gpnn_grid_eigen *e = f->eigen;
  const double *weight = f->weight + j % f->together * e->pairs.used + k;
  for (size_t i = 0; i < e->pairs.count[j]; i++)
    for (size_t s = 0; s < e->pairs.p; s++)
      f->scaled[i * e->pairs.p + s] =
          e->pairs.outer[i * e->pairs.p + s] * weight[s * n_rows * e->pairs.used];
  struct gpnn_grid_contraction c = {.left = e->pairs.count[j],
                                    .d = e->pairs.p,
                                    .right = 1,
                                    .n_to = e->pairs.count[k],
                                    .k = e->pairs.outer,
                                    .stride = e->pairs.p};
  enum gpnn_status status = gpnn_grid_contract(&c, f->scaled, f->product, f->threads, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < e->pairs.count[j]; i++) {
    size_t row = e->pairs.first[j] + i;
    double *to = e->factor + row * e->pairs.rank + e->pairs.first[k];
    size_t n = j == k ? i + 1 : e->pairs.count[k];
    for (size_t l = 0; l < n; l++)
      to[l] = e->pairs.root[row] * e->pairs.root[e->pairs.first[k] + l] *
              f->product[i * e->pairs.count[k] + l];
  }
  return GPNN_OK;
}

/* All parts of the rows of eigenvectors 'first' of K_T and those after it that are taken together.
 */
static enum gpnn_status form_rows(const struct forming *f, size_t first, struct gpnn_error *err)
{
  struct gpnn_grid_eigen *e = f->eigen;
  size_t n = e->pairs.used - first < f->together ? e->pairs.used - first : f->together;
  for (size_t s = 0; s < e->pairs.p; s++)
    memcpy(f->spread + s * n * e->pairs.q, e->pairs.inner + first * e->pairs.q,
           n * e->pairs.q * sizeof *f->spread);
  blocks_apply(&e->blocks, n, f->spread, f->applied, f->threads);
  struct gpnn_grid_contraction c = {.left = e->pairs.p * n,
                                    .d = e->pairs.q,
                                    .right = 1,
                                    .n_to = e->pairs.used,
                                    .k = e->pairs.inner,
                                    .stride = e->pairs.q};
  enum gpnn_status status = gpnn_grid_contract(&c, f->applied, f->weight, f->threads, err);
  for (size_t j = first; j < first + n && status == GPNN_OK; j++)
    for (size_t k = 0; k <= j && status == GPNN_OK; k++) status = form_pair(f, j, k, n, err);
  return status;
}

static enum gpnn_status form(struct gpnn_grid_eigen *e, int threads, struct gpnn_error *err)
{
  struct forming f = {.eigen = e, .threads = threads, .together = vectors_together(e)};
  enum gpnn_status status = GPNN_OK;
  size_t width = e->pairs.p * f.together;
  struct gpnn_arrays *arrays = GPNN_ARRAYS(
      GPNN_ARRAY(f.spread, width, e->pairs.q), GPNN_ARRAY(f.applied, width, e->pairs.q),
      GPNN_ARRAY(f.weight, width, e->pairs.used), GPNN_ARRAY(f.scaled, e->pairs.widest, e->pairs.p),
      GPNN_ARRAY(f.product, e->pairs.widest, e->pairs.widest));
  e->factor = gpnn_alloc(e->pairs.rank, e->pairs.rank, sizeof *e->factor);
  if (arrays == NULL || e->factor == NULL) status = gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t j = 0; j < e->pairs.used && status == GPNN_OK; j += f.together)
    status = form_rows(&f, j, err);
  gpnn_arrays_free(arrays);
  return status;
}

/* Row-major and lower is column-major and upper, as LAPACK sees it. */
static enum gpnn_status factor(struct gpnn_grid_eigen *e, struct gpnn_error *err)
{
  int rank = (int)e->pairs.rank;
  for (size_t i = 0; i < e->pairs.rank; i++) e->factor[i * e->pairs.rank + i] += 1;
  if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', rank, e->factor, rank) != 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "the noise is too small for the equations of a grid");
  return GPNN_OK;
}

static enum gpnn_status make(struct gpnn_grid_eigen *e, const struct gpnn_grid_cells *cells,
                             const struct gpnn_grid_spectrum *outer,
                             const struct gpnn_grid_spectrum *inner,
                             const struct gpnn_grid_eigen_plan *plan, int threads,
                             struct gpnn_error *err)
{
  double left = 0, next;
  size_t *count = gpnn_alloc(inner->n, 1, sizeof *count);
  if (count == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  (void)gpnn_grid_take_pairs(outer, inner, plan->rank, count, &left, &next);
  enum gpnn_status status = gpnn_grid_pairs_keep(&e->pairs, outer, inner, count, err);
  double *weight = status == GPNN_OK ? left_over(outer, inner, count) : NULL;
  if (status == GPNN_OK && weight == NULL) status = gpnn_fail_memory(err, MEMORY_FOR);
  free(count);
  if (status == GPNN_OK)
    status = blocks_make(&e->blocks, cells, inner, weight, plan->diagonal, threads, err);
  free(weight);
  if (status == GPNN_OK) status = form(e, threads, err);
  return status == GPNN_OK ? factor(e, err) : status;
}

enum gpnn_status
gpnn_grid_eigen_new(struct gpnn_grid_eigen **made, const struct gpnn_grid_cells *cells,
                    const struct gpnn_grid_spectrum *outer, const struct gpnn_grid_spectrum *inner,
                    const struct gpnn_grid_eigen_plan *plan, int threads, struct gpnn_error *err)
{
  struct gpnn_grid_eigen *eigen = gpnn_alloc(1, 1, sizeof *eigen);
  if (eigen == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = make(eigen, cells, outer, inner, plan, threads, err);
  if (status == GPNN_OK)
    *made = eigen;
  else
    gpnn_grid_eigen_free(eigen);
  return status;
}

size_t gpnn_grid_eigen_bytes(const struct gpnn_grid_eigen *e)
{
  size_t blocks = e->pairs.p * e->pairs.q * (e->blocks.diagonal ? 1 : e->pairs.q);
  return (e->pairs.rank * e->pairs.rank + e->pairs.widest * e->pairs.p + blocks) * sizeof(double);
}

size_t gpnn_grid_eigen_rank(const struct gpnn_grid_eigen *eigen)
{
  return eigen->pairs.rank;
}

/* ---- applying ----------------------------------------------------------------------------- */

/* Right-hand sides of the small system that are solved at once. */
enum { SMALL_COLUMNS = 32 };

struct small {
  const struct gpnn_grid_eigen *eigen;
  size_t columns;
  double *u; /* rank by columns */
};

static void solve_small(void *context, size_t thread, size_t piece)
{
  const struct small *s = context;
  size_t first = piece * SMALL_COLUMNS, rest = s->columns - first;
  int n = (int)(rest < SMALL_COLUMNS ? rest : SMALL_COLUMNS), rank = (int)s->eigen->pairs.rank;
  (void)thread;
  if (s->columns == 1) { /* which the BLAS would copy the factor for */
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, rank, s->eigen->factor, rank,
                s->u, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, rank, s->eigen->factor, rank,
                s->u, 1);
    return;
  }
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, rank, n, 1,
              s->eigen->factor, rank, s->u + first, (int)s->columns);
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, rank, n, 1,
              s->eigen->factor, rank, s->u + first, (int)s->columns);
}

size_t gpnn_grid_eigen_scratch(const struct gpnn_grid_eigen *e, size_t columns)
{
  return columns * e->pairs.p * e->pairs.q + gpnn_grid_pairs_scratch(&e->pairs, columns);
}

enum gpnn_status gpnn_grid_eigen_apply(const struct gpnn_grid_eigen *e, size_t columns,
                                       const double *x, double *y, double *scratch, int threads,
                                       struct gpnn_error *err)
{
  size_t size = e->pairs.p * columns * e->pairs.q;
  double *turned = scratch + size, *u = turned + e->pairs.used * e->pairs.p * columns;
  threads = gpnn_blas_claim(threads);
  if (threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  blocks_apply(&e->blocks, columns, x, scratch, threads);
  enum gpnn_status status =
      gpnn_grid_pairs_project(&e->pairs, columns, scratch, u, turned, threads, err);
  if (status != GPNN_OK) return status;
  struct small small = {.eigen = e, .columns = columns, .u = u};
  gpnn_threads_each(threads, (columns + SMALL_COLUMNS - 1) / SMALL_COLUMNS, 1, solve_small, &small);
  status = gpnn_grid_pairs_expand(&e->pairs, columns, u, scratch, turned, threads, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < size; i++) scratch[i] = x[i] - scratch[i];
  blocks_apply(&e->blocks, columns, scratch, y, threads);
  return GPNN_OK;
}
