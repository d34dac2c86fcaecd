/*
 * limits: how far an input may lie from the rest of its column before it counts as no farther.
 *
 * One wild cell, a slip of the keyboard or a code for "missing", would set the scale of its column
 * by itself, and leave none for the others to differ by.  So cells are told from the rest by what
 * few of them cannot move, and count as the limit that they exceed.
 *
 * The centre of a column is its median, its spread the median distance to it of the cells that
 * differ from it, so that a column most of whose cells are equal is judged by the others.  Cells
 * within three spreads are near.  Going outwards from there by factors of 2, what lies beyond a gap
 * of a factor of 16 or more is far; a long tail seldom has such a gap.  A column gets limits if its
 * far cells are no more than one, or one in fifty, or are codes: one value on either side, or two
 * whose distances differ by a quarter at most, so that little is lost where both count as one
 * limit; levels such as 1, 2, 5, 1000 and 2000 are none.  The limits are a factor of 2 into the
 * gap, so that far cells are no neighbours of the rest. A column without far cells has none.
 *
 * Centre and spread come from 1024 random rows, all else from all rows.
 */
#ifndef GPNN_DATASET_LIMITS_H
#define GPNN_DATASET_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "stats/row_source.h"
#include "table/schema.h"

/* A zeroed object has no limits and may be released. */
struct gpnn_limits {
  size_t n;      /* columns */
  double *lower; /* owned; n of them, -DBL_MAX where there is none; NULL: no column has limits */
  double *upper; /* owned with 'lower'; n of them, DBL_MAX where there is none */
};

/* The far cells of a column. */
struct gpnn_far {
  size_t column;
  size_t n;         /* how many */
  double value;     /* the most frequent of the farthest and nearest on either side */
  size_t n_equal;   /* cells of that value */
  double low, high; /* the rest's range */
};

/* A zeroed object is empty and may be released. */
struct gpnn_far_columns {
  size_t n;
  struct gpnn_far *of; /* owned; by column */
};

/*
 * Learns the limits of the first 'n_in' columns of 'rows', and tells of those columns that got any
 * in 'far'.  Both must be zeroed.  Columns that are one of several coordinates of a point or have a
 * unit get none ('features' may be NULL: there are no such).  What 'rows' fails with is passed on.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_limits_learn(struct gpnn_limits *limits,
                                                   struct gpnn_far_columns *far,
                                                   const struct gpnn_row_source *rows, size_t n_in,
                                                   const struct gpnn_feature *features,
                                                   struct gpnn_error *err);

bool gpnn_limits_has(const struct gpnn_limits *limits, size_t j);

/* What 'value' in column 'j' counts as. */
double gpnn_limits_apply(const struct gpnn_limits *limits, size_t j, double value);

/* 'value', or the middle of the limits where it is beyond them: for moments, which far cells shall
 * not move. */
double gpnn_limits_fill(const struct gpnn_limits *limits, size_t j, double value);

void gpnn_limits_release(struct gpnn_limits *limits);
void gpnn_far_columns_release(struct gpnn_far_columns *far);

#endif
