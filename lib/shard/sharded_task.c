/*
 * What a rank keeps of a model: the search for each member's metric, the boxes of all ranks, and
 * the rows that are among those of every batch.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/transformed.h"
#include "kernel/covariance.h"
#include "likelihood/categorical.h"
#include "shard/sharded_private.h"

void gpnn_shard_place(const struct gpnn_search *search, size_t d, const double *x, double *z)
{
  const struct gpnn_search_metric metric = gpnn_search_metric(search);
  for (size_t i = 0; i < d; i++) {
    double value = metric.rotation == NULL ? x[i] : 0;
    for (size_t j = 0; j < d && metric.rotation != NULL; j++)
      value += metric.rotation[i * d + j] * x[j];
    z[i] = metric.lengthscale == NULL ? value : value / metric.lengthscale[i];
  }
}

/* ---- metrics -------------------------------------------------------------------------------- */

/* Uses the search of the shard, or builds one, as the local model does. */
static enum gpnn_status find_search(struct gpnn_shard_metric *metric,
                                    const struct gpnn_dataset *data,
                                    const struct gpnn_covariance *covariance, int threads,
                                    struct gpnn_error *err)
{
  double *lengthscale = gpnn_alloc(data->d, 1, sizeof *lengthscale);
  bool differ = false;
  if (lengthscale == NULL) return gpnn_fail_memory(err, "for the lengthscales");
  gpnn_covariance_expand(covariance, data->d, data->group, lengthscale);
  for (size_t j = 1; j < data->d; j++) differ = differ || lengthscale[j] != lengthscale[0];
  const struct gpnn_search_metric wanted = {differ ? lengthscale : NULL, covariance->rotation};
  const struct gpnn_search_options options = {.recall = 1,
                                              .neighbours = metric->neighbours,
                                              .lengthscale = wanted.lengthscale,
                                              .rotation = wanted.rotation,
                                              .seed = data->seed,
                                              .threads = threads};
  enum gpnn_status status =
      gpnn_search_same_metric(data->d, wanted, gpnn_dataset_search_metric(data))
          ? gpnn_dataset_search(data, &metric->search, err)
          : gpnn_search_build(&metric->search, data->n, data->d, data->x, &options, err);
  free(lengthscale);
  return status;
}

/* The box of this rank's rows; 'box' has 2 d numbers, and 'z' is scratch of d. */
static void find_box(const struct gpnn_shard_metric *metric, const struct gpnn_dataset *data,
                     double *z, double *box)
{
  size_t d = data->d;
  for (size_t j = 0; j < d; j++) {
    box[j] = INFINITY;
    box[d + j] = -INFINITY;
  }
  for (size_t i = 0; i < data->n; i++) {
    gpnn_shard_place(metric->search, d, data->x + i * d, z);
    for (size_t j = 0; j < d; j++) {
      box[j] = fmin(box[j], z[j]);
      box[d + j] = fmax(box[d + j], z[j]);
    }
  }
}

static enum gpnn_status make_metric(struct gpnn_shard_task *task, size_t k, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = task->channel.dataset;
  const struct gpnn_parameters *member = gpnn_parameters_member(task->parameters, k);
  struct gpnn_shard_metric *metric = &task->metrics[k];
  struct gpnn_comm *comm = task->shard->comm;
  size_t d = data->d, wanted = task->options.neighbours;
  metric->neighbours = wanted > 0 ? wanted : member->neighbours;
  if (metric->neighbours > task->shard->all.n) metric->neighbours = task->shard->all.n;
  metric->boxes = gpnn_alloc(2 * comm->size - 1, 2 * d, sizeof *metric->boxes);
  double *own = gpnn_alloc(3, d, sizeof *own), *all = gpnn_alloc(comm->size, 2 * d, sizeof *all);
  enum gpnn_status status =
      metric->boxes == NULL || own == NULL || all == NULL
          ? gpnn_fail_memory(err, "for the boxes of ranks")
          : find_search(metric, data, &member->covariance, task->options.threads, err);
  if (status == GPNN_OK) find_box(metric, data, own + 2 * d, own);
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK) {
    gpnn_comm_share(comm, own, 2 * d * sizeof *own, all);
    gpnn_shard_boxes_build(comm->size, d, all, metric->boxes);
  }
  free(own);
  free(all);
  return status;
}

/* ---- rows of every batch -------------------------------------------------------------------- */

/* Packs the rows with the least and the greatest target minus the mean function of a member. */
static double *pack_extremes(const struct gpnn_shard_task *task, size_t k, double *packed)
{
  const struct gpnn_dataset *data = task->channel.dataset;
  const struct gpnn_parameters member = gpnn_parameters_alone(task->parameters, k);
  size_t rows[2] = {0, 0};
  double least = INFINITY, most = -INFINITY;
  for (size_t i = 0; i < data->n; i++) {
    double residual = gpnn_channel_residual(data, &member, i);
    if (residual < least) rows[0] = i;
    if (residual > most) rows[1] = i;
    least = fmin(least, residual);
    most = fmax(most, residual);
  }
  for (size_t i = 0; i < 2; i++, packed += gpnn_rows_width(data))
    gpnn_rows_pack(data, rows[i], (double)task->shard->number[rows[i]], packed);
  return packed;
}

/* Packs what this rank has of the rows of every batch: the first ones of all, one more than a row
 * has neighbours, and the extreme ones. */
static enum gpnn_status pack_fixed(const struct gpnn_shard_task *task, struct gpnn_message *own,
                                   struct gpnn_error *err)
{
  const struct gpnn_dataset *data = task->channel.dataset;
  size_t first = 0, most = 0, width = gpnn_rows_width(data);
  for (size_t k = 0; k < task->n_metrics; k++)
    if (task->metrics[k].neighbours > most) most = task->metrics[k].neighbours;
  while (first < data->n && task->shard->number[first] <= most) first++;
  double *packed = gpnn_alloc(first + 2 * task->n_metrics, width, sizeof *packed), *to = packed;
  if (packed == NULL) return gpnn_fail_memory(err, "for rows of every batch");
  *own = (struct gpnn_message){.length = (first + 2 * task->n_metrics) * width * sizeof *packed,
                               .bytes = (unsigned char *)packed};
  for (size_t i = 0; i < first; i++, to += width)
    gpnn_rows_pack(data, i, (double)task->shard->number[i], to);
  for (size_t k = 0; k < task->n_metrics; k++) to = pack_extremes(task, k, to);
  return GPNN_OK;
}

/* Appends what a rank has sent. */
static enum gpnn_status append(struct gpnn_shard_task *task, const struct gpnn_message *message,
                               struct gpnn_error *err)
{
  size_t width = gpnn_rows_width(task->channel.dataset);
  size_t n = message->length / sizeof(double) / width;
  double *longer = realloc(task->fixed, (task->n_fixed + n) * width * sizeof *longer);
  if (longer == NULL) return gpnn_fail_memory(err, "for rows of every batch");
  memcpy(longer + task->n_fixed * width, message->bytes, n * width * sizeof *longer);
  task->fixed = longer;
  task->n_fixed += n;
  return GPNN_OK;
}

/* Sends the rows of every batch to all ranks. */
static enum gpnn_status share_fixed(struct gpnn_shard_task *task, struct gpnn_error *err)
{
  struct gpnn_comm *comm = task->shard->comm;
  struct gpnn_message *messages = calloc(2 * comm->size, sizeof *messages);
  enum gpnn_status status =
      messages == NULL ? gpnn_fail_memory(err, "for rows of every batch") : GPNN_OK;
  for (size_t r = 0; r < comm->size && status == GPNN_OK; r++)
    status = pack_fixed(task, &messages[r], err);
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK) status = gpnn_comm_exchange(comm, messages, messages + comm->size, err);
  for (size_t r = 0; r < comm->size && status == GPNN_OK; r++)
    status = append(task, &messages[comm->size + r], err);
  if (messages != NULL) gpnn_messages_release(2 * comm->size, messages);
  free(messages);
  return gpnn_comm_agree(comm, status, err);
}

/* Makes the base of the models of batches. */
static enum gpnn_status make_base(struct gpnn_shard_task *task, struct gpnn_error *err)
{
  if (task->n_metrics > 1 || task->metrics[0].neighbours == task->shard->all.n) return GPNN_OK;
  enum gpnn_status status = gpnn_shard_unite(task, 0, NULL, &task->fixed_rows, err);
  const struct gpnn_channel channel = {&task->fixed_rows.dataset, task->parameters};
  return status == GPNN_OK ? gpnn_model_new(&task->base, 1, &channel, &task->options, err) : status;
}

/* ---- life ----------------------------------------------------------------------------------- */

static enum gpnn_status check(const struct gpnn_shard_task *task, struct gpnn_error *err)
{
  const struct gpnn_parameters *params = task->parameters;
  const char *what = params->grid.n_factors > 0 || params->family != GPNN_FAMILY_NONE
                         ? "a model that is not one of nearest rows"
                     : params->effects.n_variances > 0                  ? "effects of groups"
                     : gpnn_likelihood_is_of_counts(params->likelihood) ? "counts"
                                                                        : NULL;
  if (what == NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL, "shards cannot predict by %s yet: use gpnn-predict", what);
}

static enum gpnn_status find_channel(struct gpnn_shard_task *task, const char *text, size_t length,
                                     struct gpnn_error *err)
{
  const struct gpnn_dataset *data = task->shard->dataset;
  size_t n = 0;
  bool other_model;
  enum gpnn_status status =
      gpnn_parameters_read_text(&task->parameters, &n, "parameters", text, length, err);
  if (status == GPNN_OK) status = check(task, err);
  if (status == GPNN_OK)
    status = gpnn_channels_transform(data, n, task->parameters, NULL, &task->transformed, err);
  if (status != GPNN_OK) return status;
  if (task->transformed != NULL) data = gpnn_transformed_dataset(task->transformed);
  return gpnn_channels_find(data, n, task->parameters, &task->channel, &other_model, err);
}

/* Finds the shares of classes in the rows of all ranks. */
static enum gpnn_status find_shares(struct gpnn_shard_task *task, struct gpnn_error *err)
{
  struct gpnn_comm *comm = task->shard->comm;
  size_t n = gpnn_dataset_n_classes(&task->seen);
  size_t *counts = gpnn_alloc(n, 1 + comm->size, sizeof *counts);
  task->class_share = gpnn_alloc(n, 1, sizeof *task->class_share);
  enum gpnn_status status = counts == NULL || task->class_share == NULL
                                ? gpnn_fail_memory(err, "for the classes")
                                : GPNN_OK;
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK) {
    gpnn_dataset_count_classes(&task->seen, counts);
    gpnn_comm_share(comm, counts, n * sizeof *counts, counts + n);
    for (size_t c = 0; c < n; c++) {
      double sum = 0;
      for (size_t r = 1; r <= comm->size; r++) sum += (double)counts[r * n + c];
      task->class_share[c] = gpnn_categorical_share(n, (double)task->shard->all.n, sum);
    }
    task->seen.class_share = task->class_share;
  }
  free(counts);
  return status;
}

enum gpnn_status gpnn_shard_task_init(struct gpnn_shard_task *task, struct gpnn_shard *shard,
                                      const char *text, size_t length,
                                      const struct gpnn_model_options *options,
                                      struct gpnn_error *err)
{
  *task = (struct gpnn_shard_task){.shard = shard, .options = *options};
  enum gpnn_status status = find_channel(task, text, length, err);
  if (status == GPNN_OK) {
    task->seen = *task->channel.dataset;
    task->channel.dataset = &task->seen;
    size_t n = gpnn_parameters_n_members(task->parameters);
    task->metrics = calloc(n, sizeof *task->metrics);
    if (task->metrics == NULL) status = gpnn_fail_memory(err, "for metrics");
    task->n_metrics = status == GPNN_OK ? n : 0;
  }
  status = gpnn_comm_agree(shard->comm, status, err);
  if (status == GPNN_OK && gpnn_dataset_n_classes(&task->seen) > 0) status = find_shares(task, err);
  for (size_t k = 0; k < task->n_metrics && status == GPNN_OK; k++)
    status = make_metric(task, k, err);
  if (status == GPNN_OK) status = share_fixed(task, err);
  if (status == GPNN_OK) status = gpnn_comm_agree(shard->comm, make_base(task, err), err);
  if (status != GPNN_OK) gpnn_shard_task_release(task);
  return status;
}

void gpnn_shard_task_release(struct gpnn_shard_task *task)
{
  for (size_t k = 0; k < task->n_metrics; k++) {
    gpnn_search_free(task->metrics[k].search);
    free(task->metrics[k].boxes);
  }
  gpnn_model_free(task->base);
  gpnn_rows_release(&task->fixed_rows);
  free(task->metrics);
  free(task->fixed);
  free(task->class_share);
  gpnn_transformed_free(task->transformed);
  gpnn_parameters_free(task->parameters, task->parameters != NULL);
  *task = (struct gpnn_shard_task){0};
}
