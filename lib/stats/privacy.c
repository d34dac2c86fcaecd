#include "stats/privacy.h"

#include <math.h>

#include "stats/distributions/normal.h"

/* Below this the distribution function is nearly too small for a double, and its expansion is as
 * exact as one. */
static const double far_tail = -30;

/* The logarithm of the normal distribution function. */
static double log_cdf(double z)
{
  if (z >= far_tail) return log(gpnn_normal_cdf(z));
  const double w = 1 / (z * z);
  return -0.5 * (z * z + GPNN_LOG_TWO_PI) - log(-z) + log1p(w * (-1 + w * (3 - 15 * w)));
}

/* The delta that a mu-private release has at epsilon. */
static double delta_at(double epsilon, double mu)
{
  if (mu == 0) return 0;
  const double told = gpnn_normal_cdf(mu / 2 - epsilon / mu);
  const double allowed = exp(epsilon + log_cdf(-mu / 2 - epsilon / mu));
  return fmax(told - allowed, 0);
}

double gpnn_privacy_epsilon(double delta, double mu)
{
  double low = 0, high = 1;
  if (isinf(mu)) return INFINITY;
  if (delta_at(0, mu) <= delta) return 0;
  while (delta_at(high, mu) > delta) high *= 2;
  for (double middle; (middle = low + (high - low) / 2) > low && middle < high;)
    if (delta_at(middle, mu) > delta)
      low = middle;
    else
      high = middle;
  return high;
}

double gpnn_privacy_mu(double epsilon, double delta)
{
  double low = 0, high = 1;
  while (delta_at(epsilon, high) <= delta) high *= 2;
  for (double middle; (middle = low + (high - low) / 2) > low && middle < high;)
    if (delta_at(epsilon, middle) > delta)
      high = middle;
    else
      low = middle;
  return low;
}
