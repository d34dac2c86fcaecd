/*
 * tucker_tune: lengthscales of a Tucker model, and the covariance of its grid's values, while core
 * and whitened factors stay (gpnn-methods(7), equation 17.48).
 *
 * Threads: those of the data share the rows; results do not depend on their number.
 */
#ifndef GPNN_MODELS_TUCKER_TUNE_H
#define GPNN_MODELS_TUCKER_TUNE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/tucker/bound.h"
#include "models/tucker/rows.h"
#include "models/tucker/tucker.h"

/* Which lengthscales are equal. */
struct gpnn_tucker_groups {
  size_t n;
  const uint32_t *group; /* p: that of each dimension */
};

/* Limits of lengthscales: of the points' distance, and of their range. */
#define GPNN_TUCKER_SHORTEST 0.5
#define GPNN_TUCKER_LONGEST 20

/* Bounds of every number of a tucker's (n_numbers each), within which estimates stay. */
void gpnn_tucker_limits(const struct gpnn_tucker *tucker, double *lower, double *upper);

/* Those of the log lengthscale of one dimension alone. */
void gpnn_tucker_limit_lengthscale(const struct gpnn_tucker *tucker, size_t l, double *lower,
                                   double *upper);

/* What is estimated. */
enum gpnn_tucker_tuned {
  GPNN_TUCKER_TUNED_LENGTHSCALES, /* one for each group, by how well the mean fits: as if the
                                     covariance were the prior's.  (Where the grid has more points
                                     than there are rows, the covariance would make them too long.)
                                   */
  GPNN_TUCKER_TUNED_COVARIANCE,   /* rho, of a model that has a covariance */
};

/*
 * Raises the bound of the rows of 'data' by at most 'most' evaluations of it.  As lengthscales
 * change, so do the factors U_l with R_l = L L', so that L'U_l stays: that belongs to the prior at
 * any lengthscale, and lets them move.  Failures are those of the bound, and GPNN_EEXTERNAL of
 * linalg/optimize.h; the tucker is then as before.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_tucker_tune(struct gpnn_tucker_bound *bound, struct gpnn_tucker *tucker,
                 const struct gpnn_tucker_data *data, const struct gpnn_tucker_groups *groups,
                 enum gpnn_tucker_tuned what, size_t most, struct gpnn_error *err);

#endif
