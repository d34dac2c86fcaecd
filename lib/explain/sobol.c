#include "explain/sobol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "explain/axis.h"
#include "explain/surrogate.h"
#include "linalg/arrays.h"
#include "stats/halton.h"

/* A training row by its value in a column. */
struct placed {
  double value;
  size_t row;
};

struct job {
  const struct gpnn_model *model;
  const struct gpnn_dataset *dataset, *view;
  const struct gpnn_explain_columns *columns;
  size_t n; /* sets of columns whose indices are wanted: 'n_chosen', then pairs of these */
  size_t n_chosen;
  const struct gpnn_explain_group *const *chosen;
  const struct gpnn_sobol_options *options;
  double *u;                       /* n_rows by 2 n_all: A and B of all columns */
  struct placed *placed;           /* training rows that have a value, for one column at a time */
  size_t *times;                   /* n_rows: how often each pair counts */
  double n_counted;                /* their sum */
  double *first, *total;           /* n by n_draws */
  struct gpnn_surrogate surrogate; /* points A, then B, then A with each set wanted of B */
  struct gpnn_arrays *arrays;      /* owned; those above */
};

/* ---- points ---------------------------------------------------------------------------------- */

static bool is_seen(const struct job *job, const struct gpnn_explain_column *column)
{
  return column->n > 0 || (job->surrogate.regressors != NULL && column->regressor != SIZE_MAX);
}

/* Sorts the training rows by their values on the axis, or takes them as they are where there is
 * none; returns how many have a value. */
static size_t place_rows(const struct job *job, const struct gpnn_axis *axis)
{
  size_t n = 0;
  for (size_t row = 0; row < job->dataset->n; row++) {
    double value = axis == NULL ? (double)row : gpnn_axis_value(axis, row);
    if (!isnan(value)) job->placed[n++] = (struct placed){value, row};
  }
  qsort(job->placed, n, sizeof *job->placed, gpnn_compare_doubles); /* by value */
  return n;
}

/* Gives point 'p' what a training row has in the column. */
static void copy_column(struct job *job, const struct gpnn_explain_column *column, size_t row,
                        size_t p)
{
  size_t d = job->dataset->d, q = job->dataset->n_regressors;
  for (size_t c = 0; c < column->n; c++)
    job->surrogate.x[p * d + column->coordinate[c]] =
        job->dataset->x[row * d + column->coordinate[c]];
  if (job->surrogate.regressors != NULL && column->regressor != SIZE_MAX)
    job->surrogate.regressors[p * q + column->regressor] =
        job->dataset->regressors[row * q + column->regressor];
}

/* Gives point 'p' the value at the quantile 'u' of a column's distribution; 'n' rows are placed. */
static void set_column(struct job *job, struct gpnn_axis *axis,
                       const struct gpnn_explain_column *column, size_t n, double u, size_t p)
{
  size_t d = job->dataset->d, q = job->dataset->n_regressors;
  double *x = job->surrogate.x + p * d, *regressors = job->surrogate.regressors;
  if (axis == NULL || job->options->inputs == GPNN_SOBOL_OWN) {
    copy_column(job, column, job->placed[(size_t)(u * (double)n)].row, p);
    return;
  }
  if (regressors != NULL) regressors += p * q;
  if (axis->kind == GPNN_AXIS_LEVELS) {
    double level = u * (double)axis->n_levels;
    gpnn_axis_set(axis, (double)(size_t)level, x, regressors);
    return;
  }
  double low = axis->kind == GPNN_AXIS_CIRCLE ? 0 : gpnn_axis_shown(axis, job->placed[0].value);
  double high = axis->kind == GPNN_AXIS_CIRCLE ? axis->period
                                               : gpnn_axis_shown(axis, job->placed[n - 1].value);
  gpnn_axis_set_shown(axis, low + u * (high - low), x, regressors);
}

static bool has(const struct gpnn_explain_group *group, const struct gpnn_explain_column *column)
{
  size_t g = 0;
  while (g < group->n && group->of[g] != column) g++;
  return g < group->n;
}

void gpnn_sobol_pair(size_t n, size_t k, size_t *left, size_t *right)
{
  *left = 0;
  for (size_t others = n - 1; k >= others; others--) {
    k -= others;
    ++*left;
  }
  *right = *left + 1 + k;
}

/* True if column is in set 'c'. */
static bool is_of_set(const struct job *job, size_t c, const struct gpnn_explain_column *column)
{
  size_t left, right;
  if (c < job->n_chosen) return has(job->chosen[c], column);
  gpnn_sobol_pair(job->n_chosen, c - job->n_chosen, &left, &right);
  return has(job->chosen[left], column) || has(job->chosen[right], column);
}

/* Gives all points their values of column 'c'; those for which B counts are B, and A with a set of
 * columns of B to which it belongs. */
static enum gpnn_status fill_column(struct job *job, size_t c, struct gpnn_error *err)
{
  const struct gpnn_explain_column *column = &job->columns->of[c];
  size_t n_rows = job->options->n_rows, width = 2 * job->columns->n;
  struct gpnn_axis axis = {0};
  struct gpnn_error why;
  if (!is_seen(job, column)) return GPNN_OK;
  enum gpnn_status status = gpnn_axis_init(&axis, job->dataset, job->view, column, &why);
  bool has_axis = status == GPNN_OK;
  if (status == GPNN_EDATA) status = GPNN_OK;
  size_t n = status == GPNN_OK ? place_rows(job, has_axis ? &axis : NULL) : 0;
  if (status != GPNN_OK && err != NULL) *err = why;
  for (size_t block = 0; block < 2 + job->n && n > 0; block++) {
    bool is_of_b = block == 1 || (block > 1 && is_of_set(job, block - 2, column));
    for (size_t k = 0; k < n_rows; k++)
      set_column(job, has_axis ? &axis : NULL, column, n,
                 job->u[k * width + (is_of_b ? job->columns->n : 0) + c], block * n_rows + k);
  }
  gpnn_axis_release(&axis);
  return status;
}

static enum gpnn_status make_room(struct job *job, struct gpnn_error *err)
{
  size_t n_rows = job->options->n_rows, n_draws = job->options->n_draws;
  if (job->n + 2 > GPNN_SOBOL_MOST / n_rows)
    return gpnn_fail(err, GPNN_EDATA,
                     "%zu indices from %zu rows need %zu points, and %d are the most: take fewer "
                     "columns (-x) or rows (-c)",
                     job->n, n_rows, (job->n + 2) * n_rows, GPNN_SOBOL_MOST);
  job->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(job->u, n_rows, 2 * job->columns->n),
                  GPNN_ARRAY(job->placed, job->dataset->n, 1), GPNN_ARRAY(job->times, n_rows, 1),
                  GPNN_ARRAY(job->first, job->n, n_draws), GPNN_ARRAY(job->total, job->n, n_draws));
  if (job->arrays == NULL) return gpnn_fail_memory(err, "for the points of indices");
  return gpnn_surrogate_new(&job->surrogate, job->model, (2 + job->n) * n_rows, n_draws, err);
}

static enum gpnn_status evaluate(struct job *job, struct gpnn_error *err)
{
  enum gpnn_status status = make_room(job, err);
  if (status == GPNN_OK)
    status = gpnn_halton_fill(job->options->n_rows, 2 * job->columns->n, job->options->seed, job->u,
                              err);
  for (size_t c = 0; c < job->columns->n && status == GPNN_OK; c++)
    status = fill_column(job, c, err);
  if (status != GPNN_OK) return status;
  return gpnn_surrogate_evaluate(&job->surrogate, job->model, job->options->seed, err);
}

/* ---- indices --------------------------------------------------------------------------------- */

static double value_of(const struct job *job, size_t block, size_t k, size_t draw)
{
  return job->surrogate.draws[(block * job->options->n_rows + k) * job->surrogate.n_draws + draw];
}

/* The variance of the function in a draw, at the points of two blocks. */
static double variance_of(const struct job *job, size_t p, size_t q, size_t draw)
{
  double mean = 0, sum = 0, n = 2 * job->n_counted;
  for (size_t k = 0; k < job->options->n_rows; k++)
    mean += (double)job->times[k] * (value_of(job, p, k, draw) + value_of(job, q, k, draw)) / n;
  for (size_t k = 0; k < job->options->n_rows; k++) {
    double left = value_of(job, p, k, draw) - mean, right = value_of(job, q, k, draw) - mean;
    sum += (double)job->times[k] * (left * left + right * right);
  }
  return sum / n;
}

/* Half the mean squared difference between the points of two blocks. */
static double difference(const struct job *job, size_t p, size_t q, size_t draw)
{
  double sum = 0;
  for (size_t k = 0; k < job->options->n_rows; k++) {
    double off = value_of(job, p, k, draw) - value_of(job, q, k, draw);
    sum += (double)job->times[k] * off * off;
  }
  return sum / (2 * job->n_counted);
}

/* Finds the indices of all sets in a draw: 'first', of pairs less those of each by itself, and
 * 'total' ('stride' apart); returns the variance. */
static double estimate(const struct job *job, size_t draw, size_t stride, double *first,
                       double *total)
{
  enum { A, B, SETS };
  double v = variance_of(job, A, B, draw);
  double chance = 1 - difference(job, A, B, draw) / v; /* A and B are independent */
  for (size_t c = 0; c < job->n; c++) {
    double both = variance_of(job, B, SETS + c, draw);
    total[c * stride] = difference(job, A, SETS + c, draw) / v;
    first[c * stride] =
        1 - difference(job, B, SETS + c, draw) / both - (1 - total[c * stride]) * chance;
  }
  for (size_t c = job->n_chosen; c < job->n; c++) {
    size_t left, right;
    gpnn_sobol_pair(job->n_chosen, c - job->n_chosen, &left, &right);
    first[c * stride] -= first[left * stride] + first[right * stride];
  }
  return v;
}

static void count_all(struct job *job)
{
  size_t n_rows = job->options->n_rows;
  for (size_t k = 0; k < n_rows; k++) job->times[k] = 1;
  job->n_counted = (double)n_rows;
}

/* Resamples stretches of points that follow each other, each of which is spread evenly: how much
 * single points differ would say nothing about an average over all. */
static void resample(struct job *job, size_t draw)
{
  enum { STRETCHES = 16 };
  size_t n_rows = job->options->n_rows, n = n_rows < STRETCHES ? n_rows : STRETCHES;
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, job->options->seed, GPNN_RNG_RESAMPLE, draw);
  memset(job->times, 0, n_rows * sizeof *job->times);
  job->n_counted = 0;
  for (size_t s = 0; s < n; s++) {
    size_t chosen = gpnn_rng_below(&rng, n);
    size_t begin = chosen * n_rows / n, end = (chosen + 1) * n_rows / n;
    for (size_t k = begin; k < end; k++) job->times[k]++;
    job->n_counted += (double)(end - begin);
  }
}

static bool any_seen(const struct job *job, size_t c)
{
  bool any = false;
  for (size_t k = 0; k < job->columns->n; k++)
    any = any || (is_of_set(job, c, &job->columns->of[k]) && is_seen(job, &job->columns->of[k]));
  return any;
}

/* Averages over draws as they are; intervals are of draws at resampled points. */
static void find_indices(struct job *job, struct gpnn_sobol_index *indices, double *variance)
{
  size_t n_draws = job->options->n_draws;
  memset(indices, 0, job->n * sizeof *indices);
  *variance = 0;
  count_all(job);
  for (size_t draw = 0; draw < n_draws; draw++) {
    *variance += estimate(job, draw, n_draws, job->first, job->total) / (double)n_draws;
    for (size_t c = 0; c < job->n; c++) {
      indices[c].first.mean += job->first[c * n_draws] / (double)n_draws;
      indices[c].total.mean += job->total[c * n_draws] / (double)n_draws;
    }
  }
  for (size_t draw = 0; draw < n_draws; draw++) {
    resample(job, draw);
    estimate(job, draw, n_draws, job->first + draw, job->total + draw);
  }
  for (size_t c = 0; c < job->n; c++) {
    struct gpnn_sobol_index *index = &indices[c];
    gpnn_surrogate_interval(n_draws, job->first + c * n_draws, job->options->level,
                            &index->first.lower, &index->first.upper);
    gpnn_surrogate_interval(n_draws, job->total + c * n_draws, job->options->level,
                            &index->total.lower, &index->total.upper);
    if (!any_seen(job, c)) *index = (struct gpnn_sobol_index){0};
  }
}

enum gpnn_status gpnn_sobol_find(const struct gpnn_model *model, const struct gpnn_dataset *view,
                                 const struct gpnn_explain_columns *columns, size_t n,
                                 const struct gpnn_explain_group *const *chosen,
                                 const struct gpnn_sobol_options *options,
                                 struct gpnn_sobol_index *indices, double *variance,
                                 struct gpnn_error *err)
{
  struct job job = {.model = model,
                    .dataset = gpnn_model_channel(model, 0)->dataset,
                    .view = view,
                    .columns = columns,
                    .n = n + (options->pairs ? n * (n - 1) / 2 : 0),
                    .n_chosen = n,
                    .chosen = chosen,
                    .options = options};
  enum gpnn_status status = evaluate(&job, err);
  if (status == GPNN_OK) find_indices(&job, indices, variance);
  gpnn_surrogate_release(&job.surrogate);
  gpnn_arrays_free(job.arrays);
  return status;
}
