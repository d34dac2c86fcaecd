/*
 * Covariances between the errors of predictions.  The mean of row i is linear in the targets of its
 * neighbours, with weights w_i, so its error f(x_i) - mean_i is a linear combination of the process
 * at x_i and of noisy observations at the training rows (gpnn-methods(7), equation 3.30).  The
 * covariance of two such combinations, or the variance of a sum of many, is a quadratic form in the
 * covariances of all points that take part.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "kernel/covariance.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "models/local/local_private.h"

/* Rows whose neighbours are found at once; points of a piece of work; points that these are
 * compared with at a time.  None affects results but for PIECE, which fixes the order of sums. */
enum { CHUNK = 1024, PIECE = 64, STRETCH = 512 };

/* What a training row contributes to the error of a row. */
struct share {
  int64_t point; /* the training row */
  size_t row;    /* the row that is predicted */
  double value;
};

struct joint {
  const struct gpnn_local *local;
  const struct gpnn_local_channel *channel;
  const struct gpnn_query *query;
  const struct gpnn_errors *errors;
  size_t d, m;
  size_t n_terms; /* of the mean that are uncertain */
  size_t n_shares;
  struct share *shares; /* owned; at most query->n by m */
  struct weighing *all; /* the covariance of all training rows, factored, where every row has them
                           all as neighbours; NULL: rows have their own */
  double *missing;      /* owned; query->n by n_terms: the row's terms, less what the neighbours'
                           predict of them, scaled */
};

/* ---- weights ------------------------------------------------------------------------------ */

/* What a thread needs to find the weights of one row after another. */
struct weighing {
  double *columns, *noise, *k, *work; /* of the neighbours of this row: d by m; m; m by m */
  size_t m;                           /* how many they are */
  double *point, *rotated, *weights, *terms;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* 'm': how many neighbours there is room for. */
static bool weighing_init(struct weighing *w, const struct joint *joint, size_t m)
{
  size_t d = joint->d;
  w->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(w->columns, d, m), GPNN_ARRAY(w->noise, m, 1), GPNN_ARRAY(w->k, m, m),
                  GPNN_ARRAY(w->work, gpnn_cholesky_work(m), 1), GPNN_ARRAY(w->point, d, 1),
                  GPNN_ARRAY(w->rotated, d, 1), GPNN_ARRAY(w->weights, joint->m, 1),
                  GPNN_ARRAY(w->terms, joint->n_terms, 1));
  return w->arrays != NULL;
}

/* A chunk of rows whose weights are being found. */
struct chunk {
  const struct joint *joint;
  struct weighing *weighings; /* one per thread */
  size_t begin;
  int64_t *neighbours; /* CHUNK by m */
};

/* A refill of the covariance of a row's neighbours, for gpnn_cholesky_factor(). */
struct filling {
  const struct joint *joint;
  struct weighing *w;
};

static void fill(void *context, double *k)
{
  const struct filling *f = context;
  gpnn_covariance_matrix(&f->joint->channel->params->covariance, f->w->m, f->joint->d, f->joint->m,
                         f->w->columns, f->w->noise, f->w->point, k);
}

/* Writes a row, rotated and divided by the lengthscales, as entry 'at' of columns 'stride' long. */
static void put(const struct joint *joint, const double *x, double *rotated, size_t stride,
                double *columns, size_t at)
{
  const double *z = gpnn_local_rotate(joint->channel, x, rotated);
  for (size_t j = 0; j < joint->d; j++)
    columns[j * stride + at] = z[j] * joint->channel->metric->inverse[j];
}

static double known_noise(const struct joint *joint, size_t row)
{
  return joint->channel->data->noise == NULL ? 0 : joint->channel->data->noise[row];
}

/* Writes the terms of the mean at training row 'row', or at row 'row' of the query. */
static void write_terms(const struct joint *joint, bool is_training, size_t row, double *terms)
{
  const struct gpnn_dataset *data = joint->channel->data;
  const double *x = is_training ? data->x : joint->query->x;
  const double *regressors = is_training ? data->regressors : joint->query->regressors;
  size_t p = data->n_regressors;
  gpnn_mean_terms(joint->channel->params->mean.kind, data->d, x + row * data->d, p,
                  regressors == NULL ? NULL : regressors + row * p, terms);
}

/* Writes what the neighbours' terms, with the row's weights, leave of its own, scaled. */
static void find_missing(const struct joint *joint, struct weighing *w, const int64_t *neighbours,
                         size_t row)
{
  double *missing = joint->missing + row * joint->n_terms;
  if (joint->n_terms == 0) return;
  write_terms(joint, false, row, missing);
  for (size_t a = 0; a < w->m; a++) {
    write_terms(joint, true, (size_t)neighbours[a], w->terms);
    for (size_t t = 0; t < joint->n_terms; t++) missing[t] -= w->weights[a] * w->terms[t];
  }
  for (size_t t = 0; t < joint->n_terms; t++) missing[t] *= joint->errors->mean[row];
}

/* Factors the covariance of these neighbours. */
static enum gpnn_status factor(const struct joint *joint, struct weighing *w,
                               const int64_t *neighbours, struct gpnn_error *err)
{
  struct filling filling = {joint, w};
  double kernelscale = joint->channel->params->covariance.kernelscale;
  for (w->m = 0; w->m < joint->m && neighbours[w->m] >= 0; w->m++) {
    size_t from = (size_t)neighbours[w->m];
    put(joint, joint->channel->data->x + from * joint->d, w->rotated, joint->m, w->columns, w->m);
    w->noise[w->m] = known_noise(joint, from);
  }
  fill(&filling, w->k);
  return gpnn_cholesky_factor(w->m, w->k, w->work, kernelscale, fill, &filling, NULL, err);
}

/* Finds the weights of row begin + i, and with them its shares. */
static enum gpnn_status weigh(void *context, size_t thread, size_t i, struct gpnn_error *err)
{
  const struct chunk *chunk = context;
  const struct joint *joint = chunk->joint;
  struct weighing *w = &chunk->weighings[thread];
  const struct weighing *factored = joint->all == NULL ? w : joint->all;
  size_t row = chunk->begin + i, d = joint->d;
  const int64_t *neighbours = chunk->neighbours + i * joint->m;
  if (joint->all == NULL) {
    enum gpnn_status status = factor(joint, w, neighbours, err);
    if (status != GPNN_OK) return status;
  }
  w->m = factored->m;
  put(joint, joint->query->x + row * d, w->rotated, 1, w->point, 0);
  gpnn_covariance_vector(&joint->channel->params->covariance, w->m, d, joint->m, factored->columns,
                         w->point, w->weights);
  gpnn_cholesky_solve(w->m, factored->k, w->weights);
  for (size_t a = 0; a < joint->m; a++) {
    double value = a < w->m ? -w->weights[a] * joint->errors->process[row] : 0;
    joint->shares[row * joint->m + a] = (struct share){a < w->m ? neighbours[a] : -1, row, value};
  }
  find_missing(joint, w, neighbours, row);
  return GPNN_OK;
}

/* Finds the neighbours of the 'n' rows of a chunk. */
static enum gpnn_status find_neighbours(const struct chunk *chunk, size_t n, double *distances,
                                        int threads, struct gpnn_error *err)
{
  const struct joint *joint = chunk->joint;
  if (joint->all == NULL)
    return gpnn_search_query(joint->channel->metric->search, n,
                             joint->query->x + chunk->begin * joint->d, joint->m, chunk->neighbours,
                             distances, threads, err);
  for (size_t a = 0; a < n * joint->m; a++) chunk->neighbours[a] = (int64_t)(a % joint->m);
  return GPNN_OK;
}

/* Finds the neighbours of all rows, chunk by chunk, and their weights. */
static enum gpnn_status weigh_chunks(const struct joint *joint, int threads, struct chunk *chunk,
                                     double *distances, struct gpnn_error *err)
{
  enum { TOGETHER = 8 };
  const struct gpnn_query *query = joint->query;
  enum gpnn_status status = GPNN_OK;
  for (; chunk->begin < query->n && status == GPNN_OK; chunk->begin += CHUNK) {
    size_t n = query->n - chunk->begin < CHUNK ? query->n - chunk->begin : CHUNK;
    status = find_neighbours(chunk, n, distances, threads, err);
    if (status == GPNN_OK) status = gpnn_threads_try(threads, n, TOGETHER, weigh, chunk, err);
  }
  return status;
}

static enum gpnn_status weigh_all(struct joint *joint, struct gpnn_error *err)
{
  size_t n = joint->query->n < CHUNK ? joint->query->n : CHUNK;
  int threads = gpnn_threads_for(joint->local->options->threads, n);
  struct chunk chunk = {joint, gpnn_alloc((size_t)threads, 1, sizeof *chunk.weighings), 0,
                        gpnn_alloc(n, joint->m, sizeof *chunk.neighbours)};
  double *distances = gpnn_alloc(n, joint->m, sizeof *distances);
  bool enough = chunk.weighings != NULL && chunk.neighbours != NULL && distances != NULL;
  for (int t = 0; enough && t < threads; t++)
    enough = weighing_init(&chunk.weighings[t], joint, joint->all == NULL ? joint->m : 0);
  enum gpnn_status status = enough ? weigh_chunks(joint, threads, &chunk, distances, err)
                                   : gpnn_fail_memory(err, "for joint predictions");
  for (int t = 0; chunk.weighings != NULL && t < threads; t++)
    gpnn_arrays_free(chunk.weighings[t].arrays);
  free(chunk.weighings);
  free(chunk.neighbours);
  free(distances);
  joint->n_shares = joint->query->n * joint->m;
  return status;
}

/* The same where every row has all training rows as neighbours. */
static enum gpnn_status weigh_from_all(struct joint *joint, struct gpnn_error *err)
{
  struct weighing all = {0};
  int64_t *rows = gpnn_alloc(joint->m, 1, sizeof *rows);
  enum gpnn_status status = rows != NULL && weighing_init(&all, joint, joint->m)
                                ? GPNN_OK
                                : gpnn_fail_memory(err, "for joint predictions");
  for (size_t a = 0; a < joint->m && status == GPNN_OK; a++) rows[a] = (int64_t)a;
  if (status == GPNN_OK) status = factor(joint, &all, rows, err);
  joint->all = &all;
  if (status == GPNN_OK) status = weigh_all(joint, err);
  joint->all = NULL;
  gpnn_arrays_free(all.arrays);
  free(rows);
  return status;
}

/* ---- shares, by training row -------------------------------------------------------------- */

static int compare_shares(const void *a, const void *b)
{
  const struct share *p = a, *q = b;
  if (p->point != q->point) return p->point < q->point ? -1 : 1;
  return p->row < q->row ? -1 : p->row > q->row;
}

/* Sorts the shares by training row; in a total, leaves one of each training row. */
static void collect_shares(struct joint *joint)
{
  struct share *shares = joint->shares;
  bool total = joint->errors->total;
  size_t kept = 0;
  qsort(shares, joint->n_shares, sizeof *shares, compare_shares);
  for (size_t i = 0; i < joint->n_shares; i++) {
    struct share share = shares[i];
    if (share.point < 0) continue;
    if (total) share.row = 0;
    if (total && kept > 0 && shares[kept - 1].point == share.point)
      shares[kept - 1].value += share.value;
    else
      shares[kept++] = share;
  }
  joint->n_shares = kept;
}

/* ---- the quadratic form ------------------------------------------------------------------- */

/* The points that take part: the rows to predict, then the training rows.  Combination to[s] has
 * value[s] of point i, for s from start[i] to start[i + 1] - 1. */
struct form {
  const struct joint *joint;
  size_t n_points, n;         /* n combinations */
  double *columns;            /* owned; d by n_points: scaled */
  double *noise;              /* owned; n_points: the variance of the noise there */
  size_t *start, *to;         /* owned */
  double *value;              /* owned */
  double *covariance;         /* n by n */
  size_t size;                /* of what each thread has of 'work': */
  double *work;               /* owned; PIECE by n sums, STRETCH covariances, d inputs */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static bool form_init(struct form *form, const struct joint *joint, int threads, double *covariance)
{
  size_t n = joint->query->n, n_points = n;
  for (size_t i = 0; i < joint->n_shares; i++)
    n_points += i == 0 || joint->shares[i].point != joint->shares[i - 1].point;
  *form = (struct form){.joint = joint,
                        .n_points = n_points,
                        .n = joint->errors->total ? 1 : n,
                        .covariance = covariance};
  form->size = PIECE * form->n + STRETCH + joint->d;
  form->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(form->columns, joint->d, n_points), GPNN_ARRAY(form->noise, n_points, 1),
      GPNN_ARRAY(form->start, n_points + 1, 1), GPNN_ARRAY(form->to, n + joint->n_shares, 1),
      GPNN_ARRAY(form->value, n + joint->n_shares, 1),
      GPNN_ARRAY(form->work, (size_t)threads, form->size));
  return form->arrays != NULL;
}

/* Fills in the points.  The first thread's inputs are scratch. */
static void form_fill(struct form *form)
{
  const struct joint *joint = form->joint;
  size_t n = joint->query->n, d = joint->d, points = n;
  double *rotated = form->work + form->size - d;
  for (size_t i = 0; i < n; i++) {
    put(joint, joint->query->x + i * d, rotated, form->n_points, form->columns, i);
    form->start[i] = i;
    form->to[i] = joint->errors->total ? 0 : i;
    form->value[i] = joint->errors->process[i];
  }
  for (size_t s = 0; s < joint->n_shares; s++) {
    const struct share *share = &joint->shares[s];
    form->to[n + s] = share->row;
    form->value[n + s] = share->value;
    if (s > 0 && share[0].point == share[-1].point) continue;
    size_t row = (size_t)share->point;
    put(joint, joint->channel->data->x + row * d, rotated, form->n_points, form->columns, points);
    form->noise[points] = joint->channel->params->covariance.noise + known_noise(joint, row);
    form->start[points++] = n + s;
  }
  form->start[points] = n + joint->n_shares;
}

/* Adds to 'sums' (n) the covariances of point 'i' with points max(begin, i) to end - 1, combined;
 * that of the point with itself counts half. */
static void combine(const struct form *form, size_t i, size_t begin, size_t end, double *sums,
                    double *k)
{
  size_t first = begin < i ? i : begin, d = form->joint->d;
  double *point = k + STRETCH;
  for (size_t j = 0; j < d; j++) point[j] = form->columns[j * form->n_points + i];
  gpnn_covariance_vector(&form->joint->channel->params->covariance, end - first, d, form->n_points,
                         form->columns + first, point, k);
  if (first == i) k[0] = (k[0] + form->noise[i]) / 2;
  for (size_t a = first; a < end; a++)
    for (size_t s = form->start[a]; s < form->start[a + 1]; s++)
      sums[form->to[s]] += k[a - first] * form->value[s];
}

static double *sums_of(const struct form *form, size_t thread)
{
  return form->work + thread * form->size;
}

static size_t end_of(const struct form *form, size_t begin, size_t length)
{
  return form->n_points - begin < length ? form->n_points : begin + length;
}

/* Combines the covariances of the points of a piece with all points from themselves on. */
static enum gpnn_status combine_piece(void *context, size_t thread, size_t piece,
                                      struct gpnn_error *err)
{
  const struct form *form = context;
  size_t first = piece * PIECE, last = end_of(form, first, PIECE);
  double *sums = sums_of(form, thread), *k = sums + PIECE * form->n;
  (void)err;
  memset(sums, 0, PIECE * form->n * sizeof *sums);
  for (size_t begin = first, end; begin < form->n_points; begin = end) {
    end = end_of(form, begin, STRETCH);
    for (size_t i = first; i < last && i < end; i++)
      combine(form, i, begin, end, sums + (i - first) * form->n, k);
  }
  return GPNN_OK;
}

/* Adds the sums of a piece to the combinations that its points belong to. */
static enum gpnn_status add_piece(void *context, size_t thread, size_t piece,
                                  struct gpnn_error *err)
{
  const struct form *form = context;
  size_t first = piece * PIECE, last = end_of(form, first, PIECE), n = form->n;
  const double *sums = sums_of(form, thread);
  (void)err;
  for (size_t i = first; i < last; i++)
    for (size_t s = form->start[i]; s < form->start[i + 1]; s++)
      cblas_daxpy((int)n, form->value[s], sums + (i - first) * n, 1,
                  form->covariance + form->to[s] * n, 1);
  return GPNN_OK;
}

/* ---- the coefficients of the mean --------------------------------------------------------- */

/* a'V b of the missing terms. */
static double uncertainty(const struct joint *joint, const double *a, const double *b)
{
  const double *v = joint->channel->params->mean.covariance;
  double sum = 0;
  for (size_t t = 0; t < joint->n_terms; t++)
    sum += a[t] * cblas_ddot((int)joint->n_terms, v + t * joint->n_terms, 1, b, 1);
  return sum;
}

/* Adds the missing terms of all other rows to those of the first. */
static void sum_missing(const struct joint *joint)
{
  size_t p = joint->n_terms;
  for (size_t i = 1; i < joint->query->n; i++)
    for (size_t t = 0; t < p; t++) joint->missing[t] += joint->missing[i * p + t];
}

/* Makes the covariance of the half that was computed, and adds the uncertainty of the mean. */
static enum gpnn_status complete(const struct form *form, struct gpnn_error *err)
{
  const struct joint *joint = form->joint;
  size_t n = form->n, p = joint->n_terms;
  if (joint->errors->total) sum_missing(joint);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double value = form->covariance[i * n + j] + form->covariance[j * n + i] +
                     uncertainty(joint, joint->missing + i * p, joint->missing + j * p);
      if (!isfinite(value)) return gpnn_fail(err, GPNN_ENUMERIC, "a prediction is not finite");
      if (i == j && value < 0) value = 0;
      form->covariance[i * n + j] = form->covariance[j * n + i] = value;
    }
  return GPNN_OK;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static enum gpnn_status evaluate(const struct joint *joint, double *covariance,
                                 struct gpnn_error *err)
{
  struct form form;
  int threads = joint->local->options->threads;
  if (!form_init(&form, joint, threads, covariance)) {
    gpnn_arrays_free(form.arrays);
    return gpnn_fail_memory(err, "for joint predictions");
  }
  form_fill(&form);
  memset(covariance, 0, form.n * form.n * sizeof *covariance);
  enum gpnn_status status = gpnn_threads_in_order(threads, (form.n_points + PIECE - 1) / PIECE,
                                                  combine_piece, add_piece, &form, err);
  if (status == GPNN_OK) status = complete(&form, err);
  gpnn_arrays_free(form.arrays);
  return status;
}

enum gpnn_status gpnn_local_joint(const void *state, size_t channel, const struct gpnn_query *query,
                                  const struct gpnn_errors *errors, double *covariance,
                                  struct gpnn_error *err)
{
  const struct gpnn_local *local = state;
  struct joint joint = {.local = local,
                        .channel = gpnn_local_channel_of(local, channel),
                        .query = query,
                        .errors = errors};
  const struct gpnn_mean_function *mean = &joint.channel->params->mean;
  if (query->n == 0) return GPNN_OK;
  joint.d = joint.channel->data->d;
  joint.m = joint.channel->neighbours;
  joint.n_terms = mean->covariance == NULL ? 0 : mean->n_coefficients;
  joint.shares = gpnn_alloc(query->n, joint.m, sizeof *joint.shares);
  joint.missing = gpnn_alloc(query->n, joint.n_terms, sizeof *joint.missing);
  enum gpnn_status status = joint.shares != NULL && joint.missing != NULL
                                ? GPNN_OK
                                : gpnn_fail_memory(err, "for joint predictions");
  if (status == GPNN_OK)
    status =
        joint.m == joint.channel->data->n ? weigh_from_all(&joint, err) : weigh_all(&joint, err);
  if (status == GPNN_OK) {
    collect_shares(&joint);
    status = evaluate(&joint, covariance, err);
  }
  free(joint.shares);
  free(joint.missing);
  return status;
}
