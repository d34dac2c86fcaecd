#include "data/schema.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/columns.h"
#include "data/columns_directory.h"

static const char *mask(char out[GPNN_MASK_BYTES], const char *name)
{
  return gpnn_mask(out, name, strlen(name));
}

/* ---- roles ------------------------------------------------------------------------------- */

enum role { NO_ROLE, INPUT, TARGET };

/* Roles of all columns while they are chosen, and the inputs in their order. */
struct choice {
  const struct gpnn_directory *directory;
  size_t n_inputs;
  size_t *inputs; /* owned */
  enum role *roles;
  size_t target;
};

/* The inputs asked for, or all columns but the target. */
static enum gpnn_status choose_inputs(struct choice *choice, const char *list,
                                      struct gpnn_error *err)
{
  if (list != NULL) {
    enum gpnn_status status = gpnn_columns_find_list(choice->directory->table, list,
                                                     &choice->inputs, &choice->n_inputs, err);
    if (status != GPNN_OK) return status;
  } else {
    choice->inputs = gpnn_alloc(choice->directory->n, 1, sizeof *choice->inputs);
    if (choice->inputs == NULL) return gpnn_fail_memory(err, "for the columns");
    for (size_t j = 0; j < choice->directory->n; j++)
      if (j != choice->target) choice->inputs[choice->n_inputs++] = j;
  }
  for (size_t i = 0; i < choice->n_inputs; i++) {
    if (choice->inputs[i] == choice->target)
      return gpnn_columns_fail(choice->directory->table, choice->target, "is both target and input",
                               err);
    choice->roles[choice->inputs[i]] = INPUT;
  }
  return GPNN_OK;
}

static enum gpnn_status drop_inputs(struct choice *choice, const char *list, struct gpnn_error *err)
{
  size_t *dropped = NULL, n = 0;
  if (list != NULL) {
    enum gpnn_status status =
        gpnn_columns_find_list(choice->directory->table, list, &dropped, &n, err);
    if (status != GPNN_OK) return status;
  }
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    if (dropped[i] == choice->target)
      status = gpnn_columns_fail(choice->directory->table, dropped[i],
                                 "is the target and cannot be dropped", err);
    else
      choice->roles[dropped[i]] = NO_ROLE;
  }
  free(dropped);
  if (status != GPNN_OK) return status;
  size_t kept = 0;
  for (size_t i = 0; i < choice->n_inputs; i++)
    if (choice->roles[choice->inputs[i]] == INPUT) choice->inputs[kept++] = choice->inputs[i];
  choice->n_inputs = kept;
  if (kept == 0)
    return gpnn_fail(err, GPNN_EINVAL, "%s: no input is left",
                     gpnn_table_name(choice->directory->table));
  return GPNN_OK;
}

/* Later tables are matched by name, so a name with a role may not occur twice. */
static enum gpnn_status check_names(const struct choice *choice, struct gpnn_error *err)
{
  const struct gpnn_directory *directory = choice->directory;
  for (size_t k = 0; k + 1 < directory->n; k++) {
    const struct gpnn_named *here = &directory->sorted[k];
    if (strcmp(here[0].name, here[1].name) != 0) continue;
    if (choice->roles[here[0].position] == NO_ROLE && choice->roles[here[1].position] == NO_ROLE)
      continue;
    size_t first;
    size_t count = gpnn_directory_count(directory, here->name, &first);
    return gpnn_columns_fail_ambiguous(directory->table, here->name, count, GPNN_EINVAL, err);
  }
  return GPNN_OK;
}

static enum gpnn_status fill_column(struct gpnn_column *column, const struct gpnn_table *table,
                                    size_t position, struct gpnn_error *err)
{
  const char *name = gpnn_table_column(table, position);
  column->position = position;
  column->name = gpnn_copy_text(name, strlen(name));
  return column->name == NULL ? gpnn_fail_memory(err, "for the column names") : GPNN_OK;
}

/* Turns the choice into a schema, categories still apart. */
static enum gpnn_status fill_schema(struct gpnn_schema *schema, const struct choice *choice,
                                    struct gpnn_error *err)
{
  const struct gpnn_table *table = choice->directory->table;
  schema->inputs = gpnn_alloc(choice->n_inputs, 1, sizeof *schema->inputs);
  if (schema->inputs == NULL) return gpnn_fail_memory(err, "for the columns");
  schema->n_inputs = choice->n_inputs;
  schema->n_columns = choice->directory->n;
  schema->has_header = gpnn_table_has_header(table);
  enum gpnn_status status = fill_column(&schema->target, table, choice->target, err);
  for (size_t i = 0; i < choice->n_inputs && status == GPNN_OK; i++)
    status = fill_column(&schema->inputs[i], table, choice->inputs[i], err);
  return status;
}

static enum gpnn_status mark_categories(struct gpnn_schema *schema, const struct choice *choice,
                                        const char *list, struct gpnn_error *err)
{
  if (list == NULL) return GPNN_OK;
  size_t *columns, n;
  enum gpnn_status status =
      gpnn_columns_find_list(choice->directory->table, list, &columns, &n, err);
  if (status != GPNN_OK) return status;
  bool *is_category = gpnn_alloc(choice->directory->n, 1, sizeof *is_category);
  if (is_category == NULL) status = gpnn_fail_memory(err, "for the columns");
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    is_category[columns[i]] = true;
    if (choice->roles[columns[i]] != INPUT)
      status = gpnn_columns_fail(choice->directory->table, columns[i],
                                 "is no input, so it cannot be one-hot", err);
  }
  for (size_t i = 0; i < schema->n_inputs && status == GPNN_OK; i++)
    schema->inputs[i].is_category = is_category[schema->inputs[i].position];
  free(is_category);
  free(columns);
  return status;
}

static enum gpnn_status choose(struct gpnn_schema *schema, struct choice *choice,
                               const struct gpnn_roles *roles, struct gpnn_error *err)
{
  choice->target = choice->directory->n - 1;
  enum gpnn_status status =
      roles->target == NULL
          ? GPNN_OK
          : gpnn_directory_find(choice->directory, roles->target, &choice->target, NULL, err);
  if (status != GPNN_OK) return status;
  choice->roles = gpnn_alloc(choice->directory->n, 1, sizeof *choice->roles);
  if (choice->roles == NULL) return gpnn_fail_memory(err, "for the columns");
  choice->roles[choice->target] = TARGET;
  status = choose_inputs(choice, roles->inputs, err);
  if (status == GPNN_OK) status = drop_inputs(choice, roles->drop, err);
  if (status == GPNN_OK) status = check_names(choice, err);
  if (status == GPNN_OK) status = fill_schema(schema, choice, err);
  if (status == GPNN_OK) status = mark_categories(schema, choice, roles->one_hot, err);
  return status;
}

enum gpnn_status gpnn_schema_choose(struct gpnn_schema *schema, const struct gpnn_table *table,
                                    const struct gpnn_roles *roles, struct gpnn_error *err)
{
  if (gpnn_table_columns(table) < 2)
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: has one column, but a target and an input are needed: "
                     "is the delimiter right?",
                     gpnn_table_name(table));
  struct gpnn_directory directory = {0};
  enum gpnn_status status = gpnn_directory_make(&directory, table, err);
  if (status != GPNN_OK) return status;
  struct choice choice = {.directory = &directory};
  status = choose(schema, &choice, roles, err);
  if (status != GPNN_OK) gpnn_schema_release(schema);
  free(choice.inputs);
  free(choice.roles);
  gpnn_directory_release(&directory);
  return status;
}

static void release_column(struct gpnn_column *column)
{
  for (size_t l = 0; l < column->n_levels; l++) free(column->levels[l]);
  free(column->levels);
  free(column->level_lengths);
  free(column->name);
}

void gpnn_schema_release(struct gpnn_schema *schema)
{
  for (size_t i = 0; i < schema->n_inputs; i++) release_column(&schema->inputs[i]);
  free(schema->inputs);
  release_column(&schema->target);
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

/* Composes the sentence about the 'n_missing' inputs that have no column (SIZE_MAX). */
static enum gpnn_status fail_missing(const struct gpnn_schema *schema,
                                     const struct gpnn_table *table, const size_t *inputs,
                                     size_t n_missing, struct gpnn_error *err)
{
  char list[400] = "", shown[GPNN_MASK_BYTES];
  size_t used = 0;
  for (size_t i = 0; i < schema->n_inputs; i++) {
    if (inputs[i] != SIZE_MAX) continue;
    if (used + GPNN_MASK_BYTES + sizeof ", ''" + sizeof ", ..." > sizeof list) {
      memcpy(list + used, ", ...", sizeof ", ...");
      break;
    }
    used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", used == 0 ? "" : ", ",
                             mask(shown, schema->inputs[i].name));
  }
  return gpnn_fail(err, GPNN_EMISMATCH, "%s: lacks %zu of %zu input column%s: %s",
                   gpnn_table_name(table), n_missing, schema->n_inputs,
                   schema->n_inputs == 1 ? "" : "s", list);
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

static enum gpnn_status match_names(const struct gpnn_schema *schema,
                                    const struct gpnn_directory *directory,
                                    struct gpnn_columns_map *map, struct gpnn_error *err)
{
  size_t n_missing = 0;
  for (size_t i = 0; i < schema->n_inputs; i++) {
    enum gpnn_status status = match_name(directory, schema->inputs[i].name, &map->inputs[i], err);
    if (status != GPNN_OK) return status;
    n_missing += map->inputs[i] == SIZE_MAX;
  }
  if (n_missing > 0) return fail_missing(schema, directory->table, map->inputs, n_missing, err);
  enum gpnn_status status = match_name(directory, schema->target.name, &map->target, err);
  map->has_target = map->target != SIZE_MAX;
  return status;
}

static enum gpnn_status match_positions(const struct gpnn_schema *schema,
                                        const struct gpnn_table *table,
                                        struct gpnn_columns_map *map, struct gpnn_error *err)
{
  size_t n = gpnn_table_columns(table);
  map->has_target = n == schema->n_columns;
  if (!map->has_target && n != schema->n_inputs)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "%s: has %zu column%s; without names it must have the %zu of the training "
                     "table or just the %zu input%s",
                     gpnn_table_name(table), n, n == 1 ? "" : "s", schema->n_columns,
                     schema->n_inputs, schema->n_inputs == 1 ? "" : "s");
  for (size_t i = 0; i < schema->n_inputs; i++)
    map->inputs[i] = map->has_target ? schema->inputs[i].position : i;
  map->target = map->has_target ? schema->target.position : SIZE_MAX;
  return GPNN_OK;
}

/* Sorts the levels each category has so far. */
static enum gpnn_status order_levels(const struct gpnn_schema *schema, struct gpnn_columns_map *map,
                                     struct gpnn_error *err)
{
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    struct gpnn_level_order *order = &map->orders[i];
    if (!column->is_category) continue;
    order->levels = gpnn_alloc(column->n_levels, 1, sizeof *order->levels);
    if (order->levels == NULL) return gpnn_fail_memory(err, "for the levels of a category");
    for (size_t level = 0; level < column->n_levels; level++) insert_level(column, order, level);
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_schema_match(const struct gpnn_schema *schema, const struct gpnn_table *table,
                                   struct gpnn_columns_map *map, struct gpnn_error *err)
{
  struct gpnn_columns_map new = {.n_orders = schema->n_inputs};
  new.inputs = gpnn_alloc(schema->n_inputs, 1, sizeof *new.inputs);
  new.orders = gpnn_alloc(schema->n_inputs, 1, sizeof *new.orders);
  enum gpnn_status status = GPNN_OK;
  if (new.inputs == NULL || new.orders == NULL) {
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
  if (status != GPNN_OK)
    gpnn_columns_map_release(&new);
  else
    *map = new;
  return status;
}

void gpnn_columns_map_release(struct gpnn_columns_map *map)
{
  for (size_t i = 0; map->orders != NULL && i < map->n_orders; i++) free(map->orders[i].levels);
  free(map->orders);
  free(map->inputs);
  *map = (struct gpnn_columns_map){0};
}

/* ---- features ---------------------------------------------------------------------------- */

static size_t width(const struct gpnn_column *column)
{
  return column->is_category ? column->n_levels : 1;
}

size_t gpnn_schema_features(const struct gpnn_schema *schema)
{
  size_t n = 0;
  for (size_t i = 0; i < schema->n_inputs; i++) n += width(&schema->inputs[i]);
  return n;
}

const char *gpnn_schema_feature_name(const struct gpnn_schema *schema, size_t feature,
                                     char name[GPNN_MASK_BYTES])
{
  const struct gpnn_column *column = schema->inputs;
  for (; feature >= width(column); column++) {
    assert(column < schema->inputs + schema->n_inputs);
    feature -= width(column);
  }
  if (!column->is_category) return mask(name, column->name);
  /* The mask shows fewer bytes than it has room for, so no more of either part is needed. */
  char whole[2 * GPNN_MASK_BYTES];
  size_t n = strlen(column->name), n_level = column->level_lengths[feature];
  if (n > GPNN_MASK_BYTES - 1) n = GPNN_MASK_BYTES - 1;
  if (n_level > GPNN_MASK_BYTES) n_level = GPNN_MASK_BYTES;
  memcpy(whole, column->name, n);
  whole[n] = '=';
  memcpy(whole + n + 1, column->levels[feature], n_level);
  return gpnn_mask(name, whole, n + 1 + n_level);
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

/* Reads one cell; a new level is -1 for now. */
static enum gpnn_status read_cell(const struct gpnn_schema *schema,
                                  const struct gpnn_columns_map *map, size_t input,
                                  const struct gpnn_table *table, const struct gpnn_record *record,
                                  const char *na, double *cell, struct gpnn_error *err)
{
  const struct gpnn_column *column = &schema->inputs[input];
  if (!column->is_category)
    return gpnn_columns_number(table, record, map->inputs[input], na, cell, err);
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
  return column->is_category && cell < 0;
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
    if (column->is_category)
      for (size_t l = 0; l < column->n_levels; l++) *features++ = cells[i] == (double)l;
    else
      *features++ = cells[i];
  }
}

enum gpnn_status gpnn_schema_encode(const struct gpnn_schema *schema,
                                    const struct gpnn_columns_map *map,
                                    const struct gpnn_table *table,
                                    const struct gpnn_record *record, const char *na,
                                    double *features, size_t *n_unseen, struct gpnn_error *err)
{
  size_t unseen = 0;
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    bool is_known = true;
    size_t level = 0;
    enum gpnn_status status =
        column->is_category ? read_level(schema, map, i, table, record, na, &is_known, &level, err)
                            : gpnn_columns_number(table, record, map->inputs[i], na, features, err);
    if (status != GPNN_OK) return status;
    if (column->is_category)
      for (size_t l = 0; l < column->n_levels; l++) features[l] = is_known && l == level;
    unseen += !is_known;
    features += width(column);
  }
  *n_unseen += unseen;
  return GPNN_OK;
}
