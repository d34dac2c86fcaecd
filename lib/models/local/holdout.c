/* Training rows left out of their own predictions: alone, or in clusters. */
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/threads.h"
#include "models/local/holdout_private.h"

/* Clusters, and what is found of them. */
struct clusters {
  const struct gpnn_scan *scan;
  size_t n_rows;           /* of each */
  const uint64_t *centres; /* rows, one a cluster */
  int64_t *members;        /* n_rows of each cluster, ascending */
  int64_t *candidates;     /* scan->k of each member: its neighbours outside its cluster */
};

static void find_cluster(void *context, size_t thread, size_t c)
{
  const struct clusters *clusters = context;
  const struct gpnn_scan *scan = clusters->scan;
  int64_t *cluster = clusters->members + c * clusters->n_rows;
  const double *centre = scan->x + clusters->centres[c] * scan->data->d;
  gpnn_scan_find(scan, thread, centre, &(struct gpnn_left_out){0}, cluster);
  qsort(cluster, clusters->n_rows, sizeof *cluster, gpnn_compare_int64s);
}

static void find_around(void *context, size_t thread, size_t i)
{
  const struct clusters *clusters = context;
  const struct gpnn_scan *scan = clusters->scan;
  const int64_t *members = clusters->members;
  struct gpnn_left_out left_out = {.n = clusters->n_rows,
                                   .row = members + i / clusters->n_rows * clusters->n_rows};
  gpnn_scan_find(scan, thread, scan->x + (size_t)members[i] * scan->data->d, &left_out,
                 clusters->candidates + i * scan->k);
}

/* Finds the training rows nearest to each of 'n' centres, itself among them. */
static enum gpnn_status find_members(const struct gpnn_local_channel *channel, int threads,
                                     size_t n, struct clusters *clusters, struct gpnn_error *err)
{
  struct gpnn_scan scan = {0};
  enum gpnn_status status = gpnn_scan_init(&scan, channel, clusters->n_rows, threads, err);
  clusters->scan = &scan;
  if (status == GPNN_OK) gpnn_threads_each(threads, n, 1, find_cluster, clusters);
  gpnn_scan_release(&scan);
  return status;
}

/* Makes all members of the clusters, 'n', held-out rows with their neighbours outside. */
static enum gpnn_status find_neighbours(const struct gpnn_local_channel *channel, int threads,
                                        size_t n, struct clusters *clusters,
                                        struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = channel->data;
  size_t rest = data->n - clusters->n_rows, m = channel->neighbours;
  struct gpnn_scan scan = {0};
  enum gpnn_status status = gpnn_scan_init(&scan, channel, m < rest ? m : rest, threads, err);
  if (status == GPNN_OK) status = gpnn_heldout_new(heldout, data, n, scan.k, err);
  if (status == GPNN_OK) {
    for (size_t i = 0; i < n; i++) gpnn_heldout_set(heldout, data, i, (size_t)clusters->members[i]);
    clusters->scan = &scan;
    clusters->candidates = heldout->own.candidates;
    gpnn_threads_each(threads, n, 1, find_around, clusters);
    heldout->cluster_rows = clusters->n_rows;
  }
  gpnn_scan_release(&scan);
  return status;
}

static enum gpnn_status hold_out_clusters(const struct gpnn_local_channel *channel, int threads,
                                          const struct gpnn_holdout_options *options,
                                          struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  size_t n, n_all = channel->data->n, n_clusters = options->n_rows, size = options->cluster_rows;
  if (size >= n_all)
    return gpnn_fail(err, GPNN_EDATA,
                     "a cluster of %zu rows leaves none of %zu training rows to predict from", size,
                     n_all);
  uint64_t *centres = NULL;
  struct clusters clusters = {.n_rows = size};
  clusters.members = gpnn_alloc(n_clusters, size, sizeof *clusters.members);
  enum gpnn_status status = GPNN_OK;
  if (clusters.members == NULL || !gpnn_multiply(n_clusters, size, &n))
    status = gpnn_fail_memory(err, "for calibration");
  if (status == GPNN_OK)
    status = gpnn_heldout_draw(n_all, n_clusters, options->seed, GPNN_RNG_CLUSTERS, &centres, err);
  clusters.centres = centres;
  if (status == GPNN_OK) status = find_members(channel, threads, n_clusters, &clusters, err);
  if (status == GPNN_OK) status = find_neighbours(channel, threads, n, &clusters, heldout, err);
  free(centres);
  free(clusters.members);
  return status;
}

enum gpnn_status gpnn_local_hold_out(const void *state, const struct gpnn_holdout_options *options,
                                     struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  const struct gpnn_local *local = state;
  const struct gpnn_local_channel *channel = &local->channels[0];
  int threads = local->options->threads;
  enum gpnn_status status = GPNN_OK;
  switch (options->how) {
  case GPNN_HOLDOUT_ALONE:
    status = gpnn_heldout_alone(heldout, channel->data, options->n_rows, options->seed, err);
    break;
  case GPNN_HOLDOUT_CLUSTERS:
    status = hold_out_clusters(channel, threads, options, heldout, err);
    break;
  case GPNN_HOLDOUT_LIKE:
    status = gpnn_local_hold_out_like(channel, threads, options, heldout, err);
    break;
  }
  return status;
}
