/*
 * tucker_bound: the bound on the log marginal likelihood that a Tucker model has, and its
 * derivatives by all its numbers (gpnn-methods(7), equations 17.38 to 17.43).
 *
 * Calling sequence: gpnn_tucker_bound_new() for a model's shape; gpnn_tucker_bound_at() for numbers
 * and rows, as often as wanted; gpnn_tucker_bound_free().
 *
 * Threads: those given share the rows; results do not depend on their number.  An object has
 * scratch memory and serves one caller at a time.
 */
#ifndef GPNN_MODELS_TUCKER_BOUND_H
#define GPNN_MODELS_TUCKER_BOUND_H

#include <stddef.h>

#include "base/status.h"
#include "models/tucker/rows.h"
#include "models/tucker/tucker.h"

struct gpnn_tucker_bound;

/* What a model says of rows. */
struct gpnn_tucker_value {
  double bound;     /* (17.38) */
  double squares;   /* sum over rows of the squared residual, with their weight */
  double left;      /* the same of the share of the prior variance that is left (17.36) */
  double quadratic; /* <W, W x_l G_l> */
  double
      shrinkage; /* of the variance that the grid could explain, the share that is left (17.50) */
};

/* Scratch memory for models of this shape and up to 'threads' threads.  GPNN_ENOMEM: '*bound' is
 * not set. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_bound_new(struct gpnn_tucker_bound **bound,
                                                       const struct gpnn_tucker *tucker,
                                                       int threads, struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_tucker_bound_free(struct gpnn_tucker_bound *bound);

/*
 * The value at the tucker's numbers, and unless 'gradient' (n_numbers) is NULL the derivatives of
 * the bound by each of them.  GPNN_ENUMERIC: as gpnn_tucker_matrices_set(), or the bound is not
 * finite.  GPNN_ENOMEM.  Nothing has been set then but 'gradient', which is undefined.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_bound_at(struct gpnn_tucker_bound *bound,
                                                      const struct gpnn_tucker *tucker,
                                                      const struct gpnn_tucker_data *data,
                                                      struct gpnn_tucker_value *value,
                                                      double *gradient, struct gpnn_error *err);

#endif
