/*
 * kriging: predicting a point as a weighted sum of the responses around it, for known points and
 * random responses (gpnn-methods-simulate(7), equations 11.9 and 11.12; gpnn-methods(7),
 * equation 3.3).
 *
 * Given m neighbours and assumed parameters, with K = kernelscale C + noise I between the
 * neighbours and k = kernelscale c between them and the point, the prediction is
 *   mean = w'y,  latent variance = kernelscale - k'w,  w = K^-1 k.
 * If the responses actually follow another process, the mean multiplied by 'factor' has the
 * expected squared error
 *   E (factor w'y - f*)^2 = kernelscale - 2 factor w'k + factor^2 w'K w
 * with K, k and kernelscale of that process: no responses need to be drawn.
 *
 * All covariances here are isotropic.  Calling sequence: gpnn_kriging_new(); for each point
 * gpnn_kriging_set_neighbours(), then the others in any order; gpnn_kriging_free().  An object
 * serves one thread at a time.
 */
#ifndef GPNN_SIMULATE_KRIGING_H
#define GPNN_SIMULATE_KRIGING_H

#include <stddef.h>

#include "base/rng.h"
#include "base/status.h"
#include "kernel/covariance.h"

struct gpnn_kriging;

/* Makes an object for up to 'max_neighbours' neighbours in 'd' coordinates; GPNN_ENOMEM is the only
 * failure.  Memory: about 24 max_neighbours^2 bytes. */
GPNN_MUST_CHECK enum gpnn_status gpnn_kriging_new(struct gpnn_kriging **kriging,
                                                  size_t max_neighbours, size_t d,
                                                  struct gpnn_error *err);

/* Moves on to another point: 'offsets' (m by d, 0 < m <= max_neighbours) are its neighbours minus
 * the point.  They are copied. */
void gpnn_kriging_set_neighbours(struct gpnn_kriging *kriging, size_t m, const double *offsets);

/*
 * Finds the weights under 'assumed': '*w' has m of them, which belong to the object and last until
 * the next call.  '*latent' is the latent variance, at least 0; '*jitter' what was added to the
 * diagonal of K (linalg/factors/cholesky.h).  GPNN_ENUMERIC: K is not positive definite even with
 * jitter. Cost: O(m^3/3 + m^2 d); O(m^3/3) if kernel and lengthscale are those of the last call;
 * O(1) if the ratio of noise to kernel scale is as well.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_kriging_weights(struct gpnn_kriging *kriging,
                                                      const struct gpnn_covariance *assumed,
                                                      const double **w, double *latent,
                                                      double *jitter, struct gpnn_error *err);

/* E (factor w'y - f*)^2 for the weights found last, where y (with noise) and f* (without) follow
 * 'actual', whose kernelscale may be 0.  Cost: O(m^2). */
double gpnn_kriging_risk(struct gpnn_kriging *kriging, const struct gpnn_covariance *actual,
                         double factor);

/* Draws the m responses 'y', with noise, and the function '*f' at the point, without, from
 * 'actual', whose kernelscale may be 0.  '*jitter' is what the noise was raised by to do so.  Takes
 * 2 (m + 1) numbers of 'rng'.  Weights found before are lost.  Fails as gpnn_kriging_weights(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_kriging_draw(struct gpnn_kriging *kriging,
                                                   const struct gpnn_covariance *actual,
                                                   struct gpnn_rng *rng, double *y, double *f,
                                                   double *jitter, struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_kriging_free(struct gpnn_kriging *kriging);

#endif
