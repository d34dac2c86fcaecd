/*
 * gram: the covariance matrix of given points, stored in full.
 *
 * Threads: those given share the rows; the matrix does not depend on their number.
 */
#ifndef GPNN_KERNEL_GRAM_H
#define GPNN_KERNEL_GRAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "kernel/covariance.h"

/*
 * Writes to 'k' (n by n, both triangles) the covariances of the process, without noise, at 'n'
 * points 'x' (n by d, row-major, in standardised units), with 'diagonal' (n; NULL: nothing) added
 * to the diagonal.  'group' (d) has the group of each input, as gpnn_covariance_expand() takes it.
 * GPNN_ENOMEM: 'k' is untouched.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_gram(const struct gpnn_covariance *covariance, size_t n,
                                           size_t d, const uint32_t *group, const double *x,
                                           const double *diagonal, int threads, double *k,
                                           struct gpnn_error *err);

#endif
