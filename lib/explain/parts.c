#include "explain/parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "kernel/rotation.h"
#include "linalg/arrays.h"

/* Rows being taken apart; of the arrays, what the model says of them. */
struct job {
  const struct gpnn_channel *channel;
  const struct gpnn_query *query;
  struct gpnn_parts *parts;
  bool of_classes;
  size_t d;
  int64_t *neighbour;
  double *weight, *mean;
  double *lengthscale;
  double *work; /* 2 d for each thread */
};

void gpnn_parts_release(struct gpnn_parts *parts)
{
  gpnn_arrays_free(parts->arrays);
  *parts = (struct gpnn_parts){0};
}

/* ---- one row -------------------------------------------------------------------------------- */

static double distance(const struct job *job, const double *a, const double *b, double *work)
{
  const struct gpnn_covariance *covariance = &job->channel->parameters->covariance;
  double *difference = work, *rotated = work + job->d, sum = 0;
  for (size_t j = 0; j < job->d; j++) difference[j] = a[j] - b[j];
  if (covariance->rotation != NULL)
    gpnn_rotation_apply(job->d, covariance->rotation, 1, difference, rotated);
  else
    rotated = difference;
  for (size_t j = 0; j < job->d; j++) {
    double z = rotated[j] / job->lengthscale[j];
    sum += z * z;
  }
  return sqrt(sum);
}

/* By the magnitude of weights, the largest first; entries without a row come last. */
static int compare(const void *a, const void *b)
{
  const struct gpnn_part *p = a, *q = b;
  double left = fabs(p->weight), right = fabs(q->weight);
  if ((p->row < 0) != (q->row < 0)) return p->row < 0 ? 1 : -1;
  if (left != right) return left > right ? -1 : 1;
  return p->row < q->row ? -1 : p->row > q->row;
}

/* What bounding adds to a mean that the parts sum up to; rounding does not count. */
static double bound_of(double mean, double sum)
{
  static const double rounding = 1e-9;
  return fabs(mean - sum) > rounding * (1 + fabs(sum)) ? mean - sum : 0;
}

static void take_apart(void *context, size_t thread, size_t i)
{
  const struct job *job = context;
  const struct gpnn_dataset *data = job->channel->dataset;
  const struct gpnn_mean_function *mean = &job->channel->parameters->mean;
  const double *x = job->query->x + i * job->d;
  size_t m = job->parts->m, p = data->n_regressors;
  struct gpnn_part *parts = job->parts->parts + i * m;
  const double *regressors = job->query->regressors == NULL ? NULL : job->query->regressors + i * p;
  double sum = 0;
  for (size_t k = 0; k < m; k++) {
    parts[k] = (struct gpnn_part){.row = job->neighbour[i * m + k]};
    if (parts[k].row < 0) continue;
    size_t row = (size_t)parts[k].row;
    parts[k].weight = job->weight[i * m + k];
    parts[k].distance = distance(job, x, data->x + row * job->d, job->work + thread * 2 * job->d);
    if (!job->of_classes)
      parts[k].part = parts[k].weight * gpnn_channel_residual(data, job->channel->parameters, row);
  }
  qsort(parts, m, sizeof *parts, compare);
  if (job->of_classes) return;
  double trend = gpnn_mean_value(mean->kind, mean->coefficients, job->d, x, p, regressors);
  for (size_t k = 0; k < m; k++) sum += parts[k].part;
  job->parts->trend[i] = trend;
  job->parts->bound[i] = bound_of(job->mean[i], trend + sum);
}

/* ---- all rows ------------------------------------------------------------------------------- */

static enum gpnn_status find(struct job *job, const struct gpnn_model *model,
                             struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_weights weights = {.neighbour = job->neighbour, .weight = job->weight};
  const struct gpnn_latent latent = {.mean = job->mean};
  const struct gpnn_covariance *covariance = &job->channel->parameters->covariance;
  struct gpnn_counts again = {0}; /* the same events */
  enum gpnn_status status = gpnn_model_weights(model, 0, job->query, &weights, counts, err);
  if (status == GPNN_OK && !job->of_classes)
    status = gpnn_model_predict(model, job->query, &latent, &again, err);
  if (status != GPNN_OK) return status;
  gpnn_covariance_expand(covariance, job->d, job->channel->dataset->group, job->lengthscale);
  gpnn_threads_each(gpnn_model_options(model)->threads, job->query->n, 1, take_apart, job);
  return GPNN_OK;
}

enum gpnn_status gpnn_parts_find(struct gpnn_parts *parts, const struct gpnn_model *model,
                                 const struct gpnn_query *query, struct gpnn_counts *counts,
                                 struct gpnn_error *err)
{
  const struct gpnn_channel *channel = gpnn_model_channel(model, 0);
  size_t n = query->n, m = gpnn_model_n_weights(model, 0), d = channel->dataset->d;
  size_t threads = (size_t)gpnn_model_options(model)->threads;
  struct job job = {.channel = channel,
                    .query = query,
                    .parts = parts,
                    .of_classes = gpnn_dataset_n_classes(channel->dataset) > 0,
                    .d = d};
  struct gpnn_arrays *arrays = GPNN_ARRAYS(
      GPNN_ARRAY(job.neighbour, n, m), GPNN_ARRAY(job.weight, n, m), GPNN_ARRAY(job.mean, n, 1),
      GPNN_ARRAY(job.lengthscale, d, 1), GPNN_ARRAY(job.work, threads, 2 * d));
  parts->n = n;
  parts->m = m;
  parts->arrays = GPNN_ARRAYS(GPNN_ARRAY(parts->parts, n, m), GPNN_ARRAY(parts->trend, n, 1),
                              GPNN_ARRAY(parts->bound, n, 1));
  enum gpnn_status status = arrays != NULL && parts->arrays != NULL
                                ? find(&job, model, counts, err)
                                : gpnn_fail_memory(err, "for the parts of predictions");
  gpnn_arrays_free(arrays);
  return status;
}

/* ---- the variance ---------------------------------------------------------------------------- */

static double variance_of(const struct gpnn_head_parts *parts, const struct gpnn_latent_row *latent)
{
  return parts->process * parts->process * (latent->variance - latent->mean_variance) +
         parts->mean * parts->mean * latent->mean_variance + parts->own;
}

struct gpnn_variance_sources gpnn_variance_sources(const struct gpnn_head *head,
                                                   const struct gpnn_latent_row *latent,
                                                   double known_noise)
{
  struct gpnn_latent_row usual = *latent;
  usual.misfit = 1;
  const struct gpnn_head_parts parts = gpnn_head_parts(head, latent, known_noise, false);
  const struct gpnn_head_parts expected = gpnn_head_parts(head, &usual, known_noise, false);
  double variance = variance_of(&parts, latent), noise = parts.own / variance;
  return (struct gpnn_variance_sources){.noise = noise,
                                        .distance = 1 - noise,
                                        .disagreement =
                                            sqrt(variance / variance_of(&expected, &usual))};
}
