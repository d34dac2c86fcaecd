/*
 * fit_coordinates: what estimations share: parameters as the numbers an optimiser moves.
 *
 * Parameters are numbered as in gradients: the lengthscales, the kernel scale, the noise variance,
 * the constant of the mean.  All but the last are moved by their logarithms.  Of several targets
 * the lengthscales are the same and the others each target's own.
 *
 * Private to lib/methods/fit*.c.
 */
#ifndef GPNN_MODELS_LOCAL_FIT_COORDINATES_PRIVATE_H
#define GPNN_MODELS_LOCAL_FIT_COORDINATES_PRIVATE_H

#include "models/local/fit.h"

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
 * gpnn_fit_coordinates_settle() sets what follows from them. */
void gpnn_fit_coordinates_put(const struct gpnn_fit_coordinates *coordinates, size_t i,
                              double value);
void gpnn_fit_coordinates_settle(const struct gpnn_fit_coordinates *coordinates);

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

/* ---- the stages of gpnn_fit_all(), which start from the values in the parameters ----------- */

GPNN_MUST_CHECK enum gpnn_status gpnn_fit_blocks(const struct gpnn_fit_targets *targets,
                                                 const struct gpnn_fit_options *options,
                                                 double scale, struct gpnn_fit_report *report,
                                                 struct gpnn_error *err);

GPNN_MUST_CHECK enum gpnn_status
gpnn_fit_neighbourhoods(const struct gpnn_fit_targets *targets,
                        const struct gpnn_fit_options *options, enum gpnn_objective_kind kind,
                        double scale, struct gpnn_fit_report *report, struct gpnn_error *err);

#endif
