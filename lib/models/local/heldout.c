#include "models/local/heldout.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "kernel/rotation.h"

/* ---- the training rows around a row --------------------------------------------------------- */

/* A training row and its squared distance, in lengthscales. */
struct near {
  double r2;
  int64_t row;
};

/* Training rows in the metric of the kernel, in whose axes are all points given to it. */
struct space {
  const struct gpnn_dataset *data;
  const double *x; /* n by d */
  double *rotated; /* owned; n by d: those rows if they are rotated, or NULL */
  double *inverse; /* owned; d: 1 / lengthscale */
  size_t k;        /* rows a thread can keep */
  int threads;
  struct near *heap; /* owned; threads by k */
};

/* Training rows that are no neighbours. */
struct outside {
  size_t n_left;        /* these, */
  const int64_t *left;  /* rising */
  const double *centre; /* and those of the ball around this point; NULL: no ball */
  double ball_r2;       /* nearer than this */
};

static enum gpnn_status space_new(struct space *space, const struct gpnn_localgp *gp, size_t k,
                                  struct gpnn_error *err)
{
  const struct gpnn_dataset *data = gpnn_localgp_data(gp);
  const struct gpnn_parameters *params = gpnn_localgp_params(gp);
  *space = (struct space){.data = data, .x = data->x, .threads = gpnn_localgp_threads(gp), .k = k};
  space->inverse = gpnn_alloc(data->d, 1, sizeof *space->inverse);
  space->heap = gpnn_alloc((size_t)space->threads, k, sizeof *space->heap);
  if (space->inverse == NULL || space->heap == NULL)
    return gpnn_fail_memory(err, "for calibration");
  gpnn_covariance_expand(&params->covariance, data->d, data->group, space->inverse);
  for (size_t j = 0; j < data->d; j++) space->inverse[j] = 1 / space->inverse[j];
  if (params->covariance.rotation == NULL) return GPNN_OK;
  space->rotated = gpnn_alloc(data->n, data->d, sizeof *space->rotated);
  if (space->rotated == NULL) return gpnn_fail_memory(err, "for rotated training rows");
  gpnn_rotation_apply(data->d, params->covariance.rotation, data->n, data->x, space->rotated);
  space->x = space->rotated;
  return GPNN_OK;
}

static void space_release(struct space *space)
{
  free(space->rotated);
  free(space->inverse);
  free(space->heap);
}

static bool nearer(struct near a, struct near b)
{
  return a.r2 < b.r2 || (a.r2 == b.r2 && a.row < b.row);
}

static int compare_near(const void *a, const void *b)
{
  const struct near *left = a, *right = b;
  return nearer(*left, *right) ? -1 : nearer(*right, *left);
}

static int compare_rows(const void *a, const void *b)
{
  const int64_t *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

/* Puts 'item' in place of the top of a heap of 'n' with the farthest on top. */
static void replace_top(struct near *heap, size_t n, struct near item)
{
  size_t at = 0;
  for (size_t child = 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && nearer(heap[child], heap[child + 1])) child++;
    if (!nearer(item, heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = item;
}

static double squared_distance(const struct space *space, const double *x, size_t row)
{
  size_t d = space->data->d;
  const double *y = space->x + row * d;
  double r2 = 0;
  for (size_t j = 0; j < d; j++) {
    double scaled = (x[j] - y[j]) * space->inverse[j];
    r2 += scaled * scaled;
  }
  return r2;
}

static bool is_outside(const struct space *space, const struct outside *outside, size_t row)
{
  int64_t key = (int64_t)row;
  if (outside->centre != NULL && squared_distance(space, outside->centre, row) < outside->ball_r2)
    return false;
  return outside->n_left == 0 ||
         bsearch(&key, outside->left, outside->n_left, sizeof key, compare_rows) == NULL;
}

/* Writes the k training rows outside that are nearest to 'x', nearest first, then -1. */
static void find_outside(const struct space *space, size_t thread, const double *x,
                         const struct outside *outside, int64_t *found)
{
  struct near *heap = space->heap + thread * space->k;
  for (size_t a = 0; a < space->k; a++) heap[a] = (struct near){INFINITY, INT64_MAX};
  for (size_t i = 0; i < space->data->n; i++) {
    struct near item = {squared_distance(space, x, i), (int64_t)i};
    if (nearer(item, heap[0]) && is_outside(space, outside, i)) replace_top(heap, space->k, item);
  }
  qsort(heap, space->k, sizeof *heap, compare_near);
  for (size_t a = 0; a < space->k; a++) found[a] = heap[a].row == INT64_MAX ? -1 : heap[a].row;
}

/* ---- drawing rows --------------------------------------------------------------------------- */

/* Room for 'n' rows with 'n_candidates' candidates each (0: the search is to find them). */
static enum gpnn_status leftout_new(struct gpnn_heldout *leftout, const struct gpnn_dataset *data,
                                    size_t n, size_t n_candidates, struct gpnn_error *err)
{
  size_t p = data->n_regressors;
  leftout->x = gpnn_alloc(n, data->d, sizeof *leftout->x);
  leftout->y = gpnn_alloc(n, 1, sizeof *leftout->y);
  leftout->self = gpnn_alloc(n, 1, sizeof *leftout->self);
  leftout->regressors = gpnn_alloc(n, p, sizeof *leftout->regressors);
  leftout->noise = gpnn_alloc(n, 1, sizeof *leftout->noise);
  if (n_candidates > 0) leftout->candidates = gpnn_alloc(n, n_candidates, sizeof(int64_t));
  if (leftout->x == NULL || leftout->y == NULL || leftout->self == NULL ||
      leftout->regressors == NULL || leftout->noise == NULL ||
      (n_candidates > 0 && leftout->candidates == NULL))
    return gpnn_fail_memory(err, "for calibration");
  leftout->rows = (struct gpnn_known_rows){
      .points = {.n = n, .x = leftout->x, .self = leftout->self},
      .y = leftout->y,
      .noise = data->noise == NULL ? NULL : leftout->noise,
      .together = 1,
  };
  leftout->rows.points.regressors = p == 0 ? NULL : leftout->regressors;
  leftout->rows.points.candidates = leftout->candidates;
  leftout->rows.points.n_candidates = n_candidates;
  return GPNN_OK;
}

/* Makes training row 'row' the i-th row left out. */
static void take_row(struct gpnn_heldout *leftout, const struct gpnn_dataset *data, size_t i,
                     size_t row)
{
  size_t d = data->d, p = data->n_regressors;
  memcpy(leftout->x + i * d, data->x + row * d, d * sizeof *leftout->x);
  if (p > 0)
    memcpy(leftout->regressors + i * p, data->regressors + row * p,
           p * sizeof *leftout->regressors);
  leftout->y[i] = data->y[row];
  leftout->noise[i] = data->noise == NULL ? 0 : data->noise[row];
  leftout->self[i] = (int64_t)row;
}

/* Draws 'n' different rows of 'n_all' into '*drawn', which the caller frees. */
static enum gpnn_status draw(size_t n_all, size_t n, uint64_t seed, enum gpnn_rng_purpose purpose,
                             uint64_t **drawn, struct gpnn_error *err)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, purpose);
  *drawn = gpnn_alloc(n, 1, sizeof **drawn);
  if (*drawn == NULL) return gpnn_fail_memory(err, "for calibration");
  return gpnn_rng_sample(&rng, n_all, n, *drawn, err);
}

enum gpnn_status gpnn_heldout_alone(struct gpnn_heldout *leftout, const struct gpnn_localgp *gp,
                                    size_t n_rows, uint64_t seed, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = gpnn_localgp_data(gp);
  uint64_t *drawn = NULL;
  enum gpnn_status status = draw(data->n, n_rows, seed, GPNN_RNG_LEAVE_ONE_OUT, &drawn, err);
  if (status == GPNN_OK) status = leftout_new(leftout, data, n_rows, 0, err);
  for (size_t i = 0; i < n_rows && status == GPNN_OK; i++)
    take_row(leftout, data, i, (size_t)drawn[i]);
  free(drawn);
  return status;
}

/* ---- clusters ------------------------------------------------------------------------------- */

/* Clusters, and what is found of them. */
struct clusters {
  const struct space *space;
  size_t n_rows;           /* of each */
  const uint64_t *centres; /* rows, one a cluster */
  int64_t *members;        /* n_rows of each cluster, rising */
  int64_t *candidates;     /* space->k of each member: its neighbours outside its cluster */
};

static void find_cluster(void *context, size_t thread, size_t c)
{
  const struct clusters *clusters = context;
  const struct space *space = clusters->space;
  int64_t *cluster = clusters->members + c * clusters->n_rows;
  const double *centre = space->x + clusters->centres[c] * space->data->d;
  find_outside(space, thread, centre, &(struct outside){0}, cluster);
  qsort(cluster, clusters->n_rows, sizeof *cluster, compare_rows);
}

static void find_around(void *context, size_t thread, size_t i)
{
  const struct clusters *clusters = context;
  const struct space *space = clusters->space;
  const int64_t *members = clusters->members;
  struct outside outside = {.n_left = clusters->n_rows,
                            .left = members + i / clusters->n_rows * clusters->n_rows};
  find_outside(space, thread, space->x + (size_t)members[i] * space->data->d, &outside,
               clusters->candidates + i * space->k);
}

/* Finds the 'cluster_rows' training rows nearest to each centre, itself among them. */
static enum gpnn_status find_members(const struct gpnn_localgp *gp, size_t n_clusters,
                                     const uint64_t *centres, size_t cluster_rows, int64_t *members,
                                     struct gpnn_error *err)
{
  struct space space = {0};
  enum gpnn_status status = space_new(&space, gp, cluster_rows, err);
  struct clusters clusters = {
      .space = &space, .n_rows = cluster_rows, .centres = centres, .members = members};
  if (status == GPNN_OK) gpnn_threads_each(space.threads, n_clusters, 1, find_cluster, &clusters);
  space_release(&space);
  return status;
}

enum gpnn_status gpnn_heldout_clusters(struct gpnn_heldout *leftout, const struct gpnn_localgp *gp,
                                       size_t n_clusters, size_t cluster_rows, uint64_t seed,
                                       struct gpnn_error *err)
{
  const struct gpnn_dataset *data = gpnn_localgp_data(gp);
  if (cluster_rows >= data->n)
    return gpnn_fail(err, GPNN_EDATA,
                     "a cluster of %zu rows leaves none of %zu training rows to predict from",
                     cluster_rows, data->n);
  size_t n, rest = data->n - cluster_rows, m = gpnn_localgp_neighbours(gp);
  struct space space = {0};
  uint64_t *centres = NULL;
  int64_t *members = gpnn_alloc(n_clusters, cluster_rows, sizeof *members);
  enum gpnn_status status = GPNN_OK;
  if (members == NULL || !gpnn_multiply(n_clusters, cluster_rows, &n))
    status = gpnn_fail_memory(err, "for calibration");
  if (status == GPNN_OK) status = draw(data->n, n_clusters, seed, GPNN_RNG_CLUSTERS, &centres, err);
  if (status == GPNN_OK) status = find_members(gp, n_clusters, centres, cluster_rows, members, err);
  if (status == GPNN_OK) status = space_new(&space, gp, m < rest ? m : rest, err);
  if (status == GPNN_OK) status = leftout_new(leftout, data, n, space.k, err);
  if (status == GPNN_OK) {
    for (size_t i = 0; i < n; i++) take_row(leftout, data, i, (size_t)members[i]);
    struct clusters clusters = {.space = &space,
                                .n_rows = cluster_rows,
                                .members = members,
                                .candidates = leftout->candidates};
    gpnn_threads_each(space.threads, n, 1, find_around, &clusters);
    leftout->rows.together = cluster_rows;
  }
  space_release(&space);
  free(centres);
  free(members);
  return status;
}

/* ---- like other rows ------------------------------------------------------------------------ */

/* The distances that rows drawn are to have, and which row gets which. */
struct matching {
  size_t n;
  double *distances;   /* owned; n: of the rows to be like to their nearest, rising */
  struct near *ranked; /* owned; n: of the rows drawn to their nearest others, rising */
  double usual;        /* distances up to this occur among the rows drawn */
  double gap;          /* half the width of the gaps that larger distances come from */
};

static int compare_distances(const void *a, const void *b)
{
  const double *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

/* Draws rows of 'like' into '*drawn', n by d in the axes of the metric, which the caller frees. */
static enum gpnn_status draw_like(const struct gpnn_localgp *gp, const struct gpnn_points *like,
                                  size_t n, uint64_t seed, double **drawn, struct gpnn_error *err)
{
  size_t d = gpnn_localgp_data(gp)->d;
  const double *rotation = gpnn_localgp_params(gp)->covariance.rotation;
  uint64_t *rows = NULL;
  *drawn = gpnn_alloc(n, d, sizeof **drawn);
  if (*drawn == NULL) return gpnn_fail_memory(err, "for calibration");
  enum gpnn_status status = draw(like->n, n, seed, GPNN_RNG_LIKE, &rows, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    const double *x = like->x + rows[i] * d;
    if (rotation == NULL)
      memcpy(*drawn + i * d, x, d * sizeof *x);
    else
      gpnn_rotation_apply(d, rotation, 1, x, *drawn + i * d);
  }
  free(rows);
  return status;
}

/* What is shared in looking for the rows around those drawn. */
struct looking {
  const struct space *space;
  struct matching *matching;
  const struct gpnn_heldout *leftout;
  const double *drawn; /* matching->n by d */
  int64_t *near;       /* matching->n by space->k */
  double *centres;     /* threads by d */
};

/* Finds a drawn row's distance to its nearest training row. */
static void measure(void *context, size_t thread, size_t i)
{
  const struct looking *l = context;
  const struct space *space = l->space;
  const double *x = l->drawn + i * space->data->d;
  int64_t *near = l->near + i * space->k;
  find_outside(space, thread, x, &(struct outside){0}, near);
  l->matching->distances[i] = sqrt(squared_distance(space, x, (size_t)near[0]));
}

/*
 * Measures each drawn row's distance to its nearest training row, and takes one of the few nearest
 * as the row left out.  The nearest of all would not do: it is likelier to be one with wide gaps
 * around it.
 */
static enum gpnn_status take_near(struct matching *matching, struct gpnn_heldout *leftout,
                                  const struct gpnn_localgp *gp, const double *drawn, uint64_t seed,
                                  struct gpnn_error *err)
{
  enum { FEW = 10 };
  struct space space = {0};
  size_t n = matching->n, k = gpnn_localgp_data(gp)->n < FEW ? 1 : FEW;
  int64_t *near = gpnn_alloc(n, k, sizeof *near);
  if (near == NULL) return gpnn_fail_memory(err, "for calibration");
  enum gpnn_status status = space_new(&space, gp, k, err);
  if (status == GPNN_OK) {
    struct gpnn_rng rng;
    struct looking looking = {.space = &space, .matching = matching, .drawn = drawn, .near = near};
    gpnn_rng_init(&rng, seed, GPNN_RNG_STAND_IN);
    gpnn_threads_each(space.threads, n, 1, measure, &looking);
    for (size_t i = 0; i < n; i++)
      take_row(leftout, space.data, i, (size_t)near[i * k + gpnn_rng_below(&rng, k)]);
  }
  space_release(&space);
  free(near);
  return status;
}

/* Finds the distance of a row left out to its nearest other. */
static void measure_other(void *context, size_t thread, size_t i)
{
  const struct looking *l = context;
  const struct space *space = l->space;
  int64_t other = 0;
  struct outside outside = {.n_left = 1, .left = &l->leftout->self[i]};
  const double *x = space->x + (size_t)l->leftout->self[i] * space->data->d;
  find_outside(space, thread, x, &outside, &other);
  l->matching->ranked[i] = (struct near){squared_distance(space, x, (size_t)other), (int64_t)i};
}

/* Finds the distances of the rows left out to their nearest others, and ranks all distances. */
static enum gpnn_status rank(struct matching *matching, const struct gpnn_localgp *gp,
                             const struct gpnn_heldout *leftout, struct gpnn_error *err)
{
  static const double nearly_all = 0.99;
  struct space space = {0};
  size_t n = matching->n, high = (size_t)(nearly_all * (double)(n - 1));
  enum gpnn_status status = space_new(&space, gp, 1, err);
  if (status == GPNN_OK) {
    struct looking looking = {.space = &space, .matching = matching, .leftout = leftout};
    gpnn_threads_each(space.threads, n, 1, measure_other, &looking);
    qsort(matching->distances, n, sizeof *matching->distances, compare_distances);
    qsort(matching->ranked, n, sizeof *matching->ranked, compare_near);
    matching->gap = matching->distances[high];
    matching->usual = sqrt(matching->ranked[high].r2);
  }
  space_release(&space);
  return status;
}

static enum gpnn_status matching_new(struct matching *matching, size_t n, struct gpnn_error *err)
{
  *matching = (struct matching){.n = n};
  matching->distances = gpnn_alloc(n, 1, sizeof *matching->distances);
  matching->ranked = gpnn_alloc(n, 1, sizeof *matching->ranked);
  if (matching->distances != NULL && matching->ranked != NULL) return GPNN_OK;
  return gpnn_fail_memory(err, "for calibration");
}

static void matching_release(struct matching *matching)
{
  free(matching->distances);
  free(matching->ranked);
}

/*
 * Finds the ball to leave out so that row 'i' is 'radius' away from the rest: around it, or, where
 * training rows are never so far from each other, as large as the gaps are, with the row in it
 * 'radius' from its edge, towards a row drawn at random.  'centre' has room for d numbers.
 */
static double place_ball(const struct space *space, const struct matching *matching,
                         const struct gpnn_heldout *leftout, size_t i, double radius,
                         double *centre)
{
  size_t d = space->data->d, towards = i;
  const double *x = space->x + (size_t)leftout->self[i] * d;
  double away = 0, shift = matching->gap - radius;
  for (size_t step = 1; step < matching->n && away == 0; step++) { /* a row may be drawn twice */
    towards = (i + step) % matching->n;
    away = sqrt(squared_distance(space, x, (size_t)leftout->self[towards]));
  }
  const double *y = space->x + (size_t)leftout->self[towards] * d;
  if (radius <= matching->usual || shift <= 0 || away == 0) shift = 0;
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
  const struct space *space = l->space;
  const struct matching *matching = l->matching;
  size_t d = space->data->d, i = (size_t)matching->ranked[rank].row;
  double *centre = l->centres + thread * d, radius = matching->distances[rank];
  int64_t *candidates = l->leftout->candidates + i * space->k;
  struct outside outside = {.n_left = 1, .left = &l->leftout->self[i]};
  if (radius > worth_it * sqrt(matching->ranked[rank].r2)) {
    double ball = nearly * place_ball(space, matching, l->leftout, i, radius, centre);
    outside.centre = centre;
    outside.ball_r2 = ball * ball;
  }
  find_outside(space, thread, space->x + (size_t)l->leftout->self[i] * d, &outside, candidates);
  if (candidates[0] >= 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA,
                   "some rows are farther from the training rows than these from each other: no "
                   "training row can stand for them");
}

/* Finds each ranked row's neighbours outside its ball. */
static enum gpnn_status find_beyond(const struct space *space, struct matching *matching,
                                    const struct gpnn_heldout *leftout, struct gpnn_error *err)
{
  struct looking looking = {.space = space, .matching = matching, .leftout = leftout};
  looking.centres = gpnn_alloc((size_t)space->threads, space->data->d, sizeof *looking.centres);
  if (looking.centres == NULL) return gpnn_fail_memory(err, "for calibration");
  enum gpnn_status status =
      gpnn_threads_try(space->threads, matching->n, 1, look_beyond, &looking, err);
  free(looking.centres);
  return status;
}

enum gpnn_status gpnn_heldout_like(struct gpnn_heldout *leftout, const struct gpnn_localgp *gp,
                                   const struct gpnn_points *like, size_t n_rows, uint64_t seed,
                                   struct gpnn_error *err)
{
  struct space space = {0};
  struct matching matching = {0};
  double *drawn = NULL;
  enum gpnn_status status = draw_like(gp, like, n_rows, seed, &drawn, err);
  if (status == GPNN_OK) status = space_new(&space, gp, gpnn_localgp_neighbours(gp), err);
  if (status == GPNN_OK) status = leftout_new(leftout, gpnn_localgp_data(gp), n_rows, space.k, err);
  if (status == GPNN_OK) status = matching_new(&matching, n_rows, err);
  if (status == GPNN_OK) status = take_near(&matching, leftout, gp, drawn, seed, err);
  if (status == GPNN_OK) status = rank(&matching, gp, leftout, err);
  if (status == GPNN_OK) status = find_beyond(&space, &matching, leftout, err);
  matching_release(&matching);
  space_release(&space);
  free(drawn);
  return status;
}

void gpnn_heldout_release(struct gpnn_heldout *leftout)
{
  free(leftout->x);
  free(leftout->y);
  free(leftout->self);
  free(leftout->regressors);
  free(leftout->noise);
  free(leftout->candidates);
  *leftout = (struct gpnn_heldout){0};
}
