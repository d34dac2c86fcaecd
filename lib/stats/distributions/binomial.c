#include "stats/distributions/binomial.h"

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

static double log_beta(double a, double b)
{
  return lgamma(a) + lgamma(b) - lgamma(a + b);
}

size_t gpnn_beta_binomial_quantile(size_t n, double a, double b, double q)
{
  double trials = (double)n, p = a / (a + b), mean = trials * p;
  double variance = mean * (1 - p) * (a + b + trials) / (a + b + 1);
  double reach = 10 * sqrt(variance) + 50, first = mean > reach ? floor(mean - reach) : 0;
  size_t k = (size_t)first;
  double probability = exp(lgamma(trials + 1) - lgamma(first + 1) - lgamma(trials - first + 1) +
                           log_beta(first + a, trials - first + b) - log_beta(a, b));
  double cdf = probability;
  while (cdf < q && k < n) {
    double done = (double)k, left = trials - done;
    probability *= left / (done + 1) * (done + a) / (left - 1 + b);
    k++;
    cdf += probability;
    if (probability < 1e-300 && (double)k > mean) break; /* as above */
  }
  return k;
}
