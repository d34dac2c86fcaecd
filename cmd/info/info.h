/*
 * info: gpnn-info, from its arguments to its output.
 */
#ifndef GPNN_CMD_INFO_INFO_H
#define GPNN_CMD_INFO_INFO_H

#include <stdbool.h>

#include "cmd/common/cli.h"

struct info_arguments {
  const char *effects; /* parameters whose effects to write; NULL: none */
  bool verify, json, unpack;
  bool is_index; /* info_resolve() finds out */
};

/* Checks and completes the arguments: a struct cli_tool's 'resolve'. */
bool info_resolve(const struct cli *cli, void *arguments);

/* Describes the file: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status info_run(const struct cli *cli, void *arguments,
                                          struct gpnn_error *err);

#endif
