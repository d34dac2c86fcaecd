/*
 * joint: what gpnn-predict writes of several rows together: draws, and sums over groups.  Both need
 * all rows of the table, which then are one batch.
 */
#ifndef GPNN_CMD_PREDICT_JOINT_H
#define GPNN_CMD_PREDICT_JOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/predict/run.h"

/* Checks the options that concern this, as a struct cli_tool's 'resolve' does. */
bool joint_resolve(const struct cli *cli, const struct predict_arguments *arguments);

/* True if all rows have to be one batch. */
bool joint_needs_all(const struct predict_arguments *arguments);

/* GPNN_EINVAL: the targets are of a kind that cannot be added up. */
GPNN_MUST_CHECK enum gpnn_status joint_check_targets(const struct run *run, struct gpnn_error *err);

/* ---- draws -------------------------------------------------------------------------------- */

/* Draws the rows of a batch that is predicted. */
GPNN_MUST_CHECK enum gpnn_status joint_draw(const struct run *run, struct batch *batch,
                                            struct gpnn_error *err);

/* The names of a target's draws, and those of the row whose prediction is entry 'good' (SIZE_MAX:
 * none); nothing if there are no draws. */
GPNN_MUST_CHECK enum gpnn_status joint_write_draw_names(struct run *run, size_t target,
                                                        struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status joint_write_draws(struct run *run, const struct batch *batch,
                                                   size_t target, size_t good,
                                                   struct gpnn_error *err);

/* ---- groups ------------------------------------------------------------------------------- */

/* Writes a line for each group, in the order in which the table begins them. */
GPNN_MUST_CHECK enum gpnn_status joint_write_groups(struct run *run, const struct batch *batch,
                                                    struct gpnn_error *err);

#endif
