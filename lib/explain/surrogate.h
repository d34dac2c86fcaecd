/*
 * surrogate: a model's function at many points together: its mean, and draws of it.
 *
 * Whatever is computed from a function at points, be it an effect or an index, is computed of each
 * draw, and the spread of the results says how well it is known: errors of nearby points are alike,
 * so that differences between them are known better than they are.  Values are those of the
 * function without noise in the units of the target; of counts, of the logarithm of their mean.
 * Threads: those of the model; no result depends on their number.
 */
#ifndef GPNN_EXPLAIN_SURROGATE_H
#define GPNN_EXPLAIN_SURROGATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/model.h"

/* Points and the function there.  A zeroed object is empty and may be released. */
struct gpnn_surrogate {
  size_t n, n_draws;
  double *x;                  /* n by d, standardised: to be filled in by the caller */
  double *regressors;         /* n by n_regressors, likewise; NULL: the mean function has none */
  double *mean;               /* n */
  double *draws;              /* n by n_draws */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* Makes room for 'n' points of a model with one channel.  GPNN_EDATA: its target holds classes.
 * GPNN_ENOMEM.  'surrogate' must be zeroed; the caller releases it, also after a failure. */
GPNN_MUST_CHECK enum gpnn_status gpnn_surrogate_new(struct gpnn_surrogate *surrogate,
                                                    const struct gpnn_model *model, size_t n,
                                                    size_t n_draws, struct gpnn_error *err);

/* Finds 'mean' and 'draws' at the points, drawn with 'seed' (gpnn_joint_draw(), which says when
 * they are exact).  Outcomes as for gpnn_predict() and gpnn_joint_draw(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_surrogate_evaluate(struct gpnn_surrogate *surrogate,
                                                         const struct gpnn_model *model,
                                                         uint64_t seed, struct gpnn_error *err);

void gpnn_surrogate_release(struct gpnn_surrogate *surrogate);

/* The ends of the central interval of probability 'level' of 'n' > 0 numbers, which are sorted:
 * quantiles, with linear interpolation. */
void gpnn_surrogate_interval(size_t n, double *values, double level, double *lower, double *upper);

#endif
