#include "cotrain/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cotrain/fusion_private.h"
#include "linalg/blas.h"
#include "linalg/cholesky.h"

/* Arrays are owned. */
struct message {
  const struct gpnn_fusion_system *s;
  double *asked;     /* q by q: factor of K_qq */
  double *predicted; /* q by n: that solved for K_qb, then A' */
  double *rest;      /* n by n: factor of D */
  double *seen;      /* n by q: D^-1/2 A */
  double *targets;   /* n: D^-1/2 y */
};

static void release(struct message *w)
{
  free(w->asked);
  free(w->predicted);
  free(w->rest);
  free(w->seen);
  free(w->targets);
}

static enum gpnn_status allocate(struct message *w, struct gpnn_error *err)
{
  size_t n = w->s->n, q = w->s->q;
  w->asked = gpnn_alloc(q, q, sizeof *w->asked);
  w->predicted = gpnn_alloc(q, n, sizeof *w->predicted);
  w->rest = gpnn_alloc(n, n, sizeof *w->rest);
  w->seen = gpnn_alloc(n, q, sizeof *w->seen);
  w->targets = gpnn_alloc(n, 1, sizeof *w->targets);
  bool done = w->asked && w->predicted && w->rest && w->seen && w->targets;
  return done ? GPNN_OK : gpnn_fail_memory(err, MEMORY_FOR);
}

static void fill_asked(void *context, double *matrix)
{
  const struct gpnn_fusion_system *s = ((const struct message *)context)->s;
  for (size_t j = 0; j < s->q; j++)
    memcpy(matrix + j * s->q, s->k + (s->n + j) * s->m + s->n, s->q * sizeof *matrix);
}

/* D, its lower triangle. */
static void fill_rest(void *context, double *matrix)
{
  const struct message *w = context;
  const struct gpnn_fusion_system *s = w->s;
  for (size_t j = 0; j < s->n; j++) {
    memcpy(matrix + j * s->n, s->k + j * s->m, s->n * sizeof *matrix);
    matrix[j * s->n + j] += s->noise[j];
  }
  cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)s->n, (int)s->q, -1, w->predicted,
              (int)s->q, 1, matrix, (int)s->n);
}

/* What is left of the own rows' covariance once the asked rows are known, and A'. */
static enum gpnn_status predict_own(struct message *w, struct gpnn_error *err)
{
  const struct gpnn_fusion_system *s = w->s;
  enum gpnn_status status = gpnn_fusion_factor(s, s->q, w->asked, fill_asked, w, err);
  if (status != GPNN_OK) return status;
  for (size_t j = 0; j < s->n; j++)
    memcpy(w->predicted + j * s->q, s->k + j * s->m + s->n, s->q * sizeof *w->predicted);
  gpnn_cholesky_forward(s->q, w->asked, s->n, w->predicted);
  status = gpnn_fusion_factor(s, s->n, w->rest, fill_rest, w, err);
  gpnn_cholesky_backward(s->q, w->asked, s->n, w->predicted);
  return status;
}

static void say(struct message *w, double *shift, double *precision, double *parts)
{
  size_t n = w->s->n, q = w->s->q;
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < q; i++) w->seen[i * n + j] = w->predicted[j * q + i];
  memcpy(w->targets, w->s->targets, n * sizeof *w->targets);
  gpnn_cholesky_forward(n, w->rest, q, w->seen);
  gpnn_cholesky_forward(n, w->rest, 1, w->targets);
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)q, (int)q, (int)n, 1, w->seen, (int)n,
              w->seen, (int)n, 0, precision, (int)q);
  cblas_dgemv(CblasColMajor, CblasTrans, (int)n, (int)q, 1, w->seen, (int)n, w->targets, 1, 0,
              shift, 1);
  if (parts == NULL) return;
  gpnn_cholesky_backward(n, w->rest, q, w->seen);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < q; i++) parts[j * q + i] = w->seen[i * n + j];
}

enum gpnn_status gpnn_fusion_message(const struct gpnn_dataset *view,
                                     const struct gpnn_parameters *params, size_t n,
                                     const double *x, double *shift, double *precision,
                                     double *parts, struct gpnn_error *err)
{
  const struct gpnn_fusion_answers asked = {.n = n, .x = x};
  struct gpnn_fusion_system system = {
      .covariance = &params->covariance, .answers = &asked, .n = view->n, .q = n, .m = view->n + n};
  struct message message = {.s = &system};
  if (n == 0) return GPNN_OK;
  enum gpnn_status status = gpnn_fusion_check_size(view->n, n, err);
  if (status == GPNN_OK) status = gpnn_fusion_check(view, params, err);
  if (status == GPNN_OK) status = gpnn_fusion_system_make(&system, view, err);
  if (status == GPNN_OK) status = allocate(&message, err);
  if (status == GPNN_OK) status = predict_own(&message, err);
  if (status == GPNN_OK) say(&message, shift, precision, parts);
  release(&message);
  gpnn_fusion_system_release(&system);
  return status;
}
