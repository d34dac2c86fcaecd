#include "models/rotation.h"

#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"
#include "base/rng.h"
#include "data/standard.h"

enum { MOST_ROWS = 20000 };

enum gpnn_status gpnn_rotation_whiten(size_t n, size_t d, const double *x, uint64_t seed,
                                      double *rotation, struct gpnn_error *err)
{
  size_t s = n < MOST_ROWS ? n : MOST_ROWS;
  uint64_t *rows = gpnn_alloc(s, 1, sizeof *rows);
  double *sample = gpnn_alloc(s, d, sizeof *sample);
  double *target = gpnn_alloc(s, 1, sizeof *target);
  struct gpnn_standard standard = {0};
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_ESTIMATE);
  enum gpnn_status status = rows == NULL || sample == NULL || target == NULL
                                ? gpnn_fail_memory(err, "for whitening")
                                : gpnn_rng_sample(&rng, n, s, rows, err);
  for (size_t i = 0; i < s && status == GPNN_OK; i++) {
    memcpy(sample + i * d, x + rows[i] * d, d * sizeof *x);
    target[i] = (double)i; /* no target is needed, but one that varies is asked for */
  }
  struct gpnn_feature *features = gpnn_alloc(d, 1, sizeof *features);
  if (status == GPNN_OK && features == NULL) status = gpnn_fail_memory(err, "for whitening");
  for (size_t j = 0; j < d && status == GPNN_OK; j++) features[j].group = (uint32_t)j;
  if (status == GPNN_OK)
    status = gpnn_standard_learn(&standard, GPNN_STANDARD_WHITEN, 0, s, d, features, sample, target,
                                 err);
  if (status == GPNN_OK) {
    memset(rotation, 0, d * d * sizeof *rotation);
    memcpy(rotation, standard.weight, standard.n_out * d * sizeof *rotation);
  }
  gpnn_standard_release(&standard);
  free(rows);
  free(sample);
  free(target);
  free(features);
  return status;
}

void gpnn_rotation_apply(size_t d, const double *rotation, size_t n, const double *x, double *z)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d; j++)
      z[i * d + j] = cblas_ddot((int)d, rotation + j * d, 1, x + i * d, 1);
}
