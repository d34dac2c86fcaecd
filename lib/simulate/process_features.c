#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/simd.h"
#include "simulate/process.h"

enum { BLOCK = 256 }; /* features evaluated at a time, with their angles on the stack */

static const double two_pi = 6.283185307179586;

struct gpnn_features {
  size_t n, d;
  double *frequency; /* block after block of BLOCK features; in each, input after input */
  double *phase, *amplitude;
};

/* What the normal frequencies of a feature are divided by: 1 for rbf; for the others a deviate that
 * turns them into Student's t.  Frequencies stay finite however rough the kernel is. */
static double spread(const struct gpnn_covariance *covariance, struct gpnn_rng *rng)
{
  bool needed = gpnn_kernel_needs_smoothness(covariance->kernel);
  double nu = needed ? covariance->smoothness : covariance->kernel->smoothness;
  return isinf(nu) ? 1 : sqrt(fmax(gpnn_rng_gamma(rng, nu), 1e-200) / nu);
}

static void draw_features(struct gpnn_features *features, const struct gpnn_covariance *covariance,
                          uint64_t seed)
{
  for (size_t k = 0; k < features->n; k++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, seed, GPNN_RNG_RESPONSE, k);
    double *frequency = features->frequency + k / BLOCK * BLOCK * features->d + k % BLOCK;
    features->phase[k] = two_pi * gpnn_rng_uniform(&rng);
    features->amplitude[k] =
        sqrt(2 * gpnn_rng_exponential(&rng) * covariance->kernelscale / (double)features->n);
    double divisor = spread(covariance, &rng) * *gpnn_covariance_lengthscales(covariance);
    for (size_t j = 0; j < features->d; j++) frequency[j * BLOCK] = gpnn_rng_normal(&rng) / divisor;
  }
}

enum gpnn_status gpnn_features_new(struct gpnn_features **features,
                                   const struct gpnn_covariance *covariance, size_t n, size_t d,
                                   uint64_t seed, struct gpnn_error *err)
{
  assert(n >= 1);
  struct gpnn_features *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for random features");
  size_t n_blocks = (n - 1) / BLOCK + 1;
  *new = (struct gpnn_features){.n = n, .d = d};
  new->frequency = gpnn_alloc(n_blocks, d, BLOCK * sizeof *new->frequency);
  new->phase = gpnn_alloc(n_blocks, BLOCK, sizeof *new->phase);
  new->amplitude = gpnn_alloc(n_blocks, BLOCK, sizeof *new->amplitude);
  if (new->frequency == NULL || new->phase == NULL || new->amplitude == NULL) {
    gpnn_features_free(new);
    return gpnn_fail_memory(err, "for random features");
  }
  draw_features(new, covariance, seed);
  *features = new;
  return GPNN_OK;
}

/* The sum of a block of features at one point.  Features past the last have amplitude 0. */
GPNN_SIMD static double block_value(size_t d, const double *restrict frequency,
                                    const double *restrict phase, const double *restrict amplitude,
                                    const double *restrict x)
{
  double angle[BLOCK], sum = 0;
  for (size_t k = 0; k < BLOCK; k++) angle[k] = phase[k];
  for (size_t j = 0; j < d; j++)
#pragma omp simd
    for (size_t k = 0; k < BLOCK; k++) angle[k] += frequency[j * BLOCK + k] * x[j];
#pragma omp simd reduction(+ : sum)
  for (size_t k = 0; k < BLOCK; k++) sum += amplitude[k] * cos(angle[k]);
  return sum;
}

void gpnn_features_values(const struct gpnn_features *features, size_t n_rows, const double *x,
                          double *f)
{
  size_t d = features->d;
  for (size_t i = 0; i < n_rows; i++) f[i] = 0;
  for (size_t k = 0; k < features->n; k += BLOCK)
    for (size_t i = 0; i < n_rows; i++)
      f[i] += block_value(d, features->frequency + k * d, features->phase + k,
                          features->amplitude + k, x + i * d);
}

void gpnn_features_free(struct gpnn_features *features)
{
  if (features == NULL) return;
  free(features->frequency);
  free(features->phase);
  free(features->amplitude);
  free(features);
}
