/*
 * fit_private: what the files of fit share.
 *
 * fit.c runs the stages of an estimation: fit_block.c minimises over blocks of random rows,
 * fit_local.c over rows with their neighbours, which fit_pool.c finds and fit_rotation.c lets be
 * seen in other directions.  fit_coordinates.c makes of parameters the numbers that an optimiser
 * moves.
 */
#ifndef GPNN_MODELS_LOCAL_FIT_PRIVATE_H
#define GPNN_MODELS_LOCAL_FIT_PRIVATE_H

#include "base/rng.h"
#include "base/threads.h"
#include "models/local/fit.h"
#include "models/local/neighbourhood.h"

/* ---- fit_coordinates.c -------------------------------------------------------------------- */

/*
 * Parameters are numbered as in gradients: the lengthscales, the kernel scale, the noise variance,
 * the constant of the mean.  All but the last are moved by their logarithms.  Of several targets
 * the lengthscales are the same and the others each target's own.
 */

/* What is fitted together: targets of the same rows, whose parameters have the same lengthscales.
 */
struct gpnn_fit_targets {
  size_t n;
  const struct gpnn_dataset *dataset; /* n: the view of each */
  struct gpnn_parameters *params;     /* n */
};

struct gpnn_fit_coordinates {
  const struct gpnn_fit_targets *targets;
  size_t n;              /* free ones */
  size_t *parameter;     /* owned; which parameter each is, */
  size_t *target;        /* and of which target; the lengthscales are of the first, for all */
  double *u;             /* owned; n of each of these: the point, */
  double *lower, *upper; /* bounds, */
  double *usual;         /* and the prior's centre; infinite: no prior */
  size_t width;          /* parameters of a target */
  bool same_ratio;       /* noise of further targets is no coordinate but goes with their kernel
                            scale, in the proportion that the first has */
  double *gradient;      /* owned; of each target's objective by its parameters: scratch */
};

/*
 * Takes the free parameters of 'targets' (borrowed) at their present values.  'scale' is a typical
 * distance between rows, of which lengthscales keep within four decades: beyond, a kernel is a
 * constant or white noise.  The constant of the mean is free if 'with_constant'.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_fit_coordinates_init(struct gpnn_fit_coordinates *coordinates,
                                                           const struct gpnn_fit_options *options,
                                                           const struct gpnn_fit_targets *targets,
                                                           double scale, bool with_constant,
                                                           struct gpnn_error *err);

/* Sets the parameters from coordinates 'u'. */
void gpnn_fit_coordinates_set(const struct gpnn_fit_coordinates *coordinates, const double *u);

/* Sets the parameter of coordinate 'i', of every target that shares it; once all are set,
 * gpnn_fit_coordinates_complete() sets what follows from them. */
void gpnn_fit_coordinates_put(const struct gpnn_fit_coordinates *coordinates, size_t i,
                              double value);
void gpnn_fit_coordinates_complete(const struct gpnn_fit_coordinates *coordinates);

/* From coordinates->gradient to the derivatives of the targets' mean objective by the free
 * coordinates. */
void gpnn_fit_coordinates_gradient(const struct gpnn_fit_coordinates *coordinates,
                                   double *gradient);

/*
 * The negative logarithm of a weak prior of the coordinates, up to a constant, as its share of the
 * targets' mean objective if that is a mean over 'n_rows' rows; adds its derivatives to 'gradient',
 * unless NULL.  Logarithms are normal about those of 'scale', of a kernel scale of 1 and of a noise
 * of 0.1, with a standard deviation of log 3.  Rows soon say more; but of a handful some parameters
 * predict each without error, and would be believed to do so everywhere.  All lengthscales together
 * weigh what one does: that of an input that does not matter has far to go.
 * See gpnn-methods(7), equation 4.1.
 */
double gpnn_fit_coordinates_prior(const struct gpnn_fit_coordinates *coordinates, double n_rows,
                                  const double *u, double *gradient);

double *gpnn_fit_parameter(struct gpnn_parameters *params, size_t i);

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

/* ---- rows with their neighbours: fit_local.c, fit_pool.c, fit_rotation.c ----------------- */

/* The rows an estimation uses, and their neighbours under the metric of the moment. */
struct gpnn_fit_pool {
  size_t n, k;
  int64_t *row, *neighbour; /* n; n by k */
  double *x;                /* n by d: the rows */
  int64_t *before;          /* vecchia: the order of all training rows; else NULL */
  double *squares;          /* n by GPNN_HOOD_SQUARES(k) (models/local/neighbourhood.h), or NULL */
};

/* Minibatches of the pool, drawn without replacement until it is used up. */
struct gpnn_fit_batches {
  struct gpnn_rng rng;
  size_t n, next;
  uint64_t *order; /* of the pool's rows */
  int64_t *row, *neighbour;
  double *squares; /* where the pool has them */
};

/*
 * A rotation being learnt: the kernel sees (I + E) base times the inputs.  Directions are as free
 * to mix as lengthscales to change, so E stands in the place of the lengthscales: its diagonal is
 * what they would change by.
 */
struct gpnn_fit_rotation {
  size_t n;       /* d squared, or 0: nothing is learnt */
  double *base;   /* d by d: what is seen at the start */
  double *map;    /* d by d: what is seen now */
  double *factor; /* d by d: I + E */
  double *by_map; /* d by d: derivative of the targets' mean objective */
  double *one;    /* d by d: of one target's */
  double *all;    /* n by d: all rows as seen */
};

/* An estimation under way. */
struct gpnn_fit_problem {
  const struct gpnn_fit_targets *targets;
  const struct gpnn_dataset *dataset; /* the first target's view, for the rows */
  const struct gpnn_fit_options *options;
  enum gpnn_objective_kind kind;
  struct gpnn_fit_coordinates coordinates;
  struct gpnn_fit_pool pool;
  struct gpnn_fit_batches batches;
  size_t n_steps;            /* of adam so far */
  bool lists_changed;        /* at the last search for neighbours */
  double spacing;            /* as in struct gpnn_fit_report, at the first search */
  struct gpnn_jitter jitter; /* of the last evaluation, all targets together */
  double prior;              /* the prior's share of its value */
  double *lengthscale;       /* d: scratch */
  double *searched;          /* d: those that neighbours were last searched under */
  size_t n_searches;         /* so far */
  struct gpnn_fit_rotation rotation;
  struct gpnn_team *team;
};

/* Draws the rows of the pool, and allocates what they need. */
GPNN_MUST_CHECK enum gpnn_status gpnn_fit_pool_init(struct gpnn_fit_problem *problem,
                                                    struct gpnn_error *err);
void gpnn_fit_pool_release(struct gpnn_fit_problem *problem);

/* Sets the parameters from coordinates 'u', and finds the neighbours of the pool's rows anew under
 * the metric there, if they may be others. */
GPNN_MUST_CHECK enum gpnn_status gpnn_fit_pool_refresh(struct gpnn_fit_problem *problem,
                                                       const double *u, struct gpnn_error *err);

struct gpnn_neighbourhoods gpnn_fit_pool_hoods(const struct gpnn_fit_pool *pool);

/* Begins with the lengthscales as they are; does nothing where no rotation is learnt, as do all of
 * these. */
GPNN_MUST_CHECK enum gpnn_status gpnn_fit_rotation_begin(struct gpnn_fit_problem *problem,
                                                         struct gpnn_error *err);

/* Sets the map from E, which stands behind the other coordinates in 'u'. */
void gpnn_fit_rotation_set(struct gpnn_fit_problem *problem, const double *u);

/* Writes the derivative by E, from that by the map, behind the other derivatives. */
void gpnn_fit_rotation_gradient(const struct gpnn_fit_problem *problem, double *gradient);

/* Writes what was learnt to every target's parameters. */
GPNN_MUST_CHECK enum gpnn_status gpnn_fit_rotation_finish(struct gpnn_fit_problem *problem,
                                                          struct gpnn_error *err);
void gpnn_fit_rotation_release(struct gpnn_fit_problem *problem);

#endif
