/*
 * collapsed_fit: the whole estimation of a model of inducing points with the optimal distribution
 * of their values (models/inducing/collapsed/collapsed.h): kernel and lengthscales from a sample
 * of the rows, inducing points from the rows under that kernel, and kernel scale, noise variance
 * and posterior from one pass over all rows (gpnn-methods(7), equations 17.1 to 17.7).
 *
 * Threads: results do not depend on their number.
 */
#ifndef GPNN_MODELS_INDUCING_COLLAPSED_FIT_H
#define GPNN_MODELS_INDUCING_COLLAPSED_FIT_H

#include <stddef.h>

#include "base/status.h"
#include "container/state.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"
#include "models/inducing/choose.h"
#include "models/inducing/collapsed/start.h"

struct gpnn_collapsed_options {
  struct gpnn_collapsed_start_options start; /* with seed and threads of everything */
  size_t inducing;                           /* points, at least 1 */
  enum gpnn_inducing_how how;                /* they are chosen */
  const double *z;                           /* or the points themselves: inducing by d; NULL */
  size_t steps; /* evaluations of the bound of all rows, to improve the lengthscales; 0: none */
};

/* What users get without options. */
struct gpnn_collapsed_options gpnn_collapsed_default_options(void);

struct gpnn_collapsed_report {
  size_t evaluations; /* of the sample's bound */
  size_t inducing;    /* distinct points */
  size_t rank;        /* of what they explain */
  double bound;       /* of all rows */
};

/*
 * Estimates the target of a view (dataset/dataset.h).  'params', zeroed, get family, covariance,
 * GPNN_LIKELIHOOD_LOCAL and the number of rows; 'arrays' those of models/inducing/inducing.h.
 * Outcomes as for gpnn_collapsed_start(), gpnn_inducing_choose() and gpnn_collapsed_posterior();
 * the caller releases both, also after a failure.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_collapsed_fit(const struct gpnn_dataset *view, const struct gpnn_collapsed_options *options,
                   struct gpnn_parameters *params, struct gpnn_state *arrays,
                   struct gpnn_collapsed_report *report, struct gpnn_error *err);

#endif
