#include "linalg/factors/woodbury.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"

/* Elements that are copied out of a block at a time, so that the BLAS sees an ordinary matrix; and
 * the pieces, of whole strips, that partial sums are over. */
enum { STRIP = 256, MOST_PIECES = 64 };

/* A loop over the strips of all elements. */
struct loop {
  const struct gpnn_woodbury *m;
  size_t columns, n, per_piece; /* elements of a piece */
  const double *x, *u;
  double *y;
  double *strip;   /* for each thread STRIP by columns, or by rank */
  double *partial; /* pieces by rank by columns, or NULL */
  size_t strip_columns;
  void (*take)(const struct loop *loop, size_t from, size_t length, double *strip, double *sum);
};

static size_t pieces_of(size_t n)
{
  size_t strips = (n + STRIP - 1) / STRIP;
  return strips < MOST_PIECES ? strips : MOST_PIECES;
}

static void do_piece(void *context, size_t thread, size_t piece)
{
  const struct loop *loop = context;
  double *strip = loop->strip + thread * STRIP * loop->strip_columns;
  size_t end = (piece + 1) * loop->per_piece < loop->n ? (piece + 1) * loop->per_piece : loop->n;
  double *sum =
      loop->partial == NULL ? NULL : loop->partial + piece * loop->m->rank * loop->strip_columns;
  for (size_t from = piece * loop->per_piece; from < end; from += STRIP)
    loop->take(loop, from, end - from < STRIP ? end - from : STRIP, strip, sum);
}

static enum gpnn_status run(struct loop *loop, double *total, struct gpnn_error *err)
{
  const struct gpnn_woodbury *m = loop->m;
  loop->n = m->outer * m->inner;
  size_t pieces = pieces_of(loop->n), sums = m->rank * loop->strip_columns;
  int threads = gpnn_threads_for(m->threads, pieces);
  if (pieces == 0) return GPNN_OK;
  loop->per_piece = ((loop->n + pieces - 1) / pieces + STRIP - 1) / STRIP * STRIP;
  loop->strip = gpnn_alloc((size_t)threads * STRIP, loop->strip_columns, sizeof(double));
  loop->partial = total == NULL ? NULL : gpnn_alloc(pieces, sums, sizeof(double));
  bool done = loop->strip != NULL && (total == NULL || loop->partial != NULL);
  if (done) gpnn_threads_each(threads, pieces, 1, do_piece, loop);
  for (size_t p = 0; done && total != NULL && p < pieces; p++)
    for (size_t i = 0; i < sums; i++) total[i] += loop->partial[p * sums + i];
  free(loop->strip);
  free(loop->partial);
  return done ? GPNN_OK : gpnn_fail_memory(err, "for a preconditioner");
}

/* Where the elements from 'from' on of the first vector of a block are. */
static void locate(const struct loop *loop, size_t from, size_t length, size_t at[STRIP])
{
  size_t inner = loop->m->inner, within = from % inner;
  size_t place = from / inner * loop->columns * inner + within;
  for (size_t i = 0; i < length; i++) {
    at[i] = place++;
    if (++within == inner) {
      place += (loop->columns - 1) * inner;
      within = 0;
    }
  }
}

/* sum += L' strip */
static void add_products(const struct loop *loop, size_t from, size_t length, const double *strip,
                         double *sum)
{
  const struct gpnn_woodbury *m = loop->m;
  if (m->rank == 0 || loop->strip_columns == 0) return;
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)m->rank, (int)loop->strip_columns,
              (int)length, 1, m->l + from, (int)loop->n, strip, STRIP, 1, sum, (int)m->rank);
}

/* strip = L u */
static void expand(const struct loop *loop, size_t from, size_t length, double *strip)
{
  const struct gpnn_woodbury *m = loop->m;
  if (m->rank == 0) memset(strip, 0, STRIP * loop->columns * sizeof *strip);
  if (m->rank == 0) return;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)length, (int)loop->columns,
              (int)m->rank, 1, m->l + from, (int)loop->n, loop->u, (int)m->rank, 0, strip, STRIP);
}

/* sum += L' D^-1 L */
static void take_gram(const struct loop *loop, size_t from, size_t length, double *strip,
                      double *sum)
{
  for (size_t j = 0; j < loop->m->rank; j++)
    for (size_t i = 0; i < length; i++)
      strip[j * STRIP + i] = loop->m->precision[from + i] * loop->m->l[j * loop->n + from + i];
  add_products(loop, from, length, strip, sum);
}

/* sum += L' D^-1 x */
static void take_projection(const struct loop *loop, size_t from, size_t length, double *strip,
                            double *sum)
{
  size_t at[STRIP];
  locate(loop, from, length, at);
  for (size_t j = 0; j < loop->columns; j++)
    for (size_t i = 0; i < length; i++)
      strip[j * STRIP + i] = loop->m->precision[from + i] * loop->x[at[i] + j * loop->m->inner];
  add_products(loop, from, length, strip, sum);
}

/* y = D^-1 (x - L u) */
static void take_solution(const struct loop *loop, size_t from, size_t length, double *strip,
                          double *sum)
{
  (void)sum;
  size_t at[STRIP];
  locate(loop, from, length, at);
  expand(loop, from, length, strip);
  for (size_t j = 0; j < loop->columns; j++)
    for (size_t i = 0; i < length; i++) {
      size_t e = at[i] + j * loop->m->inner;
      loop->y[e] = loop->m->precision[from + i] * (loop->x[e] - strip[j * STRIP + i]);
    }
}

/* I + L' D^-1 L, factored. */
static enum gpnn_status factor(struct gpnn_woodbury *m, struct gpnn_error *err)
{
  struct loop loop = {.m = m, .strip_columns = m->rank, .take = take_gram};
  size_t r = m->rank;
  enum gpnn_status status = run(&loop, m->factor, err);
  if (status != GPNN_OK || r == 0) return status;
  for (size_t i = 0; i < r; i++) m->factor[i * r + i] += 1;
  for (size_t i = 0; i < r * r; i++)
    if (!isfinite(m->factor[i]))
      return gpnn_fail(err, GPNN_ENUMERIC, "preconditioner: its factor is not finite");
  if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)r, m->factor, (int)r) != 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "preconditioner: its factor is too large");
  m->log_determinant += gpnn_cholesky_logdet(r, m->factor);
  return GPNN_OK;
}

static enum gpnn_status check_precision(struct gpnn_woodbury *m, struct gpnn_error *err)
{
  for (size_t i = 0; i < m->outer * m->inner; i++) {
    double precision = m->precision[i];
    if (!isfinite(precision) || precision < 0)
      return gpnn_fail(err, GPNN_ENUMERIC, "preconditioner: a noise variance is not positive");
    if (precision > 0) m->log_determinant -= log(precision);
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_woodbury_make(struct gpnn_woodbury *to, size_t outer, size_t inner,
                                    size_t rank, const double *l, const double *precision,
                                    int threads, struct gpnn_error *err)
{
  *to = (struct gpnn_woodbury){.outer = outer,
                               .inner = inner,
                               .rank = rank,
                               .l = l,
                               .precision = precision,
                               .threads = threads};
  enum gpnn_status status = check_precision(to, err);
  if (status == GPNN_OK) {
    to->factor = gpnn_alloc(rank, rank, sizeof *to->factor);
    status = to->factor == NULL ? gpnn_fail_memory(err, "for a preconditioner") : factor(to, err);
  }
  if (status != GPNN_OK) gpnn_woodbury_release(to);
  return status;
}

enum gpnn_status gpnn_woodbury_solve(const struct gpnn_woodbury *m, size_t columns, const double *x,
                                     double *y, struct gpnn_error *err)
{
  struct loop loop = {.m = m, .columns = columns, .strip_columns = columns, .x = x, .y = y};
  double *u = gpnn_alloc(m->rank, columns, sizeof *u);
  enum gpnn_status status = u == NULL ? gpnn_fail_memory(err, "for a preconditioner") : GPNN_OK;
  loop.take = take_projection;
  if (status == GPNN_OK && m->rank > 0) status = run(&loop, u, err);
  if (status == GPNN_OK) {
    gpnn_cholesky_forward(m->rank, m->factor, columns, u);
    gpnn_cholesky_backward(m->rank, m->factor, columns, u);
    loop.u = u;
    loop.take = take_solution;
    status = run(&loop, NULL, err);
  }
  free(u);
  return status;
}

void gpnn_woodbury_release(struct gpnn_woodbury *m)
{
  free(m->factor);
  *m = (struct gpnn_woodbury){0};
}
