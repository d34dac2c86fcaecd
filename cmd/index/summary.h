/*
 * summary: one line on what an index was made of.
 */
#ifndef GPNN_CMD_INDEX_SUMMARY_H
#define GPNN_CMD_INDEX_SUMMARY_H

#include "cmd/common/cli.h"
#include "dataset/dataset.h"

/* Says what is predicted from what, how many rows of 'table' there are, and which delimiter was
 * assumed. */
void summary_say(const struct cli *cli, const struct gpnn_table *table,
                 const struct gpnn_dataset *dataset);

#endif
