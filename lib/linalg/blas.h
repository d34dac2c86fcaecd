/*
 * blas: the one place that names the headers of BLAS and LAPACK.
 *
 * Conventions of this folder: matrices are column-major, as LAPACK has them (LAPACKE's row-major
 * forms copy and transpose); of a symmetric matrix only the lower triangle is read or written;
 * orders and counts are size_t and fit into LAPACK's integers; the caller owns all arrays and
 * passes scratch memory, whose size a function of the module gives.  A matrix that is never stored
 * is a function with a context, as the objective of linalg/optimize.h is.
 */
#ifndef GPNN_LINALG_BLAS_H
#define GPNN_LINALG_BLAS_H

#include <cblas.h>
#include <lapacke.h>

#endif
