/*
 * The model.  Neighbours, and rows to leave out, are those of a regression on the same rows in the
 * same metric, which also serves the channels that are not of classes with Polya-Gamma variables.
 */
#include "models/polya_gamma/polya_gamma.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "models/polya_gamma/polya_gamma_private.h"
#include "stats/distributions/polya_gamma.h"

struct polya_gamma {
  size_t n;
  const struct gpnn_channel *channels; /* n */
  const struct gpnn_model_options *options;
  struct gpnn_parameters *plain;       /* owned; n: those of the regression */
  struct gpnn_channel *plain_channels; /* owned; n */
  struct gpnn_model *regression;
  struct gpnn_logistic logistic;
};

static bool is_polya_gamma(const struct gpnn_channel *channel)
{
  return channel->parameters->inference == GPNN_INFERENCE_POLYA_GAMMA;
}

/* ---- life ------------------------------------------------------------------------------- */

static void polya_gamma_free(void *state)
{
  struct polya_gamma *model = state;
  if (model == NULL) return;
  gpnn_model_free(model->regression);
  free(model->plain);
  free(model->plain_channels);
  free(model);
}

/* Learnt variables must be there, one for each row and channel. */
static enum gpnn_status check_omega(const struct gpnn_channel *channel, struct gpnn_error *err)
{
  const struct gpnn_omega *omega = &channel->parameters->omega;
  size_t n =
      channel->dataset->n * gpnn_polya_gamma_channels(gpnn_dataset_n_classes(channel->dataset));
  const struct gpnn_provenance *from = &channel->parameters->provenance;
  if (!is_polya_gamma(channel) || !omega->is_learnt) return GPNN_OK;
  if (omega->n == 0)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "omega was learnt for each training row, but is not in these parameters: use "
                     "the file that gpnn-fit wrote");
  if (from->has_index && from->index != channel->dataset->fingerprint)
    return gpnn_fail(err, GPNN_EMISMATCH, "omega was learnt for the rows of another index");
  if (omega->n == n) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "omega was learnt for other training rows: there are %zu, not %zu", omega->n, n);
}

/* The regression has the metric of the parameters and nothing else of them. */
static void make_plain(struct polya_gamma *model, size_t c)
{
  const struct gpnn_parameters *from = model->channels[c].parameters;
  struct gpnn_parameters *plain = &model->plain[c];
  *plain = *from;
  model->plain_channels[c] = (struct gpnn_channel){model->channels[c].dataset, plain};
  if (!is_polya_gamma(&model->channels[c])) return;
  *plain = (struct gpnn_parameters){.covariance = from->covariance, .neighbours = from->neighbours};
  plain->covariance.noise = plain->covariance.kernelscale;
}

/* Without the regression. */
static enum gpnn_status polya_gamma_alloc(struct polya_gamma **model, size_t n,
                                          const struct gpnn_channel *channels,
                                          const struct gpnn_model_options *options,
                                          struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  struct polya_gamma *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for a model");
  *new = (struct polya_gamma){.n = n, .channels = channels, .options = options};
  new->plain = gpnn_alloc(n, 1, sizeof *new->plain);
  new->plain_channels = gpnn_alloc(n, 1, sizeof *new->plain_channels);
  if (new->plain == NULL || new->plain_channels == NULL)
    status = gpnn_fail_memory(err, "for a model");
  for (size_t c = 0; c < n && status == GPNN_OK; c++) {
    make_plain(new, c);
    status = check_omega(&channels[c], err);
  }
  gpnn_logistic_init(&new->logistic);
  *model = new;
  return status;
}

static enum gpnn_status finish(struct polya_gamma *model, enum gpnn_status status, void **state)
{
  if (status == GPNN_OK)
    *state = model;
  else
    polya_gamma_free(model);
  return status;
}

static enum gpnn_status polya_gamma_make(void **state, size_t n,
                                         const struct gpnn_channel *channels,
                                         const struct gpnn_model_options *options,
                                         struct gpnn_error *err)
{
  struct polya_gamma *model = NULL;
  enum gpnn_status status = polya_gamma_alloc(&model, n, channels, options, err);
  if (status == GPNN_OK)
    status = gpnn_model_new(&model->regression, n, model->plain_channels, options, err);
  return finish(model, status, state);
}

static enum gpnn_status polya_gamma_with(const void *state, const struct gpnn_channel *channels,
                                         void **other, struct gpnn_error *err)
{
  const struct polya_gamma *from = state;
  struct polya_gamma *model = NULL;
  enum gpnn_status status = polya_gamma_alloc(&model, from->n, channels, from->options, err);
  if (status == GPNN_OK)
    status = gpnn_model_with(from->regression, model->plain_channels, &model->regression, err);
  return finish(model, status, other);
}

/* ---- classes ---------------------------------------------------------------------------- */

/* A prediction of rows. */
struct task {
  const struct gpnn_query *query;
  const struct gpnn_parameters *parameters;
  struct gpnn_polya_gamma_row shared, *rows; /* rows: one per thread, each made when first needed */
  size_t n_classes;
  int64_t *neighbour; /* query->n by shared.most */
  double *p;
};

static double omega_of(const struct task *task, size_t row, size_t channel)
{
  const struct gpnn_omega *omega = &task->parameters->omega;
  if (!omega->is_learnt) return exp(gpnn_polya_gamma_nearest().m);
  return exp(omega->log_median[row * task->shared.n_channels + channel]);
}

static enum gpnn_status classify_row(void *context, size_t thread, size_t i, struct gpnn_error *err)
{
  const struct task *task = context;
  struct gpnn_polya_gamma_row *row = &task->rows[thread];
  const int64_t *neighbour = task->neighbour + i * task->shared.most;
  size_t k = 0;
  if (row->data == NULL) {
    *row = task->shared;
    if (!gpnn_polya_gamma_row_init(row)) return gpnn_fail_memory(err, "for predictions");
  }
  while (k < row->most && neighbour[k] >= 0) k++;
  gpnn_polya_gamma_place(row, task->query->x + i * row->data->d, k, neighbour, false);
  for (size_t c = 0; c < row->n_channels; c++)
    for (size_t a = 0; a < k; a++)
      row->omega[c * row->most + a] = omega_of(task, (size_t)neighbour[a], c);
  enum gpnn_status status = gpnn_polya_gamma_condition(row, err);
  if (status == GPNN_OK) gpnn_polya_gamma_classes(row, task->p + i * task->n_classes);
  return status;
}

/* Runs a task whose arrays have room. */
static enum gpnn_status run(const struct polya_gamma *model, size_t channel, struct task *task,
                            double *nearest, struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_weights found = {.neighbour = task->neighbour, .nearest = nearest};
  size_t n_threads = (size_t)gpnn_threads_for(model->options->threads, task->query->n);
  enum gpnn_status status =
      gpnn_model_weights(model->regression, channel, task->query, &found, counts, err);
  if (status != GPNN_OK) return status;
  task->rows = gpnn_alloc(n_threads, 1, sizeof *task->rows);
  if (task->rows == NULL) return gpnn_fail_memory(err, "for predictions");
  status = gpnn_threads_try((int)n_threads, task->query->n, 8, classify_row, task, err);
  for (size_t t = 0; t < n_threads; t++) gpnn_polya_gamma_row_release(&task->rows[t]);
  free(task->rows);
  return status;
}

static enum gpnn_status polya_gamma_classify(const void *state, size_t channel,
                                             const struct gpnn_query *query, double *p,
                                             double *nearest, struct gpnn_counts *counts,
                                             struct gpnn_error *err)
{
  const struct polya_gamma *model = state;
  const struct gpnn_channel *of = &model->channels[channel];
  if (!is_polya_gamma(of))
    return gpnn_model_classify(model->regression, channel, query, p, nearest, counts, err);
  size_t d = of->dataset->d, m = gpnn_model_neighbours(model->regression, channel);
  struct task task = {.query = query,
                      .parameters = of->parameters,
                      .n_classes = gpnn_dataset_n_classes(of->dataset),
                      .neighbour = gpnn_alloc(query->n, m, sizeof *task.neighbour),
                      .p = p};
  double *inverse = gpnn_alloc(d, 1, sizeof *inverse);
  enum gpnn_status status = GPNN_OK;
  if (task.neighbour == NULL || inverse == NULL) {
    status = gpnn_fail_memory(err, "for predictions");
  } else {
    gpnn_covariance_expand(&of->parameters->covariance, d, of->dataset->group, inverse);
    for (size_t j = 0; j < d; j++) inverse[j] = 1 / inverse[j];
    task.shared =
        (struct gpnn_polya_gamma_row){.data = of->dataset,
                                      .covariance = &of->parameters->covariance,
                                      .logistic = &model->logistic,
                                      .inverse = inverse,
                                      .most = m,
                                      .n_channels = gpnn_polya_gamma_channels(task.n_classes),
                                      .is_common = !of->parameters->omega.is_learnt};
    status = run(model, channel, &task, nearest, counts, err);
  }
  free(task.neighbour);
  free(inverse);
  return status;
}

/* ---- what the regression does ----------------------------------------------------------- */

static enum gpnn_status polya_gamma_predict(const void *state, const struct gpnn_query *query,
                                            const struct gpnn_latent *latent,
                                            struct gpnn_counts *counts, struct gpnn_error *err)
{
  return gpnn_model_predict(((const struct polya_gamma *)state)->regression, query, latent, counts,
                            err);
}

static enum gpnn_status polya_gamma_predict_each(const void *state, const struct gpnn_query *query,
                                                 size_t n_numbers, const size_t *numbers,
                                                 const struct gpnn_latent *latent,
                                                 struct gpnn_counts *counts, struct gpnn_error *err)
{
  return gpnn_model_predict_each(((const struct polya_gamma *)state)->regression, query, n_numbers,
                                 numbers, latent, counts, err);
}

static enum gpnn_status polya_gamma_joint(const void *state, size_t channel,
                                          const struct gpnn_query *query,
                                          const struct gpnn_errors *errors, double *covariance,
                                          struct gpnn_error *err)
{
  return gpnn_model_joint(((const struct polya_gamma *)state)->regression, channel, query, errors,
                          covariance, err);
}

static enum gpnn_status polya_gamma_hold_out(const void *state,
                                             const struct gpnn_holdout_options *options,
                                             struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  return gpnn_model_hold_out(((const struct polya_gamma *)state)->regression, options, heldout,
                             err);
}

static size_t polya_gamma_neighbours(const void *state, size_t channel)
{
  return gpnn_model_neighbours(((const struct polya_gamma *)state)->regression, channel);
}

static bool polya_gamma_rebuilt_search(const void *state)
{
  return gpnn_model_rebuilt_search(((const struct polya_gamma *)state)->regression);
}

const struct gpnn_model_ops gpnn_polya_gamma_ops = {.make = polya_gamma_make,
                                                    .with = polya_gamma_with,
                                                    .predict = polya_gamma_predict,
                                                    .predict_each = polya_gamma_predict_each,
                                                    .hold_out = polya_gamma_hold_out,
                                                    .joint = polya_gamma_joint,
                                                    .classify = polya_gamma_classify,
                                                    .neighbours = polya_gamma_neighbours,
                                                    .rebuilt_search = polya_gamma_rebuilt_search,
                                                    .free = polya_gamma_free};
