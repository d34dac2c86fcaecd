/*
 * limits: clipping the outliers of inputs.
 *
 * A single wild cell, a typing error or a code for "missing", would set the scale of its column and
 * leave the other cells nothing to differ by.  So outliers are found by statistics that a few cells
 * cannot move, and are clipped to the limits of their column.
 *
 * Beyond three spreads from the centre of a column (dataset/spread.h) distances are counted by
 * octaves.  Cells beyond a gap of four empty
 * octaves, a factor of 16, are outliers; a long tail seldom has such a gap.  A column gets limits
 * if it has at most one outlier, or one in fifty cells, or if its outliers are codes: on either
 * side one value or two whose distances from the centre differ by at most a quarter, so that little
 * is lost if both are clipped; levels such as 1, 2, 5, 1000 and 2000 are not codes.  The limits lie
 * a factor of 2 into the gap, so that clipped cells are not neighbours of the others.
 */
#ifndef GPNN_DATASET_LIMITS_H
#define GPNN_DATASET_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_feature;    /* table/schema.h */
struct gpnn_row_source; /* stats/row_source.h */

/* The limits of n columns.  A zeroed object has none and may be released. */
struct gpnn_limits {
  size_t n;
  double *lower; /* owned; n, -DBL_MAX for a column without limits; NULL: no column has limits */
  double *upper; /* owned with 'lower'; n, DBL_MAX for a column without limits */
};

/* The outliers of a column. */
struct gpnn_outliers {
  size_t column;
  size_t n;
  double value;     /* the most frequent of the least and greatest outliers on either side */
  size_t n_equal;   /* cells of that value */
  double low, high; /* range of the other cells */
};

/* The columns that got limits.  A zeroed object is empty and may be released. */
struct gpnn_outlier_columns {
  size_t n;
  struct gpnn_outliers *of; /* owned; n, by column */
};

/*
 * Learns the limits of the first 'n_in' columns of 'rows', and describes the outliers of the
 * columns that got some.  'limits' and 'outliers' must be zeroed.  Columns that have a unit or are
 * one of several coordinates of a point get no limits; 'features' may be NULL: there are no such
 * columns. GPNN_ENOMEM, and whatever 'rows' fails with.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_limits_learn(struct gpnn_limits *limits,
                                                   struct gpnn_outlier_columns *outliers,
                                                   const struct gpnn_row_source *rows, size_t n_in,
                                                   const struct gpnn_feature *features,
                                                   struct gpnn_error *err);

/* True if column 'j' has limits. */
bool gpnn_limits_has(const struct gpnn_limits *limits, size_t j);

/* 'value' of column 'j', clipped. */
double gpnn_limits_clip(const struct gpnn_limits *limits, size_t j, double value);

/* 'value' of column 'j', or the middle of the limits if it is an outlier: for moments, which
 * outliers should not move. */
double gpnn_limits_replace(const struct gpnn_limits *limits, size_t j, double value);

void gpnn_limits_release(struct gpnn_limits *limits);
void gpnn_outlier_columns_release(struct gpnn_outlier_columns *outliers);

#ifdef __cplusplus
}
#endif

#endif
