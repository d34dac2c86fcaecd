#include "explain/effect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "explain/surrogate.h"
#include "linalg/arrays.h"
#include "models/joint.h"

/* Rows that have a value, and the values that are looked at. */
struct job {
  const struct gpnn_model *model;
  const struct gpnn_dataset *dataset;
  struct gpnn_axis *axis;
  const struct gpnn_effect_options *options;
  size_t n;        /* rows */
  size_t *row;     /* n: of training */
  double *value;   /* n */
  size_t n_values; /* > 1 */
  double *grid;    /* n_values, rising */
  /* The same of a second column; without one its only place is 0. */
  struct gpnn_axis *second;
  double *second_value, *second_grid;
  size_t n_seconds;
  /* A member of a step is a row that is changed from grid[step] to grid[step + 1]: points 2 a and
   * 2 a + 1 of member a.  Without steps, point v n + i is row i at place v of the surface: with
   * grid[v / n_seconds] and second_grid[v % n_seconds]. */
  size_t n_members;
  size_t *member, *step; /* number of the row, and of the step; 2 n of each */
  struct gpnn_surrogate surrogate;
  struct gpnn_arrays *arrays; /* owned; those above */
};

static size_t n_places(const struct job *job)
{
  return job->n_values * job->n_seconds;
}

static bool is_stepwise(const struct job *job)
{
  return job->options->kind == GPNN_EFFECT_ALE;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The most values of an axis. */
static size_t most_values(const struct job *job, const struct gpnn_axis *axis)
{
  if (axis == NULL) return 1;
  return axis->kind == GPNN_AXIS_LEVELS ? axis->n_levels : job->options->n_values;
}

/* How many rows there may be for the draws of all points to be exact; of a surface, four times as
 * many. */
static size_t usual_rows(const struct job *job)
{
  static const size_t surface = 4;
  bool has_levels = job->axis->kind == GPNN_AXIS_LEVELS;
  size_t n_values = most_values(job, job->axis) * most_values(job, job->second);
  size_t of_each = !is_stepwise(job) ? n_values : has_levels ? 4 : 2;
  size_t most = GPNN_JOINT_WHOLE * (job->second != NULL ? surface : 1) / of_each;
  return most > 0 ? most : 1;
}

static enum gpnn_status draw_rows(struct job *job, struct gpnn_error *err)
{
  size_t wanted = job->options->n_rows > 0 ? job->options->n_rows : usual_rows(job);
  size_t n = wanted < job->dataset->n ? wanted : job->dataset->n;
  struct gpnn_rng rng;
  uint64_t *drawn = gpnn_alloc(n, 1, sizeof *drawn);
  job->arrays = GPNN_ARRAYS(GPNN_ARRAY(job->row, n, 1), GPNN_ARRAY(job->value, n, 1),
                            GPNN_ARRAY(job->grid, most_values(job, job->axis), 1),
                            GPNN_ARRAY(job->second_value, n, 1),
                            GPNN_ARRAY(job->second_grid, most_values(job, job->second), 1),
                            GPNN_ARRAY(job->member, n, 2), GPNN_ARRAY(job->step, n, 2));
  gpnn_rng_init(&rng, job->options->seed, GPNN_RNG_EFFECT);
  enum gpnn_status status = drawn != NULL && job->arrays != NULL
                                ? gpnn_rng_sample(&rng, job->dataset->n, n, drawn, err)
                                : gpnn_fail_memory(err, "for the rows of an effect");
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    double value = gpnn_axis_value(job->axis, (size_t)drawn[i]);
    double other = job->second == NULL ? 0 : gpnn_axis_value(job->second, (size_t)drawn[i]);
    if (isnan(value) || isnan(other)) continue;
    job->row[job->n] = (size_t)drawn[i];
    job->second_value[job->n] = other;
    job->value[job->n++] = value;
  }
  free(drawn);
  return status;
}

/* Puts into the grid, of sorted values, all that differ or, of a category or where there are too
 * many of them, quantiles; returns how many. */
static size_t fill_grid(const struct job *job, const struct gpnn_axis *axis, const double *sorted,
                        double *grid)
{
  size_t wanted = job->options->n_values, n_different = 1, n = 0;
  for (size_t i = 1; i < job->n; i++) n_different += sorted[i] > sorted[i - 1];
  if (axis->kind == GPNN_AXIS_LEVELS || n_different <= wanted) wanted = job->n;
  for (size_t q = 0; q < wanted; q++) {
    size_t at = wanted < 2 ? 0 : (q * (job->n - 1) + (wanted - 1) / 2) / (wanted - 1);
    if (q == 0 || sorted[at] > grid[n - 1]) grid[n++] = sorted[at];
  }
  return n;
}

/* Chooses the values of a column that are looked at: 'grid', '*n' of them. */
static enum gpnn_status choose_grid(const struct job *job, const struct gpnn_axis *axis,
                                    const double *value, double *grid, size_t *n,
                                    struct gpnn_error *err)
{
  double *sorted = gpnn_alloc(job->n, 1, sizeof *sorted);
  if (sorted == NULL) return gpnn_fail_memory(err, "for the values of an effect");
  for (size_t i = 0; i < job->n; i++) sorted[i] = value[i];
  qsort(sorted, job->n, sizeof *sorted, gpnn_compare_doubles);
  *n = job->n > 0 ? fill_grid(job, axis, sorted, grid) : 0;
  free(sorted);
  if (*n > 1) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA, "column '%s': %s", axis->column->name,
                   job->n == 0 ? "no training row has a value that is known"
                               : "it has the same value in all rows that are looked at");
}

static enum gpnn_status choose_grids(struct job *job, struct gpnn_error *err)
{
  enum gpnn_status status = choose_grid(job, job->axis, job->value, job->grid, &job->n_values, err);
  job->n_seconds = 1;
  job->second_grid[0] = 0;
  if (status != GPNN_OK || job->second == NULL) return status;
  return choose_grid(job, job->second, job->second_value, job->second_grid, &job->n_seconds, err);
}

/* The number of the first value of the grid that is not below 'value'. */
static size_t place_of(const struct job *job, double value)
{
  size_t v = 0;
  while (v + 1 < job->n_values && job->grid[v] < value) v++;
  return v;
}

/* Lists who takes which step: a row the one that leads past its value, or of a category those to
 * and from its level. */
static void list_members(struct job *job)
{
  bool has_levels = job->axis->kind == GPNN_AXIS_LEVELS;
  for (size_t i = 0; i < job->n; i++) {
    size_t v = place_of(job, job->value[i]);
    if (v > 0 || !has_levels) {
      job->member[job->n_members] = i;
      job->step[job->n_members++] = v > 0 ? v - 1 : 0;
    }
    if (has_levels && v + 1 < job->n_values) {
      job->member[job->n_members] = i;
      job->step[job->n_members++] = v;
    }
  }
}

/* ---- points ---------------------------------------------------------------------------------- */

/* Makes point 'p' row number 'i' with this value and, of a surface, this one of the second column.
 */
static void set_point(struct job *job, size_t p, size_t i, double value, double second)
{
  const struct gpnn_dataset *dataset = job->dataset;
  size_t d = dataset->d, q = dataset->n_regressors;
  double *x = job->surrogate.x + p * d, *regressors = NULL;
  memcpy(x, dataset->x + job->row[i] * d, d * sizeof *x);
  if (job->surrogate.regressors != NULL) {
    regressors = job->surrogate.regressors + p * q;
    memcpy(regressors, dataset->regressors + job->row[i] * q, q * sizeof *regressors);
  }
  gpnn_axis_set(job->axis, value, x, regressors);
  if (job->second != NULL) gpnn_axis_set(job->second, second, x, regressors);
}

static enum gpnn_status evaluate(struct job *job, struct gpnn_error *err)
{
  size_t n = is_stepwise(job) ? 2 * job->n_members : n_places(job) * job->n;
  enum gpnn_status status =
      gpnn_surrogate_new(&job->surrogate, job->model, n, job->options->n_draws, err);
  if (status != GPNN_OK) return status;
  for (size_t a = 0; a < job->n_members; a++)
    for (size_t side = 0; side < 2; side++)
      set_point(job, 2 * a + side, job->member[a], job->grid[job->step[a] + side], 0);
  for (size_t v = 0; v < n_places(job) && !is_stepwise(job); v++)
    for (size_t i = 0; i < job->n; i++)
      set_point(job, v * job->n + i, i, job->grid[v / job->n_seconds],
                job->second_grid[v % job->n_seconds]);
  return gpnn_surrogate_evaluate(&job->surrogate, job->model, job->options->seed, err);
}

/* ---- averages -------------------------------------------------------------------------------- */

/* Values of the function at the points: 'stride' apart. */
struct values {
  const double *of;
  size_t stride;
};

static double at(const struct values *values, size_t p)
{
  return values->of[p * values->stride];
}

/* How often what is averaged over counts, and scratch. */
struct sample {
  size_t n;       /* members or, where there are no steps, rows */
  double *times;  /* n: of their steps, or of all rows */
  double *rows;   /* job.n: in the centre */
  size_t *chosen; /* n */
  double *share;  /* n_values */
};

/* Accumulates the mean differences of the steps and centres them: 'effect' (n_values). */
static void accumulate(const struct job *job, const struct values *values,
                       const struct sample *sample, double *effect)
{
  size_t n = job->n_values;
  double centre = 0, *share = sample->share;
  memset(effect, 0, n * sizeof *effect);
  memset(share, 0, n * sizeof *share);
  for (size_t a = 0; a < job->n_members; a++) {
    effect[job->step[a] + 1] += sample->times[a] * (at(values, 2 * a + 1) - at(values, 2 * a));
    share[job->step[a] + 1] += sample->times[a];
  }
  for (size_t v = 1; v < n; v++)
    effect[v] = effect[v - 1] + (share[v] > 0 ? effect[v] / share[v] : 0);
  for (size_t i = 0; i < job->n; i++) {
    size_t v = place_of(job, job->value[i]);
    size_t before = job->axis->kind == GPNN_AXIS_LEVELS ? v : v > 0 ? v - 1 : v++;
    centre += sample->rows[i] * (effect[before] + effect[v]) / 2 / (double)job->n;
  }
  for (size_t v = 0; v < n; v++) effect[v] -= centre;
}

static void average(const struct job *job, const struct values *values, const struct sample *sample,
                    double *effect)
{
  for (size_t v = 0; v < n_places(job); v++) {
    effect[v] = 0;
    for (size_t i = 0; i < job->n; i++)
      effect[v] += sample->times[i] * at(values, v * job->n + i) / (double)job->n;
  }
}

static void summarise(const struct job *job, const struct values *values,
                      const struct sample *sample, double *effect)
{
  if (is_stepwise(job))
    accumulate(job, values, sample, effect);
  else
    average(job, values, sample, effect);
}

/* Resamples rows and, within their steps, members. */
static void resample_all(const struct job *job, size_t draw, struct sample *sample)
{
  struct gpnn_rng rng;
  size_t n_steps = is_stepwise(job) ? job->n_values - 1 : 1;
  gpnn_rng_init_at(&rng, job->options->seed, GPNN_RNG_EFFECT, draw + 1);
  memset(sample->times, 0, sample->n * sizeof *sample->times);
  memset(sample->rows, 0, job->n * sizeof *sample->rows);
  for (size_t s = 0; s < n_steps; s++) {
    size_t m = 0;
    for (size_t a = 0; a < sample->n; a++)
      if (!is_stepwise(job) || job->step[a] == s) sample->chosen[m++] = a;
    for (size_t k = 0; k < m; k++) sample->times[sample->chosen[gpnn_rng_below(&rng, m)]] += 1;
  }
  for (size_t k = 0; k < job->n; k++) sample->rows[gpnn_rng_below(&rng, job->n)] += 1;
}

/* ---- results --------------------------------------------------------------------------------- */

/* How many rows count at value 'v'. */
static size_t rows_at(const struct job *job, size_t v)
{
  size_t n = 0;
  if (!is_stepwise(job)) return job->n;
  if (job->axis->kind == GPNN_AXIS_LEVELS) {
    for (size_t i = 0; i < job->n; i++) n += job->value[i] == job->grid[v];
    return n;
  }
  for (size_t a = 0; a < job->n_members; a++) n += job->step[a] + 1 == v;
  return n;
}

/* The averages, with intervals of those of all draws. */
static enum gpnn_status find_averages(const struct job *job, struct gpnn_effect_point *points,
                                      struct gpnn_error *err)
{
  size_t n_values = n_places(job), n_draws = job->options->n_draws;
  struct sample sample = {.n = is_stepwise(job) ? job->n_members : job->n};
  double *effect = NULL, *all = NULL;
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY(sample.times, sample.n, 1), GPNN_ARRAY(sample.rows, job->n, 1),
                  GPNN_ARRAY(sample.chosen, sample.n, 1), GPNN_ARRAY(sample.share, n_values, 1),
                  GPNN_ARRAY(effect, n_values, 1), GPNN_ARRAY(all, n_values, n_draws));
  if (arrays == NULL) return gpnn_fail_memory(err, "for an effect");
  for (size_t a = 0; a < sample.n; a++) sample.times[a] = 1;
  for (size_t i = 0; i < job->n; i++) sample.rows[i] = 1;
  summarise(job, &(struct values){job->surrogate.mean, 1}, &sample, effect);
  for (size_t v = 0; v < n_values; v++)
    points[v] = (struct gpnn_effect_point){.value = job->grid[v / job->n_seconds],
                                           .second = job->second_grid[v % job->n_seconds],
                                           .effect = effect[v],
                                           .row = rows_at(job, v)};
  for (size_t k = 0; k < n_draws; k++) {
    resample_all(job, k, &sample);
    summarise(job, &(struct values){job->surrogate.draws + k, n_draws}, &sample, effect);
    for (size_t v = 0; v < n_values; v++) all[v * n_draws + k] = effect[v];
  }
  for (size_t v = 0; v < n_values; v++)
    gpnn_surrogate_interval(n_draws, all + v * n_draws, job->options->level, &points[v].lower,
                            &points[v].upper);
  gpnn_arrays_free(arrays);
  return GPNN_OK;
}

static void find_single(const struct job *job, struct gpnn_effect_point *points)
{
  size_t n_draws = job->options->n_draws;
  for (size_t i = 0; i < job->n; i++)
    for (size_t v = 0; v < job->n_values; v++) {
      struct gpnn_effect_point *point = &points[i * job->n_values + v];
      size_t p = v * job->n + i;
      *point = (struct gpnn_effect_point){
          .value = job->grid[v], .effect = job->surrogate.mean[p], .row = job->row[i]};
      gpnn_surrogate_interval(n_draws, job->surrogate.draws + p * n_draws, job->options->level,
                              &point->lower, &point->upper);
    }
}

enum gpnn_status gpnn_effect_find(struct gpnn_effect *effect, const struct gpnn_model *model,
                                  struct gpnn_axis *axis, struct gpnn_axis *second,
                                  const struct gpnn_effect_options *options, struct gpnn_error *err)
{
  struct job job = {.model = model,
                    .dataset = gpnn_model_channel(model, 0)->dataset,
                    .axis = axis,
                    .second = second,
                    .options = options};
  bool of_rows = options->kind == GPNN_EFFECT_ICE;
  enum gpnn_status status = draw_rows(&job, err);
  if (status == GPNN_OK) status = choose_grids(&job, err);
  if (status == GPNN_OK && is_stepwise(&job)) list_members(&job);
  if (status == GPNN_OK) status = evaluate(&job, err);
  size_t n = of_rows ? job.n * job.n_values : n_places(&job);
  struct gpnn_effect_point *points = gpnn_alloc(n, 1, sizeof *points);
  if (status == GPNN_OK && points == NULL) status = gpnn_fail_memory(err, "for an effect");
  if (status == GPNN_OK && of_rows) find_single(&job, points);
  if (status == GPNN_OK && !of_rows) status = find_averages(&job, points, err);
  gpnn_surrogate_release(&job.surrogate);
  gpnn_arrays_free(job.arrays);
  if (status == GPNN_OK)
    *effect = (struct gpnn_effect){n, points};
  else
    free(points);
  return status;
}
