/*
 * across: the cross-fit that targets are calibrated on; those that share lengthscales share it.
 */
#ifndef GPNN_CMD_CALIBRATE_ACROSS_H
#define GPNN_CMD_CALIBRATE_ACROSS_H

#include <stdbool.h>
#include <stddef.h>

#include "assess/crossfit.h"
#include "cmd/calibrate/calibrate.h"
#include "cmd/common/open.h"

/* Zeroed: none yet. */
struct across {
  size_t first, n; /* the targets that it is of */
  struct gpnn_crossfit *crossfit;
};

/* True if the parameters of 'target' can be estimated again without some of the rows. */
bool across_is_possible(const struct opened *opened, size_t target);

/* Sets '*across' to a cross-fit that 'target' is part of, unless it is that already.  Requires
 * across_is_possible(); outcomes as for gpnn_crossfit_new(). */
GPNN_MUST_CHECK enum gpnn_status across_make(struct across *across, const struct cli *cli,
                                             const struct calibrate_arguments *a,
                                             const struct opened *opened, size_t target,
                                             struct gpnn_error *err);

void across_release(struct across *across);

#endif
