/*
 * calibrate: makes the predictive variances right on average (Allison et al. 2023, algorithm 2 and
 * lemma 5; gpnn-methods(7), equations 8.1 to 8.4).
 *
 * By a factor, as published:
 *   alpha = (1/c) sum_i z_i^2,  z_i = (y_i - mean_i) / sd_i
 * over c rows that were not used to make the predictions.  Kernel scale, noise variance and the
 * covariance of the mean's coefficients are multiplied by it.  Then the mean of z^2 on these rows
 * is 1, their NLL is minimal over all factors, and predictive means do not change.  If rows have
 * known noise variances, which are not multiplied, the factor is instead the root of
 * (mean of z^2) = 1, and means change slightly.
 *
 * By the noise: only the noise variance is changed, so that (mean of z^2) = 1.
 *
 * If the parameters have a likelihood (struct gpnn_parameters) other than the Gaussian, kernel
 * scale and noise stay as they are: instead, the scale of the predictive distribution and its
 * degrees of freedom are estimated from the rows (likelihood/scale.h); where many targets are one
 * number, with an atom there (likelihood/atom.h), if it lowers the CRPS of rows kept out.  Of
 * classes it is the temperature of their probabilities (equations 13.16 and 13.18 to 13.20).  With
 * counts it is the factor on the variance of the latent function, with its noise, that makes the
 * rows' counts most likely (equation 14.16); 'z' then has the half-widths that conformal intervals
 * need.
 */
#ifndef GPNN_ASSESS_CALIBRATE_H
#define GPNN_ASSESS_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assess/crossfit.h"
#include "base/status.h"
#include "likelihood/scale.h"
#include "models/heldout.h"
#include "models/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many rows: begin with 1000 and double until the standard error is under 2 % of alpha. */
enum { GPNN_CALIBRATE_AUTO = 0 };

/* Which rows to calibrate on. */
enum gpnn_calibrate_on {
  GPNN_CALIBRATE_GIVEN = 0,    /* the caller's rows */
  GPNN_CALIBRATE_LEFT_OUT = 1, /* random training rows, left out one at a time */
  GPNN_CALIBRATE_CLUSTERS = 2, /* clusters of training rows, left out together */
  GPNN_CALIBRATE_LIKE = 3,     /* training rows as far from the remaining rows as given rows are */
  GPNN_CALIBRATE_CROSS_FITTED = 4, /* those of a cross-fit */
};

enum gpnn_calibrate_by { GPNN_CALIBRATE_FACTOR = 0, GPNN_CALIBRATE_NOISE = 1 };

struct gpnn_calibrate_options {
  enum gpnn_calibrate_on on;
  enum gpnn_calibrate_by by;
  size_t wanted; /* rows, or GPNN_CALIBRATE_AUTO; all rows if there are fewer */
  uint64_t seed;
  struct gpnn_heldout given; /* GIVEN: borrowed; in random order, because the first are used */
  size_t cluster_rows;       /* CLUSTERS: rows per cluster, > 0; 'wanted' is rounded up to whole
                                clusters */
  struct gpnn_query like;    /* LIKE: the rows to be predicted; at least one */
  bool without_atom;         /* even if many targets are one number */
  const struct gpnn_crossfit *crossfit; /* CROSS_FITTED: its channel number 'channel' is that of
                                           the model */
  size_t channel;
};

/* A zeroed object is empty and may be released. */
struct gpnn_calibrate_report {
  double alpha;          /* the factor, or by the noise the mean of z^2 before calibration */
  double standard_error; /* of the mean of z^2 before calibration: sqrt(sum (z^2 - mean)^2 /
                            (c (c - 1))), over means of dependent rows where there are any, and at
                            least sqrt(2/c) of the mean, as for normal errors; infinite for one row
                          */
  double kernelscale;    /* calibrated values of the parameters */
  double noise;
  bool by_factor; /* false: calibrated by the noise, or by the scale */
  bool by_scale;  /* 'law' was estimated; then alpha is its factor S, whose standard error is
                     that of log S times S */
  struct gpnn_scale_law law; /* of rows that are not at the atom, if there is one */
  struct gpnn_atom atom;     /* share 0: there is none, or it did not pay */
  bool by_temperature;       /* alpha is the temperature; likewise.  Of a cross-fit it is 1, and the
                                standard error 0 */
  struct gpnn_calibrate_losses { /* mean log losses of the rows, and standard errors of each */
    double before, before_error, after, after_error;
  } losses;
  size_t n_rows;       /* c */
  double *z, *nearest; /* owned; n_rows each: (y - mean) / sd after calibration, or by the
                          temperature the log loss, and the distance to the nearest neighbour in
                          lengthscales */
  struct gpnn_counts counts;
};

/*
 * Finds how to change the parameters of 'model', which has one channel; gpnn_calibrate_apply() or
 * gpnn_calibrate_apply_bound() then changes them.  'calibration' must be zeroed, and is released by
 * the caller.  If no noise variance makes the mean of z^2 equal to 1, a factor is found instead
 * ('by_factor').  GPNN_EDATA: no rows; see also models/heldout.h.  GPNN_ENUMERIC: every row is
 * predicted without error, or a row with an sd of 0 but with an error, or the rows' known noise
 * alone exceeds their errors, or a result or distance is out of the range of parameters.
 * GPNN_EINVAL: by the noise, although the likelihood is not Gaussian; on rows of a cross-fit,
 * although it is.  GPNN_EMISMATCH: the model is a stack with a Gaussian likelihood,
 * which no factor calibrates.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_calibrate(const struct gpnn_model *model,
                                                const struct gpnn_calibrate_options *options,
                                                struct gpnn_calibrate_report *calibration,
                                                struct gpnn_error *err);

/*
 * True if calibrating on the 'n' training rows would be circular.  Rows that parameters were
 * estimated from are predicted too well, even when left out: with p numbers estimated from N rows,
 * the mean of their z^2 is too small by a fraction of about 2 p / N, and over all training rows by
 * 2 p / n.  That matters if it exceeds 2 % and more than a tenth of the rows were used for the fit;
 * if the parameters do not record how many were (fit_rows), it is assumed not to matter
 * (gpnn-methods(7), equations 8.6 to 8.8).  For classes the latter always matters: what a link
 * learns from labels makes these rows look more certain than new ones, however many there are.
 */
bool gpnn_calibrate_is_circular(const struct gpnn_parameters *params, size_t n);

/* Sets the calibrated kernel scale and noise, multiplies any factor recorded earlier by the new
 * one, or sets the scale and the degrees of freedom, or the temperature; records the quantiles of
 * distances if there were at least 100 rows, and removes conformal widths.  Sorts 'nearest' of the
 * report for this, so that it no longer goes with 'z'. */
void gpnn_calibrate_apply(const struct gpnn_calibrate_report *calibration,
                          struct gpnn_parameters *params);

/* The same for rows that were used for the fit, whose factor can only be too small, and the
 * temperature too high: it is applied only if it exceeds 1 and is not that of a scale, or if the
 * temperature is below 1, and then true is returned.  Otherwise kernel
 * scale and noise stay as they are, but distances are recorded and conformal widths removed all the
 * same. */
bool gpnn_calibrate_apply_bound(const struct gpnn_calibrate_report *calibration,
                                struct gpnn_parameters *params);

void gpnn_calibrate_report_release(struct gpnn_calibrate_report *calibration);

#ifdef __cplusplus
}
#endif

#endif
