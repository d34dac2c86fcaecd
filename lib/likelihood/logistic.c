#include "likelihood/logistic.h"

void gpnn_logistic_init(struct gpnn_logistic *logistic)
{
  gpnn_hermite_init(&logistic->few, 16);
  gpnn_hermite_init(&logistic->many, 32);
}

double gpnn_logistic_log_probability(const struct gpnn_logistic *logistic, double sign, double mean,
                                     double variance, struct gpnn_logistic_slopes *slopes)
{
  double sd = sqrt(variance), at[GPNN_HERMITE_MOST];
  const struct gpnn_hermite *rule = sd > 4 ? &logistic->many : &logistic->few;
  double most = -INFINITY, sum = 0;
  for (size_t q = 0; q < rule->n; q++) {
    at[q] = -gpnn_logistic_softplus(-sign * (mean + sd * rule->z[q]));
    most = fmax(most, at[q]);
  }
  for (size_t q = 0; q < rule->n; q++) sum += rule->weight[q] * exp(at[q] - most);
  if (slopes == NULL) return most + log(sum);
  *slopes = (struct gpnn_logistic_slopes){0, 0};
  for (size_t q = 0; q < rule->n; q++) {
    /* Of log p by f at this node, where the sigmoid's slope is its value times one minus that. */
    double slope = sign * rule->weight[q] * exp(at[q] - most) / sum * -expm1(at[q]);
    slopes->mean += slope;
    slopes->variance += slope * rule->z[q] / (2 * sd);
  }
  return most + log(sum);
}
