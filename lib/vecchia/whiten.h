/*
 * whiten: what remains of a row's values after subtracting what its neighbours predict.
 *
 * For row i with neighbours N, let K = kernelscale C_N + noise I (plus known noise variances on the
 * diagonal) and k_j = kernelscale c(x_j, x_i).  The weights are b = K^-1 k, and of any columns of
 * values z the row keeps
 *   residual  z_i - b'z_N,   variance  kernelscale + noise - k'b.
 * If the neighbours come before the row in an order (vecchia/vecchia.h), residual / sqrt(variance)
 * turns values with that covariance, in Vecchia's form (gpnn-methods(7), equations 6.2 to 6.5),
 * into independent ones with variance 1.  If they are the nearest training rows, the residuals of
 * the target and of the terms of its mean give the prediction error for any coefficients.
 */
#ifndef GPNN_VECCHIA_WHITEN_H
#define GPNN_VECCHIA_WHITEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/threads.h"
#include "kernel/covariance.h"
#include "linalg/factors/jitter.h"

/* Rows, their values and their neighbours.  All arrays are borrowed. */
struct gpnn_whiten_rows {
  size_t n, d, n_values, m;
  const double *x;           /* n by d, standardised */
  const double *noise;       /* n known noise variances, or NULL */
  const double *values;      /* n by n_values, row-major */
  const int64_t *neighbours; /* n by m row numbers; the first -1 ends a row's list, which may
                                be empty: the row keeps its values then */
};

/*
 * Writes the residuals of rows [begin, end) ((end - begin) by n_values), their variances
 * (end - begin) and, unless 'weights' is NULL, the weights b (end - begin by m, 0 after the last);
 * none of them if begin == end.  The covariance's rotation and lengthscales are not
 * looked at: 'rows->x' is rotated already, and 'lengthscale' (d) is the metric.
 * Where the neighbours' covariance matrix needs jitter, the row's own noise is raised by as much
 * and it is counted in '*jitter'; no variance is less than 1e-10 of the kernel scale.
 * GPNN_ENUMERIC: a matrix is not positive definite even with jitter.
 * Cost O(m^3/3 + m^2 (d + n_values)) per row.  Up to 'threads' threads, those of 'team' unless it
 * is NULL, share the rows; the result does not depend on them.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_whiten(const struct gpnn_whiten_rows *rows,
                                             const struct gpnn_covariance *covariance,
                                             const double *lengthscale, size_t begin, size_t end,
                                             struct gpnn_team *team, int threads, double *residuals,
                                             double *variances, double *weights,
                                             struct gpnn_jitter *jitter, struct gpnn_error *err);

#endif
