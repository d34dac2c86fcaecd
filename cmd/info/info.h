/*
 * info: gpnn-info, from its arguments to its output.
 */
#ifndef GPNN_CMD_INFO_INFO_H
#define GPNN_CMD_INFO_INFO_H

#include <stdbool.h>

#include "cmd/common/cli.h"
#include "cmd/common/facts.h"
#include "dataset/dataset.h"

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

/* ---- grid.c, model.c, effects.c -------------------------------------------------------------- */

/* Factors, cells, and what computing with them will cost.  A failure shows in facts_end(). */
void info_put_grid(struct facts *facts, const struct gpnn_dataset *dataset);

/* The model of each target: its family, its numbers, and the arrays behind it.  'path' is that of
 * the file, for messages.  Outcomes as for gpnn_parameters_read_text(). */
GPNN_MUST_CHECK enum gpnn_status info_put_model(struct facts *facts, const char *path,
                                                const struct gpnn_dataset *dataset,
                                                struct gpnn_error *err);

/* A line for each effect of groups: its name, and how many they are.  A failure shows in
 * facts_end(). */
void info_put_effects(struct facts *facts, const struct gpnn_dataset *dataset);

/* Writes the effects of all groups as a table.  GPNN_EMISMATCH: the operand or the parameters have
 * none; other outcomes as for open_files() and gpnn_effects_list(). */
GPNN_MUST_CHECK enum gpnn_status
info_write_effects(const struct cli *cli, const struct info_arguments *a, struct gpnn_error *err);

#endif
