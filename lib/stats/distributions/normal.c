#include "stats/distributions/normal.h"

#include <math.h>

static const double sqrt_half = 0.70710678118654752440;

double gpnn_normal_density(double z)
{
  static const double one_over_sqrt_two_pi = 0.39894228040143267794;
  return one_over_sqrt_two_pi * exp(-0.5 * z * z);
}

double gpnn_normal_cdf(double z)
{
  return 0.5 * erfc(-z * sqrt_half);
}

double gpnn_normal_quantile(double p)
{
  /* By symmetry in the lower tail, where gpnn_normal_cdf() has its relative accuracy. */
  if (p > 0.5) return -gpnn_normal_quantile(1 - p);
  /* Abramowitz and Stegun 26.2.23 (with an error of 4.5e-4), then steps of Halley's method, each of
   * which triples the number of correct digits. */
  double t = sqrt(-2 * log(p));
  double z = (2.515517 + t * (0.802853 + t * 0.010328)) /
                 (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
             t;
  for (int step = 0; step < 3; step++) {
    double u = (gpnn_normal_cdf(z) - p) / gpnn_normal_density(z);
    z -= u / (1 + 0.5 * z * u);
  }
  return z;
}

double gpnn_normal_half_width(double p)
{
  /* By the lower tail, as (1 - p)/2 has digits where (1 + p)/2 would round to 1. */
  return -gpnn_normal_quantile((1 - p) / 2);
}

double gpnn_normal_nll(double error, double sd)
{
  double z = error / sd;
  return log(sd) + 0.5 * (z * z + GPNN_LOG_TWO_PI);
}
