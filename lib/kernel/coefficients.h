/*
 * coefficients: the names of the mean's terms, and its coefficients in the table's units.
 */
#ifndef GPNN_KERNEL_COEFFICIENTS_H
#define GPNN_KERNEL_COEFFICIENTS_H

#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/mean.h"
#include "kernel/parameters.h"
#include "stats/moments.h"

/* Names of the mean's terms, the constant first, and how terms and target were standardised:
 * (value - mean) / sd.  A zeroed object may be released. */
struct gpnn_coefficient_units {
  size_t n_terms;
  char **names;               /* owned, n_terms of them; masked */
  struct gpnn_moments *terms; /* owned; n_terms; 0 and 1 for the constant */
  struct gpnn_moments target;
};

/*
 * Fills 'units', which must be zeroed, for 'mean' over 'dataset'.  Terms that are not columns of
 * the table (mixed inputs, coordinates of a point) keep their standardised units.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_coefficient_units_init(struct gpnn_coefficient_units *units,
                                                             const struct gpnn_dataset *dataset,
                                                             enum gpnn_mean mean,
                                                             struct gpnn_error *err);

void gpnn_coefficient_units_release(struct gpnn_coefficient_units *units);

/*
 * Writes the coefficients of params->mean for terms and target in the table's units, and their
 * standard errors, n_terms of each.  The constant is then the mean at the point where every term
 * is zero in the table.  Standard errors are NaN if the coefficients have no covariance.
 * GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_coefficients_in_units(const struct gpnn_parameters *params,
                           const struct gpnn_coefficient_units *units, double *coefficients,
                           double *standard_errors, struct gpnn_error *err);

/*
 * Adds them to the comments of 'params', one line each, such as
 *   # coefficient PTC 0.1432 (standard error 0.0021) in FCH per unit of PTC
 * 'dataset' is the one they were estimated from.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_coefficients_describe(struct gpnn_parameters *params,
                                                            const struct gpnn_dataset *dataset,
                                                            struct gpnn_error *err);

#endif
