#include "models/local/local.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/simd.h"
#include "models/local/local_private.h"

/* ---- metrics ------------------------------------------------------------------------------ */

static void metric_release(struct gpnn_local_metric *metric)
{
  gpnn_search_free(metric->own_search);
  free(metric->rotation);
  free(metric->lengthscale);
  free(metric->inverse);
  *metric = (struct gpnn_local_metric){0};
}

/* Makes a metric that has no search yet.  The rotation is stored transposed, so that rotating a row
 * adds up whole columns. */
static enum gpnn_status metric_init(struct gpnn_local_metric *metric,
                                    const struct gpnn_local_channel *channel,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *data = channel->data;
  const double *rotation = channel->params->covariance.rotation;
  size_t d = data->d;
  *metric = (struct gpnn_local_metric){.x = data->x, .neighbours = channel->neighbours};
  metric->lengthscale = gpnn_alloc(d, 1, sizeof *metric->lengthscale);
  metric->inverse = gpnn_alloc(d, 1, sizeof *metric->inverse);
  if (rotation != NULL) metric->rotation = gpnn_alloc(d, d, sizeof *metric->rotation);
  if (metric->lengthscale == NULL || metric->inverse == NULL ||
      (rotation != NULL && metric->rotation == NULL)) {
    metric_release(metric);
    return gpnn_fail_memory(err, "for a local Gaussian process");
  }
  gpnn_covariance_expand(&channel->params->covariance, d, data->group, metric->lengthscale);
  for (size_t j = 0; j < d; j++) metric->inverse[j] = 1 / metric->lengthscale[j];
  for (size_t j = 0; j < d && rotation != NULL; j++)
    for (size_t i = 0; i < d; i++) metric->rotation[i * d + j] = rotation[j * d + i];
  return GPNN_OK;
}

/* True if rows have the same neighbours under both. */
static bool is_same_metric(size_t d, const struct gpnn_local_metric *a,
                           const struct gpnn_local_metric *b)
{
  if (a->x != b->x || a->neighbours != b->neighbours ||
      (a->rotation == NULL) != (b->rotation == NULL))
    return false;
  if (a->rotation != NULL && memcmp(a->rotation, b->rotation, d * d * sizeof *a->rotation) != 0)
    return false;
  return memcmp(a->lengthscale, b->lengthscale, d * sizeof *a->lengthscale) == 0;
}

/* The metric for searches, without lengthscales if they are all equal. */
static struct gpnn_search_metric search_metric(const struct gpnn_local_metric *metric,
                                               const struct gpnn_local_channel *channel)
{
  const double *lengthscale = metric->lengthscale;
  const double *rotation = channel->params->covariance.rotation;
  for (size_t j = 1; j < channel->data->d; j++)
    if (lengthscale[j] != lengthscale[0]) return (struct gpnn_search_metric){lengthscale, rotation};
  return (struct gpnn_search_metric){NULL, rotation};
}

/* Uses the dataset's search, or builds one for this metric. */
static enum gpnn_status find_search(struct gpnn_local_metric *metric,
                                    const struct gpnn_local_channel *channel, int threads,
                                    struct gpnn_error *err)
{
  const size_t noticeable = 2000000; /* n times d below which building a search takes no time */
  const struct gpnn_dataset *data = channel->data;
  const struct gpnn_search_metric wanted = search_metric(metric, channel);
  bool is_same = gpnn_search_same_metric(data->d, wanted, gpnn_dataset_search_metric(data));
  enum gpnn_status status;
  if (is_same && !data->is_partial) {
    status = gpnn_dataset_search(data, &metric->own_search, err);
  } else {
    const struct gpnn_search_report stored = gpnn_dataset_search_report(data);
    const struct gpnn_search_options options = {.kind = GPNN_SEARCH_AUTO,
                                                .recall = gpnn_search_recall_again(&stored),
                                                .neighbours = is_same ? stored.neighbours
                                                                      : channel->neighbours,
                                                .lengthscale = wanted.lengthscale,
                                                .rotation = wanted.rotation,
                                                .seed = data->seed,
                                                .threads = threads};
    metric->rebuilt_search = !data->is_partial && data->n > noticeable / data->d;
    status = gpnn_search_build(&metric->own_search, data->n, data->d, data->x, &options, err);
  }
  metric->search = metric->own_search;
  return status;
}

GPNN_SIMD static void rotate(size_t d, const double *rotation, const double *x, double *z)
{
  for (size_t j = 0; j < d; j++) z[j] = 0;
  for (size_t i = 0; i < d; i++) {
    const double *column = rotation + i * d, value = x[i];
#pragma omp simd
    for (size_t j = 0; j < d; j++) z[j] += column[j] * value;
  }
}

const double *gpnn_local_rotate(const struct gpnn_local_channel *channel, const double *x,
                                double *rotated)
{
  if (channel->metric->rotation == NULL) return x;
  rotate(channel->data->d, channel->metric->rotation, x, rotated);
  return rotated;
}

/* ---- training rows ------------------------------------------------------------------------ */

bool gpnn_local_excludes(const struct gpnn_query *query, const struct gpnn_dataset *data, size_t i,
                         int64_t row)
{
  int64_t self = query->self == NULL ? -1 : query->self[i];
  if (row == self) return true;
  if (data->row_group == NULL || (query->group == NULL && self < 0)) return false;
  return data->row_group[row] == (query->group == NULL ? data->row_group[self] : query->group[i]);
}

/* ---- what channels have in common --------------------------------------------------------- */

bool gpnn_local_same_task(const struct gpnn_local_channel *a, const struct gpnn_local_channel *b)
{
  return a->metric == b->metric && a->neighbours == b->neighbours &&
         a->params->covariance.kernel == b->params->covariance.kernel &&
         a->params->covariance.smoothness == b->params->covariance.smoothness;
}

/* True if two positive numbers are equal up to the rounding of a few operations. */
static bool is_same(double a, double b)
{
  const double rounding = 1e-14;
  double difference = a > b ? a - b : b - a;
  return difference <= rounding * (a > b ? a : b);
}

/* Known noise differs between targets only by their variances in the table, unless it is that of
 * pseudo-targets. */
bool gpnn_local_same_family(const struct gpnn_local_channel *a, const struct gpnn_local_channel *b)
{
  const struct gpnn_covariance *p = &a->params->covariance, *q = &b->params->covariance;
  double sd_a = a->data->scaling.y_sd, sd_b = b->data->scaling.y_sd;
  if ((a->data->observed != NULL || b->data->observed != NULL) && a->data != b->data) return false;
  if (!is_same(p->noise / p->kernelscale, q->noise / q->kernelscale)) return false;
  return a->data->noise == NULL ||
         is_same(p->kernelscale * sd_a * sd_a, q->kernelscale * sd_b * sd_b);
}

/* Moves the channels that are like the first of 'n' to the front, and returns their number. */
static size_t collect(struct gpnn_local_channel *channels, size_t n,
                      bool (*alike)(const struct gpnn_local_channel *,
                                    const struct gpnn_local_channel *))
{
  size_t found = 1;
  for (size_t i = 1; i < n; i++) {
    struct gpnn_local_channel channel = channels[i];
    if (!alike(&channels[0], &channel)) continue;
    channels[i] = channels[found];
    channels[found++] = channel;
  }
  return found;
}

/* Puts the channels into the order in which they are solved. */
static void order_channels(struct gpnn_local *local)
{
  for (size_t done = 0, n; done < local->n; done += n) {
    struct gpnn_local_channel *task = local->channels + done;
    n = collect(task, local->n - done, gpnn_local_same_task);
    for (size_t i = 0; i < n;) i += collect(task + i, n - i, gpnn_local_same_family);
  }
}

/* ---- all training rows -------------------------------------------------------------------- */

/* True if a channel predicts every row from all training rows by their common factor.  Parameters
 * without a likelihood do not, so that their predictions stay the same to the last digit. */
static bool is_dense(const struct gpnn_local_channel *channel)
{
  enum { MOST_ROWS = 10000 }; /* of two square matrices in memory */
  size_t n = channel->data->n;
  return channel->neighbours == n && n > 0 && n <= MOST_ROWS &&
         channel->params->likelihood != GPNN_LIKELIHOOD_GAUSSIAN;
}

/* Factors the covariance of all training rows once for each family that predicts from them. */
static enum gpnn_status make_dense(struct gpnn_local *local, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t done = 0, n; done < local->n && status == GPNN_OK; done += n) {
    struct gpnn_local_channel *family = local->channels + done;
    bool all = is_dense(family);
    for (n = 1; done + n < local->n && gpnn_local_same_task(family, &family[n]) &&
                gpnn_local_same_family(family, &family[n]);
         n++)
      all = all && is_dense(&family[n]);
    struct gpnn_local_dense *dense = NULL;
    if (all) status = gpnn_local_dense_new(&dense, n, family, err);
    for (size_t i = 0; i < n; i++) family[i].dense = dense;
  }
  return status;
}

/* ---- life --------------------------------------------------------------------------------- */

static void local_free(void *state)
{
  struct gpnn_local *local = state;
  if (local == NULL) return;
  for (size_t c = 0; local->channels != NULL && c < local->n; c++)
    if (c == 0 || local->channels[c].dense != local->channels[c - 1].dense)
      gpnn_local_dense_free(local->channels[c].dense);
  for (size_t c = 0; local->channels != NULL && c < local->n; c++) free(local->channels[c].share);
  for (size_t i = 0; i < local->n_metrics; i++) metric_release(&local->metrics[i]);
  free(local->metrics);
  free(local->ends);
  free(local->channels);
  free(local);
}

/* A model whose channels have no metrics yet; NULL: not enough memory. */
static struct gpnn_local *local_alloc(size_t n, const struct gpnn_channel *channels,
                                      const struct gpnn_model_options *options)
{
  struct gpnn_local *local = calloc(1, sizeof *local);
  if (local == NULL) return NULL;
  *local = (struct gpnn_local){.options = options, .n = n};
  local->channels = gpnn_alloc(n, 1, sizeof *local->channels);
  local->metrics = gpnn_alloc(n, 1, sizeof *local->metrics);
  local->ends = calloc(n, sizeof *local->ends);
  if (local->channels == NULL || local->metrics == NULL || local->ends == NULL) {
    local_free(local);
    return NULL;
  }
  for (size_t c = 0; c < n; c++) {
    const struct gpnn_channel *from = &channels[c];
    size_t wanted = options->neighbours > 0 ? options->neighbours : from->parameters->neighbours;
    local->channels[c] = (struct gpnn_local_channel){
        .data = from->dataset,
        .params = from->parameters,
        .neighbours = wanted < from->dataset->n ? wanted : from->dataset->n,
        .number = c,
        .ends = &local->ends[c]};
  }
  return local;
}

/* Gives a channel the metric of an earlier channel, or a new one. */
static enum gpnn_status choose_metric(struct gpnn_local *local, struct gpnn_local_channel *channel,
                                      struct gpnn_error *err)
{
  struct gpnn_local_metric *metric = &local->metrics[local->n_metrics];
  enum gpnn_status status = metric_init(metric, channel, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < local->n_metrics; i++) {
    if (!is_same_metric(channel->data->d, metric, &local->metrics[i])) continue;
    metric_release(metric);
    channel->metric = &local->metrics[i];
    return GPNN_OK;
  }
  local->n_metrics++;
  channel->metric = metric;
  return local->options->brings ? GPNN_OK
                                : find_search(metric, channel, local->options->threads, err);
}

static enum gpnn_status finish(struct gpnn_local *local, enum gpnn_status status, void **state,
                               struct gpnn_error *err)
{
  for (size_t c = 0; c < local->n && status == GPNN_OK; c++)
    status = gpnn_local_find_shares(&local->channels[c], err);
  if (status == GPNN_OK) {
    order_channels(local);
    status = make_dense(local, err);
  }
  if (status == GPNN_OK)
    *state = local;
  else
    local_free(local);
  return status;
}

static enum gpnn_status local_make(void **state, size_t n, const struct gpnn_channel *channels,
                                   const struct gpnn_model_options *options, struct gpnn_error *err)
{
  struct gpnn_local *local = local_alloc(n, channels, options);
  if (local == NULL) return gpnn_fail_memory(err, "for a local Gaussian process");
  enum gpnn_status status = GPNN_OK;
  for (size_t c = 0; c < n && status == GPNN_OK; c++)
    status = choose_metric(local, &local->channels[c], err);
  return finish(local, status, state, err);
}

/* Gives channel 'from->number' of 'local' the search of its counterpart 'from' in 'other', in a
 * metric for its new parameters. */
static enum gpnn_status share_metric(struct gpnn_local *local, const struct gpnn_local *other,
                                     const struct gpnn_local_channel *from, struct gpnn_error *err)
{
  struct gpnn_local_channel *channel = &local->channels[from->number];
  struct gpnn_local_metric *metric = &local->metrics[from->metric - other->metrics];
  channel->metric = metric;
  if (metric->lengthscale != NULL) return GPNN_OK; /* done for an earlier channel */
  enum gpnn_status status = metric_init(metric, channel, err);
  metric->neighbours = from->metric->neighbours;
  metric->search = from->metric->search;
  return status;
}

static enum gpnn_status local_with(const void *state, const struct gpnn_channel *channels,
                                   void **other, struct gpnn_error *err)
{
  const struct gpnn_local *model = state;
  struct gpnn_local *local = local_alloc(model->n, channels, model->options);
  if (local == NULL) return gpnn_fail_memory(err, "for a local Gaussian process");
  memset(local->metrics, 0, model->n * sizeof *local->metrics);
  local->n_metrics = model->n_metrics;
  enum gpnn_status status = GPNN_OK;
  for (size_t c = 0; c < model->n && status == GPNN_OK; c++)
    status = share_metric(local, model, &model->channels[c], err);
  return finish(local, status, other, err);
}

/* ---- properties --------------------------------------------------------------------------- */

const struct gpnn_local_channel *gpnn_local_channel_of(const struct gpnn_local *local,
                                                       size_t number)
{
  const struct gpnn_local_channel *channel = local->channels;
  while (channel->number != number) channel++;
  return channel;
}

static size_t local_neighbours(const void *state, size_t channel)
{
  return gpnn_local_channel_of(state, channel)->neighbours;
}

static bool local_rebuilt_search(const void *state)
{
  const struct gpnn_local *local = state;
  for (size_t i = 0; i < local->n_metrics; i++)
    if (local->metrics[i].rebuilt_search) return true;
  return false;
}

const struct gpnn_model_ops gpnn_local_ops = {.make = local_make,
                                              .with = local_with,
                                              .predict = gpnn_local_predict,
                                              .predict_each = gpnn_local_predict_each,
                                              .hold_out = gpnn_local_hold_out,
                                              .joint = gpnn_local_joint,
                                              .weights = gpnn_local_weights,
                                              .classify = gpnn_local_classify,
                                              .neighbours = local_neighbours,
                                              .rebuilt_search = local_rebuilt_search,
                                              .free = local_free};
