#include "models/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "likelihood/atom.h"
#include "likelihood/count.h"
#include "likelihood/distribution.h"
#include "models/reach.h"

/* How to convert a channel's latent function to the predictions asked for. */
struct output {
  const struct gpnn_dataset *dataset;
  const struct gpnn_parameters *parameters;
  struct gpnn_head head;
  double debias;        /* factor on the difference from the mean function */
  double scale, centre; /* of the units asked for */
  double *terms;        /* owned: of the mean function at one row */
  double *x;            /* owned; d: its inputs, at their mean where they are missing */
  struct gpnn_target_warp target;
  struct gpnn_warp transform;         /* of 'target' */
  const struct gpnn_warp *warp;       /* 'transform', or NULL: the target has none */
  struct gpnn_count_law law;          /* of counts */
  const struct gpnn_count_law *count; /* 'law', or NULL: no counts are predicted */
  bool has_atom;                      /* and observations are predicted, in units of which it is */
  double atom, atom_within;
};

struct gpnn_predictor {
  const struct gpnn_model *model;
  struct gpnn_predict_options options;
  size_t n_channels;
  struct output *outputs; /* owned; n_channels */
  bool needs_variance;    /* the standard deviations are wanted, or a mean depends on them */
  bool needs_row;         /* and they depend on more of a row (gpnn_head_needs_row()) */
  /* Owned; channels by rows of the largest batch so far. */
  double *mean, *variance, *nearest, *misfit, *mean_variance, *noise, *share;
  double *atoms; /* owned; of each channel, as its model has it; NULL: none has one */
  struct gpnn_distribution *distributions;
  struct gpnn_reach reach;
  size_t mean_capacity, variance_capacity, nearest_capacity, misfit_capacity,
      mean_variance_capacity, noise_capacity, share_capacity, distributions_capacity;
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

/* Counts, or the logarithm of their mean, come in units of their own. */
static enum gpnn_status output_of_counts(struct output *output, enum gpnn_units units,
                                         bool is_latent, struct gpnn_error *err)
{
  const struct gpnn_parameters *parameters = output->parameters;
  bool is_poisson = parameters->likelihood == GPNN_LIKELIHOOD_POISSON;
  if (units != GPNN_UNITS_ORIGINAL)
    return gpnn_fail(err, GPNN_EINVAL, "counts have no other units than their own");
  output->scale = 1;
  output->centre = 0;
  output->law.dispersion = is_poisson ? INFINITY : parameters->dispersion;
  if (!is_latent) output->count = &output->law;
  return GPNN_OK;
}

static void output_of_atom(struct output *output, const struct gpnn_predict_options *options)
{
  const struct gpnn_atom *atom = &output->parameters->atom;
  const struct gpnn_scaling *scaling = &output->dataset->scaling;
  bool original = options->units == GPNN_UNITS_ORIGINAL;
  output->has_atom = atom->share > 0 && !options->latent;
  output->atom = gpnn_predict_target(output->dataset, options->units, atom->value);
  output->atom_within = GPNN_ATOM_WITHIN * (original ? scaling->y_sd : 1);
}

static enum gpnn_status output_init(struct output *output, const struct gpnn_model *model,
                                    size_t channel, const struct gpnn_predict_options *options,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_model_channel(model, channel)->dataset;
  const struct gpnn_parameters *parameters = gpnn_model_channel(model, channel)->parameters;
  bool original = options->units == GPNN_UNITS_ORIGINAL;
  size_t m = gpnn_model_neighbours(model, channel);
  if (parameters->likelihood == GPNN_LIKELIHOOD_CATEGORICAL)
    return gpnn_fail(err, GPNN_EINVAL, "the target holds classes, which have no mean");
  if (options->debias && parameters->n_members > 0)
    return gpnn_fail(err, GPNN_EINVAL,
                     "the bias cannot be removed from the predictions of several members");
  if (options->debias && dataset->stored != NULL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "the bias that can be removed is that of nearest neighbours, which a model "
                     "file does not predict from");
  *output = (struct output){.dataset = dataset,
                            .parameters = parameters,
                            .head = gpnn_head_of(parameters),
                            .debias = options->debias
                                          ? 1 + parameters->covariance.noise /
                                                    ((double)m * parameters->covariance.kernelscale)
                                          : 1,
                            .scale = original ? dataset->scaling.y_sd : 1,
                            .centre = original ? dataset->scaling.y_mean : 0,
                            .terms = gpnn_alloc(most_terms(parameters), 1, sizeof *output->terms),
                            .x = gpnn_alloc(dataset->d, 1, sizeof *output->x)};
  if (parameters->transform.kind != GPNN_TRANSFORM_NONE) {
    output->target = (struct gpnn_target_warp){.transform = &parameters->transform,
                                               .centre = original ? 0 : dataset->scaling.y_mean,
                                               .scale = original ? 1 : dataset->scaling.y_sd};
    output->transform = gpnn_target_warp_function(&output->target);
    output->warp = &output->transform;
  }
  output_of_atom(output, options);
  if (output->terms == NULL || output->x == NULL) return gpnn_fail_memory(err, "for predictions");
  return gpnn_likelihood_is_of_counts(parameters->likelihood)
             ? output_of_counts(output, options->units, options->latent, err)
             : GPNN_OK;
}

/* Notes the atoms of the channels, if any has one. */
static enum gpnn_status set_atoms(struct gpnn_predictor *predictor, struct gpnn_error *err)
{
  bool any = false;
  for (size_t c = 0; c < predictor->n_channels; c++) any = any || predictor->outputs[c].has_atom;
  if (!any) return GPNN_OK;
  predictor->atoms = gpnn_alloc(predictor->n_channels, 1, sizeof *predictor->atoms);
  if (predictor->atoms == NULL) return gpnn_fail_memory(err, "for predictions");
  for (size_t c = 0; c < predictor->n_channels; c++) {
    const struct output *output = &predictor->outputs[c];
    predictor->atoms[c] =
        gpnn_atom_standardised(&output->parameters->atom, output->parameters, output->dataset);
  }
  return GPNN_OK;
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
  if (status == GPNN_OK) status = set_atoms(new, err);
  new->needs_variance = !options->mean_only;
  for (size_t c = 0; c < n && status == GPNN_OK; c++)
    new->needs_variance = new->needs_variance || gpnn_predictor_needs_scores(new, c);
  for (size_t c = 0; c < n && status == GPNN_OK && new->needs_variance; c++)
    new->needs_row = new->needs_row || gpnn_head_needs_row(&new->outputs[c].head);
  if (status == GPNN_OK)
    status = gpnn_reach_init(&new->reach, model, options->max_distance, options->max_km, err);
  if (status == GPNN_OK)
    *predictor = new;
  else
    gpnn_predictor_free(new);
  return status;
}

void gpnn_predictor_free(struct gpnn_predictor *predictor)
{
  if (predictor == NULL) return;
  for (size_t c = 0; c < predictor->n_channels && predictor->outputs != NULL; c++) {
    free(predictor->outputs[c].terms);
    free(predictor->outputs[c].x);
  }
  free(predictor->outputs);
  free(predictor->mean);
  free(predictor->variance);
  free(predictor->nearest);
  free(predictor->misfit);
  free(predictor->mean_variance);
  free(predictor->noise);
  free(predictor->share);
  free(predictor->atoms);
  free(predictor->distributions);
  gpnn_reach_release(&predictor->reach);
  free(predictor);
}

const struct gpnn_model *gpnn_predictor_model(const struct gpnn_predictor *predictor)
{
  return predictor->model;
}

const struct gpnn_predict_options *gpnn_predictor_options(const struct gpnn_predictor *predictor)
{
  return &predictor->options;
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
  const double *given = rows->x + i * d, *regressors = row_of(rows->regressors, p, i);
  double *x = output->x;
  for (size_t j = 0; j < d; j++) x[j] = isnan(given[j]) ? 0 : given[j];
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
    return (struct gpnn_latent_row){nan(""), nan(""), nan(""), nan(""), nan(""), nan("")};
  before.share = nan("");
  if (is_beyond) return before;
  latent.mean = before.mean + output->debias * (latent.mean - before.mean);
  return latent;
}

/* The latent function at entry 'at' of the predictor's arrays. */
static struct gpnn_latent_row latent_at(const struct gpnn_predictor *predictor, size_t at)
{
  struct gpnn_latent_row latent = {.mean = predictor->mean[at], .nearest = predictor->nearest[at]};
  if (predictor->atoms != NULL) latent.share = predictor->share[at];
  if (!predictor->needs_variance) return latent;
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

/* The distribution of which the head gives mean and variance, in the units asked for; a warping
 * function converts to these itself. */
static struct gpnn_distribution distribution_of(const struct output *output,
                                                struct gpnn_predictive value)
{
  double degrees = gpnn_head_degrees(&output->head);
  bool converts = output->warp == NULL;
  return (struct gpnn_distribution){
      .location = converts ? output->centre + output->scale * value.mean : value.mean,
      .sd = (converts ? output->scale : 1) * sqrt(value.variance),
      .degrees = degrees > 0 ? degrees : INFINITY,
      .warp = output->warp,
      .count = output->count};
}

/* The atom of a row, which those with an offset of their own do not have; moves the latent function
 * to where the other numbers are. */
static struct gpnn_distribution_atom atom_of(const struct output *output,
                                             const struct gpnn_predict_rows *rows,
                                             struct gpnn_latent_row *latent)
{
  const struct gpnn_atom *atom = &output->parameters->atom;
  struct gpnn_distribution_atom own = {output->atom, output->atom_within, 0};
  if (!output->has_atom || rows->offset != NULL) return own;
  double at = gpnn_atom_standardised(atom, output->parameters, output->dataset);
  own.probability = gpnn_atom_probability(atom, latent->share);
  latent->mean = gpnn_atom_location(atom, at, latent->mean, own.probability);
  return own;
}

/* The exposure of a count adds to the logarithm of its mean. */
static void add_exposure(const struct output *output, const struct gpnn_predict_rows *rows,
                         size_t i, struct gpnn_distribution *distribution)
{
  if (rows->exposure != NULL && gpnn_likelihood_is_of_counts(output->parameters->likelihood))
    distribution->location += log(rows->exposure[i]);
}

/* Adds the offset of row 'i' to the target.  Rows without offsets keep the sign of zeros. */
static void add_offset(const struct output *output, const struct gpnn_predict_rows *rows, size_t i,
                       struct gpnn_distribution *distribution)
{
  if (rows->offset == NULL) return;
  double offset = offset_of(output, rows, i);
  if (output->warp == NULL)
    distribution->location += offset;
  else
    distribution->offset = offset;
}

/* Completes row 'i' of a channel, entry 'at' of the predictor's arrays. */
static enum gpnn_status finish_row(const struct gpnn_predictor *predictor,
                                   const struct output *output,
                                   const struct gpnn_predict_rows *rows, size_t i, size_t at,
                                   bool is_beyond, struct gpnn_distribution *distribution,
                                   struct gpnn_error *err)
{
  double known = predictor->noise[at];
  if (rows->noise != NULL) known += gpnn_scaling_noise(&output->dataset->scaling, rows->noise[i]);
  struct gpnn_latent_row latent = latent_at(predictor, at);
  latent = adjust(predictor, output, rows, i, latent, is_beyond);
  struct gpnn_distribution_atom atom = atom_of(output, rows, &latent);
  struct gpnn_predictive value = {latent.mean, 0};
  if (predictor->needs_variance)
    value = predictor->options.latent ? gpnn_head_latent(&output->head, &latent)
                                      : gpnn_head_observe(&output->head, &latent, known);
  *distribution = distribution_of(output, value);
  distribution->atom = atom;
  add_offset(output, rows, i, distribution);
  add_exposure(output, rows, i, distribution);
  if (!isinf(distribution->location) && !isinf(distribution->sd)) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENUMERIC, "a prediction is larger than any number");
}

static enum gpnn_status finish_channel(const struct gpnn_predictor *predictor, size_t channel,
                                       const struct gpnn_predict_rows *rows,
                                       struct gpnn_distribution *distributions,
                                       struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct output *output = &predictor->outputs[channel];
  size_t first = channel * rows->n;
  const double *nearest = predictor->nearest + first;
  const struct gpnn_calibration *calibration = &output->parameters->calibration;
  enum gpnn_status status = GPNN_OK;
  if (isinf(output->debias))
    return gpnn_fail(err, GPNN_ENUMERIC,
                     "the noise is too large relative to the kernel scale to remove the bias");
  for (size_t i = 0; i < rows->n && status == GPNN_OK; i++) {
    bool is_beyond = gpnn_reach_is_beyond(&predictor->reach, i, nearest[i]);
    status = finish_row(predictor, output, rows, i, first + i, is_beyond, &distributions[first + i],
                        err);
    distributions[first + i].is_far = gpnn_distance_count_far(calibration, 1, nearest + i) > 0;
  }
  gpnn_reach_count(&predictor->reach, calibration, rows->n, nearest, counts);
  return status;
}

/* Makes the arrays large enough for a batch. */
static enum gpnn_status grow(struct gpnn_predictor *p, size_t n, struct gpnn_error *err)
{
  size_t size;
  if (gpnn_multiply(n, p->n_channels, &size) &&
      gpnn_grow(&p->mean, &p->mean_capacity, size, sizeof *p->mean) &&
      gpnn_grow(&p->variance, &p->variance_capacity, size, sizeof *p->variance) &&
      gpnn_grow(&p->nearest, &p->nearest_capacity, size, sizeof *p->nearest) &&
      gpnn_grow(&p->noise, &p->noise_capacity, size, sizeof *p->noise) &&
      (p->atoms == NULL || gpnn_grow(&p->share, &p->share_capacity, size, sizeof *p->share)) &&
      (!p->needs_row ||
       (gpnn_grow(&p->misfit, &p->misfit_capacity, size, sizeof *p->misfit) &&
        gpnn_grow(&p->mean_variance, &p->mean_variance_capacity, size, sizeof *p->mean_variance))))
    return GPNN_OK;
  return gpnn_fail_memory(err, "for predictions");
}

enum gpnn_status gpnn_predict_distributions(struct gpnn_predictor *predictor,
                                            const struct gpnn_predict_rows *rows,
                                            struct gpnn_distribution *distributions,
                                            struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_query query = {
      .n = rows->n, .x = rows->x, .regressors = rows->regressors, .self = rows->self};
  if (rows->n == 0) return GPNN_OK;
  enum gpnn_status status = grow(predictor, rows->n, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_latent latent = {.mean = predictor->mean,
                                     .variance =
                                         predictor->needs_variance ? predictor->variance : NULL,
                                     .mean_variance = predictor->mean_variance,
                                     .misfit = predictor->misfit,
                                     .nearest = predictor->nearest,
                                     .atom = predictor->atoms,
                                     .share = predictor->share,
                                     .noise = predictor->noise};
  memset(predictor->noise, 0, predictor->n_channels * rows->n * sizeof *predictor->noise);
  status = gpnn_reach_measure(&predictor->reach, &query, err);
  if (status == GPNN_OK)
    status = gpnn_model_predict(predictor->model, &query, &latent, counts, err);
  for (size_t c = 0; c < predictor->n_channels && status == GPNN_OK; c++)
    status = finish_channel(predictor, c, rows, distributions, &counts[c], err);
  return status;
}

enum gpnn_status gpnn_predict(struct gpnn_predictor *predictor,
                              const struct gpnn_predict_rows *rows, double *mean, double *sd,
                              struct gpnn_counts *counts, struct gpnn_error *err)
{
  size_t size;
  if (rows->n == 0) return GPNN_OK;
  if (!gpnn_multiply(rows->n, predictor->n_channels, &size) ||
      !gpnn_grow(&predictor->distributions, &predictor->distributions_capacity, size,
                 sizeof *predictor->distributions))
    return gpnn_fail_memory(err, "for predictions");
  enum gpnn_status status =
      gpnn_predict_distributions(predictor, rows, predictor->distributions, counts, err);
  return status == GPNN_OK
             ? gpnn_predict_moments(predictor, size, predictor->distributions, mean, sd, err)
             : status;
}

/* ---- what follows from the distributions -------------------------------------------------- */

/* Rows that share one piece of a parallel loop: integrals take some 10 us a row. */
enum { TOGETHER = 16 };

/* As many threads as the model has, if there are integrals to compute; otherwise starting them
 * would take longer than the work. */
static int threads_for(const struct gpnn_predictor *predictor)
{
  for (size_t c = 0; c < predictor->n_channels; c++)
    if (gpnn_predictor_needs_scores(predictor, c))
      return gpnn_model_options(predictor->model)->threads;
  return 1;
}

struct moments {
  const struct gpnn_distribution *distributions;
  double *mean, *sd;
};

static enum gpnn_status find_moments(void *context, size_t thread, size_t i, struct gpnn_error *err)
{
  const struct moments *m = context;
  double mean, sd;
  (void)thread;
  gpnn_distribution_moments(&m->distributions[i], &mean, &sd);
  m->mean[i] = mean;
  if (m->sd != NULL) m->sd[i] = sd;
  if (!isinf(mean) && !isinf(sd)) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENUMERIC, "a prediction is larger than any number");
}

enum gpnn_status gpnn_predict_moments(const struct gpnn_predictor *predictor, size_t n,
                                      const struct gpnn_distribution *distributions, double *mean,
                                      double *sd, struct gpnn_error *err)
{
  struct moments moments = {distributions, mean, sd};
  return gpnn_threads_try(threads_for(predictor), n, TOGETHER, find_moments, &moments, err);
}

struct scoring {
  const struct gpnn_distribution *distributions;
  const double *truth;
  struct gpnn_distribution_score *scores;
};

static void find_score(void *context, size_t thread, size_t i)
{
  const struct scoring *s = context;
  (void)thread;
  s->scores[i] = gpnn_distribution_score(&s->distributions[i], s->truth[i]);
}

void gpnn_predict_scores(const struct gpnn_predictor *predictor, size_t n,
                         const struct gpnn_distribution *distributions, const double *truth,
                         struct gpnn_distribution_score *scores)
{
  struct scoring scoring = {distributions, truth, scores};
  gpnn_threads_each(threads_for(predictor), n, TOGETHER, find_score, &scoring);
}

bool gpnn_predictor_needs_scores(const struct gpnn_predictor *predictor, size_t channel)
{
  const struct output *output = &predictor->outputs[channel];
  return output->warp != NULL || output->count != NULL || output->has_atom;
}

bool gpnn_predictor_has_atom(const struct gpnn_predictor *predictor, size_t channel)
{
  return predictor->outputs[channel].has_atom;
}

bool gpnn_predictor_has_sums(const struct gpnn_predictor *predictor, size_t channel)
{
  const struct output *output = &predictor->outputs[channel];
  return output->warp == NULL && output->count == NULL;
}

double gpnn_predictor_unit(const struct gpnn_predictor *predictor, size_t channel)
{
  const struct output *output = &predictor->outputs[channel];
  return output->warp == NULL ? output->scale : 1;
}

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
