/*
 * fit_private: the objective of models/grid/fit/fit.h, minus the log likelihood of blocks and of
 * the prior, and how its coordinates are scanned and bounded.
 */
#ifndef GPNN_MODELS_GRID_FIT_FIT_PRIVATE_H
#define GPNN_MODELS_GRID_FIT_FIT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "models/grid/fit/fit.h"
#include "models/grid/fit/subset.h"

/* What a coordinate of models/grid/fit/coordinates.h is. */
enum gpnn_grid_role {
  GPNN_GRID_LENGTHSCALE,
  GPNN_GRID_PERIOD,
  GPNN_GRID_NUGGET,
  GPNN_GRID_TASK, /* loadings, and variances of their own */
  GPNN_GRID_KERNELSCALE,
  GPNN_GRID_NOISE,
};

struct gpnn_grid_coordinate {
  enum gpnn_grid_role role;
  size_t factor;         /* that it belongs to */
  bool is_logarithm;     /* of a positive number; a loading is not */
  double lower, upper;   /* bounds */
  double centre, spread; /* of its prior, normal; spread 0: none */
};

/* Coordinates whose prior is normal about their own mean: 'n' of them, 'step' apart. */
struct gpnn_grid_pool {
  size_t first, step, n;
  double spread;
};

struct gpnn_grid_objective {
  struct gpnn_parameters *parameters; /* moved by every evaluation */
  int threads;
  size_t n_coordinates;
  struct gpnn_grid_coordinate *coordinate; /* n_coordinates */
  double task_spread; /* of loadings and, in proportion, of tasks' own variances */
  size_t n_pools;
  struct gpnn_grid_pool pool[2 * GPNN_GRID_FACTORS];
  double *at;  /* n_coordinates: where the objective was evaluated */
  double *sum; /* n_coordinates: scratch */
  size_t n_free;
  size_t *free; /* n_free: coordinates that move */
  size_t n_blocks, n_cells, n_evaluations;
  struct gpnn_grid_subset *cells; /* of each block */
  double *value, *gradient;       /* of each block */
  const struct gpnn_grid_view
      *complete; /* whose cells are the only block; NULL: there are blocks */
  bool wants_gradient;
};

/* Makes the objective of 'parameters', which it moves.  GPNN_ENOMEM.  It must be zeroed, and is
 * released by the caller whatever the outcome. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_objective_make(struct gpnn_grid_objective *objective, struct gpnn_parameters *parameters,
                         const struct gpnn_grid_view *view, const struct gpnn_grid_samples *samples,
                         const struct gpnn_grid_fit_options *options, struct gpnn_error *err);
void gpnn_grid_objective_release(struct gpnn_grid_objective *objective);

/* Describes all coordinates, and finds those that move. */
void gpnn_grid_objective_describe(struct gpnn_grid_objective *objective,
                                  const struct gpnn_grid_view *view,
                                  const struct gpnn_grid_held *held);

/* Minus the logarithm of the prior at 'at'; its derivatives are added to 'gradient' (all
 * coordinates) unless that is NULL. */
double gpnn_grid_objective_prior(const struct gpnn_grid_objective *objective, double *gradient);

/* The objective of the free coordinates: a gpnn_objective, whose context it is. */
enum gpnn_status gpnn_grid_objective_evaluate(void *context, size_t n, const double *x, double *f,
                                              double *gradient, struct gpnn_error *err);

/* Moves 'at' to the best of a few points: coordinate by coordinate, lengthscales of a factor
 * together.  'x' (n_free) is scratch. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_objective_scan(struct gpnn_grid_objective *objective,
                                                          double *x, struct gpnn_error *err);

#endif
