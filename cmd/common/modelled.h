/*
 * modelled: the targets of an index that a tool makes a model file of (lib/models/model_file.h),
 * and their names in its parameters.
 */
#ifndef GPNN_CMD_COMMON_MODELLED_H
#define GPNN_CMD_COMMON_MODELLED_H

#include <stddef.h>

#include "dataset/index/index.h"
#include "kernel/parameters.h"

/*
 * The views of the targets that 'names' lists, with commas between and in this order; NULL: of all.
 * '*views' ('*n' of them, which the index owns) is the caller's to free.
 *
 *   GPNN_EINVAL    a name is no target's, or there twice
 *   GPNN_EMISMATCH the index is a grid, for which 'advice' says what to do, or a model file
 *   GPNN_EDATA     a target holds classes or has an exposure; rows have offsets, effects of groups
 *                  or noise variances of their own; or there are regressors: model files have none
 *                  of these
 *   GPNN_ENOMEM    nothing has been set, after any failure
 */
GPNN_MUST_CHECK enum gpnn_status modelled_targets(const struct gpnn_index *index, const char *names,
                                                  const char *advice, size_t *n,
                                                  const struct gpnn_dataset ***views,
                                                  struct gpnn_error *err);

/* Gives parameters the name of the target of 'view' where the index, 'dataset', has several; for
 * the only one any name would do.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status modelled_name_target(const struct gpnn_dataset *dataset,
                                                      const struct gpnn_dataset *view,
                                                      struct gpnn_parameters *params,
                                                      struct gpnn_error *err);

#endif
