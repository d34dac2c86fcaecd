/*
 * fit_private: shared by the files of fit.
 *
 * fit.c runs the stages of an estimation.  fit_block.c minimises the block objective; fit_local.c
 * minimises those of neighbourhoods, which fit_pool.c finds, and learns rotations.
 * fit_coordinates.c maps parameters to the coordinates that an optimiser moves.
 */
#ifndef GPNN_ESTIMATE_FIT_PRIVATE_H
#define GPNN_ESTIMATE_FIT_PRIVATE_H

#include "base/rng.h"
#include "base/threads.h"
#include "estimate/fit.h"
#include "estimate/near.h"
#include "estimate/neighbourhood.h"

/* ---- fit_coordinates.c -------------------------------------------------------------------- */

/*
 * Parameters are numbered as in gradients: the lengthscales, the kernel scale, the noise variance,
 * the constant of the mean; for classes then the numbers of the link and the biases.  The
 * coordinates are their logarithms, except for the constant and the biases.  Several targets share
 * the lengthscales; each has its own other parameters.
 */

/* Targets of the same rows that are fitted together. */
struct gpnn_fit_targets {
  size_t n;
  const struct gpnn_dataset *dataset; /* n: the view of each */
  struct gpnn_parameters *params;     /* n */
};

struct gpnn_fit_coordinates {
  const struct gpnn_fit_targets *targets;
  size_t n;                   /* number of coordinates, that is, of free parameters */
  size_t *parameter;          /* owned; n: the parameter of each, */
  size_t *target;             /* and its target, the first for shared lengthscales */
  double *u;                  /* owned; n each: the starting point, */
  double *lower, *upper;      /* the bounds, */
  double *usual;              /* and the centre of the prior; infinite: no prior */
  double prior_sd;            /* its standard deviation */
  size_t width;               /* parameters of a target */
  bool same_ratio;            /* the noise of further targets is not a coordinate but has the first
                                 target's ratio to their kernel scale */
  double *gradient;           /* owned; scratch: each target's derivatives by its parameters */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/*
 * Makes coordinates of the free parameters of 'targets' (borrowed), starting from their present
 * values.  'scale' is a typical distance between rows; lengthscales are kept within four decades of
 * it, beyond which a kernel is a constant or white noise.  'with_constant' makes the constant of
 * the mean free.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_fit_coordinates_init(struct gpnn_fit_coordinates *coordinates,
                                                           const struct gpnn_fit_options *options,
                                                           const struct gpnn_fit_targets *targets,
                                                           double scale, bool with_constant,
                                                           struct gpnn_error *err);

/* Sets the parameters from coordinates 'u'. */
void gpnn_fit_coordinates_set(const struct gpnn_fit_coordinates *coordinates, const double *u);

/* Sets the parameter of coordinate 'i' in every target that shares it.  Once all are set,
 * gpnn_fit_coordinates_complete() sets the parameters determined by them. */
void gpnn_fit_coordinates_put(const struct gpnn_fit_coordinates *coordinates, size_t i,
                              double value);
void gpnn_fit_coordinates_complete(const struct gpnn_fit_coordinates *coordinates);

/* Converts coordinates->gradient to the derivatives of the targets' mean objective by the
 * coordinates. */
void gpnn_fit_coordinates_gradient(const struct gpnn_fit_coordinates *coordinates,
                                   double *gradient);

/*
 * The negative log density of a weak prior on the coordinates, up to a constant, divided by the
 * number of rows, 'n_rows', that the targets' mean objective averages over; adds its derivatives to
 * 'gradient' unless NULL.  The logarithms of the parameters are normal, centred on 'scale', a
 * kernel scale of 1 and a noise of 0.1, with 'prior_sd', log 3 unless the options say otherwise; so
 * are those of a link, centred on GPNN_FIT_USUAL_LINK, and its biases, centred on 0.  The data soon
 * outweigh the prior, but without it a handful of rows may be fitted without error, by parameters
 * that promise the same everywhere.  All lengthscales together have the weight of one, because that
 * of an irrelevant input has far to go.
 * See gpnn-methods(7), equation 4.1.
 */
double gpnn_fit_coordinates_prior(const struct gpnn_fit_coordinates *coordinates, double n_rows,
                                  const double *u, double *gradient);

double *gpnn_fit_parameter(struct gpnn_parameters *params, size_t i);

/* The values that the numbers of a link start from and have their prior at. */
#define GPNN_FIT_USUAL_LINK                                   \
  {                                                           \
    .slope = 4, .evidence = 0.3, .floor = 0.02, .spread = 0.3 \
  }

void gpnn_fit_coordinates_release(struct gpnn_fit_coordinates *coordinates);

/* ---- the stages of gpnn_fit(), which start from the values in the parameters --------------- */

GPNN_MUST_CHECK enum gpnn_status gpnn_fit_blocks(const struct gpnn_fit_targets *targets,
                                                 const struct gpnn_fit_options *options,
                                                 double scale, struct gpnn_fit_report *report,
                                                 struct gpnn_error *err);

GPNN_MUST_CHECK enum gpnn_status
gpnn_fit_neighbourhoods(const struct gpnn_fit_targets *targets,
                        const struct gpnn_fit_options *options, enum gpnn_objective_kind kind,
                        double scale, struct gpnn_fit_report *report, struct gpnn_error *err);

/* ---- rows with their neighbours: fit_local.c, fit_pool.c --------------------- */

/* The rows of an estimation, and their neighbours under the current metric. */
struct gpnn_fit_pool {
  size_t n, k;
  int64_t *row, *neighbour; /* n; n by k */
  double *x;                /* n by d: the rows */
  int64_t *before;          /* vecchia: the order of all training rows; else NULL */
  double *squares;          /* n by GPNN_HOOD_SQUARES(k) (estimate/neighbourhood.h), or NULL */
  double *share;            /* labels: of each class in the training rows; else NULL */
};

/* Minibatches of the pool, drawn without replacement until it is exhausted. */
struct gpnn_fit_batches {
  struct gpnn_rng rng;
  size_t n, next;
  uint64_t *order; /* of the pool's rows */
  int64_t *row, *neighbour;
  double *squares; /* NULL unless the pool has them */
};

/*
 * A rotation being learnt: the kernel sees (I + E) base times the inputs.  E replaces the
 * lengthscales, whose relative changes are its diagonal, and lets directions mix as well.
 */
struct gpnn_fit_rotation {
  size_t n;       /* d squared, or 0: no rotation is learnt */
  double *base;   /* d by d: the initial map of the inputs */
  double *map;    /* d by d: the current map, (I + E) base */
  double *factor; /* d by d: I + E */
  double *by_map; /* d by d: derivative of the targets' mean objective */
  double *one;    /* d by d: derivative of one target's objective */
  double *all;    /* n by d: all rows, mapped */
};

/* The state of an estimation. */
struct gpnn_fit_problem {
  const struct gpnn_fit_targets *targets;
  const struct gpnn_dataset *dataset; /* the first target's view; its inputs are those of all */
  const struct gpnn_fit_options *options;
  enum gpnn_objective_kind kind;
  struct gpnn_fit_coordinates coordinates;
  struct gpnn_fit_pool pool;
  struct gpnn_fit_batches batches;
  size_t n_steps;                /* of adam so far */
  bool lists_changed;            /* the last search changed some row's neighbours */
  double spacing, usual_spacing; /* as in struct gpnn_fit_report, from the first search */
  struct gpnn_jitter jitter;     /* of the last evaluation, over all targets */
  double prior;                  /* the part of the last value that is due to the prior */
  double *lengthscale;           /* d: scratch */
  double *searched;              /* d: the lengthscales of the last search for neighbours */
  size_t n_searches;             /* so far */
  struct gpnn_near near;         /* of the pool, where the options have none */
  struct gpnn_fit_rotation rotation;
  struct gpnn_team *team;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* Draws the rows of the pool, and allocates what they need. */
GPNN_MUST_CHECK enum gpnn_status gpnn_fit_pool_init(struct gpnn_fit_problem *problem,
                                                    struct gpnn_error *err);
void gpnn_fit_pool_release(struct gpnn_fit_problem *problem);

/* Sets the parameters from coordinates 'u', and finds the neighbours of the pool's rows again if
 * the new metric may change them. */
GPNN_MUST_CHECK enum gpnn_status gpnn_fit_pool_refresh(struct gpnn_fit_problem *problem,
                                                       const double *u, struct gpnn_error *err);

struct gpnn_neighbourhoods gpnn_fit_pool_hoods(const struct gpnn_fit_pool *pool);

/* Sets the map from E, which follows the other coordinates in 'u'. */
void gpnn_fit_rotation_set(struct gpnn_fit_problem *problem, const double *u);

#endif
