/*
 * triangular: roots of positive semidefinite matrices, R'R = S, as predictions need them: row by
 * row, and with zeros where that is possible, which halves the work.
 *
 * Unlike elsewhere in this folder, roots are row-major: a row is a direction that takes its share
 * of a variance away.
 * Threads: no shared state.
 */
#ifndef GPNN_LINALG_TRIANGULAR_H
#define GPNN_LINALG_TRIANGULAR_H

#include <stddef.h>

#include "base/status.h"

/*
 * Makes of a factor K = L L' (linalg/factors/cholesky.h; n by n, column-major) the rows of L^-1, a
 * root of K^-1: row i has zeros from i + 1 on.  n = 0 does nothing.
 */
void gpnn_triangular_invert(size_t n, double *factor);

/* Copies the lower triangle of a matrix (n by n, column-major) to the upper. */
void gpnn_triangular_mirror(size_t n, double *matrix);

/*
 * Rotates the '*rank' rows of a root (each of m numbers) so that row j begins with j zeros, which
 * leaves R'R as it is.  If there are more than m, '*rank' becomes m.  'scratch' has room for the
 * lesser of both.  GPNN_ENOMEM: the root is undefined.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_triangular_rotate(size_t m, size_t *rank, double *root,
                                                        double *scratch, struct gpnn_error *err);

#endif
