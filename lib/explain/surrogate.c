#include "explain/surrogate.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "linalg/arrays.h"
#include "models/joint.h"
#include "models/predict.h"

void gpnn_surrogate_release(struct gpnn_surrogate *surrogate)
{
  gpnn_arrays_free(surrogate->arrays);
  *surrogate = (struct gpnn_surrogate){0};
}

enum gpnn_status gpnn_surrogate_new(struct gpnn_surrogate *surrogate,
                                    const struct gpnn_model *model, size_t n, size_t n_draws,
                                    struct gpnn_error *err)
{
  const struct gpnn_channel *channel = gpnn_model_channel(model, 0);
  const struct gpnn_dataset *dataset = channel->dataset;
  bool has_regressors = gpnn_parameters_use_regressors(channel->parameters);
  char shown[GPNN_MASK_BYTES];
  if (gpnn_dataset_n_classes(dataset) > 0)
    return gpnn_fail(err, GPNN_EDATA,
                     "target '%s' holds classes, and this is about functions that are numbers",
                     gpnn_schema_column_name(&dataset->schema.target, shown));
  surrogate->n = n;
  surrogate->n_draws = n_draws;
  surrogate->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(surrogate->x, n, dataset->d), GPNN_ARRAY(surrogate->mean, n, 1),
                  GPNN_ARRAY(surrogate->draws, n, n_draws),
                  GPNN_ARRAY_IF(has_regressors, surrogate->regressors, n, dataset->n_regressors));
  return surrogate->arrays == NULL ? gpnn_fail_memory(err, "for the points of a function")
                                   : GPNN_OK;
}

enum gpnn_status gpnn_surrogate_evaluate(struct gpnn_surrogate *surrogate,
                                         const struct gpnn_model *model, uint64_t seed,
                                         struct gpnn_error *err)
{
  const struct gpnn_predict_options options = {.latent = true, .units = GPNN_UNITS_ORIGINAL};
  const struct gpnn_predict_rows rows = {
      .n = surrogate->n, .x = surrogate->x, .regressors = surrogate->regressors};
  struct gpnn_predictor *predictor = NULL;
  struct gpnn_joint *joint = NULL;
  struct gpnn_counts counts = {0};
  struct gpnn_distribution *distributions = NULL;
  struct gpnn_arrays *arrays = GPNN_ARRAYS(GPNN_ARRAY(distributions, rows.n, 1));
  enum gpnn_status status =
      arrays != NULL ? GPNN_OK : gpnn_fail_memory(err, "for the points of a function");
  if (status == GPNN_OK) status = gpnn_predictor_new(&predictor, model, &options, err);
  if (status == GPNN_OK)
    status = gpnn_predict_distributions(predictor, &rows, distributions, &counts, err);
  if (status == GPNN_OK)
    status = gpnn_predict_moments(predictor, rows.n, distributions, surrogate->mean, NULL, err);
  if (status == GPNN_OK) status = gpnn_joint_new(&joint, predictor, &rows, distributions, err);
  if (status == GPNN_OK)
    status = gpnn_joint_draw(joint, 0, surrogate->n_draws, seed, surrogate->draws, err);
  gpnn_joint_free(joint);
  gpnn_predictor_free(predictor);
  gpnn_arrays_free(arrays);
  return status;
}

/* The quantile of p among sorted numbers. */
static double quantile(size_t n, const double *sorted, double p)
{
  double at = p * (double)(n - 1);
  size_t below = (size_t)at;
  if (below + 1 >= n) return sorted[n - 1];
  return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

void gpnn_surrogate_interval(size_t n, double *values, double level, double *lower, double *upper)
{
  qsort(values, n, sizeof *values, gpnn_compare_doubles);
  *lower = quantile(n, values, (1 - level) / 2);
  *upper = quantile(n, values, (1 + level) / 2);
}
