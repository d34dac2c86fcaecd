/*
 * predicted: one target's predictions, batch after batch of rows, and the columns they are written
 * to.
 */
#ifndef GPNN_CMD_PREDICT_PREDICTED_H
#define GPNN_CMD_PREDICT_PREDICTED_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "dataset/index.h"
#include "models/local/predict.h"

/* Where rows are written. */
struct sink {
  struct gpnn_output *output;
  char delimiter;
  const char *na;
  bool at_start; /* of a row: no delimiter before the next field */
};

/* What is to be predicted, of every target. */
struct predict_plan {
  struct gpnn_predict_options options;
  struct cli_probabilities intervals;
};

/* A zeroed object is empty and may be released. */
struct predicted {
  const struct predict_plan *plan;
  const struct gpnn_dataset *dataset; /* in the view of the target */
  const struct gpnn_parameters *params;
  struct gpnn_localgp *gp; /* owned */
  bool has_target;         /* the table has it: its values are written along */
  bool is_one_of_several;  /* the names of its columns end with its own */
  double half_widths[CLI_PROBABILITIES_MAX];
  struct gpnn_predict_counts counts;
};

/* A batch of rows.  A zeroed object is empty and may be released. */
struct predicted_batch {
  double *target;    /* owned; of all rows of the batch; NaN: missing */
  double *mean, *sd; /* owned; of the good rows */
  double *nearest;   /* owned */
};

/* Finds the intervals' widths.  What is borrowed, 'gp' and the flags are the caller's to set
 * before. */
void predicted_begin(struct predicted *p, const struct cli *cli);

/* Makes room for 'n' rows. */
GPNN_MUST_CHECK enum gpnn_status predicted_batch_new(struct predicted_batch *batch, size_t n,
                                                     struct gpnn_error *err);

/* Predicts the 'n_rows' good rows for all 'n' targets, which have the same plan and a batch
 * each. */
GPNN_MUST_CHECK enum gpnn_status predicted_fill_all(struct predicted *all,
                                                    struct predicted_batch *batches, size_t n,
                                                    size_t n_rows, const double *x,
                                                    const double *regressors, const double *noise,
                                                    struct gpnn_error *err);

/* Writes the names of the target's columns, and their values in row 'row', whose prediction is
 * entry 'good' (SIZE_MAX: it has none). */
GPNN_MUST_CHECK enum gpnn_status predicted_write_names(const struct predicted *p, struct sink *sink,
                                                       struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status predicted_write_row(const struct predicted *p,
                                                     const struct predicted_batch *batch,
                                                     struct sink *sink, size_t row, size_t good,
                                                     struct gpnn_error *err);

/* Says what was out of the ordinary. */
void predicted_report(const struct predicted *p, const struct cli *cli);

void predicted_release(struct predicted *p);
void predicted_batch_release(struct predicted_batch *batch);

/* Writes a field that needs no more than quoting. */
GPNN_MUST_CHECK enum gpnn_status sink_text(struct sink *sink, const char *text,
                                           struct gpnn_error *err);

#endif
