/*
 * The times of a wide table, from the names of its columns.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "dataset/grid/grid_private.h"
#include "table/columns.h"
#include "table/date.h"

/* ---- which columns ------------------------------------------------------------------------- */

/* Marks the columns of a LIST, which may be NULL. */
static enum gpnn_status mark(const struct gpnn_table *table, const char *list, bool *marked,
                             struct gpnn_error *err)
{
  size_t *columns = NULL, n = 0;
  if (list == NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_columns_find_list(table, list, &columns, &n, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    char shown[GPNN_COLUMN_BYTES];
    if (marked[columns[i]])
      status = gpnn_fail(err, GPNN_EINVAL, "%s: %s has another role already",
                         gpnn_table_name(table), gpnn_columns_describe(table, columns[i], shown));
    marked[columns[i]] = true;
  }
  free(columns);
  return status;
}

/* Lists the columns that are times: those asked for, or all without another role. */
static enum gpnn_status list_times(struct gpnn_grid_reading *reading,
                                   const struct gpnn_table *table,
                                   const struct gpnn_grid_roles *roles, struct gpnn_error *err)
{
  size_t n = gpnn_table_columns(table);
  bool *taken = gpnn_alloc(n, 1, sizeof *taken);
  if (taken == NULL) return gpnn_fail_memory(err, "for the columns");
  for (size_t i = 0; i < reading->axis[0].n_columns; i++) taken[reading->map.inputs[i]] = true;
  enum gpnn_status status = mark(table, roles->drop, taken, err);
  if (status == GPNN_OK && roles->times != NULL) {
    status = mark(table, roles->times, taken, err);
    if (status == GPNN_OK)
      status = gpnn_columns_find_list(table, roles->times, &reading->times, &reading->n_times, err);
  } else if (status == GPNN_OK) {
    reading->times = gpnn_alloc(n, 1, sizeof *reading->times);
    if (reading->times == NULL) status = gpnn_fail_memory(err, "for the columns");
    for (size_t j = 0; j < n && status == GPNN_OK; j++)
      if (!taken[j]) reading->times[reading->n_times++] = j;
  }
  free(taken);
  if (status == GPNN_OK && reading->n_times < 2)
    status = gpnn_fail(err, GPNN_EINVAL,
                       "%s: has %zu column%s besides those of the site, but a grid needs two times",
                       gpnn_table_name(table), reading->n_times, reading->n_times == 1 ? "" : "s");
  return status;
}

/* ---- what their names say ------------------------------------------------------------------ */

/* The part of each name between what all begin and end with, without cutting into a number. */
static void find_common(const struct gpnn_grid_reading *reading, const struct gpnn_table *table,
                        size_t *prefix, size_t *suffix)
{
  const char *first = gpnn_table_column(table, reading->times[0]);
  size_t length = strlen(first), before = length, after = length;
  for (size_t t = 1; t < reading->n_times; t++) {
    const char *name = gpnn_table_column(table, reading->times[t]);
    size_t own = strlen(name), same = 0;
    while (same < before && name[same] == first[same]) same++; /* a NUL differs from any byte */
    before = same;
    same = 0;
    while (same < after && same < own && name[own - 1 - same] == first[length - 1 - same]) same++;
    after = same;
  }
  while (before > 0 && strchr("0123456789.+-", first[before - 1]) != NULL) before--;
  while (after > 0 && strchr("0123456789.", first[length - after]) != NULL) after--;
  *prefix = before;
  *suffix = after;
}

static bool read_number(const char *name, size_t prefix, size_t suffix, double *x)
{
  size_t length = strlen(name);
  if (length <= prefix + suffix) return false;
  length -= prefix + suffix;
  return gpnn_number_read(name + prefix, length, x) == GPNN_NUMBER_OK;
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static enum gpnn_status are_distinct(size_t n, const double *x, bool *distinct,
                                     struct gpnn_error *err)
{
  double *sorted = gpnn_alloc(n, 1, sizeof *sorted);
  if (sorted == NULL) return gpnn_fail_memory(err, "for the times");
  memcpy(sorted, x, n * sizeof *x);
  qsort(sorted, n, sizeof *sorted, compare);
  *distinct = true;
  for (size_t i = 1; i < n; i++) *distinct = *distinct && sorted[i] != sorted[i - 1];
  free(sorted);
  return GPNN_OK;
}

/* Reads all names as numbers, as dates, or as numbers that differ between texts that do not; false
 * if they are neither. */
static bool read_times(const struct gpnn_grid_reading *reading, const struct gpnn_table *table,
                       double *x, bool *are_dates)
{
  size_t prefix, suffix;
  bool numbers = true, within = true;
  *are_dates = true;
  find_common(reading, table, &prefix, &suffix);
  for (size_t t = 0; t < reading->n_times; t++)
    numbers = numbers && read_number(gpnn_table_column(table, reading->times[t]), 0, 0, &x[t]);
  for (size_t t = 0; t < reading->n_times && !numbers; t++) {
    const char *name = gpnn_table_column(table, reading->times[t]);
    *are_dates =
        *are_dates && gpnn_date_read(GPNN_DATE_ISO, name, strlen(name), &x[t]) == GPNN_DATE_OK;
  }
  *are_dates = *are_dates && !numbers;
  for (size_t t = 0; t < reading->n_times && !numbers && !*are_dates; t++)
    within =
        within && read_number(gpnn_table_column(table, reading->times[t]), prefix, suffix, &x[t]);
  for (size_t t = 0; t < reading->n_times; t++) x[t] += 0.0; /* -0 is the same time as 0 */
  return numbers || *are_dates || within;
}

/* ---- the schema ---------------------------------------------------------------------------- */

static enum gpnn_status set_name(struct gpnn_column *column, const char *name,
                                 struct gpnn_error *err)
{
  char *copy = gpnn_copy_text(name, strlen(name));
  if (copy == NULL) return gpnn_fail_memory(err, "for the column names");
  free(column->name);
  column->name = copy;
  return GPNN_OK;
}

/* Makes the schema that of a long table: the sites' columns, the time, the target. */
static enum gpnn_status lengthen_schema(struct gpnn_schema *schema,
                                        const struct gpnn_grid_roles *roles, struct gpnn_error *err)
{
  size_t n = schema->n_inputs, capacity = n;
  const char *time = roles->factor[1].columns;
  const char *target = roles->target == NULL ? "value" : roles->target;
  if (!gpnn_grow(&schema->inputs, &capacity, n + 1, sizeof *schema->inputs))
    return gpnn_fail_memory(err, "for the columns");
  schema->inputs[n] = (struct gpnn_column){.position = n};
  schema->n_inputs++;
  enum gpnn_status status = set_name(&schema->inputs[n], time, err);
  if (status == GPNN_OK) status = set_name(&schema->target, target, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    schema->inputs[i].position = i;
    if (strcmp(schema->inputs[i].name, time) == 0 || strcmp(schema->inputs[i].name, target) == 0)
      status = gpnn_fail(
          err, GPNN_EINVAL, "column '%s' is one of the site: call it otherwise with %s",
          schema->inputs[i].name, strcmp(schema->inputs[i].name, time) == 0 ? "--time" : "-y");
  }
  if (status == GPNN_OK && strcmp(time, target) == 0)
    status = gpnn_fail(err, GPNN_EINVAL, "time and target are both called '%s'", time);
  schema->target.position = n + 1;
  schema->target.occurrence = schema->target.n_namesakes = 0;
  schema->n_columns = n + 2;
  return status;
}

/* Makes the names of the columns the levels of the time. */
static enum gpnn_status take_names(struct gpnn_grid_reading *reading,
                                   const struct gpnn_table *table, struct gpnn_error *err)
{
  struct gpnn_column *column = &reading->dataset.schema.inputs[reading->axis[1].first];
  size_t n = reading->n_times;
  column->kind = GPNN_COLUMN_NAMES;
  column->levels = gpnn_alloc(n, 1, sizeof *column->levels);
  column->level_lengths = gpnn_alloc(n, 1, sizeof *column->level_lengths);
  if (column->levels == NULL || column->level_lengths == NULL)
    return gpnn_fail_memory(err, "for the times");
  column->n_levels = n;
  for (size_t t = 0; t < n; t++) {
    const char *name = gpnn_table_column(table, reading->times[t]);
    column->level_lengths[t] = strlen(name);
    column->levels[t] = gpnn_copy_text(name, column->level_lengths[t]);
    if (column->levels[t] == NULL) return gpnn_fail_memory(err, "for the times");
  }
  return GPNN_OK;
}

/* Finds out what the times are, and makes them the levels of the second factor. */
static enum gpnn_status set_times(struct gpnn_grid_reading *reading, const struct gpnn_table *table,
                                  struct gpnn_error *err)
{
  struct gpnn_grid_axis *axis = &reading->axis[1];
  bool are_dates = false, are_numbers = false;
  enum gpnn_status status = gpnn_grid_reading_grow(axis, reading->n_times, err);
  if (status != GPNN_OK) return status;
  axis->n = reading->n_times;
  if (!axis->has_names && read_times(reading, table, axis->x, &are_dates))
    status = are_distinct(axis->n, axis->x, &are_numbers, err);
  axis->is_decided = true;
  axis->has_names = !are_numbers;
  if (status != GPNN_OK) return status;
  if (axis->has_names && axis->n > GPNN_NAMES_MAX)
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: the names of its columns are no numbers, and there are more than %d",
                     gpnn_table_name(table), GPNN_NAMES_MAX);
  if (axis->has_names) return take_names(reading, table, err);
  if (!are_dates) return GPNN_OK;
  struct gpnn_column *column = &reading->dataset.schema.inputs[axis->first];
  column->date = gpnn_copy_text(GPNN_DATE_ISO, strlen(GPNN_DATE_ISO));
  return column->date == NULL ? gpnn_fail_memory(err, "for the times") : GPNN_OK;
}

enum gpnn_status gpnn_grid_reading_find_times(struct gpnn_grid_reading *reading,
                                              const struct gpnn_table *table,
                                              const struct gpnn_grid_roles *roles,
                                              struct gpnn_error *err)
{
  enum gpnn_status status = list_times(reading, table, roles, err);
  if (status == GPNN_OK) status = lengthen_schema(&reading->dataset.schema, roles, err);
  return status == GPNN_OK ? set_times(reading, table, err) : status;
}
