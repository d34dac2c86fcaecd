/*
 * row_weights: gpnn-fit --row-weights: less weight for training rows that the others contradict
 * (estimate/row_weights.h).
 */
#ifndef GPNN_CMD_FIT_ROW_WEIGHTS_H
#define GPNN_CMD_FIT_ROW_WEIGHTS_H

#include <stdbool.h>

#include "cmd/fit/fit.h"

struct gpnn_state;

/* Checks that the weights are not asked for where there are none; as 'resolve' of a tool. */
bool fit_row_weights_resolve(const struct cli *cli, const struct fit_arguments *a);

/* Adds the weights of the rows of 'view' under the parameters found to 'state', if they are asked
 * for or gain enough.  GPNN_EDATA: the rows have known noise variances; and further outcomes as for
 * gpnn_row_weights_gain(). */
GPNN_MUST_CHECK enum gpnn_status
fit_row_weights(const struct cli *cli, const struct fit_arguments *a,
                const struct gpnn_dataset *view, struct gpnn_state *state,
                struct gpnn_parameters *params, struct gpnn_error *err);

#endif
