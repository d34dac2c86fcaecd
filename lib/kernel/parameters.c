#include "kernel/parameters.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "container/state.h"
#include "dataset/grid/grid.h"
#include "kernel/effects.h"
#include "kernel/parameters_private.h"

static const char *const objectives[] = {"none", "block", "loo", "mll-k", "vecchia", "labels"};

const char *gpnn_objective_name(enum gpnn_objective_kind kind)
{
  return objectives[kind];
}

enum gpnn_status gpnn_parameters_comment(struct gpnn_parameters *params, struct gpnn_error *err,
                                         const char *format, ...)
{
  char line[512] = "# ";
  va_list args;
  va_start(args, format);
  int printed = vsnprintf(line + 2, sizeof line - 3, format, args);
  va_end(args);
  size_t length = printed < 0 ? 2 : strlen(line);
  for (size_t i = 0; i < length; i++)
    if (line[i] == '\n' || line[i] == '\r') line[i] = ' '; /* a comment stays one line */
  gpnn_mask_all(line, "\t");
  line[length++] = '\n';
  size_t old = params->provenance.comments == NULL ? 0 : strlen(params->provenance.comments);
  char *comments = realloc(params->provenance.comments, old + length + 1);
  if (comments == NULL) return gpnn_fail_memory(err, "for a comment");
  memcpy(comments + old, line, length);
  comments[old + length] = '\0';
  params->provenance.comments = comments;
  return GPNN_OK;
}

void gpnn_parameters_forget_calibration(struct gpnn_parameters *params)
{
  free(params->calibration.conformal_level);
  free(params->calibration.conformal_width);
  params->calibration = (struct gpnn_calibration){0};
  if (params->likelihood == GPNN_LIKELIHOOD_GAUSSIAN) return;
  params->scale = (struct gpnn_scale){0};
  params->atom = (struct gpnn_atom){0};
  params->degrees = 0;
}

/* How many classes the members have: 'n' unless the link of one has other than that. */
static size_t count_classes(const struct gpnn_parameters *params, size_t n)
{
  for (size_t k = 0; k < gpnn_parameters_n_members(params); k++) {
    const struct gpnn_parameters *member = gpnn_parameters_member(params, k);
    if (member->inference == GPNN_INFERENCE_LINK && member->link.n_bias != n)
      return member->link.n_bias;
  }
  return n;
}

static enum gpnn_status check_classes(const struct gpnn_parameters *params,
                                      const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES];
  size_t n = gpnn_dataset_n_classes(dataset), n_own = count_classes(params, n);
  bool is_categorical = params->likelihood == GPNN_LIKELIHOOD_CATEGORICAL;
  if (is_categorical == (n > 0) && n_own == n) return GPNN_OK;
  gpnn_schema_column_name(&dataset->schema.target, name);
  if (!is_categorical)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters are of numbers, but target '%s' of the index holds classes",
                     name);
  if (n == 0)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters are of classes, but target '%s' of the index is a number",
                     name);
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "the parameters are of %zu classes, target '%s' of the index has %zu", n_own,
                   name, n);
}

/* A family has its arrays in a model file, and nothing else predicts from one. */
static enum gpnn_status check_family(const struct gpnn_parameters *params,
                                     const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  bool has_family = params->family != GPNN_FAMILY_NONE;
  if (has_family == (dataset->stored != NULL)) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH,
                   has_family ? "the parameters are those of a model file, which predicts by "
                                "itself: give it in place of the index"
                              : "the parameters are made for training rows, which a model file "
                                "does not have: give them with their index");
}

enum gpnn_status gpnn_parameters_check_rows(const struct gpnn_parameters *params,
                                            struct gpnn_error *err)
{
  if (params->grid.n_factors == 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "the parameters are of a grid, expected those of rows, as gpnn-fit makes them");
}

/* Kernels of distance take numbers; names have none. */
static enum gpnn_status check_kernel(const struct gpnn_factor *factor,
                                     const struct gpnn_grid_factor *levels, struct gpnn_error *err)
{
  if (factor->n_terms > 0 && levels->labels != NULL)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "factor %s has names in the index, between which there is no distance: its "
                     "kernel must be icm",
                     factor->name);
  for (size_t t = 0; t < factor->n_terms; t++) {
    const struct gpnn_factor_term *term = &factor->term[t];
    if (term->n_lengthscales != 1 && term->n_lengthscales != levels->d)
      return gpnn_fail(
          err, GPNN_EMISMATCH,
          "the parameters of factor %s have %zu lengthscales, the index has %zu columns",
          factor->name, term->n_lengthscales, levels->d);
    if (term->kernel == NULL && levels->d != 1)
      return gpnn_fail(err, GPNN_EMISMATCH,
                       "the parameters of factor %s have a period, the index has %zu columns: a "
                       "periodic kernel needs one",
                       factor->name, levels->d);
  }
  if (factor->n_terms > 0 || levels->d == 1) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "the kernel of factor %s is icm, the index has %zu columns: tasks have one",
                   factor->name, levels->d);
}

static enum gpnn_status check_factor(const struct gpnn_grid_process *process, size_t a,
                                     const struct gpnn_grid_factor *levels, struct gpnn_error *err)
{
  const struct gpnn_factor *factor = &process->factor[a];
  if (strcmp(factor->name, levels->name) != 0)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "factor %zu of the parameters is %s, that of the index %s", a + 1,
                     factor->name, levels->name);
  if (factor->n_terms == 0 && factor->n_tasks != levels->n)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters of factor %s are of %zu tasks, the index has %zu",
                     factor->name, factor->n_tasks, levels->n);
  if (process->noise_factor == a + 1 && process->n_noise != levels->n)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters have the noise of %zu levels of factor %s, the index has %zu "
                     "levels",
                     process->n_noise, factor->name, levels->n);
  return check_kernel(factor, levels, err);
}

static enum gpnn_status check_grid(const struct gpnn_parameters *params,
                                   const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  const struct gpnn_grid_process *process = &params->grid;
  const struct gpnn_grid *grid = dataset->grid;
  enum gpnn_status status = GPNN_OK;
  if (grid == NULL) return gpnn_parameters_check_rows(params, err);
  if (process->n_factors == 0)
    return gpnn_fail(
        err, GPNN_EMISMATCH,
        "the parameters are of rows, but the index is a grid: use those that gpnn-grid "
        "fit makes from it");
  if (process->n_factors != grid->n_factors)
    return gpnn_fail(err, GPNN_EMISMATCH, "the parameters have %zu factors, the grid has %zu",
                     process->n_factors, grid->n_factors);
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++)
    status = check_factor(process, a, &grid->factor[a], err);
  return status;
}

static enum gpnn_status check_member(const struct gpnn_parameters *params,
                                     const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  bool is_grid = params->grid.n_factors > 0;
  enum gpnn_status status = check_grid(params, dataset, err);
  if (status != GPNN_OK) return status;
  if (!is_grid && params->covariance.n_lengthscales != 1 &&
      params->covariance.n_lengthscales != dataset->n_groups)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters have %zu lengthscales, the index has %zu inputs",
                     params->covariance.n_lengthscales, dataset->n_groups);
  size_t square = 0;
  bool is_square = gpnn_multiply(dataset->d, dataset->d, &square);
  if (params->covariance.n_rotation > 0 &&
      (!is_square || params->covariance.n_rotation != square || dataset->n_groups != dataset->d))
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters' rotation has %zu numbers, which does not fit the %zu inputs "
                     "of the index",
                     params->covariance.n_rotation, dataset->d);
  size_t width = gpnn_mean_width(params->mean.kind, dataset->d, dataset->n_regressors);
  if (params->mean.n_coefficients != width)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters have %zu coefficients, a %s mean has %zu with this index",
                     params->mean.n_coefficients, gpnn_mean_names[params->mean.kind], width);
  /* The upper half is the hash of columns and scaling (dataset/dataset.h). */
  if (params->provenance.has_index && params->provenance.index >> 32 != dataset->fingerprint >> 32)
    return gpnn_fail(
        err, GPNN_EMISMATCH,
        "the parameters were made from an index of other columns, or of other scaling");
  return GPNN_OK;
}

static enum gpnn_status check_effects(const struct gpnn_parameters *params,
                                      const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  size_t n = params->effects.n_variances;
  if (n == 0 || n == gpnn_effects_n_variances(&dataset->schema)) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "the parameters have %zu variance%s of group effects, and the index %zu", n,
                   n == 1 ? "" : "s", gpnn_effects_n_variances(&dataset->schema));
}

enum gpnn_status gpnn_parameters_check(const struct gpnn_parameters *params,
                                       const struct gpnn_dataset *dataset, bool *other_model,
                                       struct gpnn_error *err)
{
  enum gpnn_status status = check_family(params, dataset, err);
  if (status == GPNN_OK) status = check_classes(params, dataset, err);
  if (status == GPNN_OK) status = check_effects(params, dataset, err);
  for (size_t k = 0; k < gpnn_parameters_n_members(params) && status == GPNN_OK; k++) {
    status = check_member(gpnn_parameters_member(params, k), dataset, err);
    if (status != GPNN_OK && k > 0)
      status = gpnn_prefix(err, status, "member %zu of the parameters", k + 1);
  }
  if (status != GPNN_OK) return status;
  *other_model = dataset->stored != NULL && params->provenance.has_index &&
                 params->provenance.index != dataset->fingerprint;
  return GPNN_OK;
}

bool gpnn_parameters_can_have(double kernelscale, double noise)
{
  return kernelscale > 0 && noise >= 0 && isfinite(kernelscale + noise);
}

size_t gpnn_parameters_n_members(const struct gpnn_parameters *params)
{
  return 1 + params->n_members;
}

const struct gpnn_parameters *gpnn_parameters_member(const struct gpnn_parameters *params, size_t k)
{
  return k == 0 ? params : &params->members[k - 1];
}

struct gpnn_parameters gpnn_parameters_alone(const struct gpnn_parameters *params, size_t k)
{
  struct gpnn_parameters own = *gpnn_parameters_member(params, k);
  own.likelihood = params->likelihood;
  own.n_members = 0;
  own.members = NULL;
  return own;
}

double gpnn_parameters_weight(const struct gpnn_parameters *params, size_t k)
{
  size_t n = gpnn_parameters_n_members(params);
  double sum = 0;
  if (n == 1) return 1;
  for (size_t i = 0; i < n; i++) sum += gpnn_parameters_member(params, i)->weight;
  return gpnn_parameters_member(params, k)->weight / sum;
}

double gpnn_parameters_noise(const struct gpnn_parameters *params)
{
  double sum = params->weight, noise = params->weight * params->covariance.noise;
  if (params->n_members == 0) return params->covariance.noise;
  for (size_t k = 0; k < params->n_members; k++) {
    sum += params->members[k].weight;
    noise += params->members[k].weight * params->members[k].covariance.noise;
  }
  return noise / sum;
}

enum gpnn_status gpnn_parameters_change_units(struct gpnn_parameters *params, double centre,
                                              double unit, struct gpnn_error *err)
{
  struct gpnn_mean_function *mean = &params->mean;
  if (mean->kind == GPNN_MEAN_ZERO && centre != 0) {
    double *constant = gpnn_alloc(1, 1, sizeof *constant);
    if (constant == NULL) return gpnn_fail_memory(err, "for the parameters");
    free(mean->coefficients); /* an array of none */
    mean->coefficients = constant;
    mean->kind = GPNN_MEAN_CONSTANT;
    mean->n_coefficients = 1;
  }
  size_t p = mean->n_coefficients;
  params->covariance.kernelscale *= unit * unit;
  params->covariance.noise *= unit * unit;
  for (size_t i = 0; i < params->grid.n_noise; i++) params->grid.noise[i] *= unit * unit;
  for (size_t i = 0; i < p; i++) mean->coefficients[i] *= unit;
  for (size_t i = 0; mean->covariance != NULL && i < p * p; i++) mean->covariance[i] *= unit * unit;
  if (p > 0) mean->coefficients[0] += centre;
  return GPNN_OK;
}

void gpnn_parameters_set_neighbours(struct gpnn_parameters *params, size_t neighbours)
{
  params->neighbours = neighbours;
  for (size_t k = 0; k < params->n_members; k++) params->members[k].neighbours = neighbours;
}

bool gpnn_parameters_use_regressors(const struct gpnn_parameters *params)
{
  for (size_t k = 0; k < gpnn_parameters_n_members(params); k++)
    if (gpnn_parameters_member(params, k)->mean.kind == GPNN_MEAN_REGRESSORS) return true;
  return false;
}

/* What a structure owns apart from its members. */
static void release_member(struct gpnn_parameters *params)
{
  free(params->target);
  free(params->sight);
  free(params->covariance.rotation);
  free(params->covariance.lengthscale);
  free(params->mean.coefficients);
  free(params->mean.covariance);
  gpnn_parameters_grid_release(&params->grid);
  free(params->link.bias);
  free(params->omega.log_median);
  gpnn_effects_release(&params->effects);
  free(params->calibration.conformal_level);
  free(params->calibration.conformal_width);
  free(params->provenance.comments);
}

void gpnn_parameters_drop_members(struct gpnn_parameters *params)
{
  for (size_t k = 0; k < params->n_members; k++) release_member(&params->members[k]);
  free(params->members);
  params->members = NULL;
  params->n_members = 0;
  params->weight = 0;
}

void gpnn_parameters_release(struct gpnn_parameters *params)
{
  gpnn_parameters_drop_members(params);
  release_member(params);
  *params = (struct gpnn_parameters){0};
}

void gpnn_parameters_free(struct gpnn_parameters *params, size_t n)
{
  for (size_t i = 0; i < n; i++) gpnn_parameters_release(&params[i]);
  free(params);
}

bool gpnn_parameters_lack_process(const struct gpnn_parameters *params)
{
  static const double least = 1e-6;
  return params->effects.n_variances > 0 &&
         params->covariance.kernelscale < least * params->covariance.noise;
}

/* ---- omega, which is in a state -------------------------------------------------------------- */

/* The name of the array, which belongs to the target that the parameters name, or to "". */
static const char array_name[] = "log-omega";

static const char *array_target(const struct gpnn_parameters *params)
{
  return params->target == NULL ? "" : params->target;
}

enum gpnn_status gpnn_parameters_store_omega(const struct gpnn_parameters *params,
                                             struct gpnn_state *state, struct gpnn_error *err)
{
  if (!params->omega.is_learnt) return GPNN_OK;
  return gpnn_state_add(state, array_target(params), array_name, params->omega.n,
                        params->omega.log_median, err);
}

enum gpnn_status gpnn_parameters_store_effects(const struct gpnn_parameters *params,
                                               struct gpnn_state *state, struct gpnn_error *err)
{
  return gpnn_effects_store(&params->effects, array_target(params), state, err);
}

enum gpnn_status gpnn_parameters_take_effects(struct gpnn_parameters *params,
                                              const struct gpnn_state *state, const char *name,
                                              struct gpnn_error *err)
{
  return gpnn_effects_take(&params->effects, array_target(params), state, name, err);
}

enum gpnn_status gpnn_parameters_take_omega(struct gpnn_parameters *params,
                                            const struct gpnn_state *state, const char *name,
                                            struct gpnn_error *err)
{
  const double most = 100; /* beyond which nothing is learnt, and powers of e overflow */
  struct gpnn_omega *omega = &params->omega;
  if (!omega->is_learnt || state == NULL) return GPNN_OK;
  const struct gpnn_state_array *array = gpnn_state_find(state, array_target(params), array_name);
  bool is_good = array != NULL && array->n > 0;
  for (size_t i = 0; is_good && i < array->n; i++) is_good = fabs(array->values[i]) <= most;
  if (!is_good)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: omega was learnt, but the file has no valid values",
                     name);
  omega->log_median = gpnn_alloc(array->n, 1, sizeof *omega->log_median);
  if (omega->log_median == NULL) return gpnn_fail_memory(err, "for the parameters");
  memcpy(omega->log_median, array->values, array->n * sizeof *omega->log_median);
  omega->n = array->n;
  return GPNN_OK;
}
