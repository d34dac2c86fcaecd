#include "models/conjugate/conjugate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "kernel/coefficients.h"
#include "linalg/arrays.h"
#include "stats/scores/metrics.h"
#include "vecchia/gls.h"
#include "vecchia/vecchia.h"
#include "vecchia/whiten.h"

/* The effective range is the distance at which the correlation has fallen to this. */
static const double correlation_at_range = 0.05;

/* Large enough for no covariance to need jitter. */
static const double default_noises[] = {0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1};

void gpnn_conjugate_defaults(struct gpnn_conjugate_options *options)
{
  *options = (struct gpnn_conjugate_options){
      .kernel = gpnn_kernel_by_name("exp"),
      .mean = GPNN_MEAN_CONSTANT,
      .neighbours = 15,
      .n_folds = 5,
      .n_ranges = 7,
      .least_range = 0.01,
      .most_range = 0.6,
      .n_noises = sizeof default_noises / sizeof *default_noises,
      .noises = default_noises,
      .prior_shape = 2,
      .prior_scale = 1,
      .most_rows = 20000,
      .search = GPNN_SEARCH_AUTO,
      .recall = 0.99,
      .seed = 1,
      .threads = 1,
  };
}

static enum gpnn_status check(const struct gpnn_dataset *dataset,
                              const struct gpnn_conjugate_options *o, struct gpnn_error *err)
{
  if (dataset->noise != NULL)
    return gpnn_fail(err, GPNN_EDATA, "a conjugate prior cannot account for known noise of rows");
  if (o->kernel == NULL || o->neighbours == 0 || o->n_folds < 2 || o->n_ranges == 0 ||
      o->n_noises == 0)
    return gpnn_fail(err, GPNN_EINVAL,
                     "the conjugate model needs a kernel, neighbours, ranges, noise ratios and at "
                     "least two folds");
  if (!(o->least_range > 0 && o->most_range >= o->least_range && isfinite(o->most_range)))
    return gpnn_fail(err, GPNN_EINVAL, "ranges of %g to %g of the extent cannot be tried",
                     o->least_range, o->most_range);
  for (size_t i = 0; i < o->n_noises; i++)
    if (!(o->noises[i] > 0 && isfinite(o->noises[i])))
      return gpnn_fail(err, GPNN_EINVAL, "a noise ratio of %g cannot be tried", o->noises[i]);
  if (!(o->prior_shape > 0 && o->prior_scale > 0))
    return gpnn_fail(err, GPNN_EINVAL, "the prior's shape and scale must be positive");
  if (dataset->n < o->n_folds || o->most_rows < o->n_folds)
    return gpnn_fail(err, GPNN_EDATA, "%zu rows are too few for %zu folds", dataset->n, o->n_folds);
  return GPNN_OK;
}

/* a* of the posterior; each coefficient under a flat prior takes one row from the scale. */
static double posterior_shape(const struct gpnn_conjugate_options *o,
                              const struct gpnn_gls_sums *sums)
{
  return o->prior_shape + ((double)sums->n_rows - (double)sums->n_terms) / 2;
}

/* E[s2] = b* / (a* - 1), from the residual sum of squares. */
static double expected_scale(const struct gpnn_conjugate_options *o,
                             const struct gpnn_gls_sums *sums, double residual)
{
  return (o->prior_scale + residual / 2) / (posterior_shape(o, sums) - 1);
}

/* ---- folds -------------------------------------------------------------------------------- */

/* The state of a cross-validation. */
struct validation {
  const struct gpnn_conjugate_options *options;
  struct gpnn_gls_rows rows; /* in random order */
  size_t *fold;              /* n: the fold of each, from 0 */
  struct gpnn_coefficient_units units;
  size_t m;
  int64_t *neighbours; /* K by n by m: the neighbours of each row while a fold is left out, all
                          from other folds */
  double *ratio;       /* d: of the lengthscales */
  double extent;
  struct gpnn_covariance covariance; /* being tried; its lengthscales are in: */
  double *lengthscale;               /* d */
  double *residuals;                 /* n by n_terms + 1 */
  double *variances;                 /* n */
  double *coefficients, *coefficient_covariance;
  struct gpnn_team *team;     /* one for all folds and points of the grid */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static void validation_release(struct validation *v)
{
  gpnn_gls_rows_release(&v->rows);
  gpnn_arrays_free(v->arrays);
  gpnn_coefficient_units_release(&v->units);
  gpnn_team_free(v->team);
}

static bool validation_alloc(struct validation *v)
{
  size_t n = v->rows.n, d = v->rows.d, p = v->rows.n_terms, lists;
  if (!gpnn_multiply(n, v->options->n_folds, &lists)) return false;
  v->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(v->fold, n, 1), GPNN_ARRAY(v->neighbours, lists, v->m),
                  GPNN_ARRAY(v->ratio, d, 1), GPNN_ARRAY(v->lengthscale, d, 1),
                  GPNN_ARRAY(v->residuals, n, p + 1), GPNN_ARRAY(v->variances, n, 1),
                  GPNN_ARRAY(v->coefficients, p, 1), GPNN_ARRAY(v->coefficient_covariance, p, p));
  return v->arrays != NULL;
}

/* The diagonal of the rows' bounding box, after inputs are divided by their ratio. */
static double extent_of(const struct validation *v)
{
  size_t n = v->rows.n, d = v->rows.d;
  double squares = 0;
  for (size_t j = 0; j < d; j++) {
    double low = v->rows.x[j], high = low;
    for (size_t i = 1; i < n; i++) {
      low = fmin(low, v->rows.x[i * d + j]);
      high = fmax(high, v->rows.x[i * d + j]);
    }
    squares += pow((high - low) / v->ratio[j], 2);
  }
  return sqrt(squares);
}

/* The rows kept and the rows left out with a fold: their numbers and inputs. */
struct parts {
  size_t n[2];
  int64_t *number[2];
  double *x[2];
};

enum { KEPT = 0, LEFT_OUT = 1 };

static void parts_release(struct parts *parts)
{
  for (int part = KEPT; part <= LEFT_OUT; part++) {
    free(parts->number[part]);
    free(parts->x[part]);
  }
}

static bool parts_init(struct parts *parts, const struct validation *v, size_t fold)
{
  size_t n = v->rows.n, d = v->rows.d;
  for (int part = KEPT; part <= LEFT_OUT; part++) {
    parts->number[part] = gpnn_alloc(n, 1, sizeof *parts->number[part]);
    parts->x[part] = gpnn_alloc(n, d, sizeof *parts->x[part]);
    if (parts->number[part] == NULL || parts->x[part] == NULL) return false;
  }
  for (size_t i = 0; i < n; i++) {
    int part = v->fold[i] == fold ? LEFT_OUT : KEPT;
    size_t to = parts->n[part]++;
    parts->number[part][to] = (int64_t)i;
    memcpy(parts->x[part] + to * d, v->rows.x + i * d, d * sizeof *v->rows.x);
  }
  return true;
}

/* Stores the neighbours found, among the rows kept, for the rows of 'part'. */
static void store_lists(const struct validation *v, const struct parts *parts, int part,
                        const int64_t *found, int64_t *neighbours)
{
  for (size_t i = 0; i < parts->n[part]; i++) {
    int64_t *list = neighbours + (size_t)parts->number[part][i] * v->m;
    for (size_t a = 0; a < v->m; a++) {
      int64_t row = found[i * v->m + a];
      list[a] = row < 0 ? -1 : parts->number[KEPT][row];
    }
  }
}

/* Rows kept have neighbours among the earlier rows kept; rows left out, among all rows kept. */
static enum gpnn_status find_fold_neighbours(const struct validation *v, const struct parts *parts,
                                             int64_t *found, double *distances, int64_t *neighbours,
                                             struct gpnn_error *err)
{
  const struct gpnn_conjugate_options *o = v->options;
  const struct gpnn_vecchia_options vecchia = {v->m,      v->ratio, o->search,
                                               o->recall, o->seed,  o->threads};
  const struct gpnn_search_options options = {.kind = o->search,
                                              .recall = o->recall,
                                              .neighbours = v->m,
                                              .lengthscale = v->ratio,
                                              .seed = o->seed,
                                              .threads = o->threads};
  size_t kept = parts->n[KEPT], d = v->rows.d;
  int64_t *order = gpnn_alloc(kept, 1, sizeof *order);
  struct gpnn_search *search = NULL;
  if (order == NULL) return gpnn_fail_memory(err, "for cross-validation");
  for (size_t i = 0; i < kept; i++) order[i] = (int64_t)i;
  enum gpnn_status status =
      gpnn_vecchia_neighbours(kept, d, parts->x[KEPT], order, 0, NULL, &vecchia, found, err);
  if (status == GPNN_OK) {
    store_lists(v, parts, KEPT, found, neighbours);
    status = gpnn_search_build(&search, kept, d, parts->x[KEPT], &options, err);
  }
  if (status == GPNN_OK)
    status = gpnn_search_query(search, parts->n[LEFT_OUT], parts->x[LEFT_OUT], v->m, found,
                               distances, o->threads, err);
  if (status == GPNN_OK) store_lists(v, parts, LEFT_OUT, found, neighbours);
  gpnn_search_free(search);
  free(order);
  return status;
}

static enum gpnn_status find_neighbours(struct validation *v, struct gpnn_error *err)
{
  size_t n = v->rows.n;
  int64_t *found = gpnn_alloc(n, v->m, sizeof *found);
  double *distances = gpnn_alloc(n, v->m, sizeof *distances);
  enum gpnn_status status = GPNN_OK;
  if (found == NULL || distances == NULL) status = gpnn_fail_memory(err, "for cross-validation");
  for (size_t fold = 0; fold < v->options->n_folds && status == GPNN_OK; fold++) {
    struct parts parts = {0};
    if (!parts_init(&parts, v, fold))
      status = gpnn_fail_memory(err, "for cross-validation");
    else
      status =
          find_fold_neighbours(v, &parts, found, distances, v->neighbours + fold * n * v->m, err);
    parts_release(&parts);
  }
  free(found);
  free(distances);
  return status;
}

static enum gpnn_status validation_init(struct validation *v, const struct gpnn_dataset *dataset,
                                        struct gpnn_error *err)
{
  const struct gpnn_conjugate_options *o = v->options;
  size_t n = dataset->n < o->most_rows ? dataset->n : o->most_rows;
  enum gpnn_status status =
      gpnn_gls_draw_rows(&v->rows, dataset, o->mean, n, o->seed, GPNN_RNG_FOLDS, err);
  if (status == GPNN_OK) status = gpnn_coefficient_units_init(&v->units, dataset, o->mean, err);
  if (status != GPNN_OK) return status;
  v->m = o->neighbours < n ? o->neighbours : n;
  if (!validation_alloc(v)) return gpnn_fail_memory(err, "for cross-validation");
  status = gpnn_gls_divide(&v->rows, o->n_folds, v->fold, err);
  if (status != GPNN_OK) return status;
  for (size_t j = 0; j < v->rows.d; j++)
    v->ratio[j] = o->ratio == NULL ? 1 : o->ratio[dataset->group[j]];
  v->extent = extent_of(v);
  if (!(v->extent > 0)) return gpnn_fail(err, GPNN_EDATA, "all rows have the same inputs");
  return find_neighbours(v, err);
}

/* ---- scores ------------------------------------------------------------------------------- */

/* Adds the errors of a fold's rows, predicted under the posterior of the other folds. */
static enum gpnn_status score_rows(const struct validation *v, size_t fold, double scale,
                                   struct gpnn_metrics *metrics, struct gpnn_error *err)
{
  size_t p = v->rows.n_terms, w = p + 1;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < v->rows.n && status == GPNN_OK; i++) {
    if (v->fold[i] != fold) continue;
    /* The whitened terms are q = t* - T_N'w, and the whitened target is y* - w'y_N. */
    const double *q = v->residuals + i * w;
    double error = q[p], variance = v->variances[i];
    for (size_t t = 0; t < p; t++) {
      error -= q[t] * v->coefficients[t];
      for (size_t s = 0; s < p; s++) variance += q[t] * v->coefficient_covariance[t * p + s] * q[s];
    }
    status = gpnn_metrics_add(metrics, error, 0, sqrt(scale * variance), INFINITY, err);
  }
  return status;
}

static enum gpnn_status score_fold(struct validation *v, size_t fold, struct gpnn_metrics *metrics,
                                   struct gpnn_error *err)
{
  const struct gpnn_conjugate_options *o = v->options;
  size_t n = v->rows.n, w = v->rows.n_terms + 1;
  struct gpnn_whiten_rows view =
      gpnn_gls_with_neighbours(&v->rows, v->m, v->neighbours + fold * n * v->m);
  struct gpnn_gls_sums sums = {0};
  double residual = 0;
  enum gpnn_status status = gpnn_gls_sums_init(&sums, v->rows.n_terms, err);
  if (status == GPNN_OK)
    status = gpnn_whiten(&view, &v->covariance, v->lengthscale, 0, n, v->team, o->threads,
                         v->residuals, v->variances, NULL, &sums.jitter, err);
  if (status == GPNN_OK) {
    for (size_t i = 0; i < n; i++)
      if (v->fold[i] != fold) gpnn_gls_add(&sums, v->residuals + i * w, v->variances[i]);
    status = gpnn_gls_solve(&sums, v->units.names, v->options->mean == GPNN_MEAN_LINEAR,
                            v->coefficients, v->coefficient_covariance, &residual, err);
  }
  if (status == GPNN_OK)
    status = score_rows(v, fold, expected_scale(o, &sums, residual), metrics, err);
  gpnn_gls_sums_release(&sums);
  return status;
}

/* Scores one point of the grid; scores stay NaN if a covariance is not positive definite. */
static enum gpnn_status score_point(struct validation *v, struct gpnn_conjugate_point *point,
                                    struct gpnn_error *err)
{
  struct gpnn_metrics metrics = {0};
  struct gpnn_metrics_result result;
  enum gpnn_status status = GPNN_OK;
  point->rmspe = point->crps = NAN;
  v->covariance.noise = point->noise;
  for (size_t j = 0; j < v->rows.d; j++) v->lengthscale[j] = point->lengthscale * v->ratio[j];
  for (size_t fold = 0; fold < v->options->n_folds && status == GPNN_OK; fold++)
    status = score_fold(v, fold, &metrics, err);
  if (status == GPNN_OK) status = gpnn_metrics_result(&metrics, &result, err);
  if (status == GPNN_OK) {
    point->rmspe = result.rmse;
    point->crps = result.crps;
  }
  gpnn_metrics_release(&metrics);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

/* ---- the grid ----------------------------------------------------------------------------- */

/* The effective range at a lengthscale of 1, by bisection. */
static double effective_range(const struct gpnn_kernel *kernel, double smoothness)
{
  double low = 0, high = 1e3;
  for (int step = 0; step < 100; step++) {
    double middle = (low + high) / 2, c = middle * middle;
    gpnn_kernel_correlate(kernel, smoothness, 1, &c);
    if (c > correlation_at_range)
      low = middle;
    else
      high = middle;
  }
  return high;
}

static double score_of(const struct gpnn_conjugate_options *o,
                       const struct gpnn_conjugate_point *point)
{
  return o->score == GPNN_CONJUGATE_CRPS ? point->crps : point->rmspe;
}

static double range_at(const struct gpnn_conjugate_options *o, double extent, size_t i)
{
  double exponent = o->n_ranges == 1 ? 0 : (double)i / (double)(o->n_ranges - 1);
  return extent * o->least_range * pow(o->most_range / o->least_range, exponent);
}

static enum gpnn_status search_grid(struct validation *v, gpnn_conjugate_listener *listener,
                                    void *context, struct gpnn_conjugate_report *report,
                                    struct gpnn_error *err)
{
  const struct gpnn_conjugate_options *o = v->options;
  double unit = effective_range(o->kernel, o->smoothness);
  double lowest = INFINITY;
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < o->n_ranges * o->n_noises && status == GPNN_OK; k++) {
    size_t i = k / o->n_noises, a = k % o->n_noises;
    struct gpnn_conjugate_point point = {.range = range_at(o, v->extent, i), .noise = o->noises[a]};
    point.lengthscale = point.range / unit;
    status = score_point(v, &point, err);
    if (status == GPNN_OK && listener != NULL) listener(context, &point);
    report->n_points++;
    if (status != GPNN_OK || !(score_of(o, &point) < lowest)) continue;
    lowest = score_of(o, &point);
    report->best = point;
    report->at_least_range = i == 0;
    report->at_most_range = i + 1 == o->n_ranges;
    report->at_least_noise = a == 0;
    report->at_most_noise = a + 1 == o->n_noises;
  }
  if (status == GPNN_OK && isinf(lowest))
    return gpnn_fail(err, GPNN_ENUMERIC,
                     "no combination of range and noise ratio gives finite predictions");
  return status;
}

static enum gpnn_status choose(const struct gpnn_dataset *dataset,
                               const struct gpnn_conjugate_options *options,
                               gpnn_conjugate_listener *listener, void *context,
                               struct gpnn_conjugate_report *report, struct gpnn_error *err)
{
  struct validation v = {.options = options,
                         .covariance = {.kernel = options->kernel,
                                        .smoothness = options->smoothness,
                                        .kernelscale = 1}};
  *report = (struct gpnn_conjugate_report){0};
  enum gpnn_status status = validation_init(&v, dataset, err);
  report->n_scored = v.rows.n;
  if (status == GPNN_OK) status = gpnn_team_new(&v.team, options->threads, err);
  if (status == GPNN_OK) status = search_grid(&v, listener, context, report, err);
  validation_release(&v);
  return status;
}

/* ---- the posterior ------------------------------------------------------------------------ */

enum gpnn_status gpnn_conjugate_posterior(const struct gpnn_dataset *dataset,
                                          const struct gpnn_conjugate_options *options,
                                          struct gpnn_parameters *params, struct gpnn_error *err)
{
  struct gpnn_covariance unscaled = params->covariance; /* borrows its arrays */
  struct gpnn_gls_sums sums = {0};
  struct gpnn_coefficient_units units = {0};
  const struct gpnn_vecchia_options vecchia = {params->neighbours, NULL,          options->search,
                                               options->recall,    options->seed, options->threads};
  size_t n_terms = gpnn_mean_width(params->mean.kind, dataset->d, dataset->n_regressors);
  double residual;
  enum gpnn_status status = GPNN_OK;
  unscaled.kernelscale = 1;
  if (dataset->noise != NULL)
    status =
        gpnn_fail(err, GPNN_EINVAL, "a conjugate prior cannot account for known noise of rows");
  if (status == GPNN_OK) status = gpnn_gls_sums_init(&sums, n_terms, err);
  if (status == GPNN_OK)
    status = gpnn_gls_add_dataset(&sums, dataset, params->mean.kind, &unscaled, dataset->n,
                                  GPNN_RNG_FOLDS, &vecchia, err);
  if (status == GPNN_OK)
    status = gpnn_coefficient_units_init(&units, dataset, params->mean.kind, err);
  if (status == GPNN_OK)
    status = gpnn_gls_set_coefficients(&sums, units.names, &params->mean, &residual, err);
  if (status == GPNN_OK) {
    double scale = expected_scale(options, &sums, residual);
    size_t p = params->mean.n_coefficients;
    params->covariance.kernelscale = scale;
    params->covariance.noise *= scale;
    params->degrees = 2 * posterior_shape(options, &sums);
    params->provenance.fit_rows = sums.n_rows;
    for (size_t i = 0; i < p * p; i++) params->mean.covariance[i] *= scale;
  }
  gpnn_coefficient_units_release(&units);
  gpnn_gls_sums_release(&sums);
  return status;
}

/* Sets kernel, lengthscales, mean and neighbours, and the noise to the ratio a. */
static enum gpnn_status set_params(const struct gpnn_dataset *dataset,
                                   const struct gpnn_conjugate_options *o,
                                   const struct gpnn_conjugate_point *best,
                                   struct gpnn_parameters *params, struct gpnn_error *err)
{
  size_t n_lengthscales = o->ratio == NULL ? 1 : dataset->n_groups;
  double *lengthscale = gpnn_alloc(n_lengthscales, 1, sizeof *lengthscale);
  if (lengthscale == NULL) return gpnn_fail_memory(err, "for parameters");
  for (size_t g = 0; g < n_lengthscales; g++)
    lengthscale[g] = best->lengthscale * (o->ratio == NULL ? 1 : o->ratio[g]);
  *params = (struct gpnn_parameters){.covariance.kernel = o->kernel,
                                     .covariance.smoothness = o->smoothness,
                                     .covariance.n_lengthscales = n_lengthscales,
                                     .covariance.lengthscale = lengthscale,
                                     .covariance.noise = best->noise,
                                     .mean.kind = o->mean,
                                     .neighbours = o->neighbours};
  return GPNN_OK;
}

enum gpnn_status gpnn_conjugate(const struct gpnn_dataset *dataset,
                                const struct gpnn_conjugate_options *options,
                                gpnn_conjugate_listener *listener, void *context,
                                struct gpnn_parameters *params,
                                struct gpnn_conjugate_report *report, struct gpnn_error *err)
{
  struct gpnn_parameters made = {0};
  enum gpnn_status status = check(dataset, options, err);
  if (status == GPNN_OK) status = choose(dataset, options, listener, context, report, err);
  if (status == GPNN_OK) status = set_params(dataset, options, &report->best, &made, err);
  if (status == GPNN_OK) status = gpnn_conjugate_posterior(dataset, options, &made, err);
  if (status == GPNN_OK)
    *params = made;
  else
    gpnn_parameters_release(&made);
  return status;
}
