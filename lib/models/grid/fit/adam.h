/*
 * adam: parameters of data on a grid by steps of Adam on the likelihood of all cells, whose
 * gradient is estimated (models/grid/fit/likelihood.h): the published method, or a polish of what
 * samples gave (gpnn-methods(7), equations 16.54 to 16.56 and 16.64).
 *
 * Source: Lin, Ament, Balandat, Eriksson, Hernandez-Lobato and Bakshy (2025), appendix C.
 */
#ifndef GPNN_MODELS_GRID_FIT_ADAM_H
#define GPNN_MODELS_GRID_FIT_ADAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "models/grid/fit/fit.h"
#include "models/grid/fit/likelihood.h"
#include "models/grid/fit/view.h"

struct gpnn_grid_adam_options {
  size_t steps; /* 0: none */
  double rate;
  bool softplus; /* a positive parameter is log(1 + e^x), a noise variance 1e-4 more, and x moves
                    without bounds; otherwise its logarithm moves */
  struct gpnn_grid_estimate_options estimate;
  struct gpnn_grid_held held;
  void (*progress)(void *context, size_t step, size_t iterations, double residual);
  void *progress_context;
};

struct gpnn_grid_adam_report {
  size_t steps, iterations; /* of all solves */
  double residual;          /* the worst, relative */
  size_t n_failed;          /* steps whose equations were not solved to the tolerance */
};

/* Sets every positive number of a process, its noise included, to log 2, and loadings to standard
 * normal deviates: where the published method starts. */
void gpnn_grid_adam_start(struct gpnn_parameters *parameters, uint64_t seed);

/* Moves the parameters, and unless they are under softplus stops when no logarithm has moved by
 * 1e-3 in ten steps.  GPNN_ENOMEM says what the steps need if that is more than the machine has.
 * Solutions of a step start from those of the step before it.  Outcomes as
 * gpnn_grid_likelihood_estimate(); the parameters are then as they were. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_adam(struct gpnn_parameters *parameters,
                                                const struct gpnn_grid_view *view,
                                                const struct gpnn_grid_adam_options *options,
                                                struct gpnn_grid_adam_report *report,
                                                struct gpnn_error *err);

#endif
