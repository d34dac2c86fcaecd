/*
 * whiten: what is left of a row's values once its neighbours have said what they know of them.
 *
 * For row i with neighbours N, K = kernelscale C_N + noise I (known noise variances added to the
 * diagonal) and k_j = kernelscale c(x_j, x_i), the weights are b = K^-1 k, and of any columns of
 * values z the row keeps
 *   residual  z_i - b'z_N,   variance  kernelscale + noise - k'b.
 * With neighbours that come before the row in an order (vecchia/vecchia.h), residual /
 * sqrt(variance) makes values of that covariance independent with variance 1, in Vecchia's form
 * (gpnn-methods(7), equations 6.2 to 6.5).  With the nearest training rows, the residuals of a
 * target and of the terms of its mean give the target's error under any coefficients.
 */
#ifndef GPNN_VECCHIA_WHITEN_H
#define GPNN_VECCHIA_WHITEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/threads.h"
#include "kernel/parameters.h"
#include "linalg/cholesky.h"

/* Rows, their values and their neighbours; all borrowed. */
struct gpnn_whiten_rows {
  size_t n, d, n_values, m;
  const double *x;           /* n by d, standardised */
  const double *noise;       /* n known noise variances, or NULL */
  const double *values;      /* n by n_values, row-major */
  const int64_t *neighbours; /* n by m rows of these; the first -1 ends a list */
};

/*
 * Writes the residuals of the values of rows [begin, end) ((end - begin) by n_values) and their
 * variances (end - begin).  'params' gives the kernel, the kernel scale and the noise,
 * 'lengthscale' (d) the metric.  Where the neighbours' covariance needs jitter the row takes the
 * same as noise and is counted in '*jitter', and no variance is less than 1e-10 of the kernel
 * scale.
 * GPNN_ENUMERIC: even with jitter not positive definite.  Cost O(m^3/3 + m^2 (d + n_values)) a
 * row.  Up to 'threads' threads, of 'team' unless that is NULL, share the rows; the result does not
 * depend on them.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_whiten(const struct gpnn_whiten_rows *rows,
                                             const struct gpnn_parameters *params,
                                             const double *lengthscale, size_t begin, size_t end,
                                             struct gpnn_team *team, int threads, double *residuals,
                                             double *variances, struct gpnn_jitter *jitter,
                                             struct gpnn_error *err);

#endif
