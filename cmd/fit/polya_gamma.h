/*
 * polya_gamma: gpnn-fit --inference polya-gamma.
 */
#ifndef GPNN_CMD_FIT_POLYA_GAMMA_H
#define GPNN_CMD_FIT_POLYA_GAMMA_H

#include "cmd/fit/fit.h"
#include "dataset/index.h"

struct gpnn_state;

/* Fits the classes of target 'target' of the index, reports how, and adds omega to 'state' if it is
 * learnt.  'params' is zeroed. */
GPNN_MUST_CHECK enum gpnn_status
fit_polya_gamma(const struct cli *cli, const struct fit_arguments *a,
                const struct gpnn_index *index, size_t target, struct gpnn_state *state,
                struct gpnn_parameters *params, struct gpnn_error *err);

#endif
