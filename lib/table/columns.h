/*
 * columns: columns by name or number, and their fields as numbers.
 *
 * Users ask for columns by a LIST: names, numbers from 1, or ranges of numbers ("2-5"), separated
 * by commas.  What could be a name or a number is taken for the name, unless several columns have
 * that name.  A column whose name contains a comma, is empty or is that of another column too has
 * to be asked for by its number.  Columns are counted from 0 otherwise.
 */
#ifndef GPNN_TABLE_COLUMNS_H
#define GPNN_TABLE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

/*
 * Finds one column by name or number.  GPNN_EINVAL: there is none (the message suggests a similar
 * name or says how many columns there are), or several have that name (the message has their
 * numbers).  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_columns_find(const struct gpnn_table *table,
                                                   const char *wanted, size_t *column,
                                                   struct gpnn_error *err);

/* Finds all columns of a LIST, in its order.  '*columns' has '*n_columns' >= 1 of them, for the
 * caller to free().  GPNN_EINVAL as gpnn_columns_find(), or a column is asked for twice. */
GPNN_MUST_CHECK enum gpnn_status gpnn_columns_find_list(const struct gpnn_table *table,
                                                        const char *list, size_t **columns,
                                                        size_t *n_columns, struct gpnn_error *err);

enum { GPNN_COLUMN_BYTES = GPNN_MASK_BYTES + 40 };

/* Writes what messages call column 'column' of a table: "column 'lat'"; "column 3" if its name is
 * empty, or "column 3 ('lat')" if another column has that name too.  Returns 'out'. */
const char *gpnn_columns_describe(const struct gpnn_table *table, size_t column,
                                  char out[GPNN_COLUMN_BYTES]);

/* True if the value of a field of 'table' is missing (gpnn_values_missing()). */
bool gpnn_field_is_missing(const struct gpnn_table *table, const struct gpnn_field *field);

/* True if 'word' is one of the words of a field, which have blanks between them. */
bool gpnn_field_has_word(const struct gpnn_field *field, const char *word);

/* GPNN_EDATA, as below: the value in field 'column' (< n_fields) of a record is missing. */
GPNN_MUST_CHECK enum gpnn_status gpnn_columns_present(const struct gpnn_table *table,
                                                      const struct gpnn_record *record,
                                                      size_t column, struct gpnn_error *err);

/*
 * Reads the number in field 'column' (< n_fields) of a record.  GPNN_EDATA, with
 * "table:line: column 'name': ...": the value is missing, not a number, or not finite.  'err' then
 * has 'what' and 'column' set too (base/status.h).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_columns_number(const struct gpnn_table *table,
                                                     const struct gpnn_record *record,
                                                     size_t column, double *value,
                                                     struct gpnn_error *err);

/* The same, but NaN if the value is missing, or if there is no such column: 'column' is SIZE_MAX.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_columns_optional(const struct gpnn_table *table,
                                                       const struct gpnn_record *record,
                                                       size_t column, double *value,
                                                       struct gpnn_error *err);

/* The same for a value that is only copied: NaN if it is missing, and of a .npy file any number. */
GPNN_MUST_CHECK enum gpnn_status gpnn_columns_copy(const struct gpnn_table *table,
                                                   const struct gpnn_record *record, size_t column,
                                                   double *value, struct gpnn_error *err);

/* Reads the date in field 'column' as days (table/date.h).  GPNN_EDATA as gpnn_columns_number(): it
 * is missing, is not in 'format', or there is no such day or time. */
GPNN_MUST_CHECK enum gpnn_status gpnn_columns_date(const struct gpnn_table *table,
                                                   const struct gpnn_record *record, size_t column,
                                                   const char *format, double *days,
                                                   struct gpnn_error *err);

/* Fails with "table:line: column 'name': WHAT", the column as gpnn_columns_describe() has it, and
 * GPNN_EDATA, followed by the field's text if 'shows_text'.  'what' is static text, which 'err'
 * keeps a pointer to. */
GPNN_MUST_CHECK enum gpnn_status gpnn_columns_fail_field(const struct gpnn_table *table,
                                                         const struct gpnn_record *record,
                                                         size_t column, const char *what,
                                                         bool shows_text, struct gpnn_error *err);

#endif
