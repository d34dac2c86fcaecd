/*
 * eval: gpnn-eval, from its arguments to its output.
 */
#ifndef GPNN_CMD_EVAL_EVAL_H
#define GPNN_CMD_EVAL_EVAL_H

#include <stddef.h>

#include "cmd/common/cli.h"
#include "cmd/eval/scores.h"
#include "table/predictions.h"

/* What a run has that prints scores, for cli_misplaced(). */
enum { EVAL_PRINTS = CLI_OF_OWN };

struct eval_arguments {
  struct gpnn_predictions_wanted columns;
  const char *by, *index, *monitor, *night; /* NULL: not given */
  double days;                              /* the date; monitor_resolve() finds it */
  size_t bins;                              /* 0: not given */
  struct cli_probabilities levels, interval;
  struct scores_form form; /* --table and --json; eval_resolve() fills in the rest */
};

/* Checks and completes the arguments: a struct cli_tool's 'resolve'. */
bool eval_resolve(const struct cli *cli, void *arguments);

/* Scores: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status eval_run(const struct cli *cli, void *arguments,
                                          struct gpnn_error *err);

#endif
