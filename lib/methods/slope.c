#include "methods/slope.h"

#include <math.h>
#include <stdbool.h>

#include "base/sum.h"

static bool is_point(double log_x, double log_y)
{
  return isfinite(log_x) && isfinite(log_y);
}

/* Where the points are around. */
static size_t find_centre(size_t n, const double *log_x, const double *log_y, double *centre_x,
                          double *centre_y)
{
  struct gpnn_sum x = {0}, y = {0};
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    if (!is_point(log_x[i], log_y[i])) continue;
    gpnn_sum_add(&x, log_x[i]);
    gpnn_sum_add(&y, log_y[i]);
    count++;
  }
  *centre_x = gpnn_sum_mean(&x, count);
  *centre_y = gpnn_sum_mean(&y, count);
  return count;
}

void gpnn_slope_fit(struct gpnn_slope *fit, size_t n, const double *log_x, const double *log_y)
{
  double centre_x, centre_y, xx = 0, xy = 0, yy = 0, rest = 0;
  *fit = (struct gpnn_slope){NAN, NAN, NAN, NAN, 0};
  fit->n = find_centre(n, log_x, log_y, &centre_x, &centre_y);
  for (size_t i = 0; i < n; i++) {
    if (!is_point(log_x[i], log_y[i])) continue;
    double x = log_x[i] - centre_x, y = log_y[i] - centre_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (fit->n < 3 || !(xx > 0)) return;
  fit->slope = xy / xx;
  fit->intercept = centre_y - fit->slope * centre_x;
  /* From the residuals themselves: yy less what is explained would cancel where the fit is good. */
  for (size_t i = 0; i < n; i++) {
    if (!is_point(log_x[i], log_y[i])) continue;
    double off = log_y[i] - centre_y - fit->slope * (log_x[i] - centre_x);
    rest += off * off;
  }
  fit->se = sqrt(rest / (double)(fit->n - 2) / xx);
  fit->r2 = yy > 0 ? 1 - rest / yy : NAN;
}

void gpnn_slope_last(struct gpnn_slope *fit, size_t n, const double *x, const double *y)
{
  double log_x[GPNN_SLOPE_LAST], log_y[GPNN_SLOPE_LAST];
  size_t count = n < GPNN_SLOPE_LAST ? n : GPNN_SLOPE_LAST, first = n - count;
  for (size_t i = 0; i < count; i++) {
    log_x[i] = log(x[first + i]);
    log_y[i] = log(fabs(y[first + i]));
  }
  gpnn_slope_fit(fit, count, log_x, log_y);
}
