/*
 * diag: a sparse Gaussian process whose variational covariance has one number for each inducing
 * input: with B = Kuu + diag(exp(rho)), the values at the inducing inputs have the distribution
 *   q(u) = N(Kuu mu, Kuu - Kuu B^-1 Kuu)
 * (gpnn-methods-sparse(7), equations 17.14 to 17.19).  B is the only matrix that is ever inverted,
 * so the bound needs no jitter.
 *
 * Source: Thomas (2017), Scalable Inference and Private Co-training for Gaussian Processes, chapter
 * 3; equations 3.8 to 3.16.
 *
 * A point is one array of gpnn_diag_size() numbers: mu (m), rho (m), the logarithms of the
 * lengthscales, of the kernel scale and of the noise variance; gradients are arranged alike.
 * Everything is in standardised units.
 *
 * Calling sequence: gpnn_diag_new() for a problem, then any of the functions below, as often as
 * wanted, and gpnn_diag_free().
 *
 * Threads: those of the problem share the rows, and results do not depend on their number.  A
 * struct gpnn_diag has scratch memory and serves one caller at a time.
 */
#ifndef GPNN_MODELS_INDUCING_DIAG_DIAG_H
#define GPNN_MODELS_INDUCING_DIAG_DIAG_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "kernel/kernel.h"
#include "linalg/iterative/truncated_cg.h"

/* Rows and inducing inputs; all arrays are borrowed and outlive the struct gpnn_diag. */
struct gpnn_diag_problem {
  size_t n, d;         /* rows and their inputs */
  const double *x, *y; /* n by d, row-major; n */
  const double *noise; /* n: known noise variance of each row, which adds to that of the point;
                          NULL: none */
  size_t m;            /* inducing inputs, at least 1 */
  const double *z;     /* m by d, row-major */
  const struct gpnn_kernel *kernel;
  double smoothness;     /* of the kernel, if it needs one */
  size_t n_lengthscales; /* 1, or one for each group of inputs */
  const uint32_t *group; /* d: the group of each input; may be NULL for one lengthscale */
  int threads;
};

/* Some of the rows, of which each counts 'scale' times; so 'scale' is n over their number where
 * they stand for all rows. */
struct gpnn_diag_batch {
  size_t n;
  const uint64_t *row; /* n: numbers of rows; NULL: the first n rows */
  double scale;
};

/* ---- points ------------------------------------------------------------------------------- */

/* How many numbers a point has, and where those after mu begin. */
static inline size_t gpnn_diag_size(const struct gpnn_diag_problem *problem)
{
  return 2 * problem->m + problem->n_lengthscales + 2;
}

static inline size_t gpnn_diag_rho(const struct gpnn_diag_problem *problem)
{
  return problem->m;
}

static inline size_t gpnn_diag_lengthscale(const struct gpnn_diag_problem *problem)
{
  return 2 * problem->m;
}

static inline size_t gpnn_diag_kernelscale(const struct gpnn_diag_problem *problem)
{
  return 2 * problem->m + problem->n_lengthscales;
}

static inline size_t gpnn_diag_noise(const struct gpnn_diag_problem *problem)
{
  return 2 * problem->m + problem->n_lengthscales + 1;
}

/* ---- functions ---------------------------------------------------------------------------- */

struct gpnn_diag;

/* Memory: 2 m^2 numbers, and m for each of a few hundred rows and thread.  GPNN_ENOMEM: '*diag' is
 * not set. */
GPNN_MUST_CHECK enum gpnn_status gpnn_diag_new(struct gpnn_diag **diag,
                                               const struct gpnn_diag_problem *problem,
                                               struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_diag_free(struct gpnn_diag *diag);

/* All rows. */
struct gpnn_diag_batch gpnn_diag_all(const struct gpnn_diag_problem *problem);

/*
 * The bound on the log marginal likelihood (equation 17.15) at 'point', and unless 'gradient' is
 * NULL its derivatives (17.16 to 17.18); of a batch, unbiased estimates of both where its rows are
 * drawn at random.  Takes m^3 + 2 n m^2 operations, and with a gradient as many again.
 *
 * GPNN_ENUMERIC: B is not positive definite even with the jitter of linalg/factors/cholesky.h, or
 * the bound is not finite.  GPNN_ENOMEM.  '*bound' and 'gradient' are then undefined.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_diag_bound(struct gpnn_diag *diag, const double *point,
                                                 const struct gpnn_diag_batch *batch, double *bound,
                                                 double *gradient, struct gpnn_error *err);

/* The sum over the rows of a batch of the squared difference between y and the mean. */
double gpnn_diag_squares(struct gpnn_diag *diag, const double *point,
                         const struct gpnn_diag_batch *batch);

/*
 * Sets mu of 'point' to where the bound is largest, given the lengthscales, kernel scale and noise
 * (equation 17.19): the mean is then that of the optimal q(u) of any covariance, whatever rho is.
 *
 * With at most 'most_rows' rows it is computed directly, in 2 n m^2 + m^3 operations.  With more,
 * the equations of as many of them, evenly spaced, precondition conjugate gradients on those of all
 * rows, in 4 n m operations and as many kernel values for each step, to a residual of 'tolerance'
 * of the right-hand side; '*residual' (or NULL) gets the residual reached, 0 of a direct solution.
 *
 * GPNN_ENUMERIC: Kuu is not positive definite even with jitter.  GPNN_ENOMEM.  mu is then
 * undefined.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_diag_optimal_mean(struct gpnn_diag *diag, double *point,
                                                        size_t most_rows, double tolerance,
                                                        double *residual, struct gpnn_error *err);

/* ---- estimates of derivatives ------------------------------------------------------------- */

/*
 * Estimates of the derivatives of the bound of models/inducing/diag/diag.h in
 * time m^2: from a batch of rows, random probes, and two solutions by conjugate gradients for each
 * probe (gpnn-methods-sparse(7), equations 17.20 to 17.25).
 *
 * Source: Thomas (2017), chapter 3, equation 3.16 and algorithm of section 3.3.
 *
 * Where the batch, the probes and the truncation are all random, the estimates are unbiased for
 * solutions of the given tolerance, as the two solutions of a probe, which are multiplied with each
 * other, have truncations of their own.
 *
 * Threads: as in diag.h.
 */

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
 * (linalg/iterative/lanczos.h), whose small bias does no harm here.  Outcomes as
 * gpnn_diag_estimate().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_diag_measure(struct gpnn_diag *diag, const double *point,
                                                   const struct gpnn_diag_batch *batch,
                                                   const struct gpnn_diag_probes *probes,
                                                   const struct gpnn_diag_solver *solver,
                                                   double *bound, struct gpnn_error *err);

#endif
