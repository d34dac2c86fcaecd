/*
 * grid_private: the parts of reading a grid: columns and rows (reading.c), the times of wide tables
 * (wide.c), and what is made of it all (finish.c).
 */
#ifndef GPNN_DATASET_GRID_GRID_PRIVATE_H
#define GPNN_DATASET_GRID_GRID_PRIVATE_H

#include "dataset/grid/reading.h"

/* Finds the columns of a wide table that are times, and makes of the schema, which has the sites'
 * columns as inputs and any column as target, that of a long table.  Outcomes as
 * gpnn_grid_reading_begin(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_reading_find_times(struct gpnn_grid_reading *reading,
                                                              const struct gpnn_table *table,
                                                              const struct gpnn_grid_roles *roles,
                                                              struct gpnn_error *err);

/* Makes room for 'n' levels of an axis. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_reading_grow(struct gpnn_grid_axis *axis, size_t n,
                                                        struct gpnn_error *err);

#endif
