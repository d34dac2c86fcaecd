/*
 * drift: whether the columns of a table to predict are distributed as they were in training, or
 * something has happened to them: another unit, a code for missing values, columns swapped.
 *
 * A column is held against the knots of its normal score (dataset/scores.h): at up to
 * GPNN_DRIFT_LEVELS of them, the share of rows below, half of those equal included, is compared
 * with that in training.  It has moved
 *   - if the largest difference exceeds a third by more than chance could make it in one table of a
 *     million, 2.7 / sqrt(n), Kolmogorov's bound: smaller ones are usual between seasons or
 *     places;
 *   - if more than 1 % of the rows lie outside the knots by more than these span, and more than
 *     chance explains;
 *   - or if more rows lack it than did in training, by the margin of the first.
 * Columns without a score (categories, positions), dates, and columns that whitening has mixed are
 * not looked at.
 *
 * Calling sequence: gpnn_drift_init(), gpnn_drift_add() for rows as they come, gpnn_drift_of() for
 * each coordinate; gpnn_drift_release().  Threads: an object belongs to one thread at a time.
 */
#ifndef GPNN_DATASET_DRIFT_H
#define GPNN_DATASET_DRIFT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"

enum { GPNN_DRIFT_LEVELS = 32 };

/* A column and what its rows have come to. */
struct gpnn_drift_column {
  size_t coordinate; /* of the rows */
  size_t input;      /* of the schema */
  size_t n_levels;
  double level[GPNN_DRIFT_LEVELS], share[GPNN_DRIFT_LEVELS]; /* in training, below each level */
  double margin;                                             /* what the knots span */
  double lacking;                                            /* share of training rows without it */
  size_t n, n_missing, n_outside;                            /* rows; those outside by the margin */
  size_t n_at[2 * GPNN_DRIFT_LEVELS + 1]; /* below the first level, at it, between it and the next
                                             ... */
};

/* A zeroed object watches nothing and may be released. */
struct gpnn_drift {
  size_t n;
  struct gpnn_drift_column *columns; /* owned */
};

/* For rows that are standardised as those of 'dataset'.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_drift_init(struct gpnn_drift *drift,
                                                 const struct gpnn_dataset *dataset,
                                                 struct gpnn_error *err);

/* Adds a row. */
void gpnn_drift_add(struct gpnn_drift *drift, const double *x);

enum gpnn_drift_kind {
  GPNN_DRIFT_NONE,
  GPNN_DRIFT_MOVED,   /* it is distributed otherwise */
  GPNN_DRIFT_OUTSIDE, /* 'share' of the rows are far outside the values of training */
  GPNN_DRIFT_MISSING, /* 'share' of the rows lack it */
};

/* What has happened to a column: of the kind MOVED, 'share' is the difference. */
enum gpnn_drift_kind gpnn_drift_of(const struct gpnn_drift_column *column, double *share);

void gpnn_drift_release(struct gpnn_drift *drift);

#endif
