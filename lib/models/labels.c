#include "models/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "models/reach.h"

struct gpnn_labels {
  const struct gpnn_model *model;
  const struct gpnn_parameters *parameters; /* of the channel */
  size_t channel, n_classes;
  enum gpnn_beyond beyond;
  double temperature;
  double *prior; /* owned; n_classes: far from all training rows */
  struct gpnn_reach reach;
  double *nearest; /* owned; of the rows of the largest batch so far */
  size_t nearest_capacity;
};

/* ---- life --------------------------------------------------------------------------------- */

/* What is predicted from no training row, wherever that is. */
static enum gpnn_status find_prior(struct gpnn_labels *labels, struct gpnn_error *err)
{
  static const int64_t none = -1;
  const struct gpnn_dataset *dataset = gpnn_model_channel(labels->model, labels->channel)->dataset;
  struct gpnn_counts counts = {0};
  double *x = gpnn_alloc(dataset->d, 1, sizeof *x);
  const struct gpnn_query query = {.n = 1, .x = x, .candidates = &none, .n_candidates = 1};
  labels->prior = gpnn_alloc(labels->n_classes, 1, sizeof *labels->prior);
  enum gpnn_status status = x != NULL && labels->prior != NULL
                                ? gpnn_model_classify(labels->model, labels->channel, &query,
                                                      labels->prior, NULL, &counts, err)
                                : gpnn_fail_memory(err, "for the classes");
  free(x);
  return status;
}

enum gpnn_status gpnn_labels_new(struct gpnn_labels **labels, const struct gpnn_model *model,
                                 size_t channel, const struct gpnn_predict_options *options,
                                 struct gpnn_error *err)
{
  const struct gpnn_channel *of = gpnn_model_channel(model, channel);
  double temperature = of->parameters->calibration.temperature;
  if (of->parameters->likelihood != GPNN_LIKELIHOOD_CATEGORICAL)
    return gpnn_fail(err, GPNN_EINVAL, "the target is a number, which has no classes");
  struct gpnn_labels *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for predictions");
  *new = (struct gpnn_labels){.model = model,
                              .parameters = of->parameters,
                              .channel = channel,
                              .n_classes = gpnn_dataset_n_classes(of->dataset),
                              .beyond = options->beyond,
                              .temperature = temperature > 0 ? temperature : 1};
  enum gpnn_status status =
      gpnn_reach_init(&new->reach, model, options->max_distance, options->max_km, err);
  if (status == GPNN_OK) status = find_prior(new, err);
  if (status == GPNN_OK)
    *labels = new;
  else
    gpnn_labels_free(new);
  return status;
}

void gpnn_labels_free(struct gpnn_labels *labels)
{
  if (labels == NULL) return;
  gpnn_reach_release(&labels->reach);
  free(labels->prior);
  free(labels->nearest);
  free(labels);
}

size_t gpnn_labels_n_classes(const struct gpnn_labels *labels)
{
  return labels->n_classes;
}

/* ---- rows --------------------------------------------------------------------------------- */

void gpnn_labels_temper(size_t n, double temperature, double *p)
{
  double most = 0, sum = 0;
  if (temperature == 1) return;
  for (size_t c = 0; c < n; c++) most = fmax(most, p[c]);
  for (size_t c = 0; c < n; c++) {
    p[c] = exp(temperature * log(p[c] / most));
    sum += p[c];
  }
  for (size_t c = 0; c < n; c++) p[c] /= sum;
}

/* A batch being finished. */
struct finishing {
  const struct gpnn_labels *labels;
  double *p;
};

static void finish_row(void *context, size_t thread, size_t i)
{
  const struct finishing *f = context;
  const struct gpnn_labels *labels = f->labels;
  size_t n = labels->n_classes;
  double *p = f->p + i * n;
  bool is_beyond = gpnn_reach_is_beyond(&labels->reach, i, labels->nearest[i]);
  (void)thread;
  if (is_beyond && labels->beyond == GPNN_BEYOND_NA) {
    for (size_t c = 0; c < n; c++) p[c] = nan("");
    return;
  }
  if (is_beyond) memcpy(p, labels->prior, n * sizeof *p);
  gpnn_labels_temper(n, labels->temperature, p);
}

enum gpnn_status gpnn_labels_predict(struct gpnn_labels *labels,
                                     const struct gpnn_predict_rows *rows, double *p,
                                     struct gpnn_counts *counts, struct gpnn_error *err)
{
  enum { WORTH_A_THREAD = 4096 }; /* logarithms and exponentials */
  const struct gpnn_query query = {
      .n = rows->n, .x = rows->x, .regressors = rows->regressors, .self = rows->self};
  struct finishing finishing = {labels, p};
  if (rows->n == 0) return GPNN_OK;
  if (!gpnn_grow(&labels->nearest, &labels->nearest_capacity, rows->n, sizeof *labels->nearest))
    return gpnn_fail_memory(err, "for predictions");
  enum gpnn_status status = gpnn_reach_measure(&labels->reach, &query, err);
  if (status == GPNN_OK)
    status = gpnn_model_classify(labels->model, labels->channel, &query, p, labels->nearest, counts,
                                 err);
  if (status != GPNN_OK) return status;
  gpnn_threads_each(gpnn_model_options(labels->model)->threads, rows->n,
                    WORTH_A_THREAD / labels->n_classes + 1, finish_row, &finishing);
  gpnn_reach_count(&labels->reach, &labels->parameters->calibration, rows->n, labels->nearest,
                   counts);
  return GPNN_OK;
}

/* ---- labels ------------------------------------------------------------------------------- */

void gpnn_labels_rank(size_t n, const double *p, const double *cost, size_t n_ranked, size_t *rank)
{
  size_t n_found = 0;
  for (size_t c = 0; c < n; c++) {
    double value = p[c] * (cost == NULL ? 1 : cost[c]);
    size_t at = n_found < n_ranked ? n_found++ : n_ranked;
    for (; at > 0 && p[rank[at - 1]] * (cost == NULL ? 1 : cost[rank[at - 1]]) < value; at--)
      if (at < n_ranked) rank[at] = rank[at - 1];
    if (at < n_ranked) rank[at] = c;
  }
}
