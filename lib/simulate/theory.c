#include "simulate/theory.h"

#include <math.h>

#include "stats/distributions/normal.h"

struct gpnn_theory_limits gpnn_theory_limits(double noise, double assumed, size_t m)
{
  double excess = 1 + 1 / (double)m;
  return (struct gpnn_theory_limits){
      .mse = noise * excess,
      .nll = 0.5 * (log(assumed * excess) + noise / assumed + GPNN_LOG_TWO_PI),
      .cal = noise / assumed};
}

double gpnn_theory_exponent(double p, size_t d)
{
  return -2 * p / (2 * p + (double)d);
}

size_t gpnn_theory_schedule(double p, size_t d, size_t largest_m, uint64_t largest_n, uint64_t n)
{
  /* Keeps rounding from pushing a whole number up to the next. */
  static const double nearly_one = 1 - 1e-12;
  double fraction = pow((double)n / (double)largest_n, -gpnn_theory_exponent(p, d));
  double m = fmax(ceil((double)largest_m * fraction * nearly_one), 1);
  return m < (double)n ? (size_t)m : (size_t)n;
}
