#include "methods/slope.h"

#include <math.h>

#include "base/sum.h"

static double mean_of(size_t n, const double *values)
{
  struct gpnn_sum sum = {0};
  for (size_t i = 0; i < n; i++) gpnn_sum_add(&sum, values[i]);
  return gpnn_sum_mean(&sum, n);
}

void gpnn_slope_fit(struct gpnn_slope *fit, size_t n, const double *log_x, const double *log_y)
{
  struct gpnn_slope f = {.slope = NAN, .intercept = NAN, .se = NAN, .r2 = NAN, .n = n};
  double x_mean = mean_of(n, log_x), y_mean = mean_of(n, log_y);
  double xx = 0, xy = 0, yy = 0, left = 0;
  for (size_t i = 0; i < n; i++) {
    double x = log_x[i] - x_mean, y = log_y[i] - y_mean;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (xx > 0) {
    f.slope = xy / xx;
    f.intercept = y_mean - f.slope * x_mean;
    for (size_t i = 0; i < n; i++) {
      double off = log_y[i] - y_mean - f.slope * (log_x[i] - x_mean);
      left += off * off;
    }
    if (n > 2) f.se = sqrt(left / (double)(n - 2) / xx);
    if (yy > 0) f.r2 = 1 - left / yy;
  }
  *fit = f;
}
