/*
 * classes: what gpnn-index says about targets that are classes, or could be.
 */
#ifndef GPNN_CMD_INDEX_CLASSES_H
#define GPNN_CMD_INDEX_CLASSES_H

#include "cmd/common/cli.h"
#include "dataset/training.h"

/* Tells which classes have a single row, and hints at --classes where a target of numbers has few
 * different values.  'name' is that of the table. */
void classes_describe(const struct cli *cli, const char *name,
                      const struct gpnn_training *training);

#endif
