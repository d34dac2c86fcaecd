/*
 * Choosing the effects of groups: gpnn_roles.group_effects of schema.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "table/columns.h"
#include "table/table_private.h"

/* ---- which columns they are of --------------------------------------------------------------- */

static enum gpnn_status find(const struct gpnn_choice *choice, const char *name, size_t *column,
                             struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_column_lookup_find(choice->lookup, name, column, NULL, err);
  if (status != GPNN_OK) return status;
  const unsigned others =
      GPNN_ROLE_TARGET | GPNN_ROLE_NOISE | GPNN_ROLE_OFFSET | GPNN_ROLE_EXPOSURE | GPNN_ROLE_ID;
  if (!(choice->roles[*column] & others)) return GPNN_OK;
  return gpnn_choice_fail(
      choice, *column, "is a target or beside one, so it can neither be a group nor a slope", err);
}

static bool is_column(const struct gpnn_choice *choice, const char *text)
{
  size_t column;
  return gpnn_column_lookup_count(choice->lookup, text, &column) == 1;
}

/* Takes "(COL)" off the end of an item, unless it belongs to the name of a column. */
static enum gpnn_status take_slope(const struct gpnn_choice *choice, char *item,
                                   struct gpnn_group_effect *effect, struct gpnn_error *err)
{
  size_t length = strlen(item);
  char *open = strrchr(item, '(');
  if (is_column(choice, item) || open == NULL || item[length - 1] != ')') return GPNN_OK;
  item[length - 1] = *open = '\0';
  effect->has_slope = true;
  return find(choice, open + 1, &effect->slope, err);
}

/* Adds a column to those that have levels with effects, each once. */
static void add_column(struct gpnn_choice *choice, size_t column)
{
  struct gpnn_picked *picked = &choice->effects;
  if (!(choice->roles[column] & GPNN_ROLE_EFFECT)) picked->columns[picked->n++] = column;
  choice->roles[column] |= GPNN_ROLE_EFFECT;
}

static bool is_of(const struct gpnn_group_effect *effect, size_t column)
{
  for (size_t k = 0; k < effect->n_columns; k++)
    if (effect->columns[k] == column) return true;
  return false;
}

/* 'item' is "COL[:COL[:COL]][(COL)]". */
static enum gpnn_status read_effect(struct gpnn_choice *choice, char *item,
                                    struct gpnn_group_effect *effect, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  gpnn_mask(shown, item, strlen(item));
  enum gpnn_status status = take_slope(choice, item, effect, err);
  bool is_one = is_column(choice, item);
  for (char *name = item, *next; name != NULL && status == GPNN_OK; name = next) {
    next = is_one ? NULL : strchr(name, ':');
    if (next != NULL) *next++ = '\0';
    if (effect->n_columns == GPNN_EFFECT_CROSSED)
      return gpnn_fail(err, GPNN_EINVAL, "group effect '%s': crosses more than %d columns", shown,
                       GPNN_EFFECT_CROSSED);
    size_t column = 0;
    status = find(choice, name, &column, err);
    if (status == GPNN_OK && is_of(effect, column))
      return gpnn_choice_fail(choice, column, "is crossed with itself", err);
    effect->columns[effect->n_columns++] = column;
  }
  if (status != GPNN_OK) return status;
  for (size_t k = 0; k < effect->n_columns; k++) add_column(choice, effect->columns[k]);
  return GPNN_OK;
}

/* A column that is a group by itself is no other input, unless the user lists it as one. */
static void leave_inputs(struct gpnn_choice *choice, const struct gpnn_group_effect *effect)
{
  if (effect->n_columns == 1) choice->roles[effect->columns[0]] &= ~(unsigned)GPNN_ROLE_INPUT;
}

/* True if two effects have the same groups, in whatever order they name the columns, of which
 * neither has one twice. */
static bool are_same(const struct gpnn_group_effect *a, const struct gpnn_group_effect *b)
{
  for (size_t k = 0; k < a->n_columns; k++)
    if (!is_of(b, a->columns[k])) return false;
  return a->n_columns == b->n_columns;
}

enum gpnn_status gpnn_choice_effects(struct gpnn_choice *choice, const char *list,
                                     bool are_inputs_listed, struct gpnn_error *err)
{
  if (list == NULL) return GPNN_OK;
  size_t n_items = 1;
  for (const char *c = list; *c != '\0'; c++) n_items += *c == ',';
  char *items = gpnn_copy_text(list, strlen(list));
  choice->group_effects = gpnn_alloc(n_items, 1, sizeof *choice->group_effects);
  choice->effects.columns = gpnn_alloc(choice->lookup->n, 1, sizeof *choice->effects.columns);
  enum gpnn_status status =
      items == NULL || choice->group_effects == NULL || choice->effects.columns == NULL
          ? gpnn_fail_memory(err, "for the group effects")
          : GPNN_OK;
  for (char *item = items, *next; item != NULL && status == GPNN_OK; item = next) {
    struct gpnn_group_effect *effect = &choice->group_effects[choice->n_group_effects++];
    next = strchr(item, ',');
    if (next != NULL) *next++ = '\0';
    status = read_effect(choice, item, effect, err);
    for (size_t e = 0; status == GPNN_OK && e + 1 < choice->n_group_effects; e++)
      if (are_same(&choice->group_effects[e], effect))
        status = gpnn_choice_fail(choice, effect->columns[0], "has the same effect twice", err);
    if (status == GPNN_OK && !are_inputs_listed) leave_inputs(choice, effect);
  }
  free(items);
  return status;
}

/* ---- the schema ------------------------------------------------------------------------------ */

/* The first input from 'first' on that is read from a column of the table. */
static size_t input_of(const struct gpnn_schema *schema, size_t first, size_t column)
{
  size_t input = first;
  while (input < schema->n_inputs && schema->inputs[input].position != column) input++;
  return input;
}

static enum gpnn_status find_slope(const struct gpnn_schema *schema,
                                   const struct gpnn_choice *choice,
                                   struct gpnn_group_effect *effect, struct gpnn_error *err)
{
  size_t column = effect->slope;
  if (!effect->has_slope) return GPNN_OK;
  effect->slope = input_of(schema, 0, column);
  if (effect->slope < schema->n_inputs && schema->inputs[effect->slope].kind == GPNN_COLUMN_NUMBER)
    return GPNN_OK;
  return gpnn_choice_fail(choice, column,
                          "is not an input that is a number, so groups have no slopes in it", err);
}

enum gpnn_status gpnn_schema_mark_effects(struct gpnn_schema *schema, struct gpnn_choice *choice,
                                          struct gpnn_error *err)
{
  size_t first = schema->n_inputs, capacity = first, n = choice->effects.n;
  enum gpnn_status status = GPNN_OK;
  if (n == 0) return GPNN_OK;
  if (!gpnn_grow(&schema->inputs, &capacity, first + n, sizeof *schema->inputs))
    return gpnn_fail_memory(err, "for the columns");
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    struct gpnn_column *input = &schema->inputs[schema->n_inputs++];
    *input = (struct gpnn_column){.kind = GPNN_COLUMN_EFFECT};
    status = gpnn_choice_fill_column(input, choice, choice->effects.columns[i], err);
  }
  for (size_t e = 0; e < choice->n_group_effects && status == GPNN_OK; e++) {
    struct gpnn_group_effect *effect = &choice->group_effects[e];
    for (size_t k = 0; k < effect->n_columns; k++)
      effect->columns[k] = input_of(schema, first, effect->columns[k]);
    status = find_slope(schema, choice, effect, err);
  }
  if (status != GPNN_OK) return status;
  schema->n_effects = choice->n_group_effects;
  schema->effects = choice->group_effects;
  choice->group_effects = NULL;
  return GPNN_OK;
}
