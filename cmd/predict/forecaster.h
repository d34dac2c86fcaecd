/*
 * forecaster: what predicts the targets of one model: the distributions of numbers, or the
 * probabilities of the classes of a single target.
 */
#ifndef GPNN_CMD_PREDICT_FORECASTER_H
#define GPNN_CMD_PREDICT_FORECASTER_H

#include <stddef.h>

#include "models/labels.h"
#include "models/predict.h"

/* One of the two is NULL.  A zeroed object may be released. */
struct forecaster {
  struct gpnn_predictor *numbers;
  struct gpnn_labels *classes;
  size_t width; /* predictions of a row: targets, or classes */
};

/* Predictions of rows, as the forecaster makes them: targets by rows, or rows by classes. */
struct forecast {
  struct gpnn_distribution *numbers;
  double *classes;
};

/* 'model', which is borrowed, has one target if that holds classes.  Outcomes as for
 * gpnn_predictor_new() and gpnn_labels_new(). */
GPNN_MUST_CHECK enum gpnn_status forecaster_new(struct forecaster *forecaster,
                                                const struct gpnn_model *model,
                                                const struct gpnn_predict_options *options,
                                                struct gpnn_error *err);
void forecaster_release(struct forecaster *forecaster);

/* Predicts rows into 'to'; 'counts' has one for each target.  Outcomes as for
 * gpnn_predict_distributions() and gpnn_labels_predict(). */
GPNN_MUST_CHECK enum gpnn_status
forecaster_predict(const struct forecaster *forecaster, const struct gpnn_predict_rows *rows,
                   const struct forecast *to, struct gpnn_counts *counts, struct gpnn_error *err);

/* Makes room for predictions of 'n' rows; the caller releases it, also after a failure. */
GPNN_MUST_CHECK enum gpnn_status forecast_new(struct forecast *forecast,
                                              const struct forecaster *forecaster, size_t n,
                                              struct gpnn_error *err);
void forecast_release(struct forecast *forecast);

/* Makes the predictions of all 'n' rows missing. */
void forecast_clear(const struct forecast *forecast, const struct forecaster *forecaster, size_t n);

/* Copies those of 'n' rows to the rows 'at' (n) of 'to', which has 'n_all'. */
void forecast_scatter(const struct forecast *forecast, const struct forecaster *forecaster,
                      size_t n, const size_t *at, size_t n_all, const struct forecast *to);

#endif
