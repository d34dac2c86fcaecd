/*
 * schema: which column of a table plays which role, and rows of text as rows of numbers.
 *
 * A schema says which columns are inputs, in which order, what kind each is, and which columns are
 * targets, regressors (terms of the mean) and the known variance of each row's noise.  It is
 * chosen once, from the training table (gpnn_schema_choose), is stored in the index, and finds its
 * columns in any later table by name (gpnn_schema_match).  The inputs of a row then become
 * gpnn_schema_features() numbers, in the order of the inputs:
 *
 *   number     itself
 *   category   one of L levels: L indicators of 0 and 1
 *   periodic   sin and cos of 2 pi x / period: a point on the unit circle
 *   latitude   with its longitude, in degrees: the point on a sphere of the Earth's mean radius,
 *              in km; x through longitude 0, y through 90 east, z through the north pole
 *   longitude  nothing more
 *
 * Distances of such points are chords: 2 |sin(pi (x - x') / period)|, and 2 R sin(angle / 2).  The
 * features of one point form a group.
 *
 * Threads: a schema and a map that only gpnn_schema_encode() uses may be shared freely;
 * gpnn_schema_learn() changes both.
 */
#ifndef GPNN_TABLE_SCHEMA_H
#define GPNN_TABLE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "table/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GPNN_LEVELS_MAX = 1000 };

/* The mean radius of the Earth in km (IUGG): (2 a + b) / 3 of the ellipsoid GRS 80. */
#define GPNN_EARTH_RADIUS 6371.0088

enum gpnn_column_kind {
  GPNN_COLUMN_NUMBER = 0,
  GPNN_COLUMN_CATEGORY = 1,
  GPNN_COLUMN_PERIODIC = 2,
  GPNN_COLUMN_LATITUDE = 3,
  GPNN_COLUMN_LONGITUDE = 4,
};

struct gpnn_column {
  char *name;      /* owned; without a header the 1-based number as text */
  size_t position; /* 0-based column of the training table */
  enum gpnn_column_kind kind;
  double period;   /* periodic: > 0 */
  size_t partner;  /* latitude and longitude: the input that is the other */
  size_t n_levels; /* categories: how many levels, in the order first seen */
  char **levels;   /* owned */
  size_t *level_lengths;
};

/* A zeroed schema is empty and may be released. */
struct gpnn_schema {
  size_t n_inputs;
  struct gpnn_column *inputs;     /* owned, n_inputs of them */
  struct gpnn_column target;      /* a number, as all that follow */
  size_t n_more;                  /* further targets */
  struct gpnn_column *more;       /* owned, n_more of them */
  size_t n_regressors;            /* terms of the mean */
  struct gpnn_column *regressors; /* owned, n_regressors of them */
  bool has_noise;
  struct gpnn_column noise; /* each row's known noise variance */
  size_t n_columns;         /* columns of the training table */
  bool has_header;          /* the training table named its columns */
};

/* What a user asks for; each a LIST, or NULL for the default. */
struct gpnn_roles {
  const char *target;     /* one or several; default: the last column */
  const char *inputs;     /* default: all columns without another role, in table order */
  const char *drop;       /* columns that are no inputs; default: none */
  const char *one_hot;    /* inputs that are categories; default: none */
  const char *regressors; /* terms of the mean; default: none */
  const char *row_noise;  /* one column; default: none */
  size_t n_periods;
  const char *const *periods; /* each "COL=P" or several with commas between: periodic inputs */
  size_t n_places;
  const char *const *places; /* each "LAT,LON": a pair of inputs */
};

/* The levels of one category in the order of their bytes: how a level is found by its text.
 * Private to lib/table/schema*.c. */
struct gpnn_level_order {
  size_t n;
  size_t *levels; /* n of them */
};

/* Where a schema's columns are in one table: 0-based, SIZE_MAX where it has no such column. */
struct gpnn_columns_map {
  size_t *inputs;  /* owned, n_inputs of them, all there */
  bool has_target; /* the table has the target, in column 'target' */
  size_t target;
  size_t *more;       /* owned, n_more of them */
  size_t *regressors; /* owned, n_regressors of them */
  bool has_noise;     /* the table has the noise variance, in column 'noise' */
  size_t noise;
  size_t n_orders;
  struct gpnn_level_order *orders; /* owned, one an input */
};

/*
 * Chooses the roles in 'table'; 'schema' must be zeroed.  Inputs may be regressors too; no other
 * column has two roles.  GPNN_EINVAL: unknown or repeated names, roles that contradict each other
 * (a target that is an input or dropped, a category that is no input or is periodic), no input
 * left, a period that is not above 0, fewer than two columns.  Categories have no levels yet:
 * gpnn_schema_learn() adds them.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_choose(struct gpnn_schema *schema,
                                                    const struct gpnn_table *table,
                                                    const struct gpnn_roles *roles,
                                                    struct gpnn_error *err);

/* Releases what a schema owns and zeroes it. */
void gpnn_schema_release(struct gpnn_schema *schema);

/*
 * Finds the schema's inputs in 'table', and whichever of its other columns are there.  By name
 * where both tables have a header; otherwise by position, which needs a table of the same number of
 * columns as the training table or of exactly the inputs in order.  GPNN_EMISMATCH names
 * every input that is missing.  '*map' is written on success only.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_match(const struct gpnn_schema *schema,
                                                   const struct gpnn_table *table,
                                                   struct gpnn_columns_map *map,
                                                   struct gpnn_error *err);

/* For callers whose mean has regressors: GPNN_EMISMATCH names those that 'table' lacks. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_need_regressors(const struct gpnn_schema *schema,
                                                             const struct gpnn_columns_map *map,
                                                             const struct gpnn_table *table,
                                                             struct gpnn_error *err);

void gpnn_columns_map_release(struct gpnn_columns_map *map);

/* Numbers a row becomes. */
size_t gpnn_schema_features(const struct gpnn_schema *schema);

/* What the standardisation has to know of a feature. */
struct gpnn_feature {
  uint32_t group; /* features of one point have one group, every other has its own; from 0 */
  bool has_unit;  /* comparable as it is: km */
};

/* Fills 'features' (gpnn_schema_features() of them); returns whether any group has several. */
bool gpnn_schema_groups(const struct gpnn_schema *schema, struct gpnn_feature *features);

/* Where naming features has got to; zeroed before the first.  Features that are asked for in
 * ascending order with one cursor cost no more steps than there are inputs. */
struct gpnn_feature_cursor {
  size_t input, first; /* an input, and how many features come before its own */
};

/* Name of feature 'feature' ("colour=red" for an indicator, "sin(hour)", "x(lat,lon)"), for
 * messages and gpnn-info: at most GPNN_MASK_BYTES - 1 bytes, masked, NUL-terminated.  'at' may be
 * NULL. */
const char *gpnn_schema_feature_name(const struct gpnn_schema *schema,
                                     struct gpnn_feature_cursor *at, size_t feature,
                                     char name[GPNN_MASK_BYTES]);

/* The same for the group that 'feature' is in: "hour", "lat,lon". */
const char *gpnn_schema_group_name(const struct gpnn_schema *schema, struct gpnn_feature_cursor *at,
                                   size_t feature, char name[GPNN_MASK_BYTES]);

/*
 * The training pass: reads the inputs of 'record' into 'cells' (n_inputs numbers), where a
 * category's number is its level; new levels are added to the schema (and are made known
 * to the map).  Levels are capped at GPNN_LEVELS_MAX a column (GPNN_EDATA).  GPNN_EDATA as
 * gpnn_columns_number, and for a latitude outside [-90, 90] or a longitude outside [-720, 720]; a
 * missing category is missing as a number is.  On failure the schema is unchanged and 'cells' may
 * hold anything.
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

/* Reads the noise variance of 'record', in the target's units squared; 0 if the table has no such
 * column.  GPNN_EDATA as gpnn_columns_number, and for one that is negative. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_noise(const struct gpnn_columns_map *map,
                                                   const struct gpnn_table *table,
                                                   const struct gpnn_record *record, const char *na,
                                                   double *variance, struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
