/*
 * power_law: the exponent of a power law, by least squares on logarithms, as learning curves and
 * risk curves are read (gpnn-methods(7), equation 11.19).
 */
#ifndef GPNN_STATS_POWER_LAW_H
#define GPNN_STATS_POWER_LAW_H

#include <stddef.h>

/* Values of x that gpnn_power_law_fit_last() looks at: as many as the published slopes are of. */
enum { GPNN_POWER_LAW_LAST = 8 };

/* A slope and a standard error below it are those of equal values, rounded. */
#define GPNN_POWER_LAW_ROUNDING 1e-12

/* log y = intercept + slope log x. */
struct gpnn_power_law {
  double slope, intercept;
  double se; /* standard error of the slope, errors of log y taken as independent and alike */
  double r2; /* share of the variance of log y that the line explains */
  size_t n;  /* points it is fitted to */
};

/*
 * Fits a line through 'n' points, natural logarithms of both coordinates.  Points without a finite
 * pair are passed over.  Fewer than three that are left, or all of them at one x: everything but
 * fit->n is NaN.  'r2' is NaN where all y are the same.
 */
void gpnn_power_law_fit(struct gpnn_power_law *fit, size_t n, const double *log_x,
                        const double *log_y);

/*
 * The fit through those of 'n' points whose x is among the GPNN_POWER_LAW_LAST largest: |y| against
 * x, x > 0 and nowhere falling.  Returns the first of them.  Where y does not change but for
 * rounding, the slope is 0, and 'r2' NaN.
 */
size_t gpnn_power_law_fit_last(struct gpnn_power_law *fit, size_t n, const double *x,
                               const double *y);

#endif
