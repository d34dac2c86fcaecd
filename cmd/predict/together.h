/*
 * together: targets that one model predicts, and their training rows under --loo.
 *
 * All targets that are numbers are predicted together if they follow each other, and each that
 * holds classes by itself.  Only under --loo, where a row has to be left out by its number among
 * the rows of a target, are targets predicted one by one if they have different rows; a row that
 * lacks a target then has no prediction of it.
 */
#ifndef GPNN_CMD_PREDICT_TOGETHER_H
#define GPNN_CMD_PREDICT_TOGETHER_H

#include <stdbool.h>
#include <stddef.h>

#include "assess/crossfit.h"
#include "cmd/common/cli.h"
#include "cmd/common/open.h"
#include "cmd/predict/batch.h"
#include "cmd/predict/predict.h"
#include "models/labels.h"
#include "models/predict.h"

/* What predicts the targets of one model: the distributions of numbers, or the probabilities of the
 * classes of a single target.  One of the two is NULL. */
struct forecaster {
  struct gpnn_predictor *numbers;
  struct gpnn_labels *classes;
  size_t width; /* predictions of a row: targets, or classes */
};

/* Predictions of training rows by parameters that have not seen them (--cross-fit). */
struct folds {
  const struct gpnn_dataset *dataset;
  struct gpnn_crossfit *crossfit; /* NULL: not opened */
  struct forecaster forecasters[GPNN_CROSSFIT_FOLDS];
};

/* A zeroed object may be released. */
struct together {
  size_t first, n;         /* targets of the run, from number 'first' on */
  bool is_apart;           /* there is one, and rows may lack it */
  size_t n_classes_before; /* of all targets before it */
  struct gpnn_model *model;
  struct forecaster forecaster;
  struct folds folds; /* --cross-fit */
};

/* True if all targets have to be predicted one by one. */
bool together_is_apart(const struct predict_arguments *a, const struct opened *opened);

/* Makes the models and predictors of all targets: '*n' of them in '*together', which the caller
 * releases with together_free(), also after a failure. */
GPNN_MUST_CHECK enum gpnn_status together_new(struct together **together, size_t *n,
                                              const struct cli *cli,
                                              const struct predict_arguments *a,
                                              const struct opened *opened, struct gpnn_error *err);

/* Predicts 'rows', the good rows of 'batch', for its targets. */
GPNN_MUST_CHECK enum gpnn_status together_predict(const struct together *together,
                                                  const struct gpnn_predict_rows *rows,
                                                  struct batch *batch, struct gpnn_counts *counts,
                                                  struct gpnn_error *err);

void together_free(struct together *together, size_t n);

#endif
