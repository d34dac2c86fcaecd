/*
 * From observations to a grid: levels in order, cells sorted, their means, everything standardised
 * (gpnn-methods-grid(7), equations 16.10 to 16.12).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/grid/grid_private.h"
#include "stats/moments.h"
#include "stats/row_source.h"
#include "stats/sum.h"

/* ---- levels -------------------------------------------------------------------------------- */

struct placed {
  double x;
  uint32_t level;
};

static int compare_places(const void *a, const void *b)
{
  const struct placed *p = a, *q = b;
  return (p->x > q->x) - (p->x < q->x);
}

/* Numbers the levels of an axis with a single column in ascending order: 'number' becomes the new
 * number of each level. */
static enum gpnn_status sort_levels(struct gpnn_grid_axis *axis, uint32_t *number,
                                    struct gpnn_error *err)
{
  struct placed *places = gpnn_alloc(axis->n, 1, sizeof *places);
  if (places == NULL) return gpnn_fail_memory(err, "for the levels of a grid");
  for (size_t l = 0; l < axis->n; l++) places[l] = (struct placed){axis->x[l], (uint32_t)l};
  qsort(places, axis->n, sizeof *places, compare_places); /* no two are equal */
  for (size_t l = 0; l < axis->n; l++) {
    axis->x[l] = places[l].x;
    number[places[l].level] = (uint32_t)l;
  }
  free(places);
  return GPNN_OK;
}

/* Puts the levels of axis 'a' in order, and gives the observations their numbers. */
static enum gpnn_status order_levels(struct gpnn_grid_reading *reading, size_t a,
                                     struct gpnn_error *err)
{
  struct gpnn_grid_axis *axis = &reading->axis[a];
  if (axis->has_names || axis->n_columns > 1) return GPNN_OK;
  uint32_t *number = gpnn_alloc(axis->n, 1, sizeof *number);
  if (number == NULL) return gpnn_fail_memory(err, "for the levels of a grid");
  enum gpnn_status status = sort_levels(axis, number, err);
  for (size_t i = 0; i < reading->n && status == GPNN_OK; i++) {
    uint32_t *level = &reading->levels[i * reading->n_axes + a];
    *level = number[*level];
  }
  free(number);
  return status;
}

/* A grid needs at least two levels of each factor. */
static enum gpnn_status check_levels(const struct gpnn_grid_reading *reading, const char *name,
                                     struct gpnn_error *err)
{
  size_t size = 1;
  bool fits = true;
  for (size_t a = 0; a < reading->n_axes; a++) {
    const struct gpnn_grid_axis *axis = &reading->axis[a];
    fits = fits && gpnn_multiply(size, axis->n, &size);
    if (axis->n == 0) return gpnn_fail(err, GPNN_EDATA, "%s: has no rows", name);
    if (axis->n == 1)
      return gpnn_fail(err, GPNN_EDATA,
                       "%s: has one %s only, but a grid needs two of each factor: leave out what "
                       "does not vary, and use gpnn-index if one factor is left",
                       name, axis->name);
  }
  if (!fits || size > INT64_MAX / 16)
    return gpnn_fail(err, GPNN_EDATA, "%s: the grid has more cells than can be numbered", name);
  return GPNN_OK;
}

/* ---- cells --------------------------------------------------------------------------------- */

struct observation {
  int64_t cell;
  double y;
};

/* Sorts observations by one digit of their cells' numbers, those with the same staying in order. */
static void sort_by_digit(size_t n, const struct observation *from, struct observation *to,
                          int64_t stride, int64_t base, size_t *start)
{
  memset(start, 0, ((size_t)base + 1) * sizeof *start);
  for (size_t i = 0; i < n; i++) start[from[i].cell / stride % base + 1]++;
  for (int64_t l = 0; l < base; l++) start[l + 1] += start[l];
  for (size_t i = 0; i < n; i++) to[start[from[i].cell / stride % base]++] = from[i];
}

static bool are_sorted(size_t n, const struct observation *observations)
{
  for (size_t i = 1; i < n; i++)
    if (observations[i].cell < observations[i - 1].cell) return false;
  return true;
}

/* Sorts by the level of one factor after another, from the last; '*other' has room for as many, and
 * is what '*sorted' was in the end if the number of factors is odd. */
static enum gpnn_status sort_cells(const struct gpnn_grid_reading *reading,
                                   struct observation **sorted, struct observation **other,
                                   struct gpnn_error *err)
{
  size_t most = 0;
  int64_t stride = 1;
  if (are_sorted(reading->n, *sorted)) return GPNN_OK;
  for (size_t a = 0; a < reading->n_axes; a++)
    if (reading->axis[a].n > most) most = reading->axis[a].n;
  *other = gpnn_alloc(reading->n, 1, sizeof **other);
  size_t *start = gpnn_alloc(most + 1, 1, sizeof *start);
  if (*other == NULL || start == NULL) {
    free(start);
    return gpnn_fail_memory(err, "for the observations of a grid");
  }
  for (size_t a = reading->n_axes; a-- > 0;) {
    int64_t base = (int64_t)reading->axis[a].n;
    struct observation *swap = *sorted;
    sort_by_digit(reading->n, *sorted, *other, stride, base, start);
    *sorted = *other;
    *other = swap;
    stride *= base;
  }
  free(start);
  return GPNN_OK;
}

/* The observations with the numbers of their cells, in ascending order, in place of levels and
 * targets. */
static enum gpnn_status number_cells(struct gpnn_grid_reading *reading,
                                     struct observation **observations, struct gpnn_error *err)
{
  size_t axes = reading->n_axes;
  struct observation *sorted = gpnn_alloc(reading->n, 1, sizeof *sorted), *other = NULL;
  if (sorted == NULL) return gpnn_fail_memory(err, "for the observations of a grid");
  for (size_t i = 0; i < reading->n; i++) {
    int64_t cell = 0;
    for (size_t a = 0; a < axes; a++)
      cell = cell * (int64_t)reading->axis[a].n + reading->levels[i * axes + a];
    sorted[i] = (struct observation){cell, reading->y[i]};
  }
  free(reading->levels);
  reading->levels = NULL;
  enum gpnn_status status = sort_cells(reading, &sorted, &other, err);
  free(other);
  if (status == GPNN_OK)
    *observations = sorted;
  else
    free(sorted);
  return status;
}

/* The mean of the observations of a cell, in standard units, and what they deviate from it. */
static double average(const struct gpnn_scaling *scaling, size_t n,
                      const struct observation *observations, struct gpnn_sum *within)
{
  struct gpnn_sum sum = {0};
  for (size_t i = 0; i < n; i++)
    gpnn_sum_add(&sum, (observations[i].y - scaling->y_mean) / scaling->y_sd);
  double mean = gpnn_sum_mean(&sum, n);
  for (size_t i = 0; i < n && n > 1; i++) {
    double deviation = (observations[i].y - scaling->y_mean) / scaling->y_sd - mean;
    gpnn_sum_add(within, deviation * deviation);
  }
  return mean;
}

/* Merges observations of the same cell (16.11). */
static enum gpnn_status merge_cells(struct gpnn_grid_reading *reading,
                                    const struct observation *observations, const char *name,
                                    struct gpnn_error *err)
{
  struct gpnn_grid *grid = &reading->grid;
  struct gpnn_sum within = {0};
  size_t n_cells = 0, n = reading->n;
  for (size_t i = 0; i < n; i++)
    n_cells += i == 0 || observations[i].cell != observations[i - 1].cell;
  if (n_cells < 2) return gpnn_fail(err, GPNN_EDATA, "%s: has observations in one cell only", name);
  reading->cell = gpnn_alloc(n_cells, 1, sizeof *reading->cell);
  reading->counts = gpnn_alloc(n_cells, 1, sizeof *reading->counts);
  if (reading->cell == NULL || reading->counts == NULL)
    return gpnn_fail_memory(err, "for the cells of a grid");
  for (size_t i = 0, c = 0, next; i < n; i = next, c++) {
    for (next = i + 1; next < n && observations[next].cell == observations[i].cell;) next++;
    reading->cell[c] = observations[i].cell;
    reading->counts[c] = (uint32_t)(next - i);
    reading->y[c] = average(&reading->dataset.scaling, next - i, observations + i, &within);
  }
  grid->n_cells = n_cells;
  grid->cell = reading->cell;
  grid->y = reading->y;
  grid->counts = n_cells < n ? reading->counts : NULL;
  grid->within = within.sum + within.compensation;
  grid->n_observations = n;
  return GPNN_OK;
}

/* Counts the levels of each axis that have no observation. */
static enum gpnn_status count_empty(struct gpnn_grid_reading *reading, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = &reading->grid;
  size_t level[GPNN_GRID_MOST_FACTORS], n_levels = 0, at = 0;
  for (size_t a = 0; a < reading->n_axes; a++) n_levels += reading->axis[a].n;
  bool *seen = gpnn_alloc(n_levels, 1, sizeof *seen);
  if (seen == NULL) return gpnn_fail_memory(err, "for the levels of a grid");
  for (size_t c = 0; c < grid->n_cells; c++) {
    gpnn_grid_levels(grid, grid->cell[c], level);
    at = 0;
    for (size_t a = 0; a < reading->n_axes; at += reading->axis[a++].n) seen[at + level[a]] = true;
  }
  at = 0;
  for (size_t a = 0; a < reading->n_axes; at += reading->axis[a++].n) {
    reading->axis[a].n_empty = 0;
    for (size_t l = 0; l < reading->axis[a].n; l++) reading->axis[a].n_empty += !seen[at + l];
  }
  free(seen);
  return GPNN_OK;
}

/* ---- standardisation ----------------------------------------------------------------------- */

/* Rows in memory, as a source. */
struct rows {
  size_t width;
  const double *values;
};

static enum gpnn_status read_rows(void *context, size_t from, size_t count, double *rows,
                                  struct gpnn_error *err)
{
  const struct rows *all = context;
  (void)err;
  memcpy(rows, all->values + from * all->width, count * all->width * sizeof *rows);
  return GPNN_OK;
}

static enum gpnn_status learn(size_t n, size_t width, const double *values,
                              struct gpnn_moments *moments, struct gpnn_error *err)
{
  struct rows rows = {width, values};
  const struct gpnn_row_source source = {n, width, read_rows, &rows, 1, NULL};
  return gpnn_moments_learn(&source, width, moments, err);
}

/* Finds the observation farthest from the mean of all. */
static void find_outlier(struct gpnn_grid_reading *reading)
{
  double most = -1;
  const struct gpnn_scaling *scaling = &reading->dataset.scaling;
  for (size_t i = 0; i < reading->n; i++) {
    double z = (reading->y[i] - scaling->y_mean) / scaling->y_sd;
    if (z * z <= most) continue;
    most = z * z;
    reading->outlier = reading->y[i];
  }
  reading->outlier_fraction = most / (double)reading->n;
}

/* Mean and sd of the target, over all observations. */
static enum gpnn_status standardise_target(struct gpnn_grid_reading *reading, const char *name,
                                           struct gpnn_error *err)
{
  struct gpnn_moments moments = {0};
  char shown[GPNN_MASK_BYTES];
  if (reading->n < 2)
    return gpnn_fail(err, GPNN_EDATA, "%s: has %zu observation%s, but a grid needs at least 2",
                     name, reading->n, reading->n == 1 ? "" : "s");
  enum gpnn_status status = learn(reading->n, 1, reading->y, &moments, err);
  if (status != GPNN_OK) return status;
  gpnn_schema_column_name(&reading->dataset.schema.target, shown);
  if (moments.sd == 0)
    return gpnn_fail(err, GPNN_EDATA, "%s: the target '%s' is constant: nothing can be learnt",
                     name, shown);
  if (!isfinite(moments.sd))
    return gpnn_fail(err, GPNN_EDATA,
                     "%s: the target '%s': differences between its values overflow", name, shown);
  reading->dataset.scaling.y_mean = moments.mean;
  reading->dataset.scaling.y_sd = moments.sd;
  find_outlier(reading);
  return GPNN_OK;
}

/* Factors whose coordinates are scaled: sites, and whatever has several columns. */
static bool is_scaled(const struct gpnn_grid_axis *axis)
{
  return !axis->has_names && (axis->n_columns > 1 || strcmp(axis->name, "site") == 0);
}

/* True if the levels of an axis of one column that is not scaled are so large that differences of
 * one are lost: no times, whatever their unit. */
static bool is_wild(const struct gpnn_grid_axis *axis)
{
  static const double most = 1e15;
  bool is_wild = false;
  if (axis->has_names || is_scaled(axis)) return false;
  for (size_t l = 0; l < axis->n; l++) is_wild |= fabs(axis->x[l]) > most;
  return is_wild;
}

/* Learns the scaling of the columns of an axis over its levels (16.10). */
static enum gpnn_status learn_scaling(struct gpnn_grid_reading *reading,
                                      const struct gpnn_grid_axis *axis, const char *name,
                                      struct gpnn_error *err)
{
  struct gpnn_scaling *scaling = &reading->dataset.scaling;
  char shown[GPNN_MASK_BYTES];
  struct gpnn_moments *moments = gpnn_alloc(axis->n_columns, 1, sizeof *moments);
  if (moments == NULL) return gpnn_fail_memory(err, "for the scaling of a grid");
  enum gpnn_status status =
      is_scaled(axis) ? learn(axis->n, axis->n_columns, axis->x, moments, err) : GPNN_OK;
  for (size_t j = 0; j < axis->n_columns && status == GPNN_OK; j++) {
    size_t column = axis->first + j;
    double sd = is_scaled(axis) ? moments[j].sd : 1;
    if (!isfinite(sd) || (sd > 0 && !isfinite(1 / sd)) || is_wild(axis))
      status =
          gpnn_fail(err, GPNN_EDATA,
                    "%s: column '%s': its values are too large, or too close to each other, "
                    "to be coordinates: is one a slip?",
                    name, gpnn_schema_column_name(&reading->dataset.schema.inputs[column], shown));
    scaling->mean[column] = is_scaled(axis) ? moments[j].mean : 0;
    scaling->weight[column] = sd > 0 ? 1 / sd : 0;
    scaling->n_out += sd > 0;
  }
  free(moments);
  return status;
}

/* Standardises the levels of axis 'a' as rows will be, leaving out columns that do not vary. */
static enum gpnn_status scale_levels(struct gpnn_grid_reading *reading, size_t a,
                                     struct gpnn_error *err)
{
  struct gpnn_grid_axis *axis = &reading->axis[a];
  const struct gpnn_scaling *scaling = &reading->dataset.scaling;
  const double *mean = scaling->mean + axis->first, *weight = scaling->weight + axis->first;
  size_t kept = 0;
  enum gpnn_status status = gpnn_grid_reading_grow(axis, axis->n, err);
  if (status != GPNN_OK) return status;
  for (size_t l = 0; l < axis->n; l++)
    for (size_t j = 0; j < axis->n_columns; j++) {
      double x = axis->has_names ? (double)l : axis->x[l * axis->n_columns + j];
      if (weight[j] != 0) axis->x[kept++] = (x - mean[j]) * weight[j];
    }
  reading->factor[a] = (struct gpnn_grid_factor){.name = axis->name,
                                                 .n = axis->n,
                                                 .n_columns = axis->n_columns,
                                                 .d = kept / axis->n,
                                                 .x = axis->x};
  if (axis->has_names)
    reading->factor[a].labels =
        (const char *const *)reading->dataset.schema.inputs[axis->first].levels;
  return GPNN_OK;
}

static enum gpnn_status standardise(struct gpnn_grid_reading *reading, const char *name,
                                    struct gpnn_error *err)
{
  struct gpnn_scaling *scaling = &reading->dataset.scaling;
  size_t n = reading->dataset.schema.n_inputs;
  scaling->method = GPNN_SCALING_SCALE;
  scaling->n_in = n;
  scaling->mean = gpnn_alloc(n, 1, sizeof *scaling->mean);
  scaling->weight = gpnn_alloc(n, 1, sizeof *scaling->weight);
  if (scaling->mean == NULL || scaling->weight == NULL)
    return gpnn_fail_memory(err, "for the scaling of a grid");
  enum gpnn_status status = standardise_target(reading, name, err);
  for (size_t a = 0; a < reading->n_axes && status == GPNN_OK; a++)
    status = learn_scaling(reading, &reading->axis[a], name, err);
  for (size_t a = 0; a < reading->n_axes && status == GPNN_OK; a++)
    status = scale_levels(reading, a, err);
  return status;
}

enum gpnn_status gpnn_grid_reading_finish(struct gpnn_grid_reading *reading, const char *name,
                                          struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &reading->dataset;
  struct observation *observations = NULL;
  enum gpnn_status status = check_levels(reading, name, err);
  for (size_t a = 0; a < reading->n_axes && status == GPNN_OK; a++)
    status = order_levels(reading, a, err);
  if (status == GPNN_OK) status = standardise(reading, name, err);
  if (status == GPNN_OK) status = number_cells(reading, &observations, err);
  reading->grid.n_factors = reading->n_axes;
  reading->grid.factor = reading->factor;
  if (status == GPNN_OK) status = merge_cells(reading, observations, name, err);
  free(observations);
  if (status == GPNN_OK) status = count_empty(reading, err);
  if (status != GPNN_OK) return status;
  dataset->n = reading->grid.n_cells;
  dataset->d = dataset->scaling.n_out;
  dataset->y = reading->grid.y;
  dataset->grid = &reading->grid;
  return GPNN_OK;
}
