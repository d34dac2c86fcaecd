/*
 * A function that both views agree on, whose precision is the sum of theirs (equations 18.4 to
 * 18.6): the other view is known at the asked rows alone, so that its part is one matrix of their
 * number.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cotrain/fusion_private.h"
#include "linalg/blas.h"
#include "linalg/cholesky.h"
#include "linalg/triangular.h"

/* Arrays are owned. */
struct consensus {
  const struct gpnn_fusion_system *s;
  bool yu;
  double own;        /* yu: the share of the asking model's noise that its view has to itself */
  double *agreement; /* q by q: factor of what both views say there, then the rows of its inverse */
  double *cross;     /* q by m: that solved for covariances of the asked rows with all points */
  double *product;   /* m by q */
};

static void release(struct consensus *c)
{
  free(c->agreement);
  free(c->cross);
  free(c->product);
}

static bool allocate(struct consensus *c)
{
  size_t m = c->s->m, q = c->s->q;
  c->agreement = gpnn_alloc(q, q, sizeof *c->agreement);
  c->cross = gpnn_alloc(q, m, sizeof *c->cross);
  c->product = gpnn_alloc(m, q, sizeof *c->product);
  return c->agreement != NULL && c->cross != NULL && c->product != NULL;
}

/* ---- matrices ----------------------------------------------------------------------------- */

/* Of the asking model's view at points i and j. */
static double view_at(const struct consensus *c, size_t i, size_t j)
{
  return c->s->k[j * c->s->m + i] + (i == j ? c->own : 0);
}

/* Of the other's view at two of the answers. */
static double other_at(const struct consensus *c, size_t i, size_t j)
{
  const struct gpnn_fusion_answers *a = c->s->answers;
  double prior = a->prior[j * a->n + i];
  if (!c->yu) return prior + gpnn_fusion_error(c->s, i, j);
  return prior + (i == j ? a->noise[i] / 2 : 0);
}

static void fill_agreement(void *context, double *matrix)
{
  const struct consensus *c = context;
  size_t n = c->s->n, q = c->s->q;
  for (size_t j = 0; j < q; j++)
    for (size_t i = j; i < q; i++) matrix[j * q + i] = view_at(c, n + i, n + j) + other_at(c, i, j);
}

/* What the observation at a point adds to the variance of the function there. */
static double noise_at(const struct consensus *c, size_t i)
{
  const struct gpnn_fusion_answers *a = c->s->answers;
  double noise = c->s->noise[i] - c->own;
  if (c->yu && i >= c->s->n && a->privacy != NULL) noise += a->privacy[(i - c->s->n) * (a->n + 1)];
  return noise;
}

/* The covariance of all observations, its lower triangle. */
static void fill_observations(void *context, double *matrix)
{
  const struct consensus *c = context;
  size_t m = c->s->m, q = c->s->q;
  memcpy(matrix, c->s->k, m * m * sizeof *matrix);
  for (size_t i = 0; i < m; i++) matrix[i * m + i] += c->own + noise_at(c, i);
  cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)m, (int)q, -1, c->cross, (int)q, 1,
              matrix, (int)m);
}

/* ---- the predictor ------------------------------------------------------------------------ */

static enum gpnn_status agree(struct consensus *c, struct gpnn_error *err)
{
  size_t n = c->s->n, m = c->s->m, q = c->s->q;
  enum gpnn_status status = gpnn_fusion_factor(c->s, q, c->agreement, fill_agreement, c, err);
  if (status != GPNN_OK) return status;
  for (size_t a = 0; a < m; a++)
    for (size_t i = 0; i < q; i++) c->cross[a * q + i] = view_at(c, n + i, a);
  gpnn_cholesky_forward(q, c->agreement, m, c->cross);
  return GPNN_OK;
}

/* Makes of weights for covariances of the consensus those for covariances of the asking model. */
static void translate_weights(const struct consensus *c, double *weights)
{
  int m = (int)c->s->m, q = (int)c->s->q;
  double *shift = c->product;
  cblas_dgemv(CblasColMajor, CblasNoTrans, q, m, 1, c->cross, q, weights, 1, 0, shift, 1);
  gpnn_cholesky_backward(c->s->q, c->agreement, 1, shift);
  for (size_t i = 0; i < c->s->q; i++) weights[c->s->n + i] -= shift[i];
}

/* Does the same for the first m rows of a root, and adds what the consensus itself takes away. */
static void translate_root(const struct consensus *c, double *root)
{
  size_t n = c->s->n;
  int m = (int)c->s->m, q = (int)c->s->q;
  gpnn_triangular_invert(c->s->q, c->agreement);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, q, m, 1, root, m, c->cross, q, 0,
              c->product, q);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, q, q, -1, c->product, q, c->agreement,
              q, 1, root + n, m);
  for (size_t i = 0; i < c->s->q; i++) {
    double *row = root + (c->s->m + i) * c->s->m;
    memset(row, 0, n * sizeof *row);
    memcpy(row + n, c->agreement + i * c->s->q, c->s->q * sizeof *row);
  }
}

static enum gpnn_status predictor(struct consensus *c, struct gpnn_fusion *f,
                                  struct gpnn_error *err)
{
  const struct gpnn_fusion_system *s = c->s;
  enum gpnn_status status = agree(c, err);
  if (status == GPNN_OK) status = gpnn_fusion_factor(s, s->m, f->root, fill_observations, c, err);
  if (status != GPNN_OK) return status;
  memcpy(f->weights, s->targets, s->m * sizeof *f->weights);
  gpnn_cholesky_solve(s->m, f->root, f->weights);
  gpnn_triangular_invert(s->m, f->root);
  f->score = gpnn_fusion_score(s, s->m, f->root, f->weights);
  translate_weights(c, f->weights);
  translate_root(c, f->root);
  f->rank = s->m + s->q;
  return gpnn_triangular_rotate(s->m, &f->rank, f->root, c->cross, err);
}

enum gpnn_status gpnn_fusion_consensus(const struct gpnn_fusion_system *s, bool yu,
                                       struct gpnn_fusion *f, struct gpnn_error *err)
{
  struct consensus c = {.s = s, .yu = yu, .own = yu ? s->covariance->noise / 2 : 0};
  f->root = gpnn_alloc(s->m + s->q, s->m, sizeof *f->root);
  enum gpnn_status status =
      f->root != NULL && allocate(&c) ? predictor(&c, f, err) : gpnn_fail_memory(err, MEMORY_FOR);
  release(&c);
  return status;
}
