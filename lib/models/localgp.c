#include "models/localgp.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"
#include "data/search.h"
#include "models/cholesky.h"
#include "models/rotation.h"

/* Rows whose neighbours are held at a time: bounds memory, changes no result. */
enum { CHUNK = 1024 };

struct gpnn_localgp {
  const struct gpnn_index_contents *data;
  const struct gpnn_params *params;
  double *rotated; /* owned; n by d: the training rows as the kernel sees them, or NULL */
  const double *x; /* the same, or the index's */
  struct gpnn_search *search; /* owned */
  bool rebuilt_search;
  double *lengthscale, *inverse; /* owned; d of each, the second 1 / lengthscale */
  size_t neighbours;
  int threads;
};

/* What one thread needs to solve one row; m neighbours, d columns. */
struct scratch {
  double *columns; /* d by stride: scaled neighbours, one column after another */
  double *point;   /* d: one scaled row */
  double *k;       /* m by m: covariance, then its factor */
  double *noise;   /* m: known noise variance of the neighbours */
  double *rhs;     /* 2 + p by m: covariances with the row, the neighbours' targets without their
                      mean, and, if the p coefficients are uncertain, their terms */
  double *terms;   /* p: of one row, then less what the neighbours say of them */
};

/* One row's solve under way: what the covariance is filled from. */
struct solve {
  const struct gpnn_localgp *gp;
  struct scratch *scratch;
  size_t m, stride;
};

/* The numbers of neighbours to predict with, and where results go. */
struct task {
  const struct gpnn_points *points;
  size_t n_numbers;
  const size_t *numbers;
  const struct gpnn_prediction *prediction;
};

/* ---- life --------------------------------------------------------------------------------- */

/* The lengthscales that order neighbours, or NULL if Euclidean distance orders them. */
static const double *search_metric(const struct gpnn_localgp *gp)
{
  for (size_t j = 1; j < gp->data->d; j++)
    if (gp->lengthscale[j] != gp->lengthscale[0]) return gp->lengthscale;
  return NULL;
}

static enum gpnn_status find_search(struct gpnn_localgp *gp, const struct gpnn_index *index,
                                    struct gpnn_error *err)
{
  const struct gpnn_index_contents *data = gp->data;
  const double *metric = search_metric(gp);
  if (gp->rotated == NULL &&
      gpnn_search_same_metric(data->d, metric, gpnn_index_search_lengthscale(index)))
    return gpnn_index_search(index, &gp->search, err);
  const struct gpnn_search_report *stored = gpnn_index_search_report(index);
  const struct gpnn_search_options options = {.kind = stored->kind,
                                              .recall = stored->asked,
                                              .neighbours = gp->neighbours,
                                              .lengthscale = metric,
                                              .seed = data->seed,
                                              .threads = gp->threads};
  /* A flat search is made anew at every opening, whatever its metric. */
  gp->rebuilt_search = stored->kind != GPNN_SEARCH_FLAT;
  return gpnn_search_build(&gp->search, data->n, data->d, gp->x, &options, err);
}

/* Sets gp->x. */
static enum gpnn_status rotate_rows(struct gpnn_localgp *gp, struct gpnn_error *err)
{
  const struct gpnn_index_contents *data = gp->data;
  gp->x = data->x;
  if (gp->params->rotation == NULL) return GPNN_OK;
  gp->rotated = gpnn_alloc(data->n, data->d, sizeof *gp->rotated);
  if (gp->rotated == NULL) return gpnn_fail_memory(err, "for rotated training rows");
  gpnn_rotation_apply(data->d, gp->params->rotation, data->n, data->x, gp->rotated);
  gp->x = gp->rotated;
  return GPNN_OK;
}

/* The index in the view of the parameters' target. */
static enum gpnn_status find_target(const struct gpnn_index *index,
                                    const struct gpnn_params *params,
                                    const struct gpnn_index_contents **data, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  size_t t = 0;
  if (params->target != NULL && !gpnn_index_find_target(index, params->target, &t))
    return gpnn_fail(err, GPNN_EMISMATCH, "the index has no target '%s'",
                     gpnn_mask(shown, params->target, strlen(params->target)));
  *data = gpnn_index_target(index, t);
  return GPNN_OK;
}

enum gpnn_status gpnn_localgp_new(struct gpnn_localgp **gp, const struct gpnn_index *index,
                                  const struct gpnn_params *params, size_t neighbours, int threads,
                                  struct gpnn_error *err)
{
  const struct gpnn_index_contents *data = NULL;
  bool other_index;
  enum gpnn_status status = find_target(index, params, &data, err);
  if (status == GPNN_OK)
    status = gpnn_params_check(params, data, gpnn_index_fingerprint(index), &other_index, err);
  if (status != GPNN_OK) return status;
  struct gpnn_localgp *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for a local Gaussian process");
  if (neighbours == 0) neighbours = params->neighbours;
  *new = (struct gpnn_localgp){.data = data, .params = params, .threads = threads};
  gpnn_localgp_set_neighbours(new, neighbours);
  new->lengthscale = gpnn_alloc(data->d, 1, sizeof *new->lengthscale);
  new->inverse = gpnn_alloc(data->d, 1, sizeof *new->inverse);
  if (new->lengthscale == NULL || new->inverse == NULL) {
    status = gpnn_fail_memory(err, "for a local Gaussian process");
  } else {
    gpnn_params_expand(params, data->d, data->group, new->lengthscale);
    for (size_t j = 0; j < data->d; j++) new->inverse[j] = 1 / new->lengthscale[j];
    status = rotate_rows(new, err);
    if (status == GPNN_OK) status = find_search(new, index, err);
  }
  if (status == GPNN_OK)
    *gp = new;
  else
    gpnn_localgp_free(new);
  return status;
}

void gpnn_localgp_free(struct gpnn_localgp *gp)
{
  if (gp == NULL) return;
  gpnn_search_free(gp->search);
  free(gp->rotated);
  free(gp->lengthscale);
  free(gp->inverse);
  free(gp);
}

const struct gpnn_index_contents *gpnn_localgp_data(const struct gpnn_localgp *gp)
{
  return gp->data;
}

const struct gpnn_params *gpnn_localgp_params(const struct gpnn_localgp *gp)
{
  return gp->params;
}

bool gpnn_localgp_rebuilt_search(const struct gpnn_localgp *gp)
{
  return gp->rebuilt_search;
}

const double *gpnn_localgp_rows(const struct gpnn_localgp *gp)
{
  return gp->x;
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

/* ---- one row ------------------------------------------------------------------------------ */

static size_t padded(size_t m)
{
  enum { LANES = 8 };
  return (m + LANES - 1) / LANES * LANES;
}

/* Terms of the mean that take part in the solve: those of uncertain coefficients. */
static size_t n_uncertain(const struct gpnn_localgp *gp)
{
  return gp->params->covariance == NULL ? 0 : gp->params->n_coefficients;
}

static bool scratch_new(struct scratch *s, const struct gpnn_localgp *gp)
{
  size_t m = gp->neighbours, d = gp->data->d, p = gp->params->n_coefficients;
  s->columns = gpnn_alloc(d, padded(m), sizeof *s->columns);
  s->point = gpnn_alloc(d, 1, sizeof *s->point);
  s->k = gpnn_alloc(m, m, sizeof *s->k);
  s->noise = gpnn_alloc(m, 1, sizeof *s->noise);
  s->rhs = gpnn_alloc(2 + n_uncertain(gp), m, sizeof *s->rhs);
  s->terms = gpnn_alloc(p, 1, sizeof *s->terms);
  return s->columns != NULL && s->point != NULL && s->k != NULL && s->noise != NULL &&
         s->rhs != NULL && s->terms != NULL;
}

static void scratch_release(struct scratch *s)
{
  free(s->columns);
  free(s->point);
  free(s->k);
  free(s->noise);
  free(s->rhs);
  free(s->terms);
}

/* Writes the lower triangle of K = kernelscale C + noise I. */
static void fill_covariance(void *context, double *k)
{
  const struct solve *solve = context;
  const struct gpnn_params *params = solve->gp->params;
  size_t m = solve->m, stride = solve->stride, d = solve->gp->data->d;
  const double *columns = solve->scratch->columns;
  double *point = solve->scratch->point;
  for (size_t a = 0; a < m; a++) {
    double *column = k + a * m + a;
    for (size_t j = 0; j < d; j++) point[j] = columns[j * stride + a];
    gpnn_kernel_distances(m - a, d, stride, columns + a, point, column);
    params->kernel->correlation(params->smoothness, m - a, column);
    for (size_t i = 0; i < m - a; i++) column[i] *= params->kernelscale;
    column[0] += params->noise + solve->scratch->noise[a];
  }
}

/* Writes the covariances of the row 'x' with the neighbours to the first right-hand side. */
static void fill_cross_covariance(const struct solve *solve, const double *x)
{
  const struct gpnn_localgp *gp = solve->gp;
  size_t d = gp->data->d;
  double *point = solve->scratch->point, *cross = solve->scratch->rhs;
  for (size_t j = 0; j < d; j++) point[j] = x[j] * gp->inverse[j];
  gpnn_kernel_distances(solve->m, d, solve->stride, solve->scratch->columns, point, cross);
  gp->params->kernel->correlation(gp->params->smoothness, solve->m, cross);
  for (size_t i = 0; i < solve->m; i++) cross[i] *= gp->params->kernelscale;
}

/* Whether training row 'row' may be a neighbour of point 'i'. */
static bool is_allowed(const struct gpnn_points *points, size_t i, int64_t row)
{
  return row >= 0 && (points->self == NULL || points->self[i] != row);
}

static double mean_of_row(const struct gpnn_localgp *gp, size_t row)
{
  const struct gpnn_index_contents *data = gp->data;
  size_t p = data->n_regressors;
  return gpnn_mean_value(gp->params->mean, gp->params->coefficients, data->d,
                         data->x + row * data->d, p, p == 0 ? NULL : data->regressors + row * p);
}

/* Writes the terms of neighbour 'i', training row 'row', to the right-hand sides of the terms. */
static void gather_terms(const struct solve *solve, size_t i, size_t row)
{
  const struct gpnn_localgp *gp = solve->gp;
  const struct gpnn_index_contents *data = gp->data;
  double *terms = solve->scratch->terms;
  size_t p = data->n_regressors, n_terms = n_uncertain(gp);
  if (n_terms == 0) return;
  gpnn_mean_terms(gp->params->mean, data->d, data->x + row * data->d, p,
                  p == 0 ? NULL : data->regressors + row * p, terms);
  for (size_t t = 0; t < n_terms; t++) solve->scratch->rhs[(2 + t) * solve->m + i] = terms[t];
}

/*
 * Copies up to m of the candidate rows that point 'i' may have as neighbours, scaled, with their
 * noise, and their targets and terms into the right-hand sides; sets solve->m to their number.
 * 'candidates' keeps the rows copied.
 */
static void gather(struct solve *solve, const struct gpnn_points *points, size_t i,
                   size_t n_candidates, int64_t *candidates)
{
  const struct gpnn_localgp *gp = solve->gp;
  struct scratch *scratch = solve->scratch;
  size_t d = gp->data->d, m = 0;
  for (size_t c = 0; c < n_candidates && m < solve->m; c++)
    if (is_allowed(points, i, candidates[c])) candidates[m++] = candidates[c];
  solve->m = m;
  for (size_t a = 0; a < m; a++) {
    size_t row = (size_t)candidates[a];
    const double *x = gp->x + row * d;
    for (size_t j = 0; j < d; j++) scratch->columns[j * solve->stride + a] = x[j] * gp->inverse[j];
    scratch->noise[a] = gp->data->noise == NULL ? 0 : gp->data->noise[row];
    scratch->rhs[m + a] = gp->data->y[row] - mean_of_row(gp, row);
    gather_terms(solve, a, row);
  }
}

/*
 * q'Vq, q = t* - (L^-1 T)'v over the first 'm' neighbours: what the uncertainty of the
 * coefficients adds to the variance.
 */
static double uncertainty_of_mean(const struct solve *solve, const struct gpnn_points *points,
                                  size_t i, size_t m)
{
  const struct gpnn_localgp *gp = solve->gp;
  const struct gpnn_params *params = gp->params;
  size_t n_terms = n_uncertain(gp), p = gp->data->n_regressors;
  double *q = solve->scratch->terms, sum = 0;
  const double *v = solve->scratch->rhs;
  if (n_terms == 0) return 0;
  gpnn_mean_terms(params->mean, gp->data->d, points->x + i * gp->data->d, p,
                  p == 0 ? NULL : points->regressors + i * p, q);
  for (size_t t = 0; t < n_terms; t++) q[t] -= cblas_ddot((int)m, v, 1, v + (2 + t) * solve->m, 1);
  for (size_t t = 0; t < n_terms; t++)
    sum += q[t] * cblas_ddot((int)n_terms, params->covariance + t * n_terms, 1, q, 1);
  return sum;
}

/* Mean and latent variance of point 'i' for every number of neighbours asked for. */
static enum gpnn_status finish_one(const struct solve *solve, const struct task *task, size_t i,
                                   struct gpnn_localgp_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_localgp *gp = solve->gp;
  const struct gpnn_points *points = task->points;
  const struct gpnn_prediction *to = task->prediction;
  const double *v = solve->scratch->rhs, *u = v + solve->m;
  size_t p = gp->data->n_regressors, done = 0;
  double mean =
      gpnn_mean_value(gp->params->mean, gp->params->coefficients, gp->data->d,
                      points->x + i * gp->data->d, p, p == 0 ? NULL : points->regressors + i * p);
  double variance = gp->params->kernelscale;
  for (size_t k = 0; k < task->n_numbers; k++) {
    size_t m = task->numbers[k] < solve->m ? task->numbers[k] : solve->m;
    mean += cblas_ddot((int)(m - done), v + done, 1, u + done, 1);
    variance -= cblas_ddot((int)(m - done), v + done, 1, v + done, 1);
    done = m;
    double latent = variance + uncertainty_of_mean(solve, points, i, m);
    if (!isfinite(mean) || !isfinite(latent))
      return gpnn_fail(err, GPNN_ENUMERIC, "a prediction is not finite");
    if (to->mean != NULL) to->mean[k * points->n + i] = mean;
    if (to->latent != NULL) to->latent[k * points->n + i] = latent > 0 ? latent : 0;
    counts->n_clamped += latent < 0 && k + 1 == task->n_numbers;
  }
  return GPNN_OK;
}

/* Distance of a point at 'x' to its nearest neighbour; infinite if it has none. */
static double nearest_distance(const struct solve *solve, const double *x,
                               const int64_t *neighbours)
{
  const struct gpnn_localgp *gp = solve->gp;
  size_t d = gp->data->d;
  double r2 = 0;
  if (solve->m == 0) return INFINITY;
  for (size_t j = 0; j < d; j++) {
    double difference = x[j] - gp->x[(size_t)neighbours[0] * d + j];
    r2 += difference * difference * gp->inverse[j] * gp->inverse[j];
  }
  return sqrt(r2);
}

static enum gpnn_status predict_one(struct solve *solve, const struct task *task, size_t i,
                                    const double *x, size_t n_candidates, int64_t *candidates,
                                    struct gpnn_localgp_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_points *points = task->points;
  const struct gpnn_prediction *to = task->prediction;
  struct scratch *scratch = solve->scratch;
  double jitter = 0;
  gather(solve, points, i, n_candidates, candidates);
  if (to->nearest != NULL) to->nearest[i] = nearest_distance(solve, x, candidates);
  if (to->mean == NULL && to->latent == NULL) return GPNN_OK;
  fill_covariance(solve, scratch->k);
  enum gpnn_status status = gpnn_cholesky_factor(
      solve->m, scratch->k, solve->gp->params->kernelscale, fill_covariance, solve, &jitter, err);
  if (status != GPNN_OK) return status;
  fill_cross_covariance(solve, x);
  gpnn_cholesky_forward(solve->m, scratch->k, 2 + n_uncertain(solve->gp), scratch->rhs);
  counts->n_jittered += jitter > 0;
  counts->max_jitter = fmax(counts->max_jitter, jitter);
  return finish_one(solve, task, i, counts, err);
}

/* ---- many rows ---------------------------------------------------------------------------- */

/* What a chunk's rows came to: of several failures that of the first row is kept, so that
 * the message does not depend on the threads. */
struct outcome {
  enum gpnn_status status;
  size_t row;
  struct gpnn_error error;
};

static void add_counts(struct gpnn_localgp_counts *to, const struct gpnn_localgp_counts *from)
{
  to->n_jittered += from->n_jittered;
  to->max_jitter = fmax(to->max_jitter, from->max_jitter);
  to->n_clamped += from->n_clamped;
}

static void predict_chunk(const struct gpnn_localgp *gp, struct scratch *scratch,
                          const struct task *task, size_t begin, size_t end, const double *x,
                          size_t n_candidates, int64_t *candidates,
                          struct gpnn_localgp_counts *counts, struct outcome *outcome)
{
#pragma omp parallel num_threads(gp->threads)
  {
    struct gpnn_localgp_counts own = {0};
    struct solve solve = {.gp = gp, .scratch = &scratch[omp_get_thread_num()]};
#pragma omp for schedule(dynamic, 8)
    for (size_t i = begin; i < end; i++) {
      struct gpnn_error error = {0};
      solve.m = gp->neighbours;
      solve.stride = padded(solve.m);
      enum gpnn_status status =
          predict_one(&solve, task, i, x + (i - begin) * gp->data->d, n_candidates,
                      candidates + (i - begin) * n_candidates, &own, &error);
      if (status == GPNN_OK) continue;
#pragma omp critical(gpnn_localgp)
      if (outcome->status == GPNN_OK || i < outcome->row)
        *outcome = (struct outcome){status, i, error};
    }
#pragma omp critical(gpnn_localgp)
    add_counts(counts, &own);
  }
}

/* Candidates for neighbours of a point, so that enough of them are allowed. */
static size_t n_candidates(const struct gpnn_localgp *gp, const struct gpnn_points *points)
{
  if (points->candidates != NULL) return points->n_candidates;
  size_t k = gp->neighbours + (points->self != NULL);
  return k < gp->data->n ? k : gp->data->n;
}

/* Fills 'candidates' for points begin to end, at 'x' in the search's axes, k of each; 'distances'
 * is scratch as large. */
static enum gpnn_status find_candidates(const struct gpnn_localgp *gp,
                                        const struct gpnn_points *points, size_t begin, size_t end,
                                        const double *x, size_t k, int64_t *candidates,
                                        double *distances, struct gpnn_error *err)
{
  if (points->candidates == NULL)
    return gpnn_search_query(gp->search, end - begin, x, k, candidates, distances, gp->threads,
                             err);
  memcpy(candidates, points->candidates + begin * k, (end - begin) * k * sizeof *candidates);
  return GPNN_OK;
}

static enum gpnn_status predict_task(const struct gpnn_localgp *gp, const struct task *task,
                                     struct gpnn_localgp_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_points *points = task->points;
  size_t chunk = points->n < CHUNK ? points->n : CHUNK, k = n_candidates(gp, points);
  int64_t *candidates = gpnn_alloc(chunk, k, sizeof *candidates);
  double *distances = gpnn_alloc(chunk, k, sizeof *distances);
  double *rotated = gp->rotated == NULL ? NULL : gpnn_alloc(chunk, gp->data->d, sizeof *rotated);
  struct scratch *scratch = calloc((size_t)gp->threads, sizeof *scratch);
  struct outcome outcome = {.status = GPNN_OK};
  bool enough = candidates != NULL && distances != NULL && scratch != NULL &&
                (gp->rotated == NULL || rotated != NULL);
  for (int t = 0; enough && t < gp->threads; t++) enough = scratch_new(&scratch[t], gp);
  if (!enough) outcome.status = gpnn_fail_memory(&outcome.error, "for predictions");
  for (size_t begin = 0; begin < points->n && outcome.status == GPNN_OK; begin += chunk) {
    size_t end = points->n - begin < chunk ? points->n : begin + chunk;
    const double *x = points->x + begin * gp->data->d;
    if (rotated != NULL) {
      gpnn_rotation_apply(gp->data->d, gp->params->rotation, end - begin, x, rotated);
      x = rotated;
    }
    outcome.status =
        find_candidates(gp, points, begin, end, x, k, candidates, distances, &outcome.error);
    if (outcome.status != GPNN_OK) break;
    predict_chunk(gp, scratch, task, begin, end, x, k, candidates, counts, &outcome);
  }
  if (outcome.status != GPNN_OK && err != NULL) *err = outcome.error;
  for (int t = 0; scratch != NULL && t < gp->threads; t++) scratch_release(&scratch[t]);
  free(scratch);
  free(rotated);
  free(distances);
  free(candidates);
  return outcome.status;
}

enum gpnn_status gpnn_localgp_predict(const struct gpnn_localgp *gp,
                                      const struct gpnn_points *points,
                                      const struct gpnn_prediction *prediction,
                                      struct gpnn_localgp_counts *counts, struct gpnn_error *err)
{
  struct task task = {points, 1, &gp->neighbours, prediction};
  return predict_task(gp, &task, counts, err);
}

enum gpnn_status gpnn_localgp_predict_each(const struct gpnn_localgp *gp,
                                           const struct gpnn_points *points, size_t n_numbers,
                                           const size_t *numbers,
                                           const struct gpnn_prediction *prediction,
                                           struct gpnn_localgp_counts *counts,
                                           struct gpnn_error *err)
{
  struct task task = {points, n_numbers, numbers, prediction};
  return predict_task(gp, &task, counts, err);
}
