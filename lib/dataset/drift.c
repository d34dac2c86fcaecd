#include "dataset/drift.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dataset/missing.h"
#include "dataset/scores.h"
#include "stats/distributions/binomial.h"
#include "stats/distributions/normal.h"

static const double chance = 1e-6;

/* Takes levels from the knots of score number 'j', of values or of the scores themselves. */
static void set_levels(struct gpnn_drift_column *column, const struct gpnn_dataset *dataset,
                       size_t j, bool is_score)
{
  size_t n = gpnn_scores_knots(dataset->scores, j);
  const double *knot = dataset->scores->knots + 2 * dataset->scores->first[j];
  double unit = gpnn_scores_unit(dataset);
  column->n_levels = n < GPNN_DRIFT_LEVELS ? n : GPNN_DRIFT_LEVELS;
  for (size_t k = 0; k < column->n_levels; k++) {
    const double *at = knot + 2 * (k * (n - 1) / (column->n_levels - 1));
    column->level[k] = at[is_score];
    column->share[k] = gpnn_normal_cdf(at[1] / unit);
  }
  column->margin = knot[2 * (n - 1) + is_score] - knot[is_score];
}

enum gpnn_status gpnn_drift_init(struct gpnn_drift *drift, const struct gpnn_dataset *dataset,
                                 struct gpnn_error *err)
{
  size_t j = 0; /* the coordinate that has no scores beside it */
  if (dataset->coordinates == NULL || dataset->scores == NULL) return GPNN_OK;
  drift->columns = gpnn_alloc(dataset->d, 1, sizeof *drift->columns);
  if (drift->columns == NULL) return gpnn_fail_memory(err, "for the columns");
  for (size_t c = 0; c < dataset->d; c++) {
    const struct gpnn_coordinate *coordinate = &dataset->coordinates[c];
    bool is_seen_twice = c > 0 && coordinate->is_score && !coordinate[-1].is_score &&
                         coordinate[-1].feature == coordinate->feature;
    if (is_seen_twice) continue;
    bool is_date = dataset->schema.inputs[coordinate->input].date != NULL;
    if (!is_date && gpnn_scores_has(dataset->scores, j)) {
      struct gpnn_drift_column *column = &drift->columns[drift->n++];
      *column = (struct gpnn_drift_column){.coordinate = c, .input = coordinate->input};
      size_t lacking = dataset->lacks == NULL ? 0 : gpnn_missing_rows(dataset, coordinate->input);
      column->lacking = (double)lacking / (double)dataset->n;
      set_levels(column, dataset, j, coordinate->is_score);
    }
    j++;
  }
  return GPNN_OK;
}

static void add_value(struct gpnn_drift_column *column, double value)
{
  size_t low = 0, high = column->n_levels, last = high - 1;
  column->n++;
  if (isnan(value)) {
    column->n_missing++;
    return;
  }
  column->n_outside +=
      value < column->level[0] - column->margin || value > column->level[last] + column->margin;
  while (low < high) { /* the first level that is not below the value */
    size_t middle = low + (high - low) / 2;
    if (column->level[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  column->n_at[2 * low + (low < column->n_levels && column->level[low] == value)]++;
}

void gpnn_drift_add(struct gpnn_drift *drift, const double *x)
{
  for (size_t i = 0; i < drift->n; i++)
    add_value(&drift->columns[i], x[drift->columns[i].coordinate]);
}

/* The largest difference between shares below a level. */
static double largest_difference(const struct gpnn_drift_column *column)
{
  double below = 0, largest = 0, n = (double)(column->n - column->n_missing);
  for (size_t k = 0; k < column->n_levels; k++) {
    double equal = (double)column->n_at[2 * k + 1];
    below += (double)column->n_at[2 * k];
    largest = fmax(largest, fabs((below + equal / 2) / n - column->share[k]));
    below += equal;
  }
  return largest;
}

enum gpnn_drift_kind gpnn_drift_of(const struct gpnn_drift_column *column, double *share)
{
  const double usual = 1.0 / 3, few = 0.01, beyond_knots = 2.7e-3;
  size_t n = column->n - column->n_missing;
  double bound = sqrt(log(2 / chance) / 2);
  *share = (double)column->n_missing / (double)column->n;
  if (*share > column->lacking + usual + bound / sqrt((double)column->n)) return GPNN_DRIFT_MISSING;
  if (n == 0) return GPNN_DRIFT_NONE;
  *share = (double)column->n_outside / (double)n;
  if (*share > few && column->n_outside > gpnn_binomial_quantile(n, beyond_knots, 1 - chance))
    return GPNN_DRIFT_OUTSIDE;
  *share = largest_difference(column);
  return *share > usual + bound / sqrt((double)n) ? GPNN_DRIFT_MOVED : GPNN_DRIFT_NONE;
}

void gpnn_drift_release(struct gpnn_drift *drift)
{
  free(drift->columns);
  *drift = (struct gpnn_drift){0};
}
