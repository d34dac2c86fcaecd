#include "estimate/weights.h"

#include <math.h>
#include <string.h>

#include "linalg/blas.h"

enum { MOST = GPNN_WEIGHTS_CANDIDATES };

/* The prior's standard deviation of a weight. */
static const double prior_sd = 0.25;

/* The candidates in a set of bits, lowest first; returns their number. */
static size_t members_of(unsigned set, size_t n, size_t *member)
{
  size_t size = 0;
  for (size_t k = 0; k < n; k++)
    if (set >> k & 1) member[size++] = k;
  return size;
}

/* Writes the weights of a subset, and returns what they minimise; infinite if one is below the
 * bound, or the errors are no numbers. */
static double weigh(size_t n, const double *moments, size_t size, const size_t *member,
                    double *weight)
{
  double matrix[MOST * MOST], sum = 0, value = 0;
  for (size_t a = 0; a < size; a++) {
    weight[a] = 1;
    for (size_t b = 0; b < size; b++)
      matrix[a * size + b] =
          moments[member[a] * n + member[b]] + (a == b ? 1 / (prior_sd * prior_sd) : 0);
  }
  if (LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', (lapack_int)size, 1, matrix, (lapack_int)size,
                         weight, (lapack_int)size) != 0)
    return INFINITY;
  for (size_t a = 0; a < size; a++) sum += weight[a];
  for (size_t a = 0; a < size; a++) {
    weight[a] /= sum;
    if (!(weight[a] >= GPNN_WEIGHTS_LEAST)) return INFINITY;
  }
  for (size_t a = 0; a < size; a++) {
    double off = (weight[a] - 1 / (double)size) / prior_sd;
    value += 0.5 * off * off;
    for (size_t b = 0; b < size; b++)
      value += 0.5 * weight[a] * weight[b] * moments[member[a] * n + member[b]];
  }
  return isnan(value) ? INFINITY : value;
}

bool gpnn_weights_find(size_t n, const double *moments, size_t size, double *weight)
{
  double least = INFINITY;
  for (unsigned set = 1; set < 1U << n; set += 2) { /* those with the first candidate */
    size_t member[MOST];
    double own[MOST];
    if (members_of(set, n, member) != size) continue;
    double value = weigh(n, moments, size, member, own);
    if (!(value < least)) continue;
    least = value;
    memset(weight, 0, n * sizeof *weight);
    for (size_t a = 0; a < size; a++) weight[member[a]] = own[a];
  }
  return isfinite(least);
}
