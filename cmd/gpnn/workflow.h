/*
 * workflow: gpnn, from its arguments to predictions and report.
 */
#ifndef GPNN_CMD_GPNN_WORKFLOW_H
#define GPNN_CMD_GPNN_WORKFLOW_H

#include <stdbool.h>

#include "cmd/common/cli.h"
#include "cmd/common/skip.h"

struct workflow_arguments {
  const char *save, *update, *forget, *page; /* NULL: not given */
  /* Of options that are handed on as they stand on the command line (struct cli_given); nothing
   * looks at these. */
  const char *handed_on;
  bool classes, append, unique;
  bool force; /* replace a model of another target or other inputs */
  enum skip_bad skip_bad;
};

/* Checks the arguments: a struct cli_tool's 'resolve'. */
bool workflow_resolve(const struct cli *cli, void *arguments);

/* Runs the other tools and reports: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status workflow_run(const struct cli *cli, void *arguments,
                                              struct gpnn_error *err);

#endif
