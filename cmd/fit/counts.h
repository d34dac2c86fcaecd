/*
 * counts: gpnn-fit for targets that are counts: regression on pseudo-targets, which are then found
 * again with its parameters (estimate/count_sites.h).
 */
#ifndef GPNN_CMD_FIT_COUNTS_H
#define GPNN_CMD_FIT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/fit/fit.h"

struct gpnn_state;

/* True if the likelihood asked for is one of counts. */
bool fit_asks_for_counts(const struct fit_arguments *a);

/* Refuses to write numbers for every row to a terminal, as cli_refuse(). */
bool fit_check_terminal(const struct cli *cli);

/* Checks the options that counts do not take, and where the result goes; as 'resolve' of a tool. */
bool fit_counts_resolve(const struct cli *cli, struct fit_arguments *a);

/*
 * Fits the parameters of target 't' of 'dataset', and adds its pseudo-targets to 'state'.
 * GPNN_EDATA: its values are not counts; then '*is_counts' is false, and otherwise true.
 */
GPNN_MUST_CHECK enum gpnn_status fit_counts(const struct cli *cli, const struct fit_arguments *a,
                                            const struct gpnn_dataset *dataset, size_t t,
                                            struct gpnn_state *state,
                                            struct gpnn_parameters *params, bool *is_counts,
                                            struct gpnn_error *err);

#endif
