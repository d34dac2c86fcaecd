#include "table/columns.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/number.h"
#include "table/date.h"
#include "table/table_private.h"

static const char *mask(char out[GPNN_MASK_BYTES], const char *name)
{
  return gpnn_mask(out, name, strlen(name));
}

/* ---- columns by name or number ----------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
  const struct gpnn_column_name *left = a, *right = b;
  int order = gpnn_compare_strings(&left->name, &right->name);
  return order != 0 ? order : gpnn_compare_sizes(&left->position, &right->position);
}

enum gpnn_status gpnn_column_lookup_make(struct gpnn_column_lookup *lookup,
                                         const struct gpnn_table *table, struct gpnn_error *err)
{
  size_t n = gpnn_table_columns(table);
  struct gpnn_column_name *sorted = gpnn_alloc(n, 1, sizeof *sorted);
  if (sorted == NULL) return gpnn_fail_memory(err, "for the column names");
  for (size_t j = 0; j < n; j++)
    sorted[j] = (struct gpnn_column_name){gpnn_table_column(table, j), j};
  qsort(sorted, n, sizeof *sorted, compare_names);
  *lookup = (struct gpnn_column_lookup){table, n, sorted};
  return GPNN_OK;
}

void gpnn_column_lookup_release(struct gpnn_column_lookup *lookup)
{
  free(lookup->sorted);
  *lookup = (struct gpnn_column_lookup){0};
}

size_t gpnn_column_lookup_all(const struct gpnn_column_lookup *lookup, const char *name,
                              const struct gpnn_column_name **columns)
{
  size_t low = 0, high = lookup->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(lookup->sorted[middle].name, name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  size_t n = 0;
  while (low + n < lookup->n && strcmp(lookup->sorted[low + n].name, name) == 0) n++;
  *columns = lookup->sorted + low;
  return n;
}

size_t gpnn_column_lookup_count(const struct gpnn_column_lookup *lookup, const char *name,
                                size_t *column)
{
  const struct gpnn_column_name *columns;
  size_t n = gpnn_column_lookup_all(lookup, name, &columns);
  if (n > 0) *column = columns->position;
  return n;
}

static bool same_letter(char a, char b)
{
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * How many letters have to be inserted, deleted, replaced or swapped with the next to turn 'a' into
 * 'b', ignoring case (Wagner and Fischer 1974; Damerau 1964).  A 'b' longer than the rows counts as
 * infinitely far.
 */
static size_t edit_distance(const char *a, const char *b)
{
  enum { LONGEST = 63, ROWS = 3 };
  size_t n_a = strlen(a), n_b = strlen(b), rows[ROWS][LONGEST + 1];
  if (n_b > LONGEST) return SIZE_MAX;
  for (size_t j = 0; j <= n_b; j++) rows[0][j] = j;
  for (size_t i = 1; i <= n_a; i++) {
    size_t *row = rows[i % ROWS];
    const size_t *above = rows[(i - 1) % ROWS], *before = rows[(i + 1) % ROWS];
    row[0] = i;
    for (size_t j = 1; j <= n_b; j++) {
      size_t best = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
      bool are_swapped =
          i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
      if (above[j] + 1 < best) best = above[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      if (are_swapped && before[j - 2] + 1 < best) best = before[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[n_a % ROWS][n_b];
}

/* The column name most similar to 'wanted', or NULL if none is similar enough to suggest. */
static const char *similar_name(const struct gpnn_table *table, const char *wanted)
{
  size_t best = strlen(wanted) / 3 + 1;
  const char *nearest = NULL;
  for (size_t j = 0; j < gpnn_table_columns(table); j++) {
    const char *name = gpnn_table_column(table, j);
    size_t distance = edit_distance(wanted, name);
    if (distance < best) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

static enum gpnn_status fail_unknown(const struct gpnn_table *table, const char *wanted,
                                     struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  mask(shown, wanted);
  uint64_t number;
  bool is_number = gpnn_number_read_u64(wanted, strlen(wanted), &number);
  const char *nearest =
      is_number || !gpnn_table_has_header(table) ? NULL : similar_name(table, wanted);
  if (nearest != NULL) {
    char shown_near[GPNN_MASK_BYTES];
    return gpnn_fail(err, GPNN_EINVAL, "%s: no column '%s' (did you mean '%s'?)",
                     gpnn_table_name(table), shown, mask(shown_near, nearest));
  }
  size_t n = gpnn_table_columns(table);
  return gpnn_fail(err, GPNN_EINVAL, "%s: no column '%s': there %s %zu column%s",
                   gpnn_table_name(table), shown, n == 1 ? "is" : "are", n, n == 1 ? "" : "s");
}

/* Fails with the numbers of the 'n' > 1 columns, as in "2, 5 or 7"; of very many, the first. */
static enum gpnn_status fail_ambiguous(const struct gpnn_table *table, const char *name, size_t n,
                                       const struct gpnn_column_name *columns,
                                       struct gpnn_error *err)
{
  enum { SHOWN = 8 };
  char shown[GPNN_MASK_BYTES], list[200] = "";
  for (size_t i = 0, used = 0; i < n && i < SHOWN; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%zu",
                             i == 0       ? ""
                             : i + 1 == n ? " or "
                                          : ", ",
                             columns[i].position + 1);
  return gpnn_fail(err, GPNN_EINVAL, "%s: %zu columns are named '%s': say which by number, %s%s",
                   gpnn_table_name(table), n, mask(shown, name), list, n > SHOWN ? ", ..." : "");
}

const char *gpnn_columns_describe(const struct gpnn_table *table, size_t column,
                                  char out[GPNN_COLUMN_BYTES])
{
  char shown[GPNN_MASK_BYTES];
  const char *name = gpnn_table_column(table, column);
  size_t n_same = 0;
  for (size_t j = 0; j < gpnn_table_columns(table) && n_same < 2; j++)
    n_same += strcmp(gpnn_table_column(table, j), name) == 0;
  mask(shown, name);
  if (name[0] == '\0')
    snprintf(out, GPNN_COLUMN_BYTES, "column %zu", column + 1);
  else if (n_same > 1)
    snprintf(out, GPNN_COLUMN_BYTES, "column %zu ('%s')", column + 1, shown);
  else
    snprintf(out, GPNN_COLUMN_BYTES, "column '%s'", shown);
  return out;
}

enum gpnn_status gpnn_columns_fail(const struct gpnn_table *table, size_t column, const char *what,
                                   struct gpnn_error *err)
{
  char shown[GPNN_COLUMN_BYTES];
  return gpnn_fail(err, GPNN_EINVAL, "%s: %s %s", gpnn_table_name(table),
                   gpnn_columns_describe(table, column, shown), what);
}

/* Reads text[0..length) as the 1-based number of one of 'n' columns. */
static bool read_column_number(const char *text, size_t length, size_t n, size_t *column)
{
  uint64_t number;
  if (!gpnn_number_read_u64(text, length, &number) || number < 1 || number > n) return false;
  *column = (size_t)number - 1;
  return true;
}

enum gpnn_status gpnn_column_lookup_find(const struct gpnn_column_lookup *lookup,
                                         const char *wanted, size_t *first, size_t *last,
                                         struct gpnn_error *err)
{
  const struct gpnn_table *table = lookup->table;
  size_t begin, end, length = strlen(wanted), n = lookup->n;
  const struct gpnn_column_name *named;
  size_t count = gpnn_column_lookup_all(lookup, wanted, &named);
  const char *dash = last == NULL ? NULL : strchr(wanted, '-');
  if (count == 1) begin = named->position;
  if (count == 1 || read_column_number(wanted, length, n, &begin))
    end = begin;
  else if (count > 1)
    return fail_ambiguous(table, wanted, count, named, err);
  else if (dash == NULL || !read_column_number(wanted, (size_t)(dash - wanted), n, &begin) ||
           !read_column_number(dash + 1, length - (size_t)(dash + 1 - wanted), n, &end) ||
           begin > end)
    return fail_unknown(table, wanted, err);
  *first = begin;
  if (last != NULL) *last = end;
  return GPNN_OK;
}

enum gpnn_status gpnn_columns_find(const struct gpnn_table *table, const char *wanted,
                                   size_t *column, struct gpnn_error *err)
{
  struct gpnn_column_lookup lookup = {0};
  enum gpnn_status status = gpnn_column_lookup_make(&lookup, table, err);
  if (status != GPNN_OK) return status;
  status = gpnn_column_lookup_find(&lookup, wanted, column, NULL, err);
  gpnn_column_lookup_release(&lookup);
  return status;
}

/* Finds the columns of 'items', a LIST in which NULs have replaced the n_items - 1 commas.
 * 'columns' is long enough for all columns of the table. */
static enum gpnn_status find_items(const struct gpnn_column_lookup *lookup, const char *items,
                                   size_t n_items, size_t *columns, size_t *n_columns, bool *seen,
                                   struct gpnn_error *err)
{
  size_t n = 0;
  for (size_t i = 0; i < n_items; i++, items += strlen(items) + 1) {
    size_t first, last;
    enum gpnn_status status = gpnn_column_lookup_find(lookup, items, &first, &last, err);
    if (status != GPNN_OK) return status;
    for (size_t j = first; j <= last; j++) {
      if (seen[j]) return gpnn_columns_fail(lookup->table, j, "is given twice", err);
      seen[j] = true;
      columns[n++] = j;
    }
  }
  *n_columns = n;
  return GPNN_OK;
}

enum gpnn_status gpnn_columns_find_list(const struct gpnn_table *table, const char *list,
                                        size_t **columns, size_t *n_columns, struct gpnn_error *err)
{
  struct gpnn_column_lookup lookup = {0};
  enum gpnn_status status = gpnn_column_lookup_make(&lookup, table, err);
  if (status != GPNN_OK) return status;
  char *items = gpnn_copy_text(list, strlen(list));
  bool *seen = gpnn_alloc(lookup.n, 1, sizeof *seen);
  size_t *found = gpnn_alloc(lookup.n, 1, sizeof *found), n_items = 1;
  if (items == NULL || seen == NULL || found == NULL) {
    status = gpnn_fail_memory(err, "for a list of columns");
    goto out;
  }
  for (char *comma = items; (comma = strchr(comma, ',')) != NULL; n_items++) *comma++ = '\0';
  status = find_items(&lookup, items, n_items, found, n_columns, seen, err);
  if (status == GPNN_OK) {
    *columns = found;
    found = NULL;
  }
out:
  free(found);
  free(seen);
  free(items);
  gpnn_column_lookup_release(&lookup);
  return status;
}

/* ---- fields ---------------------------------------------------------------------------- */

bool gpnn_field_has_word(const struct gpnn_field *field, const char *word)
{
  size_t length = strlen(word);
  for (size_t at = 0; at + length <= field->length; at++) {
    bool begins = at == 0 || field->text[at - 1] == ' ';
    bool ends = at + length == field->length || field->text[at + length] == ' ';
    if (begins && ends && memcmp(field->text + at, word, length) == 0) return true;
  }
  return false;
}

bool gpnn_field_is_missing(const struct gpnn_table *table, const struct gpnn_field *field)
{
  return gpnn_values_missing(gpnn_table_values(table), field->text, field->length);
}

enum gpnn_status gpnn_columns_fail_field(const struct gpnn_table *table,
                                         const struct gpnn_record *record, size_t column,
                                         const char *what, bool shows_text, struct gpnn_error *err)
{
  char shown[GPNN_COLUMN_BYTES], text[GPNN_MASK_BYTES];
  const struct gpnn_field *field = &record->fields[column];
  if (err == NULL) return GPNN_EDATA;
  gpnn_mask(text, field->text, field->length);
  gpnn_fail(err, GPNN_EDATA, "%s%s%zu: %s: %s%s%s%s", gpnn_table_name(table),
            gpnn_table_before_line(table), record->line,
            gpnn_columns_describe(table, column, shown), what, shows_text ? ": \"" : "",
            shows_text ? text : "", shows_text ? "\"" : "");
  err->what = what;
  err->column = column;
  return GPNN_EDATA;
}

enum gpnn_status gpnn_columns_present(const struct gpnn_table *table,
                                      const struct gpnn_record *record, size_t column,
                                      struct gpnn_error *err)
{
  assert(column < record->n_fields);
  return gpnn_field_is_missing(table, &record->fields[column])
             ? gpnn_columns_fail_field(table, record, column, "missing value", false, err)
             : GPNN_OK;
}

enum gpnn_status gpnn_columns_number(const struct gpnn_table *table,
                                     const struct gpnn_record *record, size_t column, double *value,
                                     struct gpnn_error *err)
{
  const struct gpnn_field *field = &record->fields[column];
  const struct gpnn_values *values = gpnn_table_values(table);
  if (gpnn_field_read_plain(values, field, value)) return GPNN_OK;
  /* Missing values first: they may be written as a number, -999 for instance. */
  enum gpnn_status status = gpnn_columns_present(table, record, column, err);
  if (status != GPNN_OK) return status;
  if (record->numbers != NULL && isfinite(record->numbers[column])) {
    *value = record->numbers[column];
    return GPNN_OK;
  }
  switch (gpnn_values_number(values, field->text, field->length, value)) {
  case GPNN_NUMBER_OK:
    return GPNN_OK;
  case GPNN_NUMBER_NOT_FINITE:
    return gpnn_columns_fail_field(table, record, column, "not a finite number", true, err);
  default:
    return gpnn_columns_fail_field(table, record, column, "not a number", true, err);
  }
}

/* Adds to a message about a cell in which form a date was expected. */
static enum gpnn_status expect_format(const char *format, enum gpnn_status status,
                                      struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  if (err == NULL) return status;
  size_t length = strlen(err->text);
  bool is_iso = strcmp(format, GPNN_DATE_ISO) == 0;
  snprintf(err->text + length, sizeof err->text - length, " (expected %s)",
           is_iso ? "ISO 8601, as in 2014-05-02" : mask(shown, format));
  return status;
}

enum gpnn_status gpnn_columns_date(const struct gpnn_table *table, const struct gpnn_record *record,
                                   size_t column, const char *format, double *days,
                                   struct gpnn_error *err)
{
  const struct gpnn_field *field = &record->fields[column];
  enum gpnn_status status = gpnn_columns_present(table, record, column, err);
  if (status != GPNN_OK) return status;
  switch (gpnn_date_read(format, field->text, field->length, days)) {
  case GPNN_DATE_OK:
    return GPNN_OK;
  case GPNN_DATE_IMPOSSIBLE:
    return gpnn_columns_fail_field(table, record, column, "no such date or time", true, err);
  default:
    status = gpnn_columns_fail_field(table, record, column, "not a date", true, err);
    return expect_format(format, status, err);
  }
}

enum gpnn_status gpnn_columns_optional(const struct gpnn_table *table,
                                       const struct gpnn_record *record, size_t column,
                                       double *value, struct gpnn_error *err)
{
  if (column != SIZE_MAX && !gpnn_field_is_missing(table, &record->fields[column]))
    return gpnn_columns_number(table, record, column, value, err);
  *value = NAN;
  return GPNN_OK;
}

enum gpnn_status gpnn_columns_copy(const struct gpnn_table *table, const struct gpnn_record *record,
                                   size_t column, double *value, struct gpnn_error *err)
{
  if (gpnn_field_is_missing(table, &record->fields[column])) {
    *value = NAN;
    return GPNN_OK;
  }
  if (record->numbers == NULL || isnan(record->numbers[column]))
    return gpnn_columns_number(table, record, column, value, err);
  *value = record->numbers[column];
  return GPNN_OK;
}
