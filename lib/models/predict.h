/*
 * predict: predictions of rows in the user's units, from any model.
 *
 * A predictor is made of a model and of what is asked of it, and predicts any number of batches.
 * For each channel, row by row, it takes the latent function that the model predicts, debiases its
 * mean if asked, replaces it where the row is too far from all training rows, lets the head
 * (likelihood/head.h) make an observation of it unless the function itself is asked for, and
 * converts the mean and standard deviation to the units of the target.
 *
 * Threads: one call at a time for each predictor; several predictors may share a model.
 */
#ifndef GPNN_MODELS_PREDICT_H
#define GPNN_MODELS_PREDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "likelihood/head.h"
#include "models/model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_predictor;

enum gpnn_units {
  GPNN_UNITS_ORIGINAL = 0, /* of the target as it stands in the table */
  GPNN_UNITS_STANDARD = 1, /* (y - training mean) / training standard deviation */
};

/* What is predicted for rows beyond the largest distance. */
enum gpnn_beyond {
  GPNN_BEYOND_NA = 0,    /* NaN */
  GPNN_BEYOND_PRIOR = 1, /* what would be predicted without any training row */
};

struct gpnn_predict_options {
  bool latent;    /* the sd of the function without noise */
  bool debias;    /* the mean's difference from the mean function times 1 + noise / (m kernelscale),
                     in standardised units (gpnn-methods(7), equation 3.12) */
  bool mean_only; /* no sd */
  enum gpnn_units units;
  double max_distance; /* > 0: to the nearest training row, in lengthscales; 0: any */
  enum gpnn_beyond beyond;
};

/* Rows to predict, borrowed, as dataset/reader.h reads them. */
struct gpnn_predict_rows {
  size_t n;
  const double *x;          /* n by d, standardised */
  const double *regressors; /* n by n_regressors, standardised; NULL: there are none */
  const double *noise;      /* n: known noise variance in the target's units squared; NULL: none */
};

/* Makes a predictor of 'model', which is borrowed and must outlive it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_predictor_new(struct gpnn_predictor **predictor,
                                                    const struct gpnn_model *model,
                                                    const struct gpnn_predict_options *options,
                                                    struct gpnn_error *err);

/*
 * Predicts rows: writes channels by n numbers to 'mean', and to 'sd' unless it is mean_only, where
 * 'sd' may be NULL.  Adds to 'counts', one for each channel.  Outcomes as gpnn_model_predict();
 * GPNN_ENUMERIC too if a mean or sd, in the units asked for, is beyond the range of a double.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_predict(struct gpnn_predictor *predictor,
                                              const struct gpnn_predict_rows *rows, double *mean,
                                              double *sd, struct gpnn_counts *counts,
                                              struct gpnn_error *err);

/* gpnn_head_degrees() of a channel's predictions, and gpnn_head_half_width() of their intervals, in
 * sd as gpnn_predict() writes them. */
double gpnn_predictor_degrees(const struct gpnn_predictor *predictor, size_t channel);
double gpnn_predictor_half_width(const struct gpnn_predictor *predictor, size_t channel,
                                 double level, const char **source);

void gpnn_predictor_free(struct gpnn_predictor *predictor);

/* True if more rows are far than chance explains: over 5 %.  0.1 % is to be expected, and even
 * where calibration saw 100 rows only, the least it takes distances from, 5 % come by chance once
 * in 150 times. */
bool gpnn_predict_warns_of_far(const struct gpnn_counts *counts);

/* A target value of the table in the units asked for. */
double gpnn_predict_target(const struct gpnn_dataset *dataset, enum gpnn_units units, double y);

#ifdef __cplusplus
}
#endif

#endif
