/*
 * rotation: inputs of the kernel that are linear combinations of the standardised inputs.
 *
 * A rotation is a d by d matrix A, row-major: the kernel sees A x.  Lengthscales, one for each of
 * its rows, then measure along directions that need not be those of the table's columns: a
 * Mahalanobis distance.
 */
#ifndef GPNN_KERNEL_ROTATION_H
#define GPNN_KERNEL_ROTATION_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * Writes to 'rotation' the matrix that whitens 'x' (n by d), of which up to 20000 random rows are
 * looked at: A = diag(1 / sqrt(d lambda)) U' from the eigendecomposition U diag(lambda) U' of the
 * covariance, so that rows have the mean square distance they have under "scale".  Directions
 * whose variance is rounding (dataset/scaling.h) are zero.  GPNN_EDATA: no direction varies.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_rotation_whiten(size_t n, size_t d, const double *x,
                                                      uint64_t seed, double *rotation,
                                                      struct gpnn_error *err);

/* z = A x for n rows, 'z' apart from 'x'. */
void gpnn_rotation_apply(size_t d, const double *rotation, size_t n, const double *x, double *z);

/*
 * From a map B (d by d), z = B x, to the rotation V' and the lengthscales 1/s of its singular value
 * decomposition U diag(s) V', which give the same distances: 'rotation' (d by d; may be 'map') and
 * 'lengthscale' (d, rising).  Directions that vanish get 'longest' for a lengthscale.
 * GPNN_ENUMERIC: no decomposition.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_rotation_decompose(size_t d, const double *map,
                                                         double longest, double *rotation,
                                                         double *lengthscale,
                                                         struct gpnn_error *err);

#endif
