/*
 * schema: which column of a table plays which role, and rows of text as rows of numbers.
 *
 * A schema says which columns are inputs, in which order, which of them are categories to
 * be coded one-hot (with their levels), and which column is the target.  It is chosen once,
 * from the training table (gpnn_schema_choose), is stored in the index, and finds its
 * columns in any later table by name (gpnn_schema_match).  A row then becomes
 * gpnn_schema_features() numbers: a numeric input is one, a category with L levels is L
 * indicators of 0 and 1, in the order of the inputs.
 *
 * Threads: a schema and a map that only gpnn_schema_encode() uses may be shared freely;
 * gpnn_schema_learn() changes both.
 */
#ifndef GPNN_DATA_SCHEMA_H
#define GPNN_DATA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "data/table.h"

enum { GPNN_LEVELS_MAX = 1000 };

struct gpnn_column {
  char *name;      /* owned; without a header the 1-based number as text */
  size_t position; /* 0-based column of the training table */
  bool is_category;
  size_t n_levels; /* categories: how many levels, in the order first seen */
  char **levels;   /* owned */
  size_t *level_lengths;
};

/* A zeroed schema is empty and may be released. */
struct gpnn_schema {
  size_t n_inputs;
  struct gpnn_column *inputs; /* owned, n_inputs of them */
  struct gpnn_column target;  /* never a category */
  size_t n_columns;           /* columns of the training table */
  bool has_header;            /* the training table named its columns */
};

/* What a user asks for; each a LIST, or NULL for the default. */
struct gpnn_roles {
  const char *target;  /* one column; default: the last */
  const char *inputs;  /* default: all but the target, in table order */
  const char *drop;    /* columns that are no inputs; default: none */
  const char *one_hot; /* inputs that are categories; default: none */
};

/* The levels of one category in the order of their bytes: how a level is found by its text.
 * Private to schema.c. */
struct gpnn_level_order {
  size_t n;
  size_t *levels; /* n of them */
};

/* Where a schema's columns are in one table. */
struct gpnn_columns_map {
  size_t *inputs;  /* owned, n_inputs of them: 0-based columns of that table */
  bool has_target; /* the table has the target, in column 'target' */
  size_t target;
  size_t n_orders;
  struct gpnn_level_order *orders; /* owned, one an input */
};

/*
 * Chooses the roles in 'table'; 'schema' must be zeroed.  GPNN_EINVAL: unknown or repeated
 * names, a target that is an input or dropped, a category that is no input, no input left,
 * fewer than two columns.  Categories have no levels yet: gpnn_schema_learn() adds them.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_choose(struct gpnn_schema *schema,
                                                    const struct gpnn_table *table,
                                                    const struct gpnn_roles *roles,
                                                    struct gpnn_error *err);

/* Releases what a schema owns and zeroes it. */
void gpnn_schema_release(struct gpnn_schema *schema);

/*
 * Finds the schema's inputs in 'table', and its target if it is there.  By name where both
 * tables have a header; otherwise by position, which needs a table of the same number of
 * columns as the training table or of exactly the inputs in order.  GPNN_EMISMATCH names
 * every input that is missing.  '*map' is written on success only.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_match(const struct gpnn_schema *schema,
                                                   const struct gpnn_table *table,
                                                   struct gpnn_columns_map *map,
                                                   struct gpnn_error *err);

void gpnn_columns_map_release(struct gpnn_columns_map *map);

/* Numbers a row becomes. */
size_t gpnn_schema_features(const struct gpnn_schema *schema);

/* Name of feature 'feature' ("colour=red" for an indicator), for messages and gpnn-info:
 * at most GPNN_MASK_BYTES - 1 bytes, masked, NUL-terminated. */
const char *gpnn_schema_feature_name(const struct gpnn_schema *schema, size_t feature,
                                     char name[GPNN_MASK_BYTES]);

/*
 * The training pass: reads the inputs of 'record' into 'cells' (n_inputs numbers), where a
 * category's number is its level; new levels are added to the schema (and are made known
 * to the map).  Levels are capped at GPNN_LEVELS_MAX a column (GPNN_EDATA).  GPNN_EDATA as
 * gpnn_columns_number; a missing category is missing as a number is.  On failure the schema
 * is unchanged and 'cells' may hold anything.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_learn(struct gpnn_schema *schema,
                                                   const struct gpnn_columns_map *map,
                                                   const struct gpnn_table *table,
                                                   const struct gpnn_record *record, const char *na,
                                                   double *cells, struct gpnn_error *err);

/* Expands 'cells' of gpnn_schema_learn() to gpnn_schema_features() numbers, once all levels
 * are known. */
void gpnn_schema_expand(const struct gpnn_schema *schema, const double *cells, double *features);

/*
 * The prediction pass: reads the inputs of 'record' straight into 'features'.  A level never
 * seen in training has all indicators 0 and is counted in '*n_unseen' (added to).  'map'
 * was made, or learnt with, when 'schema' had all its levels.  On failure 'features' may
 * hold anything and '*n_unseen' is unchanged.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_schema_encode(const struct gpnn_schema *schema, const struct gpnn_columns_map *map,
                   const struct gpnn_table *table, const struct gpnn_record *record, const char *na,
                   double *features, size_t *n_unseen, struct gpnn_error *err);

#endif
