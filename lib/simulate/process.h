/*
 * process: draws of a Gaussian process of mean 0 and covariance
 *   kernelscale c(|x - x'| / lengthscale)
 * (gpnn-methods(7), equation 2.2): exactly at a moderate number of places, or nearly at any number.
 *
 * Exactly: f = L z of the Cholesky factor L of the covariance matrix and standard normal z, so that
 * a longer draw begins with a shorter one; to the last bit where both have whole tiles of
 * GPNN_PROCESS_TILE places.  In place of jitter, which would change what comes before, a place
 * whose variance given those before it is at most GPNN_PROCESS_LEAST kernelscale gets its mean
 * given those: rounding would otherwise grow from one such place to the next.
 *
 * Nearly: random Fourier features (Rahimi and Recht 2007; gpnn-methods(7), equation 11.20)
 *   f(x) = sqrt(kernelscale / F) sum_k a_k cos(w_k'x + b_k),
 * w_k / lengthscale from the kernel's spectral density (rbf: standard normal; Matern: multivariate
 * t of 2 nu degrees of freedom), b_k uniform on [0, 2 pi), a_k^2 / 2 standard exponential.  Over
 * all of these the covariance is exact; given the w_k, f is a Gaussian process whose covariance is
 * off by up to kernelscale / sqrt(2 F), one standard deviation, at any one distance.
 */
#ifndef GPNN_SIMULATE_PROCESS_H
#define GPNN_SIMULATE_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "kernel/kernel.h"

struct gpnn_process {
  const struct gpnn_kernel *kernel;
  double smoothness;               /* as gpnn_kernel_parse() gives it */
  double lengthscale, kernelscale; /* > 0 */
};

/* Places of an exact draw at most: it takes 4 n^2 bytes, 4 GiB, and n^3 / 3 operations. */
enum { GPNN_PROCESS_TILE = 128, GPNN_PROCESS_MOST = 256 * GPNN_PROCESS_TILE };

#define GPNN_PROCESS_LEAST 1e-10

/*
 * Replaces 'n' (at most GPNN_PROCESS_MOST) standard normal deviates 'z' by a draw at the places 'x'
 * (n by d).  The result does not depend on 'threads'.  GPNN_ENUMERIC: a place over the lengthscale
 * is not finite.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_process_draw(const struct gpnn_process *process, size_t n,
                                                   size_t d, const double *x, int threads,
                                                   double *z, struct gpnn_error *err);

/* A draw everywhere. */
struct gpnn_features;

/* Draws one from 'n' >= 1 features of 'd' inputs; the seed decides which.  Memory O(n d). */
GPNN_MUST_CHECK enum gpnn_status gpnn_features_new(struct gpnn_features **features,
                                                   const struct gpnn_process *process, size_t n,
                                                   size_t d, uint64_t seed, struct gpnn_error *err);

/* Its values 'f' at the 'n_rows' places 'x' (n_rows by d), each of which depends on its place
 * alone.  Cost O(n d) a place. */
void gpnn_features_values(const struct gpnn_features *features, size_t n_rows, const double *x,
                          double *f);

/* NULL is allowed. */
void gpnn_features_free(struct gpnn_features *features);

#endif
