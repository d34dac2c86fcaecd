/*
 * Training rows left out of their own predictions, as models/heldout.h describes.  The nearest
 * remaining rows are found by scanning all rows, because a search cannot leave out balls or
 * clusters.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/threads.h"
#include "kernel/rotation.h"
#include "linalg/arrays.h"
#include "models/heldout.h"
#include "models/local/local_private.h"

/* A training row and its squared distance, in lengthscales. */
struct ranked_row {
  double r2;
  int64_t row;
};

/* Training rows along the axes of the lengthscales, as all points passed to a scan must be. */
struct scan {
  const struct gpnn_dataset *data;
  const double *x;       /* n by d */
  double *rotated;       /* owned; 'x' if the rows had to be rotated, or NULL */
  const double *inverse; /* d: 1 / lengthscale */
  size_t k;              /* nearest rows to find */
  int threads;
  struct ranked_row *heap; /* owned; threads by k */
};

/* Training rows that are left out: a list, those of a row's group, and those in a ball. */
struct left_out {
  size_t n;
  const int64_t *row;   /* n, ascending */
  const int64_t *self;  /* the row whose group is left out, if rows have groups; NULL: none */
  const double *centre; /* d: the centre of the ball; NULL: no ball */
  double ball_r2;       /* its squared radius; rows at this distance remain */
};

/* ---- the nearest remaining rows ----------------------------------------------------------- */

static enum gpnn_status scan_init(struct scan *scan, const struct gpnn_local_channel *channel,
                                  size_t k, int threads, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = channel->data;
  const double *rotation = channel->params->covariance.rotation;
  *scan = (struct scan){
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

static void scan_release(struct scan *scan)
{
  free(scan->rotated);
  free(scan->heap);
}

static bool is_nearer(struct ranked_row a, struct ranked_row b)
{
  return a.r2 < b.r2 || (a.r2 == b.r2 && a.row < b.row);
}

static int compare_ranked(const void *a, const void *b)
{
  const struct ranked_row *left = a, *right = b;
  return is_nearer(*left, *right) ? -1 : is_nearer(*right, *left);
}

/* Replaces the top of a heap of 'n' rows, which has the farthest row on top. */
static void replace_top(struct ranked_row *heap, size_t n, struct ranked_row item)
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

static double scan_distance(const struct scan *scan, const double *x, size_t row)
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

static bool remains(const struct scan *scan, const struct left_out *left_out, size_t row)
{
  const uint32_t *group = scan->data->row_group;
  int64_t key = (int64_t)row;
  if (left_out->self != NULL && group != NULL && group[row] == group[*left_out->self]) return false;
  if (left_out->centre != NULL && scan_distance(scan, left_out->centre, row) < left_out->ball_r2)
    return false;
  return left_out->n == 0 ||
         bsearch(&key, left_out->row, left_out->n, sizeof key, gpnn_compare_int64s) == NULL;
}

static void scan_find(const struct scan *scan, size_t thread, const double *x,
                      const struct left_out *left_out, int64_t *found)
{
  struct ranked_row *heap = scan->heap + thread * scan->k;
  for (size_t a = 0; a < scan->k; a++) heap[a] = (struct ranked_row){INFINITY, INT64_MAX};
  for (size_t i = 0; i < scan->data->n; i++) {
    struct ranked_row item = {scan_distance(scan, x, i), (int64_t)i};
    if (is_nearer(item, heap[0]) && remains(scan, left_out, i)) replace_top(heap, scan->k, item);
  }
  qsort(heap, scan->k, sizeof *heap, compare_ranked);
  for (size_t a = 0; a < scan->k; a++) found[a] = heap[a].row == INT64_MAX ? -1 : heap[a].row;
}

/* ---- clusters ----------------------------------------------------------------------------- */

/* Clusters, their members, and the members' neighbours. */
struct clusters {
  const struct scan *scan;
  size_t n_rows;           /* of each */
  const uint64_t *centres; /* one row per cluster */
  int64_t *members;        /* n_rows per cluster, ascending */
  int64_t *candidates;     /* scan->k per member: its neighbours outside its cluster */
};

static void find_cluster(void *context, size_t thread, size_t c)
{
  const struct clusters *clusters = context;
  const struct scan *scan = clusters->scan;
  int64_t *cluster = clusters->members + c * clusters->n_rows;
  const double *centre = scan->x + clusters->centres[c] * scan->data->d;
  scan_find(scan, thread, centre, &(struct left_out){0}, cluster);
  qsort(cluster, clusters->n_rows, sizeof *cluster, gpnn_compare_int64s);
}

static void find_outside(void *context, size_t thread, size_t i)
{
  const struct clusters *clusters = context;
  const struct scan *scan = clusters->scan;
  const int64_t *members = clusters->members;
  struct left_out left_out = {.n = clusters->n_rows,
                              .row = members + i / clusters->n_rows * clusters->n_rows,
                              .self = &members[i]};
  scan_find(scan, thread, scan->x + (size_t)members[i] * scan->data->d, &left_out,
            clusters->candidates + i * scan->k);
}

/* Finds the training rows nearest to each of 'n' centres, including the centre itself. */
static enum gpnn_status find_members(const struct gpnn_local_channel *channel, int threads,
                                     size_t n, struct clusters clusters, struct gpnn_error *err)
{
  struct scan scan = {0};
  enum gpnn_status status = scan_init(&scan, channel, clusters.n_rows, threads, err);
  clusters.scan = &scan;
  if (status == GPNN_OK) gpnn_threads_each(threads, n, 1, find_cluster, &clusters);
  scan_release(&scan);
  return status;
}

/* Makes the 'n' members of all clusters held-out rows, with their neighbours outside. */
static enum gpnn_status find_neighbours(const struct gpnn_local_channel *channel, int threads,
                                        size_t n, struct clusters clusters,
                                        struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = channel->data;
  size_t rest = data->n - clusters.n_rows, m = channel->neighbours;
  struct scan scan = {0};
  enum gpnn_status status = scan_init(&scan, channel, m < rest ? m : rest, threads, err);
  if (status == GPNN_OK) status = gpnn_heldout_new(heldout, data, n, scan.k, err);
  if (status == GPNN_OK) {
    for (size_t i = 0; i < n; i++) gpnn_heldout_set(heldout, data, i, (size_t)clusters.members[i]);
    clusters.scan = &scan;
    clusters.candidates = heldout->own.candidates;
    gpnn_threads_each(threads, n, 1, find_outside, &clusters);
    heldout->cluster_rows = clusters.n_rows;
  }
  scan_release(&scan);
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

/* ---- rows like others ---------------------------------------------------------------------- */

/* Matches held-out rows to the distances that they are to have from the remaining rows. */
struct matching {
  const struct gpnn_local_channel *channel;
  int threads;
  struct gpnn_heldout *heldout;
  size_t n;
  double *drawn;              /* owned; n by d: given rows, along the axes of the lengthscales */
  double *distances;          /* owned; n: from the given rows to their nearest training rows,
                                 ascending */
  struct ranked_row *ranked;  /* owned; n: held-out rows, in ascending order of the distance to
                                      their nearest training row */
  double usual;               /* distances up to this occur among the held-out rows */
  double gap;                 /* half the width of the gaps that larger distances stem from */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* Shared by the threads of a scan. */
struct scan_context {
  const struct scan *scan;
  struct matching *matching;
  int64_t *nearest; /* matching->n by scan->k */
  double *centres;  /* threads by d */
};

static enum gpnn_status matching_init(struct matching *m, const struct gpnn_local_channel *channel,
                                      int threads, struct gpnn_heldout *heldout, size_t n,
                                      struct gpnn_error *err)
{
  *m = (struct matching){.channel = channel, .threads = threads, .heldout = heldout, .n = n};
  m->arrays = GPNN_ARRAYS(GPNN_ARRAY(m->drawn, n, channel->data->d), GPNN_ARRAY(m->distances, n, 1),
                          GPNN_ARRAY(m->ranked, n, 1));
  if (m->arrays != NULL) return GPNN_OK;
  return gpnn_fail_memory(err, "for calibration");
}

/* Draws rows of 'like'. */
static enum gpnn_status draw_like(struct matching *m, const struct gpnn_query *like, uint64_t seed,
                                  struct gpnn_error *err)
{
  size_t d = m->channel->data->d;
  const double *rotation = m->channel->params->covariance.rotation;
  uint64_t *rows = NULL;
  enum gpnn_status status = gpnn_heldout_draw(like->n, m->n, seed, GPNN_RNG_LIKE, &rows, err);
  for (size_t i = 0; i < m->n && status == GPNN_OK; i++) {
    const double *x = like->x + rows[i] * d;
    if (rotation == NULL)
      memcpy(m->drawn + i * d, x, d * sizeof *x);
    else
      gpnn_rotation_apply(d, rotation, 1, x, m->drawn + i * d);
  }
  free(rows);
  return status;
}

/* Finds the training rows nearest to a drawn row, and its distance to the first of them. */
static void measure_given(void *context, size_t thread, size_t i)
{
  const struct scan_context *c = context;
  const struct scan *scan = c->scan;
  const double *x = c->matching->drawn + i * scan->data->d;
  int64_t *nearest = c->nearest + i * scan->k;
  scan_find(scan, thread, x, &(struct left_out){0}, nearest);
  c->matching->distances[i] = sqrt(scan_distance(scan, x, (size_t)nearest[0]));
}

/*
 * Measures each drawn row's distance to its nearest training row, and holds out one of the few
 * nearest at random.  Always choosing the nearest would favour rows with wide gaps around them.
 */
static enum gpnn_status draw_representatives(struct matching *m, uint64_t seed,
                                             struct gpnn_error *err)
{
  enum { FEW = 10 };
  struct scan scan = {0};
  size_t k = m->channel->data->n < FEW ? 1 : FEW;
  int64_t *nearest = gpnn_alloc(m->n, k, sizeof *nearest);
  if (nearest == NULL) return gpnn_fail_memory(err, "for calibration");
  enum gpnn_status status = scan_init(&scan, m->channel, k, m->threads, err);
  if (status == GPNN_OK) {
    struct gpnn_rng rng;
    struct scan_context context = {.scan = &scan, .matching = m, .nearest = nearest};
    gpnn_rng_init(&rng, seed, GPNN_RNG_STAND_IN);
    gpnn_threads_each(m->threads, m->n, 1, measure_given, &context);
    for (size_t i = 0; i < m->n; i++)
      gpnn_heldout_set(m->heldout, scan.data, i, (size_t)nearest[i * k + gpnn_rng_below(&rng, k)]);
  }
  scan_release(&scan);
  free(nearest);
  return status;
}

/* Finds the distance from a held-out row to its nearest neighbour. */
static void measure_heldout(void *context, size_t thread, size_t i)
{
  const struct scan_context *c = context;
  const struct scan *scan = c->scan;
  const int64_t *self = &c->matching->heldout->own.self[i];
  int64_t nearest = 0;
  const double *x = scan->x + (size_t)*self * scan->data->d;
  const struct left_out left_out = {.n = 1, .row = self, .self = self};
  scan_find(scan, thread, x, &left_out, &nearest);
  double r2 = nearest < 0 ? INFINITY : scan_distance(scan, x, (size_t)nearest);
  c->matching->ranked[i] = (struct ranked_row){r2, (int64_t)i};
}

/* Finds the distances from the held-out rows to their nearest neighbours, and sorts all distances.
 */
static enum gpnn_status rank_distances(struct matching *m, struct gpnn_error *err)
{
  static const double nearly_all = 0.99;
  struct scan scan = {0};
  size_t high = (size_t)(nearly_all * (double)(m->n - 1));
  enum gpnn_status status = scan_init(&scan, m->channel, 1, m->threads, err);
  if (status == GPNN_OK) {
    struct scan_context context = {.scan = &scan, .matching = m};
    gpnn_threads_each(m->threads, m->n, 1, measure_heldout, &context);
    qsort(m->distances, m->n, sizeof *m->distances, gpnn_compare_doubles);
    qsort(m->ranked, m->n, sizeof *m->ranked, compare_ranked);
    m->gap = m->distances[high];
    m->usual = sqrt(m->ranked[high].r2);
  }
  scan_release(&scan);
  return status;
}

/*
 * Finds the ball to leave out so that held-out row 'i' is 'radius' away from the rest: centred on
 * the row or, if training rows are never that far apart, as large as the gaps, with its centre
 * moved towards another random row so that row 'i' is 'radius' from its edge.  Returns the ball's
 * radius; 'centre' gets d numbers.
 */
static double find_ball(const struct scan *scan, const struct matching *m, size_t i, double radius,
                        double *centre)
{
  size_t d = scan->data->d, towards = i;
  const int64_t *self = m->heldout->own.self;
  const double *x = scan->x + (size_t)self[i] * d;
  double away = 0, shift = m->gap - radius;
  for (size_t step = 1; step < m->n && away == 0; step++) { /* a row may be drawn twice */
    towards = (i + step) % m->n;
    away = sqrt(scan_distance(scan, x, (size_t)self[towards]));
  }
  const double *y = scan->x + (size_t)self[towards] * d;
  if (radius <= m->usual || shift <= 0 || away == 0) shift = 0;
  for (size_t j = 0; j < d; j++)
    centre[j] = shift == 0 ? x[j] : x[j] + shift / away * (y[j] - x[j]);
  return radius + shift;
}

/* Finds the neighbours of a ranked row outside its ball, or, where that holds all rows, outside the
 * largest one of half its radius, a quarter, and so on, that does not. */
static enum gpnn_status find_outside_ball(void *context, size_t thread, size_t rank,
                                          struct gpnn_error *err)
{
  /* Keeps a row exactly at the radius outside the ball, whatever the rounding. */
  static const double nearly = 1 - 1e-9;
  /* Leaving rows out overshoots the distance, so it is done only if the distance is to grow by at
   * least this factor. */
  static const double worth_it = 1.25;
  enum { HALVINGS = 20 };
  const struct scan_context *c = context;
  const struct scan *scan = c->scan;
  const struct matching *m = c->matching;
  size_t d = scan->data->d, i = (size_t)m->ranked[rank].row;
  double *centre = c->centres + thread * d, radius = m->distances[rank];
  const int64_t *self = &m->heldout->own.self[i];
  int64_t *candidates = m->heldout->own.candidates + i * scan->k;
  struct left_out left_out = {.n = 1, .row = self, .self = self};
  if (radius > worth_it * sqrt(m->ranked[rank].r2)) {
    double ball = nearly * find_ball(scan, m, i, radius, centre);
    left_out.centre = centre;
    left_out.ball_r2 = ball * ball;
  }
  for (int halved = 0; halved < HALVINGS; halved++, left_out.ball_r2 /= 4) {
    scan_find(scan, thread, scan->x + (size_t)*self * d, &left_out, candidates);
    if (candidates[0] >= 0) return GPNN_OK;
  }
  return gpnn_fail(err, GPNN_EDATA,
                   "some rows are in the same group as all training rows, so that none is left to "
                   "predict them from");
}

static enum gpnn_status find_all_outside(const struct scan *scan, struct matching *m,
                                         struct gpnn_error *err)
{
  struct scan_context context = {.scan = scan, .matching = m};
  context.centres = gpnn_alloc((size_t)m->threads, scan->data->d, sizeof *context.centres);
  if (context.centres == NULL) return gpnn_fail_memory(err, "for calibration");
  enum gpnn_status status = gpnn_threads_try(m->threads, m->n, 1, find_outside_ball, &context, err);
  free(context.centres);
  return status;
}

static enum gpnn_status hold_out_like(const struct gpnn_local_channel *channel, int threads,
                                      const struct gpnn_holdout_options *options,
                                      struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  struct scan scan = {0};
  struct matching m = {0};
  size_t n = options->n_rows;
  enum gpnn_status status = matching_init(&m, channel, threads, heldout, n, err);
  if (status == GPNN_OK) status = draw_like(&m, options->like, options->seed, err);
  if (status == GPNN_OK) status = scan_init(&scan, channel, channel->neighbours, threads, err);
  if (status == GPNN_OK) status = gpnn_heldout_new(heldout, channel->data, n, scan.k, err);
  if (status == GPNN_OK) status = draw_representatives(&m, options->seed, err);
  if (status == GPNN_OK) status = rank_distances(&m, err);
  if (status == GPNN_OK) status = find_all_outside(&scan, &m, err);
  gpnn_arrays_free(m.arrays);
  scan_release(&scan);
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
    status = hold_out_like(channel, threads, options, heldout, err);
    break;
  }
  return status;
}
