/*
 * sight: how processes see their inputs, by value, by score or both (dataset/scores.h), and how
 * those that see them differently are brought to see them alike.
 *
 * A model has one set of rows for all its targets and members.  So a process that does not see what
 * another sees gets a lengthscale for it at which no distance counts.
 *
 * Threads: no shared state.
 */
#ifndef GPNN_KERNEL_SIGHT_H
#define GPNN_KERNEL_SIGHT_H

#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The lengthscale of what a process does not see: so long that the part of a squared distance that
 * it scales is less than the rounding of others.  Estimations leave it as it is. */
#define GPNN_SIGHT_UNSEEN 1e10

struct gpnn_dataset;    /* dataset/dataset.h */
struct gpnn_parameters; /* kernel/parameters.h */

/* Records in parameters, of which nothing else is set yet, how 'dataset', from which they are to be
 * estimated, sees its inputs.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sight_record(struct gpnn_parameters *params,
                                                   const struct gpnn_dataset *dataset,
                                                   struct gpnn_error *err);

/*
 * Lets the parameters of 'n' targets, with their members, see the inputs of 'dataset', an index,
 * alike: each sees all that any of them sees, but only what it saw before counts.  Nothing changes
 * where they do already.  Predictions are the same but for rounding.
 *
 * GPNN_EMISMATCH: they are of another number of inputs, or of scores that inputs do not have.
 * GPNN_ENOMEM: the parameters can only be released.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_sight_agree(size_t n, struct gpnn_parameters *params,
                                                  const struct gpnn_dataset *dataset,
                                                  struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
