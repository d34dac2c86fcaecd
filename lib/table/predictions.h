/*
 * predictions: finding the columns of a table of predictions, and reading its rows.
 *
 * Predictions of one target are in the columns
 *   mean, sd, df, lower, upper        or, for several levels in percent, lower90, upper90 ...
 *   logp, crps, pit, pitstep
 * of which only the mean is required; the true value is in the column before it.  df is the degrees
 * of freedom of Student's t distribution (missing or inf: a normal distribution).  logp, crps and
 * pit score the predicted distribution, where mean, sd and df do not determine it: its log density
 * at the true value, its continuous ranked probability score, and the probability of values below
 * the true one.  pitstep is the height of the step of the distribution function at a true value
 * that has a probability of its own, of which logp then is the log and pit the middle of the step;
 * 0 at others.  With several targets these names end in an underscore and the target's name, and
 * the true value is in the column of that name: a mean_a sd_a lower90_a upper90_a b mean_b sd_b
 * lower90_b upper90_b.  df, lower and all others must come after the mean: columns copied from the
 * predicted table come before it and may happen to have such names.  Of two columns called
 * sd, the one after the mean counts.
 *
 * Predictions of classes are in the columns
 *   label, and p_NAME for each class NAME: its probability
 *   label, probability, label2, probability2 ...: the most probable classes; logp
 *   label alone
 * (with several targets label_a p_NAME_a label2_a ...), the true class in the column before label,
 * or the one of the target's name.  One table may have targets of both kinds.
 *
 * Calling sequence: gpnn_predictions_find(), gpnn_predictions_read() or
 * gpnn_predictions_read_class() for each record and target, gpnn_predictions_release().
 * Threads: once found, the columns of numbers are read-only and may be shared freely; those of
 * classes, which learn their names, belong to one thread at a time.
 */
#ifndef GPNN_TABLE_PREDICTIONS_H
#define GPNN_TABLE_PREDICTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "table/table.h"

struct gpnn_predictions_classes;

enum { GPNN_PREDICTIONS_INTERVALS = 32 };

enum gpnn_predictions_score {
  GPNN_PREDICTIONS_LOGP,
  GPNN_PREDICTIONS_CRPS,
  GPNN_PREDICTIONS_PIT,
  GPNN_PREDICTIONS_PITSTEP,
  GPNN_PREDICTIONS_SCORES
};

struct gpnn_predictions_target {
  char *name; /* owned; NULL: the only target, whose columns do not name it */
  struct gpnn_predictions_classes *classes; /* owned; NULL: the target is a number */
  size_t truth;                             /* column, from 0 */
  size_t mean, sd, df;                      /* likewise; these and what follows, of a number */
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
 * without a header, columns 1, 2 and 3 for truth, mean and sd.  Whoever asks for mean, sd or df has
 * predictions of a number. */
struct gpnn_predictions_wanted {
  const char *truth, *mean, *sd, *df;
};

/*
 * Finds the columns.  There are several targets where no column is asked for, none is called
 * 'mean', and some are called mean_NAME, or label_NAME, with a truth NAME.  One target is of
 * classes if a column is called 'label' and none 'mean', or if probabilities follow the former and
 * no mean does.  GPNN_EINVAL: a column is missing or there twice.  GPNN_EDATA: there are too many
 * intervals or classes, two columns have the probability of one class, or targets that are numbers
 * have different intervals, or an sd or none.
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

/* Reads the part of a record that is of one target, a number.  GPNN_END: the truth or the mean
 * is missing, so there is nothing to score.  GPNN_EDATA: as gpnn_columns_number().  '*prediction'
 * is written on success only. */
GPNN_MUST_CHECK enum gpnn_status gpnn_predictions_read(const struct gpnn_predictions_target *target,
                                                       const struct gpnn_table *table,
                                                       const struct gpnn_record *record,
                                                       struct gpnn_predictions_row *prediction,
                                                       struct gpnn_error *err);

/* True if a record has no mean or, of a target of classes, no label. */
bool gpnn_predictions_is_missing(const struct gpnn_predictions_target *target,
                                 const struct gpnn_table *table, const struct gpnn_record *record);

/* ---- classes ------------------------------------------------------------------------------- */

/* The classes of a target: first those that have a column p_NAME, in their order, then any others
 * that rows have turned out to have, as truth or label.  Names that are the same number are the
 * same class, as 1 and 1.0. */
size_t gpnn_predictions_n_classes(const struct gpnn_predictions_classes *classes);

/* How many of them have a probability in each row. */
size_t gpnn_predictions_n_probabilities(const struct gpnn_predictions_classes *classes);

/* True if each row has the probability of its most probable class, at least. */
bool gpnn_predictions_has_top(const struct gpnn_predictions_classes *classes);

/* The name of class 'c'; valid until the object is released. */
struct gpnn_field gpnn_predictions_class_name(const struct gpnn_predictions_classes *classes,
                                              size_t c);

/* The class whose name comes 'i'-th: numbers by value, then other texts by their bytes. */
size_t gpnn_predictions_class_at(const struct gpnn_predictions_classes *classes, size_t i);

struct gpnn_predictions_class_row {
  uint32_t truth, label;
  const double *p; /* of the classes that have one; NULL: there are none.  Valid until the next
                      row is read */
  uint32_t top;    /* without 'p', the most probable class */
  double top_probability; /* and its probability; NaN: not in the table */
  double logp;            /* that of the truth; NaN: not in the table; may be -INFINITY */
};

/* Reads the part of a record that is of one target of classes.  GPNN_END: truth, label or a
 * probability is missing.  GPNN_EDATA: a probability is not a number, or there are more than
 * GPNN_LEVELS_MAX classes.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_predictions_read_class(struct gpnn_predictions_target *target,
                                                             const struct gpnn_table *table,
                                                             const struct gpnn_record *record,
                                                             struct gpnn_predictions_class_row *row,
                                                             struct gpnn_error *err);

/* Frees what the object owns and zeroes it. */
void gpnn_predictions_release(struct gpnn_predictions *predictions);

#endif
