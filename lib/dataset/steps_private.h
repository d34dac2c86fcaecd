/*
 * steps_private: the steps of dataset/steps.h, each by itself.
 */
#ifndef GPNN_DATASET_STEPS_PRIVATE_H
#define GPNN_DATASET_STEPS_PRIVATE_H

#include "dataset/steps.h"

struct gpnn_feature; /* table/schema.h */

/*
 * Spread: centre and spread of input columns, which a few wild cells cannot move.
 *
 * The centre of a column is its median.  Its spread is the median distance from the centre of those
 * cells that differ from it, so that a column most of whose cells are equal is judged by the
 * others.  Both come from 1024 random rows.
 */

/* Halves of numbers, so that no difference overflows. */
struct gpnn_spread {
  double centre;   /* half the median */
  double spread;   /* half the spread; 0: the column is not judged, as it has a unit, is one of
                      several coordinates of a point, hardly varies, or varies only by rounding */
  bool has_levels; /* of the cells that differ from the centre, some are nearer than others */
};

/* Judges the first 'n_in' columns of 'rows'; 'spreads' has n_in.  'features' may be NULL: no column
 * has a unit or is part of a point.  GPNN_ENOMEM, and whatever 'rows' fails with. */
GPNN_MUST_CHECK enum gpnn_status gpnn_spread_learn(const struct gpnn_row_source *rows, size_t n_in,
                                                   const struct gpnn_feature *features,
                                                   struct gpnn_spread *spreads,
                                                   struct gpnn_error *err);

/*
 * Limits: clipping the outliers of inputs.
 *
 * A single wild cell, a typing error or a code for "missing", would set the scale of its column and
 * leave the other cells nothing to differ by.  So outliers are found by statistics that a few cells
 * cannot move, and are clipped to the limits of their column.
 *
 * Beyond three spreads from the centre of a column distances are counted by octaves.  Cells beyond
 * a gap of four empty octaves, a factor of 16, are outliers; a long tail seldom has such a gap.  A
 * column gets limits if it has at most one outlier, or one in fifty cells, or if its outliers are
 * codes: on either side one value or two whose distances from the centre differ by at most a
 * quarter, so that little is lost if both are clipped; levels such as 1, 2, 5, 1000 and 2000 are
 * not codes.  The limits lie a factor of 2 into the gap, so that clipped cells are not neighbours
 * of the others.
 *
 * Numbers: the lower limit of each feature, -DBL_MAX for one without limits, then the upper ones.
 */

/*
 * Learns the limits of the first 'n_in' columns of 'rows', and describes the outliers of the
 * columns that got some, and of the next 'n_more' columns, which get none.  'limits' and 'outliers'
 * must be zeroed.  Columns that have a unit or are one of several coordinates of a point get no
 * limits; 'features' may be NULL: there are no such columns. GPNN_ENOMEM, and whatever 'rows' fails
 * with.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_limits_learn(struct gpnn_learnt *limits, struct gpnn_outlier_columns *outliers,
                  const struct gpnn_row_source *rows, size_t n_in, size_t n_more,
                  const struct gpnn_feature *features, struct gpnn_error *err);
bool gpnn_limits_are_valid(const struct gpnn_learnt *limits);

/* True if column 'j' has limits. */
bool gpnn_limits_has(const struct gpnn_learnt *limits, size_t j);

/* 'value' of column 'j', clipped. */
double gpnn_limits_clip(const struct gpnn_learnt *limits, size_t j, double value);

/* 'value' of column 'j', or the middle of the limits if it is an outlier: for moments, which
 * outliers should not move. */
double gpnn_limits_replace(const struct gpnn_learnt *limits, size_t j, double value);

/*
 * Tails: compressing the long tails of inputs (gpnn-methods(7), equations 1.14 and 1.15).
 *
 * A kernel sees distances.  In a column with a long tail most rows are close to each other by the
 * measure of the few that are far out, and what tells them apart is lost.  Such a column is
 * replaced by
 *   centre + spread asinh((value - centre) / spread),
 * with its centre and spread: as it was near the centre, logarithmic far away.
 * A tail is long if the kurtosis of the column exceeds 6, that of Laplace's distribution.
 *
 * Numbers: the centre of each feature, then its spread, 0 for one whose tails are not long.
 */

/*
 * Finds which of the first 'n_in' columns of 'rows' have long tails.  'tails' must be zeroed.
 * Columns that have a unit or are one of several coordinates of a point are left alone, as are
 * those with only one value besides the most frequent; 'features' may be NULL: there are no such
 * columns.  GPNN_ENOMEM, and whatever 'rows' fails with.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tails_learn(struct gpnn_learnt *tails,
                                                  const struct gpnn_row_source *rows, size_t n_in,
                                                  const struct gpnn_feature *features,
                                                  struct gpnn_error *err);
bool gpnn_tails_are_valid(const struct gpnn_learnt *tails);

/* True if column 'j' has a long tail. */
bool gpnn_tails_has(const struct gpnn_learnt *tails, size_t j);

/* 'value' of column 'j', compressed. */
double gpnn_tails_compress(const struct gpnn_learnt *tails, size_t j, double value);

/* The value that is 'value' compressed. */
double gpnn_tails_expand(const struct gpnn_learnt *tails, size_t j, double value);

#endif
