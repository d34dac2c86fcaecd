/*
 * split: gpnn-split, from its arguments to its output.
 */
#ifndef GPNN_CMD_SPLIT_SPLIT_H
#define GPNN_CMD_SPLIT_SPLIT_H

#include <stddef.h>

#include "cmd/common/cli.h"
#include "table/split.h"

struct split_arguments {
  const char *fractions, *by, *order; /* NULL: not given */
  size_t folds;                       /* 0: not given */
  double last;                        /* the fraction of the rows that come last; 0: not given */
  struct cli_list outputs;
  size_t n_parts; /* split_resolve() finds them, and their weights */
  double weights[GPNN_SPLIT_PARTS];
};

/* Checks and completes the arguments: a struct cli_tool's 'resolve'. */
bool split_resolve(const struct cli *cli, void *arguments);

/* Splits: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status split_run(const struct cli *cli, void *arguments,
                                           struct gpnn_error *err);

#endif
