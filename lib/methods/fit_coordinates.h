/*
 * fit_coordinates: what estimations share: parameters as the numbers an optimiser moves.
 *
 * Parameters are numbered as in gradients: the lengthscales, the kernel scale, the noise variance,
 * the constant of the mean.  All but the last are moved by their logarithms.
 *
 * Private to lib/methods/fit*.c.
 */
#ifndef GPNN_METHODS_FIT_COORDINATES_H
#define GPNN_METHODS_FIT_COORDINATES_H

#include "methods/fit.h"

struct gpnn_fit_coordinates {
  struct gpnn_params *params;
  size_t n;              /* free ones */
  size_t *parameter;     /* owned; which parameter each is */
  double *u;             /* owned; n of each of these: the point, */
  double *lower, *upper; /* and bounds */
  double *gradient;      /* owned; by all parameters: scratch for objectives */
};

/*
 * Takes the free parameters of 'params' at their present values.  'scale' is a typical distance
 * between rows, of which lengthscales keep within four decades: beyond, a kernel is a constant
 * or white noise.  The constant of the mean is free if 'with_constant'.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_fit_coordinates_init(struct gpnn_fit_coordinates *coordinates,
                                                           const struct gpnn_fit_options *options,
                                                           struct gpnn_params *params, double scale,
                                                           bool with_constant,
                                                           struct gpnn_error *err);

/* Sets the parameters from coordinates 'u'. */
void gpnn_fit_coordinates_set(const struct gpnn_fit_coordinates *coordinates, const double *u);

/* From coordinates->gradient to the derivatives by the free coordinates. */
void gpnn_fit_coordinates_gradient(const struct gpnn_fit_coordinates *coordinates,
                                   double *gradient);

double *gpnn_fit_parameter(struct gpnn_params *params, size_t i);

void gpnn_fit_coordinates_release(struct gpnn_fit_coordinates *coordinates);

/* ---- the stages of gpnn_fit(), which start from the values in 'params' -------------------- */

GPNN_MUST_CHECK enum gpnn_status gpnn_fit_blocks(const struct gpnn_index_contents *contents,
                                                 const struct gpnn_fit_options *options,
                                                 double scale, struct gpnn_params *params,
                                                 struct gpnn_fit_report *report,
                                                 struct gpnn_error *err);

GPNN_MUST_CHECK enum gpnn_status gpnn_fit_neighbourhoods(const struct gpnn_index_contents *contents,
                                                         const struct gpnn_fit_options *options,
                                                         enum gpnn_objective_kind kind,
                                                         double scale, struct gpnn_params *params,
                                                         struct gpnn_fit_report *report,
                                                         struct gpnn_error *err);

#endif
