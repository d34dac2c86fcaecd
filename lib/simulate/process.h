/*
 * process: draws of a Gaussian process with mean 0 and isotropic covariance
 *   kernelscale c(|x - x'| / lengthscale)
 * (gpnn-methods(7), equation 2.2): exactly at a moderate number of points, or approximately at any
 * number.  The noise of the covariances given here is not used.
 *
 * Exact draws: f = L z, where L is the Cholesky factor of the covariance matrix and z is standard
 * normal, so that a longer draw begins with a shorter one; to the last bit if both have whole tiles
 * of GPNN_PROCESS_TILE points.  Jitter would change the earlier points.  Instead, a point whose
 * variance given those before it is at most GPNN_PROCESS_LEAST kernelscale takes its mean given
 * them; otherwise rounding would grow from one such point to the next.
 *
 * Approximate draws: random Fourier features (Rahimi and Recht 2007; gpnn-methods-simulate(7),
 * equation 11.20) f(x) = sqrt(kernelscale / F) sum_k a_k cos(w_k'x + b_k), with lengthscale w_k
 * from the kernel's spectral density (rbf: standard normal; Matern: multivariate t with 2 nu
 * degrees of freedom), b_k uniform on [0, 2 pi) and a_k^2 / 2 standard exponential.  Averaged over
 * all of these the covariance is exact.  Given the w_k, f is a Gaussian process whose covariance at
 * any one distance has an error of standard deviation at most kernelscale / sqrt(2 F).
 */
#ifndef GPNN_SIMULATE_PROCESS_H
#define GPNN_SIMULATE_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "kernel/covariance.h"

/* The most points of an exact draw, which takes 4 n^2 bytes (4 GiB) and n^3 / 3 operations. */
enum { GPNN_PROCESS_TILE = 128, GPNN_PROCESS_MOST = 256 * GPNN_PROCESS_TILE };

#define GPNN_PROCESS_LEAST 1e-10

/*
 * Replaces 'n' standard normal deviates, 0 <= n <= GPNN_PROCESS_MOST, by a draw at the points 'x'
 * (n by d), in each of the 'n_draws' rows of 'z' (n_draws by n): one factor serves them all.
 * Neither 'threads' nor the other draws change a draw.  GPNN_ENUMERIC: a point divided by the
 * lengthscale is not finite.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_process_draw(const struct gpnn_covariance *covariance,
                                                   size_t n, size_t d, const double *x, int threads,
                                                   size_t n_draws, double *z,
                                                   struct gpnn_error *err);

/* An approximate draw: a function that can be evaluated anywhere. */
struct gpnn_features;

/* Draws a function made of 'n' >= 1 features of 'd' inputs, which 'seed' alone determines.  Memory
 * O(n d); GPNN_ENOMEM is the only failure. */
GPNN_MUST_CHECK enum gpnn_status gpnn_features_new(struct gpnn_features **features,
                                                   const struct gpnn_covariance *covariance,
                                                   size_t n, size_t d, uint64_t seed,
                                                   struct gpnn_error *err);

/* Writes its values at the 'n_rows' points 'x' (n_rows by d) to 'f'; each depends on its own point
 * alone.  Cost O(n d) per point.  Safe from several threads at once. */
void gpnn_features_values(const struct gpnn_features *features, size_t n_rows, const double *x,
                          double *f);

/* NULL is allowed. */
void gpnn_features_free(struct gpnn_features *features);

/* ---- draws on a grid ---------------------------------------------------------------------- */

/*
 * Draws of a process at sites and times whose covariance is a product of one of sites
 * and one of times,
 *   cov(f(s, t), f(s', t')) = kernelscale c_S(|s - s'| / l_S) c_T(|t - t'| / l_T),
 * at all cells of a grid, of which a share is then observed, with noise (gpnn-methods-simulate(7),
 * equation 11.30).  Such a draw costs no more than one of each factor: f = L_S Z L_T',  L_S L_S' =
 * K_S,  L_T L_T' = K_T,  Z standard normal, sites by times.
 *
 * Calling sequence: gpnn_separable_draw() into a zeroed object, gpnn_separable_release().
 */

struct gpnn_separable_options {
  size_t sites, times;               /* each 1 to GPNN_PROCESS_MOST */
  size_t d;                          /* coordinates of a site, uniform with mean 0 and sd 1 */
  struct gpnn_covariance site, time; /* isotropic; the kernel scale is the product of theirs, and
                                        their noise is not used */
  double noise;                      /* variance, >= 0 */
  double missing;                    /* the probability that a cell is not observed, from 0 to 1 */
  uint64_t seed;
  int threads;
};

struct gpnn_separable {
  double *x; /* owned; sites by d */
  double *f; /* owned; sites by times; times are 0, 1, 2 ... */
  double *y; /* owned; f plus noise, NaN where it was not observed */
};

/*
 * Makes a draw, which depends on the seed but not on the threads; neither the noise nor what is
 * missing changes sites and process.  Time sites^3 / 3 + times^3 / 3 + sites times (sites + times),
 * memory 4 (sites^2 + times^2) bytes and four numbers a cell.  GPNN_ENUMERIC: a coordinate divided
 * by its lengthscale is not finite.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_separable_draw(struct gpnn_separable *separable,
                                                     const struct gpnn_separable_options *options,
                                                     struct gpnn_error *err);

void gpnn_separable_release(struct gpnn_separable *separable);

#endif
