#include "linalg/iterative/cg_blocks_private.h"

#include <string.h>

#include "base/threads.h"
#include "linalg/simd.h"

/* Elements of a vector that one partial sum is over, and numbers that a thread should at least take
 * at a time. */
enum { PIECE = 4096, CHUNK = 1 << 16 };

struct gpnn_blocks gpnn_blocks_of(size_t outer, size_t inner, int threads)
{
  struct gpnn_blocks s = {.outer = outer, .inner = inner, .threads = threads};
  s.rows = inner >= PIECE ? 1 : PIECE / inner;
  s.length = inner >= PIECE ? PIECE : inner;
  s.across = inner >= PIECE ? (inner + PIECE - 1) / PIECE : 1;
  s.n = (outer + s.rows - 1) / s.rows * s.across;
  return s;
}

/* What a pass does to the elements of one outer index: all columns, from inner index 'from' on.
 * 'row' is the offset of the index's first element in the blocks. */
struct pass {
  const struct gpnn_blocks *shape;
  size_t columns;      /* of the blocks */
  const double *x, *y; /* read */
  double *z;           /* written */
  const double *a, *b; /* columns: factors */
  double *solution;    /* a block of 'n_solutions' columns */
  size_t n_solutions;  /* its columns, and which of them each of ours is */
  const size_t *column;
  double *sum; /* a row of partial sums for each piece, or NULL */
  void (*row)(const struct pass *pass, size_t outer, size_t from, size_t length, double *sum);
};

static void step_piece(void *context, size_t thread, size_t piece)
{
  (void)thread;
  const struct pass *pass = context;
  const struct gpnn_blocks *s = pass->shape;
  size_t from = piece % s->across * s->length, first = piece / s->across * s->rows;
  size_t length = s->inner - from < s->length ? s->inner - from : s->length;
  double *sum = pass->sum == NULL ? NULL : pass->sum + piece * pass->columns;
  if (sum != NULL) memset(sum, 0, pass->columns * sizeof *sum);
  for (size_t o = first; o < first + s->rows && o < s->outer; o++)
    pass->row(pass, o, from, length, sum);
}

/* Runs a pass, and writes the sums of the pieces, in their order, to 'total' unless that is NULL.
 */
static void run(struct pass *pass, double *total)
{
  const struct gpnn_blocks *s = pass->shape;
  size_t numbers = s->rows * s->length * pass->columns;
  gpnn_threads_each(s->threads, s->n, numbers < CHUNK ? CHUNK / numbers + 1 : 1, step_piece, pass);
  if (total == NULL) return;
  memset(total, 0, pass->columns * sizeof *total);
  for (size_t p = 0; p < s->n; p++)
    for (size_t j = 0; j < pass->columns; j++) total[j] += pass->sum[p * pass->columns + j];
}

static size_t offset(const struct pass *pass, size_t outer)
{
  return outer * pass->columns * pass->shape->inner;
}

GPNN_SIMD static double dot(size_t n, const double *x, const double *y)
{
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

GPNN_SIMD static void dot_interleaved(size_t n, const double *x, const double *y, double *sum)
{
#pragma omp simd
  for (size_t i = 0; i < n; i++) sum[i] += x[i] * y[i];
}

/* sum = x'y */
static void row_dot(const struct pass *pass, size_t outer, size_t from, size_t length, double *sum)
{
  size_t inner = pass->shape->inner, at = offset(pass, outer);
  if (inner == 1) {
    dot_interleaved(pass->columns, pass->x + at, pass->y + at, sum);
    return;
  }
  at += from;
  for (size_t j = 0; j < pass->columns; j++, at += inner)
    sum[j] += dot(length, pass->x + at, pass->y + at);
}

GPNN_SIMD static double subtract(size_t n, const double *x, double a, const double *y, double *z)
{
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++) {
    z[i] = x[i] - a * y[i];
    sum += z[i] * z[i];
  }
  return sum;
}

GPNN_SIMD static void subtract_interleaved(size_t n, const double *x, const double *a,
                                           const double *y, double *z, double *sum)
{
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    z[i] = x[i] - a[i] * y[i];
    sum[i] += z[i] * z[i];
  }
}

/* z = x - a y, which may be in place, and sum = z'z */
static void row_subtract(const struct pass *pass, size_t outer, size_t from, size_t length,
                         double *sum)
{
  size_t inner = pass->shape->inner, at = offset(pass, outer);
  if (inner == 1) {
    subtract_interleaved(pass->columns, pass->x + at, pass->a, pass->y + at, pass->z + at, sum);
    return;
  }
  at += from;
  for (size_t j = 0; j < pass->columns; j++, at += inner)
    sum[j] += subtract(length, pass->x + at, pass->a[j], pass->y + at, pass->z + at);
}

GPNN_SIMD static void advance(size_t n, double a, double b, const double *restrict z,
                              double *restrict d, double *restrict x)
{
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    x[i] += a * d[i];
    d[i] = z[i] + b * d[i];
  }
}

static void advance_interleaved(const struct pass *pass, size_t at, double *x)
{
  for (size_t j = 0; j < pass->columns; j++) {
    double d = pass->z[at + j];
    x[pass->column[j]] += pass->a[j] * d;
    pass->z[at + j] = pass->y[at + j] + pass->b[j] * d;
  }
}

/* solution += a d, then d = y + b d, where d is z: one pass for both, as both need d */
static void row_advance(const struct pass *pass, size_t outer, size_t from, size_t length,
                        double *sum)
{
  (void)sum;
  size_t inner = pass->shape->inner, at = offset(pass, outer) + from;
  double *x = pass->solution + outer * pass->n_solutions * inner + from;
  if (inner == 1) {
    advance_interleaved(pass, at, x);
    return;
  }
  for (size_t j = 0; j < pass->columns; j++, at += inner)
    advance(length, pass->a[j], pass->b[j], pass->y + at, pass->z + at,
            x + pass->column[j] * inner);
}

void gpnn_blocks_dot(const struct gpnn_blocks *blocks, size_t columns, const double *x,
                     const double *y, double *sum)
{
  struct pass pass = {.shape = blocks, .columns = columns, .x = x, .y = y, .row = row_dot};
  pass.sum = blocks->partial;
  run(&pass, sum);
}

void gpnn_blocks_subtract(const struct gpnn_blocks *blocks, size_t columns, const double *x,
                          const double *a, const double *y, double *z, double *sum)
{
  struct pass pass = {.shape = blocks, .columns = columns, .x = x, .y = y, .z = z, .a = a};
  pass.row = row_subtract;
  pass.sum = blocks->partial;
  run(&pass, sum);
}

void gpnn_blocks_advance(const struct gpnn_blocks *blocks, size_t columns, const double *a,
                         const double *b, const double *z, double *d, const size_t *column,
                         size_t n_solutions, double *solution)
{
  struct pass pass = {.shape = blocks, .columns = columns, .y = z, .z = d, .a = a, .b = b};
  pass.column = column;
  pass.n_solutions = n_solutions;
  pass.solution = solution;
  pass.row = row_advance;
  run(&pass, NULL);
}

void gpnn_blocks_keep(const struct gpnn_blocks *blocks, size_t columns, double *block,
                      size_t n_kept, const size_t *kept)
{
  size_t inner = blocks->inner;
  if (n_kept == columns) return;
  for (size_t o = 0; o < blocks->outer; o++)
    for (size_t j = 0; j < n_kept; j++)
      memmove(block + (o * n_kept + j) * inner, block + (o * columns + kept[j]) * inner,
              inner * sizeof *block);
}
