/*
 * The weights with which neighbours predict a row, and what they make of classes: labels are
 * regressed on, one indicator for each class, so that one factor serves all of them
 * (gpnn-methods-classes(7), equations 13.1 to 13.6).
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "likelihood/categorical.h"
#include "linalg/simd.h"
#include "models/local/local_private.h"

GPNN_SIMD void gpnn_local_backward(const struct gpnn_panel_set *set, size_t n, const double *a,
                                   const double *z, double *solved)
{
  size_t lanes = set->lanes, panel = gpnn_panel_size(n, lanes), n_panels = (n + lanes - 1) / lanes;
  for (size_t i = 0; i < n_panels * lanes; i++) solved[i] = 0; /* rows below count for nothing */
  for (size_t j = n; j-- > 0;) {
    size_t own = j / lanes, lane = j % lanes;
    const double *column = a + own * panel + j * lanes;
    double sum = 0;
    for (size_t l = lane + 1; l < lanes; l++) sum += column[l] * solved[own * lanes + l];
    for (size_t p = own + 1; p < n_panels; p++) {
      const double *below = a + p * panel + j * lanes, *with = solved + p * lanes;
#pragma omp simd reduction(+ : sum)
      for (size_t l = 0; l < lanes; l++) sum += below[l] * with[l];
    }
    solved[j] = (z[j * lanes] - sum) / column[lane];
  }
}

/* ---- what is made of weights -------------------------------------------------------------- */

/* Writes the arrays of the task that are wanted. */
static void write_weights(const struct gpnn_local_task *task,
                          const struct gpnn_local_weighed *weighed)
{
  const struct gpnn_weights *to = task->weights;
  double kernelscale = task->members[0].params->covariance.kernelscale;
  size_t m = task->members[0].neighbours, first = weighed->row * m;
  for (size_t k = 0; k < m && to->neighbour != NULL; k++)
    to->neighbour[first + k] = k < weighed->m ? weighed->neighbour[k] : -1;
  for (size_t k = 0; k < m && to->weight != NULL; k++)
    to->weight[first + k] = k < weighed->m ? weighed->weight[k] : 0;
  if (to->variance != NULL)
    to->variance[weighed->row] = kernelscale * fmax(0, 1 - weighed->explained);
}

/* Writes the probabilities of classes; false: they are no numbers. */
static bool write_classes(const struct gpnn_local_task *task,
                          const struct gpnn_local_weighed *weighed)
{
  const struct gpnn_local_channel *channel = &task->members[0];
  const struct gpnn_categorical categorical = {.n = channel->params->link.n_bias,
                                               .link = &channel->params->link,
                                               .share = channel->share,
                                               .temperature = 1};
  double *p = task->p + weighed->row * categorical.n, sum = 0;
  for (size_t k = 0; k < weighed->m; k++) sum += weighed->weight[k];
  for (size_t c = 0; c < categorical.n; c++) p[c] = -categorical.share[c] * sum;
  for (size_t k = 0; k < weighed->m; k++)
    p[(size_t)channel->data->y[weighed->neighbour[k]]] += weighed->weight[k];
  gpnn_categorical_probabilities(&categorical, p, fmax(0, 1 - weighed->explained), p);
  return !isnan(p[0]); /* if one is, all are */
}

enum gpnn_status gpnn_local_use_weights(const struct gpnn_local_task *task,
                                        const struct gpnn_local_weighed *weighed,
                                        struct gpnn_counts *counts, struct gpnn_error *err)
{
  bool finite = isfinite(weighed->explained);
  for (size_t k = 0; k < weighed->m && weighed->weight != NULL; k++)
    finite = finite && isfinite(weighed->weight[k]);
  if (!finite) return gpnn_fail(err, GPNN_ENUMERIC, "a prediction is not finite");
  counts->n_clamped += weighed->explained > 1;
  if (task->weights != NULL) write_weights(task, weighed);
  if (task->p != NULL && !write_classes(task, weighed))
    return gpnn_fail(err, GPNN_ENUMERIC, "the link of the parameters leaves the range of numbers");
  return GPNN_OK;
}

/* ---- the model ---------------------------------------------------------------------------- */

enum gpnn_status gpnn_local_find_shares(struct gpnn_local_channel *channel, struct gpnn_error *err)
{
  size_t n = channel->params->link.n_bias;
  if (channel->params->likelihood != GPNN_LIKELIHOOD_CATEGORICAL) return GPNN_OK;
  channel->share = gpnn_alloc(n, 1, sizeof *channel->share);
  if (channel->share == NULL) return gpnn_fail_memory(err, "for the classes");
  if (channel->data->class_share != NULL)
    memcpy(channel->share, channel->data->class_share, n * sizeof *channel->share);
  else
    gpnn_categorical_shares(n, channel->data->n, channel->data->y, channel->share);
  return GPNN_OK;
}

/* Runs a task, of which 'wanted' says what is wanted, for one channel. */
static enum gpnn_status run(const struct gpnn_local *local, size_t channel,
                            const struct gpnn_local_task *wanted, struct gpnn_error *err)
{
  struct gpnn_local_channel only = *gpnn_local_channel_of(local, channel);
  struct gpnn_local_task task = *wanted;
  only.number = 0;
  task.options = local->options;
  task.members = &only;
  task.n_members = task.n_families = task.n_numbers = 1;
  task.numbers = &only.neighbours;
  return gpnn_local_run(&task, err);
}

enum gpnn_status gpnn_local_weights(const void *state, size_t channel,
                                    const struct gpnn_query *query,
                                    const struct gpnn_weights *weights, struct gpnn_counts *counts,
                                    struct gpnn_error *err)
{
  const struct gpnn_latent latent = {.nearest = weights->nearest};
  const struct gpnn_local_task task = {
      .query = query, .latent = &latent, .counts = counts, .weights = weights};
  return run(state, channel, &task, err);
}

enum gpnn_status gpnn_local_classify(const void *state, size_t channel,
                                     const struct gpnn_query *query, double *p, double *nearest,
                                     struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_latent latent = {.nearest = nearest};
  const struct gpnn_local_task task = {.query = query, .latent = &latent, .counts = counts, .p = p};
  return run(state, channel, &task, err);
}
