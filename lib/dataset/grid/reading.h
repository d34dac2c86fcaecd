/*
 * reading: from a table to a grid of observations.
 *
 * A long table has a row for each observation: columns that say where it belongs, and the target.
 * A row without target says that there is such a site and such a time, and no more.  A wide table
 * has a row for each site, and a column for each time; cells may be empty.
 *
 * Calling sequence: gpnn_grid_reading_begin() with an open table and the roles of its columns;
 * gpnn_grid_reading_read(); gpnn_grid_reading_finish(), which sorts, averages and standardises;
 * then 'dataset' is ready for gpnn_index_write_grid().  gpnn_grid_reading_release() at the end,
 * whatever happened.
 *
 * Levels of a factor are told apart by the numbers in its columns, however they are written.  A
 * factor with one column whose first value is not a number has names as levels, as has one that is
 * asked for; of other factors a value that is not a number is bad.
 *
 * Memory: 16 bytes an observation while the table is read, 40 while they are sorted (two factors),
 * and the levels.  Threads: an object belongs to one thread at a time.
 */
#ifndef GPNN_DATASET_GRID_READING_H
#define GPNN_DATASET_GRID_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "dataset/grid/grid.h"
#include "table/groups.h"
#include "table/schema.h"
#include "table/skipped.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Factors of a grid: fewer are rows, more are seldom meant. */
enum { GPNN_GRID_LEAST_FACTORS = 2, GPNN_GRID_MOST_FACTORS = 6 };

struct gpnn_grid_factor_roles {
  const char *name;    /* "site" */
  const char *columns; /* a LIST (table/columns.h); of a wide table's second factor the name that
                          later tables have for its column */
};

/* What a user asks for.  Zeroed but for the factors, all are defaults. */
struct gpnn_grid_roles {
  const char *target; /* default: the last column; of a wide table its name: "value" */
  size_t n_factors;
  struct gpnn_grid_factor_roles factor[GPNN_GRID_MOST_FACTORS];
  const char *names; /* LIST of columns that hold names, also where these are numbers; of a wide
                        table also the name of the second factor's column */
  size_t n_dates;
  const char *const *dates; /* as in struct gpnn_roles */
  bool is_wide;             /* then there are two factors, and: */
  const char *times;        /* LIST of the columns that are times; default: all others */
  const char *drop;         /* LIST of columns to ignore */
};

/* A factor as it is read. */
struct gpnn_grid_axis {
  char *name;              /* owned */
  size_t first, n_columns; /* its inputs of the schema, from 0 */
  bool has_names;          /* levels are names, and not numbers; decided by the first value */
  bool is_decided;
  struct gpnn_groups texts; /* as they stand in the table, and for each: */
  uint32_t *level_of_text;  /* owned; its level, UINT32_MAX for one that is bad */
  size_t texts_capacity;
  struct gpnn_groups places; /* coordinates, as bytes */
  size_t n;                  /* levels */
  double *x;                 /* owned; n by n_columns, in table units, then standardised with the
                                columns that vary; of names their numbers */
  size_t x_capacity;
  size_t n_empty; /* levels without any observation, once finished */
};

/* A zeroed object is empty and may be released. */
struct gpnn_grid_reading {
  struct gpnn_columns_map map;
  bool is_wide;
  size_t n_axes;
  struct gpnn_grid_axis axis[GPNN_GRID_MOST_FACTORS];
  size_t n_times;   /* of a wide table: columns that are times */
  size_t *times;    /* owned; their positions */
  size_t n_rows;    /* rows read */
  size_t n_holes;   /* cells of these that had no target */
  size_t n;         /* observations */
  uint32_t *levels; /* owned; n by n_axes: that of each */
  double *y;        /* owned; n: the targets, and then the means of the n_cells cells */
  size_t levels_capacity, y_capacity;
  char *key; /* owned; texts of a factor's columns */
  size_t key_capacity;
  int64_t *cell;    /* owned; those of the grid */
  uint32_t *counts; /* owned */
  struct gpnn_grid_factor factor[GPNN_GRID_MOST_FACTORS];
  struct gpnn_grid grid;       /* once finished */
  double outlier;              /* the target, in table units, that contributes most to */
  double outlier_fraction;     /* its variance, and the fraction that it contributes */
  struct gpnn_skipped skipped; /* rows left out */
  struct gpnn_dataset dataset; /* the schema from the beginning, the rest once finished */
};

/*
 * Chooses the columns' roles in 'table'.  'reading' must be empty.
 *
 * GPNN_EINVAL: as gpnn_schema_choose(); a column belongs to two factors; names in one of several
 * columns of a factor, or in a date; two factors have one name; a wide table has fewer than two
 * times.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_reading_begin(struct gpnn_grid_reading *reading,
                                                         const struct gpnn_table *table,
                                                         const struct gpnn_grid_roles *roles,
                                                         struct gpnn_error *err);

/*
 * Reads all records of 'table', once.  With 'skip_bad', bad rows are left out and counted in
 * 'skipped', otherwise the first is GPNN_EDATA.  'progress' is called now and then with the rows so
 * far and the share of the table that they are (gpnn_input_share()), or is NULL.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_reading_read(struct gpnn_grid_reading *reading, struct gpnn_table *table, bool skip_bad,
                       void (*progress)(size_t n_rows, double share), struct gpnn_error *err);

/*
 * Makes the dataset.  'name' is that of the table, for messages.  GPNN_EDATA: there are fewer than
 * two observed cells, or levels of a factor; the target is constant, or differences of values
 * overflow; the grid has more cells than can be numbered.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_reading_finish(struct gpnn_grid_reading *reading,
                                                          const char *name, struct gpnn_error *err);

void gpnn_grid_reading_release(struct gpnn_grid_reading *reading);

#ifdef __cplusplus
}
#endif

#endif
