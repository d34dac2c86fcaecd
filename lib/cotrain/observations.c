/*
 * The answers as observations, with errors that go together or not (equations 18.1 to 18.3): one
 * matrix is factored, from which weights and root follow.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cotrain/fusion_private.h"
#include "linalg/blas.h"
#include "linalg/cholesky.h"
#include "linalg/triangular.h"

struct observations {
  const struct gpnn_fusion_system *s;
  bool blocky;
};

/* Of observations i and j, which are not before own rows. */
static double covariance_of(const struct observations *o, size_t i, size_t j)
{
  const struct gpnn_fusion_system *s = o->s;
  double k = s->k[j * s->m + i] + (i == j ? s->noise[j] : 0);
  if (i < s->n) return k;
  if (j < s->n) return o->blocky ? 0 : k;
  if (o->blocky) k = s->answers->prior[(j - s->n) * s->q + i - s->n];
  return k + gpnn_fusion_error(s, i - s->n, j - s->n);
}

static void fill(void *context, double *matrix)
{
  const struct observations *o = context;
  size_t m = o->s->m;
  for (size_t j = 0; j < m; j++)
    for (size_t i = j; i < m; i++) matrix[j * m + i] = covariance_of(o, i, j);
}

/* ---- the rule blocky ---------------------------------------------------------------------- */

/* Whose answers are added to predictions from own rows, as if they were about something else: so an
 * own row left out is predicted from the others of its block, and shifted by the answers. */
static double blocky_cost(const struct gpnn_fusion_system *s, const struct gpnn_fusion *f,
                          const double *explained, size_t row)
{
  size_t n = s->n, m = s->m;
  double precision = 0, shift = 0, less = 0;
  for (size_t j = row; j < n; j++) precision += f->root[j * m + row] * f->root[j * m + row];
  for (size_t j = n; j < m; j++) {
    shift += s->k[row * m + j] * f->weights[j];
    less += explained[j * m + row] * explained[j * m + row];
  }
  double latent = 1 / precision - s->noise[row] - less;
  return gpnn_fusion_cost(f->weights[row] / precision - shift,
                          fmax(latent, 1e-10 * s->covariance->kernelscale) + s->noise[row]);
}

/* Scores the own rows, and counts the points whose variance comes out negative. */
static enum gpnn_status blocky_report(const struct gpnn_fusion_system *s, struct gpnn_fusion *f,
                                      struct gpnn_error *err)
{
  size_t m = s->m;
  int order = (int)m;
  double *explained = gpnn_alloc(m, m, sizeof *explained), sum = 0;
  if (explained == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, order, order, order, 1, f->root, order,
              s->k, order, 0, explained, order);
  for (size_t i = 0; i < m; i++) {
    double less = cblas_ddot(order, explained + i, order, explained + i, order);
    f->n_negative += less > s->covariance->kernelscale;
    if (i < s->n) sum += blocky_cost(s, f, explained, i);
  }
  f->score = sum / (double)s->n;
  free(explained);
  return GPNN_OK;
}

/* ---- all ---------------------------------------------------------------------------------- */

enum gpnn_status gpnn_fusion_observations(const struct gpnn_fusion_system *s, bool blocky,
                                          struct gpnn_fusion *f, struct gpnn_error *err)
{
  struct observations observations = {s, blocky};
  f->root = gpnn_alloc(s->m, s->m, sizeof *f->root);
  if (f->root == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = gpnn_fusion_factor(s, s->m, f->root, fill, &observations, err);
  if (status != GPNN_OK) return status;
  memcpy(f->weights, s->targets, s->m * sizeof *f->weights);
  gpnn_cholesky_solve(s->m, f->root, f->weights);
  gpnn_triangular_invert(s->m, f->root);
  f->rank = s->m;
  if (blocky) return blocky_report(s, f, err);
  f->score = gpnn_fusion_score(s, f->rank, f->root, f->weights);
  return GPNN_OK;
}
