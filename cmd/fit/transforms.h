/*
 * transforms: the transforms of the targets that gpnn-fit fits.
 */
#ifndef GPNN_CMD_FIT_TRANSFORMS_H
#define GPNN_CMD_FIT_TRANSFORMS_H

#include <stddef.h>

#include "cmd/fit/fit.h"
#include "dataset/transformed.h"
#include "estimate/choose_transform.h"

/* A zeroed object may be released. */
struct fit_transforms {
  const struct gpnn_dataset *dataset;   /* borrowed: the targets as they are */
  struct gpnn_transformed *transformed; /* owned; NULL: no target is */
  size_t first, n;                      /* the targets concerned */
  struct gpnn_transform *of;            /* owned; of all targets; the kind none: not transformed */
};

/* Fits and applies transforms of the kind that the arguments say to the 'n' targets from 'first'
 * on. 'transforms' must be zeroed; the caller releases it, also after a failure. */
GPNN_MUST_CHECK enum gpnn_status fit_transforms_set(struct fit_transforms *transforms,
                                                    const struct fit_arguments *a,
                                                    const struct gpnn_dataset *dataset,
                                                    size_t first, size_t n, struct gpnn_error *err);

/* The same with kinds that are chosen, given the parameters of these targets as they are. */
GPNN_MUST_CHECK enum gpnn_status
fit_transforms_choose(struct fit_transforms *transforms, const struct cli *cli,
                      const struct fit_arguments *a, const struct gpnn_dataset *dataset,
                      size_t first, size_t n, const struct gpnn_parameters *params,
                      struct gpnn_error *err);

/* Decides whether the parameters of transformed targets ('with') predict better than those of the
 * targets as they are ('without'), on the average over the targets that are transformed, and says
 * so in a comment of either. */
GPNN_MUST_CHECK enum gpnn_status
fit_transforms_compare(const struct fit_transforms *transforms, const struct cli *cli,
                       const struct fit_arguments *a, struct gpnn_parameters *without,
                       struct gpnn_parameters *with, bool *pays, struct gpnn_error *err);

/* Records the transforms in the parameters of the targets. */
void fit_transforms_record(const struct fit_transforms *transforms, struct gpnn_parameters *params);

void fit_transforms_release(struct fit_transforms *transforms);

#endif
