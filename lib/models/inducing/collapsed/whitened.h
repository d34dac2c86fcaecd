/*
 * whitened: from a posterior of whitened inducing values to what predictions need.
 *
 * Values of the process at m inducing points are u = L v, Kuu = L L', and v has a Gaussian
 * distribution whose precision is no less than that before any data, the identity.
 *
 * Threads: no shared state.
 */
#ifndef GPNN_MODELS_INDUCING_COLLAPSED_WHITENED_H
#define GPNN_MODELS_INDUCING_COLLAPSED_WHITENED_H

#include <stddef.h>

#include "base/status.h"

/*
 * Writes to 'root' the eigenvectors of the precision ('vectors', m by m, one after another) along
 * which data take more than 1e-9 of the variance away, the last first, each times the square root
 * of that 'share' (m) over 'factor'.  Returns how many there are.
 */
size_t gpnn_whitened_directions(size_t m, const double *share, double factor, const double *vectors,
                                double *root);

/*
 * Writes to 'root' ('*rank' by m, of memory for m by m) rows r_j so that the variance at a row with
 * covariances k is kernelscale - sum_j (r_j'k)^2 (gpnn-methods(7), equation 17.3).  'precision' has
 * the lower triangle of the precision of v, and is overwritten; 'factor' is L, both m by m;
 * 'scratch' has room for m.  Directions that take away less than 1e-9 of the variance are left
 * out, and row j begins with j zeros, which halves the work of predictions.
 *
 * GPNN_ENUMERIC: LAPACK finds no eigenvalues.  GPNN_ENOMEM.  'root' is then undefined.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_whitened_root(size_t m, double *precision,
                                                    const double *factor, double *scratch,
                                                    double *root, size_t *rank,
                                                    struct gpnn_error *err);

#endif
