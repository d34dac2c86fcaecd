/*
 * eigen: eigenvectors of symmetric matrices.  Threads: no shared state.
 */
#ifndef GPNN_LINALG_EIGEN_H
#define GPNN_LINALG_EIGEN_H

#include <stddef.h>

#include "base/status.h"

/*
 * Replaces 'a' (n by n, column-major, of which the lower triangle is read) by its eigenvectors, one
 * after another, and writes their eigenvalues, which rise, to 'values' (n).  'what' is the matrix
 * in messages, as "the covariance of the inputs".
 *
 * GPNN_ENUMERIC: they were not found.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_eigen(size_t n, double *a, double *values, const char *what,
                                            struct gpnn_error *err);

#endif
