#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- patterns ----------------------------------------------------------------------------- */

enum { MOST_PATTERNS = 1 << 16, MOST_LACKS = 1 << 20 };

/* Makes a pattern of no rows yet, the last. */
static enum gpnn_status make(struct gpnn_patterns *patterns, size_t n,
                             const struct gpnn_lack *lacks, struct gpnn_error *err)
{
  if (!gpnn_grow(&patterns->patterns, &patterns->capacity, patterns->n + 1,
                 sizeof *patterns->patterns) ||
      !gpnn_grow(&patterns->lacks, &patterns->lacks_capacity, patterns->n_lacks + n,
                 sizeof *patterns->lacks))
    return gpnn_fail_memory(err, "for the missing values");
  memcpy(patterns->lacks + patterns->n_lacks, lacks, n * sizeof *lacks);
  patterns->patterns[patterns->n++] = (struct gpnn_pattern){patterns->n_lacks, n, 0};
  patterns->n_lacks += n;
  return GPNN_OK;
}

enum gpnn_status gpnn_patterns_add(struct gpnn_patterns *patterns, size_t n,
                                   const struct gpnn_lack *lacks, struct gpnn_error *err)
{
  uint32_t number;
  bool is_full = patterns->n >= MOST_PATTERNS || patterns->n_lacks + n > MOST_LACKS;
  if (is_full) {
    patterns->n_placeless++;
    return GPNN_OK;
  }
  enum gpnn_status status =
      gpnn_groups_number(&patterns->groups, (const char *)lacks, n * sizeof *lacks, &number, err);
  if (status == GPNN_OK && number == patterns->n) status = make(patterns, n, lacks, err);
  if (status == GPNN_OK) patterns->patterns[number].n_rows++;
  return status;
}

size_t gpnn_patterns_count(const struct gpnn_patterns *patterns,
                           bool (*is_needed)(const void *context, const struct gpnn_lack *lack),
                           const void *context)
{
  size_t n_rows = patterns->n_placeless;
  for (size_t i = 0; i < patterns->n; i++) {
    const struct gpnn_pattern *pattern = &patterns->patterns[i];
    size_t at = 0;
    while (at < pattern->length && !is_needed(context, &patterns->lacks[pattern->begin + at])) at++;
    if (at < pattern->length) n_rows += pattern->n_rows;
  }
  return n_rows;
}

void gpnn_patterns_release(struct gpnn_patterns *patterns)
{
  gpnn_groups_release(&patterns->groups);
  free(patterns->patterns);
  free(patterns->lacks);
  *patterns = (struct gpnn_patterns){0};
}

/* ---- profiles ----------------------------------------------------------------------------- */

/* Beyond these, columns no longer learn what their texts are, only how many. */
enum { MOST_LEVELS = 1 << 20, TEXTS_WITHOUT_DATE = 100 };

/* ---- making ------------------------------------------------------------------------------ */

/* Gives columns a role; dates in a format that the user gave are not looked at. */
static void mark(struct gpnn_profile *profile, size_t n, const struct gpnn_column *columns,
                 enum gpnn_profile_role role)
{
  for (size_t i = 0; i < n; i++) {
    struct gpnn_column_profile *column = &profile->columns[columns[i].position];
    column->role = columns[i].date != NULL ? GPNN_PROFILE_CODED : role;
    column->is_input = false;
  }
}

static void mark_inputs(struct gpnn_profile *profile, const struct gpnn_schema *schema)
{
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *input = &schema->inputs[i];
    bool is_coded = input->kind == GPNN_COLUMN_CATEGORY || input->kind == GPNN_COLUMN_CODED ||
                    input->kind == GPNN_COLUMN_EFFECT;
    if (input->kind == GPNN_COLUMN_EFFECT && profile->columns[input->position].is_input) continue;
    mark(profile, 1, input,
         is_coded                            ? GPNN_PROFILE_CODED
         : input->kind == GPNN_COLUMN_NUMBER ? GPNN_PROFILE_INPUT
                                             : GPNN_PROFILE_OTHER);
    profile->columns[input->position].is_input = true;
  }
}

enum gpnn_status gpnn_profile_make(struct gpnn_profile *profile, const struct gpnn_table *table,
                                   const struct gpnn_schema *schema, struct gpnn_error *err)
{
  size_t n = gpnn_table_columns(table);
  struct gpnn_column_profile *columns = gpnn_alloc(n, 1, sizeof *columns);
  if (columns == NULL) return gpnn_fail_memory(err, "for the columns");
  *profile = (struct gpnn_profile){.table = table, .n_columns = n, .columns = columns};
  for (size_t j = 0; j < n; j++) {
    columns[j].low = INFINITY;
    columns[j].high = -INFINITY;
  }
  if (schema->has_by) mark(profile, 1, &schema->by, GPNN_PROFILE_CODED);
  if (schema->has_id) mark(profile, 1, &schema->id, GPNN_PROFILE_CODED);
  mark_inputs(profile, schema);
  mark(profile, schema->n_regressors, schema->regressors, GPNN_PROFILE_OTHER);
  mark(profile, schema->n_offsets, schema->offsets, GPNN_PROFILE_OTHER);
  for (size_t t = 0; t < schema->n_offsets; t++) {
    const struct gpnn_column *target = t == 0 ? &schema->target : &schema->more[t - 1];
    columns[schema->offsets[t].position].offset_of = 1 + target->position;
  }
  if (schema->has_noise) mark(profile, 1, &schema->noise, GPNN_PROFILE_OTHER);
  if (schema->has_exposure) mark(profile, 1, &schema->exposure, GPNN_PROFILE_OTHER);
  for (size_t t = 0; t <= schema->n_more; t++)
    mark(profile, 1, gpnn_schema_target(schema, t),
         gpnn_schema_has_classes(schema, t) ? GPNN_PROFILE_LABELS : GPNN_PROFILE_TARGET);
  return GPNN_OK;
}

void gpnn_profile_release(struct gpnn_profile *profile)
{
  for (size_t j = 0; j < profile->n_columns; j++) {
    struct gpnn_odd_cells *odd = profile->columns[j].odd;
    if (odd != NULL) gpnn_groups_release(&odd->levels);
    free(odd);
  }
  free(profile->columns);
  gpnn_patterns_release(&profile->patterns);
  free(profile->lacks);
  *profile = (struct gpnn_profile){0};
}

void gpnn_profile_add_malformed(struct gpnn_profile *profile, size_t n, size_t n_comments,
                                size_t line)
{
  if (n > 0 && profile->n_malformed == 0) profile->malformed_line = line;
  profile->n_malformed += n;
  profile->n_comments += n_comments;
}

size_t gpnn_profile_numbers(const struct gpnn_column_profile *column)
{
  size_t n = 0;
  for (size_t f = 0; f < GPNN_FORMS; f++) n += column->forms[f];
  return n;
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* Numbers that people write for a missing value, and that are seldom anything else. */
static bool is_code(double value)
{
  static const double codes[] = {-99,  -999,  -9999, -99999, -999999,    -99.9,  -999.9, -9999.9,
                                 999,  9999,  99999, 999999, 999.9,      9999.9, 1e20,   -1e20,
                                 1e30, -1e30, 1e34,  -1e34,  9.96921e36, -32768, 32767,  -3.4e38};
  if (value > -99 && value < 999) return false;
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
    if (value == codes[i]) return true;
  return false;
}

/* Counts a code; false if the column has others already, so that this one is a number. */
static bool add_code(struct gpnn_column_profile *column, double value, size_t line)
{
  enum { MOST = sizeof column->codes / sizeof column->codes[0] };
  size_t i = 0;
  while (i < column->n_codes && column->codes[i].value != value) i++;
  if (i == MOST) return false;
  if (i == column->n_codes) column->codes[column->n_codes++] = (struct gpnn_code){value, 0, line};
  column->codes[i].n++;
  return true;
}

/* Adds a number that can be read as it is; returns true if it may be a code. */
static bool add_number(struct gpnn_profile *profile, struct gpnn_column_profile *column,
                       const struct gpnn_field *field, double value, size_t line)
{
  bool has_comma = gpnn_table_values(profile->table)->notation.decimal == ',';
  enum gpnn_cell_form form = GPNN_FORM_INTEGER;
  /* What stands beside the number, which the notation strips, hides how it is written. */
  if (!gpnn_cell_number(field->text, field->length, &form))
    form = has_comma ? GPNN_FORM_COMMA : GPNN_FORM_POINT;
  column->forms[form]++;
  if (column->n_rows_counted == profile->n_rows &&
      (profile->n_rows == 0 || value == column->last + 1))
    column->n_rows_counted++;
  column->last = value;
  if (is_code(value) && add_code(column, value, line)) return true;
  if (value < column->low) column->low = value;
  if (value > column->high) column->high = value;
  return false;
}

/* ---- other cells ------------------------------------------------------------------------- */

static void keep_first(struct gpnn_odd_cells *odd, enum gpnn_profile_example which,
                       const struct gpnn_field *field, size_t line)
{
  struct gpnn_example *first = &odd->first[which];
  if (first->line > 0) return;
  first->line = line;
  gpnn_mask(first->text, field->text, field->length);
}

static void add_like_missing(struct gpnn_odd_cells *odd, const struct gpnn_field *field)
{
  const char *text = field->text;
  size_t n = field->length;
  for (; n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'); n--) continue;
  for (; n > 0 && (*text == ' ' || *text == '\t'); text++) n--;
  odd->n_like_missing++;
  for (size_t i = 0; i < GPNN_PROFILE_DISTINCT && n < GPNN_AFFIX_BYTES; i++) {
    struct gpnn_like_missing *known = &odd->like_missing[i];
    if (known->n == 0) memcpy(known->text, text, n); /* zeros follow */
    if (strlen(known->text) != n || memcmp(known->text, text, n) != 0) continue;
    known->n++;
    return;
  }
}

static void add_affix(struct gpnn_odd_cells *odd, const struct gpnn_cell *cell)
{
  odd->are_currencies = cell->is_currency && (odd->n_affixed == 0 || odd->are_currencies);
  odd->n_affixed++;
  for (size_t i = 0; i < odd->n_affixes; i++)
    if (strcmp(odd->affixes[i], cell->affix) == 0) return;
  if (odd->n_affixes == GPNN_PROFILE_DISTINCT) return;
  memcpy(odd->affixes[odd->n_affixes++], cell->affix, GPNN_AFFIX_BYTES);
}

/* Keeps the text of level 'number', which is new. */
static void keep_text(struct gpnn_odd_cells *odd, size_t number, const struct gpnn_field *field)
{
  if (number < GPNN_ORDERED_MOST && field->length < GPNN_ORDERED_BYTES)
    memcpy(odd->texts[number], field->text, field->length); /* zeros follow */
}

/* Remembers which text, date or number it is, while there are few. */
static enum gpnn_status add_level(struct gpnn_profile *profile, struct gpnn_odd_cells *odd,
                                  const struct gpnn_field *field, struct gpnn_error *err)
{
  uint32_t number;
  size_t before = odd->levels.n;
  if (before > GPNN_CODED_MAX || profile->n_levels >= MOST_LEVELS) return GPNN_OK;
  enum gpnn_status status =
      gpnn_groups_number(&odd->levels, field->text, field->length, &number, err);
  if (status == GPNN_OK && odd->levels.n > before) keep_text(odd, before, field);
  profile->n_levels += odd->levels.n - before;
  odd->n_counted++;
  return status;
}

/* The cells of a column that are not numbers as they are; NULL: no memory. */
static struct gpnn_odd_cells *odd_cells(struct gpnn_column_profile *column)
{
  if (column->odd == NULL) column->odd = gpnn_alloc(1, 1, sizeof *column->odd);
  return column->odd;
}

/* Counts a cell by what it looks like; '*why' is why it is of no use, or GPNN_WHYS if it may be. */
static void count(struct gpnn_column_profile *column, const struct gpnn_cell *cell,
                  const struct gpnn_field *field, size_t line, enum gpnn_profile_why *why)
{
  struct gpnn_odd_cells *odd = column->odd;
  *why = GPNN_WHYS;
  switch (cell->kind) {
  case GPNN_CELL_NUMBER:
    column->forms[cell->form]++;
    odd->n_written++;
    keep_first(odd, GPNN_EXAMPLE_WRITTEN, field, line);
    return;
  case GPNN_CELL_AFFIXED:
    column->forms[cell->form]++;
    add_affix(odd, cell);
    keep_first(odd, GPNN_EXAMPLE_AFFIXED, field, line);
    return;
  case GPNN_CELL_LIKE_MISSING:
    add_like_missing(odd, field);
    keep_first(odd, GPNN_EXAMPLE_LIKE_MISSING, field, line);
    *why = GPNN_WHY_LIKE_MISSING;
    return;
  case GPNN_CELL_NOT_FINITE:
    odd->n_not_finite++;
    keep_first(odd, GPNN_EXAMPLE_NOT_FINITE, field, line);
    *why = GPNN_WHY_NOT_FINITE;
    return;
  case GPNN_CELL_DATE:
    odd->n_dates++;
    keep_first(odd, GPNN_EXAMPLE_DATE, field, line);
    return;
  default:
    odd->n_text++;
    keep_first(odd, GPNN_EXAMPLE_TEXT, field, line);
    *why = GPNN_WHY_TEXT;
  }
}

static enum gpnn_status add_odd(struct gpnn_profile *profile, struct gpnn_column_profile *column,
                                const struct gpnn_field *field, size_t line,
                                enum gpnn_profile_why *why, struct gpnn_error *err)
{
  struct gpnn_odd_cells *odd = odd_cells(column);
  if (odd == NULL) return gpnn_fail_memory(err, "for the columns");
  bool seeks_dates = odd->n_dates > 0 || odd->n_text < TEXTS_WITHOUT_DATE;
  struct gpnn_cell cell;
  gpnn_cell_look(field, seeks_dates ? &odd->dates : NULL, &cell);
  count(column, &cell, field, line, why);
  return cell.kind == GPNN_CELL_NUMBER || cell.kind == GPNN_CELL_NOT_FINITE
             ? GPNN_OK
             : add_level(profile, odd, field, err);
}

/* ---- records ----------------------------------------------------------------------------- */

static bool is_missing(const struct gpnn_profile *profile, const struct gpnn_record *record,
                       size_t j)
{
  const struct gpnn_field *field = &record->fields[j];
  return gpnn_values_missing(gpnn_table_values(profile->table), field->text, field->length);
}

static bool is_target(const struct gpnn_column_profile *column)
{
  return column->role == GPNN_PROFILE_TARGET || column->role == GPNN_PROFILE_LABELS;
}

/* True if column 'j' is a target that a record may lack, because it has another, or the offset of a
 * target that it lacks. */
static bool may_lack(const struct gpnn_profile *profile, size_t j, const struct gpnn_record *record)
{
  const struct gpnn_column_profile *column = &profile->columns[j];
  if (column->offset_of > 0) return is_missing(profile, record, column->offset_of - 1);
  for (size_t k = 0; k < profile->n_columns && is_target(column); k++)
    if (k != j && is_target(&profile->columns[k]) && !is_missing(profile, record, k)) return true;
  return false;
}

/* Adds the cell of one column. */
static enum gpnn_status add_cell(struct gpnn_profile *profile, size_t j,
                                 const struct gpnn_record *record, enum gpnn_profile_why *why,
                                 struct gpnn_error *err)
{
  struct gpnn_column_profile *column = &profile->columns[j];
  const struct gpnn_field *field = &record->fields[j];
  const struct gpnn_values *values = gpnn_table_values(profile->table);
  double value;
  *why = GPNN_WHYS;
  if (gpnn_values_missing(values, field->text, field->length)) {
    if (may_lack(profile, j, record)) return GPNN_OK;
    if (column->n_missing++ == 0) column->missing_line = record->line;
    column->n_missing_text += field->length > 0;
    *why = GPNN_WHY_MISSING;
    return GPNN_OK;
  }
  if (column->role == GPNN_PROFILE_CODED || column->role == GPNN_PROFILE_LABELS) return GPNN_OK;
  if (gpnn_values_number(values, field->text, field->length, &value) != GPNN_NUMBER_OK)
    return add_odd(profile, column, field, record->line, why, err);
  if (add_number(profile, column, field, value, record->line)) *why = GPNN_WHY_CODE;
  bool has_texts = column->odd != NULL && column->odd->n_text > 0;
  return has_texts ? add_level(profile, column->odd, field, err) : GPNN_OK;
}

enum gpnn_status gpnn_profile_add(struct gpnn_profile *profile, const struct gpnn_record *record,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  size_t n = 0;
  for (size_t j = 0; j < profile->n_columns && status == GPNN_OK; j++) {
    enum gpnn_profile_why why;
    if (profile->columns[j].role == GPNN_PROFILE_UNUSED) continue;
    status = add_cell(profile, j, record, &why, err);
    bool is_lacking = why == GPNN_WHY_LIKE_MISSING || why == GPNN_WHY_CODE;
    if (why == GPNN_WHYS || (is_lacking && may_lack(profile, j, record))) continue;
    if (!gpnn_grow(&profile->lacks, &profile->lacks_capacity, n + 1, sizeof *profile->lacks))
      return gpnn_fail_memory(err, "for the missing values");
    profile->lacks[n++] = (struct gpnn_lack){(uint32_t)j, why};
  }
  if (status == GPNN_OK && n > 0)
    status = gpnn_patterns_add(&profile->patterns, n, profile->lacks, err);
  if (status == GPNN_OK) profile->n_rows++;
  return status;
}
