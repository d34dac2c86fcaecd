/*
 * blas: the one place that names the BLAS and LAPACK headers.
 *
 * Matrices are column-major, as LAPACK's own: LAPACKE's row-major forms transpose copies.
 */
#ifndef GPNN_LINALG_BLAS_H
#define GPNN_LINALG_BLAS_H

#include <cblas.h>
#include <lapacke.h>

#endif
