/*
 * collapsed: a sparse Gaussian process with inducing inputs, whose values have the distribution
 * that makes the bound on the log marginal likelihood largest (gpnn-methods-sparse(7), equations
 * 17.1 to 17.6).
 *
 * Source: Titsias (2009), Variational Learning of Inducing Variables in Sparse Gaussian Processes,
 * equations 9 and 10.
 *
 * Calling sequence: gpnn_collapsed_new() for rows and inducing inputs; gpnn_collapsed_bound() for
 * parameters, as often as wanted; gpnn_collapsed_posterior() for what predictions need;
 * gpnn_collapsed_free().  Everything is in standardised units.
 *
 * Threads: those given share the rows, and results do not depend on their number.  An object has
 * scratch memory and serves one caller at a time.
 */
#ifndef GPNN_MODELS_INDUCING_COLLAPSED_COLLAPSED_H
#define GPNN_MODELS_INDUCING_COLLAPSED_COLLAPSED_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/inducing/cross.h"

/* Rows; borrowed. */
struct gpnn_collapsed_data {
  size_t n;        /* at least 1 */
  const double *x; /* n by d, row-major */
  const double *y; /* n */
  double jitter;   /* > 0: of the kernel scale, added to the diagonal of the inducing inputs'
                      covariance: they are then seen through a little noise, and the bound holds */
  int threads;
};

/* The usual jitter. */
#define GPNN_COLLAPSED_JITTER 1e-6

struct gpnn_collapsed_parameters {
  const double *lengthscale; /* n_lengthscales, > 0 */
  double kernelscale, noise; /* > 0 */
};

struct gpnn_collapsed;

/* Memory: 4 m^2 numbers, and m for each of a thousand rows.  GPNN_ENOMEM: '*collapsed' is not set.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_collapsed_new(struct gpnn_collapsed **collapsed,
                                                    const struct gpnn_cross_problem *problem,
                                                    const struct gpnn_collapsed_data *data,
                                                    struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_collapsed_free(struct gpnn_collapsed *collapsed);

/*
 * The bound (17.2) at 'parameters', and unless 'gradient' is NULL its derivatives with respect to
 * the logarithms of the lengthscales (n_lengthscales), of the kernel scale and of the noise
 * variance (17.4 to 17.6).  Takes 2 n m^2 + m^3 operations, and three times as many with a
 * gradient.
 *
 * GPNN_ENUMERIC: the covariance of the inducing inputs is not positive definite even with the
 * jitter of linalg/factors/cholesky.h, or the bound is not finite.  GPNN_ENOMEM.  Nothing has been
 * set.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_collapsed_bound(struct gpnn_collapsed *collapsed,
                     const struct gpnn_collapsed_parameters *parameters, double *bound,
                     double *gradient, struct gpnn_error *err);

/*
 * What predictions need at 'parameters': 'weights' (m), so that the mean at a row is k'weights, k
 * its covariances with the inducing inputs; and rows r_j of 'root' ('*rank' by m, of memory for m
 * by m), so that the variance of the latent function is kernelscale - sum_j (r_j'k)^2 (17.3).
 * Directions that take away less than 1e-9 of the variance are left out.
 *
 * If it 'rescales', kernel scale and noise variance are first moved to where the bound is largest,
 * which takes no other pass over the rows (17.7).  '*bound' is that of the parameters in the end.
 * Outcomes as for gpnn_collapsed_bound(), and GPNN_ENUMERIC: LAPACK finds no eigenvalues.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_collapsed_posterior(struct gpnn_collapsed *collapsed,
                         struct gpnn_collapsed_parameters *parameters, bool rescales, double *bound,
                         double *weights, double *root, size_t *rank, struct gpnn_error *err);

/* ---- whitened values ---------------------------------------------------------------------- */

/*
 * From a posterior of whitened inducing values to what predictions need.
 *
 * Values of the process at m inducing points are u = L v, Kuu = L L', and v has a Gaussian
 * distribution whose precision is no less than that before any data, the identity.
 *
 * Threads: no shared state.
 */

/*
 * Writes to 'root' the eigenvectors of the precision ('vectors', m by m, one after another) along
 * which data take more than 1e-9 of the variance away, the last first, each times the square root
 * of that 'share' (m) over 'factor'.  Returns how many there are.
 */
size_t gpnn_whitened_directions(size_t m, const double *share, double factor, const double *vectors,
                                double *root);

/*
 * Writes to 'root' ('*rank' by m, of memory for m by m) rows r_j so that the variance at a row with
 * covariances k is kernelscale - sum_j (r_j'k)^2 (gpnn-methods-sparse(7), equation 17.3).
 * 'precision' has the lower triangle of the precision of v, and is overwritten; 'factor' is L, both
 * m by m; 'scratch' has room for m.  Directions that take away less than 1e-9 of the variance are
 * left out, and row j begins with j zeros, which halves the work of predictions.
 *
 * GPNN_ENUMERIC: LAPACK finds no eigenvalues.  GPNN_ENOMEM.  'root' is then undefined.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_whitened_root(size_t m, double *precision,
                                                    const double *factor, double *scratch,
                                                    double *root, size_t *rank,
                                                    struct gpnn_error *err);

/* ---- from batches of rows ----------------------------------------------------------------- */

/*
 * A sparse Gaussian process with inducing inputs, fitted to random batches of rows, for
 * tables of which even one pass takes too long (gpnn-methods-sparse(7), equations 17.11 to 17.13).
 *
 * What models/inducing/collapsed/collapsed.h finds in one pass over all rows, natural gradients
 * approach from batches: with all rows in one batch a single step is enough, and with steps of
 * sizes 1, 1/2, 1/3, ..., as they are unless parameters move too, the posterior is that of all rows
 * seen so far, each counted as if there were n of them.  Only for parameters that move along with
 * it are steps kept from becoming too small.
 *
 * Sources: Hensman, Fusi and Lawrence (2013), Gaussian processes for big data; Salimbeni,
 * Eleftheriadis and Hensman (2018), Natural gradients in practice.
 *
 * Threads: those given share the rows of a batch, and results do not depend on their number.
 */

struct gpnn_svgp_options {
  size_t batch;             /* rows of a step, at least 1; as many as there are, or more: all */
  size_t n_steps;           /* at least 1: with parameters held */
  size_t n_parameter_steps; /* before these: each moves the parameters by Adam; may be 0 */
  double rate;              /* of Adam, in the parameters' logarithms; it falls to 0 */
  double least_step;        /* of natural gradients while parameters move, in (0, 1] */
  uint64_t seed;            /* of the batches */
};

#define GPNN_SVGP_OPTIONS_INIT                                                 \
  {                                                                            \
    .batch = 1024, .n_steps = 500, .rate = 0.02, .least_step = 0.05, .seed = 1 \
  }

/*
 * Fits the posterior, and with n_parameter_steps the parameters: 'log_parameters' has the
 * logarithms of the n_lengthscales lengthscales, of the kernel scale and of the noise variance, and
 * is replaced by those found.  'weights' (m), 'root' ('*rank' by m, of memory for m by m) are as
 * gpnn_collapsed_posterior() makes them.  '*bound', unless it is NULL, is that on the log marginal
 * likelihood at the end, for which all rows are read once: never more than that of
 * gpnn_collapsed_bound() with the same parameters.
 *
 * A step takes 2 b m^2 operations for b rows, and with parameters 8 b m^2 + 3 m^3.  Batches take
 * the rows in random order, all of them before any is taken again.  Memory: 5 m^2 numbers, 2 m for
 * each of a thousand rows, and a number for each of n.
 *
 * GPNN_ENUMERIC as for gpnn_collapsed_bound(); while parameters move also where a gradient is not
 * finite.  GPNN_ENOMEM.  'log_parameters' is untouched after a failure, and all else undefined.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_svgp_fit(const struct gpnn_cross_problem *problem, const struct gpnn_collapsed_data *data,
              const struct gpnn_svgp_options *options, double *log_parameters, double *bound,
              double *weights, double *root, size_t *rank, struct gpnn_error *err);

#endif
