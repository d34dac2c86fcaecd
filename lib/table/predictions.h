/*
 * predictions: the columns of a table of predictions, by their names, and its rows as numbers.
 *
 * A prediction of one target stands in the columns
 *   mean, sd, df, lower, upper        or, of several levels in percent, lower90, upper90 ...
 * of which only the mean must be there; the true value stands in the column before the mean.
 * df are the degrees of freedom of Student's t (missing or inf: normal).  With several targets
 * each column ends in an underscore and the target's name, and the truths stand in columns of
 * those names:
 *   a mean_a sd_a lower90_a upper90_a b mean_b sd_b lower90_b upper90_b
 * df, lower and upper are looked for behind the mean only, since columns carried along stand
 * before it and may have such names too.
 */
#ifndef GPNN_TABLE_PREDICTIONS_H
#define GPNN_TABLE_PREDICTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

enum { GPNN_PREDICTIONS_INTERVALS = 32 };

struct gpnn_predictions_target {
  char *name; /* owned; NULL: the only target, whose columns bear no name */
  size_t truth, mean, sd, df;
  bool has_sd, has_df;
  size_t n_intervals;
  struct gpnn_predictions_interval {
    size_t lower, upper;
    double level; /* in (0, 1); NaN: not told by the names */
  } intervals[GPNN_PREDICTIONS_INTERVALS];
};

/* A zeroed object is empty and may be released. */
struct gpnn_predictions {
  size_t n_targets;
  struct gpnn_predictions_target *targets; /* owned; in the order of the columns */
};

/* Columns by name or number, where the user says; NULL: as described above, and without a header
 * the columns 1, 2 and 3 for truth, mean and sd. */
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
  double sd, df; /* NaN, INFINITY: there is no such column */
  double lower[GPNN_PREDICTIONS_INTERVALS], upper[GPNN_PREDICTIONS_INTERVALS]; /* NaN: missing */
};

/* Reads one target's part of a record; 'na' as in table/columns.h.  GPNN_END: the truth or the
 * mean is missing.  GPNN_EDATA: as gpnn_columns_number(). */
GPNN_MUST_CHECK enum gpnn_status
gpnn_predictions_read(const struct gpnn_predictions_target *target, const struct gpnn_table *table,
                      const struct gpnn_record *record, const char *na,
                      struct gpnn_predictions_row *prediction, struct gpnn_error *err);

void gpnn_predictions_release(struct gpnn_predictions *predictions);

#endif
