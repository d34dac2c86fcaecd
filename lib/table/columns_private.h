/*
 * columns_private: looking up columns by name, and messages about columns.
 */
#ifndef GPNN_TABLE_COLUMNS_PRIVATE_H
#define GPNN_TABLE_COLUMNS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

struct gpnn_column_name {
  const char *name; /* the table's */
  size_t position;
};

/* The columns of a table sorted by name, so that a wide table's are found by bisection.  A zeroed
 * object is empty and may be released. */
struct gpnn_column_lookup {
  const struct gpnn_table *table; /* borrowed; outlives the lookup */
  size_t n;
  struct gpnn_column_name *sorted; /* owned; columns of the same name in the table's order */
};

/* GPNN_ENOMEM leaves 'lookup' unchanged. */
GPNN_MUST_CHECK enum gpnn_status gpnn_column_lookup_make(struct gpnn_column_lookup *lookup,
                                                         const struct gpnn_table *table,
                                                         struct gpnn_error *err);
void gpnn_column_lookup_release(struct gpnn_column_lookup *lookup);

/* How many columns are called 'name'; '*columns' points to them, in the table's order. */
size_t gpnn_column_lookup_all(const struct gpnn_column_lookup *lookup, const char *name,
                              const struct gpnn_column_name **columns);

/* The same; '*column' is set to the first, if there is any. */
size_t gpnn_column_lookup_count(const struct gpnn_column_lookup *lookup, const char *name,
                                size_t *column);

/* Finds one column by name or number or, if 'last' is not NULL, a range of them, first to last;
 * outcomes as gpnn_columns_find(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_column_lookup_find(const struct gpnn_column_lookup *lookup,
                                                         const char *wanted, size_t *first,
                                                         size_t *last, struct gpnn_error *err);

/* Fails with "table: column 'name' WHAT" and GPNN_EINVAL. */
enum gpnn_status gpnn_columns_fail(const struct gpnn_table *table, size_t column, const char *what,
                                   struct gpnn_error *err);

#endif
