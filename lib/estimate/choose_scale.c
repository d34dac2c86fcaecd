/*
 * Likelihoods with a scale of their own, estimated on the rows that candidates are scored on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/choose_private.h"
#include "likelihood/scale.h"
#include "models/heldout.h"

/* ---- rows --------------------------------------------------------------------------------- */

/* Loads the validation rows' values of a target. */
static void load_target(struct gpnn_choice *c, const struct gpnn_dataset *target)
{
  for (size_t i = 0; i < c->n; i++) c->y[i] = target->y[c->self[i]];
  for (size_t i = 0; i < c->n && target->noise != NULL; i++)
    c->noise[i] = target->noise[c->self[i]];
}

/* Replaces the validation rows by held-out rows that resemble options->like, under the metric of
 * 'model'. */
static enum gpnn_status load_like(struct gpnn_choice *c, const struct gpnn_model *model,
                                  struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  const struct gpnn_holdout_options options = {.how = GPNN_HOLDOUT_LIKE,
                                               .n_rows = c->n,
                                               .like = c->options->like,
                                               .seed = c->options->fit.seed};
  enum gpnn_status status = gpnn_model_hold_out(model, &options, heldout, err);
  if (status != GPNN_OK) return status;
  memcpy(c->y, heldout->y, c->n * sizeof *c->y);
  if (heldout->noise != NULL) memcpy(c->noise, heldout->noise, c->n * sizeof *c->noise);
  return GPNN_OK;
}

enum gpnn_status gpnn_choice_load(struct gpnn_choice *c, const struct gpnn_model *model,
                                  struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  load_target(c, gpnn_model_channel(model, 0)->dataset);
  heldout->query =
      (struct gpnn_query){.n = c->n, .x = c->x, .regressors = c->regressors, .self = c->self};
  return c->options->like == NULL ? GPNN_OK : load_like(c, model, heldout, err);
}

/* ---- scores ------------------------------------------------------------------------------- */

/* The predictions of a target that start at 'at'. */
static struct gpnn_scale_rows rows_at(const struct gpnn_choice *c,
                                      const struct gpnn_parameters *params, size_t at)
{
  return (struct gpnn_scale_rows){.n = c->n,
                                  .y = c->y,
                                  .mean = c->mean + at,
                                  .variance = c->latent + at,
                                  .misfit = c->misfit + at,
                                  .known_noise = c->noise,
                                  .noise = gpnn_parameters_noise(params)};
}

enum gpnn_status gpnn_choice_scaled_losses(const struct gpnn_scale_rows *rows,
                                           enum gpnn_likelihood likelihood, bool all_features,
                                           double *loss, struct gpnn_error *err)
{
  enum { FOLDS = 2, MANY_FOLDS = 5, FEW_ROWS = 200, ROWS_OF_A_LAW = 1000 };
  size_t folds = rows->n < FEW_ROWS ? MANY_FOLDS : FOLDS;
  return gpnn_scale_cross_losses(rows, likelihood, all_features, folds, ROWS_OF_A_LAW, loss, err);
}

bool gpnn_choice_add_scaled_losses(struct gpnn_choice *c, const struct gpnn_parameters *params,
                                   size_t at, double *loss)
{
  struct gpnn_error err;
  const struct gpnn_scale_rows rows = rows_at(c, params, at);
  if (gpnn_choice_scaled_losses(&rows, params->likelihood, false, c->before, &err) != GPNN_OK)
    return false;
  for (size_t i = 0; i < c->n; i++) {
    loss[i] += c->before[i] / (double)c->n_targets;
    if (!isfinite(loss[i])) return false;
  }
  return true;
}

/* ---- the scale of the chosen candidate ------------------------------------------------------ */

/* Predicts the first rows, and estimates the scale from them. */
static enum gpnn_status estimate_scale(struct gpnn_choice *c, const struct gpnn_model *model,
                                       struct gpnn_parameters *params, struct gpnn_error *err)
{
  struct gpnn_counts counts = {0};
  struct gpnn_heldout heldout = {0};
  struct gpnn_scale_law law;
  const struct gpnn_latent latent = {
      .mean = c->mean, .variance = c->latent, .misfit = c->misfit, .nearest = c->before};
  enum gpnn_status status = gpnn_choice_load(c, model, &heldout, err);
  if (heldout.query.n > GPNN_CHOOSE_LAST_ROWS) heldout.query.n = GPNN_CHOOSE_LAST_ROWS;
  if (status == GPNN_OK) status = gpnn_model_predict(model, &heldout.query, &latent, &counts, err);
  struct gpnn_scale_rows rows = rows_at(c, params, 0);
  rows.n = heldout.query.n;
  rows.nearest = c->before;
  if (status == GPNN_OK) status = gpnn_scale_fit(&rows, params->likelihood, true, &law, err);
  gpnn_heldout_release(&heldout);
  if (status != GPNN_OK) return status;
  params->scale = law.scale;
  params->degrees = law.degrees;
  return GPNN_OK;
}

/* Estimates the scale of every target; 'views' are their parameters, which all share a metric. */
static enum gpnn_status estimate_all(struct gpnn_choice *c, struct gpnn_parameters *views,
                                     struct gpnn_error *err)
{
  const struct gpnn_model_options options = {.threads = c->options->fit.threads};
  struct gpnn_model *first = NULL;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < c->n_targets && status == GPNN_OK; t++) {
    const struct gpnn_channel channel = {c->targets[t], &views[t]};
    struct gpnn_model *model = NULL;
    if (t == 0)
      status = gpnn_model_new(&first, 1, &channel, &options, err);
    else
      status = gpnn_model_with(first, &channel, &model, err);
    if (status == GPNN_OK) status = estimate_scale(c, t == 0 ? first : model, &views[t], err);
    gpnn_model_free(model);
  }
  gpnn_model_free(first);
  return status;
}

enum gpnn_status gpnn_choice_estimate_scales(struct gpnn_choice *c, struct gpnn_error *err)
{
  struct gpnn_choose_trial *trial = gpnn_choice_best(c);
  enum gpnn_status status = GPNN_OK;
  if (c->options->likelihood == GPNN_LIKELIHOOD_GAUSSIAN) return GPNN_OK;
  struct gpnn_parameters *views = calloc(c->n_targets, sizeof *views);
  if (views == NULL) return gpnn_fail_memory(err, "for a choice");
  for (size_t t = 0; t < c->n_targets && status == GPNN_OK; t++)
    if (!gpnn_choice_stack_view(c, t, &views[t])) status = gpnn_fail_memory(err, "for a choice");
  if (status == GPNN_OK) status = estimate_all(c, views, err);
  for (size_t t = 0; t < c->n_targets; t++) {
    if (status == GPNN_OK) trial->params[t].scale = views[t].scale;
    if (status == GPNN_OK) trial->params[t].degrees = views[t].degrees;
    free(views[t].members);
  }
  free(views);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}
