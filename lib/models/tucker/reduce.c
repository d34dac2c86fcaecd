#include "models/tucker/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "models/tucker/core.h"

/* A model of rank 'q' in one dimension and as before in the others. */
static enum gpnn_status shrink(struct gpnn_tucker *t, size_t l, size_t q, const double *vectors,
                               double *work, struct gpnn_error *err)
{
  struct gpnn_tucker_shape shape = t->shape;
  struct gpnn_tucker to;
  shape.q[l] = q;
  enum gpnn_status status = gpnn_tucker_new(&to, &shape, t->kernel, err);
  if (status != GPNN_OK) return status;
  size_t m = shape.m[l], before = t->shape.q[l];
  to.jitter = t->jitter;
  to.has_covariance = t->has_covariance;
  memcpy(to.grid, t->grid, t->n_grid * sizeof *t->grid);
  memcpy(to.numbers + to.rho[0], t->numbers + t->rho[0],
         (t->n_numbers - t->rho[0]) * sizeof *t->numbers);
  for (size_t k = 0; k < shape.p; k++)
    if (k != l)
      memcpy(to.numbers + to.factor[k], t->numbers + t->factor[k],
             shape.m[k] * shape.q[k] * sizeof *t->numbers);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)q, (int)before, 1,
              t->numbers + t->factor[l], (int)before, vectors, (int)before, 0,
              to.numbers + to.factor[l], (int)q);
  gpnn_tucker_core_transform(&t->shape, l, q, vectors, t->numbers, work);
  memcpy(to.numbers, t->numbers, to.n_core * sizeof *t->numbers);
  gpnn_tucker_release(t);
  *t = to;
  return GPNN_OK;
}

/* Eigenvectors of the unfolding times its transpose, the greatest first, as rows. */
static enum gpnn_status find_vectors(const struct gpnn_tucker *t, size_t l, double *vectors,
                                     double *values, double *work, struct gpnn_error *err)
{
  size_t q = t->shape.q[l];
  double *gram = gpnn_alloc(q, q, sizeof *gram), *g[GPNN_TUCKER_DIMENSIONS] = {NULL};
  lapack_int info = 0;
  bool has_memory = gram != NULL;
  for (size_t k = 0; k < t->shape.p && has_memory; k++) {
    has_memory = (g[k] = gpnn_alloc(t->shape.q[k], t->shape.q[k], sizeof *gram)) != NULL;
    for (size_t j = 0; j < t->shape.q[k] && has_memory; j++) g[k][j * (t->shape.q[k] + 1)] = 1;
  }
  if (has_memory) {
    gpnn_tucker_core_gram(&t->shape, l, t->numbers, (const double *const *)g, gram, work);
    info = LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', (int)q, gram, (int)q, values);
    for (size_t a = 0; a < q; a++)
      memcpy(vectors + a * q, gram + (q - 1 - a) * q, q * sizeof *vectors);
  }
  for (size_t k = 0; k < t->shape.p; k++) free(g[k]);
  free(gram);
  if (!has_memory) return gpnn_fail_memory(err, "for the ranks of a grid");
  return info == 0 ? GPNN_OK : gpnn_fail(err, GPNN_ENUMERIC, "the ranks of a grid cannot be found");
}

static enum gpnn_status reduce(struct gpnn_tucker *t, size_t l, double share,
                               struct gpnn_error *err)
{
  size_t q = t->shape.q[l], kept = 1;
  double *work = gpnn_alloc(gpnn_tucker_core_work(&t->shape), 1, sizeof *work);
  double *vectors = gpnn_alloc(q, q + 1, sizeof *vectors);
  enum gpnn_status status = work == NULL || vectors == NULL
                                ? gpnn_fail_memory(err, "for the ranks of a grid")
                                : find_vectors(t, l, vectors, vectors + q * q, work, err);
  if (status == GPNN_OK) {
    const double *values = vectors + q * q; /* ascending */
    while (kept < q && values[q - 1 - kept] > share * share * values[q - 1]) kept++;
    if (kept < q) status = shrink(t, l, kept, vectors, work, err);
  }
  free(work);
  free(vectors);
  return status;
}

enum gpnn_status gpnn_tucker_reduce(struct gpnn_tucker *tucker, double share,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t l = 0; l < tucker->shape.p && !tucker->shape.is_diagonal && status == GPNN_OK; l++)
    status = reduce(tucker, l, share, err);
  return status;
}
