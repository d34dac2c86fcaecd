#include "models/localgp.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"
#include "data/search.h"
#include "models/cholesky.h"

/* Rows whose neighbours are held at a time: bounds memory, changes no result. */
enum { CHUNK = 1024 };

struct gpnn_localgp {
  const struct gpnn_index_contents *data;
  const struct gpnn_params *params;
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
  double *rhs;     /* 2 by m: covariances with the row, then the neighbours' targets */
};

/* One row's solve under way: what the covariance is filled from. */
struct solve {
  const struct gpnn_localgp *gp;
  struct scratch *scratch;
  size_t m, stride;
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
  if (gpnn_search_same_metric(data->d, metric, gpnn_index_search_lengthscale(index)))
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
  return gpnn_search_build(&gp->search, data->n, data->d, data->x, &options, err);
}

enum gpnn_status gpnn_localgp_new(struct gpnn_localgp **gp, const struct gpnn_index *index,
                                  const struct gpnn_params *params, size_t neighbours, int threads,
                                  struct gpnn_error *err)
{
  const struct gpnn_index_contents *data = gpnn_index_contents(index);
  bool other_index;
  enum gpnn_status status =
      gpnn_params_check(params, data->d, gpnn_index_fingerprint(index), &other_index, err);
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
    gpnn_params_expand(params, data->d, new->lengthscale);
    for (size_t j = 0; j < data->d; j++) new->inverse[j] = 1 / new->lengthscale[j];
    status = find_search(new, index, err);
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

static bool scratch_new(struct scratch *s, size_t m, size_t d)
{
  s->columns = gpnn_alloc(d, padded(m), sizeof *s->columns);
  s->point = gpnn_alloc(d, 1, sizeof *s->point);
  s->k = gpnn_alloc(m, m, sizeof *s->k);
  s->rhs = gpnn_alloc(2, m, sizeof *s->rhs);
  return s->columns != NULL && s->point != NULL && s->k != NULL && s->rhs != NULL;
}

static void scratch_release(struct scratch *s)
{
  free(s->columns);
  free(s->point);
  free(s->k);
  free(s->rhs);
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
    params->kernel->correlation(m - a, column);
    for (size_t i = 0; i < m - a; i++) column[i] *= params->kernelscale;
    column[0] += params->noise;
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
  gp->params->kernel->correlation(solve->m, cross);
  for (size_t i = 0; i < solve->m; i++) cross[i] *= gp->params->kernelscale;
}

/*
 * Copies up to m of the candidate rows that are not 'self', scaled, and their targets; sets
 * solve->m to their number.  The targets stand in the second right-hand side, whose place is
 * known only then.
 */
static void gather(struct solve *solve, size_t n_candidates, const int64_t *candidates,
                   int64_t self)
{
  const struct gpnn_localgp *gp = solve->gp;
  double *columns = solve->scratch->columns, *targets = solve->scratch->rhs;
  size_t d = gp->data->d, m = 0;
  for (size_t i = 0; i < n_candidates && m < solve->m; i++) {
    int64_t row = candidates[i];
    if (row < 0 || row == self) continue;
    const double *x = gp->data->x + (size_t)row * d;
    for (size_t j = 0; j < d; j++) columns[j * solve->stride + m] = x[j] * gp->inverse[j];
    targets[m++] = gp->data->y[row];
  }
  memmove(targets + m, targets, m * sizeof *targets);
  solve->m = m;
}

static enum gpnn_status predict_one(struct solve *solve, size_t n_candidates,
                                    const int64_t *candidates, const double *x, int64_t self,
                                    double *mean, double *latent,
                                    struct gpnn_localgp_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_params *params = solve->gp->params;
  gather(solve, n_candidates, candidates, self);
  size_t m = solve->m;
  double *k = solve->scratch->k, *v = solve->scratch->rhs, *u = v + m, jitter = 0;
  fill_covariance(solve, k);
  enum gpnn_status status =
      gpnn_cholesky_factor(m, k, params->kernelscale, fill_covariance, solve, &jitter, err);
  if (status != GPNN_OK) return status;
  fill_cross_covariance(solve, x);
  gpnn_cholesky_forward(m, k, 2, v);
  *mean = cblas_ddot((int)m, v, 1, u, 1);
  double variance = params->kernelscale - cblas_ddot((int)m, v, 1, v, 1);
  if (latent != NULL) *latent = variance > 0 ? variance : 0;
  counts->n_jittered += jitter > 0;
  counts->max_jitter = fmax(counts->max_jitter, jitter);
  counts->n_clamped += variance < 0;
  return isfinite(*mean) && isfinite(variance)
             ? GPNN_OK
             : gpnn_fail(err, GPNN_ENUMERIC, "a prediction is not finite");
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

static void predict_chunk(const struct gpnn_localgp *gp, struct scratch *scratch, size_t n_rows,
                          const double *x, const int64_t *self, size_t n_candidates,
                          const int64_t *candidates, double *mean, double *latent,
                          struct gpnn_localgp_counts *counts, struct outcome *outcome)
{
#pragma omp parallel num_threads(gp->threads)
  {
    struct gpnn_localgp_counts own = {0};
    struct solve solve = {.gp = gp, .scratch = &scratch[omp_get_thread_num()]};
#pragma omp for schedule(dynamic, 8)
    for (size_t i = 0; i < n_rows; i++) {
      struct gpnn_error error = {0};
      solve.m = gp->neighbours;
      solve.stride = padded(solve.m);
      enum gpnn_status status = predict_one(
          &solve, n_candidates, candidates + i * n_candidates, x + i * gp->data->d,
          self == NULL ? -1 : self[i], &mean[i], latent == NULL ? NULL : &latent[i], &own, &error);
      if (status == GPNN_OK) continue;
#pragma omp critical(gpnn_localgp)
      if (outcome->status == GPNN_OK || i < outcome->row)
        *outcome = (struct outcome){status, i, error};
    }
#pragma omp critical(gpnn_localgp)
    add_counts(counts, &own);
  }
}

enum gpnn_status gpnn_localgp_predict(const struct gpnn_localgp *gp, size_t n_rows, const double *x,
                                      const int64_t *self, double *mean, double *latent,
                                      struct gpnn_localgp_counts *counts, struct gpnn_error *err)
{
  size_t d = gp->data->d, chunk = n_rows < CHUNK ? n_rows : CHUNK;
  size_t k = gp->neighbours + (self != NULL && gp->neighbours < gp->data->n);
  int64_t *candidates = gpnn_alloc(chunk, k, sizeof *candidates);
  double *distances = gpnn_alloc(chunk, k, sizeof *distances);
  struct scratch *scratch = calloc((size_t)gp->threads, sizeof *scratch);
  struct outcome outcome = {.status = GPNN_OK};
  bool enough = candidates != NULL && distances != NULL && scratch != NULL;
  for (int t = 0; enough && t < gp->threads; t++)
    enough = scratch_new(&scratch[t], gp->neighbours, d);
  if (!enough) outcome.status = gpnn_fail_memory(&outcome.error, "for predictions");
  for (size_t begin = 0; begin < n_rows && outcome.status == GPNN_OK; begin += chunk) {
    size_t n = n_rows - begin < chunk ? n_rows - begin : chunk;
    outcome.status = gpnn_search_query(gp->search, n, x + begin * d, k, candidates, distances,
                                       gp->threads, &outcome.error);
    if (outcome.status != GPNN_OK) break;
    predict_chunk(gp, scratch, n, x + begin * d, self == NULL ? NULL : self + begin, k, candidates,
                  mean + begin, latent == NULL ? NULL : latent + begin, counts, &outcome);
  }
  if (outcome.status != GPNN_OK && err != NULL) *err = outcome.error;
  for (int t = 0; scratch != NULL && t < gp->threads; t++) scratch_release(&scratch[t]);
  free(scratch);
  free(distances);
  free(candidates);
  return outcome.status;
}
