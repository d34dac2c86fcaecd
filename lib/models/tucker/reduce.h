/*
 * tucker_reduce: lower ranks for a Tucker model (gpnn-methods(7), equation 17.49).
 */
#ifndef GPNN_MODELS_TUCKER_REDUCE_H
#define GPNN_MODELS_TUCKER_REDUCE_H

#include "base/status.h"
#include "models/tucker/tucker.h"

/*
 * Rotates the factors, in the gauge of (17.46), so that the core's unfolding of each dimension has
 * orthogonal rows, and drops those shorter than 'share' of the longest, with their columns of the
 * factor.  Nothing is done for a diagonal core.  GPNN_ENOMEM, GPNN_ENUMERIC (LAPACK finds no
 * eigenvectors): the tucker may have been rotated, which is the same model.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_reduce(struct gpnn_tucker *tucker, double share,
                                                    struct gpnn_error *err);

#endif
