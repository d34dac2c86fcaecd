/*
 * likelihood_private: what the exact likelihoods share.
 */
#ifndef GPNN_MODELS_GRID_FIT_LIKELIHOOD_PRIVATE_H
#define GPNN_MODELS_GRID_FIT_LIKELIHOOD_PRIVATE_H

#include <stddef.h>

#include "base/status.h"
#include "kernel/parameters.h"
#include "models/grid/fit/subset.h"

/* Matrices of the factors of some cells, and what the derivatives in their elements are. */
struct gpnn_grid_factors {
  size_t n_factors;
  double *k[GPNN_GRID_FACTORS];     /* owned; n by n: the first times the kernel scale */
  double *gamma[GPNN_GRID_FACTORS]; /* owned; n by n; NULL unless wanted */
};

/* Computes the matrices for the levels of 'cells', and zeroes the others if 'derivatives'.
 * GPNN_ENUMERIC: one is not finite.  GPNN_ENOMEM.  'factors' must be zeroed, and is released by the
 * caller whatever the outcome. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_factors_make(struct gpnn_grid_factors *factors,
                                                        const struct gpnn_grid_subset *cells,
                                                        const struct gpnn_parameters *parameters,
                                                        bool derivatives, int threads,
                                                        struct gpnn_error *err);

/* Writes the derivatives in the coordinates of factors and kernel scale, from those in the elements
 * of the matrices: all of 'gradient' but the noise variances. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_factors_contract(const struct gpnn_grid_factors *factors,
                           const struct gpnn_grid_subset *cells,
                           const struct gpnn_parameters *parameters, int threads, double *gradient,
                           struct gpnn_error *err);

void gpnn_grid_factors_release(struct gpnn_grid_factors *factors);

/* Writes the covariance matrix of the cells' targets to 'matrix' (n by n) and factors it; 'work' is
 * gpnn_cholesky_work(n) doubles.  GPNN_ENUMERIC: it is not positive definite. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_factors_cholesky(
    const struct gpnn_grid_factors *factors, const struct gpnn_grid_subset *cells,
    const struct gpnn_parameters *parameters, double *matrix, double *work, struct gpnn_error *err);

/* From 'g', the lower triangle (n by n) of the symmetric matrix of derivatives in the elements of
 * the cells' covariance matrix, to those in the elements of the factors' matrices, which become
 * symmetric; adds those in the logarithms of the noise variances to 'noise_gradient'. */
void gpnn_grid_factors_spread(const struct gpnn_grid_factors *factors,
                              const struct gpnn_grid_subset *cells,
                              const struct gpnn_parameters *parameters, const double *g,
                              double *noise_gradient);

/* Which noise variance cell 'i' has, and its value for one observation. */
size_t gpnn_grid_noise_number(const struct gpnn_grid_subset *cells,
                              const struct gpnn_parameters *parameters, size_t i);
double gpnn_grid_noise_value(const struct gpnn_parameters *parameters, size_t number);

/* What observations of the same cells add to the log likelihood (equation 16.52); its derivatives
 * in the logarithms of the noise variances are added to 'gradient' unless that is NULL. */
double gpnn_grid_likelihood_repeats(const struct gpnn_grid_subset *cells,
                                    const struct gpnn_parameters *parameters, double *gradient);

#endif
