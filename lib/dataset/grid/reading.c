#include "dataset/grid/reading.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/grid/grid_private.h"
#include "table/columns.h"
#include "table/date.h"

static const uint32_t bad_level = UINT32_MAX;

/* ---- columns ------------------------------------------------------------------------------- */

/* Appends the items of a LIST to '*list', which it frees and replaces. */
static enum gpnn_status append_list(char **list, const char *more, struct gpnn_error *err)
{
  size_t length = *list == NULL ? 0 : strlen(*list), n_bytes = length + strlen(more) + 2;
  char *longer = malloc(n_bytes);
  if (longer == NULL) return gpnn_fail_memory(err, "for the columns");
  snprintf(longer, n_bytes, "%s%s%s", *list == NULL ? "" : *list, *list == NULL ? "" : ",", more);
  free(*list);
  *list = longer;
  return GPNN_OK;
}

/* Two factors with one name could not be told apart in parameters. */
static enum gpnn_status check_names(const struct gpnn_grid_roles *roles, struct gpnn_error *err)
{
  for (size_t a = 0; a < roles->n_factors; a++)
    for (size_t b = 0; b < a; b++)
      if (strcmp(roles->factor[a].name, roles->factor[b].name) == 0)
        return gpnn_fail(err, GPNN_EINVAL, "two factors are called '%s'", roles->factor[a].name);
  return GPNN_OK;
}

/* Gives each factor its inputs, and lists all their columns in '*inputs', which the caller frees.
 */
static enum gpnn_status list_inputs(struct gpnn_grid_reading *reading,
                                    const struct gpnn_table *table,
                                    const struct gpnn_grid_roles *roles, char **inputs,
                                    struct gpnn_error *err)
{
  size_t n_inputs = 0, n_in_table = roles->is_wide ? 1 : roles->n_factors;
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < roles->n_factors && status == GPNN_OK; a++) {
    struct gpnn_grid_axis *axis = &reading->axis[a];
    const struct gpnn_grid_factor_roles *factor = &roles->factor[a];
    size_t *columns = NULL;
    axis->first = n_inputs;
    axis->n_columns = 1;
    axis->name = gpnn_copy_text(factor->name, strlen(factor->name));
    if (axis->name == NULL) status = gpnn_fail_memory(err, "for the factors of a grid");
    reading->n_axes = a + 1;
    if (status == GPNN_OK && a < n_in_table)
      status = gpnn_columns_find_list(table, factor->columns, &columns, &axis->n_columns, err);
    if (status == GPNN_OK && a < n_in_table) status = append_list(inputs, factor->columns, err);
    n_inputs += axis->n_columns;
    free(columns);
  }
  return status;
}

/* Any column that can stand for the target of a wide table while its schema is chosen. */
static enum gpnn_status stand_in(const struct gpnn_table *table, const char *sites, char number[32],
                                 struct gpnn_error *err)
{
  size_t *columns = NULL, n = 0, at = 0;
  enum gpnn_status status = gpnn_columns_find_list(table, sites, &columns, &n, err);
  if (status != GPNN_OK) return status;
  for (bool taken = true; taken; at += taken ? 1 : 0) {
    taken = false;
    for (size_t i = 0; i < n; i++) taken = taken || columns[i] == at;
  }
  free(columns);
  if (at >= gpnn_table_columns(table))
    return gpnn_fail(err, GPNN_EINVAL, "%s: all its columns are those of the site: none is a time",
                     gpnn_table_name(table));
  snprintf(number, 32, "%zu", at + 1);
  return GPNN_OK;
}

/* The axis that column 'column' of the table belongs to, or NULL. */
static struct gpnn_grid_axis *find_axis(struct gpnn_grid_reading *reading, size_t column)
{
  size_t n_in_table = reading->is_wide ? 1 : reading->n_axes;
  for (size_t a = 0; a < n_in_table; a++)
    for (size_t j = 0; j < reading->axis[a].n_columns; j++)
      if (reading->map.inputs[reading->axis[a].first + j] == column) return &reading->axis[a];
  return NULL;
}

/* Marks the axis whose only column the user says holds names. */
static enum gpnn_status mark_column(struct gpnn_grid_reading *reading,
                                    const struct gpnn_table *table, size_t column,
                                    struct gpnn_error *err)
{
  char shown[GPNN_COLUMN_BYTES];
  struct gpnn_grid_axis *axis = find_axis(reading, column);
  const char *why = NULL;
  if (axis == NULL)
    why = "it belongs to no factor";
  else if (axis->n_columns > 1)
    why = "its factor has other columns too";
  else if (reading->dataset.schema.inputs[axis->first].date != NULL)
    why = "it is a date";
  else
    axis->has_names = axis->is_decided = true;
  if (why == NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL, "%s: %s cannot be names: %s", gpnn_table_name(table),
                   gpnn_columns_describe(table, column, shown), why);
}

/* The same for an item of a LIST, which may be the name that the times of a wide table will have.
 */
static enum gpnn_status mark_item(struct gpnn_grid_reading *reading, const struct gpnn_table *table,
                                  const char *time, const char *item, struct gpnn_error *err)
{
  size_t *columns = NULL, n = 0;
  if (reading->is_wide && strcmp(item, time) == 0) {
    reading->axis[1].has_names = true;
    return GPNN_OK;
  }
  enum gpnn_status status = gpnn_columns_find_list(table, item, &columns, &n, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = mark_column(reading, table, columns[i], err);
  free(columns);
  return status;
}

static enum gpnn_status mark_names(struct gpnn_grid_reading *reading,
                                   const struct gpnn_table *table,
                                   const struct gpnn_grid_roles *roles, struct gpnn_error *err)
{
  if (roles->names == NULL) return GPNN_OK;
  char *items = gpnn_copy_text(roles->names, strlen(roles->names));
  if (items == NULL) return gpnn_fail_memory(err, "for the columns");
  enum gpnn_status status = GPNN_OK;
  for (char *item = items, *next; item != NULL && status == GPNN_OK; item = next) {
    next = strchr(item, ',');
    if (next != NULL) *next++ = '\0';
    status = mark_item(reading, table, roles->factor[1].columns, item, err);
  }
  free(items);
  return status;
}

static enum gpnn_status choose_columns(struct gpnn_grid_reading *reading,
                                       const struct gpnn_table *table,
                                       const struct gpnn_grid_roles *roles, struct gpnn_error *err)
{
  char *inputs = NULL, number[32];
  struct gpnn_schema *schema = &reading->dataset.schema;
  struct gpnn_roles chosen = {
      .target = roles->target, .n_dates = roles->n_dates, .dates = roles->dates};
  enum gpnn_status status = list_inputs(reading, table, roles, &inputs, err);
  if (status == GPNN_OK && roles->is_wide) {
    status = stand_in(table, roles->factor[0].columns, number, err);
    chosen.target = number;
  }
  chosen.inputs = inputs;
  if (status == GPNN_OK) status = gpnn_schema_choose(schema, table, &chosen, err);
  free(inputs);
  if (status == GPNN_OK && schema->n_more > 0)
    status = gpnn_fail(err, GPNN_EINVAL, "%s: a grid has one target, not %zu",
                       gpnn_table_name(table), schema->n_more + 1);
  if (status == GPNN_OK) status = gpnn_schema_match(schema, table, &reading->map, err);
  return status;
}

enum gpnn_status gpnn_grid_reading_begin(struct gpnn_grid_reading *reading,
                                         const struct gpnn_table *table,
                                         const struct gpnn_grid_roles *roles,
                                         struct gpnn_error *err)
{
  reading->is_wide = roles->is_wide;
  enum gpnn_status status = check_names(roles, err);
  if (status == GPNN_OK) status = choose_columns(reading, table, roles, err);
  if (status == GPNN_OK) status = mark_names(reading, table, roles, err);
  return status == GPNN_OK && roles->is_wide
             ? gpnn_grid_reading_find_times(reading, table, roles, err)
             : status;
}

/* ---- levels -------------------------------------------------------------------------------- */

enum gpnn_status gpnn_grid_reading_grow(struct gpnn_grid_axis *axis, size_t n,
                                        struct gpnn_error *err)
{
  size_t count;
  if (!gpnn_multiply(n, axis->n_columns, &count) ||
      !gpnn_grow(&axis->x, &axis->x_capacity, count, sizeof *axis->x))
    return gpnn_fail_memory(err, "for the levels of a grid");
  return GPNN_OK;
}

/* The text that stands for a place: that of its only column, or those of all, each after its
 * length. */
static enum gpnn_status make_key(struct gpnn_grid_reading *reading,
                                 const struct gpnn_grid_axis *axis,
                                 const struct gpnn_record *record, struct gpnn_field *key,
                                 struct gpnn_error *err)
{
  const size_t *columns = reading->map.inputs + axis->first;
  size_t length = 0;
  *key = record->fields[columns[0]];
  if (axis->n_columns == 1) return GPNN_OK;
  for (size_t j = 0; j < axis->n_columns; j++)
    length += sizeof(size_t) + record->fields[columns[j]].length;
  if (!gpnn_grow(&reading->key, &reading->key_capacity, length, 1))
    return gpnn_fail_memory(err, "for the levels of a grid");
  char *to = reading->key;
  for (size_t j = 0; j < axis->n_columns; j++) {
    const struct gpnn_field *field = &record->fields[columns[j]];
    memcpy(to, &field->length, sizeof field->length);
    if (field->length > 0) memcpy(to + sizeof field->length, field->text, field->length);
    to += sizeof field->length + field->length;
  }
  *key = (struct gpnn_field){reading->key, length};
  return GPNN_OK;
}

/* The level of a place, which is added if it is new. */
static enum gpnn_status find_place(struct gpnn_grid_reading *reading, struct gpnn_grid_axis *axis,
                                   const struct gpnn_table *table, const struct gpnn_record *record,
                                   uint32_t *level, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_grid_reading_grow(axis, axis->n + 1, err);
  if (status != GPNN_OK) return status;
  double *x = axis->x + axis->n * axis->n_columns;
  for (size_t j = 0; j < axis->n_columns && status == GPNN_OK; j++) {
    status = gpnn_schema_read_number(&reading->dataset.schema, &reading->map, axis->first + j,
                                     table, record, &x[j], err);
    if (status == GPNN_OK && x[j] == 0) x[j] = 0; /* -0 is the same place */
  }
  if (status == GPNN_OK)
    status =
        gpnn_groups_number(&axis->places, (const char *)x, axis->n_columns * sizeof *x, level, err);
  if (status == GPNN_OK) axis->n = axis->places.n;
  return status;
}

/* The same of a name. */
static enum gpnn_status find_name(struct gpnn_grid_reading *reading, struct gpnn_grid_axis *axis,
                                  const struct gpnn_table *table, const struct gpnn_record *record,
                                  uint32_t *level, struct gpnn_error *err)
{
  size_t number = 0;
  struct gpnn_schema *schema = &reading->dataset.schema;
  schema->inputs[axis->first].kind = GPNN_COLUMN_NAMES;
  enum gpnn_status status =
      gpnn_schema_learn_name(schema, &reading->map, axis->first, table, record, &number, err);
  axis->n = schema->inputs[axis->first].n_levels;
  if (status == GPNN_OK) *level = (uint32_t)number;
  return status;
}

/* A single column whose first value is neither missing nor a number holds names, or dates if that
 * is one as ISO 8601 has it. */
static enum gpnn_status decide_names(struct gpnn_grid_reading *reading, struct gpnn_grid_axis *axis,
                                     const struct gpnn_table *table,
                                     const struct gpnn_record *record, struct gpnn_error *err)
{
  struct gpnn_column *column = &reading->dataset.schema.inputs[axis->first];
  const struct gpnn_field *field = &record->fields[reading->map.inputs[axis->first]];
  double value;
  if (axis->is_decided || gpnn_field_is_missing(table, field)) return GPNN_OK;
  axis->is_decided = true;
  axis->has_names = axis->n_columns == 1 && column->date == NULL &&
                    gpnn_values_number(gpnn_table_values(table), field->text, field->length,
                                       &value) == GPNN_NUMBER_BAD;
  if (!axis->has_names ||
      gpnn_date_read(GPNN_DATE_ISO, field->text, field->length, &value) != GPNN_DATE_OK)
    return GPNN_OK;
  axis->has_names = false;
  column->date = gpnn_copy_text(GPNN_DATE_ISO, strlen(GPNN_DATE_ISO));
  return column->date == NULL ? gpnn_fail_memory(err, "for a factor of dates") : GPNN_OK;
}

/* The level of an axis that a record belongs to; texts that have been seen are not read again. */
static enum gpnn_status find_level(struct gpnn_grid_reading *reading, struct gpnn_grid_axis *axis,
                                   const struct gpnn_table *table, const struct gpnn_record *record,
                                   uint32_t *level, struct gpnn_error *err)
{
  struct gpnn_field key;
  uint32_t text = 0, found = bad_level;
  size_t n_before = axis->texts.n;
  enum gpnn_status status = decide_names(reading, axis, table, record, err);
  if (status == GPNN_OK) status = make_key(reading, axis, record, &key, err);
  if (status == GPNN_OK)
    status = gpnn_groups_number(&axis->texts, key.text, key.length, &text, err);
  if (status == GPNN_OK && !gpnn_grow(&axis->level_of_text, &axis->texts_capacity, axis->texts.n,
                                      sizeof *axis->level_of_text))
    status = gpnn_fail_memory(err, "for the levels of a grid");
  if (status != GPNN_OK) return status;
  if (axis->texts.n > n_before) axis->level_of_text[text] = bad_level;
  if (axis->level_of_text[text] == bad_level) {
    status = axis->has_names ? find_name(reading, axis, table, record, &found, err)
                             : find_place(reading, axis, table, record, &found, err);
    if (status != GPNN_OK) return status;
    axis->level_of_text[text] = found;
  }
  *level = axis->level_of_text[text];
  return GPNN_OK;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Adds an observation; its levels are those in 'level'. */
static enum gpnn_status add_observation(struct gpnn_grid_reading *reading, const uint32_t *level,
                                        double y, struct gpnn_error *err)
{
  size_t n = reading->n, axes = reading->n_axes;
  if (!gpnn_grow(&reading->levels, &reading->levels_capacity, (n + 1) * axes,
                 sizeof *reading->levels) ||
      !gpnn_grow(&reading->y, &reading->y_capacity, n + 1, sizeof *reading->y))
    return gpnn_fail_memory(err, "for the observations of a grid");
  memcpy(reading->levels + n * axes, level, axes * sizeof *level);
  reading->y[n] = y;
  reading->n++;
  return GPNN_OK;
}

/* Reads a cell, and adds it to the observations unless it is missing. */
static enum gpnn_status read_cell(struct gpnn_grid_reading *reading, const struct gpnn_table *table,
                                  const struct gpnn_record *record, size_t column,
                                  const uint32_t *level, struct gpnn_error *err)
{
  double y = 0;
  if (gpnn_field_is_missing(table, &record->fields[column])) {
    reading->n_holes++;
    return GPNN_OK;
  }
  enum gpnn_status status = gpnn_columns_number(table, record, column, &y, err);
  return status == GPNN_OK ? add_observation(reading, level, y, err) : status;
}

static enum gpnn_status read_long(struct gpnn_grid_reading *reading, const struct gpnn_table *table,
                                  const struct gpnn_record *record, struct gpnn_error *err)
{
  uint32_t level[GPNN_GRID_MOST_FACTORS] = {0};
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < reading->n_axes && status == GPNN_OK; a++)
    status = find_level(reading, &reading->axis[a], table, record, &level[a], err);
  return status == GPNN_OK ? read_cell(reading, table, record, reading->map.target, level, err)
                           : status;
}

/* A row with a bad cell is left out whole. */
static enum gpnn_status read_wide(struct gpnn_grid_reading *reading, const struct gpnn_table *table,
                                  const struct gpnn_record *record, struct gpnn_error *err)
{
  uint32_t level[GPNN_GRID_MOST_FACTORS] = {0};
  size_t n_before = reading->n, holes_before = reading->n_holes;
  enum gpnn_status status = find_level(reading, &reading->axis[0], table, record, level, err);
  for (size_t t = 0; t < reading->n_times && status == GPNN_OK; t++) {
    level[1] = (uint32_t)t;
    status = read_cell(reading, table, record, reading->times[t], level, err);
  }
  if (status == GPNN_OK) return GPNN_OK;
  reading->n = n_before;
  reading->n_holes = holes_before;
  return status;
}

enum gpnn_status gpnn_grid_reading_read(struct gpnn_grid_reading *reading, struct gpnn_table *table,
                                        bool skip_bad,
                                        void (*progress)(size_t n_rows, double share),
                                        struct gpnn_error *err)
{
  enum { STRIDE = 4096 };
  enum gpnn_status status = GPNN_OK;
  struct gpnn_error why = {0};
  while (status == GPNN_OK) {
    struct gpnn_record record;
    status = gpnn_table_next(table, &record, &why);
    if (status == GPNN_OK)
      status = reading->is_wide ? read_wide(reading, table, &record, &why)
                                : read_long(reading, table, &record, &why);
    if (status == GPNN_EDATA && skip_bad) {
      gpnn_skipped_add(&reading->skipped, &record, &why);
      status = GPNN_OK;
    } else if (status == GPNN_OK && ++reading->n_rows % STRIDE == 0 && progress != NULL) {
      progress(reading->n_rows, gpnn_input_share(gpnn_table_input(table)));
    }
  }
  reading->dataset.n_skipped = reading->skipped.n;
  if (status == GPNN_END) return GPNN_OK;
  if (err != NULL) *err = why;
  return status;
}

void gpnn_grid_reading_release(struct gpnn_grid_reading *reading)
{
  for (size_t a = 0; a < reading->n_axes; a++) {
    struct gpnn_grid_axis *axis = &reading->axis[a];
    free(axis->name);
    free(axis->level_of_text);
    free(axis->x);
    gpnn_groups_release(&axis->texts);
    gpnn_groups_release(&axis->places);
  }
  free(reading->times);
  free(reading->levels);
  free(reading->y);
  free(reading->key);
  free(reading->cell);
  free(reading->counts);
  gpnn_columns_map_release(&reading->map);
  gpnn_schema_release(&reading->dataset.schema);
  gpnn_scaling_release(&reading->dataset.scaling);
  *reading = (struct gpnn_grid_reading){.n = 0};
}
