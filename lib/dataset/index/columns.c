/*
 * Composing and decoding the sections of gpnn-index(5) that describe columns.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/index/index_private.h"
#include "table/date.h"

/* ---- composing ---- */

/* Classes have a section of their own. */
static void compose_column(struct blob *blob, const struct gpnn_column *column)
{
  size_t n_levels = column->kind == GPNN_COLUMN_CATEGORY ? column->n_levels : 0;
  put_u64(blob, column->position);
  put_u32(blob, column->kind == GPNN_COLUMN_CATEGORY);
  put_u32(blob, (uint32_t)n_levels);
  put_text(blob, column->name, strlen(column->name));
  for (size_t i = 0; i < n_levels; i++) put_text(blob, column->levels[i], column->level_lengths[i]);
}

void gpnn_index_compose_columns(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_schema *schema = &contents->dataset->schema;
  put_u64(blob, schema->n_columns);
  put_u32(blob, schema->has_header);
  put_u32(blob, (uint32_t)schema->n_inputs);
  compose_column(blob, &schema->target);
  for (size_t i = 0; i < schema->n_inputs; i++) compose_column(blob, &schema->inputs[i]);
}

/* True of an input whose levels have a section of their own; it is a number in others. */
static bool is_elsewhere(const struct gpnn_column *column)
{
  return column->kind == GPNN_COLUMN_NAMES || column->kind == GPNN_COLUMN_CODED ||
         column->kind == GPNN_COLUMN_EFFECT;
}

/* True if a schema has more than numbers and categories as inputs and one target. */
bool gpnn_index_has_roles(const struct gpnn_index_contents *contents)
{
  const struct gpnn_schema *schema = &contents->dataset->schema;
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (schema->inputs[i].kind > GPNN_COLUMN_CATEGORY && !is_elsewhere(&schema->inputs[i]))
      return true;
  return schema->n_more > 0 || schema->n_regressors > 0 || schema->has_noise;
}

void gpnn_index_compose_roles(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_schema *schema = &contents->dataset->schema;
  put_u32(blob, (uint32_t)schema->n_more);
  put_u32(blob, (uint32_t)schema->n_regressors);
  put_u32(blob, schema->has_noise);
  put_u32(blob, 0);
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    put_u32(blob, is_elsewhere(column) ? GPNN_COLUMN_NUMBER : column->kind);
    put_u32(blob, (uint32_t)column->partner);
    put_f64(blob, column->period);
  }
  for (size_t t = 0; t < schema->n_more; t++) compose_column(blob, &schema->more[t]);
  for (size_t j = 0; j < schema->n_regressors; j++) compose_column(blob, &schema->regressors[j]);
  if (schema->has_noise) compose_column(blob, &schema->noise);
}

bool gpnn_index_has_offsets(const struct gpnn_index_contents *contents)
{
  return contents->dataset->schema.n_offsets > 0;
}

void gpnn_index_compose_offsets(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_schema *schema = &contents->dataset->schema;
  for (size_t t = 0; t < schema->n_offsets; t++) compose_column(blob, &schema->offsets[t]);
}

bool gpnn_index_has_classes(const struct gpnn_index_contents *contents)
{
  const struct gpnn_schema *schema = &contents->dataset->schema;
  bool any = false;
  for (size_t t = 0; t <= schema->n_more; t++) any = any || gpnn_schema_has_classes(schema, t);
  return any;
}

void gpnn_index_compose_classes(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_schema *schema = &contents->dataset->schema;
  for (size_t t = 0; t <= schema->n_more; t++) {
    const struct gpnn_column *column = gpnn_schema_target(schema, t);
    put_u32(blob, (uint32_t)column->n_levels);
    for (size_t c = 0; c < column->n_levels; c++)
      put_text(blob, column->levels[c], column->level_lengths[c]);
  }
}

bool gpnn_index_has_names(const struct gpnn_index_contents *contents)
{
  const struct gpnn_schema *schema = &contents->dataset->schema;
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (schema->inputs[i].kind == GPNN_COLUMN_NAMES) return true;
  return false;
}

/* The levels of the inputs of a kind; with codes, what belongs to those after them. */
static void compose_levels(struct blob *blob, const struct gpnn_schema *schema,
                           enum gpnn_column_kind kind)
{
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    size_t n = column->kind == kind ? column->n_levels - column->n_later : 0;
    put_u32(blob, (uint32_t)n);
    for (size_t l = 0; l < n; l++) put_text(blob, column->levels[l], column->level_lengths[l]);
    if (n == 0 || kind != GPNN_COLUMN_CODED) continue;
    put_f64s(blob, n, column->codes);
    put_f64(blob, column->shrinkage);
  }
}

void gpnn_index_compose_names(struct blob *blob, const struct gpnn_index_contents *contents)
{
  compose_levels(blob, &contents->dataset->schema, GPNN_COLUMN_NAMES);
}

bool gpnn_index_has_codes(const struct gpnn_index_contents *contents)
{
  const struct gpnn_schema *schema = &contents->dataset->schema;
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (schema->inputs[i].kind == GPNN_COLUMN_CODED) return true;
  return false;
}

void gpnn_index_compose_codes(struct blob *blob, const struct gpnn_index_contents *contents)
{
  compose_levels(blob, &contents->dataset->schema, GPNN_COLUMN_CODED);
}

bool gpnn_index_has_later(const struct gpnn_index_contents *contents)
{
  const struct gpnn_schema *schema = &contents->dataset->schema;
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (schema->inputs[i].n_later > 0) return true;
  return false;
}

void gpnn_index_compose_later(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_schema *schema = &contents->dataset->schema;
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    size_t n = column->n_later, first = column->n_levels - n;
    put_u32(blob, (uint32_t)n);
    for (size_t l = first; l < column->n_levels; l++)
      put_text(blob, column->levels[l], column->level_lengths[l]);
    if (n == 0 || column->kind != GPNN_COLUMN_CODED) continue;
    put_f64s(blob, n, column->codes + first);
    put_f64s(blob, n, column->later);
  }
}

bool gpnn_index_has_effects(const struct gpnn_index_contents *contents)
{
  return contents->dataset->schema.n_effects > 0;
}

void gpnn_index_compose_effects(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_schema *schema = &contents->dataset->schema;
  compose_levels(blob, schema, GPNN_COLUMN_EFFECT);
  put_u32(blob, (uint32_t)schema->n_effects);
  for (size_t e = 0; e < schema->n_effects; e++) {
    const struct gpnn_group_effect *effect = &schema->effects[e];
    put_u32(blob, (uint32_t)effect->n_columns);
    for (size_t k = 0; k < effect->n_columns; k++) put_u32(blob, (uint32_t)effect->columns[k]);
    put_u32(blob, effect->has_slope);
    put_u32(blob, effect->has_slope ? (uint32_t)effect->slope : 0);
  }
}

bool gpnn_index_has_exposure(const struct gpnn_index_contents *contents)
{
  return contents->dataset->schema.has_exposure;
}

void gpnn_index_compose_exposure(struct blob *blob, const struct gpnn_index_contents *contents)
{
  compose_column(blob, &contents->dataset->schema.exposure);
}

bool gpnn_index_has_groups(const struct gpnn_index_contents *contents)
{
  return contents->dataset->schema.has_by;
}

void gpnn_index_compose_groups(struct blob *blob, const struct gpnn_index_contents *contents)
{
  put_u64(blob, contents->dataset->n_row_groups);
  compose_column(blob, &contents->dataset->schema.by);
}

/* A sample of the rows has those of all, which are not its own. */
bool gpnn_index_has_ids(const struct gpnn_index_contents *contents)
{
  const struct gpnn_dataset *dataset = contents->dataset;
  return dataset->ids != NULL && dataset->ids->n == dataset->n + dataset->n_calibration;
}

/* Which of the columns of its name it is stands here, as hashed sections know nothing of it. */
void gpnn_index_compose_ids(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_column *id = &contents->dataset->schema.id;
  put_u32(blob, (uint32_t)id->occurrence);
  put_u32(blob, (uint32_t)id->n_namesakes);
  compose_column(blob, id);
}

bool gpnn_index_has_notation(const struct gpnn_index_contents *contents)
{
  return !gpnn_notation_is_usual(&contents->dataset->schema.notation);
}

void gpnn_index_compose_notation(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_notation *notation = &contents->dataset->schema.notation;
  const char *strip = notation->strip == NULL ? "" : notation->strip;
  const char *comment = notation->comment == NULL ? "" : notation->comment;
  put_u32(blob, notation->decimal == ',');
  put_u32(blob, notation->thousands);
  put_u32(blob, notation->missing != NULL);
  put_u32(blob, 0);
  put_text(blob, notation->missing, notation->missing == NULL ? 0 : strlen(notation->missing));
  put_text(blob, strip, strlen(strip));
  put_text(blob, comment, strlen(comment));
}

/* Columns are walked in a copy of the schema, which gpnn_schema_column() may change. */
bool gpnn_index_has_names_or_dates(const struct gpnn_index_contents *contents)
{
  struct gpnn_schema schema = contents->dataset->schema;
  const struct gpnn_column *column;
  for (size_t k = 0; (column = gpnn_schema_column(&schema, k)) != NULL; k++)
    if (column->date != NULL || column->n_namesakes > 0) return true;
  return false;
}

void gpnn_index_compose_names_and_dates(struct blob *blob,
                                        const struct gpnn_index_contents *contents)
{
  struct gpnn_schema schema = contents->dataset->schema;
  const struct gpnn_column *column;
  for (size_t k = 0; (column = gpnn_schema_column(&schema, k)) != NULL; k++) {
    put_u32(blob, (uint32_t)column->occurrence);
    put_u32(blob, (uint32_t)column->n_namesakes);
    put_text(blob, column->date, column->date == NULL ? 0 : strlen(column->date));
  }
}

/* ---- decoding ---- */

/* Levels, 'n' of them, of which there may be 'most'. */
static void decode_levels(struct cursor *cursor, size_t n, size_t most, struct gpnn_column *column)
{
  enum { LEAST_LEVEL = 4 };
  require(cursor, n <= most);
  column->levels = take_array(cursor, n, LEAST_LEVEL, sizeof *column->levels);
  column->level_lengths = take_array(cursor, n, LEAST_LEVEL, sizeof *column->level_lengths);
  if (cursor->failed) return;
  column->n_levels = n;
  for (size_t i = 0; i < n; i++) column->levels[i] = take_text(cursor, &column->level_lengths[i]);
}

static void decode_column(struct cursor *cursor, size_t n_columns, struct gpnn_column *column)
{
  size_t name_length;
  column->position = take_size(cursor);
  bool is_category = take_bool(cursor);
  column->kind = is_category ? GPNN_COLUMN_CATEGORY : GPNN_COLUMN_NUMBER;
  size_t n_levels = take_u32(cursor);
  column->name = take_text(cursor, &name_length);
  require(cursor, column->position < n_columns);
  require(cursor, is_category || n_levels == 0);
  require(cursor, column->name != NULL && strlen(column->name) == name_length);
  if (is_category) decode_levels(cursor, n_levels, GPNN_LEVELS_MAX, column);
}

enum { LEAST_COLUMN = 20 };

void gpnn_index_decode_columns(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_schema *schema = &index->dataset.schema;
  schema->n_columns = take_size(cursor);
  schema->has_header = take_bool(cursor);
  size_t n_inputs = take_u32(cursor);
  decode_column(cursor, schema->n_columns, &schema->target);
  require(cursor, n_inputs > 0 && schema->target.kind == GPNN_COLUMN_NUMBER);
  schema->inputs = take_array(cursor, n_inputs, LEAST_COLUMN, sizeof *schema->inputs);
  if (schema->inputs == NULL) return;
  schema->n_inputs = n_inputs;
  for (size_t i = 0; i < n_inputs; i++)
    decode_column(cursor, schema->n_columns, &schema->inputs[i]);
}

/* The kind of an input, which is a category or a number so far. */
static void decode_kind(struct cursor *cursor, struct gpnn_column *column)
{
  uint32_t kind = take_u32(cursor);
  column->partner = take_u32(cursor);
  column->period = take_f64(cursor);
  require(cursor, kind <= GPNN_COLUMN_LONGITUDE);
  require(cursor, (kind == GPNN_COLUMN_CATEGORY) == (column->kind == GPNN_COLUMN_CATEGORY));
  require(cursor, kind == GPNN_COLUMN_PERIODIC ? column->period > 0 : column->period == 0);
  if (!cursor->failed) column->kind = (enum gpnn_column_kind)kind;
}

/* Latitudes and longitudes come in pairs. */
static void require_pairs(struct cursor *cursor, const struct gpnn_schema *schema)
{
  for (size_t i = 0; i < schema->n_inputs && !cursor->failed; i++) {
    enum gpnn_column_kind kind = schema->inputs[i].kind, other = GPNN_COLUMN_LATITUDE;
    size_t partner = schema->inputs[i].partner;
    bool is_paired = kind == GPNN_COLUMN_LATITUDE || kind == GPNN_COLUMN_LONGITUDE;
    if (kind == GPNN_COLUMN_LATITUDE) other = GPNN_COLUMN_LONGITUDE;
    require(cursor, is_paired ? partner < schema->n_inputs : partner == 0);
    if (!is_paired || cursor->failed) continue;
    require(cursor, schema->inputs[partner].kind == other && schema->inputs[partner].partner == i);
  }
}

/* 'n' columns that are numbers; '*n_taken' is how many to release, whatever fails. */
static void decode_numbers(struct cursor *cursor, size_t n_columns, size_t n,
                           struct gpnn_column **columns, size_t *n_taken)
{
  *columns = take_array(cursor, n, LEAST_COLUMN, sizeof **columns);
  if (*columns == NULL) return;
  *n_taken = n;
  for (size_t i = 0; i < n; i++) {
    decode_column(cursor, n_columns, &(*columns)[i]);
    require(cursor, (*columns)[i].kind == GPNN_COLUMN_NUMBER);
  }
}

void gpnn_index_decode_roles(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_schema *schema = &index->dataset.schema;
  size_t n_more = take_u32(cursor), n_regressors = take_u32(cursor);
  schema->has_noise = take_bool(cursor);
  require(cursor, take_u32(cursor) == 0);
  for (size_t i = 0; i < schema->n_inputs; i++) decode_kind(cursor, &schema->inputs[i]);
  require_pairs(cursor, schema);
  decode_numbers(cursor, schema->n_columns, n_more, &schema->more, &schema->n_more);
  decode_numbers(cursor, schema->n_columns, n_regressors, &schema->regressors,
                 &schema->n_regressors);
  if (schema->has_noise) decode_column(cursor, schema->n_columns, &schema->noise);
  require(cursor, schema->noise.kind == GPNN_COLUMN_NUMBER);
}

/* An offset for each target. */
void gpnn_index_decode_offsets(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_schema *schema = &index->dataset.schema;
  decode_numbers(cursor, schema->n_columns, 1 + schema->n_more, &schema->offsets,
                 &schema->n_offsets);
}

void gpnn_index_decode_classes(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_schema *schema = &index->dataset.schema;
  for (size_t t = 0; t <= schema->n_more && !cursor->failed; t++) {
    struct gpnn_column *column = t == 0 ? &schema->target : &schema->more[t - 1];
    size_t n_classes = take_u32(cursor);
    decode_levels(cursor, n_classes, GPNN_LEVELS_MAX, column);
    if (n_classes > 0) column->kind = GPNN_COLUMN_CLASSES;
  }
}

/* The same for inputs that COLS has as numbers, and that become a kind with levels. */
static void decode_inputs(struct cursor *cursor, struct gpnn_index *index, size_t most,
                          enum gpnn_column_kind kind)
{
  struct gpnn_schema *schema = &index->dataset.schema;
  for (size_t i = 0; i < schema->n_inputs && !cursor->failed; i++) {
    struct gpnn_column *column = &schema->inputs[i];
    size_t n = take_u32(cursor);
    if (n == 0) continue;
    require(cursor, column->kind == GPNN_COLUMN_NUMBER && column->date == NULL);
    if (cursor->failed) return;
    decode_levels(cursor, n, most, column);
    column->kind = kind;
    if (cursor->failed || kind != GPNN_COLUMN_CODED) continue;
    column->codes = take_f64s(cursor, n, 1);
    column->shrinkage = take_f64(cursor);
    require(cursor, column->shrinkage >= 0);
  }
}

void gpnn_index_decode_names(struct cursor *cursor, struct gpnn_index *index)
{
  decode_inputs(cursor, index, GPNN_NAMES_MAX, GPNN_COLUMN_NAMES);
}

void gpnn_index_decode_codes(struct cursor *cursor, struct gpnn_index *index)
{
  decode_inputs(cursor, index, GPNN_CODED_MAX, GPNN_COLUMN_CODED);
}

/* Makes room for 'm' more items of an array of 'n'. */
static bool make_room(void *array, size_t n, size_t m, size_t item_bytes)
{
  size_t capacity = n;
  return gpnn_grow(array, &capacity, n + m, item_bytes);
}

/* Adds levels that came later to those of a column; 'later' has none after that. */
static void append_levels(struct cursor *cursor, struct gpnn_column *column,
                          struct gpnn_column *later)
{
  size_t n = column->n_levels, m = later->n_levels, length = sizeof *column->level_lengths;
  if (!cursor->failed && make_room(&column->levels, n, m, sizeof *column->levels) &&
      make_room(&column->level_lengths, n, m, length) &&
      (later->codes == NULL || make_room(&column->codes, n, m, sizeof *column->codes))) {
    memcpy(column->levels + n, later->levels, m * sizeof *column->levels);
    memcpy(column->level_lengths + n, later->level_lengths, m * length);
    if (later->codes != NULL) memcpy(column->codes + n, later->codes, m * sizeof *column->codes);
    column->n_levels += m;
    column->n_later = m;
    column->later = later->later;
    later->later = NULL;
    later->n_levels = 0;
  } else if (!cursor->failed) {
    cursor->failed = cursor->out_of_memory = true;
  }
  for (size_t l = 0; l < later->n_levels; l++) free(later->levels[l]);
  free(later->levels);
  free(later->level_lengths);
  free(later->codes);
  free(later->later);
}

void gpnn_index_decode_later(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_schema *schema = &index->dataset.schema;
  for (size_t i = 0; i < schema->n_inputs && !cursor->failed; i++) {
    struct gpnn_column *column = &schema->inputs[i], later = {.n_levels = 0};
    size_t n = take_u32(cursor);
    if (n == 0) continue;
    bool is_coded = column->kind == GPNN_COLUMN_CODED;
    require(cursor, is_coded || column->kind == GPNN_COLUMN_EFFECT);
    require(cursor, n <= GPNN_CODED_MAX - column->n_levels);
    decode_levels(cursor, n, GPNN_CODED_MAX, &later);
    if (is_coded) later.codes = take_f64s(cursor, n, 1);
    if (is_coded) later.later = take_f64s(cursor, n, 1);
    for (size_t l = 0; is_coded && !cursor->failed && l < n; l++)
      require(cursor, later.later[l] >= 0);
    append_levels(cursor, column, &later);
  }
}

static void decode_effect(struct cursor *cursor, const struct gpnn_schema *schema,
                          struct gpnn_group_effect *effect)
{
  effect->n_columns = take_u32(cursor);
  require(cursor, effect->n_columns > 0 && effect->n_columns <= GPNN_EFFECT_CROSSED);
  for (size_t k = 0; k < effect->n_columns && !cursor->failed; k++) {
    effect->columns[k] = take_u32(cursor);
    require(cursor, effect->columns[k] < schema->n_inputs &&
                        schema->inputs[effect->columns[k]].kind == GPNN_COLUMN_EFFECT);
  }
  effect->has_slope = take_bool(cursor);
  effect->slope = take_u32(cursor);
  require(cursor, effect->has_slope || effect->slope == 0);
  require(cursor, !effect->has_slope || (effect->slope < schema->n_inputs &&
                                         schema->inputs[effect->slope].kind == GPNN_COLUMN_NUMBER));
}

void gpnn_index_decode_effects(struct cursor *cursor, struct gpnn_index *index)
{
  enum { LEAST_EFFECT = 16 };
  struct gpnn_schema *schema = &index->dataset.schema;
  decode_inputs(cursor, index, GPNN_CODED_MAX, GPNN_COLUMN_EFFECT);
  size_t n = take_u32(cursor);
  require(cursor, n > 0);
  schema->effects = take_array(cursor, n, LEAST_EFFECT, sizeof *schema->effects);
  if (schema->effects == NULL) return;
  schema->n_effects = n;
  for (size_t e = 0; e < n; e++) decode_effect(cursor, schema, &schema->effects[e]);
}

void gpnn_index_decode_exposure(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_schema *schema = &index->dataset.schema;
  schema->has_exposure = true;
  decode_column(cursor, schema->n_columns, &schema->exposure);
  require(cursor, schema->exposure.kind == GPNN_COLUMN_NUMBER);
}

void gpnn_index_decode_groups(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_schema *schema = &index->dataset.schema;
  index->dataset.n_row_groups = take_size(cursor);
  require(cursor, index->dataset.n_row_groups > 0);
  require(cursor, index->dataset.n_row_groups <= index->dataset.n);
  schema->has_by = true;
  decode_column(cursor, schema->n_columns, &schema->by);
  require(cursor, schema->by.kind == GPNN_COLUMN_NUMBER);
}

void gpnn_index_decode_ids(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_schema *schema = &index->dataset.schema;
  size_t occurrence = take_u32(cursor), n_namesakes = take_u32(cursor);
  schema->has_id = true;
  decode_column(cursor, schema->n_columns, &schema->id);
  require(cursor, schema->id.kind == GPNN_COLUMN_NUMBER);
  require(cursor, occurrence <= n_namesakes && n_namesakes < schema->n_columns);
  schema->id.occurrence = occurrence;
  schema->id.n_namesakes = n_namesakes;
}

/* A text without NUL bytes. */
static char *decode_text(struct cursor *cursor)
{
  size_t length;
  char *text = take_text(cursor, &length);
  require(cursor, text != NULL && strlen(text) == length);
  return text;
}

/* The same, or NULL for none. */
static char *decode_optional(struct cursor *cursor)
{
  char *text = decode_text(cursor);
  if (text != NULL && text[0] != '\0') return text;
  free(text);
  return NULL;
}

void gpnn_index_decode_notation(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_notation *notation = &index->dataset.schema.notation;
  notation->decimal = take_bool(cursor) ? ',' : '.';
  notation->thousands = take_bool(cursor);
  bool has_missing = take_bool(cursor);
  require(cursor, take_u32(cursor) == 0);
  notation->missing = has_missing ? decode_text(cursor) : decode_optional(cursor);
  require(cursor, has_missing || notation->missing == NULL);
  notation->strip = decode_optional(cursor);
  notation->comment = decode_optional(cursor);
}

/* Inputs that are numbers or circles, and regressors, may be dates.  'k' as in
 * gpnn_schema_column(). */
static bool may_be_date(const struct gpnn_schema *schema, size_t k)
{
  size_t first = 1 + schema->n_inputs + schema->n_more; /* regressor */
  if (k == 0 || k > schema->n_inputs) return k >= first && k < first + schema->n_regressors;
  enum gpnn_column_kind kind = schema->inputs[k - 1].kind;
  return kind == GPNN_COLUMN_NUMBER || kind == GPNN_COLUMN_PERIODIC;
}

/* An input from the same column as the one before it is one of the periods of a date. */
static bool has_place(const struct gpnn_schema *schema, size_t i)
{
  if (!gpnn_schema_is_repeat(schema, i)) return true;
  return schema->inputs[i].kind == GPNN_COLUMN_PERIODIC &&
         (gpnn_schema_is_repeat(schema, i - 1) || schema->inputs[i - 1].kind == GPNN_COLUMN_NUMBER);
}

void gpnn_index_decode_names_and_dates(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_schema *schema = &index->dataset.schema;
  struct gpnn_column *column;
  for (size_t k = 0; (column = gpnn_schema_column(schema, k)) != NULL; k++) {
    column->occurrence = take_u32(cursor);
    column->n_namesakes = take_u32(cursor);
    column->date = decode_optional(cursor);
    require(cursor, column->occurrence <= column->n_namesakes);
    require(cursor, column->n_namesakes < schema->n_columns);
    if (column->date == NULL) continue;
    require(cursor, may_be_date(schema, k) && gpnn_date_check(column->date, NULL) == GPNN_OK);
  }
  for (size_t i = 0; i < schema->n_inputs; i++) require(cursor, has_place(schema, i));
}
