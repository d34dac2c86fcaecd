/*
 * cholesky: the factorisation of covariance matrices, K = L L', and what follows from it.
 *
 * Matrices are column-major with leading dimension n <= INT_MAX; only the lower triangle is read or
 * written.  Calling sequence: gpnn_cholesky_factor(), then any of the others on the factor.
 * Order 0 is allowed everywhere: nothing is done, and the log determinant is 0.
 * Threads: no shared state.
 */
#ifndef GPNN_LINALG_CHOLESKY_H
#define GPNN_LINALG_CHOLESKY_H

#include <stddef.h>

#include "base/status.h"

struct gpnn_panel_set; /* linalg/panels/panels.h */

/*
 * The size, in doubles, of the scratch memory 'work' for factoring or inverting a matrix of order
 * n; it must be 64-byte aligned, as gpnn_alloc() returns it.  Without it, NULL, LAPACK does the
 * work, which is slower at the orders of local models.
 */
size_t gpnn_cholesky_work(size_t n);

/* What rounding may leave of a zero pivot of a matrix of order n, relative to its element on the
 * diagonal of K: n times the machine epsilon.  A pivot has to exceed this. */
double gpnn_cholesky_rounding(size_t n);

/*
 * Factors 'k' (n by n) in place.
 *
 * The jitter policy, all of it (gpnn-methods(7), equation 3.10): a pivot that is not greater than
 * gpnn_cholesky_rounding() times its diagonal element of K is positive only by chance.  Then K is
 * computed again with 1e-10 'scale' added to its diagonal, then with 1e-9 'scale', and so on up to
 * 1e-4 'scale'.  '*jitter' is set to what was added, usually 0; NULL: nobody asks.
 *
 * 'refill' writes the lower triangle of K to 'k' again.  It is called, with 'context', only after a
 * failed attempt, so that usually no copy of K is needed.
 *
 * GPNN_ENUMERIC: no permitted jitter suffices, or K contains a NaN or an infinity; 'k' is then
 * undefined and '*jitter' untouched.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_cholesky_factor(size_t n, double *k, double *work,
                                                      double scale,
                                                      void (*refill)(void *context, double *k),
                                                      void *context, double *jitter,
                                                      struct gpnn_error *err);

/* Solves L z = b in place for 'n_rhs' right-hand sides, the columns of 'b' (n by n_rhs). */
void gpnn_cholesky_forward(size_t n, const double *factor, size_t n_rhs, double *b);

/* Solves L' z = b in place for as many right-hand sides. */
void gpnn_cholesky_backward(size_t n, const double *factor, size_t n_rhs, double *b);

/* Solves K z = b in place for one right-hand side. */
void gpnn_cholesky_solve(size_t n, const double *factor, double *b);

/* log det K = 2 sum log L_ii. */
double gpnn_cholesky_logdet(size_t n, const double *factor);

/* Replaces the factor by the lower triangle of K^-1.  'work' (or NULL) is gpnn_cholesky_work(n)
 * doubles. */
void gpnn_cholesky_invert(size_t n, double *factor, double *work);

/* As gpnn_cholesky_factor(), for a trapezoid of n columns and n_rows rows (linalg/panels/panels.h)
 * in the layout of 'set'.  'refill' writes all of it again, right-hand sides included. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_cholesky_factor_panels(const struct gpnn_panel_set *set, size_t n, size_t n_rows, double *a,
                            double scale, void (*refill)(void *context, double *a), void *context,
                            double *jitter, struct gpnn_error *err);

#endif
