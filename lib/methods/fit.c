#include "methods/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "methods/fit_coordinates.h"
#include "methods/regress.h"
#include "models/rotation.h"

/* ---- names ------------------------------------------------------------------------------ */

static const char *const names[] = {"none", "block", "loo", "mll-k", "vecchia"};

bool gpnn_objective_by_name(const char *name, enum gpnn_objective_kind *kind)
{
  for (size_t i = 1; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *kind = (enum gpnn_objective_kind)i;
    return true;
  }
  return false;
}

const char *gpnn_objective_name(enum gpnn_objective_kind kind)
{
  return names[kind];
}

/* ---- where to start --------------------------------------------------------------------- */

/* Typical distances between rows: over all inputs, and mean squares over those of each group. */
struct spread {
  double median;
  double *group; /* owned; n_groups */
};

static int compare_doubles(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Adds the squared differences of two rows to those of their groups; returns their sum. */
static double add_pair(const struct gpnn_index_contents *contents, uint64_t a, uint64_t b,
                       double *group)
{
  size_t d = contents->d;
  double r2 = 0;
  for (size_t j = 0; j < d; j++) {
    double difference = contents->x[a * d + j] - contents->x[b * d + j];
    group[contents->group[j]] += difference * difference;
    r2 += difference * difference;
  }
  return r2;
}

/* Of up to 300 random rows; where most pairs are alike the median gives way to the largest
 * distance, and to 1 where all are. */
static enum gpnn_status measure_spread(const struct gpnn_index_contents *contents, uint64_t seed,
                                       struct spread *spread, struct gpnn_error *err)
{
  enum { MOST = 300 };
  size_t s = contents->n < MOST ? contents->n : MOST, n = 0;
  uint64_t rows[MOST];
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_ESTIMATE);
  double *r2 = gpnn_alloc(s, s, sizeof *r2);
  spread->group = gpnn_alloc(contents->n_groups, 1, sizeof *spread->group);
  enum gpnn_status status = r2 == NULL || spread->group == NULL
                                ? gpnn_fail_memory(err, "for distances")
                                : gpnn_rng_sample(&rng, contents->n, s, rows, err);
  if (status == GPNN_OK) {
    for (size_t i = 1; i < s; i++)
      for (size_t k = 0; k < i; k++) r2[n++] = add_pair(contents, rows[i], rows[k], spread->group);
    for (size_t g = 0; g < contents->n_groups; g++) spread->group[g] /= (double)n;
    qsort(r2, n, sizeof *r2, compare_doubles);
    double typical = r2[n / 2] > 0 ? r2[n / 2] : r2[n - 1];
    spread->median = typical > 0 ? sqrt(typical) : 1;
  }
  free(r2);
  return status;
}

/* The median distance for one lengthscale; for many, each in proportion to its group's spread. */
static void spread_lengthscales(const struct spread *spread, struct gpnn_params *params)
{
  size_t k = params->n_lengthscales;
  double total = 0;
  for (size_t g = 0; k > 1 && g < k; g++) total += spread->group[g];
  for (size_t g = 0; g < k; g++) {
    bool alike = k == 1 || spread->group[g] == 0;
    double share = alike ? 1 : sqrt(spread->group[g] / total * (double)k);
    params->lengthscale[g] = spread->median * share;
  }
}

/* The lengthscales of 'start', given to a fit with as many or fewer: the geometric mean. */
static void given_lengthscales(const struct gpnn_params *start, struct gpnn_params *params)
{
  double sum = 0;
  if (params->n_lengthscales > 1 || start->n_lengthscales == 1) {
    for (size_t j = 0; j < params->n_lengthscales; j++)
      params->lengthscale[j] = start->lengthscale[start->n_lengthscales == 1 ? 0 : j];
    return;
  }
  for (size_t j = 0; j < start->n_lengthscales; j++) sum += log(start->lengthscale[j]);
  params->lengthscale[0] = exp(sum / (double)start->n_lengthscales);
}

/* Gives every parameter its first value. */
static void start_parameters(const struct gpnn_fit_options *options, const struct spread *spread,
                             struct gpnn_params *params)
{
  double fixed[] = {options->fixed_lengthscale, options->fixed_kernelscale, options->fixed_noise};
  size_t k = params->n_lengthscales;
  spread_lengthscales(spread, params);
  params->kernelscale = 0.9;
  params->noise = 0.1;
  if (options->start != NULL) {
    given_lengthscales(options->start, params);
    params->kernelscale = options->start->kernelscale;
    params->noise = options->start->noise;
  }
  for (size_t i = 0; i < k + 2; i++) {
    double held = fixed[i < k ? 0 : i - k + 1];
    if (held > 0) *gpnn_fit_parameter(params, i) = held;
  }
}

/* ---- stages ----------------------------------------------------------------------------- */

static enum gpnn_status check_options(const struct gpnn_index_contents *contents,
                                      const struct gpnn_fit_options *options,
                                      struct gpnn_error *err)
{
  const struct gpnn_params *start = options->start;
  if (options->n_blocks < 1 || options->block_size < 2)
    return gpnn_fail(err, GPNN_EINVAL, "estimation needs a block of at least 2 rows");
  if (options->k < 1 || options->rows < 1 || options->batch < 1 || options->steps < 1 ||
      options->refresh < 1)
    return gpnn_fail(err, GPNN_EINVAL, "estimation needs neighbours, rows and steps");
  if (contents->n < 2)
    return gpnn_fail(err, GPNN_EDATA, "estimation needs at least 2 rows, there are %zu",
                     contents->n);
  if (start != NULL && start->n_lengthscales != 1 && start->n_lengthscales != contents->n_groups)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters to start from have %zu lengthscales, the index has %zu inputs",
                     start->n_lengthscales, contents->n_groups);
  if (options->rotation != NULL &&
      (options->mean == GPNN_MEAN_LINEAR || contents->n_groups != contents->d))
    return gpnn_fail(err, GPNN_EINVAL,
                     "inputs cannot be rotated with a linear mean or with points");
  if (options->learn_rotation &&
      (!options->ard || options->mean == GPNN_MEAN_LINEAR || contents->n_groups != contents->d ||
       options->first == GPNN_OBJECTIVE_VECCHIA || options->second == GPNN_OBJECTIVE_VECCHIA))
    return gpnn_fail(err, GPNN_EINVAL,
                     "a rotation can be learnt with ARD alone, and not with a linear mean, points "
                     "or vecchia");
  enum gpnn_objective_kind last =
      options->second == GPNN_OBJECTIVE_NONE ? options->first : options->second;
  if (options->learn_rotation && last == GPNN_OBJECTIVE_BLOCK)
    return gpnn_fail(err, GPNN_EINVAL, "a rotation can be learnt by loo and mll-k, not by block");
  if (options->mean == GPNN_MEAN_REGRESSORS && contents->n_regressors == 0)
    return gpnn_fail(err, GPNN_EMISMATCH, "the index has no regressors for the mean");
  return GPNN_OK;
}

static enum gpnn_status allocate(const struct gpnn_index_contents *contents,
                                 const struct gpnn_fit_options *options, struct gpnn_params *params,
                                 struct gpnn_error *err)
{
  size_t n_terms = gpnn_mean_width(options->mean, contents->d, contents->n_regressors);
  params->kernel = options->kernel;
  params->smoothness = options->smoothness;
  params->n_lengthscales = options->ard ? contents->n_groups : 1;
  params->neighbours = options->neighbours;
  params->mean = options->mean;
  params->n_coefficients = n_terms;
  params->lengthscale = gpnn_alloc(params->n_lengthscales, 1, sizeof *params->lengthscale);
  params->coefficients = gpnn_alloc(n_terms, 1, sizeof *params->coefficients);
  return params->lengthscale != NULL && params->coefficients != NULL
             ? GPNN_OK
             : gpnn_fail_memory(err, "for the parameters");
}

/* Coefficients by generalised least squares, where the objective does not estimate them. */
static enum gpnn_status regress(const struct gpnn_index_contents *contents,
                                const struct gpnn_fit_options *options, bool with_constant,
                                struct gpnn_params *params, struct gpnn_error *err)
{
  struct gpnn_regress_options regress = GPNN_REGRESS_OPTIONS_INIT;
  size_t n_rows;
  if (params->mean == GPNN_MEAN_ZERO) return GPNN_OK;
  if (params->mean == GPNN_MEAN_CONSTANT && !with_constant) {
    /* The covariance found with blocks is of another estimate. */
    free(params->covariance);
    params->covariance = NULL;
    return GPNN_OK;
  }
  regress.seed = options->seed;
  regress.threads = options->threads;
  return gpnn_regress(contents, &regress, params, &n_rows, err);
}

static enum gpnn_status run_stage(const struct gpnn_index_contents *contents,
                                  const struct gpnn_fit_options *options,
                                  enum gpnn_objective_kind kind, double scale,
                                  struct gpnn_params *params, struct gpnn_fit_report *report,
                                  struct gpnn_error *err)
{
  bool by_block = kind == GPNN_OBJECTIVE_BLOCK;
  enum gpnn_status status = regress(contents, options, by_block, params, err);
  if (status != GPNN_OK || kind == GPNN_OBJECTIVE_NONE) return status;
  status = by_block ? gpnn_fit_blocks(contents, options, scale, params, report, err)
                    : gpnn_fit_neighbourhoods(contents, options, kind, scale, params, report, err);
  return status == GPNN_OK ? regress(contents, options, by_block, params, err) : status;
}

/* Runs the stages on what the kernel sees.  The last alone learns a rotation: what a stage sees is
 * not what an earlier one learnt. */
static enum gpnn_status run_stages(const struct gpnn_index_contents *contents,
                                   const struct gpnn_fit_options *options,
                                   struct gpnn_params *params, struct gpnn_fit_report *report,
                                   struct gpnn_error *err)
{
  struct spread spread = {0};
  struct gpnn_fit_options first = *options;
  enum gpnn_status status = allocate(contents, options, params, err);
  if (status == GPNN_OK) status = measure_spread(contents, options->seed, &spread, err);
  if (status == GPNN_OK) {
    start_parameters(options, &spread, params);
    if (options->second != GPNN_OBJECTIVE_NONE) first.learn_rotation = false;
    status = run_stage(contents, &first, options->first, spread.median, params, report, err);
  }
  if (status == GPNN_OK && options->second != GPNN_OBJECTIVE_NONE)
    status = run_stage(contents, options, options->second, spread.median, params, report, err);
  free(spread.group);
  return status;
}

/* Coefficients once more, now that it is known what the kernel sees of the rows of 'contents'. */
static enum gpnn_status regress_rotated(const struct gpnn_index_contents *contents,
                                        const struct gpnn_fit_options *options,
                                        struct gpnn_params *params, struct gpnn_error *err)
{
  struct gpnn_index_contents seen = *contents;
  double *rotated = gpnn_alloc(contents->n, contents->d, sizeof *rotated);
  if (rotated == NULL) return gpnn_fail_memory(err, "for rotated training rows");
  gpnn_rotation_apply(contents->d, params->rotation, contents->n, contents->x, rotated);
  seen.x = rotated;
  enum gpnn_status status = regress(&seen, options, false, params, err);
  free(rotated);
  return status;
}

/* The rows that the kernel sees, in a block that the caller frees, and the rotation in 'params'. */
static enum gpnn_status rotate(const struct gpnn_index_contents *contents, const double *rotation,
                               struct gpnn_params *params, double **rotated, struct gpnn_error *err)
{
  size_t d = contents->d;
  *rotated = gpnn_alloc(contents->n, d, sizeof **rotated);
  params->rotation = gpnn_alloc(d, d, sizeof *params->rotation);
  if (*rotated == NULL || params->rotation == NULL)
    return gpnn_fail_memory(err, "for rotated training rows");
  params->n_rotation = d * d;
  memcpy(params->rotation, rotation, d * d * sizeof *rotation);
  gpnn_rotation_apply(d, rotation, contents->n, contents->x, *rotated);
  return GPNN_OK;
}

enum gpnn_status gpnn_fit(const struct gpnn_index_contents *contents,
                          const struct gpnn_fit_options *options, struct gpnn_params *params,
                          struct gpnn_fit_report *report, struct gpnn_error *err)
{
  struct gpnn_index_contents seen = *contents;
  struct gpnn_params fitted = {0};
  struct gpnn_fit_report own = {.spacing = 1};
  double *rotated = NULL;
  enum gpnn_status status = check_options(contents, options, err);
  if (status == GPNN_OK && options->rotation != NULL) {
    status = rotate(contents, options->rotation, &fitted, &rotated, err);
    seen.x = rotated;
  }
  if (status == GPNN_OK) status = run_stages(&seen, options, &fitted, &own, err);
  if (status == GPNN_OK && options->learn_rotation && options->mean == GPNN_MEAN_REGRESSORS)
    status = regress_rotated(contents, options, &fitted, err);
  if (status == GPNN_OK) {
    *params = fitted;
    *report = own;
  } else {
    gpnn_params_release(&fitted);
  }
  free(rotated);
  return status;
}
