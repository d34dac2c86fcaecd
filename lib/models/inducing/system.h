/*
 * inducing_system: the matrix that inducing points are about, Kuu with something added to its
 * diagonal, for whoever wants to look at it or to solve with it.
 *
 * Of the family diag it is B = Kuu + diag(exp(rho)) (models/inducing/inducing.h); of the family
 * collapsed, which has no such numbers, it is Kuu + noise I.
 */
#ifndef GPNN_MODELS_INDUCING_SYSTEM_H
#define GPNN_MODELS_INDUCING_SYSTEM_H

#include <stddef.h>

#include "base/status.h"
#include "models/model.h"

/*
 * Finds the 'm' inducing points 'z' (m by d, row-major; borrowed from the dataset) of a channel
 * whose dataset has 'stored', and makes what is added to the diagonal (m), for the caller to
 * free().  GPNN_EMISMATCH: the family has no inducing points of this kind.  GPNN_EFORMAT: an array
 * is missing, or not as long or in such a range as it must be.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_inducing_system(const struct gpnn_channel *channel, size_t *m,
                                                      const double **z, double **diagonal,
                                                      struct gpnn_error *err);

#endif
