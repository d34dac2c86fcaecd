/*
 * Finding a schema's columns in a table, and naming the features of its inputs.
 */
#include "table/schema.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "table/columns.h"
#include "table/table_private.h"

static const char *mask(char out[GPNN_MASK_BYTES], const char *name)
{
  return gpnn_mask(out, name, strlen(name));
}

static void release_column(struct gpnn_column *column)
{
  for (size_t l = 0; l < column->n_levels; l++) free(column->levels[l]);
  free(column->levels);
  free(column->codes);
  free(column->later);
  free(column->level_lengths);
  free(column->name);
  free(column->date);
}

static void release_columns(size_t n, struct gpnn_column *columns)
{
  for (size_t i = 0; i < n; i++) release_column(&columns[i]);
  free(columns);
}

void gpnn_schema_release(struct gpnn_schema *schema)
{
  release_columns(schema->n_inputs, schema->inputs);
  release_columns(schema->n_more, schema->more);
  release_columns(schema->n_regressors, schema->regressors);
  release_columns(schema->n_offsets, schema->offsets);
  release_column(&schema->target);
  release_column(&schema->noise);
  release_column(&schema->exposure);
  release_column(&schema->by);
  release_column(&schema->id);
  free(schema->effects);
  gpnn_notation_release(&schema->notation);
  *schema = (struct gpnn_schema){0};
}

static bool has_text(const char *line, size_t length, const char *text)
{
  size_t n = strlen(text);
  for (size_t i = 0; i + n <= length; i++)
    if (memcmp(line + i, text, n) == 0) return true;
  return false;
}

bool gpnn_schema_names_inputs(const struct gpnn_schema *schema, const char *line, size_t length)
{
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (!has_text(line, length, schema->inputs[i].name)) return false;
  return schema->has_header;
}

/* Column '*k' of 'n', or NULL with '*k' n less. */
static struct gpnn_column *take_column(size_t n, struct gpnn_column *columns, size_t *k)
{
  if (*k < n) return &columns[*k];
  *k -= n;
  return NULL;
}

struct gpnn_column *gpnn_schema_column(struct gpnn_schema *schema, size_t k)
{
  struct gpnn_column *column = take_column(1, &schema->target, &k);
  if (column == NULL) column = take_column(schema->n_inputs, schema->inputs, &k);
  if (column == NULL) column = take_column(schema->n_more, schema->more, &k);
  if (column == NULL) column = take_column(schema->n_regressors, schema->regressors, &k);
  if (column == NULL) column = take_column(schema->has_noise, &schema->noise, &k);
  if (column == NULL) column = take_column(schema->n_offsets, schema->offsets, &k);
  if (column == NULL) column = take_column(schema->has_by, &schema->by, &k);
  return column == NULL ? take_column(schema->has_exposure, &schema->exposure, &k) : column;
}

static bool is_repeat(const struct gpnn_column *columns, size_t i)
{
  return i > 0 && columns[i].date != NULL && columns[i].position == columns[i - 1].position;
}

bool gpnn_schema_is_repeat(const struct gpnn_schema *schema, size_t input)
{
  return is_repeat(schema->inputs, input);
}

/* ---- a schema's columns in a table ------------------------------------------------------- */

/* What messages call a column that a table lacks. */
static const char *describe(const struct gpnn_column *column, char out[GPNN_COLUMN_BYTES])
{
  char shown[GPNN_MASK_BYTES];
  mask(shown, column->name);
  if (column->n_namesakes > 0)
    snprintf(out, GPNN_COLUMN_BYTES, "'%s' (number %zu of %zu)", shown, column->occurrence + 1,
             column->n_namesakes + 1);
  else
    snprintf(out, GPNN_COLUMN_BYTES, "'%s'", shown);
  return out;
}

/* Fails if any of 'n' columns with the role 'what' was not found, naming those. */
static enum gpnn_status require_found(const struct gpnn_table *table, const char *what, size_t n,
                                      const struct gpnn_column *columns, const size_t *found,
                                      struct gpnn_error *err)
{
  char list[400] = "", shown[GPNN_COLUMN_BYTES], hint[GPNN_TABLE_HINT_BYTES];
  size_t used = 0, n_missing = 0, n_repeats = 0;
  for (size_t i = 0; i < n; i++) n_repeats += is_repeat(columns, i);
  for (size_t i = 0; i < n; i++) n_missing += found[i] == SIZE_MAX && !is_repeat(columns, i);
  if (n_missing == 0) return GPNN_OK;
  n -= n_repeats;
  for (size_t i = 0; i < n + n_repeats; i++) {
    if (found[i] != SIZE_MAX || is_repeat(columns, i)) continue;
    if (used + GPNN_COLUMN_BYTES + sizeof ", " + sizeof ", ..." > sizeof list) {
      memcpy(list + used, ", ...", sizeof ", ...");
      break;
    }
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used == 0 ? "" : ", ",
                             describe(&columns[i], shown));
  }
  return gpnn_fail(err, GPNN_EMISMATCH, "%s: lacks %zu of %zu %s column%s: %s%s",
                   gpnn_table_name(table), n_missing, n, what, n == 1 ? "" : "s", list,
                   gpnn_table_hint(table, hint));
}

/* Finds one of the schema's columns, by name and by which of that name it is; SIZE_MAX if the table
 * does not have it.  A table with more columns of that name than the training table is refused. */
static enum gpnn_status match_name(const struct gpnn_column_lookup *lookup,
                                   const struct gpnn_column *column, size_t *found,
                                   struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  const struct gpnn_column_name *named;
  size_t n = gpnn_column_lookup_all(lookup, column->name, &named);
  *found = column->occurrence < n ? named[column->occurrence].position : SIZE_MAX;
  if (n <= column->n_namesakes + 1) return GPNN_OK;
  return gpnn_fail(
      err, GPNN_EMISMATCH, "%s: %zu columns are named '%s', of which the training table had %zu",
      gpnn_table_name(lookup->table), n, mask(shown, column->name), column->n_namesakes + 1);
}

static enum gpnn_status match_each(const struct gpnn_column_lookup *lookup, size_t n,
                                   const struct gpnn_column *columns, size_t *found,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = match_name(lookup, &columns[i], &found[i], err);
  return status;
}

static enum gpnn_status match_names(const struct gpnn_schema *schema,
                                    const struct gpnn_column_lookup *lookup,
                                    struct gpnn_columns_map *map, struct gpnn_error *err)
{
  enum gpnn_status status = match_each(lookup, schema->n_inputs, schema->inputs, map->inputs, err);
  if (status == GPNN_OK)
    status =
        require_found(lookup->table, "input", schema->n_inputs, schema->inputs, map->inputs, err);
  if (status == GPNN_OK) status = match_each(lookup, schema->n_more, schema->more, map->more, err);
  if (status == GPNN_OK)
    status = match_each(lookup, schema->n_regressors, schema->regressors, map->regressors, err);
  if (status == GPNN_OK) status = match_name(lookup, &schema->target, &map->target, err);
  if (status == GPNN_OK && schema->has_noise)
    status = match_name(lookup, &schema->noise, &map->noise, err);
  if (status == GPNN_OK)
    status = match_each(lookup, schema->n_offsets, schema->offsets, map->offsets, err);
  if (status == GPNN_OK && schema->has_exposure)
    status = match_name(lookup, &schema->exposure, &map->exposure, err);
  if (status == GPNN_OK && schema->has_id) status = match_name(lookup, &schema->id, &map->id, err);
  return status;
}

/* The positions of columns in the training table, or SIZE_MAX. */
static void take_positions(bool are_there, size_t n, const struct gpnn_column *columns,
                           size_t *found)
{
  for (size_t i = 0; i < n; i++) found[i] = are_there ? columns[i].position : SIZE_MAX;
}

/* The first input that is read from the same column as input 'i'. */
static size_t first_of_column(const struct gpnn_schema *schema, size_t i)
{
  size_t first = 0;
  if (gpnn_schema_is_repeat(schema, i)) return first_of_column(schema, i - 1);
  if (schema->inputs[i].kind != GPNN_COLUMN_EFFECT) return i;
  while (schema->inputs[first].position != schema->inputs[i].position) first++;
  return first;
}

static enum gpnn_status match_positions(const struct gpnn_schema *schema,
                                        const struct gpnn_table *table,
                                        struct gpnn_columns_map *map, struct gpnn_error *err)
{
  size_t n = gpnn_table_columns(table), n_inputs = 0;
  bool is_whole = n == schema->n_columns;
  for (size_t i = 0; i < schema->n_inputs; i++) {
    size_t first = first_of_column(schema, i);
    n_inputs += first == i;
    map->inputs[i] = is_whole     ? schema->inputs[i].position
                     : first == i ? n_inputs - 1
                                  : map->inputs[first];
  }
  if (!is_whole && n != n_inputs)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "%s: has %zu column%s; without names it must have the %zu of the training "
                     "table or just the %zu input%s",
                     gpnn_table_name(table), n, n == 1 ? "" : "s", schema->n_columns, n_inputs,
                     n_inputs == 1 ? "" : "s");
  take_positions(is_whole, 1, &schema->target, &map->target);
  take_positions(is_whole, schema->n_more, schema->more, map->more);
  take_positions(is_whole, schema->n_regressors, schema->regressors, map->regressors);
  take_positions(is_whole && schema->has_noise, 1, &schema->noise, &map->noise);
  take_positions(is_whole, schema->n_offsets, schema->offsets, map->offsets);
  take_positions(is_whole && schema->has_exposure, 1, &schema->exposure, &map->exposure);
  take_positions(is_whole && schema->has_id, 1, &schema->id, &map->id);
  return GPNN_OK;
}

/* Allocates the arrays of a map; false: there is not enough memory. */
static bool allocate_map(const struct gpnn_schema *schema, struct gpnn_columns_map *map)
{
  map->n_orders = schema->n_inputs;
  map->n_targets = 1 + schema->n_more;
  map->inputs = gpnn_alloc(schema->n_inputs, 1, sizeof *map->inputs);
  map->more = gpnn_alloc(schema->n_more, 1, sizeof *map->more);
  map->regressors = gpnn_alloc(schema->n_regressors, 1, sizeof *map->regressors);
  map->offsets = gpnn_alloc(schema->n_offsets, 1, sizeof *map->offsets);
  map->orders = gpnn_alloc(map->n_orders, 1, sizeof *map->orders);
  map->classes = gpnn_alloc(map->n_targets, 1, sizeof *map->classes);
  return map->inputs != NULL && map->more != NULL && map->regressors != NULL &&
         map->offsets != NULL && map->orders != NULL && map->classes != NULL;
}

enum gpnn_status gpnn_schema_match(const struct gpnn_schema *schema, const struct gpnn_table *table,
                                   struct gpnn_columns_map *map, struct gpnn_error *err)
{
  struct gpnn_columns_map new = {.noise = SIZE_MAX, .exposure = SIZE_MAX, .id = SIZE_MAX};
  enum gpnn_status status = GPNN_OK;
  if (!allocate_map(schema, &new)) {
    status = gpnn_fail_memory(err, "for the columns");
  } else if (schema->has_header && gpnn_table_has_header(table)) {
    struct gpnn_column_lookup lookup = {0};
    status = gpnn_column_lookup_make(&lookup, table, err);
    if (status == GPNN_OK) status = match_names(schema, &lookup, &new, err);
    gpnn_column_lookup_release(&lookup);
  } else {
    status = match_positions(schema, table, &new, err);
  }
  if (status == GPNN_OK) status = gpnn_schema_order_levels(schema, &new, err);
  new.has_target = new.target != SIZE_MAX;
  new.has_noise = new.noise != SIZE_MAX;
  new.has_exposure = new.exposure != SIZE_MAX;
  if (status != GPNN_OK)
    gpnn_columns_map_release(&new);
  else
    *map = new;
  return status;
}

enum gpnn_status gpnn_schema_require_regressors(const struct gpnn_schema *schema,
                                                const struct gpnn_columns_map *map,
                                                const struct gpnn_table *table,
                                                struct gpnn_error *err)
{
  return require_found(table, "regressor", schema->n_regressors, schema->regressors,
                       map->regressors, err);
}

enum gpnn_status gpnn_schema_require_offsets(const struct gpnn_schema *schema,
                                             const struct gpnn_columns_map *map,
                                             const struct gpnn_table *table, struct gpnn_error *err)
{
  return require_found(table, "offset", schema->n_offsets, schema->offsets, map->offsets, err);
}

enum gpnn_status gpnn_schema_require_exposure(const struct gpnn_schema *schema,
                                              const struct gpnn_columns_map *map,
                                              const struct gpnn_table *table,
                                              struct gpnn_error *err)
{
  return require_found(table, "exposure", schema->has_exposure ? 1 : 0, &schema->exposure,
                       &map->exposure, err);
}

enum gpnn_status gpnn_schema_find_by(const struct gpnn_schema *schema,
                                     const struct gpnn_table *table, size_t *column,
                                     struct gpnn_error *err)
{
  struct gpnn_column_lookup lookup = {0};
  enum gpnn_status status = GPNN_OK;
  bool by_name = schema->has_header && gpnn_table_has_header(table);
  take_positions(gpnn_table_columns(table) == schema->n_columns, 1, &schema->by, column);
  if (by_name) status = gpnn_column_lookup_make(&lookup, table, err);
  if (by_name && status == GPNN_OK) status = match_name(&lookup, &schema->by, column, err);
  gpnn_column_lookup_release(&lookup);
  return status == GPNN_OK ? require_found(table, "group", 1, &schema->by, column, err) : status;
}

void gpnn_columns_map_release(struct gpnn_columns_map *map)
{
  for (size_t i = 0; map->orders != NULL && i < map->n_orders; i++) free(map->orders[i].keys);
  for (size_t t = 0; map->classes != NULL && t < map->n_targets; t++) free(map->classes[t].keys);
  free(map->orders);
  free(map->classes);
  free(map->inputs);
  free(map->more);
  free(map->regressors);
  free(map->offsets);
  *map = (struct gpnn_columns_map){0};
}

/* ---- features ---------------------------------------------------------------------------- */

size_t gpnn_schema_width(const struct gpnn_column *column)
{
  switch (column->kind) {
  case GPNN_COLUMN_CATEGORY:
    return column->n_levels;
  case GPNN_COLUMN_PERIODIC:
    return 2;
  case GPNN_COLUMN_LATITUDE:
    return 3;
  case GPNN_COLUMN_LONGITUDE:
    return 0;
  case GPNN_COLUMN_NUMBER:
  case GPNN_COLUMN_CLASSES:
  case GPNN_COLUMN_NAMES:
  case GPNN_COLUMN_CODED:
  case GPNN_COLUMN_EFFECT:
    break;
  }
  return 1;
}

bool gpnn_schema_has_levels(const struct gpnn_column *column)
{
  return column->kind == GPNN_COLUMN_CATEGORY || column->kind == GPNN_COLUMN_NAMES ||
         column->kind == GPNN_COLUMN_CODED || column->kind == GPNN_COLUMN_EFFECT;
}

bool gpnn_schema_learns_levels(const struct gpnn_schema *schema)
{
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (gpnn_schema_has_levels(&schema->inputs[i])) return true;
  return false;
}

bool gpnn_schema_is_ordered(const struct gpnn_column *column)
{
  return column->kind == GPNN_COLUMN_CODED && column->codes != NULL && column->shrinkage == 0;
}

bool gpnn_schema_has_codes(const struct gpnn_schema *schema)
{
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (schema->inputs[i].kind == GPNN_COLUMN_CODED && !gpnn_schema_is_ordered(&schema->inputs[i]))
      return true;
  return false;
}

size_t gpnn_schema_features(const struct gpnn_schema *schema)
{
  size_t n = 0;
  for (size_t i = 0; i < schema->n_inputs; i++) n += gpnn_schema_width(&schema->inputs[i]);
  return n;
}

static bool is_point(const struct gpnn_column *column)
{
  return column->kind == GPNN_COLUMN_PERIODIC || column->kind == GPNN_COLUMN_LATITUDE;
}

/* True if there are more features than rotations and lengthscales of their own are tried for. */
static bool has_many_features(const struct gpnn_schema *schema)
{
  enum { MANY = 64 };
  size_t n = 0;
  for (size_t i = 0; i < schema->n_inputs && n <= MANY; i++)
    n += gpnn_schema_width(&schema->inputs[i]);
  return n > MANY;
}

/* True if the features of an input are one group: those of a point, or among many those of a
 * category. */
static bool is_one_group(const struct gpnn_schema *schema, const struct gpnn_column *column)
{
  return is_point(column) || (column->kind == GPNN_COLUMN_CATEGORY && has_many_features(schema));
}

bool gpnn_schema_groups(const struct gpnn_schema *schema, struct gpnn_feature *features)
{
  uint32_t group = 0;
  bool any = false;
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    bool one_group = is_one_group(schema, column);
    for (size_t k = 0; k < gpnn_schema_width(column); k++) {
      *features++ = (struct gpnn_feature){group, column->kind == GPNN_COLUMN_LATITUDE,
                                          column->kind == GPNN_COLUMN_EFFECT};
      group += !one_group;
    }
    group += one_group;
    any = any || one_group;
  }
  return any;
}

/* The input that '*feature' belongs to; '*feature' becomes its number among that input's features.
 */
static const struct gpnn_column *input_of(const struct gpnn_schema *schema,
                                          struct gpnn_feature_cursor *at, size_t *feature)
{
  struct gpnn_feature_cursor start = {0};
  if (at == NULL) at = &start;
  if (*feature < at->first) *at = start;
  for (; *feature - at->first >= gpnn_schema_width(&schema->inputs[at->input]); at->input++) {
    assert(at->input < schema->n_inputs);
    at->first += gpnn_schema_width(&schema->inputs[at->input]);
  }
  *feature -= at->first;
  return &schema->inputs[at->input];
}

const struct gpnn_column *gpnn_schema_feature_input(const struct gpnn_schema *schema,
                                                    struct gpnn_feature_cursor *at, size_t feature)
{
  return input_of(schema, at, &feature);
}

/* A name being composed: long enough for those of a crossed effect and its slope as the mask cuts
 * them, their numbers, and some letters. */
struct composed {
  char text[(GPNN_EFFECT_CROSSED + 1) * (GPNN_MASK_BYTES + 32) + 8];
  size_t length;
};

/* The mask shows fewer than GPNN_MASK_BYTES bytes, so no more of any part is needed. */
static void add_part(struct composed *name, const char *part, size_t length)
{
  if (length > GPNN_MASK_BYTES) length = GPNN_MASK_BYTES;
  memcpy(name->text + name->length, part, length);
  name->length += length;
}

/* The name of a column, with its number if the name does not say which it is. */
static void add_column(struct composed *name, const struct gpnn_column *column)
{
  char number[32];
  bool has_name = column->name[0] != '\0';
  add_part(name, column->name, strlen(column->name));
  if (has_name && column->n_namesakes == 0) return;
  snprintf(number, sizeof number, has_name ? " (column %zu)" : "column %zu", column->position + 1);
  add_part(name, number, strlen(number));
}

const char *gpnn_schema_effect_name(const struct gpnn_schema *schema, size_t effect,
                                    char name[GPNN_MASK_BYTES])
{
  const struct gpnn_group_effect *of = &schema->effects[effect];
  struct composed whole = {.length = 0};
  for (size_t k = 0; k < of->n_columns; k++) {
    if (k > 0) add_part(&whole, ":", 1);
    add_column(&whole, &schema->inputs[of->columns[k]]);
  }
  if (of->has_slope) {
    add_part(&whole, "(", 1);
    add_column(&whole, &schema->inputs[of->slope]);
    add_part(&whole, ")", 1);
  }
  return gpnn_mask(name, whole.text, whole.length);
}

const char *gpnn_schema_column_name(const struct gpnn_column *column, char name[GPNN_MASK_BYTES])
{
  struct composed whole = {.length = 0};
  add_column(&whole, column);
  return gpnn_mask(name, whole.text, whole.length);
}

/* One of the periods of a date. */
static void add_period(struct composed *name, double period)
{
  char number[GPNN_NUMBER_BYTES];
  const char *text = gpnn_schema_period_word(period);
  if (text == NULL) {
    gpnn_number_write(number, period);
    text = number;
  }
  add_part(name, "/", 1);
  add_part(name, text, strlen(text));
}

static void add_group(struct composed *name, const struct gpnn_schema *schema,
                      const struct gpnn_column *column)
{
  add_column(name, column);
  if (column->kind == GPNN_COLUMN_PERIODIC && column->date != NULL)
    add_period(name, column->period);
  if (column->kind != GPNN_COLUMN_LATITUDE) return;
  add_part(name, ",", 1);
  add_column(name, &schema->inputs[column->partner]);
}

const char *gpnn_schema_feature_name(const struct gpnn_schema *schema,
                                     struct gpnn_feature_cursor *at, size_t feature,
                                     char name[GPNN_MASK_BYTES])
{
  static const char *const circle[] = {"sin(", "cos("}, *const sphere[] = {"x(", "y(", "z("};
  const struct gpnn_column *column = input_of(schema, at, &feature);
  struct composed whole = {.length = 0};
  if (is_point(column)) {
    const char *function = (column->kind == GPNN_COLUMN_PERIODIC ? circle : sphere)[feature];
    add_part(&whole, function, strlen(function));
  }
  add_group(&whole, schema, column);
  if (is_point(column)) add_part(&whole, ")", 1);
  if (column->kind == GPNN_COLUMN_CATEGORY) {
    add_part(&whole, "=", 1);
    add_part(&whole, column->levels[feature], column->level_lengths[feature]);
  }
  return gpnn_mask(name, whole.text, whole.length);
}

const char *gpnn_schema_group_name(const struct gpnn_schema *schema, struct gpnn_feature_cursor *at,
                                   size_t feature, char name[GPNN_MASK_BYTES])
{
  size_t within = feature;
  const struct gpnn_column *column = input_of(schema, at, &within);
  if (!is_one_group(schema, column)) return gpnn_schema_feature_name(schema, at, feature, name);
  struct composed whole = {.length = 0};
  add_group(&whole, schema, column);
  return gpnn_mask(name, whole.text, whole.length);
}
