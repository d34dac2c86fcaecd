/*
 * slope: the line of least squares through points, for the exponent of a power law (T figures
 * 4-6: the slope of log risk against log n).
 */
#ifndef GPNN_METHODS_SLOPE_H
#define GPNN_METHODS_SLOPE_H

#include <stddef.h>

struct gpnn_slope {
  double slope, intercept;
  double se; /* standard error of the slope; NaN with fewer than three points */
  double r2; /* share of the variance of y explained; NaN where y does not vary */
  size_t n;
};

/* Fits y = intercept + slope x to 'n' points, of which two at least differ in x: otherwise all but
 * 'n' is NaN. */
void gpnn_slope_fit(struct gpnn_slope *fit, size_t n, const double *log_x, const double *log_y);

#endif
