/*
 * tucker_place: where the points of a Tucker model's grid lie, and what its numbers are before they
 * are estimated.
 *
 * Threads: no shared state.
 */
#ifndef GPNN_MODELS_TUCKER_PLACE_H
#define GPNN_MODELS_TUCKER_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/tucker/tucker.h"

/*
 * Places 'm' points for the values of column 'l' of n >= 1 rows x (p numbers each): equally spaced
 * over the values and 'margin' times their range on either side, or at their quantiles, the
 * outermost as far out.  Quantiles that coincide become one.  Writes them to 'points' (m) and
 * returns how many they are, at least 1; a column of one value gets one point.  SIZE_MAX: no
 * memory.
 */
size_t gpnn_tucker_place(size_t n, size_t p, size_t l, const double *x, bool at_quantiles,
                         double margin, size_t m, double *points);

/*
 * Sets everything that is estimated to where it begins (gpnn-methods(7), 17.47): the lengthscales
 * to 1, or the points' distance where that is larger; U_l to eigenvectors of R_l, and a little
 * noise drawn with 'seed', unless the core is diagonal, all noise; rho to 0.  The core becomes 0,
 * or with 'core_scale' > 0 that times normal deviates over the root of their number.  Kernel scale
 * and noise are left alone.  GPNN_ENUMERIC: as gpnn_tucker_matrices_set() after all jitter, which
 * may have grown.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_begin(struct gpnn_tucker *tucker, uint64_t seed,
                                                   double factor, double core_scale,
                                                   struct gpnn_error *err);

#endif
