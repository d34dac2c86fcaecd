/*
 * scored: what became of the rows of a table that gpnn-predict wrote: how many have a prediction,
 * and how good these were where the table has the truth.
 *
 * The columns are those of table/predictions.h.  The column before mean or label is the truth only
 * if it has the target's name, as other columns may have been carried along.  In a table without a
 * header only rows are counted.
 *
 * Calling sequence: gpnn_scored_read(), gpnn_scored_release(); or gpnn_scored_compare().
 * Threads: no shared state.
 */
#ifndef GPNN_ASSESS_SCORED_H
#define GPNN_ASSESS_SCORED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "stats/scores/classification.h"
#include "stats/scores/metrics.h"
#include "table/table.h"

/* The level of the interval whose coverage is reported. */
#define GPNN_SCORED_LEVEL 0.95

/* The predictions of one target. */
struct gpnn_scored_target {
  bool has_mean;      /* the table has a column of means of this target, or of labels; if not,
                         nothing follows */
  bool of_classes;    /* it is labels */
  size_t n_predicted; /* rows with a mean or label */
  size_t n_scored;    /* rows with a truth, too */
  struct gpnn_metrics_result scores;         /* of these, if there are any; one level, the first */
  struct gpnn_classification_result classes; /* instead of them, of classes */
};

/* A zeroed object is empty and may be released. */
struct gpnn_scored {
  size_t n_rows;
  size_t n_targets;
  struct gpnn_scored_target *targets; /* owned; n_targets */
};

/*
 * Reads the predictions of 'n_targets' targets, called 'names', from the table 'path'.
 * 'scored' must be zeroed.  Outcomes as gpnn_table_open() and gpnn_table_next();
 * GPNN_EDATA, too: a cell is not a number, or an sd not positive.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_scored_read(struct gpnn_scored *scored, size_t n_targets,
                                                  const char *const *names, const char *path,
                                                  const struct gpnn_table_options *options,
                                                  struct gpnn_error *err);

void gpnn_scored_release(struct gpnn_scored *scored);

/* How much lower the losses of rows are in one table than in another of the same rows: means of
 * paired differences, with their standard errors.  The loss is the squared error, or of classes 1
 * where the label is wrong. */
struct gpnn_scored_gain {
  size_t n; /* rows that both tables score; 0: all that follows is 0 */
  double nll, nll_error, loss, loss_error;
};

/*
 * Compares the predictions of target 't' of 'n_targets', called 'names', in the table 'path' with
 * those in 'before'.  Outcomes as gpnn_scored_read(), and GPNN_EDATA: the tables differ in the
 * number of rows.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_scored_compare(struct gpnn_scored_gain *gain,
                                                     size_t n_targets, const char *const *names,
                                                     size_t t, const char *before, const char *path,
                                                     const struct gpnn_table_options *options,
                                                     struct gpnn_error *err);

/* True if the gain is worth a change of the model and not chance: both losses are lower by more
 * than three standard errors, and the NLL by more than 0.01. */
bool gpnn_scored_gain_is_certain(const struct gpnn_scored_gain *gain);

#endif
