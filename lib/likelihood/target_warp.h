/*
 * target_warp: the transform of a target (stats/transform.h) as the warping function of predictive
 * distributions (likelihood/distribution.h), in any units of the target.
 *
 * The target of a distribution is (y - centre) / scale, where y is that of the table; w is what the
 * transform makes of y.  Moments and CRPS are taken over the transform's bounds.
 * Threads: no shared state.
 */
#ifndef GPNN_LIKELIHOOD_TARGET_WARP_H
#define GPNN_LIKELIHOOD_TARGET_WARP_H

#include "likelihood/distribution.h"
#include "stats/transform.h"

struct gpnn_target_warp {
  const struct gpnn_transform *transform; /* borrowed */
  double centre, scale;                   /* of the units; scale > 0 */
};

/* The warping function, which borrows 'target'. */
struct gpnn_warp gpnn_target_warp_function(const struct gpnn_target_warp *target);

#endif
