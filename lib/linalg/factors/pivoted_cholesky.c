#include "linalg/factors/pivoted_cholesky.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas.h"

/* Rows that are worked on at a time, and of which one partial sum is. */
enum { PIECE = 2048 };

/* How far rounding may take a pivot below zero, relative to the largest element of the diagonal. */
static const double rounding = 1e-8;

/* What a piece knows of its remaining diagonal. */
struct summary {
  double most, least, trace;
  size_t where; /* the first of the largest */
};

struct work {
  const struct gpnn_pivoted_matrix *matrix;
  struct gpnn_pivoted_cholesky *factor;
  double *diagonal; /* n: what remains */
  double *at_pivot; /* the row of L that the pivot is in */
  double root;      /* of the pivot */
  size_t pivot, n_pieces;
  struct summary *piece;
};

static void summarise(struct work *w, size_t piece, size_t from, size_t to)
{
  struct summary s = {.most = -INFINITY, .least = INFINITY, .where = from};
  for (size_t i = from; i < to; i++) {
    double d = w->diagonal[i];
    if (d > s.most) {
      s.most = d;
      s.where = i;
    }
    s.least = fmin(s.least, d);
    s.trace += d;
  }
  w->piece[piece] = s;
}

static size_t end_of(const struct work *w, size_t piece)
{
  size_t end = (piece + 1) * PIECE;
  return end < w->matrix->n ? end : w->matrix->n;
}

static void look_at_piece(void *context, size_t thread, size_t piece)
{
  (void)thread;
  summarise(context, piece, piece * PIECE, end_of(context, piece));
}

/* The new column has the row of the matrix; takes the columns before it off, and its squares off
 * the diagonal. */
static void eliminate_piece(void *context, size_t thread, size_t piece)
{
  (void)thread;
  struct work *w = context;
  size_t n = w->matrix->n, k = w->factor->rank, from = piece * PIECE, to = end_of(w, piece);
  double *column = w->factor->l + k * n;
  if (k > 0)
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)(to - from), (int)k, -1, w->factor->l + from,
                (int)n, w->at_pivot, 1, 1, column + from, 1);
  for (size_t i = from; i < to; i++) {
    column[i] /= w->root;
    w->diagonal[i] -= column[i] * column[i];
  }
  for (size_t j = 0; j < k; j++)
    if (w->factor->pivot[j] >= from && w->factor->pivot[j] < to) column[w->factor->pivot[j]] = 0;
  if (w->pivot >= from && w->pivot < to) {
    column[w->pivot] = w->root;
    w->diagonal[w->pivot] = 0;
  }
  summarise(w, piece, from, to);
}

static struct summary look(const struct work *w)
{
  struct summary all = w->piece[0];
  for (size_t p = 1; p < w->n_pieces; p++) {
    const struct summary *s = &w->piece[p];
    if (s->most > all.most) {
      all.most = s->most;
      all.where = s->where;
    }
    all.least = fmin(all.least, s->least);
    all.trace += s->trace;
  }
  return all;
}

static enum gpnn_status add_column(struct work *w, const struct summary *now, int threads,
                                   struct gpnn_error *err)
{
  struct gpnn_pivoted_cholesky *f = w->factor;
  w->pivot = now->where;
  w->root = sqrt(now->most);
  for (size_t j = 0; j < f->rank; j++) w->at_pivot[j] = f->l[j * f->n + w->pivot];
  enum gpnn_status status =
      w->matrix->row(w->matrix->context, w->pivot, f->l + f->rank * f->n, err);
  if (status != GPNN_OK) return status;
  gpnn_threads_each(threads, w->n_pieces, 4, eliminate_piece, w);
  f->pivot[f->rank++] = w->pivot;
  return GPNN_OK;
}

static enum gpnn_status check(const struct summary *now, double largest, struct gpnn_error *err)
{
  if (!isfinite(now->trace))
    return gpnn_fail(err, GPNN_ENUMERIC, "pivoted Cholesky: the matrix is not finite");
  if (now->least < -rounding * largest || (largest <= 0 && now->least < 0))
    return gpnn_fail(err, GPNN_ENUMERIC,
                     "pivoted Cholesky: the matrix is not positive semidefinite: pivot %.3g",
                     now->least);
  return GPNN_OK;
}

static enum gpnn_status eliminate(struct work *w, size_t most, double remainder, int threads,
                                  struct gpnn_error *err)
{
  gpnn_threads_each(threads, w->n_pieces, 16, look_at_piece, w);
  struct summary now = look(w);
  double all = now.trace, largest = now.most, n = (double)w->matrix->n;
  enum gpnn_status status = check(&now, largest, err);
  while (status == GPNN_OK && w->factor->rank < most && now.trace > remainder * all &&
         now.most > n * DBL_EPSILON * largest) {
    status = add_column(w, &now, threads, err);
    now = look(w);
    if (status == GPNN_OK) status = check(&now, largest, err);
  }
  w->factor->remainder = all > 0 ? fmax(now.trace, 0) / all : 0;
  return status;
}

enum gpnn_status gpnn_pivoted_cholesky(const struct gpnn_pivoted_matrix *matrix, size_t most,
                                       double remainder, int threads,
                                       struct gpnn_pivoted_cholesky *to, struct gpnn_error *err)
{
  size_t n = matrix->n, room = most < n ? most : n;
  struct work w = {.matrix = matrix, .factor = to, .n_pieces = (n + PIECE - 1) / PIECE};
  enum gpnn_status status = GPNN_OK;
  *to = (struct gpnn_pivoted_cholesky){.n = n};
  to->l = gpnn_alloc(n, room, sizeof *to->l);
  to->pivot = gpnn_alloc(room, 1, sizeof *to->pivot);
  w.diagonal = gpnn_alloc(n, 1, sizeof *w.diagonal);
  w.at_pivot = gpnn_alloc(room, 1, sizeof *w.at_pivot);
  w.piece = gpnn_alloc(w.n_pieces, 1, sizeof *w.piece);
  if (!to->l || !to->pivot || !w.diagonal || !w.at_pivot || !w.piece)
    status = gpnn_fail_memory(err, "for a pivoted Cholesky factor");
  if (status == GPNN_OK && n > 0) {
    memcpy(w.diagonal, matrix->diagonal, n * sizeof *w.diagonal);
    status = eliminate(&w, room, remainder, threads, err);
  }
  free(w.diagonal);
  free(w.at_pivot);
  free(w.piece);
  if (status != GPNN_OK) gpnn_pivoted_cholesky_release(to);
  return status;
}

void gpnn_pivoted_cholesky_release(struct gpnn_pivoted_cholesky *factor)
{
  free(factor->l);
  free(factor->pivot);
  *factor = (struct gpnn_pivoted_cholesky){0};
}
