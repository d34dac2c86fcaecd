/*
 * tucker_descend: all numbers of a Tucker model at once, by gradients from random batches of rows,
 * as published (gpnn-methods(7), equation 17.27).  Least squares in turn (tucker_als.h) need a
 * small part of the time, and end higher.
 *
 * Threads: those of the data share the rows of a batch; results do not depend on their number.
 */
#ifndef GPNN_MODELS_TUCKER_DESCEND_H
#define GPNN_MODELS_TUCKER_DESCEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/tucker/bound.h"
#include "models/tucker/rows.h"
#include "models/tucker/tucker.h"
#include "models/tucker/tune.h"

struct gpnn_tucker_descent {
  bool adam; /* with a rate that falls to zero; false: Adagrad */
  size_t n_steps, n_batch;
  double rate;
  bool frees_noise, frees_kernelscale;
  uint64_t seed;
  /* Called after every hundredth of the steps with what the batch says, if not NULL. */
  void (*progress)(void *context, size_t step, const struct gpnn_tucker_value *value);
  void *progress_context;
};

/* Takes the steps from the tucker's numbers, which become the last ones.  'data' are all rows, at
 * least 1; batches are drawn from them with replacement.  Failures are those of the bound; the
 * numbers are then anything. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_tucker_descend(struct gpnn_tucker_bound *bound, struct gpnn_tucker *tucker,
                    const struct gpnn_tucker_data *data, const struct gpnn_tucker_groups *groups,
                    const struct gpnn_tucker_descent *descent, struct gpnn_error *err);

#endif
