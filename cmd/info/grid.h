/*
 * grid: what gpnn-info says about an index of kind grid.
 */
#ifndef GPNN_CMD_INFO_GRID_H
#define GPNN_CMD_INFO_GRID_H

#include "cmd/common/facts.h"
#include "dataset/dataset.h"

/* Factors, cells, and what computing with them will cost.  A failure shows in facts_end(). */
void info_put_grid(struct facts *facts, const struct gpnn_dataset *dataset);

#endif
