/*
 * predictions: finding the columns of a table of predictions, and reading its rows.
 *
 * Predictions of one target are in the columns
 *   mean, sd, df, lower, upper        or, for several levels in percent, lower90, upper90 ...
 *   logp, crps, pit
 * of which only the mean is required; the true value is in the column before it.  df is the degrees
 * of freedom of Student's t distribution (missing or inf: a normal distribution).  logp, crps and
 * pit score the predicted distribution, where mean, sd and df do not determine it: its log density
 * at the true value, its continuous ranked probability score, and the probability of values below
 * the true one.  With several targets these names end in an underscore and the target's name, and
 * the true value is in the column of that name: a mean_a sd_a lower90_a upper90_a b mean_b sd_b
 * lower90_b upper90_b df, lower and all others must come after the mean: columns copied from the
 * predicted table come before it and may happen to have such names.  Of two columns called
 * sd, the one after the mean counts.
 *
 * Calling sequence: gpnn_predictions_find(), gpnn_predictions_read() for each record and target,
 * gpnn_predictions_release().
 * Threads: once found, the columns are read-only and may be shared freely.
 */
#ifndef GPNN_TABLE_PREDICTIONS_H
#define GPNN_TABLE_PREDICTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

enum { GPNN_PREDICTIONS_INTERVALS = 32 };

enum gpnn_predictions_score {
  GPNN_PREDICTIONS_LOGP,
  GPNN_PREDICTIONS_CRPS,
  GPNN_PREDICTIONS_PIT,
  GPNN_PREDICTIONS_SCORES
};

struct gpnn_predictions_target {
  char *name;                 /* owned; NULL: the only target, whose columns do not name it */
  size_t truth, mean, sd, df; /* columns, from 0 */
  bool has_sd, has_df;
  size_t score[GPNN_PREDICTIONS_SCORES];
  bool has_score[GPNN_PREDICTIONS_SCORES];
  size_t n_intervals; /* may be 0 */
  struct gpnn_predictions_interval {
    size_t lower, upper; /* columns */
    double level;        /* in (0, 1); NaN: the names do not say */
  } intervals[GPNN_PREDICTIONS_INTERVALS];
};

/* A zeroed object is empty and may be released. */
struct gpnn_predictions {
  size_t n_targets;
  struct gpnn_predictions_target *targets; /* owned; in the order of the columns */
};

/* The columns that a user asks for, by name or number.  NULL: those described above or, in a table
 * without a header, columns 1, 2 and 3 for truth, mean and sd. */
struct gpnn_predictions_wanted {
  const char *truth, *mean, *sd, *df;
};

/*
 * Finds the columns.  There are several targets where no column is asked for, none is called
 * 'mean', and some are called mean_NAME with a truth NAME.  GPNN_EINVAL: a column is missing or
 * there twice.  GPNN_EDATA: there are too many intervals, or targets have predictions of different
 * form.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_predictions_find(struct gpnn_predictions *predictions,
                                                       const struct gpnn_table *table,
                                                       const struct gpnn_predictions_wanted *wanted,
                                                       struct gpnn_error *err);

struct gpnn_predictions_row {
  double truth, mean;
  double sd;                             /* NaN: there is no such column */
  double df;                             /* INFINITY: there is no such column, or no value in it */
  double score[GPNN_PREDICTIONS_SCORES]; /* likewise NaN; may be infinite */
  double lower[GPNN_PREDICTIONS_INTERVALS], upper[GPNN_PREDICTIONS_INTERVALS]; /* NaN: no value */
};

/* Reads one target's part of a record.  GPNN_END: the truth or the mean
 * is missing, so there is nothing to score.  GPNN_EDATA: as gpnn_columns_number().  '*prediction'
 * is written on success only. */
GPNN_MUST_CHECK enum gpnn_status gpnn_predictions_read(const struct gpnn_predictions_target *target,
                                                       const struct gpnn_table *table,
                                                       const struct gpnn_record *record,
                                                       struct gpnn_predictions_row *prediction,
                                                       struct gpnn_error *err);

/* Frees what the object owns and zeroes it. */
void gpnn_predictions_release(struct gpnn_predictions *predictions);

#endif
