/* Leaves training rows out of their own predictions, alone or in clusters, and finds the nearest of
 * the remaining rows. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/threads.h"
#include "kernel/rotation.h"
#include "models/local/holdout_private.h"

/* ---- the nearest remaining rows ----------------------------------------------------------- */

enum gpnn_status gpnn_scan_init(struct gpnn_scan *scan, const struct gpnn_local_channel *channel,
                                size_t k, int threads, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = channel->data;
  const double *rotation = channel->params->covariance.rotation;
  *scan = (struct gpnn_scan){
      .data = data, .x = data->x, .inverse = channel->metric->inverse, .k = k, .threads = threads};
  scan->heap = gpnn_alloc((size_t)threads, k, sizeof *scan->heap);
  if (scan->heap == NULL) return gpnn_fail_memory(err, "for calibration");
  if (rotation == NULL) return GPNN_OK;
  scan->rotated = gpnn_alloc(data->n, data->d, sizeof *scan->rotated);
  if (scan->rotated == NULL) return gpnn_fail_memory(err, "for rotated training rows");
  gpnn_rotation_apply(data->d, rotation, data->n, data->x, scan->rotated);
  scan->x = scan->rotated;
  return GPNN_OK;
}

void gpnn_scan_release(struct gpnn_scan *scan)
{
  free(scan->rotated);
  free(scan->heap);
}

static bool is_nearer(struct gpnn_ranked_row a, struct gpnn_ranked_row b)
{
  return a.r2 < b.r2 || (a.r2 == b.r2 && a.row < b.row);
}

int gpnn_ranked_row_compare(const void *a, const void *b)
{
  const struct gpnn_ranked_row *left = a, *right = b;
  return is_nearer(*left, *right) ? -1 : is_nearer(*right, *left);
}

/* Replaces the top of a heap of 'n' rows, which has the farthest row on top. */
static void replace_top(struct gpnn_ranked_row *heap, size_t n, struct gpnn_ranked_row item)
{
  size_t at = 0;
  for (size_t child = 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && is_nearer(heap[child], heap[child + 1])) child++;
    if (!is_nearer(item, heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = item;
}

double gpnn_scan_distance(const struct gpnn_scan *scan, const double *x, size_t row)
{
  size_t d = scan->data->d;
  const double *y = scan->x + row * d;
  double r2 = 0;
  for (size_t j = 0; j < d; j++) {
    double scaled = (x[j] - y[j]) * scan->inverse[j];
    r2 += scaled * scaled;
  }
  return r2;
}

static bool remains(const struct gpnn_scan *scan, const struct gpnn_left_out *left_out, size_t row)
{
  const uint32_t *group = scan->data->row_group;
  int64_t key = (int64_t)row;
  if (left_out->self != NULL && group != NULL && group[row] == group[*left_out->self]) return false;
  if (left_out->centre != NULL &&
      gpnn_scan_distance(scan, left_out->centre, row) < left_out->ball_r2)
    return false;
  return left_out->n == 0 ||
         bsearch(&key, left_out->row, left_out->n, sizeof key, gpnn_compare_int64s) == NULL;
}

void gpnn_scan_find(const struct gpnn_scan *scan, size_t thread, const double *x,
                    const struct gpnn_left_out *left_out, int64_t *found)
{
  struct gpnn_ranked_row *heap = scan->heap + thread * scan->k;
  for (size_t a = 0; a < scan->k; a++) heap[a] = (struct gpnn_ranked_row){INFINITY, INT64_MAX};
  for (size_t i = 0; i < scan->data->n; i++) {
    struct gpnn_ranked_row item = {gpnn_scan_distance(scan, x, i), (int64_t)i};
    if (is_nearer(item, heap[0]) && remains(scan, left_out, i)) replace_top(heap, scan->k, item);
  }
  qsort(heap, scan->k, sizeof *heap, gpnn_ranked_row_compare);
  for (size_t a = 0; a < scan->k; a++) found[a] = heap[a].row == INT64_MAX ? -1 : heap[a].row;
}

/* ---- clusters ----------------------------------------------------------------------------- */

/* Clusters, their members, and the members' neighbours. */
struct clusters {
  const struct gpnn_scan *scan;
  size_t n_rows;           /* of each */
  const uint64_t *centres; /* one row per cluster */
  int64_t *members;        /* n_rows per cluster, ascending */
  int64_t *candidates;     /* scan->k per member: its neighbours outside its cluster */
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

static void find_outside(void *context, size_t thread, size_t i)
{
  const struct clusters *clusters = context;
  const struct gpnn_scan *scan = clusters->scan;
  const int64_t *members = clusters->members;
  struct gpnn_left_out left_out = {.n = clusters->n_rows,
                                   .row = members + i / clusters->n_rows * clusters->n_rows,
                                   .self = &members[i]};
  gpnn_scan_find(scan, thread, scan->x + (size_t)members[i] * scan->data->d, &left_out,
                 clusters->candidates + i * scan->k);
}

/* Finds the training rows nearest to each of 'n' centres, including the centre itself. */
static enum gpnn_status find_members(const struct gpnn_local_channel *channel, int threads,
                                     size_t n, struct clusters clusters, struct gpnn_error *err)
{
  struct gpnn_scan scan = {0};
  enum gpnn_status status = gpnn_scan_init(&scan, channel, clusters.n_rows, threads, err);
  clusters.scan = &scan;
  if (status == GPNN_OK) gpnn_threads_each(threads, n, 1, find_cluster, &clusters);
  gpnn_scan_release(&scan);
  return status;
}

/* Makes the 'n' members of all clusters held-out rows, with their neighbours outside. */
static enum gpnn_status find_neighbours(const struct gpnn_local_channel *channel, int threads,
                                        size_t n, struct clusters clusters,
                                        struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = channel->data;
  size_t rest = data->n - clusters.n_rows, m = channel->neighbours;
  struct gpnn_scan scan = {0};
  enum gpnn_status status = gpnn_scan_init(&scan, channel, m < rest ? m : rest, threads, err);
  if (status == GPNN_OK) status = gpnn_heldout_new(heldout, data, n, scan.k, err);
  if (status == GPNN_OK) {
    for (size_t i = 0; i < n; i++) gpnn_heldout_set(heldout, data, i, (size_t)clusters.members[i]);
    clusters.scan = &scan;
    clusters.candidates = heldout->own.candidates;
    gpnn_threads_each(threads, n, 1, find_outside, &clusters);
    heldout->cluster_rows = clusters.n_rows;
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
                     "a cluster of %zu rows leaves none of the %zu training rows to predict from",
                     size, n_all);
  uint64_t *centres = NULL;
  struct clusters clusters = {.n_rows = size};
  clusters.members = gpnn_alloc(n_clusters, size, sizeof *clusters.members);
  enum gpnn_status status = GPNN_OK;
  if (clusters.members == NULL || !gpnn_multiply(n_clusters, size, &n))
    status = gpnn_fail_memory(err, "for calibration");
  if (status == GPNN_OK)
    status = gpnn_heldout_draw(n_all, n_clusters, options->seed, GPNN_RNG_CLUSTERS, &centres, err);
  clusters.centres = centres;
  if (status == GPNN_OK) status = find_members(channel, threads, n_clusters, clusters, err);
  if (status == GPNN_OK) status = find_neighbours(channel, threads, n, clusters, heldout, err);
  free(centres);
  free(clusters.members);
  return status;
}

/* ---- any of the ways ---------------------------------------------------------------------- */

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
