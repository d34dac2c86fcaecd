#include "base/sum.h"

#include <math.h>

void gpnn_sum_add(struct gpnn_sum *s, double value)
{
  double sum = s->sum + value;
  s->compensation += fabs(s->sum) >= fabs(value) ? (s->sum - sum) + value : (value - sum) + s->sum;
  s->sum = sum;
}

double gpnn_sum_mean(const struct gpnn_sum *s, size_t n)
{
  if (n == 0) return NAN;
  /* Beyond the largest number the compensation would be infinity less infinity. */
  return (isinf(s->sum) ? s->sum : s->sum + s->compensation) / (double)n;
}
