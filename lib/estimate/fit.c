#include "estimate/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "estimate/fit_private.h"
#include "kernel/rotation.h"
#include "kernel/sight.h"
#include "likelihood/categorical.h"
#include "linalg/factors/cholesky.h"
#include "vecchia/gls.h"

/* ---- where to start --------------------------------------------------------------------- */

/* Typical distances between rows: the median, and the mean square over the inputs of each group. */
struct spread {
  double median;
  double *group; /* owned; n_groups */
};

/* Adds the squared differences of two rows to the sums of their groups; returns their total. */
static double add_pair(const struct gpnn_dataset *dataset, uint64_t a, uint64_t b, double *group)
{
  size_t d = dataset->d;
  double r2 = 0;
  for (size_t j = 0; j < d; j++) {
    double difference = dataset->x[a * d + j] - dataset->x[b * d + j];
    group[dataset->group[j]] += difference * difference;
    r2 += difference * difference;
  }
  return r2;
}

/* Measures up to 300 random rows.  If most pairs coincide, the largest distance replaces the
 * median, and 1 if all pairs do. */
static enum gpnn_status measure_spread(const struct gpnn_dataset *dataset, uint64_t seed,
                                       struct spread *spread, struct gpnn_error *err)
{
  enum { MOST = 300 };
  size_t s = dataset->n < MOST ? dataset->n : MOST, n = 0;
  uint64_t rows[MOST];
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_ESTIMATE);
  double *r2 = gpnn_alloc(s, s, sizeof *r2);
  spread->group = gpnn_alloc(dataset->n_groups, 1, sizeof *spread->group);
  enum gpnn_status status = r2 == NULL || spread->group == NULL
                                ? gpnn_fail_memory(err, "for distances")
                                : gpnn_rng_sample(&rng, dataset->n, s, rows, err);
  if (status == GPNN_OK) {
    for (size_t i = 1; i < s; i++)
      for (size_t k = 0; k < i; k++) r2[n++] = add_pair(dataset, rows[i], rows[k], spread->group);
    for (size_t g = 0; g < dataset->n_groups; g++) spread->group[g] /= (double)n;
    qsort(r2, n, sizeof *r2, gpnn_compare_doubles);
    double typical = r2[n / 2] > 0 ? r2[n / 2] : r2[n - 1];
    spread->median = typical > 0 ? sqrt(typical) : 1;
  }
  free(r2);
  return status;
}

/* Sets one lengthscale to the median distance, or several in proportion to their groups' spread. */
static void lengthscales_from_spread(const struct spread *spread, struct gpnn_parameters *params)
{
  size_t k = params->covariance.n_lengthscales;
  double total = 0;
  for (size_t g = 0; k > 1 && g < k; g++) total += spread->group[g];
  for (size_t g = 0; g < k; g++) {
    bool is_typical = k == 1 || spread->group[g] == 0;
    double ratio = is_typical ? 1 : sqrt(spread->group[g] / total * (double)k);
    params->covariance.lengthscale[g] = spread->median * ratio;
  }
}

/* Copies the lengthscales of 'start', or their geometric mean if the fit has only one. */
static void lengthscales_from_start(const struct gpnn_parameters *start,
                                    struct gpnn_parameters *params)
{
  double sum = 0;
  if (params->covariance.n_lengthscales > 1 || start->covariance.n_lengthscales == 1) {
    for (size_t j = 0; j < params->covariance.n_lengthscales; j++)
      params->covariance.lengthscale[j] =
          start->covariance.lengthscale[start->covariance.n_lengthscales == 1 ? 0 : j];
    return;
  }
  for (size_t j = 0; j < start->covariance.n_lengthscales; j++)
    sum += log(start->covariance.lengthscale[j]);
  params->covariance.lengthscale[0] = exp(sum / (double)start->covariance.n_lengthscales);
}

/* Gives every parameter its initial value; 'start' may be NULL. */
static void start_parameters(const struct gpnn_fit_options *options,
                             const struct gpnn_parameters *start, const struct spread *spread,
                             struct gpnn_parameters *params)
{
  double fixed[] = {options->fixed_lengthscale, options->fixed_kernelscale, options->fixed_noise};
  size_t k = params->covariance.n_lengthscales;
  lengthscales_from_spread(spread, params);
  params->covariance.kernelscale = 0.9;
  params->covariance.noise = 0.1;
  if (start != NULL) {
    lengthscales_from_start(start, params);
    params->covariance.kernelscale = start->covariance.kernelscale;
    params->covariance.noise = start->covariance.noise;
  }
  for (size_t i = 0; i < k + 2; i++) {
    double held = fixed[i < k ? 0 : i - k + 1];
    if (held > 0) *gpnn_fit_parameter(params, i) = held;
  }
  for (size_t i = 0; i < k && options->unseen != NULL; i++)
    if (options->unseen[i] >= GPNN_SIGHT_UNSEEN)
      params->covariance.lengthscale[i] = GPNN_SIGHT_UNSEEN;
}

/* Starts the link of classes: at 'start', if that has one of as many, or else at the usual
 * numbers, with biases as far from each other as the shares of the classes suggest. */
static void start_link(const struct gpnn_fit_options *options, const struct gpnn_dataset *dataset,
                       const struct gpnn_parameters *start, struct gpnn_link *link)
{
  const double part = 0.3; /* of the logits of the shares: neighbours tell the rest */
  struct gpnn_link usual = GPNN_FIT_USUAL_LINK, fixed = options->fixed_link, own = *link;
  bool has_start = start != NULL && start->link.n_bias == own.n_bias;
  *link = has_start ? start->link : usual;
  link->bias = own.bias;
  link->n_bias = own.n_bias;
  if (fixed.slope > 0) link->slope = fixed.slope;
  if (fixed.evidence > 0) link->evidence = fixed.evidence;
  if (fixed.floor > 0) link->floor = fixed.floor;
  if (fixed.spread > 0) link->spread = fixed.spread;
  gpnn_categorical_shares(link->n_bias, dataset->n, dataset->y, link->bias);
  for (size_t c = 0; c < link->n_bias; c++)
    link->bias[c] = has_start ? start->link.bias[c] : part * log(link->bias[c]);
}

/* Gives what classes have besides its initial value: their link, and the kernel scale 1.  Targets
 * of classes have no variance that the kernel scale could be. */
static void start_labels(const struct gpnn_fit_options *options, const struct gpnn_dataset *dataset,
                         const struct gpnn_parameters *start, struct gpnn_parameters *params)
{
  params->covariance.kernelscale = 1;
  start_link(options, dataset, start, &params->link);
}

/* The parameters that target 't' starts from, or NULL. */
static const struct gpnn_parameters *start_of(const struct gpnn_fit_options *options, size_t t)
{
  return options->start == NULL || t >= options->n_starts ? options->start : options->start + t;
}

/* ---- stages ----------------------------------------------------------------------------- */

static enum gpnn_status check_options(const struct gpnn_dataset *dataset,
                                      const struct gpnn_fit_options *options,
                                      struct gpnn_error *err)
{
  const struct gpnn_parameters *start = options->start;
  if (options->n_blocks < 1 || options->block_size < 2)
    return gpnn_fail(err, GPNN_EINVAL, "estimation needs a block of at least 2 rows");
  if (options->k < 1 || options->rows < 1 || options->batch < 1 || options->steps < 1 ||
      options->refresh < 1)
    return gpnn_fail(err, GPNN_EINVAL, "estimation needs neighbours, rows and steps");
  if (dataset->n < 2)
    return gpnn_fail(err, GPNN_EDATA, "estimation needs at least 2 rows; there are %zu",
                     dataset->n);
  if (start != NULL && start->covariance.n_lengthscales != 1 &&
      start->covariance.n_lengthscales != dataset->n_groups)
    return gpnn_fail(
        err, GPNN_EMISMATCH,
        "the parameters to start from have %zu lengthscales but the index has %zu inputs",
        start->covariance.n_lengthscales, dataset->n_groups);
  if (start != NULL && options->rotation != NULL &&
      options->rotation == start->covariance.rotation &&
      start->covariance.n_rotation != dataset->d * dataset->d)
    return gpnn_fail(
        err, GPNN_EMISMATCH,
        "the rotation to start from has %zu numbers, which does not match the %zu inputs "
        "of the index",
        start->covariance.n_rotation, dataset->d);
  if (options->rotation != NULL &&
      (options->mean == GPNN_MEAN_LINEAR || dataset->n_groups != dataset->d))
    return gpnn_fail(err, GPNN_EINVAL,
                     "inputs cannot be rotated under a linear mean or with points");
  if (options->learn_rotation &&
      (!options->ard || options->mean == GPNN_MEAN_LINEAR || dataset->n_groups != dataset->d ||
       options->first == GPNN_OBJECTIVE_VECCHIA || options->second == GPNN_OBJECTIVE_VECCHIA))
    return gpnn_fail(
        err, GPNN_EINVAL,
        "a rotation can be learnt only with ARD, and not with a linear mean, points or "
        "vecchia");
  enum gpnn_objective_kind last =
      options->second == GPNN_OBJECTIVE_NONE ? options->first : options->second;
  if (options->learn_rotation && last == GPNN_OBJECTIVE_BLOCK)
    return gpnn_fail(err, GPNN_EINVAL, "a rotation can be learnt by loo and mll-k, not by block");
  if (options->mean == GPNN_MEAN_REGRESSORS && dataset->n_regressors == 0)
    return gpnn_fail(err, GPNN_EMISMATCH, "the index has no regressors for the mean");
  return GPNN_OK;
}

static enum gpnn_status params_init(const struct gpnn_dataset *dataset,
                                    const struct gpnn_fit_options *options,
                                    struct gpnn_parameters *params, struct gpnn_error *err)
{
  size_t n_terms = gpnn_mean_width(options->mean, dataset->d, dataset->n_regressors);
  enum gpnn_status status = gpnn_sight_record(params, dataset, err);
  if (status != GPNN_OK) return status;
  params->covariance.kernel = options->kernel;
  params->covariance.smoothness = options->smoothness;
  params->covariance.n_lengthscales = options->ard ? dataset->n_groups : 1;
  params->neighbours = options->neighbours;
  params->mean.kind = options->mean;
  params->mean.n_coefficients = n_terms;
  params->covariance.lengthscale =
      gpnn_alloc(params->covariance.n_lengthscales, 1, sizeof *params->covariance.lengthscale);
  params->mean.coefficients = gpnn_alloc(n_terms, 1, sizeof *params->mean.coefficients);
  if (options->first == GPNN_OBJECTIVE_LABELS) {
    params->likelihood = GPNN_LIKELIHOOD_CATEGORICAL;
    params->link.n_bias = gpnn_dataset_n_classes(dataset);
    params->link.bias = gpnn_alloc(params->link.n_bias, 1, sizeof *params->link.bias);
    if (params->link.bias == NULL) return gpnn_fail_memory(err, "for the parameters");
  }
  return params->covariance.lengthscale != NULL && params->mean.coefficients != NULL
             ? GPNN_OK
             : gpnn_fail_memory(err, "for the parameters");
}

/* Records how many rows parameters were estimated from.  All stages take the first rows of the same
 * random order, so the largest number covers them all. */
static void note_rows(struct gpnn_parameters *params, size_t n_rows)
{
  if (params->provenance.fit_rows < n_rows) params->provenance.fit_rows = n_rows;
}

/* Estimates the coefficients by generalised least squares where the objective does not. */
static enum gpnn_status regress(const struct gpnn_dataset *dataset,
                                const struct gpnn_fit_options *options, bool with_constant,
                                struct gpnn_parameters *params, struct gpnn_jitter *jitter,
                                struct gpnn_error *err)
{
  struct gpnn_regress_options regress = GPNN_REGRESS_OPTIONS_INIT;
  struct gpnn_regress_report report;
  if (params->mean.kind == GPNN_MEAN_ZERO) return GPNN_OK;
  if (params->mean.kind == GPNN_MEAN_CONSTANT && !with_constant) {
    /* A covariance found with blocks belongs to another estimate. */
    free(params->mean.covariance);
    params->mean.covariance = NULL;
    return GPNN_OK;
  }
  regress.seed = options->seed;
  regress.threads = options->threads;
  enum gpnn_status status = gpnn_regress(dataset, &regress, params, &report, err);
  if (status != GPNN_OK) return status;
  gpnn_jitter_note(jitter, report.jitter.n, report.jitter.most);
  note_rows(params, report.n_rows);
  return GPNN_OK;
}

static enum gpnn_status regress_all(const struct gpnn_fit_targets *targets,
                                    const struct gpnn_fit_options *options, bool with_constant,
                                    struct gpnn_jitter *jitter, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  *jitter = (struct gpnn_jitter){0, 0};
  for (size_t t = 0; t < targets->n && status == GPNN_OK; t++)
    status =
        regress(&targets->dataset[t], options, with_constant, &targets->params[t], jitter, err);
  return status;
}

static enum gpnn_status run_stage(const struct gpnn_fit_targets *targets,
                                  const struct gpnn_fit_options *options,
                                  enum gpnn_objective_kind kind, double scale,
                                  struct gpnn_fit_report *report, struct gpnn_error *err)
{
  bool by_block = kind == GPNN_OBJECTIVE_BLOCK;
  enum gpnn_status status = regress_all(targets, options, by_block, &report->mean_jitter, err);
  if (status != GPNN_OK || kind == GPNN_OBJECTIVE_NONE) return status;
  status = by_block ? gpnn_fit_blocks(targets, options, scale, report, err)
                    : gpnn_fit_neighbourhoods(targets, options, kind, scale, report, err);
  for (size_t t = 0; t < targets->n && status == GPNN_OK; t++)
    note_rows(&targets->params[t], report->n_rows);
  if (status != GPNN_OK) return status;
  return regress_all(targets, options, by_block, &report->mean_jitter, err);
}

/* Runs the stages on the inputs as the kernel sees them.  Only the last stage learns a rotation,
 * because a later stage would not see the rotated inputs. */
static enum gpnn_status run_stages(const struct gpnn_fit_targets *targets,
                                   const struct gpnn_fit_options *options,
                                   struct gpnn_fit_report *report, struct gpnn_error *err)
{
  struct spread spread = {0};
  struct gpnn_fit_options first = *options;
  if (options->second != GPNN_OBJECTIVE_NONE) first.learn_rotation = false;
  enum gpnn_status status = measure_spread(targets->dataset, options->seed, &spread, err);
  for (size_t t = 0; t < targets->n && status == GPNN_OK; t++) {
    status = params_init(&targets->dataset[t], options, &targets->params[t], err);
    if (status == GPNN_OK)
      start_parameters(options, start_of(options, t), &spread, &targets->params[t]);
    if (status == GPNN_OK && options->first == GPNN_OBJECTIVE_LABELS)
      start_labels(options, &targets->dataset[t], start_of(options, t), &targets->params[t]);
  }
  if (status == GPNN_OK)
    status = run_stage(targets, &first, options->first, spread.median, report, err);
  if (status == GPNN_OK && options->second != GPNN_OBJECTIVE_NONE)
    status = run_stage(targets, options, options->second, spread.median, report, err);
  free(spread.group);
  return status;
}

/* Estimates the coefficients again, now that the rotation of the rows 'x' is known. */
static enum gpnn_status regress_rotated(struct gpnn_dataset *seen,
                                        const struct gpnn_fit_targets *targets, const double *x,
                                        const struct gpnn_fit_options *options,
                                        struct gpnn_jitter *jitter, struct gpnn_error *err)
{
  size_t d = seen->d;
  double *rotated = gpnn_alloc(seen->n, d, sizeof *rotated);
  if (rotated == NULL) return gpnn_fail_memory(err, "for rotated training rows");
  gpnn_rotation_apply(d, targets->params->covariance.rotation, seen->n, x, rotated);
  for (size_t t = 0; t < targets->n; t++) seen[t].x = rotated;
  enum gpnn_status status = regress_all(targets, options, false, jitter, err);
  free(rotated);
  return status;
}

/* Replaces the rows of all targets by rotated ones, in '*rotated', which the caller frees, and
 * copies the rotation to their parameters. */
static enum gpnn_status rotate(struct gpnn_dataset *seen, struct gpnn_parameters *params, size_t n,
                               const double *rotation, double **rotated, struct gpnn_error *err)
{
  size_t d = seen->d;
  *rotated = gpnn_alloc(seen->n, d, sizeof **rotated);
  if (*rotated == NULL) return gpnn_fail_memory(err, "for rotated training rows");
  gpnn_rotation_apply(d, rotation, seen->n, seen->x, *rotated);
  for (size_t t = 0; t < n; t++) {
    seen[t].x = *rotated;
    params[t].covariance.rotation = gpnn_alloc(d, d, sizeof *params->covariance.rotation);
    if (params[t].covariance.rotation == NULL) return gpnn_fail_memory(err, "for a rotation");
    params[t].covariance.n_rotation = d * d;
    memcpy(params[t].covariance.rotation, rotation, d * d * sizeof *rotation);
  }
  return GPNN_OK;
}

/* Records how the parameters of a target were estimated.  What continues an earlier fit has its
 * rotation, and all its steps. */
static void note_estimation(const struct gpnn_fit_options *options, size_t n_targets,
                            const struct gpnn_parameters *start, struct gpnn_parameters *params)
{
  bool by_second = options->second != GPNN_OBJECTIVE_NONE;
  bool keeps_rotation =
      start != NULL && options->rotation != NULL && options->rotation == start->covariance.rotation;
  struct gpnn_estimation before = {0};
  if (start != NULL) before = start->provenance.estimation;
  params->provenance.estimation = (struct gpnn_estimation){
      .objective = by_second ? options->second : options->first,
      .n_blocks = options->n_blocks,
      .block_size = options->block_size,
      .k = options->k,
      .steps = before.steps > options->steps ? before.steps : options->steps,
      .seed = options->seed,
      .has_thin = options->thin >= 0,
      .thin = options->thin,
      .learnt_rotation = options->learn_rotation || (keeps_rotation && before.learnt_rotation),
      .shared_lengthscales = n_targets > 1,
      .shared_ratio = n_targets > 1 && options->same_ratio,
      .fixed_lengthscale = options->fixed_lengthscale > 0,
      .fixed_kernelscale = options->fixed_kernelscale > 0,
      .fixed_noise = options->fixed_noise > 0};
}

/* Fits 'n' targets into 'fitted', which must be zeroed and is released by the caller even after a
 * failure; overwrites 'seen'. */
static enum gpnn_status fit_targets(struct gpnn_dataset *seen, struct gpnn_parameters *fitted,
                                    size_t n, const struct gpnn_fit_options *options,
                                    struct gpnn_fit_report *report, struct gpnn_error *err)
{
  const struct gpnn_fit_targets targets = {n, seen, fitted};
  const double *x = seen->x;
  double *rotated = NULL;
  enum gpnn_status status = check_options(seen, options, err);
  if (status == GPNN_OK && options->rotation != NULL)
    status = rotate(seen, fitted, n, options->rotation, &rotated, err);
  if (status == GPNN_OK) status = run_stages(&targets, options, report, err);
  if (status == GPNN_OK && options->learn_rotation && options->mean == GPNN_MEAN_REGRESSORS)
    status = regress_rotated(seen, &targets, x, options, &report->mean_jitter, err);
  for (size_t t = 0; t < n; t++) note_estimation(options, n, start_of(options, t), &fitted[t]);
  free(rotated);
  return status;
}

enum gpnn_status gpnn_fit(size_t n, const struct gpnn_dataset *const dataset[],
                          const struct gpnn_fit_options *options, struct gpnn_parameters *params,
                          struct gpnn_fit_report *report, struct gpnn_error *err)
{
  struct gpnn_fit_report own = {.spacing = 1, .usual_spacing = 1};
  struct gpnn_dataset *seen = gpnn_alloc(n, 1, sizeof *seen);
  struct gpnn_parameters *fitted = gpnn_alloc(n, 1, sizeof *fitted);
  enum gpnn_status status = GPNN_OK;
  if (seen == NULL || fitted == NULL) status = gpnn_fail_memory(err, "for the targets");
  for (size_t t = 0; t < n && status == GPNN_OK; t++) seen[t] = *dataset[t];
  if (status == GPNN_OK) status = fit_targets(seen, fitted, n, options, &own, err);
  if (status == GPNN_OK) {
    memcpy(params, fitted, n * sizeof *fitted);
    *report = own;
    free(fitted);
  } else if (fitted != NULL) {
    gpnn_parameters_free(fitted, n);
  }
  free(seen);
  return status;
}

bool gpnn_fit_loses_noise(const struct gpnn_parameters *params)
{
  return params->covariance.noise <=
         gpnn_cholesky_rounding(params->neighbours) * params->covariance.kernelscale;
}
