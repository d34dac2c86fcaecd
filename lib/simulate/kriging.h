/*
 * weights: the prediction of one place as a weighted sum of the responses around it, where the
 * places are known and the responses random (gpnn-methods(7), equations 3.3, 11.9 and 11.12).
 *
 * Given m neighbours and assumed parameters, with K = kernelscale C + noise I and k = kernelscale c
 * between the neighbours and the place, predictions are
 *   mean = w'y,  latent variance = kernelscale - k'w,  w = K^-1 k.
 * Where responses are really those of another process, the error of a mean that was multiplied by
 * 'factor' has, at the place, a variance without any drawing:
 *   E (factor w'y - f*)^2 = kernelscale - 2 factor w'k + factor^2 w'K w  of that process.
 *
 * Calling sequence: gpnn_kriging_new(); for each place gpnn_kriging_put(), then the others in any
 * order; gpnn_kriging_free().  One object serves one thread.
 */
#ifndef GPNN_SIMULATE_KRIGING_H
#define GPNN_SIMULATE_KRIGING_H

#include <stddef.h>

#include "base/rng.h"
#include "base/status.h"
#include "kernel/kernel.h"

/* A process and the noise on its observations. */
struct gpnn_isotropic {
  const struct gpnn_kernel *kernel;
  double smoothness;  /* as struct gpnn_kernel says */
  double lengthscale; /* > 0 */
  double kernelscale; /* > 0; as a truth also 0: noise alone */
  double noise;       /* >= 0 */
};

struct gpnn_kriging;

/* Room for up to 'most' neighbours in d coordinates.  Memory: about 24 most^2 bytes. */
GPNN_MUST_CHECK enum gpnn_status gpnn_kriging_new(struct gpnn_kriging **weights, size_t most,
                                                  size_t d, struct gpnn_error *err);

/* Another place: 'offsets' (m by d, 0 < m <= most) are its neighbours less itself. */
void gpnn_kriging_put(struct gpnn_kriging *weights, size_t m, const double *offsets);

/*
 * Finds the weights that 'assumed' gives: '*w' has m of them, which belong to the object and last
 * until the next call.  '*latent' is the latent variance, not less than 0; '*jitter' what the
 * diagonal of K was given (linalg/cholesky.h).  Cost: O(m^3/3 + m^2 d), O(m^3/3) where kernel and
 * lengthscale are those of the call before, O(1) where the ratio of noise to kernel scale is too.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_kriging_find(struct gpnn_kriging *weights,
                                                   const struct gpnn_isotropic *assumed,
                                                   const double **w, double *latent, double *jitter,
                                                   struct gpnn_error *err);

/* E (factor w'y - f*)^2 for the weights found last, y and f* being of 'truth': y with its noise, f*
 * without.  Cost: O(m^2). */
double gpnn_kriging_error(struct gpnn_kriging *weights, const struct gpnn_isotropic *truth,
                          double factor);

/* Draws the m responses 'y', with noise, and the function at the place, without; '*jitter' is what
 * the noise was raised by for that.  Takes 2 (m + 1) numbers of 'rng'.  The weights found last are
 * forgotten. */
GPNN_MUST_CHECK enum gpnn_status gpnn_kriging_draw(struct gpnn_kriging *weights,
                                                   const struct gpnn_isotropic *truth,
                                                   struct gpnn_rng *rng, double *y, double *f,
                                                   double *jitter, struct gpnn_error *err);

void gpnn_kriging_free(struct gpnn_kriging *weights);

#endif
