/*
 * Encoding rows of text as numbers: categories, dates, points on circles and on the sphere.
 */
#include <math.h>

#include "base/memory.h"
#include "table/columns.h"
#include "table/table_private.h"

/* ---- points ------------------------------------------------------------------------------ */

/* The remainder is exact, so x and x + period are the same point if their sum is exact. */
static void point_on_circle(double x, double period, double *features)
{
  double angle = 2 * M_PI * (remainder(x, period) / period);
  features[0] = sin(angle);
  features[1] = cos(angle);
}

static void point_on_sphere(double latitude, double longitude, double *features)
{
  double phi = latitude * (M_PI / 180), lambda = remainder(longitude, 360) * (M_PI / 180);
  features[0] = GPNN_EARTH_RADIUS * cos(phi) * cos(lambda);
  features[1] = GPNN_EARTH_RADIUS * cos(phi) * sin(lambda);
  features[2] = GPNN_EARTH_RADIUS * sin(phi);
}

/* ---- rows -------------------------------------------------------------------------------- */

/* What says which level a row has: its field, or where that is missing an empty one, whose level is
 * one like any other.  NULL: it must not be missing. */
static const struct gpnn_field *level_field(const struct gpnn_columns_map *map,
                                            const struct gpnn_column *column,
                                            const struct gpnn_table *table,
                                            const struct gpnn_field *field)
{
  static const struct gpnn_field empty = {"", 0};
  if (!gpnn_field_is_missing(table, field)) return field;
  bool may_lack = column->kind == GPNN_COLUMN_CATEGORY || column->kind == GPNN_COLUMN_EFFECT;
  return map->takes_levels && may_lack ? &empty : NULL;
}

/* Reads a category's level into '*level'; '*is_known' is false if training has not seen it. */
static enum gpnn_status read_level(const struct gpnn_schema *schema,
                                   const struct gpnn_columns_map *map, size_t input,
                                   const struct gpnn_table *table, const struct gpnn_record *record,
                                   bool *is_known, size_t *level, struct gpnn_error *err)
{
  const struct gpnn_column *column = &schema->inputs[input];
  const struct gpnn_field *field =
      level_field(map, column, table, &record->fields[map->inputs[input]]);
  if (field == NULL)
    return gpnn_columns_fail_field(table, record, map->inputs[input], "missing value", false, err);
  *is_known =
      gpnn_schema_find_level(column, &map->orders[input], gpnn_table_values(table), field, level);
  return GPNN_OK;
}

/* Reads field 'position', which is a column of the schema, as a number or as a date. */
static enum gpnn_status read_number(const struct gpnn_column *column, size_t position,
                                    const struct gpnn_table *table,
                                    const struct gpnn_record *record, double *value,
                                    struct gpnn_error *err)
{
  return column->date == NULL
             ? gpnn_columns_number(table, record, position, value, err)
             : gpnn_columns_date(table, record, position, column->date, value, err);
}

/* Reads an input that is no category; NaN if it is missing and may be. */
static enum gpnn_status read_input(const struct gpnn_schema *schema,
                                   const struct gpnn_columns_map *map, size_t input,
                                   const struct gpnn_table *table, const struct gpnn_record *record,
                                   double *value, struct gpnn_error *err)
{
  size_t position = map->inputs[input];
  *value = NAN;
  if (map->takes_missing && gpnn_field_is_missing(table, &record->fields[position])) return GPNN_OK;
  return read_number(&schema->inputs[input], position, table, record, value, err);
}

/* Reads a coordinate of a point on a circle or on the sphere, whose degrees must be in range. */
static enum gpnn_status read_coordinate(const struct gpnn_schema *schema,
                                        const struct gpnn_columns_map *map, size_t input,
                                        const struct gpnn_table *table,
                                        const struct gpnn_record *record, double *value,
                                        struct gpnn_error *err)
{
  enum gpnn_column_kind kind = schema->inputs[input].kind;
  enum gpnn_status status = read_input(schema, map, input, table, record, value, err);
  if (status == GPNN_OK && kind == GPNN_COLUMN_LATITUDE && fabs(*value) > 90)
    status = gpnn_columns_fail_field(table, record, map->inputs[input],
                                     "not a latitude from -90 to 90 degrees", true, err);
  if (status == GPNN_OK && kind == GPNN_COLUMN_LONGITUDE && fabs(*value) > 720)
    status = gpnn_columns_fail_field(table, record, map->inputs[input],
                                     "not a longitude from -720 to 720 degrees", true, err);
  return status;
}

static bool has_levels(const struct gpnn_column *column)
{
  return column->kind == GPNN_COLUMN_CATEGORY || column->kind == GPNN_COLUMN_CODED ||
         column->kind == GPNN_COLUMN_EFFECT;
}

/* True if the text that would be coded is missing, and may be. */
static bool lacks_code(const struct gpnn_columns_map *map, size_t input,
                       const struct gpnn_column *column, const struct gpnn_table *table,
                       const struct gpnn_record *record)
{
  return column->kind == GPNN_COLUMN_CODED && map->takes_missing &&
         gpnn_field_is_missing(table, &record->fields[map->inputs[input]]);
}

/* Reads one cell; a new level is -1 for now. */
static enum gpnn_status read_cell(const struct gpnn_schema *schema,
                                  const struct gpnn_columns_map *map, size_t input,
                                  const struct gpnn_table *table, const struct gpnn_record *record,
                                  double *cell, struct gpnn_error *err)
{
  const struct gpnn_column *column = &schema->inputs[input];
  if (column->kind == GPNN_COLUMN_NUMBER)
    return read_input(schema, map, input, table, record, cell, err);
  if (!has_levels(column)) return read_coordinate(schema, map, input, table, record, cell, err);
  bool is_known = false;
  size_t level = 0;
  *cell = NAN;
  if (lacks_code(map, input, column, table, record)) return GPNN_OK;
  enum gpnn_status status = read_level(schema, map, input, table, record, &is_known, &level, err);
  if (status != GPNN_OK) return status;
  if (!is_known && gpnn_schema_is_ordered(column))
    return gpnn_columns_fail_field(table, record, map->inputs[input],
                                   "not one of the levels that are ordered", true, err);
  if (!is_known && column->kind != GPNN_COLUMN_CATEGORY && column->n_levels == GPNN_CODED_MAX)
    return gpnn_columns_fail_field(table, record, map->inputs[input],
                                   "has more than 100000 levels: is it an id?", false, err);
  if (!is_known && column->kind == GPNN_COLUMN_CATEGORY && column->n_levels == GPNN_LEVELS_MAX)
    return gpnn_columns_fail_field(table, record, map->inputs[input],
                                   "has more than 1000 levels: is it a category?", false, err);
  *cell = is_known ? (double)level : -1;
  return GPNN_OK;
}

static bool is_new_level(const struct gpnn_column *column, double cell)
{
  return has_levels(column) && cell < 0;
}

/* Adds the levels that are new in a row, whose cells they then are; after a failure, none. */
static enum gpnn_status add_levels(struct gpnn_schema *schema, const struct gpnn_columns_map *map,
                                   const struct gpnn_table *table, const struct gpnn_record *record,
                                   double *cells, struct gpnn_error *err)
{
  for (size_t i = 0; i < schema->n_inputs; i++) {
    struct gpnn_column *column = &schema->inputs[i];
    if (!is_new_level(column, cells[i])) continue;
    const struct gpnn_field *field =
        level_field(map, column, table, &record->fields[map->inputs[i]]);
    enum gpnn_status status =
        gpnn_schema_add_level(column, &map->orders[i], gpnn_table_values(table), field, err);
    if (status == GPNN_OK) continue;
    while (i-- > 0)
      if (is_new_level(&schema->inputs[i], cells[i]))
        gpnn_schema_remove_last_level(&schema->inputs[i], &map->orders[i]);
    return status;
  }
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (is_new_level(&schema->inputs[i], cells[i]))
      cells[i] = (double)(schema->inputs[i].n_levels - 1);
  return GPNN_OK;
}

enum gpnn_status gpnn_schema_learn(struct gpnn_schema *schema, const struct gpnn_columns_map *map,
                                   const struct gpnn_table *table, const struct gpnn_record *record,
                                   double *cells, struct gpnn_error *err)
{
  const struct gpnn_values *values = gpnn_table_values(table);
  bool has_new = false;
  /* The whole row is checked before any of its levels is added. */
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    if (column->kind == GPNN_COLUMN_NUMBER && column->date == NULL &&
        gpnn_field_read_plain(values, &record->fields[map->inputs[i]], &cells[i]))
      continue;
    if (gpnn_schema_is_repeat(schema, i)) {
      cells[i] = cells[i - 1];
      continue;
    }
    enum gpnn_status status = read_cell(schema, map, i, table, record, &cells[i], err);
    if (status != GPNN_OK) return status;
    has_new = has_new || is_new_level(column, cells[i]);
  }
  return has_new ? add_levels(schema, map, table, record, cells, err) : GPNN_OK;
}

void gpnn_schema_expand(const struct gpnn_schema *schema, const double *cells, double *features)
{
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    switch (column->kind) {
    case GPNN_COLUMN_NUMBER:
    case GPNN_COLUMN_NAMES:
    case GPNN_COLUMN_CODED:
      *features = cells[i];
      break;
    case GPNN_COLUMN_EFFECT:
      *features = (cells[i] + 1) * GPNN_EFFECT_UNIT;
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
    case GPNN_COLUMN_CLASSES:
      break;
    }
    features += gpnn_schema_width(column);
  }
}

enum gpnn_status gpnn_schema_learn_name(struct gpnn_schema *schema,
                                        const struct gpnn_columns_map *map, size_t input,
                                        const struct gpnn_table *table,
                                        const struct gpnn_record *record, size_t *level,
                                        struct gpnn_error *err)
{
  struct gpnn_column *column = &schema->inputs[input];
  const struct gpnn_field *field = &record->fields[map->inputs[input]];
  bool is_known = false;
  enum gpnn_status status = read_level(schema, map, input, table, record, &is_known, level, err);
  if (status != GPNN_OK || is_known) return status;
  if (column->n_levels == GPNN_NAMES_MAX)
    return gpnn_columns_fail_field(table, record, map->inputs[input],
                                   "has more than 20000 different names", false, err);
  *level = column->n_levels;
  return gpnn_schema_add_level(column, &map->orders[input], gpnn_table_values(table), field, err);
}

/* Adds the level of a record to a column that may get some later. */
static enum gpnn_status add_later(const struct gpnn_columns_map *map, size_t input,
                                  struct gpnn_column *column, const struct gpnn_table *table,
                                  const struct gpnn_record *record, struct gpnn_error *err)
{
  size_t of_codes = column->n_levels, of_later = column->n_later;
  const struct gpnn_field *field =
      level_field(map, column, table, &record->fields[map->inputs[input]]);
  if (column->kind == GPNN_COLUMN_CODED) {
    if (!gpnn_grow(&column->codes, &of_codes, column->n_levels + 1, sizeof *column->codes) ||
        !gpnn_grow(&column->later, &of_later, column->n_later + 1, sizeof *column->later))
      return gpnn_fail_memory(err, "for the codes of levels");
    column->codes[column->n_levels] = column->later[column->n_later] = 0;
  }
  enum gpnn_status status =
      gpnn_schema_add_level(column, &map->orders[input], gpnn_table_values(table), field, err);
  column->n_later += status == GPNN_OK;
  return status;
}

enum gpnn_status gpnn_schema_learn_later(struct gpnn_schema *schema,
                                         const struct gpnn_columns_map *map,
                                         const struct gpnn_table *table,
                                         const struct gpnn_record *record, size_t *n_new,
                                         struct gpnn_error *err)
{
  for (size_t i = 0; i < schema->n_inputs; i++) {
    struct gpnn_column *column = &schema->inputs[i];
    double cell;
    bool may_get_levels = column->kind == GPNN_COLUMN_CODED || column->kind == GPNN_COLUMN_EFFECT;
    if (!may_get_levels || gpnn_schema_is_ordered(column)) continue;
    enum gpnn_status status = read_cell(schema, map, i, table, record, &cell, err);
    if (status == GPNN_OK && !is_new_level(column, cell)) continue;
    if (status == GPNN_OK) status = add_later(map, i, column, table, record, err);
    if (status != GPNN_OK) return status;
    ++*n_new;
  }
  return GPNN_OK;
}

void gpnn_schema_learn_codes(struct gpnn_schema *schema, const struct gpnn_columns_map *map,
                             const struct gpnn_table *table, const struct gpnn_record *record,
                             double y)
{
  for (size_t i = 0; i < schema->n_inputs; i++) {
    struct gpnn_column *column = &schema->inputs[i];
    size_t first = column->n_levels - column->n_later;
    double cell;
    if (column->kind != GPNN_COLUMN_CODED || column->n_later == 0 ||
        read_cell(schema, map, i, table, record, &cell, NULL) != GPNN_OK ||
        !(cell >= (double)first))
      continue;
    double *code = &column->codes[(size_t)cell], *n = &column->later[(size_t)cell - first];
    double before = *n + column->shrinkage;
    *code = (*code * before + y) / (before + 1);
    ++*n;
  }
}

enum gpnn_status gpnn_schema_read_number(const struct gpnn_schema *schema,
                                         const struct gpnn_columns_map *map, size_t input,
                                         const struct gpnn_table *table,
                                         const struct gpnn_record *record, double *value,
                                         struct gpnn_error *err)
{
  return read_number(&schema->inputs[input], map->inputs[input], table, record, value, err);
}

/* Reads a name and encodes it; training must have seen it. */
static enum gpnn_status encode_name(const struct gpnn_schema *schema,
                                    const struct gpnn_columns_map *map, size_t input,
                                    const struct gpnn_table *table,
                                    const struct gpnn_record *record, double *feature,
                                    struct gpnn_error *err)
{
  bool is_known = false;
  size_t level = 0;
  enum gpnn_status status = read_level(schema, map, input, table, record, &is_known, &level, err);
  if (status == GPNN_OK && !is_known)
    status = gpnn_columns_fail_field(table, record, map->inputs[input],
                                     "not one of the names that the index has", true, err);
  if (status == GPNN_OK) *feature = (double)level;
  return status;
}

/* Reads a level and encodes it by its code. */
static enum gpnn_status encode_code(const struct gpnn_schema *schema,
                                    const struct gpnn_columns_map *map, size_t input,
                                    const struct gpnn_table *table,
                                    const struct gpnn_record *record, double *feature, bool *unseen,
                                    struct gpnn_error *err)
{
  const struct gpnn_column *column = &schema->inputs[input];
  bool is_known = false;
  size_t level = 0;
  *feature = NAN;
  if (lacks_code(map, input, column, table, record)) return GPNN_OK;
  enum gpnn_status status = read_level(schema, map, input, table, record, &is_known, &level, err);
  if (status != GPNN_OK) return status;
  *unseen = !is_known;
  if (is_known)
    *feature = column->codes[level];
  else if (!map->takes_missing)
    *feature = 0;
  return GPNN_OK;
}

/* Reads a level that has an effect and encodes it by its number. */
static enum gpnn_status encode_effect(const struct gpnn_schema *schema,
                                      const struct gpnn_columns_map *map, size_t input,
                                      const struct gpnn_table *table,
                                      const struct gpnn_record *record, double *feature,
                                      bool *unseen, struct gpnn_error *err)
{
  bool is_known = false;
  size_t level = 0;
  enum gpnn_status status = read_level(schema, map, input, table, record, &is_known, &level, err);
  *unseen = !is_known;
  *feature = is_known ? (double)(level + 1) * GPNN_EFFECT_UNIT : 0;
  return status;
}

/* Reads one input and encodes it; '*unseen' is set to true for a level that training has not seen.
 */
static enum gpnn_status encode_input(const struct gpnn_schema *schema,
                                     const struct gpnn_columns_map *map, size_t input,
                                     const struct gpnn_table *table,
                                     const struct gpnn_record *record, double *features,
                                     bool *unseen, struct gpnn_error *err)
{
  const struct gpnn_column *column = &schema->inputs[input];
  bool is_known = true;
  size_t level = 0;
  double value = 0, other = 0;
  if (column->kind == GPNN_COLUMN_NUMBER)
    return read_input(schema, map, input, table, record, features, err);
  if (column->kind == GPNN_COLUMN_NAMES)
    return encode_name(schema, map, input, table, record, features, err);
  if (column->kind == GPNN_COLUMN_CODED)
    return encode_code(schema, map, input, table, record, features, unseen, err);
  if (column->kind == GPNN_COLUMN_EFFECT)
    return encode_effect(schema, map, input, table, record, features, unseen, err);
  if (column->kind == GPNN_COLUMN_LONGITUDE) return GPNN_OK; /* read with its latitude */
  enum gpnn_status status =
      column->kind == GPNN_COLUMN_CATEGORY
          ? read_level(schema, map, input, table, record, &is_known, &level, err)
          : read_coordinate(schema, map, input, table, record, &value, err);
  if (status == GPNN_OK && column->kind == GPNN_COLUMN_LATITUDE)
    status = read_coordinate(schema, map, column->partner, table, record, &other, err);
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
                                    const struct gpnn_record *record, double *features,
                                    size_t *n_unseen, struct gpnn_error *err)
{
  size_t n = 0;
  double days = 0;
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    bool unseen = false;
    if (gpnn_schema_is_repeat(schema, i)) {
      point_on_circle(days, column->period, features);
    } else {
      enum gpnn_status status = encode_input(schema, map, i, table, record, features, &unseen, err);
      if (status != GPNN_OK) return status;
      if (column->date != NULL) days = features[0];
    }
    n += unseen;
    features += gpnn_schema_width(column);
  }
  *n_unseen += n;
  return GPNN_OK;
}

enum gpnn_status gpnn_schema_read_regressors(const struct gpnn_schema *schema,
                                             const struct gpnn_columns_map *map,
                                             const struct gpnn_table *table,
                                             const struct gpnn_record *record, double *regressors,
                                             struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < schema->n_regressors && status == GPNN_OK; j++)
    status =
        read_number(&schema->regressors[j], map->regressors[j], table, record, &regressors[j], err);
  return status;
}

enum gpnn_status gpnn_schema_noise(const struct gpnn_columns_map *map,
                                   const struct gpnn_table *table, const struct gpnn_record *record,
                                   double *variance, struct gpnn_error *err)
{
  double value = 0;
  if (map->has_noise) {
    enum gpnn_status status = gpnn_columns_number(table, record, map->noise, &value, err);
    if (status != GPNN_OK) return status;
    if (value < 0)
      return gpnn_columns_fail_field(table, record, map->noise, "a negative variance", true, err);
  }
  *variance = value;
  return GPNN_OK;
}

enum gpnn_status gpnn_schema_subtract_offset(const struct gpnn_columns_map *map,
                                             const struct gpnn_table *table,
                                             const struct gpnn_record *record, size_t t, double *y,
                                             double *offset, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_columns_number(table, record, map->offsets[t], offset, err);
  if (status != GPNN_OK) return status;
  *y -= *offset;
  if (isfinite(*y)) return GPNN_OK;
  return gpnn_columns_fail_field(table, record, map->offsets[t],
                                 "the target minus this offset is too large", true, err);
}

enum gpnn_status gpnn_schema_exposure(const struct gpnn_columns_map *map,
                                      const struct gpnn_table *table,
                                      const struct gpnn_record *record, double *exposure,
                                      struct gpnn_error *err)
{
  double value = 0;
  enum gpnn_status status = gpnn_columns_number(table, record, map->exposure, &value, err);
  if (status == GPNN_OK && value <= 0)
    status = gpnn_columns_fail_field(table, record, map->exposure,
                                     "an exposure that is not above 0", true, err);
  if (status == GPNN_OK) *exposure = value;
  return status;
}
