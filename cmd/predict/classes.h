/*
 * classes: the columns that gpnn-predict writes for a target that holds classes.
 */
#ifndef GPNN_CMD_PREDICT_CLASSES_H
#define GPNN_CMD_PREDICT_CLASSES_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/open.h"
#include "cmd/predict/batch.h"
#include "cmd/predict/columns.h"
#include "cmd/predict/predict.h"

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
