/*
 * metrics: how good predictions are, and how honest their uncertainty (A 3; specification
 * section 6).
 *
 * With error y - mean and z = error / sd, over n rows:
 *   MSE, RMSE, MAE, R^2 (against the mean of the truths);
 *   NLL = mean of 1/2 (log sd^2 + z^2 + log 2 pi);   CAL = mean of z^2 (1 is right);
 *   CRPS = mean of sd [ z (2 Phi(z) - 1) + 2 phi(z) - 1/sqrt(pi) ];
 *   coverage of the central interval of each nominal level;
 *   PIT = Phi(z): its histogram, and its Kolmogorov distance from uniform.
 *
 * Calling sequence: gpnn_metrics_add() row by row, gpnn_metrics_result(),
 * gpnn_metrics_release().  Memory: 8 bytes a row (the PIT values).
 */
#ifndef GPNN_METHODS_METRICS_H
#define GPNN_METHODS_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { GPNN_METRICS_LEVELS = 32, GPNN_METRICS_PIT_BINS = 10 };

/* A zeroed object, with levels set, is empty and ready.  Sums are compensated. */
struct gpnn_metrics {
  size_t n_levels;
  double levels[GPNN_METRICS_LEVELS]; /* nominal coverages in (0, 1) */
  size_t n;                           /* rows added */
  size_t n_with_sd;                   /* of these with a standard deviation */
  struct gpnn_metrics_sum {
    double sum, compensation;
  } squared, absolute, nll, cal, crps;
  double y_mean, y_m2; /* Welford's mean and sum of squares of the truths */
  size_t covered[GPNN_METRICS_LEVELS];
  double half_width[GPNN_METRICS_LEVELS]; /* filled by gpnn_metrics_levels() */
  double *pit;                            /* owned; n_with_sd values */
  size_t pit_capacity;
};

struct gpnn_metrics_result {
  size_t n;
  bool has_sd; /* the fields below 'r2' have a value */
  double rmse, mse, mae;
  double r2; /* NaN where the truths do not vary */
  double nll, cal, crps;
  double coverage[GPNN_METRICS_LEVELS];
  double pit_distance;
  double pit[GPNN_METRICS_PIT_BINS]; /* share of rows in each of equal bins */
};

/* Sets the nominal levels; at most GPNN_METRICS_LEVELS, each in (0, 1). */
void gpnn_metrics_levels(struct gpnn_metrics *metrics, size_t n_levels, const double *levels);

/* Adds one row.  An sd that is NaN means that none was predicted; GPNN_EDATA: it is not a
 * positive number. */
GPNN_MUST_CHECK enum gpnn_status gpnn_metrics_add(struct gpnn_metrics *metrics, double truth,
                                                  double mean, double sd, struct gpnn_error *err);

/* Computes the result (sorting the PIT values).  GPNN_EDATA: no row was added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_metrics_result(struct gpnn_metrics *metrics,
                                                     struct gpnn_metrics_result *result,
                                                     struct gpnn_error *err);

/* The same result with truths, means and standard deviations divided by 'unit' > 0: what has a
 * unit is divided by it (the MSE by its square), the NLL loses its logarithm. */
struct gpnn_metrics_result gpnn_metrics_in_units(const struct gpnn_metrics_result *result,
                                                 double unit);

void gpnn_metrics_release(struct gpnn_metrics *metrics);

#endif
