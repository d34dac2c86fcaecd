#include "stats/sum.h"

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
  /* If the sum has overflowed, the compensation is a NaN. */
  return (isinf(s->sum) ? s->sum : s->sum + s->compensation) / (double)n;
}

/* Numbers from 'least' to 'most' are squared as they are, and even 2^63 such squares do not
 * overflow; larger ones are squared in units of 'unit', smaller ones in units of its inverse. */
static const double least = 0x1p-500, most = 0x1p+480, unit = 0x1p+600;

void gpnn_squares_add(struct gpnn_squares *s, double value)
{
  double size = fabs(value);
  if (size > most)
    gpnn_sum_add(&s->large, (value / unit) * (value / unit));
  else if (size < least)
    gpnn_sum_add(&s->small, (value * unit) * (value * unit));
  else
    gpnn_sum_add(&s->usual, value * value);
}

double gpnn_squares_root_mean(const struct gpnn_squares *s, size_t n)
{
  double large = sqrt(gpnn_sum_mean(&s->large, n)), small = sqrt(gpnn_sum_mean(&s->small, n));
  double usual = hypot(sqrt(gpnn_sum_mean(&s->usual, n)), small / unit);
  return large > 0 ? hypot(large, usual / unit) * unit : usual;
}

double gpnn_squares_mean(const struct gpnn_squares *s, size_t n)
{
  double root = gpnn_squares_root_mean(s, n);
  return s->small.sum == 0 && s->large.sum == 0 ? gpnn_sum_mean(&s->usual, n) : root * root;
}

double gpnn_softmax(size_t n, double *values)
{
  double top = values[0], sum = 0;
  for (size_t c = 1; c < n; c++) top = fmax(top, values[c]);
  for (size_t c = 0; c < n; c++) sum += values[c] = exp(values[c] - top);
  for (size_t c = 0; c < n; c++) values[c] /= sum;
  return top + log(fmax(sum, 1)); /* as the greatest of its terms is 1 */
}
