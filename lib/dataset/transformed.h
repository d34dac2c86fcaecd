/*
 * transformed: a dataset whose targets have been taken through transforms (stats/transform.h), or
 * replaced by pseudo-targets; or whose inputs are seen by their scores (dataset/scores.h).
 *
 * Everything else is shared with the original dataset, which must outlive it.  So a
 * model of a transformed view works as it does of any other, on targets that are more nearly
 * normal; how predictions return to the units of the target is left to likelihood/distribution.h.
 * Memory: a number for each row and each transformed target.
 *
 * A pseudo-target, with a noise variance of its own for each row, makes regression of what is none:
 * with counts it stands for the latent function at the row (likelihood/count.h).  Pseudo-targets
 * are computed with parameters and stored with them (container/state.h).
 *
 * Inputs that are seen by their scores are other numbers, and may be more: a dataset that sees them
 * so has a copy of its rows, whose search is built when asked for, and its scaling standardises
 * rows to what it sees.
 *
 * Threads: a transformed dataset is read-only and may be shared freely.
 */
#ifndef GPNN_DATASET_TRANSFORMED_H
#define GPNN_DATASET_TRANSFORMED_H

#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "stats/transform.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_transformed;

/* Targets that transforms are fitted to; of more, random ones. */
enum { GPNN_TRANSFORMED_SAMPLE = 8192 };

/*
 * Checks that a view, which is not transformed, can be: GPNN_EDATA names the target and a row of
 * the index if a training or calibration target is not positive under log or boxcox; or says that
 * it holds classes, or that rows have known noise variances or offsets, which apply to the target
 * itself and not to a function of it.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_transformed_check(const struct gpnn_dataset *dataset,
                                                        enum gpnn_transform_kind kind,
                                                        struct gpnn_error *err);

/*
 * Fits a transform of a kind other than none to the training targets of a view that is not
 * transformed: its own numbers to a sample, drawn with 'seed', that includes the least and the
 * greatest target; 'mean', 'sd', 'low' and 'high' to all.
 *
 * GPNN_EDATA: as gpnn_transformed_check(), or the targets of the sample are all equal. GPNN_ENOMEM.
 * 'transform' is then untouched.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_transformed_fit(struct gpnn_transform *transform,
                                                      const struct gpnn_dataset *dataset,
                                                      enum gpnn_transform_kind kind, uint64_t seed,
                                                      struct gpnn_error *err);

/* What replaces the target and the noise of a view: n of each, in the units of its parameters;
 * borrowed.  NULL: nothing does. */
struct gpnn_pseudo_targets {
  const double *y, *noise;
};

/* What becomes of a dataset; any of it may be NULL. */
struct gpnn_changes {
  const struct gpnn_transform *const *transforms; /* of the target of each view: copied; NULL or the
                                                     kind none leaves a target as it is */
  const struct gpnn_pseudo_targets *pseudo;       /* of each view, instead of its target */
  const unsigned char *sight; /* d: how inputs are seen (enum gpnn_sight); copied.  All that are not
                                 seen by their value alone have scores */
};

/*
 * Changes a dataset.  Targets must not have been transformed before, if they are to be now, nor
 * inputs been seen by their scores.  Free it with gpnn_transformed_free(), after all that uses its
 * views.
 *
 * GPNN_EDATA names the target and a row of the index: a training or calibration target is not
 * positive under log or boxcox; or rows have known noise variances or offsets, which apply to the
 * target itself and not to a function of it.  GPNN_ENOMEM.  '*transformed' is then not set.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_transformed_new(struct gpnn_transformed **transformed,
                                                      const struct gpnn_dataset *dataset,
                                                      const struct gpnn_changes *changes,
                                                      struct gpnn_error *err);

/* The transformed dataset, in the view of the original: 'y' is transformed if that is the view of a
 * transformed target.  Valid until it is freed. */
const struct gpnn_dataset *gpnn_transformed_dataset(const struct gpnn_transformed *transformed);

/* The view of target 't', valid until the transformed dataset is freed. */
const struct gpnn_dataset *gpnn_transformed_target(const struct gpnn_transformed *transformed,
                                                   size_t t);

/* NULL is allowed. */
void gpnn_transformed_free(struct gpnn_transformed *transformed);

#ifdef __cplusplus
}
#endif

#endif
