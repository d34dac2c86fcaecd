/*
 * conjugate: gpnn-fit --method conjugate.
 */
#ifndef GPNN_CMD_FIT_CONJUGATE_H
#define GPNN_CMD_FIT_CONJUGATE_H

#include <stddef.h>

#include "cmd/fit/fit.h"
#include "dataset/index.h"

/* Fits target 'target' of 'index'.  Of a->choose only the kernel, the neighbours, the mean and the
 * start are used, if they were given. */
GPNN_MUST_CHECK enum gpnn_status fit_conjugate(const struct cli *cli, const struct fit_arguments *a,
                                               const struct gpnn_index *index, size_t target,
                                               struct gpnn_parameters *params,
                                               struct gpnn_error *err);

#endif
