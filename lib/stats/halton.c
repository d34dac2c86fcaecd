#include "stats/halton.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"

static bool is_prime(size_t p)
{
  for (size_t q = 2; q * q <= p; q++)
    if (p % q == 0) return false;
  return true;
}

/* Fills coordinate 'j' in base 'p', digit by digit: beyond 2^-53 they do not matter. */
static enum gpnn_status fill_coordinate(size_t n, size_t d, size_t j, size_t p, uint64_t seed,
                                        double *points, struct gpnn_error *err)
{
  const double least = 0x1p-53, below_one = 1 - 0x1p-53;
  struct gpnn_rng rng;
  enum gpnn_status status = GPNN_OK;
  uint64_t *digit = gpnn_alloc(p, 1, sizeof *digit);
  if (digit == NULL) return gpnn_fail_memory(err, "for quasi-random points");
  gpnn_rng_init_at(&rng, seed, GPNN_RNG_HALTON, j);
  for (size_t i = 0; i < n; i++) points[i * d + j] = 0;
  double weight = 1 / (double)p;
  for (size_t power = 1; weight > least && status == GPNN_OK; weight /= (double)p) {
    status = gpnn_rng_sample(&rng, p, p, digit, err);
    for (size_t i = 0; i < n && status == GPNN_OK; i++)
      points[i * d + j] += weight * (double)digit[power == 0 ? 0 : i / power % p];
    power = power > n ? 0 : power * p; /* 0: no further digit differs from 0 */
  }
  for (size_t i = 0; i < n; i++) points[i * d + j] = fmin(points[i * d + j], below_one);
  free(digit);
  return status;
}

enum gpnn_status gpnn_halton_fill(size_t n, size_t d, uint64_t seed, double *points,
                                  struct gpnn_error *err)
{
  size_t p = 2;
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < d && status == GPNN_OK; j++, p++) {
    while (!is_prime(p)) p++;
    status = fill_coordinate(n, d, j, p, seed, points, err);
  }
  return status;
}
