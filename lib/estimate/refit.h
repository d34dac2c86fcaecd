/*
 * refit: estimates the parameters of a local model, or of a stack of them, again without some rows,
 * which can then be predicted as if they were new (assess/crossfit.h).
 */
#ifndef GPNN_ESTIMATE_REFIT_H
#define GPNN_ESTIMATE_REFIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True if the parameters of all 'n' > 0 channels are of local models or stacks of them, and record
 * how they were estimated (struct gpnn_estimation). */
bool gpnn_channels_can_refit(size_t n, const struct gpnn_channel *channels);

/*
 * Estimates the parameters of 'n' > 0 channels of one dataset again, in the same way (but with
 * fewer steps where more than 2000 rows make them certain, gpnn-methods(7), equation 8.19) and
 * without 'n_excluded' training rows, whose numbers 'excluded' has in ascending order.  What the
 * user fixed stays as it is, as do kernel, number of neighbours, the likelihood with its scale, and
 * the weights of the members of a stack, which come from rows that had no part in the members'
 * fits; nothing else depends on the given values, in which the excluded rows have left their
 * traces.  Channels that share their lengthscales are estimated together.
 *
 * 'params' has n zeroed entries; the caller releases them even after a failure.  The result does
 * not depend on the number of threads.  Requires gpnn_channels_can_refit().  GPNN_EDATA: fewer than
 * two rows remain, or the terms of the mean are collinear without the others; further outcomes as
 * gpnn_fit() has them (estimate/fit.h).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_channels_refit(size_t n, const struct gpnn_channel *channels,
                                                     int threads, size_t n_excluded,
                                                     const uint64_t *excluded,
                                                     struct gpnn_parameters *params,
                                                     struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
