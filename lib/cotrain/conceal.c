#include "cotrain/conceal.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cotrain/respond.h"
#include "likelihood/scale.h"

/* ---- clipping ------------------------------------------------------------------------------- */

/* What depends on responses in ways that no noise covers. */
static enum gpnn_status check_constants(const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  if (!dataset->scaling.y_given)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "centre and scale of the target were found from its responses, which they "
                     "would give away: agree on two public numbers, and build the index with "
                     "gpnn-index --target-scale MEAN,SD");
  if (dataset->observed != NULL)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the rows have weights that follow from their responses, which noise cannot "
                     "hide: estimate the parameters without --row-weights");
  if (dataset->rows_follow_targets)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "rows have equal inputs, and which of them are left out or held out for "
                     "calibration follows from their responses: build the index with gpnn-index "
                     "--calibration-rows 0, and without --unique");
  return GPNN_OK;
}

static void clip(const struct gpnn_dataset *from, double low, double high, double *y)
{
  const struct gpnn_scaling *scaling = &from->scaling;
  const double least = (low - scaling->y_mean) / scaling->y_sd;
  const double most = (high - scaling->y_mean) / scaling->y_sd;
  for (size_t i = 0; i < from->n; i++) y[i] = fmin(fmax(from->y[i], least), most);
}

enum gpnn_status gpnn_clipped_new(const struct gpnn_model *model, double low, double high,
                                  struct gpnn_clipped *clipped, struct gpnn_error *err)
{
  const struct gpnn_channel *from = gpnn_model_channel(model, 0);
  const size_t n = from->dataset->n;
  enum gpnn_status status = check_constants(from->dataset, err);
  if (status != GPNN_OK) return status;
  struct gpnn_clipped c = {.datasets = gpnn_alloc(2, 1, sizeof *c.datasets),
                           .y = gpnn_alloc(n, 2, sizeof *c.y),
                           .parameters = gpnn_alloc(1, 1, sizeof *c.parameters)};
  if (c.datasets == NULL || c.y == NULL || c.parameters == NULL) {
    gpnn_clipped_free(&c);
    return gpnn_fail_memory(err, "for clipped responses");
  }
  clip(from->dataset, low, high, c.y);
  c.datasets[0] = c.datasets[1] = *from->dataset;
  c.datasets[0].y = c.y;
  c.datasets[1].y = c.y + n;
  *c.parameters = *from->parameters;
  gpnn_scale_hold_responses(&c.parameters->scale);
  const struct gpnn_channel channels[] = {{&c.datasets[0], from->parameters},
                                          {&c.datasets[1], c.parameters}};
  status = gpnn_model_with(model, &channels[0], &c.model, err);
  if (status == GPNN_OK) status = gpnn_model_with(model, &channels[1], &c.blank, err);
  if (status == GPNN_OK)
    *clipped = c;
  else
    gpnn_clipped_free(&c);
  return status;
}

void gpnn_clipped_free(struct gpnn_clipped *clipped)
{
  gpnn_model_free(clipped->blank);
  gpnn_model_free(clipped->model);
  free(clipped->datasets);
  free(clipped->y);
  free(clipped->parameters); /* what they point to is the other model's */
  *clipped = (struct gpnn_clipped){0};
}

/* ---- noise ---------------------------------------------------------------------------------- */

/* The prior covariance of the latent function at the rows, in units of the target, for free(). */
static enum gpnn_status find_prior(const struct gpnn_model *model, size_t q, const double *x,
                                   double **prior, struct gpnn_error *err)
{
  *prior = gpnn_alloc(q, q, sizeof **prior);
  if (*prior == NULL) return gpnn_fail_memory(err, "for the noise of answers");
  return gpnn_respond_prior(model, q, x, *prior, err);
}

enum gpnn_status gpnn_concealment_find(const struct gpnn_model *model, const double *x,
                                       const struct gpnn_answers *answers,
                                       const struct gpnn_concealment_options *options,
                                       struct gpnn_concealment *concealment, struct gpnn_error *err)
{
  struct gpnn_dependence dependence = {0};
  struct gpnn_concealment c = {.mu = 0};
  double *prior = NULL;
  enum gpnn_status status = gpnn_respond_depend(model, answers->n, x, &dependence, err);
  if (status == GPNN_OK && options->mechanism == GPNN_MECHANISM_PATH)
    status = find_prior(model, answers->n, x, &prior, err);
  if (status == GPNN_OK)
    status = gpnn_release_shape(&c.release, options->mechanism, dependence.q, dependence.n,
                                dependence.parts, prior, options->width, err);
  if (status == GPNN_OK) {
    c.tau =
        options->mu > 0 ? c.release.sensitivity / options->mu : options->factor * answers->scale;
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
  const double unit = ldexp(1, ilogb(answers->scale) - 20);
  const double square = concealment->tau * concealment->tau;
  const size_t q = answers->n;
  enum gpnn_status status =
      gpnn_release_draw(&concealment->release, concealment->tau, unit, secret, answers->mean, err);
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
