#include "stats/binomial.h"

#include <math.h>

static double log_probability(double n, double p, double k)
{
  return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p);
}

size_t gpnn_binomial_quantile(size_t n, double p, double q)
{
  if (n == 0 || p <= 0) return 0;
  if (p >= 1) return n;
  /* Start ten standard deviations below the mean, and a little more because the distribution of few
   * successes is skewed: what lies below is negligible. */
  double mean = (double)n * p, reach = 10 * sqrt(mean * (1 - p)) + 50;
  double first = mean > reach ? floor(mean - reach) : 0;
  size_t k = (size_t)first;
  double probability = exp(log_probability((double)n, p, first)), cdf = probability;
  const double odds = p / (1 - p);
  while (cdf < q && k < n) {
    probability *= (double)(n - k) / (double)(k + 1) * odds;
    k++;
    cdf += probability;
    if (probability < 1e-300 && (double)k > mean) break; /* by rounding, the sum stays below q */
  }
  return k;
}
