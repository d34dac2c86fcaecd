/*
 * collapsed: a sparse Gaussian process with inducing inputs, whose values have the distribution
 * that makes the bound on the log marginal likelihood largest (gpnn-methods(7), equations 17.1
 * to 17.6).
 *
 * Source: Titsias (2009), Variational Learning of Inducing Variables in Sparse Gaussian Processes,
 * equations 9 and 10.
 *
 * Calling sequence: gpnn_collapsed_new() for rows and inducing inputs; gpnn_collapsed_bound() for
 * parameters, as often as wanted; gpnn_collapsed_posterior() for what predictions need;
 * gpnn_collapsed_free().  Everything is in standardised units.
 *
 * Threads: those given share the rows, and results do not depend on their number.  An object has
 * scratch memory and serves one caller at a time.
 */
#ifndef GPNN_MODELS_INDUCING_COLLAPSED_COLLAPSED_H
#define GPNN_MODELS_INDUCING_COLLAPSED_COLLAPSED_H

#include <stddef.h>

#include "base/status.h"
#include "models/inducing/cross.h"

/* Rows; borrowed. */
struct gpnn_collapsed_data {
  size_t n;        /* at least 1 */
  const double *x; /* n by d, row-major */
  const double *y; /* n */
  double jitter;   /* > 0: of the kernel scale, added to the diagonal of the inducing inputs'
                      covariance: they are then seen through a little noise, and the bound holds */
  int threads;
};

/* The usual jitter. */
#define GPNN_COLLAPSED_JITTER 1e-6

struct gpnn_collapsed_parameters {
  const double *lengthscale; /* n_lengthscales, > 0 */
  double kernelscale, noise; /* > 0 */
};

struct gpnn_collapsed;

/* Memory: 4 m^2 numbers, and m for each of a thousand rows.  GPNN_ENOMEM: '*collapsed' is not set.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_collapsed_new(struct gpnn_collapsed **collapsed,
                                                    const struct gpnn_cross_problem *problem,
                                                    const struct gpnn_collapsed_data *data,
                                                    struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_collapsed_free(struct gpnn_collapsed *collapsed);

/*
 * The bound (17.2) at 'parameters', and unless 'gradient' is NULL its derivatives with respect to
 * the logarithms of the lengthscales (n_lengthscales), of the kernel scale and of the noise
 * variance (17.4 to 17.6).  Takes 2 n m^2 + m^3 operations, and three times as many with a
 * gradient.
 *
 * GPNN_ENUMERIC: the covariance of the inducing inputs is not positive definite even with the
 * jitter of linalg/cholesky.h, or the bound is not finite.  GPNN_ENOMEM.  Nothing has been set.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_collapsed_bound(struct gpnn_collapsed *collapsed,
                     const struct gpnn_collapsed_parameters *parameters, double *bound,
                     double *gradient, struct gpnn_error *err);

/*
 * What predictions need at 'parameters': 'weights' (m), so that the mean at a row is k'weights, k
 * its covariances with the inducing inputs; and rows r_j of 'root' ('*rank' by m, of memory for m
 * by m), so that the variance of the latent function is kernelscale - sum_j (r_j'k)^2 (17.3).
 * Directions that take away less than 1e-9 of the variance are left out.
 *
 * If it 'rescales', kernel scale and noise variance are first moved to where the bound is largest,
 * which takes no other pass over the rows (17.7).  '*bound' is that of the parameters in the end.
 * Outcomes as for gpnn_collapsed_bound(), and GPNN_ENUMERIC: LAPACK finds no eigenvalues.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_collapsed_posterior(struct gpnn_collapsed *collapsed,
                         struct gpnn_collapsed_parameters *parameters, bool rescales, double *bound,
                         double *weights, double *root, size_t *rank, struct gpnn_error *err);

#endif
