#include "cotrain/conceal.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cotrain/respond.h"
#include "kernel/gram.h"

/* ---- clipping ------------------------------------------------------------------------------- */

enum gpnn_status gpnn_clipped_new(const struct gpnn_model *model, double low, double high,
                                  struct gpnn_clipped *clipped, struct gpnn_error *err)
{
  const struct gpnn_channel *from = gpnn_model_channel(model, 0);
  const struct gpnn_scaling *scaling = &from->dataset->scaling;
  struct gpnn_clipped c = {.n = from->dataset->n};
  c.dataset = gpnn_alloc(1, 1, sizeof *c.dataset);
  c.y = gpnn_alloc(c.n, 1, sizeof *c.y);
  if (c.dataset == NULL || c.y == NULL) {
    gpnn_clipped_free(&c);
    return gpnn_fail_memory(err, "for clipped responses");
  }
  const double least = (low - scaling->y_mean) / scaling->y_sd;
  const double most = (high - scaling->y_mean) / scaling->y_sd;
  for (size_t i = 0; i < c.n; i++) {
    const double y = from->dataset->y[i];
    c.y[i] = fmin(fmax(y, least), most);
    c.reached += y <= least || y >= most;
  }
  *c.dataset = *from->dataset;
  c.dataset->y = c.y;
  const struct gpnn_channel channel = {c.dataset, from->parameters};
  enum gpnn_status status = gpnn_model_with(model, &channel, &c.model, err);
  if (status == GPNN_OK)
    *clipped = c;
  else
    gpnn_clipped_free(&c);
  return status;
}

void gpnn_clipped_free(struct gpnn_clipped *clipped)
{
  gpnn_model_free(clipped->model);
  free(clipped->dataset);
  free(clipped->y);
  *clipped = (struct gpnn_clipped){0};
}

/* ---- noise ---------------------------------------------------------------------------------- */

/* The prior covariance of the latent function at the rows, in units of the target, for free();
 * NULL without memory. */
static enum gpnn_status find_prior(const struct gpnn_model *model, size_t q, const double *x,
                                   double **prior, struct gpnn_error *err)
{
  const struct gpnn_channel *channel = gpnn_model_channel(model, 0);
  const struct gpnn_dataset *data = channel->dataset;
  const double square = data->scaling.y_sd * data->scaling.y_sd;
  *prior = gpnn_alloc(q, q, sizeof **prior);
  if (*prior == NULL) return gpnn_fail_memory(err, "for the noise of answers");
  enum gpnn_status status = gpnn_gram(&channel->parameters->covariance, q, data->d, data->group, x,
                                      NULL, gpnn_model_options(model)->threads, *prior, err);
  for (size_t i = 0; i < q * q && status == GPNN_OK; i++) (*prior)[i] *= square;
  return status;
}

enum gpnn_status gpnn_concealment_find(const struct gpnn_model *model, const double *x,
                                       const struct gpnn_answers *answers,
                                       const struct gpnn_concealment_options *options,
                                       struct gpnn_concealment *concealment, struct gpnn_error *err)
{
  const bool is_message = answers->report == GPNN_REPORT_MESSAGE;
  struct gpnn_dependence dependence = {0};
  struct gpnn_concealment c = {.mu = 0};
  double *prior = NULL;
  if (options->mechanism == GPNN_MECHANISM_PATH && is_message)
    return gpnn_fail(err, GPNN_EINVAL, "a message is no function that noise of a path could hide");
  enum gpnn_status status =
      gpnn_respond_depend(model, answers->report, answers->n, x, &dependence, err);
  if (status == GPNN_OK && options->mechanism == GPNN_MECHANISM_PATH)
    status = find_prior(model, answers->n, x, &prior, err);
  if (status == GPNN_OK)
    status = gpnn_release_shape(&c.release, options->mechanism, dependence.q, dependence.n,
                                dependence.parts, prior, options->width, err);
  if (status == GPNN_OK) {
    const double scale = is_message ? 1 / answers->scale : answers->scale;
    c.tau = options->mu > 0 ? c.release.sensitivity / options->mu : options->factor * scale;
    c.mu = c.release.sensitivity > 0 ? c.release.sensitivity / c.tau : 0;
    *concealment = c;
  }
  gpnn_dependence_release(&dependence);
  free(prior);
  return status;
}

enum gpnn_status gpnn_concealment_apply(const struct gpnn_concealment *concealment,
                                        struct gpnn_secret *secret, struct gpnn_answers *answers,
                                        struct gpnn_error *err)
{
  const bool is_message = answers->report == GPNN_REPORT_MESSAGE;
  const double unit = ldexp(1, ilogb(is_message ? 1 / answers->scale : answers->scale) - 20);
  const double square = concealment->tau * concealment->tau;
  const size_t q = answers->n;
  enum gpnn_status status = gpnn_release_draw(&concealment->release, concealment->tau, unit, secret,
                                              is_message ? answers->shift : answers->mean, err);
  for (size_t i = 0; i < q && status == GPNN_OK; i++)
    answers->noise_variance[i] = square * concealment->release.m[i * (q + 1)];
  for (size_t i = 0; i < q * q && status == GPNN_OK && answers->privacy != NULL; i++)
    answers->privacy[i] = square * concealment->release.m[i];
  return status;
}

void gpnn_concealment_free(struct gpnn_concealment *concealment)
{
  gpnn_release_free(&concealment->release);
  *concealment = (struct gpnn_concealment){0};
}
