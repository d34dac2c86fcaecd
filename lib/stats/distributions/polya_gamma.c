#include "stats/distributions/polya_gamma.h"

#include <math.h>

#include "stats/distributions/normal.h"

/* Terms of a series, the first of them factored out: sum of (-1)^j q_j, and of q_j times its
 * exponent. */
struct series {
  double sum, weighted;
};

/* The two series for the density meet here: either needs only four terms on its side. */
static const double meeting = 0.16;
enum { TERMS = 4 };

/* Sums (-1)^j base_j exp(-rate (base_j^2 - base_0^2)), base_j = base_0 + step j, and the same times
 * base_j^2. */
static struct series sum_series(double first, double step, double rate)
{
  struct series s = {first, first * first * first};
  for (int j = 1; j < TERMS; j++) {
    double base = first + step * j;
    double term = base * exp(-rate * (base * base - first * first));
    if (j % 2 == 1) term = -term;
    s.sum += term;
    s.weighted += term * base * base;
  }
  return s;
}

double gpnn_polya_gamma_log_density(double omega, double *slope)
{
  if (omega < meeting) {
    struct series s = sum_series(1, 2, 1 / (8 * omega));
    *slope = -1.5 + s.weighted / s.sum / (8 * omega);
    return -0.5 * GPNN_LOG_TWO_PI - 1.5 * log(omega) - 1 / (8 * omega) + log(s.sum);
  }
  double rate = 2 * M_PI * M_PI * omega;
  struct series s = sum_series(0.5, 1, rate);
  *slope = -rate * s.weighted / s.sum;
  return log(4 * M_PI) - 0.25 * rate + log(s.sum);
}

/* ---- log-normal approximation ----------------------------------------------------------- */

struct gpnn_log_normal gpnn_polya_gamma_nearest(void)
{
  return (struct gpnn_log_normal){-1.689459, 0.766501};
}

double gpnn_polya_gamma_divergence(struct gpnn_log_normal q, const struct gpnn_hermite *rule,
                                   double slope[2])
{
  double value = -(q.m + 0.5 + log(q.s) + 0.5 * GPNN_LOG_TWO_PI), by_log;
  slope[0] = slope[1] = -1;
  for (size_t j = 0; j < rule->n; j++) {
    value -= rule->weight[j] * gpnn_polya_gamma_log_density(exp(q.m + q.s * rule->z[j]), &by_log);
    slope[0] -= rule->weight[j] * by_log;
    slope[1] -= rule->weight[j] * by_log * q.s * rule->z[j];
  }
  return value;
}
