/*
 * spread: centre and spread of input columns, which a few wild cells cannot move.
 *
 * The centre of a column is its median.  Its spread is the median distance from the centre of those
 * cells that differ from it, so that a column most of whose cells are equal is judged by the
 * others.  Both come from 1024 random rows.
 */
#ifndef GPNN_DATASET_SPREAD_H
#define GPNN_DATASET_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct gpnn_feature;    /* table/schema.h */
struct gpnn_row_source; /* stats/row_source.h */

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

#endif
