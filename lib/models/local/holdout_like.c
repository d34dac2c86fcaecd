/* Training rows that represent given rows, each with a ball around it left out, as described in
 * models/heldout.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/threads.h"
#include "kernel/rotation.h"
#include "models/local/holdout_private.h"

/* Matches held-out rows to the distances that they are to have from the remaining rows. */
struct matching {
  const struct gpnn_local_channel *channel;
  int threads;
  struct gpnn_heldout *heldout;
  size_t n;
  double *drawn;     /* owned; n by d: given rows, along the axes of the lengthscales */
  double *distances; /* owned; n: from the given rows to their nearest training rows,
                        ascending */
  struct gpnn_ranked_row *ranked; /* owned; n: held-out rows, in ascending order of the distance to
                                     their nearest training row */
  double usual;                   /* distances up to this occur among the held-out rows */
  double gap;                     /* half the width of the gaps that larger distances stem from */
};

/* Shared by the threads of a scan. */
struct scan_context {
  const struct gpnn_scan *scan;
  struct matching *matching;
  int64_t *nearest; /* matching->n by scan->k */
  double *centres;  /* threads by d */
};

static enum gpnn_status matching_init(struct matching *m, const struct gpnn_local_channel *channel,
                                      int threads, struct gpnn_heldout *heldout, size_t n,
                                      struct gpnn_error *err)
{
  *m = (struct matching){.channel = channel, .threads = threads, .heldout = heldout, .n = n};
  m->drawn = gpnn_alloc(n, channel->data->d, sizeof *m->drawn);
  m->distances = gpnn_alloc(n, 1, sizeof *m->distances);
  m->ranked = gpnn_alloc(n, 1, sizeof *m->ranked);
  if (m->drawn != NULL && m->distances != NULL && m->ranked != NULL) return GPNN_OK;
  return gpnn_fail_memory(err, "for calibration");
}

static void matching_release(struct matching *m)
{
  free(m->drawn);
  free(m->distances);
  free(m->ranked);
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
  const struct gpnn_scan *scan = c->scan;
  const double *x = c->matching->drawn + i * scan->data->d;
  int64_t *nearest = c->nearest + i * scan->k;
  gpnn_scan_find(scan, thread, x, &(struct gpnn_left_out){0}, nearest);
  c->matching->distances[i] = sqrt(gpnn_scan_distance(scan, x, (size_t)nearest[0]));
}

/*
 * Measures each drawn row's distance to its nearest training row, and holds out one of the few
 * nearest at random.  Always choosing the nearest would favour rows with wide gaps around them.
 */
static enum gpnn_status draw_representatives(struct matching *m, uint64_t seed,
                                             struct gpnn_error *err)
{
  enum { FEW = 10 };
  struct gpnn_scan scan = {0};
  size_t k = m->channel->data->n < FEW ? 1 : FEW;
  int64_t *nearest = gpnn_alloc(m->n, k, sizeof *nearest);
  if (nearest == NULL) return gpnn_fail_memory(err, "for calibration");
  enum gpnn_status status = gpnn_scan_init(&scan, m->channel, k, m->threads, err);
  if (status == GPNN_OK) {
    struct gpnn_rng rng;
    struct scan_context context = {.scan = &scan, .matching = m, .nearest = nearest};
    gpnn_rng_init(&rng, seed, GPNN_RNG_STAND_IN);
    gpnn_threads_each(m->threads, m->n, 1, measure_given, &context);
    for (size_t i = 0; i < m->n; i++)
      gpnn_heldout_set(m->heldout, scan.data, i, (size_t)nearest[i * k + gpnn_rng_below(&rng, k)]);
  }
  gpnn_scan_release(&scan);
  free(nearest);
  return status;
}

/* Finds the distance from a held-out row to its nearest neighbour. */
static void measure_heldout(void *context, size_t thread, size_t i)
{
  const struct scan_context *c = context;
  const struct gpnn_scan *scan = c->scan;
  const int64_t *self = &c->matching->heldout->own.self[i];
  int64_t nearest = 0;
  const double *x = scan->x + (size_t)*self * scan->data->d;
  const struct gpnn_left_out left_out = {.n = 1, .row = self, .self = self};
  gpnn_scan_find(scan, thread, x, &left_out, &nearest);
  double r2 = nearest < 0 ? INFINITY : gpnn_scan_distance(scan, x, (size_t)nearest);
  c->matching->ranked[i] = (struct gpnn_ranked_row){r2, (int64_t)i};
}

/* Finds the distances from the held-out rows to their nearest neighbours, and sorts all distances.
 */
static enum gpnn_status rank_distances(struct matching *m, struct gpnn_error *err)
{
  static const double nearly_all = 0.99;
  struct gpnn_scan scan = {0};
  size_t high = (size_t)(nearly_all * (double)(m->n - 1));
  enum gpnn_status status = gpnn_scan_init(&scan, m->channel, 1, m->threads, err);
  if (status == GPNN_OK) {
    struct scan_context context = {.scan = &scan, .matching = m};
    gpnn_threads_each(m->threads, m->n, 1, measure_heldout, &context);
    qsort(m->distances, m->n, sizeof *m->distances, gpnn_compare_doubles);
    qsort(m->ranked, m->n, sizeof *m->ranked, gpnn_ranked_row_compare);
    m->gap = m->distances[high];
    m->usual = sqrt(m->ranked[high].r2);
  }
  gpnn_scan_release(&scan);
  return status;
}

/*
 * Finds the ball to leave out so that held-out row 'i' is 'radius' away from the rest: centred on
 * the row or, if training rows are never that far apart, as large as the gaps, with its centre
 * moved towards another random row so that row 'i' is 'radius' from its edge.  Returns the ball's
 * radius; 'centre' gets d numbers.
 */
static double find_ball(const struct gpnn_scan *scan, const struct matching *m, size_t i,
                        double radius, double *centre)
{
  size_t d = scan->data->d, towards = i;
  const int64_t *self = m->heldout->own.self;
  const double *x = scan->x + (size_t)self[i] * d;
  double away = 0, shift = m->gap - radius;
  for (size_t step = 1; step < m->n && away == 0; step++) { /* a row may be drawn twice */
    towards = (i + step) % m->n;
    away = sqrt(gpnn_scan_distance(scan, x, (size_t)self[towards]));
  }
  const double *y = scan->x + (size_t)self[towards] * d;
  if (radius <= m->usual || shift <= 0 || away == 0) shift = 0;
  for (size_t j = 0; j < d; j++)
    centre[j] = shift == 0 ? x[j] : x[j] + shift / away * (y[j] - x[j]);
  return radius + shift;
}

/* Finds the neighbours of a ranked row outside its ball. */
static enum gpnn_status find_outside(void *context, size_t thread, size_t rank,
                                     struct gpnn_error *err)
{
  /* Keeps a row exactly at the radius outside the ball, whatever the rounding. */
  static const double nearly = 1 - 1e-9;
  /* Leaving rows out overshoots the distance, so it is done only if the distance is to grow by at
   * least this factor. */
  static const double worth_it = 1.25;
  const struct scan_context *c = context;
  const struct gpnn_scan *scan = c->scan;
  const struct matching *m = c->matching;
  size_t d = scan->data->d, i = (size_t)m->ranked[rank].row;
  double *centre = c->centres + thread * d, radius = m->distances[rank];
  const int64_t *self = &m->heldout->own.self[i];
  int64_t *candidates = m->heldout->own.candidates + i * scan->k;
  struct gpnn_left_out left_out = {.n = 1, .row = self, .self = self};
  if (radius > worth_it * sqrt(m->ranked[rank].r2)) {
    double ball = nearly * find_ball(scan, m, i, radius, centre);
    left_out.centre = centre;
    left_out.ball_r2 = ball * ball;
  }
  gpnn_scan_find(scan, thread, scan->x + (size_t)*self * d, &left_out, candidates);
  if (candidates[0] >= 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA,
                   "some rows are farther from the training rows than those are from each other, "
                   "so no training row can represent them");
}

static enum gpnn_status find_all_outside(const struct gpnn_scan *scan, struct matching *m,
                                         struct gpnn_error *err)
{
  struct scan_context context = {.scan = scan, .matching = m};
  context.centres = gpnn_alloc((size_t)m->threads, scan->data->d, sizeof *context.centres);
  if (context.centres == NULL) return gpnn_fail_memory(err, "for calibration");
  enum gpnn_status status = gpnn_threads_try(m->threads, m->n, 1, find_outside, &context, err);
  free(context.centres);
  return status;
}

enum gpnn_status gpnn_local_hold_out_like(const struct gpnn_local_channel *channel, int threads,
                                          const struct gpnn_holdout_options *options,
                                          struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  struct gpnn_scan scan = {0};
  struct matching m = {0};
  size_t n = options->n_rows;
  enum gpnn_status status = matching_init(&m, channel, threads, heldout, n, err);
  if (status == GPNN_OK) status = draw_like(&m, options->like, options->seed, err);
  if (status == GPNN_OK) status = gpnn_scan_init(&scan, channel, channel->neighbours, threads, err);
  if (status == GPNN_OK) status = gpnn_heldout_new(heldout, channel->data, n, scan.k, err);
  if (status == GPNN_OK) status = draw_representatives(&m, options->seed, err);
  if (status == GPNN_OK) status = rank_distances(&m, err);
  if (status == GPNN_OK) status = find_all_outside(&scan, &m, err);
  matching_release(&m);
  gpnn_scan_release(&scan);
  return status;
}
