/*
 * metrics: how good predictions are, and how honest their uncertainty (gpnn-methods(7), section 9).
 *
 * With error y - mean and z = error / sd, over n rows:
 *   MSE, RMSE, MAE, R^2 (against the mean of the truths);
 *   NLL = mean of 1/2 (log sd^2 + z^2 + log 2 pi);   CAL = mean of z^2 (1 is right);
 *   CRPS = mean of sd [ z (2 Phi(z) - 1) + 2 phi(z) - 1/sqrt(pi) ];
 *   coverage, mean width and interval score of the central interval of each nominal level
 *   (stats/coverage.h);
 *   PIT = Phi(z): its histogram, and its Kolmogorov distance from uniform.
 * A row may be predicted by Student's t instead of the normal distribution: NLL, CRPS, intervals
 * and PIT are then those of stats/student.h with scale sd sqrt((df - 2) / df).
 *
 * Calling sequence: gpnn_metrics_levels(), gpnn_metrics_add() row by row,
 * gpnn_metrics_result(), gpnn_metrics_release().  Memory: 8 bytes a row (the PIT values).
 * What is beyond the range of a double is infinite or 0, as the MSE of errors of 1e200 or 1e-200;
 * RMSE and R^2 are right wherever they are within.
 */
#ifndef GPNN_STATS_METRICS_H
#define GPNN_STATS_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "stats/coverage.h"
#include "stats/sum.h"

enum { GPNN_METRICS_LEVELS = 32, GPNN_METRICS_PIT_BINS = 10 };

/* A zeroed object, with levels set, is empty and ready.  Sums are compensated. */
struct gpnn_metrics {
  size_t n_levels;
  double levels[GPNN_METRICS_LEVELS]; /* nominal coverages in (0, 1) */
  size_t n;                           /* rows added */
  size_t n_with_sd;                   /* of these with a standard deviation */
  struct gpnn_squares errors;
  struct gpnn_sum absolute, nll, cal, crps;
  double y_mean; /* Welford's mean of the truths, and what their squares about it add up from */
  struct gpnn_squares y_spread;
  struct gpnn_coverage coverage[GPNN_METRICS_LEVELS];
  double df; /* that the half widths are for: of the row before */
  double half_width[GPNN_METRICS_LEVELS];
  double *pit; /* owned; n_with_sd values */
  size_t pit_capacity;
};

struct gpnn_metrics_result {
  size_t n;
  bool has_sd; /* the fields below 'r2' have a value */
  double rmse, mse, mae;
  double r2; /* NaN where the truths do not vary */
  double nll, cal, crps;
  double coverage[GPNN_METRICS_LEVELS], width[GPNN_METRICS_LEVELS], score[GPNN_METRICS_LEVELS];
  double pit_distance;
  double pit[GPNN_METRICS_PIT_BINS]; /* share of rows in each of equal bins */
};

/* Sets the nominal levels; at most GPNN_METRICS_LEVELS, each in (0, 1). */
void gpnn_metrics_levels(struct gpnn_metrics *metrics, size_t n_levels, const double *levels);

/* Adds one row.  An sd that is NaN means that none was predicted; a df of INFINITY is the normal
 * distribution.  GPNN_EDATA: sd is not a positive number, or df not above 2 (below, Student's t
 * has no standard deviation). */
GPNN_MUST_CHECK enum gpnn_status gpnn_metrics_add(struct gpnn_metrics *metrics, double truth,
                                                  double mean, double sd, double df,
                                                  struct gpnn_error *err);

/* Computes the result (sorting the PIT values).  GPNN_EDATA: no row was added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_metrics_result(struct gpnn_metrics *metrics,
                                                     struct gpnn_metrics_result *result,
                                                     struct gpnn_error *err);

/* The share of the rows with a standard deviation (of which there must be one) in each of
 * 'n_bins' equal bins of the PIT. */
void gpnn_metrics_pit_shares(const struct gpnn_metrics *metrics, size_t n_bins, double *shares);

/* The same result with truths, means and standard deviations divided by 'unit' > 0: what has a
 * unit is divided by it (the MSE by its square), the NLL loses its logarithm. */
struct gpnn_metrics_result gpnn_metrics_in_units(const struct gpnn_metrics_result *result,
                                                 double unit);

void gpnn_metrics_release(struct gpnn_metrics *metrics);

#endif
