#include "estimate/choose_transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/sample.h"
#include "dataset/transformed.h"
#include "estimate/choose_private.h"
#include "likelihood/distribution.h"
#include "likelihood/head.h"
#include "likelihood/scale.h"
#include "stats/distributions/normal.h"
#include "stats/scores/difference.h"

/* Fewer rows than this say little about a scale that depends on the row, or about errors of means.
 */
enum { FEW_ROWS = 400 };

/* The rows that candidates are scored on, and their losses. */
struct scoring {
  const struct gpnn_choose_options *options;
  const struct gpnn_dataset *dataset; /* the sample, in the view of the target as it is */
  size_t most_neighbours;             /* to predict from */
  size_t n;                           /* rows to score */
  double *x, *regressors;             /* n by d; n by n_regressors */
  int64_t *self;                      /* n: which rows of the sample they are */
  double *y;                          /* n: transformed */
  double *mean, *variance;            /* n: predicted */
  double *misfit, *nearest;
  struct measures {
    double *loss, *crps, *square; /* n: negative log density, CRPS, squared error of the mean */
  } of, plain;                    /* of a candidate; of no transform */
};

/* ---- rows --------------------------------------------------------------------------------- */

static bool scoring_alloc(struct scoring *s, size_t n)
{
  enum { ARRAYS = 11 };
  s->n = n;
  s->x = gpnn_alloc(n, s->dataset->d, sizeof *s->x);
  s->regressors = gpnn_alloc(n, s->dataset->n_regressors, sizeof *s->regressors);
  s->self = gpnn_alloc(n, 1, sizeof *s->self);
  s->y = gpnn_alloc(n, ARRAYS, sizeof *s->y);
  s->mean = s->y + n;
  s->variance = s->mean + n;
  s->misfit = s->variance + n;
  s->nearest = s->misfit + n;
  double *next = s->nearest + n;
  s->of = (struct measures){next, next + n, next + 2 * n};
  s->plain = (struct measures){next + 3 * n, next + 4 * n, next + 5 * n};
  return s->x != NULL && s->regressors != NULL && s->self != NULL && s->y != NULL;
}

static void scoring_release(struct scoring *s)
{
  free(s->x);
  free(s->regressors);
  free(s->self);
  free(s->y);
}

/* How many rows are scored, and are left for a fit. */
static size_t rows_to_score(size_t n)
{
  size_t third = (n + 2) / 3;
  return third < GPNN_CHOOSE_TRANSFORM_ROWS ? third : GPNN_CHOOSE_TRANSFORM_ROWS;
}

static size_t rows_to_fit(size_t n)
{
  size_t rest = n - rows_to_score(n);
  return rest < GPNN_CHOOSE_TRANSFORM_FIT ? rest : GPNN_CHOOSE_TRANSFORM_FIT;
}

/* Fits take the first rows of a random order, so those behind them are new to them. */
static enum gpnn_status draw_rows(struct scoring *s, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = s->dataset;
  size_t n = rows_to_score(data->n), fitted = s->options->fit.rows;
  if (fitted > data->n - n) fitted = data->n - n;
  size_t d = data->d, p = data->n_regressors;
  struct gpnn_rng rng;
  uint64_t *drawn = gpnn_alloc(fitted + n, 1, sizeof *drawn);
  if (drawn == NULL || !scoring_alloc(s, n)) {
    free(drawn);
    return gpnn_fail_memory(err, "for a choice");
  }
  gpnn_rng_init(&rng, s->options->fit.seed, GPNN_RNG_ESTIMATE);
  enum gpnn_status status = gpnn_rng_sample(&rng, data->n, fitted + n, drawn, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    size_t row = drawn[fitted + i];
    s->self[i] = (int64_t)row;
    memcpy(s->x + i * d, data->x + row * d, d * sizeof *s->x);
    if (p > 0) memcpy(s->regressors + i * p, data->regressors + row * p, p * sizeof *s->regressors);
  }
  free(drawn);
  return status;
}

/* A sample of at most 'most' rows of a view (0: all), the same for each view of a dataset; NULL: it
 * is all rows. */
static enum gpnn_status draw_sample(const struct gpnn_dataset *view, size_t most, uint64_t seed,
                                    struct gpnn_sample **sample, const struct gpnn_dataset **rows,
                                    struct gpnn_error *err)
{
  *rows = view;
  if (most == 0 || view->n <= most) return GPNN_OK;
  enum gpnn_status status = gpnn_sample_draw(sample, view, most, seed, err);
  if (status == GPNN_OK) *rows = gpnn_sample_target(*sample, view->target);
  return status;
}

/* ---- losses ------------------------------------------------------------------------------- */

/* Of normal predictions, calibrated by a factor that for each row comes from the others. */
static void find_normal_losses(struct scoring *s, double noise)
{
  double sum = 0;
  for (size_t i = 0; i < s->n; i++) sum += pow(s->y[i] - s->mean[i], 2) / (s->variance[i] + noise);
  for (size_t i = 0; i < s->n; i++) {
    double error = s->y[i] - s->mean[i], variance = s->variance[i] + noise;
    double factor = (sum - error * error / variance) / ((double)s->n - 1);
    s->of.loss[i] = gpnn_normal_nll(error, sqrt(factor * variance));
  }
}

/* What was predicted of 'n' rows from number 'from' on. */
static struct gpnn_scale_rows rows_from(const struct scoring *s, double noise, size_t from,
                                        size_t n)
{
  return (struct gpnn_scale_rows){.n = n,
                                  .y = s->y + from,
                                  .mean = s->mean + from,
                                  .variance = s->variance + from,
                                  .misfit = s->misfit + from,
                                  .nearest = s->nearest + from,
                                  .noise = noise,
                                  .cluster_rows = 1};
}

static void use_law(struct gpnn_parameters *params, const struct gpnn_scale_law *law)
{
  params->likelihood = law->likelihood;
  params->scale = law->scale;
  params->degrees = law->degrees;
}

/* The variance of the observation of row 'i'. */
static double observe(const struct scoring *s, const struct gpnn_head *head, size_t i)
{
  const struct gpnn_latent_row row = {.mean = s->mean[i],
                                      .variance = s->variance[i],
                                      .misfit = s->misfit[i],
                                      .nearest = s->nearest[i]};
  return gpnn_head_observe(head, &row, 0).variance;
}

/* Of 'n' rows from number 'from' on, whose scale is estimated from 'others' with all that it may
 * depend on: a scale that grows with the mean does much of what a transform does. */
static enum gpnn_status find_scaled_losses(struct scoring *s, const struct gpnn_parameters *params,
                                           const struct gpnn_scale_rows *others, size_t from,
                                           size_t n, struct gpnn_error *err)
{
  struct gpnn_scale_law law;
  struct gpnn_parameters scaled = *params;
  enum gpnn_status status = gpnn_scale_fit(others, s->options->likelihood, true, &law, err);
  if (status != GPNN_OK) return status;
  use_law(&scaled, &law);
  const struct gpnn_head head = gpnn_head_of(&scaled);
  for (size_t i = from; i < from + n; i++)
    s->of.loss[i] = gpnn_head_nll(&head, s->y[i] - s->mean[i], observe(s, &head, i));
  return GPNN_OK;
}

/* In the units of the transformed target. */
static enum gpnn_status find_losses(struct scoring *s, const struct gpnn_parameters *params,
                                    struct gpnn_error *err)
{
  enum { FOLDS = 5 };
  double noise = gpnn_parameters_noise(params);
  size_t half = s->n / 2;
  const struct gpnn_scale_rows all = rows_from(s, noise, 0, s->n);
  const struct gpnn_scale_rows first = rows_from(s, noise, 0, half);
  const struct gpnn_scale_rows second = rows_from(s, noise, half, s->n - half);
  if (s->options->likelihood == GPNN_LIKELIHOOD_GAUSSIAN) {
    find_normal_losses(s, noise);
    return GPNN_OK;
  }
  if (s->n < FEW_ROWS)
    return gpnn_scale_cross_losses(&all, s->options->likelihood, false, FOLDS, 0, s->of.loss, NULL,
                                   err);
  enum gpnn_status status = find_scaled_losses(s, params, &second, 0, half, err);
  return status == GPNN_OK ? find_scaled_losses(s, params, &first, half, s->n - half, err) : status;
}

/* The likelihood's scale, from all rows; that of a normal likelihood is a factor of its variances.
 */
static enum gpnn_status estimate_scale(const struct scoring *s, struct gpnn_parameters *params,
                                       double *factor, struct gpnn_error *err)
{
  const struct gpnn_scale_rows all = rows_from(s, gpnn_parameters_noise(params), 0, s->n);
  struct gpnn_scale_law law;
  double sum = 0;
  *factor = 1;
  if (s->options->likelihood == GPNN_LIKELIHOOD_GAUSSIAN) {
    for (size_t i = 0; i < s->n; i++)
      sum += pow(s->y[i] - s->mean[i], 2) / (s->variance[i] + gpnn_parameters_noise(params));
    *factor = sum / (double)s->n;
    return GPNN_OK;
  }
  enum gpnn_status status = gpnn_scale_fit(&all, s->options->likelihood, true, &law, err);
  if (status == GPNN_OK) use_law(params, &law);
  return status;
}

/* Finds CRPS and squared errors in the target's own units. */
static enum gpnn_status find_errors(struct scoring *s, const struct gpnn_dataset *view,
                                    struct gpnn_parameters params, struct gpnn_error *err)
{
  const struct gpnn_target_warp target = {view->transform, 0, 1};
  struct gpnn_warp warp = {0};
  double factor, mean, sd, centre = 0, unit = 1;
  enum gpnn_status status = estimate_scale(s, &params, &factor, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_head head = gpnn_head_of(&params);
  double degrees = gpnn_head_degrees(&head);
  if (view->transform != NULL)
    warp = gpnn_target_warp_function(&target);
  else
    centre = view->scaling.y_mean, unit = view->scaling.y_sd;
  for (size_t i = 0; i < s->n; i++) {
    double y = gpnn_scaling_restore(&s->dataset->scaling, s->dataset->y[s->self[i]], 0);
    double variance = factor * observe(s, &head, i);
    const struct gpnn_distribution distribution = {.location = centre + unit * s->mean[i],
                                                   .sd = unit * sqrt(variance),
                                                   .degrees = degrees > 0 ? degrees : INFINITY,
                                                   .warp = view->transform == NULL ? NULL : &warp};
    gpnn_distribution_moments(&distribution, &mean, &sd);
    s->of.square[i] = pow(y - mean, 2);
    s->of.crps[i] = gpnn_distribution_crps(&distribution, y);
  }
  return GPNN_OK;
}

static enum gpnn_status predict(struct scoring *s, const struct gpnn_dataset *view,
                                const struct gpnn_parameters *params, struct gpnn_error *err)
{
  size_t m = params->neighbours < s->most_neighbours ? params->neighbours : s->most_neighbours;
  const struct gpnn_model_options options = {.neighbours = m, .threads = s->options->fit.threads};
  const struct gpnn_channel channel = {view, params};
  const struct gpnn_query query = {.n = s->n,
                                   .x = s->x,
                                   .regressors = view->n_regressors == 0 ? NULL : s->regressors,
                                   .self = s->self};
  const struct gpnn_latent latent = {
      .mean = s->mean, .variance = s->variance, .misfit = s->misfit, .nearest = s->nearest};
  struct gpnn_counts counts = {0};
  struct gpnn_model *model = NULL;
  enum gpnn_status status = gpnn_model_new(&model, 1, &channel, &options, err);
  if (status == GPNN_OK) status = gpnn_model_predict(model, &query, &latent, &counts, err);
  gpnn_model_free(model);
  return status;
}

/* Predicts the rows from a view of the sample, and finds their losses in the target's own units. */
static enum gpnn_status score(struct scoring *s, const struct gpnn_dataset *view,
                              const struct gpnn_parameters *params, struct gpnn_error *err)
{
  enum gpnn_status status = predict(s, view, params, err);
  for (size_t i = 0; i < s->n; i++) s->y[i] = view->y[s->self[i]];
  if (status == GPNN_OK) status = find_losses(s, params, err);
  if (status == GPNN_OK) status = find_errors(s, view, *params, err);
  for (size_t i = 0; i < s->n && status == GPNN_OK; i++) {
    double y = gpnn_scaling_restore(&s->dataset->scaling, s->dataset->y[s->self[i]], 0);
    s->of.loss[i] -= view->transform == NULL ? -log(view->scaling.y_sd)
                                             : gpnn_transform_log_slope(view->transform, y);
    if (!isfinite(s->of.loss[i]))
      status = gpnn_fail(err, GPNN_ENUMERIC, "the score of a transform is not finite");
  }
  return status;
}

/* True if the mean of 'a' is above that of 'b' by more than chance explains, and by this share. */
static bool is_higher_by(double much, size_t n, const double *a, const double *b)
{
  double standard_error, mean = 0, difference = gpnn_mean_difference(n, a, b, &standard_error);
  for (size_t i = 0; i < n; i++) mean += b[i] / (double)n;
  return difference > standard_error && difference > much * mean;
}

/* The score of what was measured, which for no transform is kept to compare the others with. */
static struct gpnn_transform_candidate summarise(struct scoring *s, enum gpnn_transform_kind kind)
{
  struct gpnn_transform_candidate candidate = {.kind = kind};
  if (kind == GPNN_TRANSFORM_NONE) {
    struct measures kept = s->plain;
    s->plain = s->of;
    s->of = kept;
  }
  const struct measures *of = kind == GPNN_TRANSFORM_NONE ? &s->plain : &s->of;
  const double much = 0.2, much_crps = s->options->effort == GPNN_EFFORT_THOROUGH ? 0 : much;
  for (size_t i = 0; i < s->n; i++) candidate.nll += of->loss[i] / (double)s->n;
  candidate.gain = gpnn_mean_difference(s->n, s->plain.loss, of->loss, &candidate.standard_error);
  candidate.harms = s->n >= FEW_ROWS && (is_higher_by(much_crps, s->n, of->crps, s->plain.crps) ||
                                         is_higher_by(much, s->n, of->square, s->plain.square));
  return candidate;
}

/* ---- candidates --------------------------------------------------------------------------- */

/* Continues a fit on a view, and scores it. */
static enum gpnn_status try_view(struct scoring *s, const struct gpnn_fit_options *fit,
                                 const struct gpnn_dataset *view, struct gpnn_error *err)
{
  struct gpnn_parameters params = {0};
  struct gpnn_fit_report report;
  enum gpnn_status status = gpnn_fit(1, &view, fit, &params, &report, err);
  if (status == GPNN_OK) status = score(s, view, &params, err);
  gpnn_parameters_release(&params);
  return status;
}

/* Transforms the target and tries it. */
static enum gpnn_status try_kind(struct scoring *s, const struct gpnn_fit_options *fit,
                                 enum gpnn_transform_kind kind, struct gpnn_error *err)
{
  struct gpnn_transform transform = {0};
  struct gpnn_transformed *transformed = NULL;
  size_t n_targets = gpnn_dataset_n_targets(s->dataset), target = s->dataset->target;
  if (kind == GPNN_TRANSFORM_NONE) return try_view(s, fit, s->dataset, err);
  const struct gpnn_transform **transforms =
      gpnn_alloc(n_targets, 1, sizeof(const struct gpnn_transform *));
  if (transforms == NULL) return gpnn_fail_memory(err, "for a choice");
  transforms[target] = &transform;
  enum gpnn_status status = gpnn_transformed_fit(&transform, s->dataset, kind, fit->seed, err);
  if (status == GPNN_OK)
    status = gpnn_transformed_new(&transformed, s->dataset,
                                  &(struct gpnn_changes){.transforms = transforms}, err);
  if (status == GPNN_OK)
    status = try_view(s, fit, gpnn_transformed_target(transformed, target), err);
  gpnn_transformed_free(transformed);
  free(transforms);
  return status;
}

/* Options that continue a fit for a few steps, on few rows. */
static struct gpnn_fit_options continue_fit(const struct gpnn_choose_options *options,
                                            const struct gpnn_parameters *start, size_t n)
{
  enum { STEPS = 500, K = 32 };
  struct gpnn_fit_options fit = options->fit;
  fit.kernel = start->covariance.kernel;
  fit.smoothness = start->covariance.smoothness;
  fit.ard = start->covariance.n_lengthscales > 1;
  fit.rotation = start->covariance.rotation;
  fit.learn_rotation = false;
  fit.first = GPNN_OBJECTIVE_LOO;
  fit.second = GPNN_OBJECTIVE_NONE;
  fit.optimizer = GPNN_OPTIMIZER_USUAL;
  fit.k = K;
  fit.rows = rows_to_fit(n);
  fit.steps = fit.refresh = STEPS;
  fit.start = start;
  fit.n_starts = 1;
  fit.neighbours = start->neighbours;
  return fit;
}

/* Tries all kinds that the whole dataset allows; '*chosen' is the best. */
static enum gpnn_status try_all(struct scoring *s, const struct gpnn_fit_options *fit,
                                const struct gpnn_dataset *whole,
                                gpnn_choose_transform_listener *listener, void *context,
                                struct gpnn_transform_candidate *chosen, struct gpnn_error *err)
{
  for (int kind = GPNN_TRANSFORM_NONE; kind <= GPNN_TRANSFORM_RANK; kind++) {
    enum gpnn_transform_kind this = (enum gpnn_transform_kind)kind;
    enum gpnn_status status = gpnn_transformed_check(whole, this, err);
    if (status == GPNN_OK) status = try_kind(s, fit, this, err);
    bool failed = status == GPNN_EDATA || status == GPNN_ENUMERIC;
    if (failed && this == GPNN_TRANSFORM_NONE) return GPNN_OK; /* nothing to compare with */
    if (failed) continue;
    if (status != GPNN_OK) return status;
    const struct gpnn_transform_candidate candidate = summarise(s, this);
    if (listener != NULL) listener(context, &candidate);
    bool is_out = candidate.gain <= -candidate.standard_error || candidate.harms;
    bool is_lower = candidate.nll < chosen->nll || chosen->kind == GPNN_TRANSFORM_NONE;
    if (this == GPNN_TRANSFORM_NONE || (is_lower && !is_out)) *chosen = candidate;
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_choose_transform(const struct gpnn_dataset *dataset,
                                       const struct gpnn_parameters *parameters,
                                       const struct gpnn_choose_options *options,
                                       gpnn_choose_transform_listener *listener, void *context,
                                       struct gpnn_transform_candidate *chosen,
                                       struct gpnn_error *err)
{
  enum { FEWEST = 20, NEIGHBOURS = 64 };
  struct scoring s = {.options = options, .most_neighbours = NEIGHBOURS};
  struct gpnn_transform_candidate best = {.kind = GPNN_TRANSFORM_NONE, .nll = NAN};
  struct gpnn_sample *sample = NULL;
  *chosen = best;
  if (dataset->n < FEWEST || dataset->noise != NULL || dataset->offset != NULL) return GPNN_OK;
  enum gpnn_status status = draw_sample(dataset, GPNN_CHOOSE_TRANSFORM_SAMPLE, options->fit.seed,
                                        &sample, &s.dataset, err);
  if (status == GPNN_OK) status = draw_rows(&s, err);
  if (status == GPNN_OK) {
    const struct gpnn_fit_options fit = continue_fit(options, parameters, s.dataset->n);
    status = try_all(&s, &fit, dataset, listener, context, &best, err);
  }
  if (status == GPNN_OK) *chosen = best;
  scoring_release(&s);
  gpnn_sample_free(sample);
  return status;
}

enum gpnn_status gpnn_choose_compare_transform(const struct gpnn_channel *without,
                                               const struct gpnn_channel *with,
                                               const struct gpnn_choose_options *options,
                                               struct gpnn_transform_candidate *score_of,
                                               struct gpnn_error *err)
{
  enum { NEIGHBOURS = 128 };
  struct scoring s = {.options = options, .most_neighbours = NEIGHBOURS};
  struct gpnn_sample *plain = NULL, *transformed = NULL;
  const struct gpnn_dataset *view = NULL;
  size_t most = options->last_sample_rows;
  uint64_t seed = options->fit.seed;
  enum gpnn_status status = draw_sample(without->dataset, most, seed, &plain, &s.dataset, err);
  if (status == GPNN_OK) status = draw_sample(with->dataset, most, seed, &transformed, &view, err);
  if (status == GPNN_OK) status = draw_rows(&s, err);
  if (status == GPNN_OK) status = score(&s, s.dataset, without->parameters, err);
  if (status == GPNN_OK) (void)summarise(&s, GPNN_TRANSFORM_NONE);
  if (status == GPNN_OK) status = score(&s, view, with->parameters, err);
  if (status == GPNN_OK) *score_of = summarise(&s, with->dataset->transform->kind);
  scoring_release(&s);
  gpnn_sample_free(plain);
  gpnn_sample_free(transformed);
  return status;
}
