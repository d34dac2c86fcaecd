/*
 * How near rows are to each other, compared with rows scattered at random, among which none is a
 * copy of another (gpnn-methods(7), section 4).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "estimate/fit_private.h"
#include "search/search.h"

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

/* The 'n' rows of the random order that all estimations share. */
static enum gpnn_status draw_rows(const struct gpnn_dataset *dataset, uint64_t seed, size_t n,
                                  int64_t *row, double *x, struct gpnn_error *err)
{
  struct gpnn_rng rng;
  uint64_t *order = gpnn_alloc(n, 1, sizeof *order);
  if (order == NULL) return gpnn_fail_memory(err, "for the rows to measure");
  gpnn_rng_init(&rng, seed, GPNN_RNG_ESTIMATE);
  enum gpnn_status status = gpnn_rng_sample(&rng, dataset->n, n, order, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    row[i] = (int64_t)order[i];
    memcpy(x + i * dataset->d, dataset->x + order[i] * dataset->d, dataset->d * sizeof *x);
  }
  free(order);
  return status;
}

/* The 'n_found' nearest rows, with themselves, of 'n' rows at 'x'. */
static enum gpnn_status find_nearest(const struct gpnn_dataset *dataset,
                                     const struct gpnn_fit_options *options,
                                     const double *lengthscale, size_t n, const double *x,
                                     size_t n_found, int64_t *found, double *distance,
                                     struct gpnn_error *err)
{
  struct gpnn_search *search = NULL;
  struct gpnn_search_options how = GPNN_SEARCH_OPTIONS_INIT;
  how.neighbours = n_found;
  how.lengthscale = lengthscale;
  how.seed = options->seed;
  how.threads = options->threads;
  how.brief = true;
  enum gpnn_status status =
      gpnn_search_build(&search, dataset->n, dataset->d, dataset->x, &how, err);
  if (status == GPNN_OK)
    status = gpnn_search_query(search, n, x, n_found, found, distance, options->threads, err);
  gpnn_search_free(search);
  return status;
}

enum gpnn_status gpnn_fit_find_spacing(const struct gpnn_dataset *dataset,
                                       const struct gpnn_parameters *params,
                                       const struct gpnn_fit_options *options,
                                       struct gpnn_fit_report *report, struct gpnn_error *err)
{
  enum { ROWS = 1000 };
  size_t n = dataset->n < ROWS ? dataset->n : ROWS, d = dataset->d;
  size_t n_found = options->k + 1 < dataset->n ? options->k + 1 : dataset->n;
  bool is_measured = report->usual_spacing < 1 || report->spacing < 1;
  if (is_measured || dataset->n > GPNN_FIT_SPACING_ROWS) return GPNN_OK;
  int64_t *row = gpnn_alloc(n, 1 + n_found, sizeof *row);
  double *x = gpnn_alloc(n, d + n_found, sizeof *x);
  double *lengthscale = gpnn_alloc(d, 1, sizeof *lengthscale);
  enum gpnn_status status = GPNN_OK;
  if (row == NULL || x == NULL || lengthscale == NULL) {
    status = gpnn_fail_memory(err, "for the rows to measure");
  } else {
    gpnn_covariance_expand(&params->covariance, d, dataset->group, lengthscale);
    status = draw_rows(dataset, options->seed, n, row, x, err);
  }
  if (status == GPNN_OK)
    status = find_nearest(dataset, options, lengthscale, n, x, n_found, row + n, x + n * d, err);
  if (status == GPNN_OK)
    gpnn_fit_measure_spacing(dataset, n, row, n_found, row + n, x + n * d, &report->spacing,
                             &report->usual_spacing);
  free(lengthscale);
  free(x);
  free(row);
  return status;
}

bool gpnn_fit_has_copies(const struct gpnn_fit_report *report)
{
  static const double most = 0.05, share = 1.0 / 3;
  return report->spacing < fmin(most, share * report->usual_spacing);
}
