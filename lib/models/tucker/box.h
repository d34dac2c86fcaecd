/*
 * tucker_box: the box that the grid of a Tucker model fills, outside which its predictions say
 * little: they fall back to a mean of zero (gpnn-methods(7), equation 17.54).
 *
 * Threads: read-only, may be shared.
 */
#ifndef GPNN_MODELS_TUCKER_BOX_H
#define GPNN_MODELS_TUCKER_BOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "models/model.h"
#include "models/tucker/tucker.h"

/* In standardised units; its bounds belong to it. */
struct gpnn_tucker_box {
  size_t p;
  double low[GPNN_TUCKER_DIMENSIONS], high[GPNN_TUCKER_DIMENSIONS];
};

/* The box of a channel of a model file.  GPNN_EMISMATCH: it is not of this family, or of no model
 * file; GPNN_EFORMAT, GPNN_ENOMEM: as gpnn_tucker_restore(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_box_of(struct gpnn_tucker_box *box,
                                                    const struct gpnn_channel *channel,
                                                    struct gpnn_error *err);

/* True if row 'x' (p numbers) lies outside. */
bool gpnn_tucker_box_excludes(const struct gpnn_tucker_box *box, const double *x);

#endif
