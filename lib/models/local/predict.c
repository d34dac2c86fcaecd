#include "models/local/predict.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "likelihood/conformal.h"
#include "models/local/distance.h"
#include "stats/normal.h"
#include "stats/student.h"

/* What turns standardised predictions of one model into what was asked for. */
struct finish {
  const struct gpnn_dataset *data;
  const struct gpnn_parameters *params;
  const struct gpnn_predict_options *options;
  const struct gpnn_predict_rows *rows;
  double gamma, scale, centre;
  double *terms; /* of one row's mean: scratch */
};

static const double *row_of(const double *array, size_t width, size_t i)
{
  return array == NULL ? NULL : array + i * width;
}

/* The mean function at row 'i', and the variance of its coefficients there. */
static void prior(const struct finish *f, size_t i, double *mean, double *variance)
{
  const struct gpnn_parameters *params = f->params;
  size_t d = f->data->d, p = f->data->n_regressors, n_terms = params->mean.n_coefficients;
  const double *x = f->rows->x + i * d, *regressors = row_of(f->rows->regressors, p, i);
  *mean = gpnn_mean_value(params->mean.kind, params->mean.coefficients, d, x, p, regressors);
  *variance = params->covariance.kernelscale;
  if (params->mean.covariance == NULL) return;
  gpnn_mean_terms(params->mean.kind, d, x, p, regressors, f->terms);
  for (size_t a = 0; a < n_terms; a++)
    for (size_t b = 0; b < n_terms; b++)
      *variance += f->terms[a] * params->mean.covariance[a * n_terms + b] * f->terms[b];
}

/* From standardised mean and latent variance to what was asked for, in place; returns whether the
 * row is beyond the largest distance. */
static bool finish_row(const struct finish *f, size_t i)
{
  const struct gpnn_predict_options *options = f->options;
  const struct gpnn_predict_rows *rows = f->rows;
  bool beyond = options->max_distance > 0 && rows->nearest[i] > options->max_distance;
  double mean, variance;
  prior(f, i, &mean, &variance);
  if (!beyond) {
    mean += f->gamma * (rows->mean[i] - mean);
    if (!options->mean_only) variance = rows->sd[i];
  } else if (options->beyond == GPNN_BEYOND_NA) {
    mean = variance = nan("");
  }
  if (!options->latent) {
    variance += f->params->covariance.noise;
    if (rows->noise != NULL) variance += gpnn_scaling_noise(&f->data->scaling, rows->noise[i]);
  }
  rows->mean[i] = f->centre + f->scale * mean;
  if (!options->mean_only) rows->sd[i] = f->scale * sqrt(variance);
  return beyond;
}

static struct finish make_finish(const struct gpnn_localgp *gp,
                                 const struct gpnn_predict_options *options,
                                 const struct gpnn_predict_rows *rows, double *terms)
{
  const struct gpnn_dataset *data = gpnn_localgp_data(gp);
  const struct gpnn_parameters *params = gpnn_localgp_params(gp);
  bool original = options->units == GPNN_UNITS_ORIGINAL;
  size_t m = gpnn_localgp_neighbours(gp);
  return (struct finish){.data = data,
                         .params = params,
                         .options = options,
                         .rows = rows,
                         .gamma = options->debias
                                      ? 1 + params->covariance.noise /
                                                ((double)m * params->covariance.kernelscale)
                                      : 1,
                         .scale = original ? data->scaling.y_sd : 1,
                         .centre = original ? data->scaling.y_mean : 0,
                         .terms = terms};
}

/* From standardised predictions of one target to what was asked for. */
static enum gpnn_status finish_target(const struct gpnn_localgp *gp,
                                      const struct gpnn_predict_options *options,
                                      const struct gpnn_predict_rows *rows,
                                      struct gpnn_predict_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_parameters *params = gpnn_localgp_params(gp);
  double *terms = gpnn_alloc(params->mean.n_coefficients, 1, sizeof *terms);
  if (terms == NULL) return gpnn_fail_memory(err, "for predictions");
  struct finish f = make_finish(gp, options, rows, terms);
  enum gpnn_status status = GPNN_OK;
  if (isinf(f.gamma))
    status = gpnn_fail(err, GPNN_ENUMERIC,
                       "the noise is too large beside the kernel scale to take off the bias");
  for (size_t i = 0; i < rows->n && status == GPNN_OK; i++) {
    counts->n_beyond += finish_row(&f, i);
    if (isinf(rows->mean[i]) || (!options->mean_only && isinf(rows->sd[i])))
      status = gpnn_fail(err, GPNN_ENUMERIC, "a prediction is larger than any number");
  }
  counts->n_rows += rows->n;
  counts->n_far += gpnn_distance_count_far(params, rows->n, rows->nearest);
  free(terms);
  return status;
}

enum gpnn_status gpnn_predict_all(size_t n, const struct gpnn_localgp *const gps[],
                                  const struct gpnn_predict_options *options,
                                  const struct gpnn_predict_rows *rows,
                                  struct gpnn_predict_counts *counts, struct gpnn_error *err)
{
  struct gpnn_prediction *predictions = gpnn_alloc(n, 1, sizeof *predictions);
  struct gpnn_localgp_counts *model = gpnn_alloc(n, 1, sizeof *model);
  enum gpnn_status status = GPNN_OK;
  if (predictions == NULL || model == NULL) status = gpnn_fail_memory(err, "for predictions");
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    predictions[t] = (struct gpnn_prediction){.mean = rows[t].mean,
                                              .latent = options->mean_only ? NULL : rows[t].sd,
                                              .nearest = rows[t].nearest};
    model[t] = counts[t].model;
  }
  if (status == GPNN_OK && n > 0) {
    struct gpnn_points points = {.n = rows->n, .x = rows->x, .regressors = rows->regressors};
    status = gpnn_localgp_predict_all(n, gps, &points, predictions, model, err);
  }
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    counts[t].model = model[t];
    status = finish_target(gps[t], options, &rows[t], &counts[t], err);
  }
  free(predictions);
  free(model);
  return status;
}

enum gpnn_status gpnn_predict(const struct gpnn_localgp *gp,
                              const struct gpnn_predict_options *options,
                              const struct gpnn_predict_rows *rows,
                              struct gpnn_predict_counts *counts, struct gpnn_error *err)
{
  return gpnn_predict_all(1, &gp, options, rows, counts, err);
}

bool gpnn_predict_warns_of_far(const struct gpnn_predict_counts *counts)
{
  static const double too_large = 0.05;
  return (double)counts->n_far > too_large * (double)counts->n_rows;
}

double gpnn_predict_half_width(const struct gpnn_parameters *params,
                               const struct gpnn_predict_options *options, double level,
                               enum gpnn_interval_source *source)
{
  double width = options->latent ? NAN : gpnn_conformal_width(params, level);
  *source = GPNN_INTERVAL_CONFORMAL;
  if (!isnan(width)) return width;
  *source = params->degrees > 0 ? GPNN_INTERVAL_STUDENT : GPNN_INTERVAL_GAUSSIAN;
  if (params->degrees > 0)
    return gpnn_student_half_width(level, params->degrees) *
           gpnn_student_unit_scale(params->degrees);
  return gpnn_normal_half_width(level);
}

double gpnn_predict_target(const struct gpnn_dataset *dataset, enum gpnn_units units, double y)
{
  const struct gpnn_scaling *scaling = &dataset->scaling;
  return units == GPNN_UNITS_ORIGINAL ? y : (y - scaling->y_mean) / scaling->y_sd;
}
