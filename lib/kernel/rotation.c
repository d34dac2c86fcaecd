#include "kernel/rotation.h"

#include <string.h>

#include "base/rng.h"
#include "dataset/scaling.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "table/schema.h"

enum { MOST_ROWS = 20000 };

enum gpnn_status gpnn_rotation_whiten(size_t n, size_t d, const double *x, uint64_t seed,
                                      double *rotation, struct gpnn_error *err)
{
  size_t s = n < MOST_ROWS ? n : MOST_ROWS;
  uint64_t *rows;
  double *sample, *target;
  struct gpnn_feature *features;
  struct gpnn_arrays *arrays = GPNN_ARRAYS(GPNN_ARRAY(rows, s, 1), GPNN_ARRAY(sample, s, d),
                                           GPNN_ARRAY(target, s, 1), GPNN_ARRAY(features, d, 1));
  struct gpnn_scaling scaling = {0};
  struct gpnn_rng rng;
  if (arrays == NULL) return gpnn_fail_memory(err, "for whitening");
  gpnn_rng_init(&rng, seed, GPNN_RNG_ESTIMATE);
  enum gpnn_status status = gpnn_rng_sample(&rng, n, s, rows, err);
  for (size_t i = 0; i < s && status == GPNN_OK; i++) {
    memcpy(sample + i * d, x + rows[i] * d, d * sizeof *x);
    target[i] = (double)i; /* no target is needed, but one that varies is asked for */
  }
  for (size_t j = 0; j < d && status == GPNN_OK; j++) features[j].group = (uint32_t)j;
  if (status == GPNN_OK)
    status =
        gpnn_scaling_learn(&scaling, GPNN_SCALING_WHITEN, 0, s, d, features, sample, target, err);
  if (status == GPNN_OK) {
    memset(rotation, 0, d * d * sizeof *rotation);
    memcpy(rotation, scaling.weight, scaling.n_out * d * sizeof *rotation);
  }
  gpnn_scaling_release(&scaling);
  gpnn_arrays_free(arrays);
  return status;
}

void gpnn_rotation_apply(size_t d, const double *rotation, size_t n, const double *x, double *z)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d; j++)
      z[i * d + j] = cblas_ddot((int)d, rotation + j * d, 1, x + i * d, 1);
}

enum gpnn_status gpnn_rotation_decompose(size_t d, const double *map, double longest,
                                         double *rotation, double *lengthscale,
                                         struct gpnn_error *err)
{
  lapack_int order = (lapack_int)d;
  double *b, *s, *u, *unused;
  struct gpnn_arrays *arrays = GPNN_ARRAYS(GPNN_ARRAY(b, d, d), GPNN_ARRAY(s, d, 3),
                                           GPNN_ARRAY(u, d, d), GPNN_ARRAY(unused, d, d));
  enum gpnn_status status = GPNN_OK;
  if (arrays == NULL) return gpnn_fail_memory(err, "for a rotation");
  /* Row-major B is column-major B' = V diag(s) U': its left singular vectors are the rows of V'. */
  memcpy(b, map, d * d * sizeof *b);
  if (LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'A', 'N', order, order, b, order, s, u, order, unused, order,
                     s + d) != 0) {
    status = gpnn_fail(err, GPNN_ENUMERIC, "the rotation of the inputs has no decomposition");
    goto out;
  }
  memcpy(rotation, u, d * d * sizeof *u);
  for (size_t j = 0; j < d; j++) lengthscale[j] = s[j] * longest > 1 ? 1 / s[j] : longest;
out:
  gpnn_arrays_free(arrays);
  return status;
}
