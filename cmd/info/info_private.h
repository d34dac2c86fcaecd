/*
 * info_private: what gpnn-info says of grids (grid.c) and of models that need no training rows
 * (model.c).
 */
#ifndef GPNN_CMD_INFO_INFO_PRIVATE_H
#define GPNN_CMD_INFO_INFO_PRIVATE_H

#include "cmd/common/facts.h"
#include "dataset/dataset.h"

/* Factors, cells, and what computing with them will cost.  A failure shows in facts_end(). */
void info_put_grid(struct facts *facts, const struct gpnn_dataset *dataset);

/* The model of each target: its family, its numbers, and the arrays behind it.  'path' is that of
 * the file, for messages.  Outcomes as for gpnn_parameters_read_text(). */
GPNN_MUST_CHECK enum gpnn_status info_put_model(struct facts *facts, const char *path,
                                                const struct gpnn_dataset *dataset,
                                                struct gpnn_error *err);

#endif
