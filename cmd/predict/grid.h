/*
 * grid: what gpnn-predict and gpnn-grid predict do where the index is a grid.
 */
#ifndef GPNN_CMD_PREDICT_GRID_H
#define GPNN_CMD_PREDICT_GRID_H

#include <stdbool.h>

#include "cmd/predict/run.h"

/* Checks and completes the options that concern this, as a struct cli_tool's 'resolve' does. */
bool grid_resolve(const struct cli *cli, struct predict_arguments *arguments);

/* GPNN_EMISMATCH: a grid is wanted, and the index is none.  GPNN_EINVAL: an option is not for
 * grids. */
GPNN_MUST_CHECK enum gpnn_status grid_check(const struct run *run, struct gpnn_error *err);

/* Notes how the grid was solved, and warns if it was not solved to the tolerance. */
void grid_report(const struct run *run);

#endif
