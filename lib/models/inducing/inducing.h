/*
 * inducing: the model that predicts from inducing points, for the families collapsed, diag and
 * augmented: the covariances k of a row with the points decide everything (gpnn-methods(7),
 * equation 17.3).  The points of an augmented model are its training rows, and those that another's
 * model was asked about (cotrain/fusion.h).  Families may differ from channel to channel.
 *
 * The arrays of a target in the model file (dataset/stored.h):
 *
 *   inducing   m by d: the points, in standardised units, one after another
 *   weights    m: the mean is k'weights
 *   root       collapsed, augmented: rank by m, rank <= m: the variance is kernelscale - |root k|^2
 *   rho        diag: m: the variance is kernelscale - k'B^-1 k with B = Kuu + diag(exp(rho))
 */
#ifndef GPNN_MODELS_INDUCING_INDUCING_H
#define GPNN_MODELS_INDUCING_INDUCING_H

#include <stddef.h>

#include "base/status.h"
#include "container/state.h"
#include "models/model.h"

#define GPNN_INDUCING_POINTS "inducing"
#define GPNN_INDUCING_WEIGHTS "weights"
#define GPNN_INDUCING_ROOT "root"
#define GPNN_INDUCING_RHO "rho"

extern const struct gpnn_model_ops gpnn_inducing_ops;

/* The arrays of a collapsed or an augmented model; borrowed. */
struct gpnn_inducing_arrays {
  size_t m, d, rank;
  const double *points, *weights, *root;
};

/* Adds them to a state.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_inducing_keep(const struct gpnn_inducing_arrays *model,
                                                    const char *target, struct gpnn_state *arrays,
                                                    struct gpnn_error *err);

#endif
