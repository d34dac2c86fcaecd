#include "stats/intervals.h"

#include <math.h>

enum gpnn_status gpnn_intervals_add(struct gpnn_intervals *intervals, double truth, double lower,
                                    double upper, struct gpnn_error *err)
{
  if (!(lower <= upper))
    return gpnn_fail(err, GPNN_EDATA, "the lower end of an interval is above the upper");
  double outside = fmax(fmax(lower - truth, truth - upper), 0);
  intervals->n++;
  intervals->n_covered += lower <= truth && truth <= upper;
  gpnn_sum_add(&intervals->width, upper - lower);
  gpnn_sum_add(&intervals->outside, outside);
  return GPNN_OK;
}

struct gpnn_intervals_result gpnn_intervals_result(const struct gpnn_intervals *intervals,
                                                   double level)
{
  size_t n = intervals->n;
  struct gpnn_intervals_result r = {.n = n};
  r.coverage = n == 0 ? NAN : (double)intervals->n_covered / (double)n;
  r.width = gpnn_sum_mean(&intervals->width, n);
  r.score = r.width + 2 / (1 - level) * gpnn_sum_mean(&intervals->outside, n);
  return r;
}

double gpnn_intervals_coverage_se(double level, size_t n)
{
  return sqrt(level * (1 - level) / (double)n);
}
