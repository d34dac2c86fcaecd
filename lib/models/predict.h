/*
 * predict: predictive distributions in the target's units, from any model.
 *
 * A predictor combines a model with options, and predicts any number of batches of rows.  For each
 * channel and row it takes the model's prediction of the latent function, debiases its mean if
 * asked, and replaces it if the row is too far from all training rows.  Unless the function itself
 * is asked for, the head (likelihood/head.h) then turns it into the distribution of an observation.
 * Finally that is converted to the units of the target, and the row's offset is added.
 *
 * Calling sequence: gpnn_predictor_new(); then gpnn_predict(), for means and standard deviations
 * only, or gpnn_predict_distributions(), from which follow gpnn_predict_moments(),
 * gpnn_predict_scores() and what likelihood/distribution.h offers; gpnn_predictor_free().
 *
 * Threads: one call at a time for each predictor; several predictors may share a model.  Where the
 * moments of a distribution are integrals, rows are divided between the threads of the model;
 * results do not depend on their number.
 */
#ifndef GPNN_MODELS_PREDICT_H
#define GPNN_MODELS_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "likelihood/distribution.h"
#include "likelihood/head.h"
#include "models/model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_predictor;

enum gpnn_units {
  GPNN_UNITS_ORIGINAL = 0, /* of the target in the table */
  GPNN_UNITS_STANDARD = 1, /* (y - training mean) / training standard deviation, both those of the
                              target without its offset, if it has one */
};

/* What is predicted for rows beyond the largest distance. */
enum gpnn_beyond {
  GPNN_BEYOND_NA = 0,    /* NaN */
  GPNN_BEYOND_PRIOR = 1, /* what would be predicted without any training row */
};

struct gpnn_predict_options {
  bool latent;    /* predict the function, without noise, instead of an observation */
  bool debias;    /* multiply the difference from the mean function by 1 + noise / (m kernelscale),
                     in standardised units (gpnn-methods(7), equation 3.12) */
  bool mean_only; /* compute no sd */
  enum gpnn_units units;
  double max_distance; /* to the nearest training row, in lengthscales; 0: no limit */
  double max_km; /* to the nearest training row's position on the globe (models/reach.h), for a
                    dataset that has one; 0: no limit */
  enum gpnn_beyond beyond;
};

/* Rows to predict, as read by dataset/reader.h; borrowed. */
struct gpnn_predict_rows {
  size_t n;
  const double *x;          /* n by d, standardised */
  const double *regressors; /* n by n_regressors, standardised; NULL: there are none */
  const double *noise;      /* n: known noise variance in the target's units squared; NULL: none */
  const double *offset;     /* n by the dataset's targets, in their units, added to the targets;
                               NULL: none */
  const double *exposure;   /* n: what the mean of each row's count is proportional to; NULL: 1, or
                               nothing is a count */
  const int64_t *self; /* n: the training row that each is, and which is left out; NULL: none is
                          one (models/model.h) */
};

/* Makes a predictor from 'model', which is borrowed and must outlive it.  GPNN_EINVAL: a bias is to
 * be removed from the predictions of a stack, which has no single one; a target holds classes, for
 * which there is models/labels.h; or as gpnn_globe_new(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_predictor_new(struct gpnn_predictor **predictor,
                                                    const struct gpnn_model *model,
                                                    const struct gpnn_predict_options *options,
                                                    struct gpnn_error *err);

/*
 * Predicts rows: writes channels by n numbers to 'mean' and to 'sd', which may be NULL under
 * mean_only.  Adds to 'counts' (one per channel).  Outcomes as for gpnn_model_predict(), and
 * GPNN_ENUMERIC if a mean or sd, in the units asked for, exceeds the range of a double, or if the
 * factor that removes the bias does.  After a failure 'mean', 'sd' and 'counts' may be partly
 * written.  n = 0 does nothing.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_predict(struct gpnn_predictor *predictor,
                                              const struct gpnn_predict_rows *rows, double *mean,
                                              double *sd, struct gpnn_counts *counts,
                                              struct gpnn_error *err);

/*
 * Predicts the whole distributions of rows: writes channels by n of them, in the units asked for.
 * They borrow from the predictor.  Under mean_only their sd is 0, unless a mean depends on it.
 * Outcomes and n = 0 as for gpnn_predict().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_predict_distributions(struct gpnn_predictor *predictor,
                                                            const struct gpnn_predict_rows *rows,
                                                            struct gpnn_distribution *distributions,
                                                            struct gpnn_counts *counts,
                                                            struct gpnn_error *err);

/* Means and standard deviations of the 'n' distributions that the predictor gave for a batch, of
 * one channel or all; 'sd' may be NULL.  GPNN_ENUMERIC: as gpnn_predict(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_predict_moments(const struct gpnn_predictor *predictor,
                                                      size_t n,
                                                      const struct gpnn_distribution *distributions,
                                                      double *mean, double *sd,
                                                      struct gpnn_error *err);

/* The scores of such distributions, given the truths in the same units. */
void gpnn_predict_scores(const struct gpnn_predictor *predictor, size_t n,
                         const struct gpnn_distribution *distributions, const double *truth,
                         struct gpnn_distribution_score *scores);

/* True if the mean and sd of sums of a channel's rows are known (models/joint.h). */
bool gpnn_predictor_has_sums(const struct gpnn_predictor *predictor, size_t channel);

/* True if mean, sd and degrees of freedom do not determine a channel's distributions, so that
 * whoever sees only these needs the scores as well. */
bool gpnn_predictor_needs_scores(const struct gpnn_predictor *predictor, size_t channel);

/* True if a channel's distributions may have an atom. */
bool gpnn_predictor_has_atom(const struct gpnn_predictor *predictor, size_t channel);

/* What the predictor was made from. */
const struct gpnn_model *gpnn_predictor_model(const struct gpnn_predictor *predictor);
const struct gpnn_predict_options *gpnn_predictor_options(const struct gpnn_predictor *predictor);

/* What a channel's latent function, in standardised units, is multiplied by in its distributions:
 * 1 under a warping function, which converts the units itself. */
double gpnn_predictor_unit(const struct gpnn_predictor *predictor, size_t channel);

/* Of a channel's predictions: gpnn_head_degrees(), and gpnn_head_half_width(), from which
 * gpnn_distribution_interval() makes an interval. */
double gpnn_predictor_degrees(const struct gpnn_predictor *predictor, size_t channel);
double gpnn_predictor_half_width(const struct gpnn_predictor *predictor, size_t channel,
                                 double level, const char **source);

void gpnn_predictor_free(struct gpnn_predictor *predictor);

/* True if more rows are far from the training rows than chance explains: over 5 %.  0.1 % are
 * expected; even if calibration saw only 100 rows, the fewest from which it records distances,
 * chance makes it 5 % only once in 150 times. */
bool gpnn_predict_warns_of_far(const struct gpnn_counts *counts);

/* A target value of the table in the units asked for. */
double gpnn_predict_target(const struct gpnn_dataset *dataset, enum gpnn_units units, double y);

#ifdef __cplusplus
}
#endif

#endif
