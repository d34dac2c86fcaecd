/*
 * schema_private: what schema.c, which finds columns, schema_choose.c, schema_kinds.c,
 * schema_encode.c and schema_levels.c share.
 */
#ifndef GPNN_TABLE_SCHEMA_PRIVATE_H
#define GPNN_TABLE_SCHEMA_PRIVATE_H

#include "table/columns_private.h"
#include "table/schema.h"

/* How many features an input is encoded as. */
size_t gpnn_schema_width(const struct gpnn_column *column);

/* The word for a period of so many days, as users ask for it ("week"), or NULL. */
const char *gpnn_schema_period_word(double days);

/* Finds the level that a field is; false if there is none.  'order' has all levels of 'column'. */
bool gpnn_schema_find_level(const struct gpnn_column *column, const struct gpnn_level_order *order,
                            const struct gpnn_values *values, const struct gpnn_field *field,
                            size_t *level);

/* Adds the field as a level, which it is not yet.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_add_level(struct gpnn_column *column,
                                                       struct gpnn_level_order *order,
                                                       const struct gpnn_values *values,
                                                       const struct gpnn_field *field,
                                                       struct gpnn_error *err);

/* Removes the level that was added last. */
void gpnn_schema_remove_last_level(struct gpnn_column *column, struct gpnn_level_order *order);

/* Sorts the levels of 'column' into 'order', which is empty.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_order_column(const struct gpnn_column *column,
                                                          struct gpnn_level_order *order,
                                                          struct gpnn_error *err);

/* Moves the levels of 'column' to their places in 'order', which follows them; 'number' becomes the
 * new number of each level by its old one.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_sort_levels(struct gpnn_column *column,
                                                         struct gpnn_level_order *order,
                                                         double *number, struct gpnn_error *err);

/* The level that comes 'i'-th in order, from 0. */
size_t gpnn_schema_level_at(const struct gpnn_level_order *order, size_t i);

/* Sorts the levels that each category and each target has so far into the orders of 'map', which
 * are empty.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_order_levels(const struct gpnn_schema *schema,
                                                          struct gpnn_columns_map *map,
                                                          struct gpnn_error *err);

/* The roles of a column, added up: an input may be a regressor too. */
enum {
  GPNN_ROLE_INPUT = 1,
  GPNN_ROLE_TARGET = 2,
  GPNN_ROLE_REGRESSOR = 4,
  GPNN_ROLE_NOISE = 8,
  GPNN_ROLE_OFFSET = 16,
  GPNN_ROLE_BY = 32,
  GPNN_ROLE_EXPOSURE = 64
};

struct gpnn_picked {
  size_t n;
  size_t *columns; /* owned */
};

/* The roles chosen so far: of each column, and for each role its columns in order. */
struct gpnn_choice {
  const struct gpnn_column_lookup *lookup;
  unsigned *roles; /* owned; of each column of the table */
  struct gpnn_picked inputs, targets, regressors, noise, offsets, exposure, by;
};

/* Fails with "table: column 'name' WHAT" and GPNN_EINVAL. */
enum gpnn_status gpnn_choice_fail(const struct gpnn_choice *choice, size_t column, const char *what,
                                  struct gpnn_error *err);

/* gpnn_columns_find_list() in the table of 'choice'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_find_list(const struct gpnn_choice *choice,
                                                       const char *list, struct gpnn_picked *picked,
                                                       struct gpnn_error *err);

/* Marks inputs and regressors as dates, and inputs as categories, periodic or places.  'schema' has
 * the columns of 'choice', all of them numbers.  Outcomes as gpnn_schema_choose(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_mark_kinds(struct gpnn_schema *schema,
                                                        const struct gpnn_choice *choice,
                                                        const struct gpnn_roles *roles,
                                                        struct gpnn_error *err);

#endif
