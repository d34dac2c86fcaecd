#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dataset/steps_private.h"
#include "stats/row_source.h"

enum {
  INNER = 3,         /* spreads within which no cell is an outlier */
  OCTAVES = 48,      /* factors of 2 from there outwards; the last has no end */
  GAP = 4,           /* octaves */
  FEW_OUTLIERS = 50, /* one in this many cells may be an outlier */
};

/* The greatest ratio of the distances of two codes: 88 and 99, but not 1000 and 2000. */
static const double most_apart = 1.25;

/* ---- centre and spread ---- */

/* Halves of numbers, so that no difference overflows. */
struct column {
  double centre; /* half the median */
  double inner;  /* half the distance within which no cell is an outlier; infinite: not judged */
  double outer;  /* half the distance beyond which cells are outliers; infinite: there are none */
};

static enum gpnn_status judge_all(const struct gpnn_row_source *rows, size_t n_in,
                                  const struct gpnn_feature *features, struct column *columns,
                                  struct gpnn_error *err)
{
  struct gpnn_spread *spreads = gpnn_alloc(n_in, 1, sizeof *spreads);
  if (spreads == NULL) return gpnn_fail_memory(err, "for the limits of the inputs");
  enum gpnn_status status = gpnn_spread_learn(rows, n_in, features, spreads, err);
  for (size_t j = 0; j < n_in && status == GPNN_OK; j++) {
    columns[j] = (struct column){spreads[j].centre, INFINITY, INFINITY};
    if (spreads[j].spread > 0) columns[j].inner = INNER * spreads[j].spread;
  }
  free(spreads);
  return status;
}

/* ---- gaps ---- */

struct octaves {
  size_t n_in, width;
  const struct column *columns;
  double *n; /* n_in by OCTAVES: cells beyond the inner distance */
};

static double distance(const struct column *column, double value)
{
  return fabs(value / 2 - column->centre);
}

static void count_octaves(const void *state, size_t count, const double *rows, double *found)
{
  const struct octaves *o = state;
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < o->n_in; j++) {
      double from = distance(&o->columns[j], rows[i * o->width + j]);
      if (!(from > o->columns[j].inner)) continue; /* or it is missing */
      int octave = ilogb(from / o->columns[j].inner);
      found[j * OCTAVES + (size_t)(octave < OCTAVES ? octave : OCTAVES - 1)]++;
    }
}

static void fold_octaves(void *state, const double *found)
{
  const struct octaves *o = state;
  for (size_t i = 0; i < o->n_in * OCTAVES; i++) o->n[i] += found[i];
}

/* Sets the outer distance to the beginning of the gap, if there are cells beyond one, and returns
 * how many. */
static size_t find_gap(const double *n, struct column *column)
{
  int begin = 0, k = 0; /* 'begin' is the octave after the last cell that is not an outlier */
  double beyond = 0;
  for (; k < OCTAVES && k < begin + GAP; k++)
    if (n[k] > 0) begin = k + 1;
  for (; k < OCTAVES; k++) beyond += n[k];
  if (beyond > 0) column->outer = ldexp(column->inner, begin);
  return (size_t)beyond;
}

/* Finds the columns that have outliers. */
static enum gpnn_status find_outliers(const struct gpnn_row_source *rows, size_t n_in,
                                      struct column *columns, struct gpnn_outlier_columns *outliers,
                                      struct gpnn_error *err)
{
  struct octaves octaves = {n_in, rows->width, columns, gpnn_alloc(n_in, OCTAVES, sizeof(double))};
  outliers->of = gpnn_alloc(n_in, 1, sizeof *outliers->of);
  const struct gpnn_row_reduction reduction = {count_octaves,  fold_octaves, &octaves,
                                               n_in * OCTAVES, octaves.n,    n_in * OCTAVES};
  enum gpnn_status status = octaves.n == NULL || outliers->of == NULL
                                ? gpnn_fail_memory(err, "for the limits of the inputs")
                                : gpnn_row_source_reduce(rows, &reduction, err);
  for (size_t j = 0; j < n_in && status == GPNN_OK; j++) {
    size_t n = find_gap(octaves.n + j * OCTAVES, &columns[j]);
    if (n > 0) outliers->of[outliers->n++] = (struct gpnn_outliers){.column = j, .n = n};
  }
  free(octaves.n);
  return status;
}

/* ---- describing outliers ---- */

/* Outliers below, the other cells, and outliers above. */
enum { BELOW, INSIDE, ABOVE, REGIONS };

/* A least or greatest value and how many cells have it; doubles, as they are reduced. */
struct end {
  double value, n;
};

struct ends {
  struct end least, greatest;
};

struct regions {
  size_t width;
  const struct column *columns;
  const struct gpnn_outlier_columns *outliers;
  struct ends *ends; /* outliers->n by REGIONS */
};

enum { END_NUMBERS = sizeof(struct ends) / sizeof(double) };

/* Merges two ends: the value that lies farther in the direction of 'sign' remains, and the counts
 * of equal values add up. */
static void merge(struct end *end, struct end more, double sign)
{
  if (more.n == 0) return;
  if (end->n > 0 && more.value == end->value)
    end->n += more.n;
  else if (end->n == 0 || (more.value > end->value) == (sign > 0))
    *end = more;
}

static void merge_ends(struct ends *ends, const struct ends *more)
{
  merge(&ends->least, more->least, -1);
  merge(&ends->greatest, more->greatest, 1);
}

static void find_ends(const void *state, size_t count, const double *rows, double *found)
{
  const struct regions *r = state;
  struct ends *ends = (struct ends *)(void *)found;
  for (size_t i = 0; i < count; i++)
    for (size_t f = 0; f < r->outliers->n; f++) {
      size_t j = r->outliers->of[f].column;
      double value = rows[i * r->width + j];
      if (isnan(value)) continue;
      const struct column *column = &r->columns[j];
      int region = distance(column, value) <= column->outer ? INSIDE
                   : value / 2 < column->centre             ? BELOW
                                                            : ABOVE;
      const struct end cell = {value, 1};
      merge_ends(&ends[f * REGIONS + (size_t)region], &(struct ends){cell, cell});
    }
}

static void fold_ends(void *state, const double *found)
{
  const struct regions *r = state;
  const struct ends *ends = (const struct ends *)(const void *)found;
  for (size_t i = 0; i < r->outliers->n * REGIONS; i++) merge_ends(&r->ends[i], &ends[i]);
}

/* The number of cells of a region that have its least or its greatest value. */
static size_t n_at_ends(const struct ends *ends)
{
  bool is_one = ends->least.value == ends->greatest.value;
  return (size_t)(ends->least.n + (is_one ? 0 : ends->greatest.n));
}

/* True if the ends lie so close together that little is lost by clipping both. */
static bool are_close(const struct column *column, const struct ends *ends)
{
  double least = distance(column, ends->least.value);
  double greatest = distance(column, ends->greatest.value);
  return ends->least.value == ends->greatest.value ||
         fmax(least, greatest) / most_apart <= fmin(least, greatest);
}

/* True if all 'n' outliers are codes, one or two on either side. */
static bool are_codes(size_t n, const struct column *column, const struct ends *ends)
{
  const struct ends *below = &ends[BELOW], *above = &ends[ABOVE];
  return n == n_at_ends(below) + n_at_ends(above) && are_close(column, below) &&
         are_close(column, above);
}

/* Takes the value of 'end' if it is the most frequent yet. */
static void take_most_frequent(struct gpnn_outliers *outliers, struct end end)
{
  if ((size_t)end.n <= outliers->n_equal) return;
  outliers->value = end.value;
  outliers->n_equal = (size_t)end.n;
}

/* Describes the outliers of a column; false if they are too many, and not codes, so that they
 * rather belong to it. */
static bool describe(size_t n, const struct column *column, const struct ends *ends,
                     struct gpnn_outliers *outliers)
{
  size_t few = n < FEW_OUTLIERS ? 1 : n / FEW_OUTLIERS;
  outliers->low = ends[INSIDE].least.value;
  outliers->high = ends[INSIDE].greatest.value;
  take_most_frequent(outliers, ends[BELOW].least);
  take_most_frequent(outliers, ends[BELOW].greatest);
  take_most_frequent(outliers, ends[ABOVE].least);
  take_most_frequent(outliers, ends[ABOVE].greatest);
  return outliers->n <= few || are_codes(outliers->n, column, ends);
}

/* Describes the outliers of all columns and drops columns whose outliers belong to them. */
static enum gpnn_status describe_all(const struct gpnn_row_source *rows,
                                     const struct column *columns,
                                     struct gpnn_outlier_columns *outliers, struct gpnn_error *err)
{
  size_t n_kept = 0;
  struct regions regions = {rows->width, columns, outliers,
                            gpnn_alloc(outliers->n, REGIONS, sizeof *regions.ends)};
  if (regions.ends == NULL) return gpnn_fail_memory(err, "for the limits of the inputs");
  size_t n_numbers = outliers->n * REGIONS * END_NUMBERS;
  const struct gpnn_row_reduction reduction = {
      find_ends, fold_ends, &regions, n_numbers, (double *)(void *)regions.ends, n_numbers};
  enum gpnn_status status = gpnn_row_source_reduce(rows, &reduction, err);
  for (size_t f = 0; f < outliers->n && status == GPNN_OK; f++)
    if (describe(rows->n, &columns[outliers->of[f].column], regions.ends + f * REGIONS,
                 &outliers->of[f]))
      outliers->of[n_kept++] = outliers->of[f];
  outliers->n = n_kept;
  free(regions.ends);
  return status;
}

/* ---- limits ---- */

static enum gpnn_status set_limits(struct gpnn_learnt *limits, size_t n_in,
                                   const struct column *columns,
                                   const struct gpnn_outlier_columns *outliers,
                                   struct gpnn_error *err)
{
  double *lower = gpnn_alloc(n_in, 2, sizeof *lower);
  if (lower == NULL) return gpnn_fail_memory(err, "for the limits of the inputs");
  double *upper = lower + n_in;
  for (size_t j = 0; j < n_in; j++) {
    lower[j] = -DBL_MAX;
    upper[j] = DBL_MAX;
  }
  for (size_t f = 0; f < outliers->n && outliers->of[f].column < n_in; f++) {
    size_t j = outliers->of[f].column;
    lower[j] = fmax(2 * (columns[j].centre - 2 * columns[j].outer), -DBL_MAX);
    upper[j] = fmin(2 * (columns[j].centre + 2 * columns[j].outer), DBL_MAX);
  }
  *limits = (struct gpnn_learnt){.n_features = n_in, .n = 2 * n_in, .numbers = lower};
  return GPNN_OK;
}

enum gpnn_status gpnn_limits_learn(struct gpnn_learnt *limits,
                                   struct gpnn_outlier_columns *outliers,
                                   const struct gpnn_row_source *rows, size_t n_in, size_t n_more,
                                   const struct gpnn_feature *features, struct gpnn_error *err)
{
  size_t n = n_in + n_more;
  struct gpnn_outlier_columns found = {0};
  struct column *columns = gpnn_alloc(n, 1, sizeof *columns);
  enum gpnn_status status = columns == NULL ? gpnn_fail_memory(err, "for the limits of the inputs")
                                            : judge_all(rows, n, features, columns, err);
  if (status == GPNN_OK) status = find_outliers(rows, n, columns, &found, err);
  if (status == GPNN_OK && found.n > 0) status = describe_all(rows, columns, &found, err);
  if (status == GPNN_OK && found.n > 0 && found.of[0].column < n_in)
    status = set_limits(limits, n_in, columns, &found, err);
  free(columns);
  if (status == GPNN_OK)
    *outliers = found;
  else
    gpnn_outlier_columns_release(&found);
  return status;
}

bool gpnn_limits_are_valid(const struct gpnn_learnt *limits)
{
  size_t n = limits->n_features;
  if (limits->n != 2 * n) return false;
  for (size_t j = 0; j < n; j++)
    if (!(limits->numbers[j] <= limits->numbers[n + j])) return false;
  return true;
}

bool gpnn_limits_has(const struct gpnn_learnt *limits, size_t j)
{
  return limits->numbers != NULL &&
         (limits->numbers[j] > -DBL_MAX || limits->numbers[limits->n_features + j] < DBL_MAX);
}

double gpnn_limits_clip(const struct gpnn_learnt *limits, size_t j, double value)
{
  if (limits->numbers == NULL) return value;
  return fmin(fmax(value, limits->numbers[j]), limits->numbers[limits->n_features + j]);
}

double gpnn_limits_replace(const struct gpnn_learnt *limits, size_t j, double value)
{
  if (limits->numbers == NULL) return value;
  double lower = limits->numbers[j], upper = limits->numbers[limits->n_features + j];
  return value >= lower && value <= upper ? value : lower / 2 + upper / 2;
}

void gpnn_outlier_columns_release(struct gpnn_outlier_columns *outliers)
{
  free(outliers->of);
  *outliers = (struct gpnn_outlier_columns){0};
}
