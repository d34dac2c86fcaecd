#include "models/local/localgp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/simd.h"
#include "models/local/localgp_private.h"

/* ---- metrics ------------------------------------------------------------------------------ */

static void metric_release(struct gpnn_localgp_metric *metric)
{
  if (metric == NULL || --metric->n_users > 0) return;
  gpnn_search_free(metric->search);
  free(metric->turn);
  free(metric->lengthscale);
  free(metric->inverse);
  free(metric);
}

/* What orders neighbours: without lengthscales if they are all the same. */
static struct gpnn_search_metric search_metric(const struct gpnn_localgp *gp)
{
  const double *lengthscale = gp->metric->lengthscale;
  const double *rotation = gp->params->covariance.rotation;
  for (size_t j = 1; j < gp->data->d; j++)
    if (lengthscale[j] != lengthscale[0]) return (struct gpnn_search_metric){lengthscale, rotation};
  return (struct gpnn_search_metric){NULL, rotation};
}

static enum gpnn_status find_search(struct gpnn_localgp *gp, struct gpnn_error *err)
{
  const size_t noticeable = 2000000; /* numbers of the rows: less is built in no time */
  const struct gpnn_dataset *data = gp->data;
  struct gpnn_localgp_metric *metric = gp->metric;
  const struct gpnn_search_metric wanted = search_metric(gp);
  metric->neighbours = gp->neighbours;
  if (gpnn_search_same_metric(data->d, wanted, gpnn_dataset_search_metric(data)))
    return gpnn_dataset_search(data, &metric->search, err);
  const struct gpnn_search_report stored = gpnn_dataset_search_report(data);
  const struct gpnn_search_options options = {.kind = GPNN_SEARCH_AUTO,
                                              .recall = gpnn_search_recall_again(&stored),
                                              .neighbours = gp->neighbours,
                                              .lengthscale = wanted.lengthscale,
                                              .rotation = wanted.rotation,
                                              .seed = data->seed,
                                              .threads = gp->threads};
  metric->rebuilt_search = data->n > noticeable / data->d;
  return gpnn_search_build(&metric->search, data->n, data->d, data->x, &options, err);
}

/* Keeps the rotation transposed, so that a row is turned by whole columns. */
static enum gpnn_status keep_rotation(struct gpnn_localgp *gp, struct gpnn_error *err)
{
  size_t d = gp->data->d;
  const double *rotation = gp->params->covariance.rotation;
  if (rotation == NULL) return GPNN_OK;
  double *turn = gpnn_alloc(d, d, sizeof *turn);
  if (turn == NULL) return gpnn_fail_memory(err, "for a rotation");
  for (size_t j = 0; j < d; j++)
    for (size_t i = 0; i < d; i++) turn[i * d + j] = rotation[j * d + i];
  gp->metric->turn = turn;
  return GPNN_OK;
}

GPNN_SIMD static void turn_row(size_t d, const double *turn, const double *x, double *z)
{
  for (size_t j = 0; j < d; j++) z[j] = 0;
  for (size_t i = 0; i < d; i++) {
    const double *column = turn + i * d, value = x[i];
#pragma omp simd
    for (size_t j = 0; j < d; j++) z[j] += column[j] * value;
  }
}

const double *gpnn_localgp_turn(const struct gpnn_localgp *gp, const double *x, double *room)
{
  if (gp->metric->turn == NULL) return x;
  turn_row(gp->data->d, gp->metric->turn, x, room);
  return room;
}

static void set_lengthscales(struct gpnn_localgp *gp)
{
  const struct gpnn_dataset *data = gp->data;
  struct gpnn_localgp_metric *metric = gp->metric;
  gpnn_covariance_expand(&gp->params->covariance, data->d, data->group, metric->lengthscale);
  for (size_t j = 0; j < data->d; j++) metric->inverse[j] = 1 / metric->lengthscale[j];
}

/* Gives 'gp' a metric that has the lengthscales of its parameters and no more yet. */
static enum gpnn_status start_metric(struct gpnn_localgp *gp, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = gp->data;
  struct gpnn_localgp_metric *metric = gpnn_alloc(1, 1, sizeof *metric);
  if (metric == NULL) return gpnn_fail_memory(err, "for a local Gaussian process");
  metric->n_users = 1;
  gp->metric = metric;
  metric->lengthscale = gpnn_alloc(data->d, 1, sizeof *metric->lengthscale);
  metric->inverse = gpnn_alloc(data->d, 1, sizeof *metric->inverse);
  if (metric->lengthscale == NULL || metric->inverse == NULL)
    return gpnn_fail_memory(err, "for a local Gaussian process");
  set_lengthscales(gp);
  return GPNN_OK;
}

/* Whether the neighbours of 'gp', whose metric is only started, are those of 'other'. */
static bool has_metric_of(const struct gpnn_localgp *gp, const struct gpnn_localgp *other)
{
  const struct gpnn_parameters *a = gp->params, *b = other->params;
  size_t d = gp->data->d;
  if (gp->neighbours != other->metric->neighbours ||
      a->covariance.n_rotation != b->covariance.n_rotation)
    return false;
  if (a->covariance.n_rotation > 0 && memcmp(a->covariance.rotation, b->covariance.rotation,
                                             d * d * sizeof *a->covariance.rotation) != 0)
    return false;
  return memcmp(gp->metric->lengthscale, other->metric->lengthscale,
                d * sizeof *gp->metric->lengthscale) == 0;
}

/* Takes the metric of one of 'n' other objects, or completes its own. */
static enum gpnn_status complete_metric(struct gpnn_localgp *gp,
                                        struct gpnn_localgp *const others[], size_t n,
                                        struct gpnn_error *err)
{
  for (size_t i = 0; i < n; i++) {
    if (!has_metric_of(gp, others[i])) continue;
    metric_release(gp->metric);
    gp->metric = others[i]->metric;
    gp->metric->n_users++;
    return GPNN_OK;
  }
  enum gpnn_status status = keep_rotation(gp, err);
  return status == GPNN_OK ? find_search(gp, err) : status;
}

/* ---- life --------------------------------------------------------------------------------- */

/* The dataset in the view of the parameters' target. */
static enum gpnn_status find_target(const struct gpnn_dataset *dataset,
                                    const struct gpnn_parameters *params,
                                    const struct gpnn_dataset **data, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  *data = params->target == NULL ? gpnn_dataset_target(dataset, 0)
                                 : gpnn_dataset_find_target(dataset, params->target);
  if (*data != NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH, "the index has no target '%s'",
                   gpnn_mask(shown, params->target, strlen(params->target)));
}

/* As gpnn_localgp_new(), with 'n' objects of the same index to share a metric with. */
static enum gpnn_status new_beside(struct gpnn_localgp **gp, struct gpnn_localgp *const others[],
                                   size_t n, const struct gpnn_dataset *dataset,
                                   const struct gpnn_parameters *params, size_t neighbours,
                                   int threads, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = NULL;
  bool other_index;
  enum gpnn_status status = find_target(dataset, params, &data, err);
  if (status == GPNN_OK)
    status = gpnn_parameters_check(params, data, data->fingerprint, &other_index, err);
  if (status != GPNN_OK) return status;
  struct gpnn_localgp *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for a local Gaussian process");
  if (neighbours == 0) neighbours = params->neighbours;
  *new = (struct gpnn_localgp){.data = data, .params = params, .share = 1, .threads = threads};
  gpnn_localgp_set_neighbours(new, neighbours);
  status = start_metric(new, err);
  if (status == GPNN_OK) status = complete_metric(new, others, n, err);
  if (status == GPNN_OK)
    *gp = new;
  else
    gpnn_localgp_free(new);
  return status;
}

enum gpnn_status gpnn_localgp_new(struct gpnn_localgp **gp, const struct gpnn_dataset *dataset,
                                  const struct gpnn_parameters *params, size_t neighbours,
                                  int threads, struct gpnn_error *err)
{
  return new_beside(gp, NULL, 0, dataset, params, neighbours, threads, err);
}

enum gpnn_status gpnn_localgp_new_all(struct gpnn_localgp *gps[], size_t n,
                                      const struct gpnn_dataset *dataset,
                                      const struct gpnn_parameters *params, size_t neighbours,
                                      int threads, struct gpnn_error *err)
{
  struct gpnn_localgp **own = gpnn_alloc(n, 1, sizeof(struct gpnn_localgp *));
  enum gpnn_status status =
      own == NULL ? gpnn_fail_memory(err, "for local Gaussian processes") : GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = new_beside(&own[i], own, i, dataset, &params[i], neighbours, threads, err);
  for (size_t i = 0; i < n && own != NULL; i++) {
    if (status == GPNN_OK)
      gps[i] = own[i];
    else
      gpnn_localgp_free(own[i]);
  }
  free(own);
  return status;
}

void gpnn_localgp_free(struct gpnn_localgp *gp)
{
  if (gp == NULL) return;
  metric_release(gp->metric);
  free(gp);
}

const struct gpnn_dataset *gpnn_localgp_data(const struct gpnn_localgp *gp)
{
  return gp->data;
}

const struct gpnn_parameters *gpnn_localgp_params(const struct gpnn_localgp *gp)
{
  return gp->params;
}

void gpnn_localgp_set_params(struct gpnn_localgp *gp, const struct gpnn_parameters *params)
{
  assert(gp->metric->n_users == 1);
  gp->params = params;
  set_lengthscales(gp);
}

bool gpnn_localgp_rebuilt_search(const struct gpnn_localgp *gp)
{
  return gp->metric->rebuilt_search;
}

int gpnn_localgp_threads(const struct gpnn_localgp *gp)
{
  return gp->threads;
}

size_t gpnn_localgp_neighbours(const struct gpnn_localgp *gp)
{
  return gp->neighbours;
}

void gpnn_localgp_set_neighbours(struct gpnn_localgp *gp, size_t neighbours)
{
  gp->neighbours = neighbours < gp->data->n ? neighbours : gp->data->n;
}

void gpnn_localgp_set_share(struct gpnn_localgp *gp, size_t share)
{
  gp->share = share;
}

void gpnn_localgp_set_precision(struct gpnn_localgp *gp, enum gpnn_precision precision)
{
  gp->precision = precision;
}

/* ---- what objects have in common ---------------------------------------------------------- */

bool gpnn_localgp_same_task(const struct gpnn_localgp *a, const struct gpnn_localgp *b)
{
  return a->metric == b->metric && a->neighbours == b->neighbours &&
         a->params->covariance.kernel == b->params->covariance.kernel &&
         a->params->covariance.smoothness == b->params->covariance.smoothness &&
         a->threads == b->threads;
}

/* But for the rounding of products and quotients of a few numbers. */
static bool is_same(double a, double b)
{
  const double rounding = 1e-14;
  double difference = a > b ? a - b : b - a;
  return difference <= rounding * (a > b ? a : b);
}

/* Known noise differs between targets in scale alone: by their variances in the table. */
bool gpnn_localgp_same_family(const struct gpnn_localgp *a, const struct gpnn_localgp *b)
{
  const struct gpnn_parameters *p = a->params, *q = b->params;
  double sd_a = a->data->scaling.y_sd, sd_b = b->data->scaling.y_sd;
  if (!is_same(p->covariance.noise / p->covariance.kernelscale,
               q->covariance.noise / q->covariance.kernelscale))
    return false;
  return a->data->noise == NULL ||
         is_same(p->covariance.kernelscale * sd_a * sd_a, q->covariance.kernelscale * sd_b * sd_b);
}
