#include "estimate/row_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dataset/sample.h"
#include "likelihood/scale.h"
#include "linalg/arrays.h"
#include "models/model.h"

/* Rows with their targets, and what is predicted of them; arrays are owned. */
struct rows {
  size_t n;
  int64_t *self; /* NULL: they are no training rows */
  double *x, *regressors, *y, *mean, *variance, *mean_variance, *misfit, *nearest;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* Copies the 'n' training rows whose numbers 'row' has. */
static enum gpnn_status rows_init(struct rows *r, const struct gpnn_dataset *dataset, size_t n,
                                  const uint64_t *row, bool are_training_rows,
                                  struct gpnn_error *err)
{
  size_t d = dataset->d, p = dataset->n_regressors;
  r->n = n;
  r->arrays = GPNN_ARRAYS(GPNN_ARRAY_IF(are_training_rows, r->self, n, 1), GPNN_ARRAY(r->x, n, d),
                          GPNN_ARRAY(r->regressors, n, p), GPNN_ARRAY(r->y, n, 1),
                          GPNN_ARRAY(r->mean, n, 1), GPNN_ARRAY(r->variance, n, 1),
                          GPNN_ARRAY(r->mean_variance, n, 1), GPNN_ARRAY(r->misfit, n, 1),
                          GPNN_ARRAY(r->nearest, n, 1));
  if (r->arrays == NULL) return gpnn_fail_memory(err, "for the weights of rows");
  for (size_t i = 0; i < n; i++) {
    size_t from = row == NULL ? i : (size_t)row[i];
    memcpy(r->x + i * d, dataset->x + from * d, d * sizeof *r->x);
    if (p > 0)
      memcpy(r->regressors + i * p, dataset->regressors + from * p, p * sizeof *r->regressors);
    r->y[i] = dataset->y[from];
    if (r->self != NULL) r->self[i] = (int64_t)from;
  }
  return GPNN_OK;
}

static enum gpnn_status rows_predict(struct rows *r, const struct gpnn_model *model,
                                     const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  struct gpnn_counts counts = {0};
  const struct gpnn_query query = {.n = r->n,
                                   .x = r->x,
                                   .regressors = dataset->n_regressors > 0 ? r->regressors : NULL,
                                   .self = r->self};
  const struct gpnn_latent latent = {.mean = r->mean,
                                     .variance = r->variance,
                                     .mean_variance = r->mean_variance,
                                     .misfit = r->misfit,
                                     .nearest = r->nearest};
  return gpnn_model_predict(model, &query, &latent, &counts, err);
}

static struct gpnn_scale_rows scale_rows(const struct rows *r, const struct gpnn_parameters *params)
{
  return (struct gpnn_scale_rows){.n = r->n,
                                  .y = r->y,
                                  .mean = r->mean,
                                  .variance = r->variance,
                                  .mean_variance = r->mean_variance,
                                  .misfit = r->misfit,
                                  .nearest = r->nearest,
                                  .noise = gpnn_parameters_noise(params),
                                  .cluster_rows = 1};
}

/* ---- weights ------------------------------------------------------------------------------ */

/* The noise that is added, given the errors of all rows. */
static enum gpnn_status weigh(const struct rows *r, const struct gpnn_parameters *params,
                              double *noise, struct gpnn_error *err)
{
  const struct gpnn_scale_rows rows = scale_rows(r, params);
  struct gpnn_scale_law law;
  enum gpnn_status status = gpnn_scale_fit(&rows, GPNN_LIKELIHOOD_STUDENT, false, &law, err);
  if (status != GPNN_OK) return status;
  double own = gpnn_parameters_noise(params), nu = law.degrees;
  for (size_t i = 0; i < r->n; i++) {
    double error = r->y[i] - r->mean[i], square = law.scale.factor * (r->variance[i] + own);
    double weight = square > 0 ? (nu + 1) / (nu + error * error / square) : 1;
    noise[i] = isinf(nu) ? 0 : fmax(own / weight - own, 0);
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_row_weights_find(const struct gpnn_dataset *dataset,
                                       const struct gpnn_parameters *params, int threads,
                                       double *noise, struct gpnn_error *err)
{
  const size_t most = GPNN_ROW_WEIGHTS_NEIGHBOURS;
  bool is_few = params->n_members == 0 && params->neighbours < most;
  const struct gpnn_model_options options = {.neighbours = is_few ? 0 : most, .threads = threads};
  struct gpnn_dataset view = *dataset;
  const struct gpnn_channel channel = {&view, params};
  struct gpnn_model *first = NULL;
  struct rows rows = {0};
  for (size_t i = 0; i < dataset->n; i++) noise[i] = 0;
  view.observed = view.y;
  view.noise = noise;
  enum gpnn_status status = rows_init(&rows, dataset, dataset->n, NULL, true, err);
  if (status == GPNN_OK) status = gpnn_model_new(&first, 1, &channel, &options, err);
  for (int sweep = 0; sweep < GPNN_ROW_WEIGHTS_SWEEPS && status == GPNN_OK; sweep++) {
    struct gpnn_model *model = NULL;
    status = gpnn_model_with(first, &channel, &model, err);
    if (status == GPNN_OK) status = rows_predict(&rows, model, dataset, err);
    gpnn_model_free(model);
    if (status == GPNN_OK) status = weigh(&rows, params, noise, err);
  }
  gpnn_model_free(first);
  gpnn_arrays_free(rows.arrays);
  return status;
}

/* ---- their gain --------------------------------------------------------------------------- */

/* Rows kept out, and the others. */
struct split {
  size_t n_out, n_in;
  uint64_t *row; /* owned: those kept out, and then the others, which ascend */
};

static enum gpnn_status split_rows(struct split *split, size_t n, uint64_t seed,
                                   struct gpnn_error *err)
{
  enum { SHARE = 5, MOST = 2000 };
  struct gpnn_rng rng;
  split->n_out = n / SHARE < MOST ? n / SHARE : MOST;
  split->n_in = n - split->n_out;
  split->row = gpnn_alloc(n, 1, sizeof *split->row);
  if (split->row == NULL) return gpnn_fail_memory(err, "for the weights of rows");
  gpnn_rng_init(&rng, seed, GPNN_RNG_ROW_WEIGHTS);
  enum gpnn_status status = gpnn_rng_sample(&rng, n, n, split->row, err);
  qsort(split->row + split->n_out, split->n_in, sizeof *split->row, gpnn_compare_uint64s);
  return status;
}

/* The losses of the rows kept out, predicted from others with this noise. */
static enum gpnn_status losses(struct rows *rows, const struct gpnn_dataset *dataset,
                               const struct gpnn_parameters *params, int threads, double *loss,
                               struct gpnn_error *err)
{
  enum { FOLDS = 5 };
  const struct gpnn_model_options options = {.threads = threads};
  const struct gpnn_channel channel = {dataset, params};
  struct gpnn_model *model = NULL;
  enum gpnn_status status = gpnn_model_new(&model, 1, &channel, &options, err);
  if (status == GPNN_OK) status = rows_predict(rows, model, dataset, err);
  gpnn_model_free(model);
  if (status != GPNN_OK) return status;
  const struct gpnn_scale_rows scaled = scale_rows(rows, params);
  return gpnn_scale_cross_losses(&scaled, params->likelihood, false, FOLDS, 0, loss, NULL, err);
}

static struct gpnn_row_weights_gain compare(size_t n, const double *without, const double *with)
{
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) sum += without[i] - with[i];
  double mean = sum / (double)n;
  for (size_t i = 0; i < n; i++) squares += pow(without[i] - with[i] - mean, 2);
  return (struct gpnn_row_weights_gain){
      .nll = mean, .standard_error = sqrt(squares) / (double)n, .n_rows = n};
}

enum gpnn_status gpnn_row_weights_gain(const struct gpnn_dataset *dataset,
                                       const struct gpnn_parameters *params, uint64_t seed,
                                       int threads, struct gpnn_row_weights_gain *gain,
                                       struct gpnn_error *err)
{
  struct split split = {0};
  struct rows rows = {0};
  struct gpnn_sample *sample = NULL;
  double *noise = NULL, *without = NULL, *with = NULL;
  enum gpnn_status status = split_rows(&split, dataset->n, seed, err);
  if (status == GPNN_OK) status = rows_init(&rows, dataset, split.n_out, split.row, false, err);
  if (status == GPNN_OK)
    status = gpnn_sample_take(&sample, dataset, split.n_in, split.row + split.n_out, err);
  noise = gpnn_alloc(split.n_in, 1, sizeof *noise);
  without = gpnn_alloc(split.n_out, 1, sizeof *without);
  with = gpnn_alloc(split.n_out, 1, sizeof *with);
  if (status == GPNN_OK && !(noise && without && with))
    status = gpnn_fail_memory(err, "for the weights of rows");
  if (status == GPNN_OK) {
    struct gpnn_dataset view = *gpnn_sample_target(sample, dataset->target);
    status = gpnn_row_weights_find(&view, params, threads, noise, err);
    if (status == GPNN_OK) status = losses(&rows, &view, params, threads, without, err);
    view.noise = noise;
    view.observed = view.y;
    if (status == GPNN_OK) status = losses(&rows, &view, params, threads, with, err);
  }
  if (status == GPNN_OK) *gain = compare(split.n_out, without, with);
  free(split.row);
  free(noise);
  free(without);
  free(with);
  gpnn_sample_free(sample);
  gpnn_arrays_free(rows.arrays);
  return status;
}
