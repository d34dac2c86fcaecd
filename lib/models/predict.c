#include "models/predict.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "models/distance.h"

/* How to convert a channel's latent function to the predictions asked for. */
struct output {
  const struct gpnn_dataset *dataset;
  const struct gpnn_parameters *parameters;
  struct gpnn_head head;
  double debias;        /* factor on the difference from the mean function */
  double scale, centre; /* of the units asked for */
  double *terms;        /* owned: of the mean function at one row */
};

struct gpnn_predictor {
  const struct gpnn_model *model;
  struct gpnn_predict_options options;
  size_t n_channels;
  struct output *outputs; /* owned; n_channels */
  bool needs_row;         /* some head does (gpnn_head_needs_row()) */
  /* Owned; channels by rows of the largest batch so far. */
  double *variance, *nearest, *misfit, *mean_variance;
  size_t variance_capacity, nearest_capacity, misfit_capacity, mean_capacity;
};

/* ---- life --------------------------------------------------------------------------------- */

/* The most coefficients that the mean function of any member has. */
static size_t most_terms(const struct gpnn_parameters *parameters)
{
  size_t most = 0;
  for (size_t k = 0; k < gpnn_parameters_n_members(parameters); k++) {
    size_t n = gpnn_parameters_member(parameters, k)->mean.n_coefficients;
    if (n > most) most = n;
  }
  return most;
}

static enum gpnn_status output_init(struct output *output, const struct gpnn_model *model,
                                    size_t channel, const struct gpnn_predict_options *options,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_model_channel(model, channel)->dataset;
  const struct gpnn_parameters *parameters = gpnn_model_channel(model, channel)->parameters;
  bool original = options->units == GPNN_UNITS_ORIGINAL;
  size_t m = gpnn_model_neighbours(model, channel);
  if (options->debias && parameters->n_members > 0)
    return gpnn_fail(err, GPNN_EINVAL,
                     "the bias cannot be removed from the predictions of several members");
  *output = (struct output){.dataset = dataset,
                            .parameters = parameters,
                            .head = gpnn_head_of(parameters),
                            .debias = options->debias
                                          ? 1 + parameters->covariance.noise /
                                                    ((double)m * parameters->covariance.kernelscale)
                                          : 1,
                            .scale = original ? dataset->scaling.y_sd : 1,
                            .centre = original ? dataset->scaling.y_mean : 0,
                            .terms = gpnn_alloc(most_terms(parameters), 1, sizeof *output->terms)};
  return output->terms != NULL ? GPNN_OK : gpnn_fail_memory(err, "for predictions");
}

enum gpnn_status gpnn_predictor_new(struct gpnn_predictor **predictor,
                                    const struct gpnn_model *model,
                                    const struct gpnn_predict_options *options,
                                    struct gpnn_error *err)
{
  size_t n = gpnn_model_n_channels(model);
  struct gpnn_predictor *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for predictions");
  *new = (struct gpnn_predictor){.model = model, .options = *options, .n_channels = n};
  new->outputs = calloc(n, sizeof *new->outputs);
  enum gpnn_status status =
      new->outputs != NULL ? GPNN_OK : gpnn_fail_memory(err, "for predictions");
  for (size_t c = 0; c < n && status == GPNN_OK; c++)
    status = output_init(&new->outputs[c], model, c, options, err);
  for (size_t c = 0; c < n && status == GPNN_OK && !options->mean_only; c++)
    new->needs_row = new->needs_row || gpnn_head_needs_row(&new->outputs[c].head);
  if (status == GPNN_OK)
    *predictor = new;
  else
    gpnn_predictor_free(new);
  return status;
}

void gpnn_predictor_free(struct gpnn_predictor *predictor)
{
  if (predictor == NULL) return;
  for (size_t c = 0; c < predictor->n_channels && predictor->outputs != NULL; c++)
    free(predictor->outputs[c].terms);
  free(predictor->outputs);
  free(predictor->variance);
  free(predictor->nearest);
  free(predictor->misfit);
  free(predictor->mean_variance);
  free(predictor);
}

/* ---- rows --------------------------------------------------------------------------------- */

static const double *row_of(const double *array, size_t width, size_t i)
{
  return array == NULL ? NULL : array + i * width;
}

/* What one member predicts of the latent function at row 'i' without any training row. */
static struct gpnn_latent_row prior_of(const struct output *output,
                                       const struct gpnn_parameters *member,
                                       const struct gpnn_predict_rows *rows, size_t i)
{
  const struct gpnn_mean_function *mean = &member->mean;
  size_t d = output->dataset->d, p = output->dataset->n_regressors, n_terms = mean->n_coefficients;
  const double *x = rows->x + i * d, *regressors = row_of(rows->regressors, p, i);
  struct gpnn_latent_row prior = {
      .mean = gpnn_mean_value(mean->kind, mean->coefficients, d, x, p, regressors),
      .variance = member->covariance.kernelscale,
      .misfit = 1,
      .nearest = INFINITY};
  if (mean->covariance == NULL) return prior;
  gpnn_mean_terms(mean->kind, d, x, p, regressors, output->terms);
  for (size_t a = 0; a < n_terms; a++)
    for (size_t b = 0; b < n_terms; b++) {
      double part = output->terms[a] * mean->covariance[a * n_terms + b] * output->terms[b];
      prior.variance += part;
      prior.mean_variance += part;
    }
  return prior;
}

/* The same of all members (gpnn-methods(7), equations 5.6 and 5.7). */
static struct gpnn_latent_row prior(const struct output *output,
                                    const struct gpnn_predict_rows *rows, size_t i)
{
  const struct gpnn_parameters *parameters = output->parameters;
  size_t n = gpnn_parameters_n_members(parameters);
  struct gpnn_latent_row all = {.misfit = 1, .nearest = INFINITY};
  if (n == 1) return prior_of(output, parameters, rows, i);
  for (size_t k = 0; k < n; k++)
    all.mean += gpnn_parameters_weight(parameters, k) *
                prior_of(output, gpnn_parameters_member(parameters, k), rows, i).mean;
  for (size_t k = 0; k < n; k++) {
    const struct gpnn_parameters *member = gpnn_parameters_member(parameters, k);
    struct gpnn_latent_row own = prior_of(output, member, rows, i);
    double weight = gpnn_parameters_weight(parameters, k), off = own.mean - all.mean;
    all.variance += weight * (own.variance + off * off);
    all.mean_variance += weight * own.mean_variance;
  }
  return all;
}

/* Debiases the latent function at row 'i', or replaces it if the row is beyond the largest
 * distance. */
static struct gpnn_latent_row adjust(const struct gpnn_predictor *predictor,
                                     const struct output *output,
                                     const struct gpnn_predict_rows *rows, size_t i,
                                     struct gpnn_latent_row latent, bool is_beyond)
{
  struct gpnn_latent_row before = prior(output, rows, i);
  if (is_beyond && predictor->options.beyond == GPNN_BEYOND_NA)
    return (struct gpnn_latent_row){nan(""), nan(""), nan(""), nan(""), nan("")};
  if (is_beyond) return before;
  latent.mean = before.mean + output->debias * (latent.mean - before.mean);
  return latent;
}

/* The latent function at entry 'at' of the predictor's arrays. */
static struct gpnn_latent_row latent_at(const struct gpnn_predictor *predictor, size_t at,
                                        double mean)
{
  struct gpnn_latent_row latent = {.mean = mean, .nearest = predictor->nearest[at]};
  if (predictor->options.mean_only) return latent;
  latent.variance = predictor->variance[at];
  if (!predictor->needs_row) return latent;
  latent.mean_variance = predictor->mean_variance[at];
  latent.misfit = predictor->misfit[at];
  return latent;
}

/* The offset of row 'i', in the units asked for. */
static double offset_of(const struct output *output, const struct gpnn_predict_rows *rows, size_t i)
{
  const struct gpnn_dataset *dataset = output->dataset;
  return rows->offset[i * gpnn_dataset_n_targets(dataset) + dataset->target] * output->scale /
         dataset->scaling.y_sd;
}

/* Completes row 'i' of a channel, entry 'at' of the predictor's arrays: replaces the latent mean in
 * 'mean', and writes 'sd'. */
static enum gpnn_status finish_row(const struct gpnn_predictor *predictor,
                                   const struct output *output,
                                   const struct gpnn_predict_rows *rows, size_t i, size_t at,
                                   bool is_beyond, double *mean, double *sd, struct gpnn_error *err)
{
  const struct gpnn_predict_options *options = &predictor->options;
  double known =
      rows->noise == NULL ? 0 : gpnn_scaling_noise(&output->dataset->scaling, rows->noise[i]);
  struct gpnn_latent_row latent = latent_at(predictor, at, mean[i]);
  latent = adjust(predictor, output, rows, i, latent, is_beyond);
  struct gpnn_predictive value = {latent.mean, 0};
  if (!options->mean_only)
    value = options->latent ? gpnn_head_latent(&output->head, &latent)
                            : gpnn_head_observe(&output->head, &latent, known);
  mean[i] = output->centre + output->scale * value.mean;
  if (rows->offset != NULL) mean[i] += offset_of(output, rows, i);
  if (!options->mean_only) sd[i] = output->scale * sqrt(value.variance);
  if (!isinf(mean[i]) && (options->mean_only || !isinf(sd[i]))) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENUMERIC, "a prediction is larger than any number");
}

static enum gpnn_status finish_channel(const struct gpnn_predictor *predictor, size_t channel,
                                       const struct gpnn_predict_rows *rows, double *mean,
                                       double *sd, struct gpnn_counts *counts,
                                       struct gpnn_error *err)
{
  const struct output *output = &predictor->outputs[channel];
  double farthest = predictor->options.max_distance;
  size_t first = channel * rows->n;
  const double *nearest = predictor->nearest + first;
  enum gpnn_status status = GPNN_OK;
  if (isinf(output->debias))
    return gpnn_fail(err, GPNN_ENUMERIC,
                     "the noise is too large relative to the kernel scale to remove the bias");
  for (size_t i = 0; i < rows->n && status == GPNN_OK; i++) {
    bool is_beyond = farthest > 0 && nearest[i] > farthest;
    counts->n_beyond += is_beyond;
    status = finish_row(predictor, output, rows, i, first + i, is_beyond, mean, sd, err);
  }
  counts->n_rows += rows->n;
  counts->n_far += gpnn_distance_count_far(&output->parameters->calibration, rows->n, nearest);
  return status;
}

/* Makes the arrays large enough for a batch. */
static enum gpnn_status grow(struct gpnn_predictor *predictor, size_t n, struct gpnn_error *err)
{
  size_t size;
  if (gpnn_multiply(n, predictor->n_channels, &size) &&
      gpnn_grow(&predictor->variance, &predictor->variance_capacity, size, sizeof(double)) &&
      gpnn_grow(&predictor->nearest, &predictor->nearest_capacity, size, sizeof(double)) &&
      (!predictor->needs_row ||
       (gpnn_grow(&predictor->misfit, &predictor->misfit_capacity, size, sizeof(double)) &&
        gpnn_grow(&predictor->mean_variance, &predictor->mean_capacity, size, sizeof(double)))))
    return GPNN_OK;
  return gpnn_fail_memory(err, "for predictions");
}

enum gpnn_status gpnn_predict(struct gpnn_predictor *predictor,
                              const struct gpnn_predict_rows *rows, double *mean, double *sd,
                              struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_query query = {.n = rows->n, .x = rows->x, .regressors = rows->regressors};
  if (rows->n == 0) return GPNN_OK;
  enum gpnn_status status = grow(predictor, rows->n, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_latent latent = {.mean = mean,
                                     .variance =
                                         predictor->options.mean_only ? NULL : predictor->variance,
                                     .mean_variance = predictor->mean_variance,
                                     .misfit = predictor->misfit,
                                     .nearest = predictor->nearest};
  status = gpnn_model_predict(predictor->model, &query, &latent, counts, err);
  for (size_t c = 0; c < predictor->n_channels && status == GPNN_OK; c++) {
    size_t at = c * rows->n;
    status =
        finish_channel(predictor, c, rows, mean + at, sd == NULL ? NULL : sd + at, &counts[c], err);
  }
  return status;
}

/* ---- their distribution ------------------------------------------------------------------- */

double gpnn_predictor_degrees(const struct gpnn_predictor *predictor, size_t channel)
{
  return gpnn_head_degrees(&predictor->outputs[channel].head);
}

double gpnn_predictor_half_width(const struct gpnn_predictor *predictor, size_t channel,
                                 double level, const char **source)
{
  return gpnn_head_half_width(&predictor->outputs[channel].head, level, predictor->options.latent,
                              source);
}

bool gpnn_predict_warns_of_far(const struct gpnn_counts *counts)
{
  static const double too_large = 0.05;
  return (double)counts->n_far > too_large * (double)counts->n_rows;
}

double gpnn_predict_target(const struct gpnn_dataset *dataset, enum gpnn_units units, double y)
{
  const struct gpnn_scaling *scaling = &dataset->scaling;
  return units == GPNN_UNITS_ORIGINAL ? y : (y - scaling->y_mean) / scaling->y_sd;
}
