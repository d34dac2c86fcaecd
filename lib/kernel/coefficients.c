#include "kernel/coefficients.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "stats/transform.h"

void gpnn_coefficient_units_release(struct gpnn_coefficient_units *units)
{
  for (size_t t = 0; units->names != NULL && t < units->n_terms; t++) free(units->names[t]);
  free(units->names);
  free(units->terms);
  *units = (struct gpnn_coefficient_units){0};
}

/* The name of input 'j' and, if it is a column of the table, its moments. */
static void describe_input(const struct gpnn_dataset *dataset, size_t j, char name[GPNN_MASK_BYTES],
                           struct gpnn_moments *moments)
{
  const struct gpnn_scaling *scaling = &dataset->scaling;
  if (dataset->n_groups != dataset->d) {
    snprintf(name, GPNN_MASK_BYTES, "coordinate %zu", j + 1);
    return;
  }
  gpnn_dataset_group_name(dataset, NULL, dataset->group[j], name);
  if (scaling->method != GPNN_SCALING_SCALE) return;
  if (dataset->coordinates[j].is_score) {
    *moments = (struct gpnn_moments){0, 1 / gpnn_scores_unit(dataset)};
    return;
  }
  size_t column = dataset->coordinates[j].feature;
  *moments = (struct gpnn_moments){scaling->mean[column], 1 / scaling->weight[column]};
}

/* The name and moments of term 't'; 'moments' are 0 and 1 before, and stay so for terms that are
 * not columns of the table. */
static void describe_term(const struct gpnn_dataset *dataset, enum gpnn_mean mean, size_t t,
                          char name[GPNN_MASK_BYTES], struct gpnn_moments *moments)
{
  if (t == 0) {
    snprintf(name, GPNN_MASK_BYTES, "constant");
  } else if (mean == GPNN_MEAN_REGRESSORS) {
    const char *column = dataset->schema.regressors[t - 1].name;
    gpnn_mask(name, column, strlen(column));
    *moments = dataset->scaling.regressors[t - 1];
  } else {
    describe_input(dataset, t - 1, name, moments);
  }
}

/* Coefficients are those of the transformed target, if there is a transform. */
static struct gpnn_moments target_of(const struct gpnn_dataset *dataset)
{
  const struct gpnn_transform *transform = dataset->transform;
  if (transform != NULL) return (struct gpnn_moments){transform->mean, transform->sd};
  return (struct gpnn_moments){dataset->scaling.y_mean, dataset->scaling.y_sd};
}

enum gpnn_status gpnn_coefficient_units_init(struct gpnn_coefficient_units *units,
                                             const struct gpnn_dataset *dataset,
                                             enum gpnn_mean mean, struct gpnn_error *err)
{
  struct gpnn_coefficient_units made = {
      .n_terms = gpnn_mean_width(mean, dataset->d, dataset->n_regressors),
      .target = target_of(dataset)};
  made.names = gpnn_alloc(made.n_terms, 1, sizeof *made.names);
  made.terms = gpnn_alloc(made.n_terms, 1, sizeof *made.terms);
  bool enough = made.names != NULL && made.terms != NULL;
  for (size_t t = 0; t < made.n_terms && enough; t++) {
    char name[GPNN_MASK_BYTES];
    made.terms[t] = (struct gpnn_moments){0, 1};
    describe_term(dataset, mean, t, name, &made.terms[t]);
    made.names[t] = gpnn_copy_text(name, strlen(name));
    enough = made.names[t] != NULL;
  }
  if (!enough) {
    gpnn_coefficient_units_release(&made);
    return gpnn_fail_memory(err, "for the terms of a mean");
  }
  *units = made;
  return GPNN_OK;
}

/* Value and standard error of sum_t weight_t coefficient_t. */
static void combine(const struct gpnn_parameters *params, const double *weight, double *value,
                    double *standard_error)
{
  size_t p = params->mean.n_coefficients;
  double variance = params->mean.covariance == NULL ? NAN : 0;
  *value = 0;
  for (size_t i = 0; i < p; i++) {
    *value += weight[i] * params->mean.coefficients[i];
    for (size_t j = 0; j < p && params->mean.covariance != NULL; j++)
      variance += weight[i] * params->mean.covariance[i * p + j] * weight[j];
  }
  *standard_error = sqrt(variance);
}

enum gpnn_status gpnn_coefficients_in_units(const struct gpnn_parameters *params,
                                            const struct gpnn_coefficient_units *units,
                                            double *coefficients, double *standard_errors,
                                            struct gpnn_error *err)
{
  size_t p = units->n_terms;
  double *weight = gpnn_alloc(p, 1, sizeof *weight);
  if (weight == NULL) return gpnn_fail_memory(err, "for coefficients");
  for (size_t t = 0; t < p; t++) {
    /* sum_j c_j (x_j - mean_j) / sd_j: the terms' means go into the constant. */
    for (size_t j = 0; j < p; j++)
      weight[j] = t == 0 ? -units->terms[j].mean / units->terms[j].sd : 0;
    weight[t] = 1 / units->terms[t].sd;
    combine(params, weight, coefficients + t, standard_errors + t);
    coefficients[t] = coefficients[t] * units->target.sd + (t == 0 ? units->target.mean : 0);
    standard_errors[t] *= units->target.sd;
  }
  free(weight);
  return GPNN_OK;
}

/* One line of gpnn_coefficients_describe(). */
static enum gpnn_status comment_one(struct gpnn_parameters *params, const char *term,
                                    const char *target, bool is_constant, double coefficient,
                                    double standard_error, struct gpnn_error *err)
{
  char error[64] = "";
  if (!isnan(standard_error))
    snprintf(error, sizeof error, " (standard error %.2g)", standard_error);
  return gpnn_parameters_comment(params, err, "coefficient %s %.6g%s in %s%s%s", term, coefficient,
                                 error, target, is_constant ? "" : " per unit of ",
                                 is_constant ? "" : term);
}

enum gpnn_status gpnn_coefficients_describe(struct gpnn_parameters *params,
                                            const struct gpnn_dataset *dataset,
                                            struct gpnn_error *err)
{
  char target[GPNN_MASK_BYTES];
  const char *column = dataset->schema.target.name;
  struct gpnn_coefficient_units units = {0};
  double *coefficients = gpnn_alloc(params->mean.n_coefficients, 2, sizeof *coefficients);
  enum gpnn_status status =
      coefficients == NULL ? gpnn_fail_memory(err, "for coefficients")
                           : gpnn_coefficient_units_init(&units, dataset, params->mean.kind, err);
  if (status == GPNN_OK) {
    double *standard_errors = coefficients + units.n_terms;
    gpnn_mask(target, column, strlen(column));
    status = gpnn_coefficients_in_units(params, &units, coefficients, standard_errors, err);
    for (size_t t = 0; t < units.n_terms && status == GPNN_OK; t++)
      status = comment_one(params, units.names[t], target, t == 0, coefficients[t],
                           standard_errors[t], err);
  }
  gpnn_coefficient_units_release(&units);
  free(coefficients);
  return status;
}
