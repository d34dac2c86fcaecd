/*
 * labels: gpnn-fit of targets that hold classes.
 */
#ifndef GPNN_CMD_FIT_LABELS_H
#define GPNN_CMD_FIT_LABELS_H

#include <stddef.h>

#include "cmd/fit/fit.h"
#include "dataset/dataset.h"

/* True if any target of 'dataset' holds classes. */
bool fit_labels_any(const struct gpnn_dataset *dataset);

/* GPNN_EINVAL, with what to do instead, if the options ask for what cannot be done with one of the
 * targets: a likelihood of numbers for classes, or the reverse, or options of the one for the
 * other.
 */
GPNN_MUST_CHECK enum gpnn_status fit_labels_check(const struct cli *cli,
                                                  const struct fit_arguments *a,
                                                  const struct gpnn_dataset *dataset,
                                                  struct gpnn_error *err);

/* Fits target 'target' of 'dataset', which holds classes, choosing whatever was left open. */
GPNN_MUST_CHECK enum gpnn_status fit_labels(const struct cli *cli, const struct fit_arguments *a,
                                            const struct gpnn_dataset *dataset, size_t target,
                                            struct gpnn_parameters *params, struct gpnn_error *err);

#endif
