#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/factors/sparse_factor.h"

void gpnn_sparse_factor_release(struct gpnn_sparse_factor *factor)
{
  free(factor->order);
  free(factor->start);
  free(factor->row);
  free(factor->value);
  free(factor->inverse);
  *factor = (struct gpnn_sparse_factor){0};
}

/* ---- check -------------------------------------------------------------------------------- */

/* True if column j, which is in the arrays, is one of a factor: its rows ascend from the diagonal,
 * and its numbers are finite. */
static bool is_column(const struct gpnn_sparse_factor *f, size_t j)
{
  uint64_t begin = f->start[j], end = f->start[j + 1];
  if (f->row[begin] != j || f->row[end - 1] >= f->n || !(f->value[begin] > 0)) return false;
  for (uint64_t p = begin; p < end; p++) {
    if (p > begin && f->row[p] <= f->row[p - 1]) return false;
    if (!isfinite(f->value[p]) || (f->inverse != NULL && !isfinite(f->inverse[p]))) return false;
  }
  return true;
}

enum gpnn_status gpnn_sparse_factor_check(const struct gpnn_sparse_factor *factor,
                                          struct gpnn_error *err)
{
  bool *seen = gpnn_alloc(factor->n, 1, sizeof *seen), is_good = factor->start[0] == 0;
  if (seen == NULL) return gpnn_fail_memory(err, "for a sparse factor");
  for (size_t j = 0; j < factor->n && is_good; j++)
    is_good = factor->start[j] < factor->start[j + 1];
  for (size_t j = 0; j < factor->n && is_good; j++) {
    uint32_t at = factor->order[j];
    is_good = at < factor->n && !seen[at] && is_column(factor, j);
    if (is_good) seen[at] = true;
  }
  free(seen);
  return is_good ? GPNN_OK : gpnn_fail(err, GPNN_EFORMAT, "damaged: not a sparse factor");
}

/* ---- a form ------------------------------------------------------------------------------- */

size_t gpnn_sparse_factor_scratch(const struct gpnn_sparse_factor *factor)
{
  return 2 * factor->n;
}

static bool is_full(const struct gpnn_sparse_factor *f, size_t j)
{
  return f->start[j + 1] - f->start[j] == f->n - j;
}

/* Where the dense last block begins. */
static size_t tail_of(const struct gpnn_sparse_factor *f)
{
  size_t tail = f->n;
  while (tail > 0 && is_full(f, tail - 1)) tail--;
  return tail;
}

/* Columns yet to be solved, descending, so that the next one is the last. */
struct fronts {
  size_t n;
  double *column;
};

static void add_front(struct fronts *fronts, uint32_t column)
{
  size_t at = fronts->n;
  while (at > 0 && fronts->column[at - 1] < column) at--;
  if (at > 0 && fronts->column[at - 1] == column) return;
  for (size_t i = fronts->n++; i > at; i--) fronts->column[i] = fronts->column[i - 1];
  fronts->column[at] = column;
}

/* Solves for z_j, takes it out of the rows below, which are in z, and goes on to the parent;
 * returns z_j squared. */
static double solve_column(const struct gpnn_sparse_factor *f, size_t j, double *z,
                           struct fronts *fronts)
{
  uint64_t begin = f->start[j], end = f->start[j + 1];
  double solved = z[j] / f->value[begin];
  z[j] = 0;
  if (begin + 1 < end) add_front(fronts, f->row[begin + 1]);
  for (uint64_t p = begin + 1; p < end; p++) z[f->row[p]] -= f->value[p] * solved;
  return solved * solved;
}

/* z' S^-1 z for what is left in the last block, whose inverse S^-1 is known; z becomes 0.  'place'
 * has room for where z is not 0. */
static double tail_form(const struct gpnn_sparse_factor *f, size_t tail, double *z, double *place)
{
  double sum = 0;
  size_t m = 0;
  for (size_t i = tail; i < f->n; i++)
    if (z[i] != 0) place[m++] = (double)i;
  for (size_t b = 0; b < m; b++) {
    size_t j = (size_t)place[b];
    const double *inverse = f->inverse + f->start[j] - j;
    double below = 0;
    for (size_t a = b + 1; a < m; a++) below += inverse[(size_t)place[a]] * z[(size_t)place[a]];
    sum += z[j] * (inverse[j] * z[j] + 2 * below);
  }
  for (size_t b = 0; b < m; b++) z[(size_t)place[b]] = 0;
  return sum;
}

double gpnn_sparse_factor_form(const struct gpnn_sparse_factor *factor, size_t k,
                               const uint32_t *columns, const double *values, double *scratch)
{
  size_t tail = factor->inverse == NULL ? factor->n : tail_of(factor);
  struct fronts fronts = {.column = scratch + factor->n};
  double sum = 0;
  for (size_t i = 0; i < k; i++) {
    uint32_t at = factor->order[columns[i]];
    scratch[at] += values[i];
    add_front(&fronts, at);
  }
  while (fronts.n > 0 && fronts.column[fronts.n - 1] < (double)tail)
    sum += solve_column(factor, (size_t)fronts.column[--fronts.n], scratch, &fronts);
  if (tail < factor->n) sum += tail_form(factor, tail, scratch, fronts.column);
  return sum;
}

/* ---- the inverse -------------------------------------------------------------------------- */

/* Columns [begin, end), which have the same 'n_rows' rows below the last of them, with memory for
 * the blocks of L and of the inverse Z. */
struct block {
  size_t begin, end, n_rows;
  const uint32_t *rows;
  double *top;   /* of these columns among themselves: L, then Z */
  double *below; /* L in the rows below times top^-1 */
  double *rest;  /* Z of the rows below among themselves */
  double *out;   /* Z in the rows below */
};

/* The block of columns that ends before 'end'. */
static struct block block_before(const struct gpnn_sparse_factor *f, size_t end)
{
  size_t begin = end - 1;
  while (begin > 0 && f->row[f->start[begin - 1] + 1] == begin &&
         f->start[begin] - f->start[begin - 1] == f->start[begin + 1] - f->start[begin] + 1)
    begin--;
  return (struct block){.begin = begin,
                        .end = end,
                        .n_rows = (size_t)(f->start[end] - f->start[end - 1]) - 1,
                        .rows = f->row + f->start[end - 1] + 1};
}

/* The numbers of Z in the rows below, all of which are known and, as the rows of a column form a
 * clique, in the pattern. */
static void gather(const struct gpnn_sparse_factor *f, const struct block *block)
{
  size_t r = block->n_rows;
  for (size_t b = 0; b < r; b++) {
    size_t k = block->rows[b];
    uint64_t p = f->start[k], end = f->start[k + 1];
    double *to = block->rest + b * r;
    if (is_full(f, k)) {
      for (size_t a = b; a < r; a++) to[a] = f->inverse[p + block->rows[a] - k];
      continue;
    }
    for (size_t a = b; a < r; a++) {
      while (p < end && f->row[p] < block->rows[a]) p++;
      to[a] = p < end && f->row[p] == block->rows[a] ? f->inverse[p] : 0;
    }
  }
}

/* Copies the block's columns between an array like L's and 'top' and 'below' or 'out'. */
static void load(const struct gpnn_sparse_factor *f, const struct block *block)
{
  size_t w = block->end - block->begin, r = block->n_rows;
  for (size_t c = 0; c < w; c++) {
    const double *from = f->value + f->start[block->begin + c];
    memcpy(block->top + c * w + c, from, (w - c) * sizeof *from);
    memcpy(block->below + c * r, from + (w - c), r * sizeof *from);
  }
}

static void store(const struct gpnn_sparse_factor *f, const struct block *block)
{
  size_t w = block->end - block->begin, r = block->n_rows;
  for (size_t c = 0; c < w; c++) {
    double *to = f->inverse + f->start[block->begin + c];
    memcpy(to, block->top + c * w + c, (w - c) * sizeof *to);
    memcpy(to + (w - c), block->out + c * r, r * sizeof *to);
  }
}

/* With L = (T, B) in the block's columns and Y = B T^-1, Z is -Z_below Y in the rows below, and
 * (T T')^-1 + Y' Z_below Y among the columns. */
static void invert_block(const struct gpnn_sparse_factor *f, const struct block *block)
{
  int w = (int)(block->end - block->begin), r = (int)block->n_rows;
  load(f, block);
  if (r > 0) {
    gather(f, block);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, r, w, 1,
                block->top, w, block->below, r);
    cblas_dsymm(CblasColMajor, CblasLeft, CblasLower, r, w, -1, block->rest, r, block->below, r, 0,
                block->out, r);
  }
  /* It fails for a zero on the diagonal only, which L has not. */
  (void)LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', w, block->top, w);
  if (r > 0)
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, w, w, r, -1, block->below, r, block->out,
                r, 1, block->top, w);
  store(f, block);
}

/* How much memory the largest blocks need: the most of w^2, r w and r^2. */
static void sizes(const struct gpnn_sparse_factor *f, size_t *top, size_t *below, size_t *rest)
{
  *top = *below = *rest = 0;
  for (size_t end = f->n; end > 0;) {
    struct block block = block_before(f, end);
    size_t w = end - block.begin, r = block.n_rows;
    if (w * w > *top) *top = w * w;
    if (w * r > *below) *below = w * r;
    if (r * r > *rest) *rest = r * r;
    end = block.begin;
  }
}

enum gpnn_status gpnn_sparse_factor_inverse(struct gpnn_sparse_factor *factor,
                                            struct gpnn_error *err)
{
  struct gpnn_sparse_factor f = *factor;
  double *top, *below, *rest, *out;
  size_t n_top, n_below, n_rest;
  sizes(factor, &n_top, &n_below, &n_rest);
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY(top, n_top, 1), GPNN_ARRAY(below, n_below, 1),
                  GPNN_ARRAY(rest, n_rest, 1), GPNN_ARRAY(out, n_below, 1));
  if (f.inverse == NULL) f.inverse = gpnn_alloc((size_t)f.start[f.n], 1, sizeof *f.inverse);
  if (arrays == NULL || f.inverse == NULL) {
    gpnn_arrays_free(arrays);
    if (factor->inverse == NULL) free(f.inverse);
    return gpnn_fail_memory(err, "for the inverse of a sparse matrix");
  }
  for (size_t end = f.n; end > 0;) {
    struct block block = block_before(&f, end);
    block.top = top;
    block.below = below;
    block.rest = rest;
    block.out = out;
    invert_block(&f, &block);
    end = block.begin;
  }
  gpnn_arrays_free(arrays);
  factor->inverse = f.inverse;
  return GPNN_OK;
}

double gpnn_sparse_factor_inverse_at(const struct gpnn_sparse_factor *factor, size_t i, size_t j)
{
  uint32_t a = factor->order[i], b = factor->order[j];
  uint32_t row = a > b ? a : b, column = a > b ? b : a;
  uint64_t low = factor->start[column], high = factor->start[column + 1];
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    if (factor->row[middle] <= row)
      low = middle;
    else
      high = middle;
  }
  return factor->row[low] == row ? factor->inverse[low] : (double)NAN;
}
