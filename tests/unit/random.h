/*
 * random: random numbers for tests, from fixed seeds.
 */
#ifndef GPNN_TESTS_RANDOM_H
#define GPNN_TESTS_RANDOM_H

#include "base/memory.h"
#include "base/rng.h"
#include "unit.h"

static inline struct gpnn_rng seeded(uint64_t seed)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_TEST);
  return rng;
}

/* An n by d array of normal deviates, which the caller frees. */
static inline double *normal_rows(size_t n, size_t d, uint64_t seed)
{
  struct gpnn_rng rng = seeded(seed);
  double *x = gpnn_alloc(n, d, sizeof *x);
  assert_non_null(x);
  for (size_t i = 0; i < n * d; i++) x[i] = gpnn_rng_normal(&rng);
  return x;
}

#endif
