#include "models/tucker/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/missing.h"
#include "linalg/blas.h"
#include "models/tucker/tucker_private.h"

#define MEMORY_FOR "for a grid of inducing points"

/* Rows that lengthscales and covariance are tuned on, at most; evaluations for it after each sweep,
 * and at the end. */
enum { TUNED_ROWS = 8192, TUNE_LENGTHSCALES = 10, TUNE_COVARIANCE = 5, TUNE_LAST = 100 };

/* Least squares have converged when a sweep gains less than this share; directions of the core
 * shorter than this share of the longest are dropped; the variance is no use where more than this
 * share of what the grid explains is left. */
#define CONVERGED 1e-5
#define NEGLIGIBLE 1e-3
#define USELESS 0.1

struct gpnn_tucker_options gpnn_tucker_usual_options(void)
{
  return (struct gpnn_tucker_options){.n_sizes = 1,
                                      .n_ranks = 1,
                                      .size = {10},
                                      .rank = {2},
                                      .most_core = 1024,
                                      .margin = 0.05,
                                      .kernel = gpnn_kernel_by_name("rbf"),
                                      .n_sweeps = 30,
                                      .noise = 0.1,
                                      .kernelscale = 1,
                                      .jitter = GPNN_TUCKER_JITTER,
                                      .threads = 1};
}

/* All that a fit works with. */
struct fit {
  const struct gpnn_dataset *view;
  const struct gpnn_tucker_options *options;
  struct gpnn_tucker t; /* owned */
  struct gpnn_tucker_groups groups;
  uint32_t group[GPNN_TUCKER_DIMENSIONS];
  struct gpnn_tucker_data data, sample; /* all rows; those tuned on */
  uint64_t *row;                        /* owned; of the sample */
  struct gpnn_tucker_als *als;          /* owned */
  struct gpnn_tucker_bound *bound;      /* owned */
  struct gpnn_tucker_value value;       /* of all rows */
  struct gpnn_tucker_report *report;
};

static void release(struct fit *f)
{
  gpnn_tucker_als_free(f->als);
  gpnn_tucker_bound_free(f->bound);
  gpnn_tucker_release(&f->t);
  free(f->row);
}

/* ---- the grid ------------------------------------------------------------------------------ */

static enum gpnn_status check(const struct gpnn_dataset *view, const struct gpnn_tucker_options *o,
                              struct gpnn_error *err)
{
  if (view->n == 0) return gpnn_fail(err, GPNN_EDATA, "there is no row to estimate from");
  if (view->d == 0) return gpnn_fail(err, GPNN_EDATA, "a grid needs an input that varies");
  if (view->d > GPNN_TUCKER_DIMENSIONS)
    return gpnn_fail(err, GPNN_EDATA, "a grid has at most %d dimensions, and there are %zu inputs",
                     GPNN_TUCKER_DIMENSIONS, view->d);
  if (o->n_sizes != 1 && o->n_sizes != view->d)
    return gpnn_fail(err, GPNN_EDATA, "%zu grid sizes for %zu inputs", o->n_sizes, view->d);
  if (o->n_ranks != 1 && o->n_ranks != view->d)
    return gpnn_fail(err, GPNN_EDATA, "%zu ranks for %zu inputs", o->n_ranks, view->d);
  return GPNN_OK;
}

/* Lowers the highest rank until the core is small enough. */
static void cap_core(struct gpnn_tucker_shape *shape, size_t most)
{
  while (most > 0 && gpnn_tucker_core_size(shape) > most) {
    size_t highest = 0;
    for (size_t l = 1; l < shape->p; l++)
      if (shape->q[l] >= shape->q[highest]) highest = l;
    if (shape->q[highest] == 1) return;
    shape->q[highest]--;
  }
}

/* Makes the model, with its points at their places. */
static enum gpnn_status make_grid(struct fit *f, struct gpnn_error *err)
{
  const struct gpnn_tucker_options *o = f->options;
  size_t p = f->view->d;
  struct gpnn_tucker_shape shape = {.p = p, .is_diagonal = o->is_sum};
  double *points = gpnn_alloc(p, GPNN_TUCKER_MOST_POINTS, sizeof *points);
  enum gpnn_status status = points == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : GPNN_OK;
  for (size_t l = 0; l < p && status == GPNN_OK; l++) {
    size_t rank = o->rank[o->n_ranks == 1 ? 0 : l];
    shape.m[l] =
        gpnn_tucker_place(f->view->n, p, l, f->view->x, o->at_quantiles, o->margin,
                          o->size[o->n_sizes == 1 ? 0 : l], points + l * GPNN_TUCKER_MOST_POINTS);
    if (shape.m[l] == SIZE_MAX) status = gpnn_fail_memory(err, MEMORY_FOR);
    shape.q[l] = o->is_sum || rank < shape.m[l] ? rank : shape.m[l];
  }
  if (!o->is_sum) cap_core(&shape, o->most_core);
  if (status == GPNN_OK) status = gpnn_tucker_new(&f->t, &shape, o->kernel, err);
  for (size_t l = 0; l < p && status == GPNN_OK; l++)
    memcpy(f->t.points[l], points + l * GPNN_TUCKER_MOST_POINTS, shape.m[l] * sizeof *points);
  free(points);
  return status;
}

static enum gpnn_status allocate(struct fit *f, struct gpnn_error *err)
{
  gpnn_tucker_als_free(f->als);
  gpnn_tucker_bound_free(f->bound);
  f->als = NULL;
  f->bound = NULL;
  int threads = f->options->threads;
  enum gpnn_status status =
      gpnn_tucker_als_new(&f->als, &f->t, GPNN_TUCKER_MOST_DENSE, threads, err);
  return status == GPNN_OK ? gpnn_tucker_bound_new(&f->bound, &f->t, threads, err) : status;
}

static enum gpnn_status prepare(struct fit *f, struct gpnn_error *err)
{
  const struct gpnn_dataset *view = f->view;
  enum gpnn_status status = make_grid(f, err);
  if (status != GPNN_OK) return status;
  f->t.jitter = f->options->jitter;
  f->t.has_covariance = !f->options->has_prior_covariance;
  f->t.numbers[f->t.kernelscale] = log(f->options->kernelscale);
  f->t.numbers[f->t.noise] = log(f->options->noise);
  for (size_t l = 0; l < view->d; l++)
    f->group[l] = view->group == NULL ? (uint32_t)l : view->group[l];
  f->groups = (struct gpnn_tucker_groups){view->group == NULL ? view->d : view->n_groups, f->group};
  f->data = (struct gpnn_tucker_data){
      .n = view->n, .x = view->x, .y = view->y, .weight = 1, .threads = f->options->threads};
  f->sample = f->data;
  if (view->n > TUNED_ROWS) {
    struct gpnn_rng rng;
    gpnn_rng_init(&rng, f->options->seed, GPNN_RNG_TUCKER_SAMPLE);
    f->sample.row = f->row = gpnn_alloc(TUNED_ROWS, 1, sizeof *f->row);
    if (f->row == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
    f->sample.n = TUNED_ROWS;
    f->sample.weight = (double)view->n / TUNED_ROWS;
    status = gpnn_rng_sample(&rng, view->n, TUNED_ROWS, f->row, err);
  }
  return status;
}

/* ---- progress ------------------------------------------------------------------------------ */

static void tell(const struct fit *f, size_t sweep, const struct gpnn_tucker_value *value)
{
  const struct gpnn_tucker *t = &f->t;
  double lengthscale[GPNN_TUCKER_DIMENSIONS];
  if (f->options->progress == NULL) return;
  for (size_t l = 0; l < t->shape.p; l++) lengthscale[l] = exp(t->numbers[t->lengthscale + l]);
  const struct gpnn_tucker_progress progress = {.sweep = sweep,
                                                .bound = value->bound,
                                                .rmse = sqrt(value->squares / (double)f->data.n),
                                                .p = t->shape.p,
                                                .lengthscale = lengthscale,
                                                .kernelscale = exp(t->numbers[t->kernelscale]),
                                                .noise = exp(t->numbers[t->noise]),
                                                .shrinkage = value->shrinkage};
  f->options->progress(f->options->progress_context, &progress);
}

static enum gpnn_status evaluate(struct fit *f, struct gpnn_error *err)
{
  return gpnn_tucker_bound_at(f->bound, &f->t, &f->data, &f->value, NULL, err);
}

/* ---- least squares in turn ----------------------------------------------------------------- */

/* Kernel scale and noise variance in closed form (17.48). */
static enum gpnn_status free_scales(struct fit *f, struct gpnn_error *err)
{
  struct gpnn_tucker *t = &f->t;
  double noise = exp(t->numbers[t->noise]);
  if (f->options->frees_kernelscale && f->value.left > 0 && f->value.quadratic > 0)
    t->numbers[t->kernelscale] = 0.5 * log(noise * f->value.quadratic / f->value.left);
  double left = exp(t->numbers[t->kernelscale]) * f->value.left;
  if (f->options->frees_noise)
    t->numbers[t->noise] = log(fmax(1e-6, (f->value.squares + left) / (double)f->data.n));
  return f->options->frees_kernelscale || f->options->frees_noise ? evaluate(f, err) : GPNN_OK;
}

static enum gpnn_status tune(struct fit *f, enum gpnn_tucker_tuned what, size_t most,
                             struct gpnn_error *err)
{
  return gpnn_tucker_tune(f->bound, &f->t, &f->sample, &f->groups, what, most, err);
}

static enum gpnn_status sweep(struct fit *f, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_tucker_als_set(f->als, &f->t, err);
  if (status == GPNN_OK) status = gpnn_tucker_als_sweep(f->als, &f->t, &f->data, err);
  if (status == GPNN_OK && f->t.has_covariance)
    status = tune(f, GPNN_TUCKER_TUNED_COVARIANCE, TUNE_COVARIANCE, err);
  if (status == GPNN_OK) status = evaluate(f, err);
  return status == GPNN_OK ? free_scales(f, err) : status;
}

/* What least squares make small. */
static double loss(const struct fit *f)
{
  return f->value.squares / exp(f->t.numbers[f->t.noise]) +
         f->value.quadratic / exp(f->t.numbers[f->t.kernelscale]);
}

static enum gpnn_status sweep_until_converged(struct fit *f, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  double last = INFINITY;
  for (size_t s = 0; s < f->options->n_sweeps && status == GPNN_OK; s++) {
    if (s > 0) status = tune(f, GPNN_TUCKER_TUNED_LENGTHSCALES, TUNE_LENGTHSCALES, err);
    if (status == GPNN_OK) status = sweep(f, err);
    if (status != GPNN_OK) return status;
    tell(f, s + 1, &f->value);
    f->report->n_sweeps = s + 1;
    f->report->converged = fabs(last - loss(f)) < CONVERGED * last;
    if (f->report->converged) return GPNN_OK;
    last = loss(f);
  }
  return status;
}

/* Drops directions that hardly matter; what is left is solved for again. */
static enum gpnn_status lower_ranks(struct fit *f, struct gpnn_error *err)
{
  size_t before = f->t.n_core;
  enum gpnn_status status = gpnn_tucker_reduce(&f->t, NEGLIGIBLE, err);
  if (status != GPNN_OK || f->t.n_core == before) return status;
  status = allocate(f, err);
  return status == GPNN_OK ? sweep(f, err) : status;
}

static enum gpnn_status alternate(struct fit *f, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_tucker_choose(&f->t, &f->data, &f->groups, f->options->seed, err);
  if (status == GPNN_OK) status = allocate(f, err);
  if (status == GPNN_OK) status = sweep_until_converged(f, err);
  if (status == GPNN_OK) status = lower_ranks(f, err);
  if (status == GPNN_OK && f->t.has_covariance)
    status = tune(f, GPNN_TUCKER_TUNED_COVARIANCE, TUNE_LAST, err);
  return status;
}

/* ---- results ------------------------------------------------------------------------------- */

/* The mean squared residual of the rows held out, those that lack no inputs, or if there are none
 * of the training rows. */
static enum gpnn_status find_residual(struct fit *f, double *residual, struct gpnn_error *err)
{
  const struct gpnn_dataset *view = f->view;
  struct gpnn_tucker_value value = f->value;
  uint64_t *complete = gpnn_alloc(view->n_calibration, 1, sizeof *complete);
  if (complete == NULL) return gpnn_fail_memory(err, "for the residuals");
  struct gpnn_tucker_data data = {.x = view->calibration_x,
                                  .y = view->calibration_y,
                                  .row = complete,
                                  .weight = f->data.weight,
                                  .threads = f->data.threads};
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < view->n_calibration; i++)
    if (!gpnn_row_is_incomplete(view->d, view->calibration_x + i * view->d)) complete[data.n++] = i;
  if (data.n > 0) status = gpnn_tucker_bound_at(f->bound, &f->t, &data, &value, NULL, err);
  if (status == GPNN_OK) *residual = value.squares / (double)(data.n > 0 ? data.n : f->data.n);
  free(complete);
  return status;
}

static enum gpnn_status finish_report(struct fit *f, struct gpnn_error *err)
{
  struct gpnn_tucker_report *report = f->report;
  enum gpnn_status status = evaluate(f, err);
  if (status == GPNN_OK) status = find_residual(f, &report->residual, err);
  if (status != GPNN_OK) return status;
  report->shape = f->t.shape;
  report->bound = f->value.bound;
  report->rmse = sqrt(f->value.squares / (double)f->data.n);
  report->shrinkage = f->value.shrinkage;
  report->jitter = f->t.jitter;
  report->n_points = f->t.n_points;
  report->variance = f->options->variance;
  if (report->variance == GPNN_TUCKER_VARIANCE_AUTO)
    report->variance = report->shrinkage > USELESS ? GPNN_TUCKER_RESIDUAL : GPNN_TUCKER_VARIATIONAL;
  return GPNN_OK;
}

static enum gpnn_status keep_parameters(const struct fit *f, struct gpnn_parameters *params,
                                        struct gpnn_error *err)
{
  const struct gpnn_tucker *t = &f->t;
  double noise = exp(t->numbers[t->noise]);
  bool is_constant = f->report->variance == GPNN_TUCKER_RESIDUAL;
  params->family = GPNN_FAMILY_TUCKER;
  params->likelihood = GPNN_LIKELIHOOD_LOCAL;
  params->provenance.fit_rows = f->view->n;
  params->covariance =
      (struct gpnn_covariance){.kernel = t->kernel,
                               .n_lengthscales = f->groups.n,
                               .lengthscale = gpnn_alloc(f->groups.n, 1, sizeof(double)),
                               .kernelscale = exp(t->numbers[t->kernelscale]),
                               .noise = is_constant ? fmin(noise, f->report->residual) : noise};
  if (params->covariance.lengthscale == NULL) return gpnn_fail_memory(err, "for parameters");
  for (size_t l = 0; l < t->shape.p; l++)
    params->covariance.lengthscale[f->group[l]] = exp(t->numbers[t->lengthscale + l]);
  return gpnn_parameters_comment(params, err,
                                 "bound %.2f, rmse %.4f, covariance-shrinkage %.3g, residual "
                                 "variance of rows held out %.4g",
                                 f->report->bound, f->report->rmse, f->report->shrinkage,
                                 f->report->residual);
}

static enum gpnn_status keep(const struct fit *f, struct gpnn_parameters *params,
                             struct gpnn_state *arrays, struct gpnn_error *err)
{
  const char *target = f->view->schema.target.name;
  enum gpnn_status status = keep_parameters(f, params, err);
  if (status == GPNN_OK) status = gpnn_tucker_store(&f->t, target, arrays, err);
  if (status == GPNN_OK && f->report->variance == GPNN_TUCKER_RESIDUAL)
    status =
        gpnn_state_add(arrays, target, GPNN_TUCKER_RESIDUAL_VARIANCE, 1, &f->report->residual, err);
  if (status != GPNN_OK) gpnn_parameters_release(params);
  return status;
}

enum gpnn_status gpnn_tucker_fit(const struct gpnn_dataset *view,
                                 const struct gpnn_tucker_options *options,
                                 struct gpnn_parameters *params, struct gpnn_state *arrays,
                                 struct gpnn_tucker_report *report, struct gpnn_error *err)
{
  struct fit f = {.view = view, .options = options, .report = report};
  *report = (struct gpnn_tucker_report){0};
  enum gpnn_status status = check(view, options, err);
  if (status == GPNN_OK) status = prepare(&f, err);
  if (status == GPNN_OK) status = alternate(&f, err);
  if (status == GPNN_OK) status = finish_report(&f, err);
  if (status == GPNN_OK) status = keep(&f, params, arrays, err);
  release(&f);
  return status;
}

/* ---- lower ranks --------------------------------------------------------------------------- */

/* A model of rank 'q' in one dimension and as before in the others. */
static enum gpnn_status shrink(struct gpnn_tucker *t, size_t l, size_t q, const double *vectors,
                               double *work, struct gpnn_error *err)
{
  struct gpnn_tucker_shape shape = t->shape;
  struct gpnn_tucker to;
  shape.q[l] = q;
  enum gpnn_status status = gpnn_tucker_new(&to, &shape, t->kernel, err);
  if (status != GPNN_OK) return status;
  size_t m = shape.m[l], before = t->shape.q[l];
  to.jitter = t->jitter;
  to.has_covariance = t->has_covariance;
  memcpy(to.grid, t->grid, t->n_grid * sizeof *t->grid);
  memcpy(to.numbers + to.rho[0], t->numbers + t->rho[0],
         (t->n_numbers - t->rho[0]) * sizeof *t->numbers);
  for (size_t k = 0; k < shape.p; k++)
    if (k != l)
      memcpy(to.numbers + to.factor[k], t->numbers + t->factor[k],
             shape.m[k] * shape.q[k] * sizeof *t->numbers);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)q, (int)before, 1,
              t->numbers + t->factor[l], (int)before, vectors, (int)before, 0,
              to.numbers + to.factor[l], (int)q);
  gpnn_tucker_core_transform(&t->shape, l, q, vectors, t->numbers, work);
  memcpy(to.numbers, t->numbers, to.n_core * sizeof *t->numbers);
  gpnn_tucker_release(t);
  *t = to;
  return GPNN_OK;
}

/* Eigenvectors of the unfolding times its transpose, the greatest first, as rows. */
static enum gpnn_status find_vectors(const struct gpnn_tucker *t, size_t l, double *vectors,
                                     double *values, double *work, struct gpnn_error *err)
{
  size_t q = t->shape.q[l];
  double *gram = gpnn_alloc(q, q, sizeof *gram), *g[GPNN_TUCKER_DIMENSIONS] = {NULL};
  lapack_int info = 0;
  bool has_memory = gram != NULL;
  for (size_t k = 0; k < t->shape.p && has_memory; k++) {
    has_memory = (g[k] = gpnn_alloc(t->shape.q[k], t->shape.q[k], sizeof *gram)) != NULL;
    for (size_t j = 0; j < t->shape.q[k] && has_memory; j++) g[k][j * (t->shape.q[k] + 1)] = 1;
  }
  if (has_memory) {
    gpnn_tucker_core_gram(&t->shape, l, t->numbers, (const double *const *)g, gram, work);
    info = LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', (int)q, gram, (int)q, values);
    for (size_t a = 0; a < q; a++)
      memcpy(vectors + a * q, gram + (q - 1 - a) * q, q * sizeof *vectors);
  }
  for (size_t k = 0; k < t->shape.p; k++) free(g[k]);
  free(gram);
  if (!has_memory) return gpnn_fail_memory(err, "for the ranks of a grid");
  return info == 0 ? GPNN_OK : gpnn_fail(err, GPNN_ENUMERIC, "the ranks of a grid cannot be found");
}

static enum gpnn_status reduce(struct gpnn_tucker *t, size_t l, double share,
                               struct gpnn_error *err)
{
  size_t q = t->shape.q[l], kept = 1;
  double *work = gpnn_alloc(gpnn_tucker_core_work(&t->shape), 1, sizeof *work);
  double *vectors = gpnn_alloc(q, q + 1, sizeof *vectors);
  enum gpnn_status status = work == NULL || vectors == NULL
                                ? gpnn_fail_memory(err, "for the ranks of a grid")
                                : find_vectors(t, l, vectors, vectors + q * q, work, err);
  if (status == GPNN_OK) {
    const double *values = vectors + q * q; /* ascending */
    while (kept < q && values[q - 1 - kept] > share * share * values[q - 1]) kept++;
    if (kept < q) status = shrink(t, l, kept, vectors, work, err);
  }
  free(work);
  free(vectors);
  return status;
}

enum gpnn_status gpnn_tucker_reduce(struct gpnn_tucker *tucker, double share,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t l = 0; l < tucker->shape.p && !tucker->shape.is_diagonal && status == GPNN_OK; l++)
    status = reduce(tucker, l, share, err);
  return status;
}
