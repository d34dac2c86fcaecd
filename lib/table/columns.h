/*
 * columns: columns by name or number, and their fields as numbers.
 *
 * Columns are asked for by LIST: names or 1-based numbers or ranges of numbers ("2-5"),
 * separated by commas; a name wins over a number.  A column whose name has a comma is
 * asked for by number.
 */
#ifndef GPNN_TABLE_COLUMNS_H
#define GPNN_TABLE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

/*
 * Finds one column by name or number.  GPNN_EINVAL: there is none (the sentence lists near
 * names, or how many columns there are), or the name occurs more than once.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_columns_find(const struct gpnn_table *table,
                                                   const char *wanted, size_t *column,
                                                   struct gpnn_error *err);

/* Finds all columns of a LIST, in the order asked; '*columns' is allocated with malloc and
 * goes to the caller.  A column named twice is refused with GPNN_EINVAL. */
GPNN_MUST_CHECK enum gpnn_status gpnn_columns_find_list(const struct gpnn_table *table,
                                                        const char *list, size_t **columns,
                                                        size_t *n_columns, struct gpnn_error *err);

/* A missing value: the empty field, or the text 'na' (NULL: no such text), blanks around
 * either ignored; where 'na' is a number, any spelling of it. */
bool gpnn_field_is_missing(const struct gpnn_field *field, const char *na);

/*
 * Reads one numeric field of a record.  GPNN_EDATA, with "table:line: column 'name': ...":
 * missing, not a number, or not finite.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_columns_number(const struct gpnn_table *table,
                                                     const struct gpnn_record *record,
                                                     size_t column, const char *na, double *value,
                                                     struct gpnn_error *err);

#endif
