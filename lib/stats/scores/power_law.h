/*
 * power_law: the exponent of a power law, by least squares on logarithms, as risk curves are read
 * (gpnn-methods-simulate(7), equation 11.19).
 * Threads: no shared state.
 */
#ifndef GPNN_STATS_POWER_LAW_H
#define GPNN_STATS_POWER_LAW_H

#include <stddef.h>

/* The number of different x that gpnn_power_law_fit_last() fits, as for the published slopes. */
enum { GPNN_POWER_LAW_LAST = 8 };

/* If slope and standard error are both smaller, the values are equal except for rounding. */
#define GPNN_POWER_LAW_ROUNDING 1e-12

/* log y = intercept + slope log x. */
struct gpnn_power_law {
  double slope, intercept;
  double se; /* standard error of the slope, for independent errors of log y with equal variances */
  double r2; /* fraction of the variance of log y that the line explains */
  size_t n;  /* points used */
};

/*
 * Fits a line to 'n' points, given as natural logarithms of both coordinates.  Points with a
 * coordinate that is not finite are skipped.  If fewer than three are left, or all have the same x,
 * everything but fit->n is NaN.  'r2' is NaN if all y are equal.
 */
void gpnn_power_law_fit(struct gpnn_power_law *fit, size_t n, const double *log_x,
                        const double *log_y);

/*
 * The same for |y| against x > 0, ascending, neither in logarithms, using the points whose x is
 * among the GPNN_POWER_LAW_LAST largest.  Returns the index of the first of these.  If y is
 * constant except for rounding, the slope is 0 and 'r2' NaN.
 */
size_t gpnn_power_law_fit_last(struct gpnn_power_law *fit, size_t n, const double *x,
                               const double *y);

#endif
