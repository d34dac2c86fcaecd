/*
 * folds: predictions of training rows by parameters that have not seen them (--cross-fit).
 */
#ifndef GPNN_CMD_PREDICT_FOLDS_H
#define GPNN_CMD_PREDICT_FOLDS_H

#include <stddef.h>
#include <stdint.h>

#include "assess/crossfit.h"
#include "cmd/common/cli.h"
#include "cmd/predict/forecaster.h"
#include "cmd/predict/predict.h"

/* A zeroed object may be released. */
struct folds {
  const struct gpnn_dataset *dataset;
  struct gpnn_crossfit *crossfit; /* NULL: not opened */
  struct forecaster forecasters[GPNN_CROSSFIT_FOLDS];
};

/* Estimates the parameters of 'n' targets with the same rows without each fold of the training
 * rows.  GPNN_EDATA: the parameters do not say how they were estimated, or as gpnn_crossfit_new().
 */
GPNN_MUST_CHECK enum gpnn_status folds_open(struct folds *folds, const struct cli *cli,
                                            const struct predict_arguments *a, size_t n,
                                            const struct gpnn_channel *channels,
                                            struct gpnn_error *err);

/* As forecaster_predict(), for rows that are all training rows, each by the parameters
 * estimated without its fold. */
GPNN_MUST_CHECK enum gpnn_status folds_predict(const struct folds *folds,
                                               const struct gpnn_predict_rows *rows,
                                               const struct forecast *to,
                                               struct gpnn_counts *counts, struct gpnn_error *err);

void folds_release(struct folds *folds);

#endif
