#include "stats/scatter.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"

/* ---- cells -------------------------------------------------------------------------------- */

static size_t cell_along(double offset, double step, size_t n)
{
  double i = floor(offset / step);
  return !(i > 0) ? 0 : i >= (double)n ? n - 1 : (size_t)i;
}

size_t gpnn_scatter_cell(const struct gpnn_scatter_grid *grid, double x, double y)
{
  return cell_along(y - grid->y0, grid->dy, grid->ny) * grid->nx +
         cell_along(x - grid->x0, grid->dx, grid->nx);
}

void gpnn_scatter_count(const struct gpnn_scatter_grid *grid, size_t n, const double *x,
                        const double *y, double *counts)
{
  for (size_t c = 0; c < grid->nx * grid->ny; c++) counts[c] = 0;
  for (size_t i = 0; i < n; i++) counts[gpnn_scatter_cell(grid, x[i], y[i])]++;
}

void gpnn_scatter_average(const struct gpnn_scatter_grid *grid, size_t n, const double *x,
                          const double *y, const double *values, const double *counts,
                          double *averages)
{
  for (size_t c = 0; c < grid->nx * grid->ny; c++) averages[c] = counts[c] > 0 ? 0 : NAN;
  for (size_t i = 0; i < n; i++) {
    size_t c = gpnn_scatter_cell(grid, x[i], y[i]);
    averages[c] += values[i] / counts[c];
  }
}

/* ---- order -------------------------------------------------------------------------------- */

/* By x, then by y, so that the order is the same with any qsort(). */
static int compare_pairs(const void *a, const void *b)
{
  const double *p = a, *q = b;
  int order = gpnn_compare_doubles(&p[0], &q[0]);
  return order != 0 ? order : gpnn_compare_doubles(&p[1], &q[1]);
}

enum gpnn_status gpnn_scatter_lattice(size_t n, const double *values, size_t most, bool *regular,
                                      double *step, size_t *points, struct gpnn_error *err)
{
  double *sorted = gpnn_alloc(n, 1, sizeof *sorted);
  if (sorted == NULL) return gpnn_fail_memory(err, "to sort coordinates");
  memcpy(sorted, values, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, gpnn_compare_doubles);
  double range = sorted[n - 1] - sorted[0], least = range;
  /* The step is the least gap that is not merely rounding. */
  for (size_t i = 1; i < n; i++) {
    double gap = sorted[i] - sorted[i - 1];
    if (gap > range / (2 * (double)most) && gap < least) least = gap;
  }
  double count = range > 0 ? rint(range / least) : 0, exact = count > 0 ? range / count : 1;
  bool good = count < (double)most;
  for (size_t i = 0; i < n && good; i++) {
    double at = (sorted[i] - sorted[0]) / exact;
    good = fabs(at - rint(at)) < 1e-3;
  }
  free(sorted);
  *regular = good;
  if (good) {
    *step = exact;
    *points = (size_t)count + 1;
  }
  return GPNN_OK;
}

static double quantile(const double *sorted, size_t n, double p)
{
  double rank = p * (double)(n - 1);
  size_t i = (size_t)rank;
  double fraction = rank - (double)i;
  return i + 1 < n ? sorted[i] + fraction * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* ---- functions ---------------------------------------------------------------------------- */

/* The sum of squares of y[0 ... n) around their mean, in units of 'unit'. */
static double sum_of_squares(size_t n, const double *y, double unit)
{
  double mean = 0, sum = 0;
  for (size_t i = 0; i < n; i++) mean += y[i] / unit / (double)n;
  for (size_t i = 0; i < n; i++) sum += pow(y[i] / unit - mean, 2);
  return sum;
}

bool gpnn_scatter_is_function(size_t n, const double *x, const double *y)
{
  enum { FEW = 20 };
  const double most_within = 0.01, most_between = 0.25, rounding = 1e-12;
  double unit = 0, within = 0, differences = 0;
  for (size_t i = 0; i < n; i++) unit = fmax(unit, fabs(y[i]));
  if (n < 2 || unit == 0) return true;
  double variance = sum_of_squares(n, y, unit) / (double)(n - 1);
  if (variance < rounding * rounding) return true;
  size_t n_repeats = 0;
  for (size_t i = 0, k; i < n; i += k) {
    for (k = 1; i + k < n && x[i + k] == x[i]; k++) n_repeats++;
    within += sum_of_squares(k, y + i, unit);
  }
  if (within > most_within * variance * (double)n_repeats) return false;
  for (size_t i = 1; i < n; i++) differences += pow(y[i] / unit - y[i - 1] / unit, 2);
  return n < FEW || differences <= 2 * most_between * variance * (double)(n - 1);
}

enum gpnn_status gpnn_scatter_quantiles(size_t n, const double *x, const double *y, size_t n_groups,
                                        size_t n_p, const double *p, double *rows,
                                        struct gpnn_error *err)
{
  assert(n_groups >= 1 && n_groups <= n);
  double(*pairs)[2] = gpnn_alloc(n, 2, sizeof(double));
  double *group = gpnn_alloc(n / n_groups + 1, 1, sizeof *group);
  enum gpnn_status status = GPNN_OK;
  if (pairs == NULL || group == NULL) {
    status = gpnn_fail_memory(err, "to sort points");
    goto out;
  }
  for (size_t i = 0; i < n; i++) {
    pairs[i][0] = x[i];
    pairs[i][1] = y[i];
  }
  qsort(pairs, n, sizeof *pairs, compare_pairs);
  for (size_t g = 0, begin = 0; g < n_groups; g++) {
    size_t length = n / n_groups + (g < n % n_groups);
    double *row = rows + g * (n_p + 1);
    for (size_t i = 0; i < length; i++) group[i] = pairs[begin + i][0];
    row[0] = quantile(group, length, 0.5);
    for (size_t i = 0; i < length; i++) group[i] = pairs[begin + i][1];
    qsort(group, length, sizeof *group, gpnn_compare_doubles);
    for (size_t k = 0; k < n_p; k++) row[k + 1] = quantile(group, length, p[k]);
    begin += length;
  }
out:
  free(pairs);
  free(group);
  return status;
}
