/*
 * schema_private: what finding a schema's columns and coding rows share.
 */
#ifndef GPNN_TABLE_SCHEMA_PRIVATE_H
#define GPNN_TABLE_SCHEMA_PRIVATE_H

#include "table/schema.h"

/* How many features an input becomes. */
size_t gpnn_schema_width(const struct gpnn_column *column);

/* Sorts the levels that each category has so far into the orders of 'map'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_order_levels(const struct gpnn_schema *schema,
                                                          struct gpnn_columns_map *map,
                                                          struct gpnn_error *err);

#endif
