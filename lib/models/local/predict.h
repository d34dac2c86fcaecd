/*
 * predict: predictions in the user's units, row by row.
 *
 * Wraps models/local/localgp.h: adds the noise variance and the row's own known one unless the
 * latent function is asked for, debiases the mean if asked, decides what becomes of rows far from
 * all training rows, and converts mean and standard deviation to the units of the target.
 */
#ifndef GPNN_MODELS_LOCAL_PREDICT_H
#define GPNN_MODELS_LOCAL_PREDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "models/local/localgp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gpnn_units {
  GPNN_UNITS_ORIGINAL = 0, /* of the target as it stands in the table */
  GPNN_UNITS_STANDARD = 1, /* (y - training mean) / training standard deviation */
};

/* What is written for rows beyond the largest distance. */
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

/* Rows to predict, borrowed, and arrays to fill, n numbers each; as dataset/reader.h reads them. */
struct gpnn_predict_rows {
  size_t n;
  const double *x;          /* n by d, standardised */
  const double *regressors; /* n by n_regressors, standardised; NULL: there are none */
  const double *noise;      /* n: known noise variance in the target's units squared; NULL: none */
  double *mean, *sd;        /* 'sd' is untouched under mean_only */
  double *nearest;          /* distance to the nearest training row, in lengthscales */
};

/* What was out of the ordinary, added up over calls. */
struct gpnn_predict_counts {
  struct gpnn_localgp_counts model;
  size_t n_rows;
  size_t n_far;    /* farther from the training rows than 99.9 % of the rows seen in calibration */
  size_t n_beyond; /* beyond max_distance */
};

/* Predicts rows and adds to '*counts'.  Outcomes as gpnn_localgp_predict(); GPNN_ENUMERIC too if a
 * mean or sd, in the units asked for, is beyond the range of a double. */
GPNN_MUST_CHECK enum gpnn_status gpnn_predict(const struct gpnn_localgp *gp,
                                              const struct gpnn_predict_options *options,
                                              const struct gpnn_predict_rows *rows,
                                              struct gpnn_predict_counts *counts,
                                              struct gpnn_error *err);

/*
 * The same for 'n' targets at once (gpnn_localgp_predict_all()): 'rows' and 'counts' have n
 * entries, which are of the same rows: all but 'mean', 'sd' and 'nearest' is equal in them.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_predict_all(size_t n, const struct gpnn_localgp *const gps[],
                                                  const struct gpnn_predict_options *options,
                                                  const struct gpnn_predict_rows *rows,
                                                  struct gpnn_predict_counts *counts,
                                                  struct gpnn_error *err);

/* True if more rows are far than chance explains: over 5 %.  0.1 % is to be expected, and even
 * where calibration saw 100 rows only, the least it takes distances from, 5 % come by chance once
 * in 150 times. */
bool gpnn_predict_warns_of_far(const struct gpnn_predict_counts *counts);

/* Where the width of an interval comes from. */
enum gpnn_interval_source {
  GPNN_INTERVAL_GAUSSIAN = 0,
  GPNN_INTERVAL_STUDENT = 1,   /* the parameters' degrees of freedom */
  GPNN_INTERVAL_CONFORMAL = 2, /* a width that calibration recorded for this level */
};

/*
 * Half the width of the central interval of probability 'level' in (0, 1), in sd as gpnn_predict()
 * writes them.  A conformal width is used where there is one, but not for the latent function:
 * it is of observations.
 */
double gpnn_predict_half_width(const struct gpnn_parameters *params,
                               const struct gpnn_predict_options *options, double level,
                               enum gpnn_interval_source *source);

/* A target value of the table in the units asked for. */
double gpnn_predict_target(const struct gpnn_dataset *dataset, enum gpnn_units units, double y);

#ifdef __cplusplus
}
#endif

#endif
