/*
 * mixed: grouped random effects by restricted maximum likelihood, from whitened rows.
 *
 * The target is y = X beta + Z b + e.  With W such that W e has independent elements of variance s
 * (vecchia/whiten.h; for independent rows W is diagonal), R = W (X Z) and t = W y,
 *   t = R b + e,   e ~ N(0, s I),   b ~ N(0, s D),
 * where D has a block for each level of each factor, the same for all its levels: of width 1 its
 * intercept's relative variance, of width 2 the relative covariance of its intercept and slope.
 * Fixed effects have a prior too, of relative variance 1e4: next to none for columns of order 1 and
 * a centred target, but enough for columns that are collinear.  Given D (Bates, Maechler, Bolker
 * and Walker 2015, in other words):
 *   A = R'R + D^-1,   effects b = A^-1 R't with covariance s A^-1,
 *   s = (|t - R b|^2 + b'D^-1 b) / (n - p) with p fixed effects,
 *   -2 log restricted likelihood = log|D| + log|A| + (n - p) (1 + log(2 pi s)),
 * where log|D| is that of the random effects alone, as is usual; log|W|^2 is the caller's to take
 * off.  Its derivatives need of A^-1 what linalg/factors/sparse_factor.h computes, no more.
 *
 * Threads: no shared state.  Everything runs on the calling thread, which has claimed a thread of
 * the BLAS (linalg/blas_threads.h).
 */
#ifndef GPNN_VECCHIA_MIXED_H
#define GPNN_VECCHIA_MIXED_H

#include <stddef.h>

#include "base/status.h"
#include "linalg/factors/sparse_factor.h"

struct gpnn_mixed_factor {
  const char *name;       /* for messages */
  size_t n_levels, width; /* each level has 'width' columns of R in turn: 1 or 2 */
};

/* All borrowed.  The columns of R are those of the fixed effects, then those of factor after
 * factor. */
struct gpnn_mixed_data {
  struct gpnn_sparse_rows rows; /* R: n by q */
  const double *target;         /* t: n */
  size_t n_fixed, n_factors;
  const struct gpnn_mixed_factor *factor;
};

/* Arrays are owned; a zeroed object may be released. */
struct gpnn_mixed {
  size_t n_effects, n_covariances;
  double *effects;    /* q */
  double *covariance; /* D / s: width^2 numbers for each factor in turn, relative to 'scale' */
  double scale;       /* s */
  struct gpnn_sparse_factor factor; /* of A, with its inverse; times s they are covariances */
  double deviance;                  /* -2 log restricted likelihood */
  size_t n_evaluations;             /* of it */
};

/* How many numbers the covariances of all factors are. */
size_t gpnn_mixed_n_covariances(const struct gpnn_mixed_data *data);

/*
 * Estimates D and s, and everything given them, by L-BFGS from 'start', in the layout of struct
 * gpnn_mixed, or if that is NULL from relative variances of 1.  Standard
 * deviations stay between 1e-4 and 1e4 of the residual one, and correlations within .99995, so that
 * the variance of a factor without effect is finite and next to nothing.  'to' is zeroed.
 *
 * GPNN_EDATA: there are not more rows than fixed effects; a factor has one level only, or as many
 * effects as there are rows, so that they cannot be told from the constant or from noise (the
 * message names it); the target is 0 everywhere; the factor of A has too many non-zeros.
 * Not found out: a factor whose levels are those of another, or one-to-one with fixed effects; the
 * likelihood does not know how to divide a variance between them, and any division results.
 * GPNN_ENUMERIC: rows or target are not finite.  GPNN_ENOMEM, GPNN_EEXTERNAL.  After a failure 'to'
 * is zeroed.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_mixed_estimate(const struct gpnn_mixed_data *data,
                                                     const double *start, struct gpnn_mixed *to,
                                                     struct gpnn_error *err);

/* Everything given 'covariance', in the layout of struct gpnn_mixed, and 'scale', or if that is 0
 * for the best s given D.  Fails likewise, except that a factor may have any number of levels;
 * GPNN_ENUMERIC: a covariance is not positive definite. */
GPNN_MUST_CHECK enum gpnn_status gpnn_mixed_solve(const struct gpnn_mixed_data *data,
                                                  const double *covariance, double scale,
                                                  struct gpnn_mixed *to, struct gpnn_error *err);

/*
 * For independent rows: writes row i's leverage h = r'A^-1 r to 'leverage' (n), and what the
 * effects without row i contribute to it, r'b - h / (1 - h) (t - r'b), to 'contribution' (n), both
 * with D as it is.  The variance of the latter's error is s h / (1 - h).
 */
void gpnn_mixed_left_out(const struct gpnn_mixed_data *data, const struct gpnn_mixed *mixed,
                         double *leverage, double *contribution);

void gpnn_mixed_release(struct gpnn_mixed *mixed);

#endif
