/*
 * svgp: a sparse Gaussian process with inducing inputs, fitted to random batches of rows, for
 * tables of which even one pass takes too long (gpnn-methods(7), equations 17.11 to 17.13).
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
#ifndef GPNN_MODELS_INDUCING_COLLAPSED_SVGP_H
#define GPNN_MODELS_INDUCING_COLLAPSED_SVGP_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/inducing/collapsed/collapsed.h"
#include "models/inducing/cross.h"

struct gpnn_svgp_options {
  size_t batch;   /* rows of a step, at least 1; as many as there are, or more: all */
  size_t n_steps; /* at least 1: with parameters held */
  size_t
      n_parameter_steps; /* before these: with a step of Adam for the parameters each; may be 0 */
  double rate;           /* of Adam, in the parameters' logarithms; it falls to 0 */
  double least_step;     /* of natural gradients while parameters move, in (0, 1] */
  uint64_t seed;         /* of the batches */
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
