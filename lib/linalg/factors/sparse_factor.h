/*
 * sparse_factor: Cholesky's factor of a sparse symmetric positive definite matrix A, found by
 * CHOLMOD (Chen, Davis, Hager and Rajamanickam 2008), and what follows from it without CHOLMOD.
 *
 * A = R'R + B has q columns: R (n by q) has few numbers in each row, and B is block-diagonal.  R is
 * looked at once, for an order of the columns in which the factor has few non-zeros (AMD); then A
 * is factorised for as many B as wanted: gpnn_sparse_system_new(), any of
 * gpnn_sparse_system_factorise(), after each of which gpnn_sparse_system_log_determinant(),
 * _solve() and _factor(); gpnn_sparse_system_free(). The factor on its own is a few arrays, which
 * can be stored.
 *
 * Threads: no shared state; an object is used by one thread at a time, and a factor that no longer
 * changes by any number.  CHOLMOD works on the calling thread, and passes matrices to the BLAS:
 * callers of gpnn_sparse_system_factorise() and of gpnn_sparse_factor_inverse() have claimed a
 * thread (linalg/blas_threads.h).
 */
#ifndef GPNN_LINALG_SPARSE_FACTOR_H
#define GPNN_LINALG_SPARSE_FACTOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the factor --------------------------------------------------------------------------- */

/*
 * A factor L (n by n, lower triangle) of P A P' = L L', by columns.  Column j of L has the rows
 * row[start[j]] = j, the diagonal, to row[start[j + 1] - 1], ascending; the first below the
 * diagonal is j's parent in the elimination tree.  Arrays are owned; a zeroed object may be
 * released.
 */
struct gpnn_sparse_factor {
  size_t n;
  uint32_t *order; /* n: column j of A is column order[j] of P A P' */
  uint64_t *start; /* n + 1; start[n] is the number of non-zeros */
  uint32_t *row;   /* start[n] */
  double *value;   /* start[n] */
  double *inverse; /* start[n]: the numbers of (P A P')^-1 where L has its own; or NULL */
};

/*
 * Checks arrays that come from outside, from a file for instance.  The caller sees to it that
 * 'order' has n numbers, 'start' n + 1, and the others start[n].  What passes is in order: no
 * function here leaves the arrays, numbers are finite, and those on the diagonal positive.
 * GPNN_EFORMAT: "damaged: not a sparse factor"; GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_sparse_factor_check(const struct gpnn_sparse_factor *factor,
                                                          struct gpnn_error *err);

/* The size, in doubles, of the scratch memory of gpnn_sparse_factor_form(). */
size_t gpnn_sparse_factor_scratch(const struct gpnn_sparse_factor *factor);

/*
 * u' A^-1 u for the vector u whose numbers are the 'k' >= 0 'values' at 'columns' (of A, each
 * < n); those of a column that comes more than once add up.  'scratch' is zeroed before the first
 * call, and after each fit for another.
 *
 * It solves L z = P u along the paths from these columns to the root of the elimination tree, in
 * the time that the columns of L on them have numbers.  Those may be most of L, in a dense last
 * block; factor->inverse, if it is there, replaces that block, whose time is then the square of how
 * many of its columns u or columns before it reach: microseconds instead of a good part of one
 * thousandth of a second.
 */
double gpnn_sparse_factor_form(const struct gpnn_sparse_factor *factor, size_t k,
                               const uint32_t *columns, const double *values, double *scratch);

/*
 * Computes factor->inverse from the factor, by the recursion of Takahashi, Fagan and Chin (1973), a
 * block of columns with the same rows at a time: as many operations as two factorisations have.
 * Scratch memory: the square of the longest column.  GPNN_ENOMEM; the factor is then as it was.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_sparse_factor_inverse(struct gpnn_sparse_factor *factor,
                                                            struct gpnn_error *err);

/* Element (i, j) of A^-1 out of factor->inverse, which is there.  The pattern of L has all pairs of
 * columns that meet in a row of R; NaN: this pair is not in it. */
double gpnn_sparse_factor_inverse_at(const struct gpnn_sparse_factor *factor, size_t i, size_t j);

void gpnn_sparse_factor_release(struct gpnn_sparse_factor *factor);

/* ---- the system --------------------------------------------------------------------------- */

/* A matrix of n rows by n_columns, row by row; a column comes at most once in a row, and not
 * necessarily in order.  All arrays are borrowed. */
struct gpnn_sparse_rows {
  size_t n, n_columns;
  const size_t *start;    /* n + 1: row i is start[i] to start[i + 1] - 1 of the others */
  const uint32_t *column; /* start[n] */
  const double *value;    /* start[n] */
};

/* Equal blocks on the diagonal of B. */
struct gpnn_sparse_blocks {
  size_t n, width; /* how many, and of how many columns each: 1 or 2 */
  double value[3]; /* a block's lower triangle by columns: of width 1, value[0] alone */
};

struct gpnn_sparse_system;

/* More non-zeros than this the factor must not have. */
enum { GPNN_SPARSE_FACTOR_MOST = 20000000 };

/*
 * Makes '*to' of 'rows', which are not looked at again, and of the layout of B: its 'n_groups'
 * groups of blocks follow one another along the diagonal and cover all columns; their values are
 * not looked at.  GPNN_EDATA: the factor would have more than GPNN_SPARSE_FACTOR_MOST non-zeros, or
 * R has more numbers than CHOLMOD counts; it is not allocated, and the message says so ("its
 * factor would have 31.2 million non-zeros, ...").  GPNN_ENOMEM, GPNN_EEXTERNAL: CHOLMOD failed.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_sparse_system_new(const struct gpnn_sparse_rows *rows,
                                                        size_t n_groups,
                                                        const struct gpnn_sparse_blocks *groups,
                                                        struct gpnn_sparse_system **to,
                                                        struct gpnn_error *err);

/* Factorises A for the values of 'groups', which have the layout that gpnn_sparse_system_new() saw.
 * GPNN_ENUMERIC: A is not positive definite, or not finite; GPNN_ENOMEM, GPNN_EEXTERNAL.  After a
 * failure there is no factor. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_sparse_system_factorise(struct gpnn_sparse_system *system,
                             const struct gpnn_sparse_blocks *groups, struct gpnn_error *err);

/* log det A. */
double gpnn_sparse_system_log_determinant(const struct gpnn_sparse_system *system);

/* Writes A^-1 b to 'x'; both have a number for each column.  GPNN_ENOMEM, GPNN_EEXTERNAL. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sparse_system_solve(struct gpnn_sparse_system *system,
                                                          const double *b, double *x,
                                                          struct gpnn_error *err);

/* Copies the factor to 'to', without an inverse; the last columns get zeros in all rows below, as
 * far back as this at most doubles their numbers.  'to' is zeroed, or has the factor of an earlier
 * factorisation by 'system', which is replaced in place.  GPNN_ENOMEM: 'to' is as it was. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sparse_system_factor(const struct gpnn_sparse_system *system,
                                                           struct gpnn_sparse_factor *to,
                                                           struct gpnn_error *err);

/* Frees it.  NULL is allowed. */
void gpnn_sparse_system_free(struct gpnn_sparse_system *system);

#ifdef __cplusplus
}
#endif

#endif
