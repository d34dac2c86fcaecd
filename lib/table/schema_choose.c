/*
 * Choosing the roles of a training table's columns: gpnn_schema_choose() of schema.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "table/columns.h"
#include "table/table_private.h"

enum gpnn_status gpnn_choice_fail(const struct gpnn_choice *choice, size_t column, const char *what,
                                  struct gpnn_error *err)
{
  return gpnn_columns_fail(choice->lookup->table, column, what, err);
}

enum gpnn_status gpnn_choice_find_list(const struct gpnn_choice *choice, const char *list,
                                       struct gpnn_picked *picked, struct gpnn_error *err)
{
  return gpnn_columns_find_list(choice->lookup->table, list, &picked->columns, &picked->n, err);
}

/* ---- roles ------------------------------------------------------------------------------- */

static enum gpnn_status pick_one(struct gpnn_picked *picked, size_t column, struct gpnn_error *err)
{
  picked->columns = gpnn_alloc(1, 1, sizeof *picked->columns);
  if (picked->columns == NULL) return gpnn_fail_memory(err, "for the columns");
  picked->columns[0] = column;
  picked->n = 1;
  return GPNN_OK;
}

/* The last column with a name: rows that end with a delimiter have one more.  Without any name it
 * is the last. */
static size_t last_column(const struct gpnn_choice *choice)
{
  size_t last = choice->lookup->n;
  while (last > 0 && gpnn_table_column(choice->lookup->table, last - 1)[0] == '\0') last--;
  return (last > 0 ? last : choice->lookup->n) - 1;
}

/* One column, whose name may contain commas, or a list of columns; by default the last column. */
static enum gpnn_status choose_targets(struct gpnn_choice *choice, const char *list,
                                       struct gpnn_error *err)
{
  size_t column = last_column(choice);
  bool is_one = list == NULL || gpnn_column_lookup_count(choice->lookup, list, &column) == 1;
  enum gpnn_status status = is_one ? pick_one(&choice->targets, column, err)
                                   : gpnn_choice_find_list(choice, list, &choice->targets, err);
  for (size_t i = 0; i < choice->targets.n && status == GPNN_OK; i++)
    choice->roles[choice->targets.columns[i]] = GPNN_ROLE_TARGET;
  return status;
}

static enum gpnn_status choose_regressors(struct gpnn_choice *choice, const char *list,
                                          struct gpnn_error *err)
{
  enum gpnn_status status =
      list == NULL ? GPNN_OK : gpnn_choice_find_list(choice, list, &choice->regressors, err);
  for (size_t i = 0; i < choice->regressors.n && status == GPNN_OK; i++) {
    size_t column = choice->regressors.columns[i];
    if (choice->roles[column] & GPNN_ROLE_TARGET)
      status = gpnn_choice_fail(choice, column, "is both target and regressor", err);
    choice->roles[column] |= GPNN_ROLE_REGRESSOR;
  }
  return status;
}

static enum gpnn_status choose_noise(struct gpnn_choice *choice, const char *name,
                                     struct gpnn_error *err)
{
  if (name == NULL) return GPNN_OK;
  size_t column;
  enum gpnn_status status = gpnn_column_lookup_find(choice->lookup, name, &column, NULL, err);
  if (status != GPNN_OK) return status;
  if (choice->roles[column] & GPNN_ROLE_TARGET)
    return gpnn_choice_fail(choice, column, "is the target, so it cannot be the row noise", err);
  if (choice->roles[column] & GPNN_ROLE_REGRESSOR)
    return gpnn_choice_fail(choice, column, "is both regressor and row noise", err);
  choice->roles[column] = GPNN_ROLE_NOISE;
  return pick_one(&choice->noise, column, err);
}

/* One column, whose name may contain commas, or a list of as many columns as there are targets. */
static enum gpnn_status choose_offsets(struct gpnn_choice *choice, const char *list,
                                       struct gpnn_error *err)
{
  if (list == NULL) return GPNN_OK;
  struct gpnn_picked *offsets = &choice->offsets;
  size_t column, n_targets = choice->targets.n;
  bool is_one = gpnn_column_lookup_count(choice->lookup, list, &column) == 1;
  enum gpnn_status status =
      is_one ? pick_one(offsets, column, err) : gpnn_choice_find_list(choice, list, offsets, err);
  if (status == GPNN_OK && offsets->n != n_targets)
    return gpnn_fail(err, GPNN_EINVAL, "%s: %zu target%s and %zu offset%s: each target needs one",
                     gpnn_table_name(choice->lookup->table), n_targets, n_targets == 1 ? "" : "s",
                     offsets->n, offsets->n == 1 ? "" : "s");
  for (size_t i = 0; i < offsets->n && status == GPNN_OK; i++) {
    unsigned *role = &choice->roles[offsets->columns[i]];
    if (*role != 0)
      status = gpnn_choice_fail(
          choice, offsets->columns[i],
          "is a target, a regressor or the row noise, so it cannot be an offset", err);
    *role |= GPNN_ROLE_OFFSET;
  }
  return status;
}

/* Not a column of another role, and nothing that is only known of numbers beside it. */
static enum gpnn_status choose_exposure(struct gpnn_choice *choice, const char *name,
                                        struct gpnn_error *err)
{
  if (name == NULL) return GPNN_OK;
  size_t column;
  enum gpnn_status status = gpnn_column_lookup_find(choice->lookup, name, &column, NULL, err);
  if (status != GPNN_OK) return status;
  if (choice->noise.n > 0 || choice->offsets.n > 0)
    return gpnn_choice_fail(choice, column,
                            "is an exposure, which is that of counts: these have neither row noise "
                            "nor offsets",
                            err);
  if (choice->roles[column] != 0)
    return gpnn_choice_fail(choice, column,
                            "is a target or a regressor, so it cannot be the exposure", err);
  choice->roles[column] = GPNN_ROLE_EXPOSURE;
  return pick_one(&choice->exposure, column, err);
}

/* A column may say which rows belong together and have another role as well. */
static enum gpnn_status choose_by(struct gpnn_choice *choice, const char *name,
                                  struct gpnn_error *err)
{
  if (name == NULL) return GPNN_OK;
  size_t column;
  enum gpnn_status status = gpnn_column_lookup_find(choice->lookup, name, &column, NULL, err);
  if (status != GPNN_OK) return status;
  if (choice->roles[column] & GPNN_ROLE_TARGET)
    return gpnn_choice_fail(choice, column, "is the target, so rows cannot be grouped by it", err);
  choice->roles[column] |= GPNN_ROLE_BY;
  return pick_one(&choice->by, column, err);
}

/* Of ids nothing is learnt: they are neither inputs nor what is predicted, but may say which rows
 * belong together. */
static enum gpnn_status choose_id(struct gpnn_choice *choice, const char *name,
                                  struct gpnn_error *err)
{
  if (name == NULL) return GPNN_OK;
  size_t column;
  enum gpnn_status status = gpnn_column_lookup_find(choice->lookup, name, &column, NULL, err);
  if (status != GPNN_OK) return status;
  if (choice->roles[column] & ~(unsigned)GPNN_ROLE_BY)
    return gpnn_choice_fail(choice, column,
                            "has another role, so rows cannot be known by it (--id)", err);
  choice->roles[column] |= GPNN_ROLE_ID;
  return pick_one(&choice->id, column, err);
}

/* The inputs asked for, or all columns that have no other role. */
static enum gpnn_status choose_inputs(struct gpnn_choice *choice, const char *list,
                                      struct gpnn_error *err)
{
  struct gpnn_picked *inputs = &choice->inputs;
  if (list != NULL) {
    enum gpnn_status status = gpnn_choice_find_list(choice, list, inputs, err);
    if (status != GPNN_OK) return status;
  } else {
    inputs->columns = gpnn_alloc(choice->lookup->n, 1, sizeof *inputs->columns);
    if (inputs->columns == NULL) return gpnn_fail_memory(err, "for the columns");
    for (size_t j = 0; j < choice->lookup->n; j++)
      if (choice->roles[j] == 0) inputs->columns[inputs->n++] = j;
  }
  for (size_t i = 0; i < inputs->n; i++) {
    unsigned *role = &choice->roles[inputs->columns[i]];
    if (*role & GPNN_ROLE_TARGET)
      return gpnn_choice_fail(choice, inputs->columns[i], "is both target and input", err);
    if (*role & GPNN_ROLE_NOISE)
      return gpnn_choice_fail(choice, inputs->columns[i], "is both row noise and input", err);
    if (*role & GPNN_ROLE_OFFSET)
      return gpnn_choice_fail(choice, inputs->columns[i], "is both offset and input", err);
    if (*role & GPNN_ROLE_EXPOSURE)
      return gpnn_choice_fail(choice, inputs->columns[i], "is both exposure and input", err);
    if (*role & GPNN_ROLE_ID)
      return gpnn_choice_fail(choice, inputs->columns[i], "is both id and input", err);
    *role |= GPNN_ROLE_INPUT;
  }
  return GPNN_OK;
}

static enum gpnn_status drop_inputs(struct gpnn_choice *choice, const char *list,
                                    struct gpnn_error *err)
{
  struct gpnn_picked dropped = {0}, *inputs = &choice->inputs;
  enum gpnn_status status =
      list == NULL ? GPNN_OK : gpnn_choice_find_list(choice, list, &dropped, err);
  for (size_t i = 0; i < dropped.n && status == GPNN_OK; i++) {
    if (choice->roles[dropped.columns[i]] & GPNN_ROLE_TARGET)
      status =
          gpnn_choice_fail(choice, dropped.columns[i], "is the target and cannot be dropped", err);
    choice->roles[dropped.columns[i]] &= ~(unsigned)GPNN_ROLE_INPUT;
  }
  free(dropped.columns);
  if (status != GPNN_OK) return status;
  size_t kept = 0;
  for (size_t i = 0; i < inputs->n; i++)
    if (choice->roles[inputs->columns[i]] & GPNN_ROLE_INPUT)
      inputs->columns[kept++] = inputs->columns[i];
  inputs->n = kept;
  if (kept == 0 && choice->effects.n == 0)
    return gpnn_fail(err, GPNN_EINVAL, "%s: no input is left",
                     gpnn_table_name(choice->lookup->table));
  return GPNN_OK;
}

/* Predictions and parameters of several targets are told apart by the names of the targets. */
static enum gpnn_status check_targets(const struct gpnn_choice *choice, struct gpnn_error *err)
{
  const struct gpnn_table *table = choice->lookup->table;
  const struct gpnn_picked *targets = &choice->targets;
  for (size_t i = 0; i < targets->n && targets->n > 1; i++) {
    const char *name = gpnn_table_column(table, targets->columns[i]);
    bool is_named = name[0] != '\0';
    for (size_t k = 0; k < i; k++)
      is_named = is_named && strcmp(name, gpnn_table_column(table, targets->columns[k])) != 0;
    if (!is_named)
      return gpnn_choice_fail(choice, targets->columns[i],
                              "cannot be one of several targets, which need names of their own",
                              err);
  }
  return GPNN_OK;
}

/* ---- the schema -------------------------------------------------------------------------- */

enum gpnn_status gpnn_choice_fill_column(struct gpnn_column *column,
                                         const struct gpnn_choice *choice, size_t position,
                                         struct gpnn_error *err)
{
  const char *name = gpnn_table_column(choice->lookup->table, position);
  const struct gpnn_column_name *named;
  size_t n = gpnn_column_lookup_all(choice->lookup, name, &named);
  column->position = position;
  column->n_namesakes = n - 1;
  while (named[column->occurrence].position != position) column->occurrence++;
  column->name = gpnn_copy_text(name, strlen(name));
  return column->name == NULL ? gpnn_fail_memory(err, "for the column names") : GPNN_OK;
}

/* Makes 'n' columns from positions in the table. */
static enum gpnn_status fill_columns(struct gpnn_column **columns, size_t *n_columns, size_t n,
                                     const size_t *positions, const struct gpnn_choice *choice,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  *columns = gpnn_alloc(n, 1, sizeof **columns);
  if (*columns == NULL) return gpnn_fail_memory(err, "for the columns");
  *n_columns = n;
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = gpnn_choice_fill_column(&(*columns)[i], choice, positions[i], err);
  return status;
}

/* Makes the choice a schema; all inputs are numbers so far. */
static enum gpnn_status fill_schema(struct gpnn_schema *schema, const struct gpnn_choice *choice,
                                    struct gpnn_error *err)
{
  const struct gpnn_table *table = choice->lookup->table;
  schema->n_columns = choice->lookup->n;
  schema->has_header = gpnn_table_has_header(table);
  schema->has_noise = choice->noise.n > 0;
  schema->has_exposure = choice->exposure.n > 0;
  schema->has_by = choice->by.n > 0;
  schema->has_id = choice->id.n > 0;
  enum gpnn_status status =
      gpnn_choice_fill_column(&schema->target, choice, choice->targets.columns[0], err);
  if (status == GPNN_OK)
    status = fill_columns(&schema->more, &schema->n_more, choice->targets.n - 1,
                          choice->targets.columns + 1, choice, err);
  if (status == GPNN_OK)
    status = fill_columns(&schema->inputs, &schema->n_inputs, choice->inputs.n,
                          choice->inputs.columns, choice, err);
  if (status == GPNN_OK)
    status = fill_columns(&schema->regressors, &schema->n_regressors, choice->regressors.n,
                          choice->regressors.columns, choice, err);
  if (status == GPNN_OK && schema->has_noise)
    status = gpnn_choice_fill_column(&schema->noise, choice, choice->noise.columns[0], err);
  if (status == GPNN_OK)
    status = fill_columns(&schema->offsets, &schema->n_offsets, choice->offsets.n,
                          choice->offsets.columns, choice, err);
  if (status == GPNN_OK && schema->has_exposure)
    status = gpnn_choice_fill_column(&schema->exposure, choice, choice->exposure.columns[0], err);
  if (status == GPNN_OK && schema->has_by)
    status = gpnn_choice_fill_column(&schema->by, choice, choice->by.columns[0], err);
  if (status == GPNN_OK && schema->has_id)
    status = gpnn_choice_fill_column(&schema->id, choice, choice->id.columns[0], err);
  if (status == GPNN_OK)
    status = gpnn_notation_copy(&schema->notation, &gpnn_table_values(table)->notation, err);
  return status;
}

static enum gpnn_status choose(struct gpnn_schema *schema, struct gpnn_choice *choice,
                               const struct gpnn_roles *roles, struct gpnn_error *err)
{
  choice->roles = gpnn_alloc(choice->lookup->n, 1, sizeof *choice->roles);
  if (choice->roles == NULL) return gpnn_fail_memory(err, "for the columns");
  enum gpnn_status status = choose_targets(choice, roles->target, err);
  if (status == GPNN_OK) status = choose_regressors(choice, roles->regressors, err);
  if (status == GPNN_OK) status = choose_noise(choice, roles->row_noise, err);
  if (status == GPNN_OK) status = choose_offsets(choice, roles->offsets, err);
  if (status == GPNN_OK) status = choose_exposure(choice, roles->exposure, err);
  if (status == GPNN_OK) status = choose_by(choice, roles->by, err);
  if (status == GPNN_OK) status = choose_id(choice, roles->id, err);
  if (status == GPNN_OK) status = choose_inputs(choice, roles->inputs, err);
  if (status == GPNN_OK)
    status = gpnn_choice_effects(choice, roles->group_effects, roles->inputs != NULL, err);
  if (status == GPNN_OK) status = drop_inputs(choice, roles->drop, err);
  if (status == GPNN_OK) status = check_targets(choice, err);
  if (status == GPNN_OK) status = fill_schema(schema, choice, err);
  if (status == GPNN_OK) status = gpnn_schema_mark_kinds(schema, choice, roles, err);
  if (status == GPNN_OK) status = gpnn_schema_mark_effects(schema, choice, err);
  for (size_t t = 0; t < choice->targets.n && roles->classes && status == GPNN_OK; t++)
    status = gpnn_schema_make_classes(schema, t, err);
  return status;
}

enum gpnn_status gpnn_schema_choose(struct gpnn_schema *schema, const struct gpnn_table *table,
                                    const struct gpnn_roles *roles, struct gpnn_error *err)
{
  char hint[GPNN_TABLE_HINT_BYTES];
  gpnn_table_hint(table, hint);
  if (gpnn_table_columns(table) < 2)
    return gpnn_fail(err, GPNN_EINVAL, "%s: has one column, but a target and an input are needed%s",
                     gpnn_table_name(table), hint[0] != '\0' ? hint : ": is the delimiter right?");
  struct gpnn_column_lookup lookup = {0};
  enum gpnn_status status = gpnn_column_lookup_make(&lookup, table, err);
  if (status != GPNN_OK) return status;
  struct gpnn_choice choice = {.lookup = &lookup};
  status = choose(schema, &choice, roles, err);
  if (status != GPNN_OK) gpnn_schema_release(schema);
  free(choice.inputs.columns);
  free(choice.targets.columns);
  free(choice.regressors.columns);
  free(choice.noise.columns);
  free(choice.offsets.columns);
  free(choice.exposure.columns);
  free(choice.by.columns);
  free(choice.id.columns);
  free(choice.effects.columns);
  free(choice.group_effects);
  free(choice.roles);
  gpnn_column_lookup_release(&lookup);
  return status;
}
