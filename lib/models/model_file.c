#include "models/model_file.h"

#include <float.h>
#include <math.h>

#include "dataset/index/index.h"
#include "dataset/stored.h"
#include "linalg/arrays.h"
#include "models/model.h"
#include "table/stream.h"

#define MEMORY_FOR "for a model file"

/* Latent functions of held-out rows; owned. */
struct latents {
  double *mean, *variance, *nearest;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static bool latents_alloc(struct latents *latents, size_t n)
{
  latents->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(latents->mean, n, 1), GPNN_ARRAY(latents->variance, n, 1),
                  GPNN_ARRAY(latents->nearest, n, 1));
  return latents->arrays != NULL;
}

/* Predicts the held-out rows of a target. */
static enum gpnn_status predict(const struct gpnn_channel *channel, int threads,
                                struct latents *latents, struct gpnn_error *err)
{
  const struct gpnn_model_options options = {.threads = threads};
  const struct gpnn_dataset *view = channel->dataset;
  const struct gpnn_query query = {.n = view->n_calibration,
                                   .x = view->calibration_x,
                                   .regressors = view->calibration_regressors};
  const struct gpnn_latent latent = {
      .mean = latents->mean, .variance = latents->variance, .nearest = latents->nearest};
  struct gpnn_counts counts = {0};
  struct gpnn_model *model = NULL;
  enum gpnn_status status = gpnn_model_new(&model, 1, channel, &options, err);
  if (status == GPNN_OK) status = gpnn_model_predict(model, &query, &latent, &counts, err);
  /* A row may be so far away that its distance overflows; files have finite numbers alone. */
  for (size_t i = 0; i < query.n && status == GPNN_OK; i++)
    if (latents->nearest[i] > DBL_MAX) latents->nearest[i] = DBL_MAX;
  gpnn_model_free(model);
  return status;
}

/* Adds the arrays that do not depend on the family. */
static enum gpnn_status add(struct gpnn_state *arrays, const struct gpnn_channel *channel,
                            const struct latents *latents, struct gpnn_error *err)
{
  const struct gpnn_dataset *view = channel->dataset;
  const char *target = view->schema.target.name;
  const double rows = (double)view->n;
  size_t n = view->n_calibration;
  enum gpnn_status status = gpnn_state_add(arrays, target, GPNN_STORED_ROWS, 1, &rows, err);
  if (status == GPNN_OK)
    status = gpnn_state_add(arrays, target, GPNN_STORED_KERNELSCALE, 1,
                            &channel->parameters->covariance.kernelscale, err);
  if (n == 0 || status != GPNN_OK) return status;
  status = gpnn_state_add(arrays, target, GPNN_STORED_TRUTH, n, view->calibration_y, err);
  if (status == GPNN_OK)
    status = gpnn_state_add(arrays, target, GPNN_STORED_MEAN, n, latents->mean, err);
  if (status == GPNN_OK)
    status = gpnn_state_add(arrays, target, GPNN_STORED_VARIANCE, n, latents->variance, err);
  if (status == GPNN_OK)
    status = gpnn_state_add(arrays, target, GPNN_STORED_NEAREST, n, latents->nearest, err);
  if (status == GPNN_OK && view->calibration_noise != NULL)
    status = gpnn_state_add(arrays, target, GPNN_STORED_NOISE, n, view->calibration_noise, err);
  return status;
}

/* Completes the arrays of one target. */
static enum gpnn_status complete(const struct gpnn_dataset *dataset,
                                 const struct gpnn_parameters *params, struct gpnn_state *arrays,
                                 int threads, struct gpnn_error *err)
{
  const struct gpnn_stored stored = {.arrays = arrays};
  const struct gpnn_dataset *found = params->target == NULL
                                         ? gpnn_dataset_target(dataset, 0)
                                         : gpnn_dataset_find_target(dataset, params->target);
  struct latents latents = {0};
  bool other_model;
  if (found == NULL)
    return gpnn_fail(err, GPNN_EMISMATCH, "the index has no such target as the parameters");
  struct gpnn_dataset view = *found;
  view.stored = &stored;
  const struct gpnn_channel channel = {&view, params};
  enum gpnn_status status = gpnn_parameters_check(params, &view, &other_model, err);
  if (status == GPNN_OK && !latents_alloc(&latents, view.n_calibration))
    status = gpnn_fail_memory(err, MEMORY_FOR);
  if (status == GPNN_OK) status = predict(&channel, threads, &latents, err);
  if (status == GPNN_OK) status = add(arrays, &channel, &latents, err);
  gpnn_arrays_free(latents.arrays);
  return status;
}

/* Refuses what readers would: better no file than one that does not open. */
static enum gpnn_status check_finite(const struct gpnn_state *arrays, struct gpnn_error *err)
{
  for (size_t i = 0; i < arrays->n; i++)
    for (size_t k = 0; k < arrays->arrays[i].n; k++)
      if (!isfinite(arrays->arrays[i].values[k]))
        return gpnn_fail(err, GPNN_ENUMERIC,
                         "the model has a number that is not finite, in '%s': are there wild "
                         "values among the inputs?",
                         arrays->arrays[i].name);
  return GPNN_OK;
}

static enum gpnn_status write_file(const char *path, const struct gpnn_dataset *dataset, size_t n,
                                   const struct gpnn_parameters *params,
                                   const struct gpnn_state *arrays, const char *volatile *watch,
                                   struct gpnn_error *err)
{
  struct gpnn_output *memory = NULL;
  struct gpnn_stored stored = {.arrays = arrays};
  struct gpnn_dataset with_arrays = *dataset;
  enum gpnn_status status = gpnn_output_open_memory(&memory, err);
  if (status == GPNN_OK) status = gpnn_parameters_write(params, n, memory, err);
  if (status == GPNN_OK) {
    stored.text = gpnn_output_memory(memory, &stored.length);
    with_arrays.stored = &stored;
    status = stored.text == NULL ? gpnn_fail_memory(err, MEMORY_FOR)
                                 : gpnn_index_write_stored(path, &with_arrays, watch, err);
  }
  gpnn_output_abandon(memory);
  return status;
}

enum gpnn_status gpnn_model_file_write(const char *path, const struct gpnn_dataset *dataset,
                                       size_t n, const struct gpnn_parameters *params,
                                       struct gpnn_state *arrays, int threads,
                                       const char *volatile *watch, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (dataset->stored != NULL || dataset->grid != NULL)
    return gpnn_fail(err, GPNN_EMISMATCH, "a model file is made from an index of rows");
  for (size_t t = 0; t < n && status == GPNN_OK; t++)
    status = complete(dataset, &params[t], arrays, threads, err);
  if (status == GPNN_OK) status = check_finite(arrays, err);
  return status == GPNN_OK ? write_file(path, dataset, n, params, arrays, watch, err) : status;
}
