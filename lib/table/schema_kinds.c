/*
 * Choosing the kinds of inputs: dates, categories, circles and places.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "table/columns.h"
#include "table/date.h"
#include "table/table_private.h"

/* ---- dates --------------------------------------------------------------------------------- */

static enum gpnn_status set_format(struct gpnn_column *column, const char *format,
                                   struct gpnn_error *err)
{
  column->date = gpnn_copy_text(format, strlen(format));
  return column->date == NULL ? gpnn_fail_memory(err, "for the formats of dates") : GPNN_OK;
}

/* Makes a date of column 'position' of the table, as an input, a regressor, or both. */
static enum gpnn_status mark_date(struct gpnn_schema *schema, const struct gpnn_choice *choice,
                                  size_t position, const char *format, struct gpnn_error *err)
{
  unsigned role = choice->roles[position];
  enum gpnn_status status = GPNN_OK;
  if (role & GPNN_ROLE_TARGET)
    return gpnn_choice_fail(choice, position, "is the target, which cannot be a date", err);
  if (!(role & (GPNN_ROLE_INPUT | GPNN_ROLE_REGRESSOR)))
    return gpnn_choice_fail(choice, position,
                            "is neither input nor regressor, so it cannot be a date", err);
  for (size_t i = 0; i < schema->n_inputs && status == GPNN_OK; i++) {
    if (schema->inputs[i].position != position) continue;
    if (schema->inputs[i].date != NULL)
      return gpnn_choice_fail(choice, position, "is a date already", err);
    status = set_format(&schema->inputs[i], format, err);
  }
  for (size_t j = 0; j < schema->n_regressors && status == GPNN_OK; j++) {
    if (schema->regressors[j].position != position) continue;
    if (schema->regressors[j].date != NULL)
      return gpnn_choice_fail(choice, position, "is a date already", err);
    status = set_format(&schema->regressors[j], format, err);
  }
  return status;
}

/* 'text' is "LIST" or "LIST=FORMAT", or a single column whose name has the equals sign.  The format
 * goes on to the end, since it may have commas. */
static enum gpnn_status mark_dates(struct gpnn_schema *schema, const struct gpnn_choice *choice,
                                   const char *text, struct gpnn_error *err)
{
  size_t column;
  struct gpnn_picked picked = {0};
  char *list = gpnn_copy_text(text, strlen(text));
  if (list == NULL) return gpnn_fail_memory(err, "for the formats of dates");
  bool is_name = gpnn_column_lookup_count(choice->lookup, text, &column) == 1;
  char *sign = is_name ? NULL : strchr(list, '=');
  const char *format = sign == NULL ? GPNN_DATE_ISO : sign + 1;
  if (sign != NULL) *sign = '\0';
  enum gpnn_status status = gpnn_date_check(format, err);
  if (status == GPNN_OK) status = gpnn_choice_find_list(choice, list, &picked, err);
  for (size_t i = 0; i < picked.n && status == GPNN_OK; i++)
    status = mark_date(schema, choice, picked.columns[i], format, err);
  free(picked.columns);
  free(list);
  return status;
}

/* ---- categories ---------------------------------------------------------------------------- */

/* The two ways of using a category, and what is said of columns that cannot be one. */
static const struct encoding {
  enum gpnn_column_kind kind;
  const char *no_input, *regressor, *date, *other;
} one_hot = {GPNN_COLUMN_CATEGORY, "is not an input, so it cannot be one-hot",
             "is a regressor, so it cannot be one-hot", "is a date, so it cannot be one-hot", ""},
  coded = {GPNN_COLUMN_CODED, "is not an input, so it cannot be coded",
           "is a regressor, so it cannot be coded", "is a date, so it cannot be coded",
           "is one-hot, so it cannot be coded"};

static enum gpnn_status mark_categories(struct gpnn_schema *schema,
                                        const struct gpnn_choice *choice, const char *list,
                                        const struct encoding *as, struct gpnn_error *err)
{
  if (list == NULL) return GPNN_OK;
  struct gpnn_picked picked = {0};
  enum gpnn_status status = gpnn_choice_find_list(choice, list, &picked, err);
  if (status != GPNN_OK) return status;
  bool *is_category = gpnn_alloc(choice->lookup->n, 1, sizeof *is_category);
  if (is_category == NULL) status = gpnn_fail_memory(err, "for the columns");
  for (size_t i = 0; i < picked.n && status == GPNN_OK; i++) {
    size_t column = picked.columns[i];
    is_category[column] = true;
    if (!(choice->roles[column] & GPNN_ROLE_INPUT))
      status = gpnn_choice_fail(choice, column, as->no_input, err);
    else if (choice->roles[column] & GPNN_ROLE_REGRESSOR)
      status = gpnn_choice_fail(choice, column, as->regressor, err);
  }
  for (size_t i = 0; i < schema->n_inputs && status == GPNN_OK; i++) {
    struct gpnn_column *input = &schema->inputs[i];
    if (!is_category[input->position]) continue;
    if (input->date != NULL)
      status = gpnn_choice_fail(choice, input->position, as->date, err);
    else if (input->kind != GPNN_COLUMN_NUMBER)
      status = gpnn_choice_fail(choice, input->position, as->other, err);
    input->kind = as->kind;
  }
  free(is_category);
  free(picked.columns);
  return status;
}

/* ---- ordered categories -------------------------------------------------------------------- */

static const char between_levels[] = " < ";

/* Appends text[0..length) without the blanks around it to the levels of a column, with its place as
 * its code. */
static enum gpnn_status append_level(struct gpnn_column *column, const char *text, size_t length,
                                     struct gpnn_error *err)
{
  size_t n = column->n_levels, texts = n, lengths = n, codes = n;
  for (; length > 0 && gpnn_is_blank(text[length - 1]); length--) continue;
  for (; length > 0 && gpnn_is_blank(*text); text++) length--;
  if (!gpnn_grow(&column->levels, &texts, n + 1, sizeof *column->levels) ||
      !gpnn_grow(&column->level_lengths, &lengths, n + 1, sizeof *column->level_lengths) ||
      !gpnn_grow(&column->codes, &codes, n + 1, sizeof *column->codes) ||
      (column->levels[n] = gpnn_copy_text(text, length)) == NULL)
    return gpnn_fail_memory(err, "for the levels of a category");
  column->level_lengths[n] = length;
  column->codes[n] = (double)n;
  column->n_levels++;
  return GPNN_OK;
}

/* GPNN_EINVAL: of the levels of a column in 'order' two are the same, or one is empty. */
static enum gpnn_status check_levels(const struct gpnn_column *column,
                                     const struct gpnn_level_order *order, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES], name[GPNN_MASK_BYTES];
  for (size_t l = 0; l < column->n_levels; l++) {
    const char *level = column->levels[l];
    const struct gpnn_field field = {level, column->level_lengths[l]};
    static const struct gpnn_values plain = {.is_plain = true};
    size_t first = l;
    bool is_known = gpnn_schema_find_level(column, order, &plain, &field, &first);
    if (field.length > 0 && is_known && first == l) continue;
    return gpnn_fail(err, GPNN_EINVAL, "--ordered: column '%s': level '%s' is %s",
                     gpnn_schema_column_name(column, name), gpnn_mask(shown, level, field.length),
                     field.length == 0 ? "empty" : "there twice");
  }
  return GPNN_OK;
}

/* Makes an ordered category of an input that is a number so far. */
static enum gpnn_status order_input(struct gpnn_column *input, const char *levels,
                                    struct gpnn_error *err)
{
  struct gpnn_level_order order = {.n = 0};
  enum gpnn_status status = GPNN_OK;
  for (const char *s = levels, *end; s != NULL && status == GPNN_OK; s = end) {
    end = strstr(s, between_levels);
    status = append_level(input, s, end == NULL ? strlen(s) : (size_t)(end - s), err);
    if (end != NULL) end += sizeof between_levels - 1;
  }
  input->kind = GPNN_COLUMN_CODED;
  if (status == GPNN_OK) status = gpnn_schema_order_column(input, &order, err);
  if (status == GPNN_OK) status = check_levels(input, &order, err);
  free(order.keys);
  return status;
}

/* 'text' is "COL=A < B < C"; the name of the column ends at the first equals sign. */
static enum gpnn_status mark_ordered(struct gpnn_schema *schema, const struct gpnn_choice *choice,
                                     const char *text, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  const char *sign = strchr(text, '=');
  size_t column, input = 0;
  if (sign == NULL || strstr(sign, between_levels) == NULL)
    return gpnn_fail(
        err, GPNN_EINVAL,
        "--ordered '%s': not of the form COL=A < B < C, with a blank on each side of <",
        gpnn_mask(shown, text, strlen(text)));
  char *name = gpnn_copy_text(text, (size_t)(sign - text));
  if (name == NULL) return gpnn_fail_memory(err, "for the columns");
  enum gpnn_status status = gpnn_column_lookup_find(choice->lookup, name, &column, NULL, err);
  free(name);
  if (status != GPNN_OK) return status;
  while (input < schema->n_inputs && schema->inputs[input].position != column) input++;
  if (input == schema->n_inputs || (choice->roles[column] & GPNN_ROLE_REGRESSOR))
    return gpnn_choice_fail(choice, column, "is not an input alone, so it cannot be ordered", err);
  if (schema->inputs[input].date != NULL || schema->inputs[input].kind != GPNN_COLUMN_NUMBER)
    return gpnn_choice_fail(choice, column, "is used otherwise already, so it cannot be ordered",
                            err);
  return order_input(&schema->inputs[input], sign + 1, err);
}

/* ---- circles ------------------------------------------------------------------------------- */

/* Finds the first input that is column 'column' of the table, and which must be a number so far. */
static enum gpnn_status find_plain_input(const struct gpnn_schema *schema,
                                         const struct gpnn_choice *choice, size_t column,
                                         size_t *input, struct gpnn_error *err)
{
  for (*input = 0; *input < schema->n_inputs; ++*input)
    if (schema->inputs[*input].position == column) break;
  if (*input == schema->n_inputs)
    return gpnn_choice_fail(choice, column,
                            "is not an input, so it can be neither periodic nor a coordinate", err);
  switch (schema->inputs[*input].kind) {
  case GPNN_COLUMN_NUMBER:
    return GPNN_OK;
  case GPNN_COLUMN_CATEGORY:
  case GPNN_COLUMN_CODED:
    return gpnn_choice_fail(choice, column,
                            "is a category, so it can be neither periodic nor a coordinate", err);
  case GPNN_COLUMN_PERIODIC:
    return gpnn_choice_fail(choice, column, "has a period already", err);
  default:
    return gpnn_choice_fail(choice, column, "is a latitude or longitude already", err);
  }
}

static const struct {
  const char *word;
  double days;
} units[] = {
    {"day", 1}, {"week", 7}, {"year", 365.2425}}; /* on average in the Gregorian calendar */

enum { N_UNITS = sizeof units / sizeof units[0] };

const char *gpnn_schema_period_word(double days)
{
  for (size_t i = 0; i < N_UNITS; i++)
    if (units[i].days == days) return units[i].word;
  return NULL;
}

static enum gpnn_status read_period(const char *item, const char *text, bool is_date,
                                    double *period, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  gpnn_mask(shown, item, strlen(item));
  size_t unit = 0;
  while (unit < N_UNITS && strcmp(text, units[unit].word) != 0) unit++;
  if (is_date && unit < N_UNITS) {
    *period = units[unit].days;
    return GPNN_OK;
  }
  if (gpnn_number_read(text, strlen(text), period) == GPNN_NUMBER_OK && *period > 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL, "period '%s': a period is a number above 0%s", shown,
                   is_date          ? " of days, or day, week or year"
                   : unit < N_UNITS ? "; day, week and year are for dates"
                                    : "");
}

/* Adds to a date, which is input 'input', a circle on which it goes round once every 'period' days.
 * The circles of a date follow it in the order in which they are asked for. */
static enum gpnn_status add_circle(struct gpnn_schema *schema, const struct gpnn_choice *choice,
                                   size_t input, double period, struct gpnn_error *err)
{
  size_t position = schema->inputs[input].position, capacity = schema->n_inputs, at = input + 1;
  for (; at < schema->n_inputs && schema->inputs[at].position == position; at++)
    if (schema->inputs[at].period == period)
      return gpnn_choice_fail(choice, position, "has that period already", err);
  if (!gpnn_grow(&schema->inputs, &capacity, schema->n_inputs + 1, sizeof *schema->inputs))
    return gpnn_fail_memory(err, "for the columns");
  struct gpnn_column *circle = &schema->inputs[at];
  memmove(circle + 1, circle, (schema->n_inputs - at) * sizeof *circle);
  schema->n_inputs++;
  *circle = schema->inputs[input];
  circle->kind = GPNN_COLUMN_PERIODIC;
  circle->period = period;
  circle->name = gpnn_copy_text(circle->name, strlen(circle->name));
  circle->date = NULL;
  if (circle->name == NULL) return gpnn_fail_memory(err, "for the column names");
  return set_format(circle, schema->inputs[input].date, err);
}

/* 'item' is "COL=P", and 'sign' its equals sign. */
static enum gpnn_status mark_periodic(struct gpnn_schema *schema, const struct gpnn_choice *choice,
                                      const char *item, const char *sign, struct gpnn_error *err)
{
  size_t column, input;
  double period;
  char *name = gpnn_copy_text(item, (size_t)(sign - item));
  if (name == NULL) return gpnn_fail_memory(err, "for the periods");
  enum gpnn_status status = gpnn_column_lookup_find(choice->lookup, name, &column, NULL, err);
  free(name);
  if (status == GPNN_OK) status = find_plain_input(schema, choice, column, &input, err);
  if (status != GPNN_OK) return status;
  bool is_date = schema->inputs[input].date != NULL;
  status = read_period(item, sign + 1, is_date, &period, err);
  if (status != GPNN_OK) return status;
  if (is_date) return add_circle(schema, choice, input, period, err);
  schema->inputs[input].kind = GPNN_COLUMN_PERIODIC;
  schema->inputs[input].period = period;
  return GPNN_OK;
}

static enum gpnn_status mark_periods(struct gpnn_schema *schema, const struct gpnn_choice *choice,
                                     const char *list, struct gpnn_error *err)
{
  char *items = gpnn_copy_text(list, strlen(list));
  if (items == NULL) return gpnn_fail_memory(err, "for the periods");
  enum gpnn_status status = GPNN_OK;
  for (char *item = items, *next; item != NULL && status == GPNN_OK; item = next) {
    next = strchr(item, ',');
    if (next != NULL) *next++ = '\0';
    const char *sign = strrchr(item, '=');
    char shown[GPNN_MASK_BYTES];
    if (sign == NULL)
      status = gpnn_fail(err, GPNN_EINVAL, "period '%s': not of the form COL=P, as in hour=24",
                         gpnn_mask(shown, item, strlen(item)));
    else
      status = mark_periodic(schema, choice, item, sign, err);
  }
  free(items);
  return status;
}

/* ---- places -------------------------------------------------------------------------------- */

static enum gpnn_status find_coordinate(const struct gpnn_schema *schema,
                                        const struct gpnn_choice *choice, size_t column,
                                        size_t *input, struct gpnn_error *err)
{
  enum gpnn_status status = find_plain_input(schema, choice, column, input, err);
  if (status != GPNN_OK || schema->inputs[*input].date == NULL) return status;
  return gpnn_choice_fail(choice, column, "is a date, so it cannot be a coordinate", err);
}

static enum gpnn_status mark_location(struct gpnn_schema *schema, const struct gpnn_choice *choice,
                                      const char *list, struct gpnn_error *err)
{
  struct gpnn_picked picked = {0};
  size_t input[2];
  enum gpnn_status status = gpnn_choice_find_list(choice, list, &picked, err);
  if (status == GPNN_OK && picked.n != 2)
    status = gpnn_fail(err, GPNN_EINVAL,
                       "a place on the globe needs two columns, latitude and longitude, not %zu",
                       picked.n);
  for (size_t i = 0; i < 2 && status == GPNN_OK; i++)
    status = find_coordinate(schema, choice, picked.columns[i], &input[i], err);
  free(picked.columns);
  if (status != GPNN_OK) return status;
  schema->inputs[input[0]].kind = GPNN_COLUMN_LATITUDE;
  schema->inputs[input[0]].partner = input[1];
  schema->inputs[input[1]].kind = GPNN_COLUMN_LONGITUDE;
  schema->inputs[input[1]].partner = input[0];
  return GPNN_OK;
}

enum gpnn_status gpnn_schema_mark_kinds(struct gpnn_schema *schema,
                                        const struct gpnn_choice *choice,
                                        const struct gpnn_roles *roles, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < roles->n_dates && status == GPNN_OK; i++)
    status = mark_dates(schema, choice, roles->dates[i], err);
  if (status == GPNN_OK) status = mark_categories(schema, choice, roles->one_hot, &one_hot, err);
  if (status == GPNN_OK) status = mark_categories(schema, choice, roles->coded, &coded, err);
  for (size_t i = 0; i < roles->n_ordered && status == GPNN_OK; i++)
    status = mark_ordered(schema, choice, roles->ordered[i], err);
  for (size_t i = 0; i < roles->n_periods && status == GPNN_OK; i++)
    status = mark_periods(schema, choice, roles->periods[i], err);
  for (size_t i = 0; i < roles->n_locations && status == GPNN_OK; i++)
    status = mark_location(schema, choice, roles->locations[i], err);
  return status;
}
