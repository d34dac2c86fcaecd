/*
 * model: what gpnn-info says about a model file.
 */
#ifndef GPNN_CMD_INFO_MODEL_H
#define GPNN_CMD_INFO_MODEL_H

#include "cmd/common/facts.h"
#include "dataset/dataset.h"

/* The model of each target: its family, its numbers, and the arrays behind it.  'path' is that of
 * the file, for messages.  Outcomes as for gpnn_parameters_read_text(). */
GPNN_MUST_CHECK enum gpnn_status info_put_model(struct facts *facts, const char *path,
                                                const struct gpnn_dataset *dataset,
                                                struct gpnn_error *err);

#endif
