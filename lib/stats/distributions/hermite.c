#include "stats/distributions/hermite.h"

#include <math.h>

/* The orthonormal Hermite polynomial of degree 'n' at 'z'; '*before' gets that of degree n - 1. */
static double polynomial(size_t n, double z, double *before)
{
  double value = 1, last = 0;
  for (size_t j = 0; j < n; j++) {
    double next = (z * value - sqrt((double)j) * last) / sqrt((double)j + 1);
    last = value;
    value = next;
  }
  *before = last;
  return value;
}

/* The only root of that polynomial between 'low' and 'high'. */
static double root_between(size_t n, double low, double high)
{
  double before;
  double sign = polynomial(n, high, &before) > 0 ? 1 : -1;
  for (;;) {
    double middle = 0.5 * (low + high);
    if (!(low < middle && middle < high)) return middle;
    if (sign * polynomial(n, middle, &before) > 0)
      high = middle;
    else
      low = middle;
  }
}

/* The roots of one degree lie between those of the degree below. */
void gpnn_hermite_init(struct gpnn_hermite *rule, size_t n)
{
  double before;
  rule->n = n;
  for (size_t degree = 1; degree <= n; degree++) {
    double most = 2 * sqrt((double)degree) + 1, low = -most;
    for (size_t i = 0; i < degree; i++) {
      double high = i + 1 < degree ? rule->z[i] : most;
      rule->z[i] = root_between(degree, low, high);
      low = high;
    }
  }
  for (size_t i = 0; i < n / 2; i++) {
    rule->z[i] = 0.5 * (rule->z[i] - rule->z[n - 1 - i]);
    rule->z[n - 1 - i] = -rule->z[i];
  }
  if (n % 2 == 1) rule->z[n / 2] = 0;
  for (size_t i = 0; i < n; i++) {
    polynomial(n, rule->z[i], &before);
    rule->weight[i] = 1 / ((double)n * before * before);
  }
}
