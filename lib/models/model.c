#include "models/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "container/state.h"
#include "dataset/transformed.h"
#include "kernel/effects.h"
#include "models/grid/grid.h"
#include "models/grouped/grouped.h"
#include "models/inducing/inducing.h"
#include "models/local/local.h"
#include "models/missing.h"
#include "models/polya_gamma/polya_gamma.h"
#include "models/stack/stack.h"
#include "models/tucker/tucker.h"

/* A kind of model, and which parameters it applies to. */
struct kind {
  const char *name;
  bool (*applies_to)(const struct gpnn_parameters *parameters); /* NULL: any */
  bool to_any; /* it is enough if they are those of one channel */
  const struct gpnn_model_ops *ops;
};

struct gpnn_model {
  struct kind kind;
  size_t n;
  struct gpnn_channel *channels; /* owned; n */
  struct gpnn_model_options options;
  void *state;
};

/* ---- the table ---------------------------------------------------------------------------- */

static bool is_conjugate(const struct gpnn_parameters *parameters)
{
  return parameters->degrees > 0 && parameters->likelihood == GPNN_LIKELIHOOD_GAUSSIAN;
}

static bool is_polya_gamma(const struct gpnn_parameters *parameters)
{
  return parameters->inference == GPNN_INFERENCE_POLYA_GAMMA;
}

static bool is_grid(const struct gpnn_parameters *parameters)
{
  return parameters->grid.n_factors > 0;
}

static bool is_tucker(const struct gpnn_parameters *parameters)
{
  return parameters->family == GPNN_FAMILY_TUCKER;
}

static bool is_inducing(const struct gpnn_parameters *parameters)
{
  return parameters->family != GPNN_FAMILY_NONE && !is_tucker(parameters);
}

static bool is_grouped(const struct gpnn_parameters *parameters)
{
  return parameters->effects.n_variances > 0;
}

static bool is_stack(const struct gpnn_parameters *parameters)
{
  return parameters->n_members > 0;
}

/* The first kind that accepts the parameters of all channels is used.  A conjugate posterior
 * predicts exactly as the local model does; its Student's t distribution comes from the head. */
static const struct kind kinds[] = {
    {"grid", is_grid, false, &gpnn_grid_ops},
    {"inducing", is_inducing, true, &gpnn_inducing_ops},
    {"tucker", is_tucker, true, &gpnn_tucker_ops},
    {"group-effects", is_grouped, true, &gpnn_grouped_ops},
    {"stack", is_stack, true, &gpnn_stack_ops},
    {"polya-gamma", is_polya_gamma, true, &gpnn_polya_gamma_ops},
    {"conjugate", is_conjugate, false, &gpnn_local_ops},
    {"local", NULL, false, &gpnn_local_ops},
};

static bool accepts(const struct kind *kind, size_t n, const struct gpnn_channel *channels)
{
  size_t accepted = 0;
  if (kind->applies_to == NULL) return true;
  for (size_t c = 0; c < n; c++) accepted += kind->applies_to(channels[c].parameters);
  return kind->to_any ? accepted > 0 : accepted == n;
}

static const struct kind *find_kind(size_t n, const struct gpnn_channel *channels)
{
  const struct kind *kind = kinds;
  while (!accepts(kind, n, channels)) kind++; /* the last accepts any */
  return kind;
}

/* ---- channels ----------------------------------------------------------------------------- */

/* The view of the target that parameters name. */
static enum gpnn_status find_view(const struct gpnn_dataset *dataset,
                                  const struct gpnn_parameters *parameters,
                                  const struct gpnn_dataset **view, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  *view = parameters->target == NULL ? gpnn_dataset_target(dataset, 0)
                                     : gpnn_dataset_find_target(dataset, parameters->target);
  if (*view != NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH, "the index has no target '%s'",
                   gpnn_mask(shown, parameters->target, strlen(parameters->target)));
}

/* One of the arrays of a state that have a number for each row of 'view', each at least 'least' and
 * of a size whose square is a number. */
static enum gpnn_status find_array(const struct gpnn_state *state, const struct gpnn_dataset *view,
                                   const char *name, double least, const double **values,
                                   struct gpnn_error *err)
{
  static const double most = 1e100;
  char shown[GPNN_MASK_BYTES];
  const struct gpnn_state_array *array = gpnn_state_find(state, view->schema.target.name, name);
  bool is_good = array != NULL && array->n == view->n;
  for (size_t i = 0; is_good && i < array->n; i++)
    is_good = fabs(array->values[i]) <= most && array->values[i] >= least;
  gpnn_schema_column_name(&view->schema.target, shown);
  if (!is_good)
    return gpnn_fail(err, GPNN_EFORMAT,
                     "target '%s': the state has no valid %s for each of the %zu training rows",
                     shown, name, view->n);
  *values = array->values;
  return GPNN_OK;
}

/* The pseudo-targets of a view whose parameters are of counts. */
static enum gpnn_status find_pseudo_targets(const struct gpnn_state *state,
                                            const struct gpnn_dataset *view,
                                            struct gpnn_pseudo_targets *pseudo,
                                            struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  gpnn_schema_column_name(&view->schema.target, shown);
  if (state == NULL)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "target '%s': parameters of counts need the pseudo-targets of the training "
                     "rows, which this text lacks: use the file that gpnn-fit wrote",
                     shown);
  if (state->fingerprint != view->fingerprint)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "target '%s': the pseudo-targets are those of another index", shown);
  enum gpnn_status status = find_array(state, view, GPNN_STATE_TARGET, -INFINITY, &pseudo->y, err);
  return status == GPNN_OK ? find_array(state, view, GPNN_STATE_NOISE, 0, &pseudo->noise, err)
                           : status;
}

/* The weights of a view's rows, where 'state' has any. */
static enum gpnn_status find_weights(const struct gpnn_state *state,
                                     const struct gpnn_dataset *view,
                                     struct gpnn_pseudo_targets *pseudo, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  pseudo->y = view->y;
  if (state->fingerprint == view->fingerprint)
    return find_array(state, view, GPNN_STATE_NOISE, 0, &pseudo->noise, err);
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "target '%s': the weights of the training rows are those of another index",
                   gpnn_schema_column_name(&view->schema.target, shown));
}

/* What is left of a view's targets without the effects of groups. */
static enum gpnn_status find_remainders(const struct gpnn_state *state,
                                        const struct gpnn_dataset *view,
                                        struct gpnn_pseudo_targets *pseudo, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  gpnn_schema_column_name(&view->schema.target, shown);
  if (state == NULL)
    return gpnn_fail(
        err, GPNN_EMISMATCH,
        "target '%s': parameters with group effects need these, which this text lacks: "
        "use the file that gpnn-fit wrote",
        shown);
  if (state->fingerprint != view->fingerprint)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "target '%s': the group effects are those of another index", shown);
  pseudo->noise = view->noise;
  return find_array(state, view, GPNN_STATE_TARGET, -INFINITY, &pseudo->y, err);
}

/* What happens to the targets of a dataset. */
struct changes {
  const struct gpnn_transform **transforms;
  struct gpnn_pseudo_targets *pseudo;
  bool any;
};

static enum gpnn_status add_change(struct changes *changes, const struct gpnn_dataset *dataset,
                                   const struct gpnn_parameters *parameters,
                                   const struct gpnn_state *state, struct gpnn_error *err)
{
  const struct gpnn_dataset *view;
  bool is_transformed = parameters->transform.kind != GPNN_TRANSFORM_NONE;
  bool is_replaced = gpnn_likelihood_is_of_counts(parameters->likelihood);
  enum gpnn_status status = find_view(dataset, parameters, &view, err);
  if (status != GPNN_OK) return status;
  bool has_effects = is_grouped(parameters);
  bool is_weighted = !is_replaced && !has_effects && state != NULL &&
                     gpnn_state_find(state, view->schema.target.name, GPNN_STATE_NOISE) != NULL;
  if (!is_transformed && !is_replaced && !is_weighted && !has_effects) return GPNN_OK;
  if (view->stored != NULL)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the target of a model file is neither transformed nor replaced");
  changes->any = true;
  if (has_effects) return find_remainders(state, view, &changes->pseudo[view->target], err);
  if (is_weighted) return find_weights(state, view, &changes->pseudo[view->target], err);
  if (is_transformed) changes->transforms[view->target] = &parameters->transform;
  return is_replaced ? find_pseudo_targets(state, view, &changes->pseudo[view->target], err)
                     : GPNN_OK;
}

enum gpnn_status gpnn_channels_transform(const struct gpnn_dataset *dataset, size_t n,
                                         const struct gpnn_parameters *parameters,
                                         const struct gpnn_state *state,
                                         struct gpnn_transformed **transformed,
                                         struct gpnn_error *err)
{
  size_t n_targets = gpnn_dataset_n_targets(dataset);
  struct changes changes = {.transforms =
                                gpnn_alloc(n_targets, 1, sizeof(const struct gpnn_transform *)),
                            .pseudo = gpnn_alloc(n_targets, 1, sizeof *changes.pseudo)};
  enum gpnn_status status = changes.transforms != NULL && changes.pseudo != NULL
                                ? GPNN_OK
                                : gpnn_fail_memory(err, "for the targets");
  for (size_t c = 0; c < n && status == GPNN_OK; c++)
    status = add_change(&changes, dataset, &parameters[c], state, err);
  *transformed = NULL;
  if (status == GPNN_OK && (changes.any || parameters->sight != NULL))
    status = gpnn_transformed_new(
        transformed, dataset,
        &(struct gpnn_changes){changes.transforms, changes.pseudo, parameters->sight}, err);
  free(changes.transforms);
  free(changes.pseudo);
  return status;
}

static bool is_transformed_alike(const struct gpnn_dataset *view,
                                 const struct gpnn_parameters *parameters)
{
  enum gpnn_transform_kind kind =
      view->transform == NULL ? GPNN_TRANSFORM_NONE : view->transform->kind;
  return kind == parameters->transform.kind &&
         (view->observed != NULL ||
          !(gpnn_likelihood_is_of_counts(parameters->likelihood) || is_grouped(parameters)));
}

static enum gpnn_status find_channel(const struct gpnn_dataset *dataset,
                                     const struct gpnn_parameters *parameters,
                                     struct gpnn_channel *channel, bool *other_model,
                                     struct gpnn_error *err)
{
  const struct gpnn_dataset *view;
  bool other = false;
  enum gpnn_status status = find_view(dataset, parameters, &view, err);
  if (status == GPNN_OK) status = gpnn_parameters_check(parameters, view, &other, err);
  if (status != GPNN_OK) return status;
  if ((parameters->sight != NULL) != (view->scaling.sight != NULL))
    return gpnn_fail(err, GPNN_EINVAL, "the inputs are not seen as the parameters say");
  if (!is_transformed_alike(view, parameters))
    return gpnn_fail(err, GPNN_EINVAL, "the target is not transformed as the parameters say");
  *other_model = *other_model || other;
  *channel = (struct gpnn_channel){view, parameters};
  return GPNN_OK;
}

enum gpnn_status gpnn_channels_find(const struct gpnn_dataset *dataset, size_t n,
                                    const struct gpnn_parameters *parameters,
                                    struct gpnn_channel *channels, bool *other_model,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  *other_model = false;
  for (size_t c = 0; c < n && status == GPNN_OK; c++)
    status = find_channel(dataset, &parameters[c], &channels[c], other_model, err);
  return status;
}

struct gpnn_query gpnn_query_part(const struct gpnn_query *query,
                                  const struct gpnn_dataset *dataset, size_t from, size_t n)
{
  struct gpnn_query part = *query;
  part.n = n;
  part.x += from * dataset->d;
  if (part.regressors != NULL) part.regressors += from * dataset->n_regressors;
  if (part.self != NULL) part.self += from;
  if (part.group != NULL) part.group += from;
  if (part.candidates != NULL) part.candidates += from * part.n_candidates;
  return part;
}

double gpnn_channel_residual(const struct gpnn_dataset *data, const struct gpnn_parameters *params,
                             size_t row)
{
  const struct gpnn_mean_function *mean = &params->mean;
  size_t p = data->n_regressors;
  return data->y[row] - gpnn_mean_value(mean->kind, mean->coefficients, data->d,
                                        data->x + row * data->d, p,
                                        p == 0 ? NULL : data->regressors + row * p);
}

double gpnn_channel_noise(const struct gpnn_dataset *data, const struct gpnn_parameters *params,
                          size_t row)
{
  return params->covariance.noise + (data->noise == NULL ? 0 : data->noise[row]);
}

/* ---- life --------------------------------------------------------------------------------- */

/* A model without a state yet; NULL: not enough memory. */
static struct gpnn_model *model_alloc(const struct kind *kind, size_t n,
                                      const struct gpnn_channel *channels,
                                      const struct gpnn_model_options *options)
{
  struct gpnn_model *model = calloc(1, sizeof *model);
  if (model == NULL) return NULL;
  *model = (struct gpnn_model){.kind = *kind, .n = n, .options = *options};
  model->channels = gpnn_alloc(n, 1, sizeof *model->channels);
  if (model->channels == NULL) {
    free(model);
    return NULL;
  }
  memcpy(model->channels, channels, n * sizeof *channels);
  return model;
}

/* Hands 'model' to the caller if its state could be made, and frees it otherwise. */
static enum gpnn_status finish(struct gpnn_model *model, enum gpnn_status status,
                               struct gpnn_model **to)
{
  if (status == GPNN_OK)
    *to = model;
  else
    gpnn_model_free(model);
  return status;
}

enum gpnn_status gpnn_model_new(struct gpnn_model **model, size_t n,
                                const struct gpnn_channel *channels,
                                const struct gpnn_model_options *options, struct gpnn_error *err)
{
  struct gpnn_model *new = model_alloc(find_kind(n, channels), n, channels, options);
  if (new == NULL) return gpnn_fail_memory(err, "for a model");
  enum gpnn_status status = new->kind.ops->make(&new->state, n, new->channels, &new->options, err);
  return finish(new, status, model);
}

enum gpnn_status gpnn_model_wrap(struct gpnn_model **model, const char *name,
                                 const struct gpnn_model_ops *ops, void *state, size_t n,
                                 const struct gpnn_channel *channels,
                                 const struct gpnn_model_options *options, struct gpnn_error *err)
{
  const struct kind kind = {.name = name, .ops = ops};
  *model = model_alloc(&kind, n, channels, options);
  if (*model == NULL) {
    ops->free(state);
    return gpnn_fail_memory(err, "for a model");
  }
  (*model)->state = state;
  return GPNN_OK;
}

enum gpnn_status gpnn_model_with(const struct gpnn_model *model,
                                 const struct gpnn_channel *channels, struct gpnn_model **other,
                                 struct gpnn_error *err)
{
  struct gpnn_model *new = model_alloc(&model->kind, model->n, channels, &model->options);
  if (new == NULL) return gpnn_fail_memory(err, "for a model");
  return finish(new, new->kind.ops->with(model->state, new->channels, &new->state, err), other);
}

void gpnn_model_free(struct gpnn_model *model)
{
  if (model == NULL) return;
  model->kind.ops->free(model->state);
  free(model->channels);
  free(model);
}

/* ---- what the kind does ------------------------------------------------------------------- */

static enum gpnn_status cannot(const struct kind *kind, const char *predicate,
                               struct gpnn_error *err)
{
  return gpnn_fail(err, GPNN_EINVAL, "the %s model %s", kind->name, predicate);
}

enum gpnn_status gpnn_model_predict(const struct gpnn_model *model, const struct gpnn_query *query,
                                    const struct gpnn_latent *latent, struct gpnn_counts *counts,
                                    struct gpnn_error *err)
{
  if (gpnn_missing_any(model, query))
    return gpnn_missing_predict(model, query, latent, counts, err);
  return model->kind.ops->predict(model->state, query, latent, counts, err);
}

enum gpnn_status gpnn_model_predict_each(const struct gpnn_model *model,
                                         const struct gpnn_query *query, size_t n_numbers,
                                         const size_t *numbers, const struct gpnn_latent *latent,
                                         struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct kind *kind = &model->kind;
  if (kind->ops->predict_each == NULL) return cannot(kind, "has no neighbours to choose", err);
  return kind->ops->predict_each(model->state, query, n_numbers, numbers, latent, counts, err);
}

enum gpnn_status gpnn_model_joint(const struct gpnn_model *model, size_t channel,
                                  const struct gpnn_query *query, const struct gpnn_errors *errors,
                                  double *covariance, struct gpnn_error *err)
{
  const struct kind *kind = &model->kind;
  if (kind->ops->joint == NULL)
    return cannot(kind, "does not know how errors of rows go together", err);
  return kind->ops->joint(model->state, channel, query, errors, covariance, err);
}

bool gpnn_model_can_draw(const struct gpnn_model *model)
{
  return model->kind.ops->draw != NULL;
}

enum gpnn_status gpnn_model_draw(const struct gpnn_model *model, size_t channel,
                                 const struct gpnn_query *query, size_t n_draws, double *errors,
                                 struct gpnn_error *err)
{
  return model->kind.ops->draw(model->state, channel, query, n_draws, errors, err);
}

enum gpnn_status gpnn_model_weights(const struct gpnn_model *model, size_t channel,
                                    const struct gpnn_query *query,
                                    const struct gpnn_weights *weights, struct gpnn_counts *counts,
                                    struct gpnn_error *err)
{
  const struct kind *kind = &model->kind;
  if (kind->ops->weights == NULL)
    return cannot(kind, "predicts without weights of training rows", err);
  return kind->ops->weights(model->state, channel, query, weights, counts, err);
}

size_t gpnn_model_n_weights(const struct gpnn_model *model, size_t channel)
{
  const struct gpnn_model_ops *ops = model->kind.ops;
  return ops->n_weights != NULL ? ops->n_weights(model->state, channel)
                                : gpnn_model_neighbours(model, channel);
}

enum gpnn_status gpnn_model_classify(const struct gpnn_model *model, size_t channel,
                                     const struct gpnn_query *query, double *p, double *nearest,
                                     struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct kind *kind = &model->kind;
  if (kind->ops->classify == NULL) return cannot(kind, "predicts no classes", err);
  if (gpnn_missing_any(model, query))
    return gpnn_missing_classify(model, channel, query, p, nearest, counts, err);
  return kind->ops->classify(model->state, channel, query, p, nearest, counts, err);
}

enum gpnn_status gpnn_model_hold_out(const struct gpnn_model *model,
                                     const struct gpnn_holdout_options *options,
                                     struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  const struct kind *kind = &model->kind;
  if (kind->ops->hold_out == NULL)
    return cannot(
        kind, "leaves no training rows out: calibrate on held-out rows, or a table (--with)", err);
  return kind->ops->hold_out(model->state, options, heldout, err);
}

size_t gpnn_model_neighbours(const struct gpnn_model *model, size_t channel)
{
  const struct gpnn_model_ops *ops = model->kind.ops;
  return ops->neighbours == NULL ? 0 : ops->neighbours(model->state, channel);
}

bool gpnn_model_rebuilt_search(const struct gpnn_model *model)
{
  const struct gpnn_model_ops *ops = model->kind.ops;
  return ops->rebuilt_search != NULL && ops->rebuilt_search(model->state);
}

/* ---- what it was made from ---------------------------------------------------------------- */

size_t gpnn_model_n_channels(const struct gpnn_model *model)
{
  return model->n;
}

const struct gpnn_channel *gpnn_model_channel(const struct gpnn_model *model, size_t channel)
{
  return &model->channels[channel];
}

const void *gpnn_model_state(const struct gpnn_model *model)
{
  return model->state;
}

const struct gpnn_model_options *gpnn_model_options(const struct gpnn_model *model)
{
  return &model->options;
}
