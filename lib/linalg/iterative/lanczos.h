/*
 * lanczos: log determinants by stochastic Lanczos quadrature (Ubaru, Chen and Saad 2017;
 * gpnn-methods-grid(7), equations 16.37 to 16.39).
 *
 * Conjugate gradients that solve A x = z also find, in the lengths of their steps, a small
 * tridiagonal matrix that has what z sees of the spectrum of A.  With n elements and random z the
 * mean of n (its quadrature of the logarithm) over probes estimates log|A|.
 *
 * Which probes: without a preconditioner, of linalg/iterative/probes.h, signs or normals.  With a
 * preconditioner M, z has to be drawn from N(0, M); what is estimated then is log|M^-1 A| = log|A|
 * - log|M|, to which the caller adds log|M|.  Holes, where z and all products are 0, do not count
 * in n.  The steps must be those of a solution that started at 0, since those of a warm start see
 * another vector than z.  The quadrature gets better with the number of steps, so the tolerance of
 * the solution decides about its bias.
 */
#ifndef GPNN_LINALG_LANCZOS_H
#define GPNN_LINALG_LANCZOS_H

#include <stddef.h>

#include "base/status.h"

struct gpnn_cg_steps; /* linalg/iterative/cg.h */

struct gpnn_lanczos_estimate {
  double value;
  double error; /* standard error, from the spread over probes; not finite for a single one */
};

/*
 * Estimates the log determinant of an n by n matrix from columns 'first' to first + probes - 1 of
 * 'steps', at least one.  n = 0 gives 0.
 *
 * GPNN_ENUMERIC: a column took no step, or a step was not finite, or the tridiagonal matrix is not
 * positive definite; GPNN_ENOMEM.  '*estimate' is then untouched.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_lanczos_logdet(const struct gpnn_cg_steps *steps,
                                                     size_t first, size_t probes, size_t n,
                                                     struct gpnn_lanczos_estimate *estimate,
                                                     struct gpnn_error *err);

#endif
