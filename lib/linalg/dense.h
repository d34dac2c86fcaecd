/*
 * dense: a symmetric matrix that is stored, as linalg/iterative/cg.h multiplies by it.
 *
 * Vectors lie one after another (outer = 1, inner = n).  Digits of a product depend neither on how
 * many columns are left to solve for, nor on the threads.
 */
#ifndef GPNN_LINALG_DENSE_H
#define GPNN_LINALG_DENSE_H

#include <stddef.h>

#include "base/status.h"
#include "linalg/iterative/cg.h"

struct gpnn_dense {
  size_t n;        /* at most INT_MAX */
  const double *a; /* borrowed; n by n, both triangles */
  int threads;     /* that share a product */
};

/* The matrix for a solver, which borrows 'dense'. */
struct gpnn_cg_matrix gpnn_dense_matrix(struct gpnn_dense *dense);

/* Y = A X, a gpnn_cg_product of a struct gpnn_dense.  Does not fail. */
GPNN_MUST_CHECK enum gpnn_status gpnn_dense_multiply(void *dense, size_t columns, const double *x,
                                                     double *y, struct gpnn_error *err);

#endif
