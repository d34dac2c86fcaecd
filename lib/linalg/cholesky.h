/*
 * cholesky: factorisation of covariance matrices K = L L' and what follows from it.
 *
 * Matrices are column-major with leading dimension n; only the lower triangle is read or
 * written.  Calling sequence: gpnn_cholesky_factor(), then the others on the factor.
 * Threads: no shared state.
 */
#ifndef GPNN_LINALG_CHOLESKY_H
#define GPNN_LINALG_CHOLESKY_H

#include <stddef.h>

#include "base/status.h"
/* Covariances that needed jitter, and the most that one's diagonal was given. */
struct gpnn_jitter {
  size_t n;
  double most;
};

struct gpnn_panel_set; /* linalg/panels.h */

/* Counts 'n' covariances more, the most that one of them was given being 'jitter'. */
void gpnn_jitter_note(struct gpnn_jitter *to, size_t n, double jitter);

/*
 * Numbers of scratch, 'work', that factoring or inverting a matrix of order n wants; 64-byte
 * aligned, as gpnn_alloc() gives it.  It is faster with it than without, NULL, when LAPACK does the
 * work.
 */
size_t gpnn_cholesky_work(size_t n);

/* The share of an element on the diagonal of K that its pivot has to be above: what rounding may
 * leave of a zero in order n. */
double gpnn_cholesky_rounding(size_t n);

/*
 * Factors 'k' (n by n) in place.  The jitter policy, all of it: if a pivot is not above
 * gpnn_cholesky_rounding() of its element of K, and so positive by chance if at all, K is made
 * again and given 1e-10 'scale' on the diagonal, then 1e-9 ... up to 1e-4 'scale'; '*jitter' is
 * what was added, 0 in the usual case.
 *
 * 'refill' writes the lower triangle of K into 'k' again (called only after a failure, with
 * 'context'), so that no copy is kept in the usual case.
 * GPNN_ENUMERIC: no permitted jitter suffices, or K holds a NaN or an infinity; 'k' is then
 * undefined and '*jitter' untouched.  Order 0 does nothing.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_cholesky_factor(size_t n, double *k, double *work,
                                                      double scale,
                                                      void (*refill)(void *context, double *k),
                                                      void *context, double *jitter,
                                                      struct gpnn_error *err);

/* Solves L z = b in place for 'n_rhs' right-hand sides, n numbers each, one after another. */
void gpnn_cholesky_forward(size_t n, const double *factor, size_t n_rhs, double *b);

/* Solves L' z = b in place likewise. */
void gpnn_cholesky_backward(size_t n, const double *factor, size_t n_rhs, double *b);

/* Solves K z = b in place, one right-hand side. */
void gpnn_cholesky_solve(size_t n, const double *factor, double *b);

/* log det K = 2 sum log L_ii. */
double gpnn_cholesky_logdet(size_t n, const double *factor);

/* Replaces the factor by the lower triangle of K^-1. */
void gpnn_cholesky_invert(size_t n, double *factor, double *work);

/* As gpnn_cholesky_factor(), of a trapezoid of n columns and n_rows rows that is laid out for
 * 'set'.  'refill' writes all of it again, right-hand sides included. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_cholesky_factor_panels(const struct gpnn_panel_set *set, size_t n, size_t n_rows, double *a,
                            double scale, void (*refill)(void *context, double *a), void *context,
                            double *jitter, struct gpnn_error *err);

#endif
