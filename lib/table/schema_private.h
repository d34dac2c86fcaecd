/*
 * schema_private: what schema.c, which finds columns, and schema_encode.c share.
 */
#ifndef GPNN_TABLE_SCHEMA_PRIVATE_H
#define GPNN_TABLE_SCHEMA_PRIVATE_H

#include "table/schema.h"

/* How many features an input is encoded as. */
size_t gpnn_schema_width(const struct gpnn_column *column);

/* Sorts the levels that each category has so far into the orders of 'map', which are empty.
 * GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_order_levels(const struct gpnn_schema *schema,
                                                          struct gpnn_columns_map *map,
                                                          struct gpnn_error *err);

#endif
