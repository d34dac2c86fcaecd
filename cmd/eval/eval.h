/*
 * eval: gpnn-eval, from its arguments to its output.
 */
#ifndef GPNN_CMD_EVAL_EVAL_H
#define GPNN_CMD_EVAL_EVAL_H

#include <stddef.h>

#include "cmd/common/cli.h"
#include "cmd/eval/scores.h"
#include "table/predictions.h"

struct eval_arguments {
  struct gpnn_predictions_wanted columns;
  const char *by, *index; /* NULL: not given */
  size_t bins;            /* 0: not given */
  struct cli_probabilities levels, interval;
  struct scores_form form; /* --table and --json; eval_resolve() fills in the rest */
};

/* Checks and completes the arguments: a struct cli_tool's 'resolve'. */
bool eval_resolve(const struct cli *cli, void *arguments);

/* Scores: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status eval_run(const struct cli *cli, void *arguments,
                                          struct gpnn_error *err);

#endif
