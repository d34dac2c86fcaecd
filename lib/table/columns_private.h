/*
 * columns_directory: looking columns up by name, shared by columns.c and schema.c; not for
 * other modules.
 */
#ifndef GPNN_TABLE_COLUMNS_PRIVATE_H
#define GPNN_TABLE_COLUMNS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

struct gpnn_named {
  const char *name;
  size_t position;
};

/* The columns of a table (borrowed) in the order of their names, so that a wide table's many
 * columns are found in n log n steps. */
struct gpnn_directory {
  const struct gpnn_table *table;
  size_t n;
  struct gpnn_named *sorted; /* owned */
};

GPNN_MUST_CHECK enum gpnn_status gpnn_directory_make(struct gpnn_directory *directory,
                                                     const struct gpnn_table *table,
                                                     struct gpnn_error *err);
void gpnn_directory_release(struct gpnn_directory *directory);

/* How many columns are called 'name'; '*column' is set to the first if there is any. */
size_t gpnn_directory_count(const struct gpnn_directory *directory, const char *name,
                            size_t *column);

/* Finds one column by name or number, or with 'last' not NULL also a range first..last;
 * outcomes as gpnn_columns_find(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_directory_find(const struct gpnn_directory *directory,
                                                     const char *wanted, size_t *first,
                                                     size_t *last, struct gpnn_error *err);

/* "table: column 'name' WHAT", status GPNN_EINVAL. */
enum gpnn_status gpnn_columns_fail(const struct gpnn_table *table, size_t column, const char *what,
                                   struct gpnn_error *err);

/* "table: 2 columns are named 'name'". */
enum gpnn_status gpnn_columns_fail_ambiguous(const struct gpnn_table *table, const char *name,
                                             size_t count, enum gpnn_status status,
                                             struct gpnn_error *err);

/* "table:line: column 'name': WHAT", with the field's text where 'shows_text'; GPNN_EDATA. */
enum gpnn_status gpnn_columns_fail_field(const struct gpnn_table *table,
                                         const struct gpnn_record *record, size_t column,
                                         const char *what, bool shows_text, struct gpnn_error *err);

#endif
