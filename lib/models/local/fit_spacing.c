/*
 * How near rows are to each other, compared with rows scattered at random, among which none is a
 * copy of another (gpnn-methods(7), section 4).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "models/local/fit_private.h"

/* The row that is neighbour 'a' in order of distance, from 1, of a row whose list of 'found' may
 * have the row itself; where its distance is goes to '*at'. */
static int64_t other(int64_t row, size_t n_found, const int64_t *found, size_t a, size_t *at)
{
  size_t n = 0;
  for (*at = 0; *at < n_found; (*at)++) {
    if (found[*at] < 0 || found[*at] == row) continue;
    if (++n == a) return found[*at];
  }
  return -1;
}

struct counts {
  size_t tied, equal;    /* rows whose nearest has the same inputs, and of these the same target */
  size_t far, far_equal; /* rows with a farthest neighbour, and of these the same target */
};

struct lists {
  const struct gpnn_dataset *dataset;
  size_t n, n_found, m; /* rows; found for each; others among these */
  const int64_t *row, *found;
  const double *distance; /* squared */
};

/* The ratio of two distances of row 'i', those of others 'a' and 'b'; NaN if both are 0 or there
 * are none. */
static double ratio_of(const struct lists *lists, size_t i, size_t a, size_t b)
{
  size_t at_a, at_b;
  const int64_t *found = lists->found + i * lists->n_found;
  const double *distance = lists->distance + i * lists->n_found;
  if (other(lists->row[i], lists->n_found, found, a, &at_a) < 0 ||
      other(lists->row[i], lists->n_found, found, b, &at_b) < 0)
    return NAN;
  return distance[at_b] > 0 ? sqrt(distance[at_a] / distance[at_b]) : NAN;
}

/* True if the nearest row to row 'i' has the same inputs; counts it and whether targets agree. */
static bool count_ties(const struct lists *lists, size_t i, struct counts *counts)
{
  const struct gpnn_dataset *dataset = lists->dataset;
  const int64_t *found = lists->found + i * lists->n_found;
  size_t d = dataset->d, at, row = (size_t)lists->row[i];
  int64_t near = other(lists->row[i], lists->n_found, found, 1, &at);
  int64_t far = other(lists->row[i], lists->n_found, found, lists->m, &at);
  if (near < 0 || far < 0) return false;
  counts->far++;
  counts->far_equal += dataset->y[far] == dataset->y[row];
  if (memcmp(dataset->x + (size_t)near * d, dataset->x + row * d, d * sizeof(double)) != 0)
    return false;
  counts->tied++;
  counts->equal += dataset->y[near] == dataset->y[row];
  return true;
}

/* True if rows with the same inputs are copies of each other: if their targets agree clearly more
 * often than those of other neighbours, halfway from these to always. */
static bool ties_are_copies(const struct counts *counts)
{
  double tied = (double)counts->equal / fmax(1, (double)counts->tied);
  double far = (double)counts->far_equal / fmax(1, (double)counts->far);
  return tied > 0.5 * (1 + far);
}

/* The median of the 'n' numbers that are not NaN, sorting them; 'none' if there are none. */
static double median(size_t n, double *values, double none)
{
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    if (!isnan(values[i])) values[kept++] = values[i];
  if (kept == 0) return none;
  qsort(values, kept, sizeof *values, gpnn_compare_doubles);
  return values[kept / 2];
}

/* The dimension that distances grow with: in d dimensions half as many neighbours are at 2^(-1/d)
 * of the distance. */
static double effective_dimension(const struct lists *lists, double *ratio)
{
  size_t half = lists->m / 2;
  double d = (double)lists->dataset->d;
  if (half < 2) return d;
  for (size_t i = 0; i < lists->n; i++) ratio[i] = ratio_of(lists, i, half, 2 * half);
  double typical = median(lists->n, ratio, 0.5);
  return typical > 0 ? fmax(1, fmin(d, log(2) / -log(fmin(typical, 0.999)))) : 1;
}

double gpnn_fit_usual_spacing(size_t m, double dimension)
{
  return m < 2 ? 1 : pow(-expm1(-log(2) / (double)(m - 1)), 1 / dimension);
}

void gpnn_fit_measure_spacing(const struct gpnn_dataset *dataset, size_t n, const int64_t *row,
                              size_t n_found, const int64_t *found, const double *distance,
                              double *spacing, double *usual)
{
  struct lists lists = {dataset, n, n_found, n_found - 1, row, found, distance};
  struct counts counts = {0};
  double *ratio = gpnn_alloc(n, 1, sizeof *ratio);
  bool *tied = gpnn_alloc(n, 1, sizeof *tied);
  *spacing = *usual = 1;
  if (ratio != NULL && tied != NULL && lists.m > 1) {
    *usual = gpnn_fit_usual_spacing(lists.m, effective_dimension(&lists, ratio));
    for (size_t i = 0; i < n; i++) tied[i] = count_ties(&lists, i, &counts);
    double when_tied = ties_are_copies(&counts) ? 0 : 1;
    for (size_t i = 0; i < n; i++) ratio[i] = tied[i] ? when_tied : ratio_of(&lists, i, 1, lists.m);
    *spacing = median(n, ratio, 1);
  }
  free(tied);
  free(ratio);
}

bool gpnn_fit_has_copies(const struct gpnn_fit_report *report)
{
  static const double most = 0.05, share = 1.0 / 3;
  return report->spacing < fmin(most, share * report->usual_spacing);
}
