/*
 * woodbury: M = L L' + D for a thin L and a diagonal D, which is easy to invert: a preconditioner
 * for linalg/iterative/cg.h (gpnn-methods-grid(7), equations 16.35 and 16.36).
 *
 * Vectors are in blocks of linalg/iterative/cg.h; element o * inner + i of a vector goes with row o
 * * inner + i of L.  D is given by its inverse, so that elements that do not exist (holes of a
 * grid) can have 0 there: M is then the matrix of the others, products are 0 at the holes, and
 * neither what L nor what a vector has there matters, if it is finite.
 *
 * Threads: sums are made in pieces that do not depend on their number.
 */
#ifndef GPNN_LINALG_WOODBURY_H
#define GPNN_LINALG_WOODBURY_H

#include <stddef.h>

#include "base/status.h"

/* A zeroed object may be released. */
struct gpnn_woodbury {
  size_t outer, inner, rank;
  const double *l;         /* the caller's: outer * inner by rank, column-major */
  const double *precision; /* the caller's: outer * inner, the diagonal of D^-1, >= 0 */
  int threads;
  double *factor;         /* rank by rank: Cholesky's of I + L' D^-1 L */
  double log_determinant; /* of M, over elements whose precision is not 0 */
};

/*
 * Prepares M in 'to', which is zeroed; 'l' and 'precision' stay the caller's and must outlive it.
 * Time n rank^2.  rank = 0 is a diagonal matrix.  GPNN_ENUMERIC: L or D is not finite, or an
 * element of D^-1 is negative; GPNN_ENOMEM.  'to' then stays empty.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_woodbury_make(struct gpnn_woodbury *to, size_t outer,
                                                    size_t inner, size_t rank, const double *l,
                                                    const double *precision, int threads,
                                                    struct gpnn_error *err);

/* y = M^-1 x for blocks of 'columns' vectors; y may be x.  Time 4 n rank for each.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_woodbury_solve(const struct gpnn_woodbury *m, size_t columns,
                                                     const double *x, double *y,
                                                     struct gpnn_error *err);

void gpnn_woodbury_release(struct gpnn_woodbury *m);

#endif
