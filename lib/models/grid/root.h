/*
 * root: a square root of the covariance matrix of a factor, from which draws of the process are
 * made, and how it continues to levels that the grid does not have (gpnn-methods-grid(7), equations
 * 16.15 to 16.17).
 *
 *   K = F F',   K_new,old = B F',   K_new,new = B B' + C C'
 *
 * so that B z + C z' and F z have the joint covariance of new and old levels for independent
 * standard normal z and z'.
 *
 * Threads: a root never changes and may be shared.
 */
#ifndef GPNN_MODELS_GRID_ROOT_H
#define GPNN_MODELS_GRID_ROOT_H

#include <stddef.h>

#include "base/status.h"

/* A zeroed object may be released. */
struct gpnn_grid_root {
  size_t n;
  double *f;     /* owned; n by n, row-major: lower triangular, or the eigenvectors times the roots
                    of their eigenvalues */
  double *value; /* owned; n: the eigenvalues, those that are only rounding replaced by 0; NULL: f
                    is triangular */
  double jitter; /* what was added to the diagonal of K; usually 0 */
};

/*
 * Makes a root of 'k', n by n, symmetric, finite: its Cholesky factor, if need be with 1e-8, 1e-7
 * or 1e-6 of the mean of its diagonal added; otherwise from its eigenvectors, without the
 * directions in which rounding makes it negative.  Time O(n^3).  GPNN_ENOMEM; GPNN_ENUMERIC: the
 * eigenvectors do not converge.  'root' must be zeroed, and stays so after a failure.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_root_make(struct gpnn_grid_root *root, size_t n,
                                                     const double *k, struct gpnn_error *err);

/* Replaces the rows of 'k', n_new by n: covariances of new levels with those of the root, by the
 * rows of B.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_root_extend(const struct gpnn_grid_root *root,
                                                       size_t n_new, double *k,
                                                       struct gpnn_error *err);

void gpnn_grid_root_release(struct gpnn_grid_root *root);

#endif
