#include "table/schema.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "table/columns.h"
#include "table/columns_private.h"

static const double PI = 3.14159265358979323846;

static const char *mask(char out[GPNN_MASK_BYTES], const char *name)
{
  return gpnn_mask(out, name, strlen(name));
}

static void release_column(struct gpnn_column *column)
{
  for (size_t l = 0; l < column->n_levels; l++) free(column->levels[l]);
  free(column->levels);
  free(column->level_lengths);
  free(column->name);
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
  release_column(&schema->target);
  release_column(&schema->noise);
  *schema = (struct gpnn_schema){0};
}

/* ---- levels of categories ---------------------------------------------------------------- */

/* Compares bytes, a shorter text before a longer one that begins with it. */
static int compare_texts(const char *a, size_t n_a, const char *b, size_t n_b)
{
  size_t n = n_a < n_b ? n_a : n_b;
  int order = n == 0 ? 0 : memcmp(a, b, n);
  return order != 0 ? order : (n_a > n_b) - (n_a < n_b);
}

/* Where in 'order' the level 'text' is, or else belongs; true if it is there. */
static bool find_level(const struct gpnn_column *column, const struct gpnn_level_order *order,
                       const char *text, size_t length, size_t *place)
{
  size_t low = 0, high = order->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2, level = order->levels[middle];
    int side = compare_texts(column->levels[level], column->level_lengths[level], text, length);
    if (side == 0) {
      *place = middle;
      return true;
    }
    if (side < 0)
      low = middle + 1;
    else
      high = middle;
  }
  *place = low;
  return false;
}

/* Puts a level of 'column' into its place; room for it is there. */
static void insert_level(const struct gpnn_column *column, struct gpnn_level_order *order,
                         size_t level)
{
  size_t place;
  find_level(column, order, column->levels[level], column->level_lengths[level], &place);
  memmove(order->levels + place + 1, order->levels + place,
          (order->n - place) * sizeof *order->levels);
  order->levels[place] = level;
  order->n++;
}

/* Takes out the last level that was added. */
static void remove_last_level(struct gpnn_column *column, struct gpnn_level_order *order)
{
  size_t level = column->n_levels - 1, place = 0;
  find_level(column, order, column->levels[level], column->level_lengths[level], &place);
  order->n--;
  memmove(order->levels + place, order->levels + place + 1,
          (order->n - place) * sizeof *order->levels);
  free(column->levels[level]);
  column->n_levels--;
}

/* Makes '*array' one item longer than 'n'. */
static bool lengthen(void *array, size_t n, size_t item_bytes)
{
  size_t capacity = n; /* gpnn_grow() rounds up, and 1000 levels need no thrift */
  return gpnn_grow(array, &capacity, n + 1, item_bytes);
}

static enum gpnn_status add_level(struct gpnn_column *column, struct gpnn_level_order *order,
                                  const struct gpnn_field *field, struct gpnn_error *err)
{
  size_t n = column->n_levels;
  char *text = gpnn_copy_text(field->text, field->length);
  if (text == NULL || !lengthen(&column->levels, n, sizeof *column->levels) ||
      !lengthen(&column->level_lengths, n, sizeof *column->level_lengths) ||
      !lengthen(&order->levels, n, sizeof *order->levels)) {
    free(text);
    return gpnn_fail_memory(err, "for the levels of a category");
  }
  column->levels[n] = text;
  column->level_lengths[n] = field->length;
  column->n_levels++;
  insert_level(column, order, n);
  return GPNN_OK;
}

/* ---- a schema's columns in a table ------------------------------------------------------- */

/* Checks that none of 'n' columns of the role 'what' is missing (SIZE_MAX). */
static enum gpnn_status check_there(const struct gpnn_table *table, const char *what, size_t n,
                                    const struct gpnn_column *columns, const size_t *found,
                                    struct gpnn_error *err)
{
  char list[400] = "", shown[GPNN_MASK_BYTES];
  size_t used = 0, n_missing = 0;
  for (size_t i = 0; i < n; i++) n_missing += found[i] == SIZE_MAX;
  if (n_missing == 0) return GPNN_OK;
  for (size_t i = 0; i < n; i++) {
    if (found[i] != SIZE_MAX) continue;
    if (used + GPNN_MASK_BYTES + sizeof ", ''" + sizeof ", ..." > sizeof list) {
      memcpy(list + used, ", ...", sizeof ", ...");
      break;
    }
    used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", used == 0 ? "" : ", ",
                             mask(shown, columns[i].name));
  }
  return gpnn_fail(err, GPNN_EMISMATCH, "%s: lacks %zu of %zu %s column%s: %s",
                   gpnn_table_name(table), n_missing, n, what, n == 1 ? "" : "s", list);
}

/* Finds one of the schema's columns by name; SIZE_MAX if it is not there. */
static enum gpnn_status match_name(const struct gpnn_directory *directory, const char *name,
                                   size_t *column, struct gpnn_error *err)
{
  *column = SIZE_MAX;
  size_t count = gpnn_directory_count(directory, name, column);
  return count > 1 ? gpnn_columns_fail_ambiguous(directory->table, name, count, GPNN_EMISMATCH, err)
                   : GPNN_OK;
}

static enum gpnn_status match_each(const struct gpnn_directory *directory, size_t n,
                                   const struct gpnn_column *columns, size_t *found,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = match_name(directory, columns[i].name, &found[i], err);
  return status;
}

static enum gpnn_status match_names(const struct gpnn_schema *schema,
                                    const struct gpnn_directory *directory,
                                    struct gpnn_columns_map *map, struct gpnn_error *err)
{
  enum gpnn_status status =
      match_each(directory, schema->n_inputs, schema->inputs, map->inputs, err);
  if (status == GPNN_OK)
    status =
        check_there(directory->table, "input", schema->n_inputs, schema->inputs, map->inputs, err);
  if (status == GPNN_OK)
    status = match_each(directory, schema->n_more, schema->more, map->more, err);
  if (status == GPNN_OK)
    status = match_each(directory, schema->n_regressors, schema->regressors, map->regressors, err);
  if (status == GPNN_OK) status = match_name(directory, schema->target.name, &map->target, err);
  if (status == GPNN_OK && schema->has_noise)
    status = match_name(directory, schema->noise.name, &map->noise, err);
  return status;
}

/* The columns' own positions, or none. */
static void place_each(bool is_there, size_t n, const struct gpnn_column *columns, size_t *found)
{
  for (size_t i = 0; i < n; i++) found[i] = is_there ? columns[i].position : SIZE_MAX;
}

static enum gpnn_status match_positions(const struct gpnn_schema *schema,
                                        const struct gpnn_table *table,
                                        struct gpnn_columns_map *map, struct gpnn_error *err)
{
  size_t n = gpnn_table_columns(table);
  bool is_whole = n == schema->n_columns;
  if (!is_whole && n != schema->n_inputs)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "%s: has %zu column%s; without names it must have the %zu of the training "
                     "table or just the %zu input%s",
                     gpnn_table_name(table), n, n == 1 ? "" : "s", schema->n_columns,
                     schema->n_inputs, schema->n_inputs == 1 ? "" : "s");
  for (size_t i = 0; i < schema->n_inputs; i++)
    map->inputs[i] = is_whole ? schema->inputs[i].position : i;
  place_each(is_whole, 1, &schema->target, &map->target);
  place_each(is_whole, schema->n_more, schema->more, map->more);
  place_each(is_whole, schema->n_regressors, schema->regressors, map->regressors);
  place_each(is_whole && schema->has_noise, 1, &schema->noise, &map->noise);
  return GPNN_OK;
}

/* Sorts the levels each category has so far. */
static enum gpnn_status order_levels(const struct gpnn_schema *schema, struct gpnn_columns_map *map,
                                     struct gpnn_error *err)
{
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    struct gpnn_level_order *order = &map->orders[i];
    if (column->kind != GPNN_COLUMN_CATEGORY) continue;
    order->levels = gpnn_alloc(column->n_levels, 1, sizeof *order->levels);
    if (order->levels == NULL) return gpnn_fail_memory(err, "for the levels of a category");
    for (size_t level = 0; level < column->n_levels; level++) insert_level(column, order, level);
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_schema_match(const struct gpnn_schema *schema, const struct gpnn_table *table,
                                   struct gpnn_columns_map *map, struct gpnn_error *err)
{
  struct gpnn_columns_map new = {.n_orders = schema->n_inputs, .noise = SIZE_MAX};
  new.inputs = gpnn_alloc(schema->n_inputs, 1, sizeof *new.inputs);
  new.more = gpnn_alloc(schema->n_more, 1, sizeof *new.more);
  new.regressors = gpnn_alloc(schema->n_regressors, 1, sizeof *new.regressors);
  new.orders = gpnn_alloc(schema->n_inputs, 1, sizeof *new.orders);
  enum gpnn_status status = GPNN_OK;
  if (new.inputs == NULL || new.more == NULL || new.regressors == NULL || new.orders == NULL) {
    status = gpnn_fail_memory(err, "for the columns");
  } else if (schema->has_header && gpnn_table_has_header(table)) {
    struct gpnn_directory directory = {0};
    status = gpnn_directory_make(&directory, table, err);
    if (status == GPNN_OK) status = match_names(schema, &directory, &new, err);
    gpnn_directory_release(&directory);
  } else {
    status = match_positions(schema, table, &new, err);
  }
  if (status == GPNN_OK) status = order_levels(schema, &new, err);
  new.has_target = new.target != SIZE_MAX;
  new.has_noise = new.noise != SIZE_MAX;
  if (status != GPNN_OK)
    gpnn_columns_map_release(&new);
  else
    *map = new;
  return status;
}

enum gpnn_status gpnn_schema_need_regressors(const struct gpnn_schema *schema,
                                             const struct gpnn_columns_map *map,
                                             const struct gpnn_table *table, struct gpnn_error *err)
{
  return check_there(table, "regressor", schema->n_regressors, schema->regressors, map->regressors,
                     err);
}

void gpnn_columns_map_release(struct gpnn_columns_map *map)
{
  for (size_t i = 0; map->orders != NULL && i < map->n_orders; i++) free(map->orders[i].levels);
  free(map->orders);
  free(map->inputs);
  free(map->more);
  free(map->regressors);
  *map = (struct gpnn_columns_map){0};
}

/* ---- features ---------------------------------------------------------------------------- */

static size_t width(const struct gpnn_column *column)
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
    break;
  }
  return 1;
}

size_t gpnn_schema_features(const struct gpnn_schema *schema)
{
  size_t n = 0;
  for (size_t i = 0; i < schema->n_inputs; i++) n += width(&schema->inputs[i]);
  return n;
}

static bool is_point(const struct gpnn_column *column)
{
  return column->kind == GPNN_COLUMN_PERIODIC || column->kind == GPNN_COLUMN_LATITUDE;
}

bool gpnn_schema_groups(const struct gpnn_schema *schema, struct gpnn_feature *features)
{
  uint32_t group = 0;
  bool any = false;
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    bool one_group = is_point(column);
    for (size_t k = 0; k < width(column); k++) {
      *features++ = (struct gpnn_feature){group, column->kind == GPNN_COLUMN_LATITUDE};
      group += !one_group;
    }
    group += one_group;
    any = any || one_group;
  }
  return any;
}

/* The input that 'feature' comes from; how many of its features come before is left in
 * '*feature'. */
static const struct gpnn_column *input_of(const struct gpnn_schema *schema,
                                          struct gpnn_feature_cursor *at, size_t *feature)
{
  struct gpnn_feature_cursor start = {0};
  if (at == NULL) at = &start;
  if (*feature < at->first) *at = start;
  for (; *feature - at->first >= width(&schema->inputs[at->input]); at->input++) {
    assert(at->input < schema->n_inputs);
    at->first += width(&schema->inputs[at->input]);
  }
  *feature -= at->first;
  return &schema->inputs[at->input];
}

/* A name being composed: room for two that the mask cuts, and some letters. */
struct composed {
  char text[2 * GPNN_MASK_BYTES + 8];
  size_t length;
};

/* The mask shows fewer bytes than it has room for, so no more of any part is needed. */
static void add_part(struct composed *name, const char *part, size_t length)
{
  if (length > GPNN_MASK_BYTES) length = GPNN_MASK_BYTES;
  memcpy(name->text + name->length, part, length);
  name->length += length;
}

static void add_group(struct composed *name, const struct gpnn_schema *schema,
                      const struct gpnn_column *column)
{
  add_part(name, column->name, strlen(column->name));
  if (column->kind != GPNN_COLUMN_LATITUDE) return;
  const char *longitude = schema->inputs[column->partner].name;
  add_part(name, ",", 1);
  add_part(name, longitude, strlen(longitude));
}

const char *gpnn_schema_feature_name(const struct gpnn_schema *schema,
                                     struct gpnn_feature_cursor *at, size_t feature,
                                     char name[GPNN_MASK_BYTES])
{
  static const char *const circle[] = {"sin(", "cos("}, *const sphere[] = {"x(", "y(", "z("};
  const struct gpnn_column *column = input_of(schema, at, &feature);
  struct composed whole = {.length = 0};
  if (is_point(column)) {
    const char *before = (column->kind == GPNN_COLUMN_PERIODIC ? circle : sphere)[feature];
    add_part(&whole, before, strlen(before));
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
  if (!is_point(column)) return gpnn_schema_feature_name(schema, at, feature, name);
  struct composed whole = {.length = 0};
  add_group(&whole, schema, column);
  return gpnn_mask(name, whole.text, whole.length);
}

/* The remainder is exact, and so x and x + period, where that is exact too, are one point. */
static void point_on_circle(double x, double period, double *features)
{
  double angle = 2 * PI * (remainder(x, period) / period);
  features[0] = sin(angle);
  features[1] = cos(angle);
}

static void point_on_sphere(double latitude, double longitude, double *features)
{
  double phi = latitude * (PI / 180), lambda = remainder(longitude, 360) * (PI / 180);
  features[0] = GPNN_EARTH_RADIUS * cos(phi) * cos(lambda);
  features[1] = GPNN_EARTH_RADIUS * cos(phi) * sin(lambda);
  features[2] = GPNN_EARTH_RADIUS * sin(phi);
}

/* ---- rows -------------------------------------------------------------------------------- */

/* Reads a category's level into '*level'; false in '*is_known' if it has not been seen. */
static enum gpnn_status read_level(const struct gpnn_schema *schema,
                                   const struct gpnn_columns_map *map, size_t input,
                                   const struct gpnn_table *table, const struct gpnn_record *record,
                                   const char *na, bool *is_known, size_t *level,
                                   struct gpnn_error *err)
{
  const struct gpnn_field *field = &record->fields[map->inputs[input]];
  if (gpnn_field_is_missing(field, na))
    return gpnn_columns_fail_field(table, record, map->inputs[input], "missing value", false, err);
  const struct gpnn_level_order *order = &map->orders[input];
  assert(order->n == schema->inputs[input].n_levels);
  size_t place;
  *is_known = find_level(&schema->inputs[input], order, field->text, field->length, &place);
  if (*is_known) *level = order->levels[place];
  return GPNN_OK;
}

/* Reads the number of a point on a circle or a sphere, where degrees are within bounds. */
static enum gpnn_status read_coordinate(const struct gpnn_schema *schema,
                                        const struct gpnn_columns_map *map, size_t input,
                                        const struct gpnn_table *table,
                                        const struct gpnn_record *record, const char *na,
                                        double *value, struct gpnn_error *err)
{
  enum gpnn_column_kind kind = schema->inputs[input].kind;
  enum gpnn_status status = gpnn_columns_number(table, record, map->inputs[input], na, value, err);
  if (status == GPNN_OK && kind == GPNN_COLUMN_LATITUDE && fabs(*value) > 90)
    status = gpnn_columns_fail_field(table, record, map->inputs[input],
                                     "a latitude is from -90 to 90 degrees", true, err);
  if (status == GPNN_OK && kind == GPNN_COLUMN_LONGITUDE && fabs(*value) > 720)
    status = gpnn_columns_fail_field(table, record, map->inputs[input],
                                     "a longitude is from -720 to 720 degrees", true, err);
  return status;
}

/* Reads one cell; a new level is -1 for now. */
static enum gpnn_status read_cell(const struct gpnn_schema *schema,
                                  const struct gpnn_columns_map *map, size_t input,
                                  const struct gpnn_table *table, const struct gpnn_record *record,
                                  const char *na, double *cell, struct gpnn_error *err)
{
  const struct gpnn_column *column = &schema->inputs[input];
  if (column->kind == GPNN_COLUMN_NUMBER)
    return gpnn_columns_number(table, record, map->inputs[input], na, cell, err);
  if (column->kind != GPNN_COLUMN_CATEGORY)
    return read_coordinate(schema, map, input, table, record, na, cell, err);
  bool is_known;
  size_t level = 0;
  enum gpnn_status status =
      read_level(schema, map, input, table, record, na, &is_known, &level, err);
  if (status != GPNN_OK) return status;
  if (!is_known && column->n_levels == GPNN_LEVELS_MAX)
    return gpnn_columns_fail_field(table, record, map->inputs[input],
                                   "has more than 1000 levels: is it a category?", false, err);
  *cell = is_known ? (double)level : -1;
  return GPNN_OK;
}

static bool is_new_level(const struct gpnn_column *column, double cell)
{
  return column->kind == GPNN_COLUMN_CATEGORY && cell < 0;
}

enum gpnn_status gpnn_schema_learn(struct gpnn_schema *schema, const struct gpnn_columns_map *map,
                                   const struct gpnn_table *table, const struct gpnn_record *record,
                                   const char *na, double *cells, struct gpnn_error *err)
{
  /* All that may be wrong with the row is found before any of its levels is added. */
  for (size_t i = 0; i < schema->n_inputs; i++) {
    enum gpnn_status status = read_cell(schema, map, i, table, record, na, &cells[i], err);
    if (status != GPNN_OK) return status;
  }
  for (size_t i = 0; i < schema->n_inputs; i++) {
    struct gpnn_column *column = &schema->inputs[i];
    if (!is_new_level(column, cells[i])) continue;
    const struct gpnn_field *field = &record->fields[map->inputs[i]];
    enum gpnn_status status = add_level(column, &map->orders[i], field, err);
    if (status == GPNN_OK) continue;
    while (i-- > 0)
      if (is_new_level(&schema->inputs[i], cells[i]))
        remove_last_level(&schema->inputs[i], &map->orders[i]);
    return status;
  }
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (is_new_level(&schema->inputs[i], cells[i]))
      cells[i] = (double)(schema->inputs[i].n_levels - 1);
  return GPNN_OK;
}

void gpnn_schema_expand(const struct gpnn_schema *schema, const double *cells, double *features)
{
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    switch (column->kind) {
    case GPNN_COLUMN_NUMBER:
      *features = cells[i];
      break;
    case GPNN_COLUMN_CATEGORY:
      for (size_t l = 0; l < column->n_levels; l++) features[l] = cells[i] == (double)l;
      break;
    case GPNN_COLUMN_PERIODIC:
      point_on_circle(cells[i], column->period, features);
      break;
    case GPNN_COLUMN_LATITUDE:
      point_on_sphere(cells[i], cells[column->partner], features);
      break;
    case GPNN_COLUMN_LONGITUDE:
      break;
    }
    features += width(column);
  }
}

/* Reads one input into its features; 'unseen' is set for a level that is not known. */
static enum gpnn_status encode_input(const struct gpnn_schema *schema,
                                     const struct gpnn_columns_map *map, size_t input,
                                     const struct gpnn_table *table,
                                     const struct gpnn_record *record, const char *na,
                                     double *features, bool *unseen, struct gpnn_error *err)
{
  const struct gpnn_column *column = &schema->inputs[input];
  bool is_known = true;
  size_t level = 0;
  double value = 0, other = 0;
  if (column->kind == GPNN_COLUMN_NUMBER)
    return gpnn_columns_number(table, record, map->inputs[input], na, features, err);
  if (column->kind == GPNN_COLUMN_LONGITUDE) return GPNN_OK; /* read with its latitude */
  enum gpnn_status status =
      column->kind == GPNN_COLUMN_CATEGORY
          ? read_level(schema, map, input, table, record, na, &is_known, &level, err)
          : read_coordinate(schema, map, input, table, record, na, &value, err);
  if (status == GPNN_OK && column->kind == GPNN_COLUMN_LATITUDE)
    status = read_coordinate(schema, map, column->partner, table, record, na, &other, err);
  if (status != GPNN_OK) return status;
  if (column->kind == GPNN_COLUMN_PERIODIC) point_on_circle(value, column->period, features);
  if (column->kind == GPNN_COLUMN_LATITUDE) point_on_sphere(value, other, features);
  for (size_t l = 0; l < column->n_levels; l++) features[l] = is_known && l == level;
  *unseen = !is_known;
  return GPNN_OK;
}

enum gpnn_status gpnn_schema_encode(const struct gpnn_schema *schema,
                                    const struct gpnn_columns_map *map,
                                    const struct gpnn_table *table,
                                    const struct gpnn_record *record, const char *na,
                                    double *features, size_t *n_unseen, struct gpnn_error *err)
{
  size_t n = 0;
  for (size_t i = 0; i < schema->n_inputs; i++) {
    bool unseen = false;
    enum gpnn_status status =
        encode_input(schema, map, i, table, record, na, features, &unseen, err);
    if (status != GPNN_OK) return status;
    n += unseen;
    features += width(&schema->inputs[i]);
  }
  *n_unseen += n;
  return GPNN_OK;
}

enum gpnn_status gpnn_schema_noise(const struct gpnn_columns_map *map,
                                   const struct gpnn_table *table, const struct gpnn_record *record,
                                   const char *na, double *variance, struct gpnn_error *err)
{
  double value = 0;
  if (map->has_noise) {
    enum gpnn_status status = gpnn_columns_number(table, record, map->noise, na, &value, err);
    if (status != GPNN_OK) return status;
    if (value < 0)
      return gpnn_columns_fail_field(table, record, map->noise, "a variance is not negative", true,
                                     err);
  }
  *variance = value;
  return GPNN_OK;
}
