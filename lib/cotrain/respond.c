#include "cotrain/respond.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "kernel/covariance.h"
#include "kernel/effects.h"
#include "likelihood/head.h"

#define MEMORY_FOR "for answers"

/* The latent function at the asked rows, and how an observation there comes about; all owned, q
 * numbers each. */
struct functions {
  double *mean, *variance, *mean_variance, *misfit, *nearest, *noise;
  double *process, *trend, *own;
};

static void functions_release(struct functions *f)
{
  double *const arrays[] = {f->mean,  f->variance, f->mean_variance, f->misfit, f->nearest,
                            f->noise, f->process,  f->trend,         f->own};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static bool functions_allocate(struct functions *f, size_t q)
{
  double **const arrays[] = {&f->mean,  &f->variance, &f->mean_variance, &f->misfit, &f->nearest,
                             &f->noise, &f->process,  &f->trend,         &f->own};
  bool done = true;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    done = (*arrays[i] = gpnn_alloc(q, 1, sizeof **arrays)) != NULL && done;
  return done;
}

enum gpnn_status gpnn_respond_check(const struct gpnn_model *model, struct gpnn_error *err)
{
  const struct gpnn_channel *channel = gpnn_model_channel(model, 0);
  const struct gpnn_parameters *params = channel->parameters;
  const struct {
    bool is_so;
    const char *what;
  } refused[] = {
      {channel->dataset->grid != NULL, "the cells of a grid"},
      {gpnn_dataset_n_classes(channel->dataset) > 0, "a target of classes"},
      {gpnn_likelihood_is_of_counts(params->likelihood), "a target of counts"},
      {params->transform.kind != GPNN_TRANSFORM_NONE, "a target that is seen through a transform"},
      {channel->dataset->schema.n_offsets > 0, "a target with offsets"},
      {gpnn_dataset_has_effects(channel->dataset), "rows whose groups have effects"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (refused[i].is_so)
      return gpnn_fail(err, GPNN_EMISMATCH, "answers cannot be about %s", refused[i].what);
  return GPNN_OK;
}

/* ---- means and variances -------------------------------------------------------------------- */

static enum gpnn_status predict(const struct gpnn_model *model, const struct gpnn_model *blank,
                                size_t q, const double *x, struct functions *f,
                                struct gpnn_error *err)
{
  const struct gpnn_query query = {.n = q, .x = x};
  const struct gpnn_head head = gpnn_head_of(gpnn_model_channel(blank, 0)->parameters);
  const struct gpnn_latent latent = {.mean = f->mean,
                                     .variance = f->variance,
                                     .mean_variance = f->mean_variance,
                                     .misfit = f->misfit,
                                     .nearest = f->nearest,
                                     .noise = f->noise};
  struct gpnn_counts counts = {0};
  const struct gpnn_latent means = {.mean = f->mean};
  enum gpnn_status status = gpnn_model_predict(blank, &query, &latent, &counts, err);
  for (size_t i = 0; i < q && status == GPNN_OK; i++) {
    const struct gpnn_latent_row row = {.mean = f->mean[i],
                                        .variance = f->variance[i],
                                        .mean_variance = f->mean_variance[i],
                                        .misfit = f->misfit[i],
                                        .nearest = f->nearest[i]};
    const struct gpnn_head_parts parts = gpnn_head_parts(&head, &row, 0, false);
    f->process[i] = parts.process;
    f->trend[i] = parts.mean;
    f->own[i] = parts.own;
  }
  if (status == GPNN_OK && model != blank)
    status = gpnn_model_predict(model, &query, &means, &counts, err);
  return status;
}

/* The variance of an observation far from all training rows. */
static double prior_variance(const struct gpnn_parameters *params)
{
  const struct gpnn_head head = gpnn_head_of(params);
  struct gpnn_latent_row row = {.misfit = 1, .nearest = INFINITY};
  for (size_t k = 0; k < gpnn_parameters_n_members(params); k++)
    row.variance += gpnn_parameters_weight(params, k) *
                    gpnn_parameters_member(params, k)->covariance.kernelscale;
  return gpnn_head_observe(&head, &row, 0).variance;
}

enum gpnn_status gpnn_respond_prior(const struct gpnn_model *model, size_t q, const double *x,
                                    double *prior, struct gpnn_error *err)
{
  const struct gpnn_channel *channel = gpnn_model_channel(model, 0);
  const struct gpnn_dataset *data = channel->dataset;
  const double square = data->scaling.y_sd * data->scaling.y_sd;
  const int threads = gpnn_model_options(model)->threads;
  double *own = gpnn_alloc(q, q, sizeof *own);
  enum gpnn_status status = own != NULL ? GPNN_OK : gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t i = 0; i < q * q; i++) prior[i] = 0;
  for (size_t k = 0; k < gpnn_parameters_n_members(channel->parameters); k++) {
    const struct gpnn_parameters *member = gpnn_parameters_member(channel->parameters, k);
    const double weight = gpnn_parameters_weight(channel->parameters, k);
    if (status == GPNN_OK)
      status = gpnn_gram(&member->covariance, q, data->d, data->group, x, NULL, threads, own, err);
    for (size_t i = 0; i < q * q && status == GPNN_OK; i++) prior[i] += weight * square * own[i];
  }
  free(own);
  return status;
}

static void fill_means(const struct gpnn_channel *channel, const struct functions *f,
                       struct gpnn_answers *answers)
{
  const double sd = channel->dataset->scaling.y_sd, prior = prior_variance(channel->parameters);
  for (size_t i = 0; i < answers->n; i++) {
    answers->mean[i] = channel->dataset->scaling.y_mean + sd * f->mean[i];
    if (answers->variance == NULL) continue;
    const double known = f->variance[i] - f->mean_variance[i];
    answers->variance[i] = sd * sd *
                           (f->process[i] * f->process[i] * known +
                            f->trend[i] * f->trend[i] * f->mean_variance[i] + f->own[i]);
    answers->prior_variance[i] = sd * sd * prior;
  }
}

/* The covariances of observations, whose diagonal is their variances, and of the prior. */
static enum gpnn_status fill_matrices(const struct gpnn_model *model, const double *x,
                                      const struct functions *f, struct gpnn_answers *answers,
                                      struct gpnn_error *err)
{
  const double sd = gpnn_model_channel(model, 0)->dataset->scaling.y_sd;
  const struct gpnn_query query = {.n = answers->n, .x = x};
  const struct gpnn_errors errors = {.process = f->process, .mean = f->trend};
  const size_t q = answers->n;
  enum gpnn_status status = gpnn_model_joint(model, 0, &query, &errors, answers->covariance, err);
  if (status == GPNN_OK) status = gpnn_respond_prior(model, q, x, answers->prior, err);
  for (size_t i = 0; i < q * q && status == GPNN_OK; i++) answers->covariance[i] *= sd * sd;
  for (size_t i = 0; i < q && status == GPNN_OK; i++)
    answers->covariance[i * (q + 1)] = answers->variance[i];
  return status;
}

enum gpnn_status gpnn_respond(const struct gpnn_model *model, const struct gpnn_model *blank,
                              const double *x, struct gpnn_answers *answers, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_respond_check(model, err);
  if (status != GPNN_OK || answers->n == 0) return status;
  struct functions f = {0};
  status = functions_allocate(&f, answers->n) ? predict(model, blank, answers->n, x, &f, err)
                                              : gpnn_fail_memory(err, MEMORY_FOR);
  if (status == GPNN_OK) fill_means(gpnn_model_channel(blank, 0), &f, answers);
  if (status == GPNN_OK && answers->report == GPNN_REPORT_FULL)
    status = fill_matrices(blank, x, &f, answers, err);
  functions_release(&f);
  return status;
}

/* ---- dependence ------------------------------------------------------------------------------ */

/* The training rows that some answer depends on, each once: 'slot' (n) is their number, or -1. */
static size_t number_rows(size_t n_neighbours, const int64_t *neighbour, int64_t *slot)
{
  size_t used = 0;
  for (size_t i = 0; i < n_neighbours; i++)
    if (neighbour[i] >= 0 && slot[neighbour[i]] < 0) slot[neighbour[i]] = (int64_t)used++;
  return used;
}

static enum gpnn_status gather(size_t m, const struct gpnn_weights *weights, int64_t *slot,
                               struct gpnn_dependence *to, struct gpnn_error *err)
{
  to->n = number_rows(to->q * m, weights->neighbour, slot);
  to->parts = gpnn_alloc(to->n, to->q, sizeof *to->parts);
  if (to->parts == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t i = 0; i < to->q; i++)
    for (size_t k = i * m; k < (i + 1) * m && weights->neighbour[k] >= 0; k++)
      to->parts[(size_t)slot[weights->neighbour[k]] * to->q + i] += weights->weight[k];
  return GPNN_OK;
}

static enum gpnn_status depend_by_weights(const struct gpnn_model *model, const double *x,
                                          struct gpnn_dependence *to, struct gpnn_error *err)
{
  const size_t n = gpnn_model_channel(model, 0)->dataset->n, m = gpnn_model_n_weights(model, 0);
  const struct gpnn_query query = {.n = to->q, .x = x};
  struct gpnn_counts counts = {0};
  int64_t *slot = gpnn_alloc(n, 1, sizeof *slot);
  struct gpnn_weights weights = {.neighbour = gpnn_alloc(to->q, m, sizeof *weights.neighbour),
                                 .weight = gpnn_alloc(to->q, m, sizeof *weights.weight)};
  enum gpnn_status status = slot == NULL || weights.neighbour == NULL || weights.weight == NULL
                                ? gpnn_fail_memory(err, MEMORY_FOR)
                                : gpnn_model_weights(model, 0, &query, &weights, &counts, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) slot[i] = -1;
  if (status == GPNN_OK) status = gather(m, &weights, slot, to, err);
  free(slot);
  free(weights.neighbour);
  free(weights.weight);
  return status;
}

enum gpnn_status gpnn_respond_depend(const struct gpnn_model *model, size_t q, const double *x,
                                     struct gpnn_dependence *dependence, struct gpnn_error *err)
{
  const struct gpnn_channel *channel = gpnn_model_channel(model, 0);
  struct gpnn_dependence found = {.q = q};
  if (channel->dataset->stored != NULL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "a model file has no training rows, so that how its predictions depend on "
                     "their responses is not known");
  if (channel->parameters->mean.kind != GPNN_MEAN_ZERO)
    return gpnn_fail(err, GPNN_EINVAL,
                     "the coefficients of a mean function depend on all responses, which the noise "
                     "of privacy does not cover");
  enum gpnn_status status = gpnn_respond_check(model, err);
  if (status == GPNN_OK && q > 0) status = depend_by_weights(model, x, &found, err);
  if (status == GPNN_OK)
    *dependence = found;
  else
    gpnn_dependence_release(&found);
  return status;
}

void gpnn_dependence_release(struct gpnn_dependence *dependence)
{
  free(dependence->parts);
  *dependence = (struct gpnn_dependence){0};
}
