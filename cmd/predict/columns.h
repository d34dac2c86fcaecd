/*
 * columns: the columns that gpnn-predict writes for a target: a number, or classes.
 */
#ifndef GPNN_CMD_PREDICT_COLUMNS_H
#define GPNN_CMD_PREDICT_COLUMNS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "cmd/common/open.h"
#include "cmd/predict/batch.h"
#include "cmd/predict/predict.h"
#include "models/predict.h"
#include "models/tucker/tucker.h"

/* ---- numbers --------------------------------------------------------------------------------- */

/* Where rows are written. */
struct sink {
  struct gpnn_output *output;
  char delimiter;
  const char *na;
  bool at_start; /* at the start of a row: no delimiter before the next field */
};

/* The columns of one target; pointers are borrowed. */
struct columns {
  const struct predict_plan *plan;
  const struct gpnn_channel *channel;
  bool has_truth;         /* the table has the target, whose values are written too */
  bool is_in_sample;      /* truths have been used for the predictions: they are not scored */
  bool always_scored;     /* if there are truths, scores are written in any case */
  bool is_of_sums;        /* the columns describe sums of rows */
  bool is_one_of_several; /* column names end with that of the target */
  bool flags_far;         /* which rows are far is written */
  bool flags_outside;     /* so is whether a row lies outside 'box' */
  struct gpnn_tucker_box box;
  bool has_scores; /* logp, crps and pit are written, */
  bool has_step;   /* and pitstep */
  double degrees;  /* > 0: degrees of freedom of Student's t, written as a column */
  double half_widths[CLI_PROBABILITIES_MAX]; /* of the intervals */
};

/* The prediction of one row. */
struct prediction {
  double mean, sd;
  struct gpnn_distribution distribution;
  struct gpnn_distribution_score score; /* where the columns have scores */
  double far, outside;                  /* where they flag it: 1 or 0 */
};

#define PREDICTION_MISSING                                                                     \
  {                                                                                            \
    .mean = NAN, .sd = NAN, .distribution = {.location = NAN, .sd = NAN, .degrees = INFINITY}, \
    .score = {NAN, NAN, NAN, NAN}, .far = NAN, .outside = NAN                                  \
  }

/* Completes 'columns', whose first seven members the caller has set, for channel 'channel' of the
 * predictor; with --verbose, says where the widths of intervals come from. */
void columns_complete(struct columns *columns, const struct gpnn_predictor *predictor,
                      size_t channel, const struct cli *cli);

/* A truth, given in the units of the table, in those asked for. */
double columns_truth(const struct columns *columns, double truth);

GPNN_MUST_CHECK enum gpnn_status columns_write_names(const struct columns *columns,
                                                     struct sink *sink, struct gpnn_error *err);

/* Writes "mean", say, or "mean_NAME" if there are several targets. */
GPNN_MUST_CHECK enum gpnn_status columns_write_name(const struct columns *columns,
                                                    struct sink *sink, const char *name,
                                                    struct gpnn_error *err);

/* Writes the values of one row, all in the units asked for; NaN means missing. */
GPNN_MUST_CHECK enum gpnn_status columns_write_row(const struct columns *columns, struct sink *sink,
                                                   double truth,
                                                   const struct prediction *prediction,
                                                   struct gpnn_error *err);

/* Writes text as a field, quoted if necessary. */
GPNN_MUST_CHECK enum gpnn_status sink_text(struct sink *sink, const char *text,
                                           struct gpnn_error *err);

/* The same for 'length' bytes. */
GPNN_MUST_CHECK enum gpnn_status sink_bytes(struct sink *sink, const char *text, size_t length,
                                            struct gpnn_error *err);

/* Writes a number; NaN as a missing value. */
GPNN_MUST_CHECK enum gpnn_status sink_value(struct sink *sink, double value,
                                            struct gpnn_error *err);

/* ---- classes --------------------------------------------------------------------------------- */

/* The columns of one target; zeroed: it holds no classes.  May be released even then. */
struct classes {
  size_t n;         /* classes; 0: the target is a number */
  size_t n_before;  /* classes of all targets before it */
  size_t number;    /* how many targets before it hold classes */
  size_t n_targets; /* that hold classes */
  bool labels_only;
  size_t n_ranked; /* classes named in a row: 1, or as many as --top asks for */
  bool is_top;     /* these are all that is written of a row, with their probabilities */
  double *cost;    /* owned; n; NULL: all mistakes cost the same */
  size_t *rank;    /* owned; n_ranked: scratch */
};

/* Checks the options that concern classes, as a struct cli_tool's 'resolve' does. */
bool classes_resolve(const struct cli *cli, const struct predict_arguments *arguments);

/* Sets '*classes' (one for each target), which are zeroed; the caller releases them also after a
 * failure.  GPNN_EINVAL: an option is given that is not for targets of the kind that there are;
 * --cost names no class of any target; a .npy file is asked for, and classes are no numbers. */
GPNN_MUST_CHECK enum gpnn_status classes_init(struct classes *classes, const struct cli *cli,
                                              const struct predict_arguments *arguments,
                                              const struct opened *opened, struct gpnn_error *err);

GPNN_MUST_CHECK enum gpnn_status classes_write_names(const struct classes *classes,
                                                     const struct columns *columns,
                                                     struct sink *sink, struct gpnn_error *err);

/* Writes row 'i' of the batch for target 't', whose prediction is entry 'good' (SIZE_MAX: none). */
GPNN_MUST_CHECK enum gpnn_status classes_write_row(struct classes *classes,
                                                   const struct columns *columns, struct sink *sink,
                                                   const struct batch *batch, size_t t, size_t i,
                                                   size_t good, struct gpnn_error *err);

void classes_release(struct classes *classes);

#endif
