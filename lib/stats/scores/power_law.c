#include "stats/scores/power_law.h"

#include <math.h>
#include <stdbool.h>

#include "stats/sum.h"

/* The points to fit; unless 'is_log', logarithms of the coordinates have yet to be taken. */
struct points {
  size_t n;
  const double *x, *y;
  bool is_log;
};

/* The logarithms of point 'i'; false unless both are finite. */
static bool point_at(const struct points *points, size_t i, double *x, double *y)
{
  *x = points->is_log ? points->x[i] : log(points->x[i]);
  *y = points->is_log ? points->y[i] : log(fabs(points->y[i]));
  return isfinite(*x) && isfinite(*y);
}

/* The mean of the points that can be used; returns their number. */
static size_t find_centre(const struct points *points, double *centre_x, double *centre_y)
{
  struct gpnn_sum sum_x = {0}, sum_y = {0};
  size_t count = 0;
  double x, y;
  for (size_t i = 0; i < points->n; i++) {
    if (!point_at(points, i, &x, &y)) continue;
    gpnn_sum_add(&sum_x, x);
    gpnn_sum_add(&sum_y, y);
    count++;
  }
  *centre_x = gpnn_sum_mean(&sum_x, count);
  *centre_y = gpnn_sum_mean(&sum_y, count);
  return count;
}

static void fit_points(struct gpnn_power_law *fit, const struct points *points)
{
  double centre_x, centre_y, x, y, xx = 0, xy = 0, yy = 0, rest = 0;
  *fit = (struct gpnn_power_law){NAN, NAN, NAN, NAN, 0};
  fit->n = find_centre(points, &centre_x, &centre_y);
  for (size_t i = 0; i < points->n; i++) {
    if (!point_at(points, i, &x, &y)) continue;
    x -= centre_x;
    y -= centre_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (fit->n < 3 || !(xx > 0)) return;
  fit->slope = xy / xx;
  fit->intercept = centre_y - fit->slope * centre_x;
  /* From the residuals themselves, as yy - slope xy would cancel if the fit is good. */
  for (size_t i = 0; i < points->n; i++) {
    if (!point_at(points, i, &x, &y)) continue;
    double residual = y - centre_y - fit->slope * (x - centre_x);
    rest += residual * residual;
  }
  fit->se = sqrt(rest / (double)(fit->n - 2) / xx);
  fit->r2 = yy > 0 ? 1 - rest / yy : NAN;
}

void gpnn_power_law_fit(struct gpnn_power_law *fit, size_t n, const double *log_x,
                        const double *log_y)
{
  fit_points(fit, &(struct points){n, log_x, log_y, true});
}

/* The first point whose x is among the GPNN_POWER_LAW_LAST largest. */
static size_t first_of_last(size_t n, const double *x)
{
  size_t first = n;
  for (size_t n_values = 0; first > 0; first--) {
    n_values += first == n || x[first - 1] < x[first];
    if (n_values > GPNN_POWER_LAW_LAST) break;
  }
  return first;
}

size_t gpnn_power_law_fit_last(struct gpnn_power_law *fit, size_t n, const double *x,
                               const double *y)
{
  size_t first = first_of_last(n, x);
  fit_points(fit, &(struct points){n - first, x + first, y + first, false});
  bool is_level = fabs(fit->slope) < GPNN_POWER_LAW_ROUNDING && fit->se < GPNN_POWER_LAW_ROUNDING;
  if (is_level) {
    fit->slope = 0;
    fit->r2 = NAN;
  }
  return first;
}
