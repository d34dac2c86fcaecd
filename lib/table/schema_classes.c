/*
 * Targets that are classes.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "table/columns.h"
#include "table/table_private.h"

static struct gpnn_column *target_of(struct gpnn_schema *schema, size_t t)
{
  return t == 0 ? &schema->target : &schema->more[t - 1];
}

const struct gpnn_column *gpnn_schema_target(const struct gpnn_schema *schema, size_t t)
{
  return t == 0 ? &schema->target : &schema->more[t - 1];
}

bool gpnn_schema_has_classes(const struct gpnn_schema *schema, size_t t)
{
  return gpnn_schema_target(schema, t)->kind == GPNN_COLUMN_CLASSES;
}

enum gpnn_status gpnn_schema_make_classes(struct gpnn_schema *schema, size_t t,
                                          struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES];
  struct gpnn_column *target = target_of(schema, t);
  if (schema->n_offsets > 0)
    return gpnn_fail(err, GPNN_EINVAL,
                     "target '%s' holds classes, from which no offset can be subtracted",
                     gpnn_schema_column_name(target, name));
  if (schema->has_noise)
    return gpnn_fail(err, GPNN_EINVAL,
                     "target '%s' holds classes, and the noise of rows is that of numbers",
                     gpnn_schema_column_name(target, name));
  target->kind = GPNN_COLUMN_CLASSES;
  return GPNN_OK;
}

enum gpnn_status gpnn_schema_learn_class(struct gpnn_schema *schema,
                                         const struct gpnn_columns_map *map,
                                         const struct gpnn_table *table,
                                         const struct gpnn_record *record, size_t t, double *y,
                                         struct gpnn_error *err)
{
  struct gpnn_column *column = target_of(schema, t);
  struct gpnn_level_order *order = &map->classes[t];
  const struct gpnn_values *values = gpnn_table_values(table);
  size_t at = t == 0 ? map->target : map->more[t - 1], level = column->n_levels;
  const struct gpnn_field *field = &record->fields[at];
  enum gpnn_status status = GPNN_OK;
  if (!gpnn_schema_find_level(column, order, values, field, &level)) {
    if (level == GPNN_LEVELS_MAX)
      return gpnn_columns_fail_field(
          table, record, at, "has more than 1000 different labels: is it an id?", false, err);
    status = gpnn_schema_add_level(column, order, values, field, err);
  }
  if (status == GPNN_OK) *y = (double)level;
  return status;
}

enum gpnn_status gpnn_schema_sort_classes(struct gpnn_schema *schema,
                                          const struct gpnn_columns_map *map, size_t t,
                                          double **number, struct gpnn_error *err)
{
  struct gpnn_column *column = target_of(schema, t);
  double *numbers = gpnn_alloc(column->n_levels, 1, sizeof *numbers);
  enum gpnn_status status = numbers == NULL
                                ? gpnn_fail_memory(err, "for the classes")
                                : gpnn_schema_sort_levels(column, &map->classes[t], numbers, err);
  if (status == GPNN_OK)
    *number = numbers;
  else
    free(numbers);
  return status;
}

double gpnn_schema_class(const struct gpnn_schema *schema, const struct gpnn_columns_map *map,
                         const struct gpnn_table *table, const struct gpnn_record *record, size_t t)
{
  size_t at = t == 0 ? map->target : map->more[t - 1], level;
  bool is_known = gpnn_schema_find_level(gpnn_schema_target(schema, t), &map->classes[t],
                                         gpnn_table_values(table), &record->fields[at], &level);
  return is_known ? (double)level : GPNN_CLASS_UNSEEN;
}
