/*
 * separable: draws of a process at sites and times whose covariance is a product of one of sites
 * and one of times,
 *   cov(f(s, t), f(s', t')) = kernelscale c_S(|s - s'| / l_S) c_T(|t - t'| / l_T),
 * at all cells of a grid, of which a share is then observed, with noise (gpnn-methods-simulate(7),
 * equation 11.30).  Such a draw costs no more than one of each factor:
 *   f = L_S Z L_T',  L_S L_S' = K_S,  L_T L_T' = K_T,  Z standard normal, sites by times.
 *
 * Calling sequence: gpnn_separable_draw() into a zeroed object, gpnn_separable_release().
 */
#ifndef GPNN_SIMULATE_SEPARABLE_H
#define GPNN_SIMULATE_SEPARABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "kernel/covariance.h"

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
