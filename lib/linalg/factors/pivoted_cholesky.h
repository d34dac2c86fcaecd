/*
 * pivoted_cholesky: the first columns of the Cholesky factor of a positive semidefinite matrix that
 * is known by its diagonal and its rows, with the largest remaining pivot first (Harbrecht, Peters
 * and Schneider 2012; gpnn-methods-grid(7), equation 16.34).
 *
 * A = L L' + the remainder, which is positive semidefinite too, and whose trace is what is left of
 * the diagonal.  A matrix of which not all rows exist, such as a grid with holes, has zeros in
 * those rows and on their diagonal: then L has zeros there.  For L L' plus a diagonal as a
 * preconditioner see linalg/factors/woodbury.h.
 *
 * Threads: they share the rows of L; results do not depend on their number.
 */
#ifndef GPNN_LINALG_PIVOTED_CHOLESKY_H
#define GPNN_LINALG_PIVOTED_CHOLESKY_H

#include <stddef.h>

#include "base/status.h"

/* Writes row 'i' of the matrix to 'row' (n).  Fails as it likes. */
typedef enum gpnn_status gpnn_matrix_row(void *context, size_t i, double *row,
                                         struct gpnn_error *err);

struct gpnn_pivoted_matrix {
  size_t n;
  const double *diagonal; /* n */
  gpnn_matrix_row *row;
  void *context;
};

/* A zeroed object is empty and may be released. */
struct gpnn_pivoted_cholesky {
  size_t n, rank;
  double *l;        /* n by rank, column-major */
  size_t *pivot;    /* rank: the row that each column was made from */
  double remainder; /* of the trace, relative to that of A; 0 if A is zero */
};

/*
 * Computes at most 'most' columns, fewer if the remainder of the trace comes down to 'remainder'
 * (as a share of all of it, at least 0) or nothing but rounding is left.  Of equal pivots the first
 * is taken.  'to' is zeroed.  Time n rank^2, and rank rows; memory n * most numbers, and 2 n.
 *
 * GPNN_ENUMERIC: the diagonal or a row is not finite, or a pivot is negative: the matrix is not
 * positive semidefinite.  GPNN_ENOMEM, and what 'row' fails with.  'to' then stays empty.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_pivoted_cholesky(const struct gpnn_pivoted_matrix *matrix,
                                                       size_t most, double remainder, int threads,
                                                       struct gpnn_pivoted_cholesky *to,
                                                       struct gpnn_error *err);

void gpnn_pivoted_cholesky_release(struct gpnn_pivoted_cholesky *factor);

#endif
