#include "base/compare.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int gpnn_compare_doubles(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  if (isnan(x) || isnan(y)) return (isnan(x) != 0) - (isnan(y) != 0);
  return (x > y) - (x < y);
}

int gpnn_compare_int64s(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

int gpnn_compare_uint64s(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

int gpnn_compare_sizes(const void *a, const void *b)
{
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

int gpnn_compare_strings(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t gpnn_find_segment(size_t n, const double *rising, double x)
{
  size_t low = 0, high = n - 1;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (rising[middle] <= x)
      low = middle;
    else
      high = middle;
  }
  return low;
}
