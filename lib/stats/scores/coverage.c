#include "stats/scores/coverage.h"

#include <math.h>

enum gpnn_status gpnn_coverage_add(struct gpnn_coverage *coverage, double truth, double lower,
                                   double upper, struct gpnn_error *err)
{
  if (!(lower <= upper))
    return gpnn_fail(err, GPNN_EDATA, "the lower end of an interval is above the upper");
  double outside = fmax(fmax(lower - truth, truth - upper), 0);
  coverage->n++;
  gpnn_sum_add(&coverage->covered, lower <= truth && truth <= upper);
  gpnn_sum_add(&coverage->width, upper - lower);
  gpnn_sum_add(&coverage->outside, outside);
  return GPNN_OK;
}

void gpnn_coverage_add_unmeasured(struct gpnn_coverage *coverage, double covered)
{
  coverage->n++;
  gpnn_sum_add(&coverage->covered, covered);
  gpnn_sum_add(&coverage->width, NAN);
}

struct gpnn_coverage_result gpnn_coverage_result(const struct gpnn_coverage *coverage, double level)
{
  size_t n = coverage->n;
  struct gpnn_coverage_result r = {.n = n};
  r.coverage = gpnn_sum_mean(&coverage->covered, n);
  r.width = gpnn_sum_mean(&coverage->width, n);
  r.score = r.width + 2 / (1 - level) * gpnn_sum_mean(&coverage->outside, n);
  return r;
}

double gpnn_coverage_se(double level, size_t n)
{
  return sqrt(level * (1 - level) / (double)n);
}
