#include "stats/scores/difference.h"

#include <math.h>

double gpnn_mean_difference(size_t n, const double *a, const double *b, double *standard_error)
{
  double mean = 0, squares = 0;
  for (size_t i = 0; i < n; i++) mean += (a[i] - (b == NULL ? 0 : b[i])) / (double)n;
  for (size_t i = 0; i < n; i++) squares += pow(a[i] - (b == NULL ? 0 : b[i]) - mean, 2);
  *standard_error = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : 0;
  return mean;
}
