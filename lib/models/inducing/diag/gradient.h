/*
 * diag_gradient: estimates of the derivatives of the bound of models/inducing/diag/diag.h in
 * time m^2: from a batch of rows, random probes, and two solutions by conjugate gradients for each
 * probe (gpnn-methods(7), equations 17.20 to 17.25).
 *
 * Source: Thomas (2017), chapter 3, equation 3.16 and algorithm of section 3.3.
 *
 * Where the batch, the probes and the truncation are all random, the estimates are unbiased for
 * solutions of the given tolerance, as the two solutions of a probe, which are multiplied with each
 * other, have truncations of their own.
 *
 * Threads: as in diag.h.
 */
#ifndef GPNN_MODELS_INDUCING_DIAG_GRADIENT_H
#define GPNN_MODELS_INDUCING_DIAG_GRADIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "linalg/truncated_cg.h"
#include "models/inducing/diag/diag.h"

struct gpnn_diag_solver {
  enum gpnn_truncation truncation;
  double head;       /* residual, relative, from which on steps are random */
  double tolerance;  /* residual, relative, at which solutions are good enough */
  double rate;       /* > 0: log of the weight of a step (geometric), or of that of step j over j
                        (quadratic); equations 17.23 and 17.24 */
  size_t most_steps; /* of a solution, at least 1 */
  uint64_t seed;     /* of the truncation */
};

/* How solutions went; numbers of one call are added to those of earlier ones. */
struct gpnn_diag_solutions {
  size_t n;           /* solutions */
  size_t steps, most; /* of all; of the one that took most */
  size_t extra;       /* steps past 'head' under a random truncation */
  size_t n_capped;    /* that ended at most_steps above the tolerance */
  size_t n_refused;   /* that ended as the weight would have passed exp(50) */
  double most_weight; /* of a step */
  double tail; /* steps between head and tolerance, of all solutions that were not truncated */
};

/* Probes: 'n' columns of m numbers, one after another, with mean 0 and covariance I. */
struct gpnn_diag_probes {
  size_t n;
  const double *r;
};

/*
 * Solves B x = b for 'columns' right-hand sides, one after another as are the solutions, together
 * but each with its own steps; B is m by m, all of it.  Under a random truncation column j draws
 * from stream 'first' + j of the seed, and E[x] is the solution that stops at the tolerance;
 * without one x is that.  The residual is computed anew every 50 steps.
 *
 * GPNN_ENUMERIC: B is not positive definite, or a number is not finite.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_diag_solve(size_t m, const double *b_matrix, size_t columns, const double *b, double *x,
                const struct gpnn_diag_solver *solver, uint64_t first, int threads,
                struct gpnn_diag_solutions *solutions, struct gpnn_error *err);

/*
 * Estimates the derivatives of the bound at 'point' from a batch and probes.  'number' is that of
 * the estimate, on which with the seed the truncation depends.  '*solutions' is added to.  Takes 4
 * probes m^2 operations a step, and keeps m^2 numbers.
 *
 * GPNN_ENUMERIC as gpnn_diag_solve(), GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_diag_estimate(struct gpnn_diag *diag, const double *point, const struct gpnn_diag_batch *batch,
                   const struct gpnn_diag_probes *probes, const struct gpnn_diag_solver *solver,
                   uint64_t number, double *gradient, struct gpnn_diag_solutions *solutions,
                   struct gpnn_error *err);

/*
 * Estimates the bound itself, for reports: a solution for each row of the batch, to the tolerance
 * of 'solver', gives its variance, and probes the rest: log|B| by stochastic Lanczos quadrature
 * (linalg/lanczos.h), whose small bias does no harm here.  Outcomes as gpnn_diag_estimate().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_diag_measure(struct gpnn_diag *diag, const double *point,
                                                   const struct gpnn_diag_batch *batch,
                                                   const struct gpnn_diag_probes *probes,
                                                   const struct gpnn_diag_solver *solver,
                                                   double *bound, struct gpnn_error *err);

#endif
