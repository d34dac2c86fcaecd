/*
 * metrics: how good predictions are, and how honest their uncertainty (gpnn-methods(7), section 9).
 *
 * With error = y - mean and z = error / sd, over n rows:
 *   MSE, RMSE, MAE, R^2 (relative to the mean of the truths);
 *   NLL = mean of 1/2 (log sd^2 + z^2 + log 2 pi);   CAL = mean of z^2 (ideally 1);
 *   CRPS = mean of sd [ z (2 Phi(z) - 1) + 2 phi(z) - 1/sqrt(pi) ];
 *   coverage, mean width and interval score of the central interval of each nominal level
 *   (stats/scores/coverage.h);
 *   PIT = Phi(z), randomised where truths are tied (stats/scores/pit.h): its histogram, and its
 * Kolmogorov distance from the uniform distribution. A row's predicted distribution may be
 * Student's t instead of the normal one: NLL, CRPS, intervals and PIT are then those of
 * stats/distributions/student.h with the scale sd sqrt((df - 2) / df).  Or whoever predicted the
 * row gives its log density, CRPS and PIT, from which it is then scored: an interval of level p
 * contains the truth if |PIT - 1/2| <= p/2.  A truth that has a probability of its own is at a step
 * of the distribution function: its PIT is drawn from between the ends of the step, an interval
 * contains it with the probability that such a draw is within p/2 of 1/2, and the log of the
 * probability takes the place of the log density.
 *
 * Calling sequence: gpnn_metrics_levels() on a zeroed object, gpnn_metrics_add() row by row,
 * gpnn_metrics_result(), gpnn_metrics_release().  It takes 32 bytes of memory per row, for the PIT.
 *
 * What exceeds the range of a double becomes infinite or 0, as the MSE of errors of 1e200 or 1e-200
 * does; RMSE and R^2 are correct whenever they are in range.
 */
#ifndef GPNN_STATS_METRICS_H
#define GPNN_STATS_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "stats/scores/coverage.h"
#include "stats/scores/pit.h"
#include "stats/sum.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GPNN_METRICS_LEVELS = 32, GPNN_METRICS_PIT_BINS = 10 };

/* A zeroed object with levels set is empty.  Sums are compensated. */
struct gpnn_metrics {
  size_t n_levels;
  double levels[GPNN_METRICS_LEVELS]; /* nominal coverages in (0, 1) */
  size_t n;                           /* rows added */
  size_t n_with_sd;                   /* those of them with a standard deviation */
  size_t n_at_steps;                  /* those of these with a step at the truth */
  struct gpnn_squares errors;
  struct gpnn_sum absolute, nll, nll_squares, cal, crps;
  double y_mean; /* the mean of the truths, and their squared deviations, updated as Welford does */
  struct gpnn_squares y_spread;
  struct gpnn_coverage coverage[GPNN_METRICS_LEVELS];
  double df; /* for which the half widths are: that of the previous row */
  double half_width[GPNN_METRICS_LEVELS];
  struct gpnn_pit pit; /* of the rows with a standard deviation */
};

struct gpnn_metrics_result {
  size_t n;
  bool has_sd; /* if false, the fields after 'r2' mean nothing */
  double rmse, mse, mae;
  double r2; /* NaN if all truths are equal */
  double nll, cal, crps;
  double nll_error; /* standard error of the NLL, as the mean of independent rows */
  double at_steps;  /* the share of rows with a step at the truth */
  /* Widths and scores are NaN if a PIT was given. */
  double coverage[GPNN_METRICS_LEVELS], width[GPNN_METRICS_LEVELS], score[GPNN_METRICS_LEVELS];
  double pit_distance;
  double pit[GPNN_METRICS_PIT_BINS]; /* fraction of rows in each of equal bins */
};

/* Sets the nominal levels; at most GPNN_METRICS_LEVELS, each in (0, 1). */
void gpnn_metrics_levels(struct gpnn_metrics *metrics, size_t n_levels, const double *levels);

/*
 * Adds one row.  A NaN as 'sd' means that none was predicted; a 'df' of INFINITY means the normal
 * distribution.  Truth and mean must be finite.
 * GPNN_EDATA: sd is not positive and finite, or df not above 2 (otherwise Student's t has no
 * standard deviation).  GPNN_ENOMEM: no room for the PIT.  After a failure 'n' and 'n_with_sd' do
 * not include the row.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_metrics_add(struct gpnn_metrics *metrics, double truth,
                                                  double mean, double sd, double df,
                                                  struct gpnn_error *err);

/* What is known of a row's prediction besides mean, sd and df; NaN: what follows from these. */
struct gpnn_metrics_given {
  double logp, crps, pit; /* log density at the truth, score, and probability of values below it */
  double step; /* with a PIT, the height of the step of the distribution function that this is the
                  middle of; 0 or NaN: it has none at the truth */
};

/* The same for a row that has them.  GPNN_EDATA, too: the crps is negative, or pit or step are not
 * between 0 and 1.  Without an sd they are ignored. */
GPNN_MUST_CHECK enum gpnn_status gpnn_metrics_add_given(struct gpnn_metrics *metrics, double truth,
                                                        double mean, double sd, double df,
                                                        const struct gpnn_metrics_given *given,
                                                        struct gpnn_error *err);

/* Computes the result, sorting the PIT values; no more rows may be added afterwards.  GPNN_EDATA:
 * no row has been added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_metrics_result(struct gpnn_metrics *metrics,
                                                     struct gpnn_metrics_result *result,
                                                     struct gpnn_error *err);

/* The fraction, among the rows with a standard deviation, of PIT values in each of 'n_bins' equal
 * bins; NaN without such rows.  No more rows may be added afterwards. */
void gpnn_metrics_pit_histogram(struct gpnn_metrics *metrics, size_t n_bins, double *fractions);

/* The result if truths, means and standard deviations had all been divided by 'unit' > 0: what has
 * a unit is divided by it, the MSE by its square, and the NLL loses log(unit) for each row, except
 * those at steps, and counts: their probabilities have no unit. */
struct gpnn_metrics_result gpnn_metrics_in_units(const struct gpnn_metrics_result *result,
                                                 double unit, bool of_counts);

void gpnn_metrics_release(struct gpnn_metrics *metrics);

#ifdef __cplusplus
}
#endif

#endif
