/*
 * info_private: what gpnn-info says of grids (grid.c), of models that need no training rows
 * (model.c), and of the effects of groups (effects.c).
 */
#ifndef GPNN_CMD_INFO_INFO_PRIVATE_H
#define GPNN_CMD_INFO_INFO_PRIVATE_H

#include "cmd/common/facts.h"
#include "cmd/info/info.h"
#include "dataset/dataset.h"

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
