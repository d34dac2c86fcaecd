/*
 * ask: gpnn-ask, from its arguments to the ids of the rows to ask about.
 */
#ifndef GPNN_CMD_ASK_ASK_H
#define GPNN_CMD_ASK_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "cotrain/ask.h"

struct ask_arguments {
  const char *params, *target, *id, *asked; /* NULL: not given */
  size_t count;
  enum gpnn_ask_strategy strategy;
};

#define ASK_ARGUMENTS_INIT \
  {                        \
    .count = 25            \
  }

/* A struct cli_tool's 'resolve' and 'run'. */
bool ask_resolve(const struct cli *cli, void *arguments);
GPNN_MUST_CHECK enum gpnn_status ask_run(const struct cli *cli, void *arguments,
                                         struct gpnn_error *err);

#endif
