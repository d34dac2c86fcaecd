/*
 * schema: the role of each column of a table, and the encoding of rows of text as numbers.
 *
 * A schema says which columns are inputs, in which order and of what kind, and which columns are
 * targets, regressors (terms of the mean), offsets (known parts of the targets), the known variance
 * of each row's noise, its exposure, the groups of rows and their ids.  It is chosen once, from the
 * training table (gpnn_schema_choose), is stored in the index, and finds its columns in any later
 * table by name (gpnn_schema_match). The inputs of a row are then encoded as gpnn_schema_features()
 * numbers, its features, in the order of the inputs:
 *
 *   number     the number itself
 *   category   L indicators, 0 or 1, of its L levels
 *   coded      the code of its level, a number that training learns (dataset/training/training.h),
 *              or of an ordered input, whose levels are given, its place among them, from 0
 *   effect     the number of its level, from 1, or 0 for one that training has not seen, times
 *              GPNN_EFFECT_UNIT: too small to count in any distance
 *   periodic   sin and cos of 2 pi x / period: a point on the unit circle
 *   latitude   with its longitude, in degrees: the point on a sphere with the Earth's mean radius,
 *              in km; the x axis goes through longitude 0, y through 90 east, z through the north
 *              pole
 *   longitude  no feature of its own
 *   names      the number of its level, from 0: what a grid is indexed by (dataset/grid/grid.h)
 *
 * Levels of a category are texts without the blanks around them; those that are numbers are the
 * same level if they are the same number: 1, 1.0, 01 and +1.
 *
 * A target is a number or one of at most GPNN_LEVELS_MAX classes, which are levels of the same
 * kind: numbered from 0 in ascending order, numbers by value before other texts by their bytes.
 *
 * A number may be written as a date, and is then the days since 1970-01-01 (table/date.h).  A date
 * is an input of its own, followed by one periodic input for each of its periods; all of them have
 * its name and position.
 *
 * Distances between such points are chords: 2 |sin(pi (x - x') / period)|, and 2 R sin(angle / 2).
 * The features of one point form a group, and if a row has more than 64 features, those of one
 * category do too.
 *
 * Calling sequence: gpnn_schema_choose() and gpnn_schema_match() with the training table, then
 * gpnn_schema_learn() for each of its rows and, once all levels are known, gpnn_schema_expand();
 * for any later table gpnn_schema_match() and then gpnn_schema_encode() for each row.
 *
 * Failures: besides the outcomes named below, GPNN_ENOMEM.
 * Threads: schemas and maps may be shared freely, except while gpnn_schema_learn() changes them.
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

enum { GPNN_LEVELS_MAX = 1000, GPNN_NAMES_MAX = 20000, GPNN_CODED_MAX = 100000 };

/* The mean radius of the Earth in km (IUGG): (2 a + b) / 3 of the ellipsoid GRS 80. */
#define GPNN_EARTH_RADIUS 6371.0088

enum gpnn_column_kind {
  GPNN_COLUMN_NUMBER = 0,
  GPNN_COLUMN_CATEGORY = 1,
  GPNN_COLUMN_PERIODIC = 2,
  GPNN_COLUMN_LATITUDE = 3,
  GPNN_COLUMN_LONGITUDE = 4,
  GPNN_COLUMN_CLASSES = 5, /* of a target only */
  GPNN_COLUMN_NAMES = 6,   /* of an input; it has at most GPNN_NAMES_MAX levels */
  GPNN_COLUMN_CODED = 7,   /* of an input; it has at most GPNN_CODED_MAX levels */
  GPNN_COLUMN_EFFECT = 8,  /* likewise; only effects of groups look at it */
};

/* What the numbers of levels are multiplied by where they are coordinates: a power of 2, so that
 * they come back exactly, and so small that the product of two of them is 0. */
#define GPNN_EFFECT_UNIT 0x1p-600

/* Columns that are crossed in one effect, at most. */
enum { GPNN_EFFECT_CROSSED = 3 };

/* Groups of rows whose target has a part of its own: an effect (gpnn-methods(7), section 6). */
struct gpnn_group_effect {
  size_t n_columns;                    /* 1, or of a crossed effect up to GPNN_EFFECT_CROSSED */
  size_t columns[GPNN_EFFECT_CROSSED]; /* inputs of the kind GPNN_COLUMN_EFFECT; the groups are the
                                          combinations of their levels */
  bool has_slope;
  size_t slope; /* the input, a number, in which each group has a slope of its own too */
};

struct gpnn_column {
  char *name;         /* owned; without a header the column's number, from 1, as text */
  size_t position;    /* column of the training table, from 0 */
  size_t occurrence;  /* which of the training table's columns of this name it is, from 0 */
  size_t n_namesakes; /* how many others there are */
  enum gpnn_column_kind kind;
  char *date;      /* owned; its texts are dates in this format (table/date.h), and count as days;
                      NULL: they are numbers.  Of inputs and regressors that are no categories */
  double period;   /* of a periodic input, > 0 */
  size_t partner;  /* the input that is the longitude of this latitude, or the reverse */
  size_t n_levels; /* of a category, coded, with effects or neither, or of names, in the order in
                      which they were first seen, or of a target that holds classes, in ascending
                      order: numbers by value, other texts by their bytes */
  char **levels;   /* owned; each as its first text has it */
  size_t *level_lengths;
  double *codes;    /* owned; of a coded input: of each level; NULL: they are not learnt yet */
  double shrinkage; /* of a coded input: lambda of gpnn-methods(7), > 0 once it has learnt codes;
                       of an ordered one 0 */
  size_t n_later; /* of a coded input, or one with effects: the last levels, which the index lacked
                     when it was made and got with rows that were added */
  double *later;  /* owned; of a coded input: for each of these, how many rows its code is of */
};

/* A zeroed schema is empty and may be released. */
struct gpnn_schema {
  size_t n_inputs;
  struct gpnn_column *inputs;     /* owned, n_inputs of them */
  struct gpnn_column target;      /* the first target: a number, or classes */
  size_t n_more;                  /* further targets */
  struct gpnn_column *more;       /* owned, n_more of them; all columns that follow are numbers */
  size_t n_regressors;            /* terms of the mean */
  struct gpnn_column *regressors; /* owned, n_regressors of them */
  bool has_noise;
  struct gpnn_column noise;    /* if 'has_noise': the known noise variance of each row */
  size_t n_offsets;            /* as many as targets, or 0 */
  struct gpnn_column *offsets; /* owned, n_offsets of them: the known part of each target */
  bool has_exposure;
  struct gpnn_column exposure; /* if 'has_exposure': what counts are proportional to, as the time or
                                  the area that they were counted in */
  bool has_by;
  struct gpnn_column by; /* if 'has_by': rows with the same text in it belong together */
  bool has_id;
  struct gpnn_column id; /* if 'has_id': what users know rows by, a text */
  size_t n_effects;
  struct gpnn_group_effect *effects; /* owned, n_effects of them */
  size_t n_columns;                  /* of the training table */
  bool has_header;                   /* the training table named its columns */
  struct gpnn_notation notation;     /* of the training table; its texts are owned */
};

/* What becomes of rows that lack inputs. */
enum gpnn_missing {
  GPNN_MISSING_AUTO = 0, /* training fills them in, and they are predicted from what they have */
  GPNN_MISSING_DROP = 1, /* they are bad rows */
};

/* What a user asks for: each text a LIST (table/columns.h), or NULL for the default.  Zeroed, all
 * are defaults. */
struct gpnn_roles {
  const char *target;        /* one or several; default: the last with a name */
  const char *inputs;        /* default: all columns without another role, in the table's order */
  const char *drop;          /* columns not to use as inputs; default: none */
  const char *one_hot;       /* inputs that are categories; default: none */
  const char *coded;         /* inputs that are categories, coded as a number; default: none */
  const char *regressors;    /* terms of the mean; default: none */
  const char *row_noise;     /* one column; default: none */
  const char *offsets;       /* one for each target, in their order; default: none */
  const char *exposure;      /* one column; default: none.  Rules out 'row_noise' and 'offsets' */
  const char *by;            /* one column, the groups of rows; default: none */
  const char *id;            /* one column, the ids of rows; default: none */
  const char *group_effects; /* items COL[:COL[:COL]][(COL)] with commas between; default: none */
  bool classes;              /* all targets are classes; otherwise they are numbers as yet */
  enum gpnn_missing missing;
  size_t n_ordered;
  const char *const *ordered; /* inputs that are ordered categories: each text "COL=LEVEL < LEVEL",
                                 with all levels from the least to the greatest */
  size_t n_dates;
  const char *const *dates; /* inputs and regressors that are dates: each text "LIST", which means
                               ISO 8601, or "LIST=FORMAT" (table/date.h) */
  size_t n_periods;
  const char *const
      *periods; /* periodic inputs: each text "COL=P" or several with commas between */
  size_t n_locations;
  const char *const *locations; /* pairs of inputs: each text "LAT,LON" */
};

struct gpnn_level_key; /* a level as it is compared: lib/table/schema_levels.c */

/* The levels of one category in order, to find that of a text. */
struct gpnn_level_order {
  size_t n;
  struct gpnn_level_key *keys; /* owned by the map; n of them */
};

/* The positions of a schema's columns in one table, from 0; SIZE_MAX for a column that the table
 * does not have. */
struct gpnn_columns_map {
  size_t *inputs;  /* owned, n_inputs of them; the table has them all */
  bool has_target; /* the table has the target, in column 'target' */
  size_t target;
  size_t *more;       /* owned, n_more of them */
  size_t *regressors; /* owned, n_regressors of them */
  bool has_noise;     /* the table has the noise variance, in column 'noise' */
  size_t noise;
  size_t *offsets;   /* owned, n_offsets of them */
  bool has_exposure; /* the table has the exposure, in column 'exposure' */
  size_t exposure;
  size_t id; /* the column of ids; SIZE_MAX: there is none */
  size_t n_orders;
  struct gpnn_level_order *orders; /* owned, one for each input */
  size_t n_targets;
  struct gpnn_level_order *classes; /* owned, one for each target */
  /* What may be missing; set by the caller.  Rows that lack other inputs are bad. */
  bool takes_levels;  /* a category or a group with effects: it has the level "" then */
  bool takes_missing; /* a number, a date, a position or a code: it is NaN then */
};

/*
 * Chooses the roles of the columns of 'table'; 'schema' must be zeroed, and is so after a failure.
 * An input may be a regressor too, and any column but a target may say which rows belong together
 * or have effects, for which the schema has inputs of their own after all others; otherwise a
 * column has one role.  A column that is an effect by itself is no other input unless 'inputs' says
 * so.  Categories have no levels yet:
 * gpnn_schema_learn() adds them.
 *
 * GPNN_EINVAL: a name is unknown, or is asked for and occurs twice; several targets without names
 * of their own; roles contradict each other (a target that is an input or dropped, a category that
 * is not an input or is periodic, a date that is neither input nor regressor; classes or an
 * exposure together with offsets or row noise); there are offsets, but not as many as targets; no
 * input is left; an effect is not as its items should be; a period is not positive; a format of
 * dates is wrong; the table has fewer than two columns.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_choose(struct gpnn_schema *schema,
                                                    const struct gpnn_table *table,
                                                    const struct gpnn_roles *roles,
                                                    struct gpnn_error *err);

/* Releases what a schema owns and zeroes it. */
void gpnn_schema_release(struct gpnn_schema *schema);

/*
 * Finds the schema's inputs in 'table', and whichever of its other columns the table has: by name
 * if both tables have headers, the second of a name as the second of that name; otherwise by
 * position.  In that case the table must have as many columns as the training table, or just those
 * of the inputs in their order.
 *
 * GPNN_EMISMATCH: inputs are missing (the message names them), more columns have the name of one
 * that is needed than in the training table, or, without headers, the number of columns is another.
 * '*map' is written on success only; release it with gpnn_columns_map_release().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_match(const struct gpnn_schema *schema,
                                                   const struct gpnn_table *table,
                                                   struct gpnn_columns_map *map,
                                                   struct gpnn_error *err);

/* For callers whose mean has regressors.  GPNN_EMISMATCH: 'table' lacks some; the message names
 * them. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_require_regressors(const struct gpnn_schema *schema,
                                                                const struct gpnn_columns_map *map,
                                                                const struct gpnn_table *table,
                                                                struct gpnn_error *err);

/* The same for callers that need the targets or predictions of rows, and so their offsets. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_require_offsets(const struct gpnn_schema *schema,
                                                             const struct gpnn_columns_map *map,
                                                             const struct gpnn_table *table,
                                                             struct gpnn_error *err);

/* Frees what a map owns and zeroes it. */
void gpnn_columns_map_release(struct gpnn_columns_map *map);

/* Column 'k' of all that have a role that predictions depend on: the target, the inputs, further
 * targets, regressors, noise, offsets, groups, exposure.  NULL: there are no more. */
struct gpnn_column *gpnn_schema_column(struct gpnn_schema *schema, size_t k);

/* Target 't' of a schema: 0 is 'target', 1 and more are in 'more'. */
const struct gpnn_column *gpnn_schema_target(const struct gpnn_schema *schema, size_t t);

/* True if target 't' is classes. */
bool gpnn_schema_has_classes(const struct gpnn_schema *schema, size_t t);

/* True if some input is coded, with codes that training learns. */
bool gpnn_schema_has_codes(const struct gpnn_schema *schema);

/* True of a coded input that is ordered. */
bool gpnn_schema_is_ordered(const struct gpnn_column *column);

/* Removes the levels of a column of which 'keep' is false; those that stay keep their order. */
void gpnn_schema_keep_levels(struct gpnn_column *column, const bool *keep);

/* True if 'input' is read from the same column as the one before it, as a circle of a date is. */
bool gpnn_schema_is_repeat(const struct gpnn_schema *schema, size_t input);

/* The name of a column for messages and gpnn-info, as the table has it ("lat"), with its number in
 * the training table if another has that name too ("lat (column 3)"), or that number alone if the
 * name is empty ("column 3"); masked.  Returns 'name'. */
const char *gpnn_schema_column_name(const struct gpnn_column *column, char name[GPNN_MASK_BYTES]);

/* The name of an effect, as users ask for it: "school", "dept:service", "child(year)"; masked.
 * Returns 'name'. */
const char *gpnn_schema_effect_name(const struct gpnn_schema *schema, size_t effect,
                                    char name[GPNN_MASK_BYTES]);

/* How many features a row is encoded as. */
size_t gpnn_schema_features(const struct gpnn_schema *schema);

/* What standardisation has to know about a feature. */
struct gpnn_feature {
  uint32_t group; /* from 0; shared by the features of one point, and its own for any other */
  bool has_unit;  /* comparable with its group as it is, in km */
  bool is_level;  /* stays as it is, as it says which level has an effect */
};

/* Describes all features, gpnn_schema_features() of them; returns true if any group has more than
 * one. */
bool gpnn_schema_groups(const struct gpnn_schema *schema, struct gpnn_feature *features);

/* The last feature named; zeroed before the first.  Naming features in ascending order with one
 * cursor takes no more steps in all than there are inputs. */
struct gpnn_feature_cursor {
  size_t input, first; /* an input, and the number of features before its own */
};

/* The input that a feature belongs to; 'at' may be NULL. */
const struct gpnn_column *gpnn_schema_feature_input(const struct gpnn_schema *schema,
                                                    struct gpnn_feature_cursor *at, size_t feature);

/* The name of a feature ("colour=red" for an indicator, "sin(hour)", "sin(sold/week)" of a date,
 * "x(lat,lon)"), for messages and gpnn-info: masked, NUL-terminated, at most GPNN_MASK_BYTES - 1
 * bytes long.  'at' may be NULL.  Returns 'name'. */
const char *gpnn_schema_feature_name(const struct gpnn_schema *schema,
                                     struct gpnn_feature_cursor *at, size_t feature,
                                     char name[GPNN_MASK_BYTES]);

/* The same for the group that a feature belongs to: "hour", "sold/week", "lat,lon". */
const char *gpnn_schema_group_name(const struct gpnn_schema *schema, struct gpnn_feature_cursor *at,
                                   size_t feature, char name[GPNN_MASK_BYTES]);

/*
 * The training pass: reads the inputs of 'record' into 'cells' (n_inputs numbers); that of a
 * category, coded or not, is its level's number.  New levels are added to the schema and to the
 * map.
 *
 * GPNN_EDATA: as gpnn_columns_number(), also for a category that is missing; a date that cannot be
 * read (gpnn_columns_date()); a latitude outside
 * [-90, 90] or a longitude outside [-720, 720]; more than GPNN_LEVELS_MAX levels in a column, or
 * GPNN_CODED_MAX if it is coded; a level that is none of those of an ordered input.
 * After a failure the schema is unchanged and 'cells' may hold anything.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_learn(struct gpnn_schema *schema,
                                                   const struct gpnn_columns_map *map,
                                                   const struct gpnn_table *table,
                                                   const struct gpnn_record *record, double *cells,
                                                   struct gpnn_error *err);

/* True if an input has levels, so that gpnn_schema_learn() may change schema and map. */
bool gpnn_schema_learns_levels(const struct gpnn_schema *schema);

/*
 * The same for one input that holds names: '*level' becomes the number of its level, which is added
 * if it is new.  GPNN_EDATA: the value is missing, or there are too many levels.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_schema_learn_name(struct gpnn_schema *schema, const struct gpnn_columns_map *map, size_t input,
                       const struct gpnn_table *table, const struct gpnn_record *record,
                       size_t *level, struct gpnn_error *err);

/*
 * For rows added to an index: adds levels that 'record' has and the schema lacks, of coded inputs,
 * with a code of 0 that is of no rows, and of inputs with effects, and their number to '*n_new'.
 * GPNN_EDATA: there are too many levels.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_learn_later(struct gpnn_schema *schema,
                                                         const struct gpnn_columns_map *map,
                                                         const struct gpnn_table *table,
                                                         const struct gpnn_record *record,
                                                         size_t *n_new, struct gpnn_error *err);

/*
 * Then takes the row's first target into the codes of those of its levels: 'y' is about the mean of
 * the training rows, in their standard deviations.  A row that is encoded before this knows the
 * targets of the rows before it, and not its own.
 */
void gpnn_schema_learn_codes(struct gpnn_schema *schema, const struct gpnn_columns_map *map,
                             const struct gpnn_table *table, const struct gpnn_record *record,
                             double y);

/* Reads one input that is a number or a date, in the units of the table.  GPNN_EDATA as
 * gpnn_schema_learn(). */
GPNN_MUST_CHECK enum gpnn_status
gpnn_schema_read_number(const struct gpnn_schema *schema, const struct gpnn_columns_map *map,
                        size_t input, const struct gpnn_table *table,
                        const struct gpnn_record *record, double *value, struct gpnn_error *err);

/* Encodes 'cells' of gpnn_schema_learn() as gpnn_schema_features() features, once all levels are
 * known.  Those of coded inputs are codes already. */
void gpnn_schema_expand(const struct gpnn_schema *schema, const double *cells, double *features);

/*
 * The prediction pass: reads the inputs of 'record' and encodes them as 'features'.  A level that
 * training has not seen has all indicators 0, and adds 1 to '*n_unseen'; its code is missing, that
 * is NaN, or where inputs may not be, 0, the mean.  A name that it has not seen is GPNN_EDATA.
 * 'map' must know all levels of 'schema': it was made after the last gpnn_schema_learn(), or is the
 * map used there. GPNN_EDATA as gpnn_schema_learn(); after it 'features' may hold anything and
 * '*n_unseen' is unchanged.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_schema_encode(const struct gpnn_schema *schema, const struct gpnn_columns_map *map,
                   const struct gpnn_table *table, const struct gpnn_record *record,
                   double *features, size_t *n_unseen, struct gpnn_error *err);

/* Reads the regressors of 'record', n_regressors numbers.  GPNN_EDATA: as gpnn_columns_number(), or
 * gpnn_columns_date() for dates. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_schema_read_regressors(const struct gpnn_schema *schema, const struct gpnn_columns_map *map,
                            const struct gpnn_table *table, const struct gpnn_record *record,
                            double *regressors, struct gpnn_error *err);

/* Reads the noise variance of 'record', in the target's units squared; 0 if the table has no such
 * column.  GPNN_EDATA: as gpnn_columns_number(), or it is negative. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_noise(const struct gpnn_columns_map *map,
                                                   const struct gpnn_table *table,
                                                   const struct gpnn_record *record,
                                                   double *variance, struct gpnn_error *err);

/* Reads the offset of target 't', which 'map' must have, to '*offset' and subtracts it from '*y',
 * the target, both in table units.  GPNN_EDATA: as gpnn_columns_number(), or the difference
 * overflows. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_subtract_offset(const struct gpnn_columns_map *map,
                                                             const struct gpnn_table *table,
                                                             const struct gpnn_record *record,
                                                             size_t t, double *y, double *offset,
                                                             struct gpnn_error *err);

/* Reads the exposure of 'record', which 'map' must have.  GPNN_EDATA: as gpnn_columns_number(), or
 * it is not above 0. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_exposure(const struct gpnn_columns_map *map,
                                                      const struct gpnn_table *table,
                                                      const struct gpnn_record *record,
                                                      double *exposure, struct gpnn_error *err);

/* For callers that need the exposure.  GPNN_EMISMATCH: the schema has one and 'table' lacks it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_require_exposure(const struct gpnn_schema *schema,
                                                              const struct gpnn_columns_map *map,
                                                              const struct gpnn_table *table,
                                                              struct gpnn_error *err);

/* Finds the column of 'table' by which rows belong together, which the schema has.  GPNN_EMISMATCH:
 * there is none. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_find_by(const struct gpnn_schema *schema,
                                                     const struct gpnn_table *table, size_t *column,
                                                     struct gpnn_error *err);

/* ---- classes ------------------------------------------------------------------------------- */

/* The number of a class that training has not seen. */
enum { GPNN_CLASS_UNSEEN = -1 };

/* Makes classes of target 't', a number of which no row has been read yet.  GPNN_EINVAL: there are
 * offsets or row noise, which are those of numbers. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_make_classes(struct gpnn_schema *schema, size_t t,
                                                          struct gpnn_error *err);

/*
 * The training pass: reads the class of 'record' in target 't', whose value must not be missing,
 * as its number in the order in which classes are first seen.  New ones are added to the schema and
 * to the map.  GPNN_EDATA: it would be one class more than GPNN_LEVELS_MAX, so that no further row
 * can be read.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_learn_class(struct gpnn_schema *schema,
                                                         const struct gpnn_columns_map *map,
                                                         const struct gpnn_table *table,
                                                         const struct gpnn_record *record, size_t t,
                                                         double *y, struct gpnn_error *err);

/* After the training pass: sorts the classes of target 't' in the schema and the map.  '*number',
 * which the caller frees, becomes the new number of each class by its old one.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_sort_classes(struct gpnn_schema *schema,
                                                          const struct gpnn_columns_map *map,
                                                          size_t t, double **number,
                                                          struct gpnn_error *err);

/* For any later table: the number of the class of 'record' in target 't', a column that the table
 * has and whose value is not missing; GPNN_CLASS_UNSEEN if training has not seen it. */
double gpnn_schema_class(const struct gpnn_schema *schema, const struct gpnn_columns_map *map,
                         const struct gpnn_table *table, const struct gpnn_record *record,
                         size_t t);

#ifdef __cplusplus
}
#endif

#endif
