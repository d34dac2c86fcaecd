/*
 * summary: one line on what an index was made of.
 */
#ifndef GPNN_CMD_INDEX_SUMMARY_H
#define GPNN_CMD_INDEX_SUMMARY_H

#include "cmd/common/cli.h"
#include "dataset/dataset.h"

/* Says what is predicted from what, and how many rows of the table 'name' there are. */
void summary_say(const struct cli *cli, const char *name, const struct gpnn_dataset *dataset);

#endif
