/*
 * answer: gpnn-answer, from its arguments to the table of answers.
 */
#ifndef GPNN_CMD_ANSWER_ANSWER_H
#define GPNN_CMD_ANSWER_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "cotrain/answers.h"

struct answer_arguments {
  const char *params, *target, *id, *ids; /* NULL: not given */
  enum gpnn_report report;
};

#define ANSWER_ARGUMENTS_INIT      \
  {                                \
    .report = GPNN_REPORT_MARGINAL \
  }

/* A struct cli_tool's 'resolve' and 'run'. */
bool answer_resolve(const struct cli *cli, void *arguments);
GPNN_MUST_CHECK enum gpnn_status answer_run(const struct cli *cli, void *arguments,
                                            struct gpnn_error *err);

#endif
