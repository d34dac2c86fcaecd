/*
 * fit: parameters of data on a grid by the exact marginal likelihood of samples of its cells
 * (gpnn-methods-grid(7), equations 16.58, 16.61 and 16.62).
 *
 * The samples are independent blocks: their log likelihoods are added, and a weak prior of the
 * logarithms of lengthscales, so that one sample alone cannot lead astray.  The prior of tasks, of
 * which there may be more numbers than a few cells can tell, draws them towards each other.  L-BFGS
 * maximises the sum.
 *
 * Threads share the blocks; results do not depend on them.
 */
#ifndef GPNN_MODELS_GRID_FIT_FIT_H
#define GPNN_MODELS_GRID_FIT_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "kernel/parameters.h"
#include "models/grid/fit/likelihood.h"
#include "models/grid/fit/view.h"

/* Samples of cells. */
struct gpnn_grid_samples {
  size_t n;
  size_t **chosen; /* owned; of each its positions among the grid's cells */
  size_t *n_cells; /* owned; of each */
};

/* Draws up to 'n' samples, numbered from 'first' on, or one if that has all cells.  GPNN_ENOMEM:
 * '*blocks', which must be zeroed, stays so. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_samples_draw(struct gpnn_grid_samples *blocks, size_t n,
                                                        const struct gpnn_grid_view *view,
                                                        struct gpnn_grid_sample_size size,
                                                        uint64_t seed, uint64_t first,
                                                        struct gpnn_error *err);
void gpnn_grid_samples_release(struct gpnn_grid_samples *blocks);

/* Numbers that are held at their values. */
enum { GPNN_GRID_MOST_HELD = 64 };
struct gpnn_grid_held {
  size_t n;
  struct gpnn_grid_numbers of[GPNN_GRID_MOST_HELD];
};

struct gpnn_grid_fit_options {
  size_t evaluations;         /* of the objective, at most */
  bool complete;              /* the blocks are replaced by all cells of the view, which
                                 gpnn_grid_likelihood_is_complete() is true of */
  bool scans;                 /* start from the best of a few lengthscales, periods and noises */
  double task_spread;         /* of tasks, about what they have in common, under the prior */
  struct gpnn_grid_held held; /* these stay as they are */
  int threads;
};

struct gpnn_grid_fit_report {
  size_t n_cells;        /* in all blocks */
  size_t n_evaluations;  /* of the objective */
  double log_likelihood; /* per cell, at the end */
};

/*
 * Estimates 'parameters' from blocks of a view's cells: they have the kernels, and the values to
 * start from.  Lengthscales stay within a factor of 1000 of the spread of the levels, periods
 * within a third of their start, and the noise variance above 1e-4.  Under tasks the kernel scale,
 * which they have themselves, stays as it is.  GPNN_ENUMERIC: the likelihood cannot be computed at
 * the start.  GPNN_ENOMEM.  After a failure the parameters are as they were.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_fit(struct gpnn_parameters *parameters, const struct gpnn_grid_view *view,
              const struct gpnn_grid_samples *blocks, const struct gpnn_grid_fit_options *options,
              struct gpnn_grid_fit_report *report, struct gpnn_error *err);

/* ---- steps of Adam on all cells -------------------------------------------------------------- */

/* Adam moves parameters along the likelihood of all cells, whose gradient is estimated
 * (models/grid/fit/likelihood.h): the published method, or a polish of what samples gave
 * (gpnn-methods-grid(7), equations 16.54 to 16.56 and 16.67).
 *
 * Source: Lin, Ament, Balandat, Eriksson, Hernandez-Lobato and Bakshy (2025), appendix C. */

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
