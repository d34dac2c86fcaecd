/* Training rows that stand for given rows, each with a ball around it left out, as
 * models/heldout.h describes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/threads.h"
#include "kernel/rotation.h"
#include "models/local/holdout_private.h"

/* Which held-out row is to be how far from the rows that remain. */
struct matching {
  const struct gpnn_local_channel *channel;
  int threads;
  struct gpnn_heldout *heldout;
  size_t n;
  double *drawn;                  /* owned; n by d: the given rows, in the axes of lengthscales */
  double *distances;              /* owned; n: of the given rows to their nearest, ascending */
  struct gpnn_ranked_row *ranked; /* owned; n: of the held-out rows to their nearest others,
                                     ascending */
  double usual;                   /* distances up to this occur among the held-out rows */
  double gap;                     /* half the width of the gaps that larger distances come from */
};

/* What threads share that look for rows. */
struct looking {
  const struct gpnn_scan *scan;
  struct matching *matching;
  int64_t *near;   /* matching->n by scan->k */
  double *centres; /* threads by d */
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

/* Finds the training rows around a drawn row, and its distance to the nearest. */
static void measure(void *context, size_t thread, size_t i)
{
  const struct looking *l = context;
  const struct gpnn_scan *scan = l->scan;
  const double *x = l->matching->drawn + i * scan->data->d;
  int64_t *near = l->near + i * scan->k;
  gpnn_scan_find(scan, thread, x, &(struct gpnn_left_out){0}, near);
  l->matching->distances[i] = sqrt(gpnn_scan_distance(scan, x, (size_t)near[0]));
}

/*
 * Measures each drawn row's distance to its nearest training row, and takes one of the few nearest
 * as the held-out row.  The nearest of all would not do: it is likelier to be one with wide gaps
 * around it.
 */
static enum gpnn_status take_near(struct matching *m, uint64_t seed, struct gpnn_error *err)
{
  enum { FEW = 10 };
  struct gpnn_scan scan = {0};
  size_t k = m->channel->data->n < FEW ? 1 : FEW;
  int64_t *near = gpnn_alloc(m->n, k, sizeof *near);
  if (near == NULL) return gpnn_fail_memory(err, "for calibration");
  enum gpnn_status status = gpnn_scan_init(&scan, m->channel, k, m->threads, err);
  if (status == GPNN_OK) {
    struct gpnn_rng rng;
    struct looking looking = {.scan = &scan, .matching = m, .near = near};
    gpnn_rng_init(&rng, seed, GPNN_RNG_STAND_IN);
    gpnn_threads_each(m->threads, m->n, 1, measure, &looking);
    for (size_t i = 0; i < m->n; i++)
      gpnn_heldout_set(m->heldout, scan.data, i, (size_t)near[i * k + gpnn_rng_below(&rng, k)]);
  }
  gpnn_scan_release(&scan);
  free(near);
  return status;
}

/* Finds the distance of a held-out row to its nearest other. */
static void measure_other(void *context, size_t thread, size_t i)
{
  const struct looking *l = context;
  const struct gpnn_scan *scan = l->scan;
  const int64_t *self = &l->matching->heldout->own.self[i];
  int64_t other = 0;
  const double *x = scan->x + (size_t)*self * scan->data->d;
  gpnn_scan_find(scan, thread, x, &(struct gpnn_left_out){.n = 1, .row = self}, &other);
  l->matching->ranked[i] =
      (struct gpnn_ranked_row){gpnn_scan_distance(scan, x, (size_t)other), (int64_t)i};
}

/* Finds the distances of the held-out rows to their nearest others, and ranks all distances. */
static enum gpnn_status rank(struct matching *m, struct gpnn_error *err)
{
  static const double nearly_all = 0.99;
  struct gpnn_scan scan = {0};
  size_t high = (size_t)(nearly_all * (double)(m->n - 1));
  enum gpnn_status status = gpnn_scan_init(&scan, m->channel, 1, m->threads, err);
  if (status == GPNN_OK) {
    struct looking looking = {.scan = &scan, .matching = m};
    gpnn_threads_each(m->threads, m->n, 1, measure_other, &looking);
    qsort(m->distances, m->n, sizeof *m->distances, gpnn_compare_doubles);
    qsort(m->ranked, m->n, sizeof *m->ranked, gpnn_ranked_row_compare);
    m->gap = m->distances[high];
    m->usual = sqrt(m->ranked[high].r2);
  }
  gpnn_scan_release(&scan);
  return status;
}

/*
 * Finds the ball to leave out so that held-out row 'i' is 'radius' away from the rest: around it,
 * or, where training rows are never so far from each other, as large as the gaps are, with the row
 * in it 'radius' from its edge, towards a row drawn at random.  'centre' gets d numbers.
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
static enum gpnn_status look_beyond(void *context, size_t thread, size_t rank,
                                    struct gpnn_error *err)
{
  /* A row at the radius is not within it, whatever the rounding. */
  static const double nearly = 1 - 1e-9;
  /* Leaving out a row leaves a larger distance than asked: not for less than this ratio. */
  static const double worth_it = 1.25;
  const struct looking *l = context;
  const struct gpnn_scan *scan = l->scan;
  const struct matching *m = l->matching;
  size_t d = scan->data->d, i = (size_t)m->ranked[rank].row;
  double *centre = l->centres + thread * d, radius = m->distances[rank];
  const int64_t *self = &m->heldout->own.self[i];
  int64_t *candidates = m->heldout->own.candidates + i * scan->k;
  struct gpnn_left_out left_out = {.n = 1, .row = self};
  if (radius > worth_it * sqrt(m->ranked[rank].r2)) {
    double ball = nearly * find_ball(scan, m, i, radius, centre);
    left_out.centre = centre;
    left_out.ball_r2 = ball * ball;
  }
  gpnn_scan_find(scan, thread, scan->x + (size_t)*self * d, &left_out, candidates);
  if (candidates[0] >= 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA,
                   "some rows are farther from the training rows than these from each other: no "
                   "training row can stand for them");
}

/* Finds each ranked row's neighbours outside its ball. */
static enum gpnn_status find_beyond(const struct gpnn_scan *scan, struct matching *m,
                                    struct gpnn_error *err)
{
  struct looking looking = {.scan = scan, .matching = m};
  looking.centres = gpnn_alloc((size_t)m->threads, scan->data->d, sizeof *looking.centres);
  if (looking.centres == NULL) return gpnn_fail_memory(err, "for calibration");
  enum gpnn_status status = gpnn_threads_try(m->threads, m->n, 1, look_beyond, &looking, err);
  free(looking.centres);
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
  if (status == GPNN_OK) status = take_near(&m, options->seed, err);
  if (status == GPNN_OK) status = rank(&m, err);
  if (status == GPNN_OK) status = find_beyond(&scan, &m, err);
  matching_release(&m);
  gpnn_scan_release(&scan);
  return status;
}
