#include "models/inducing/collapsed/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/optimize.h"
#include "models/inducing/collapsed/collapsed.h"

#define MEMORY_FOR "for inducing points"

struct gpnn_collapsed_options gpnn_collapsed_default_options(void)
{
  return (struct gpnn_collapsed_options){
      .start = gpnn_collapsed_start_defaults(), .inducing = 1024, .how = GPNN_INDUCING_KMEANS};
}

/* What an estimation makes. */
struct fit {
  const struct gpnn_dataset *view;
  const struct gpnn_collapsed_options *options;
  struct gpnn_covariance *covariance; /* of the parameters */
  size_t m, rank;
  double *z, *weights, *root; /* owned; m by d; m; m by m */
  double *u, *exponential;    /* owned; of steps on all rows */
  struct gpnn_collapsed *collapsed;
};

static void fit_release(struct fit *f)
{
  gpnn_collapsed_free(f->collapsed);
  free(f->z);
  free(f->weights);
  free(f->root);
  free(f->u);
  free(f->exponential);
}

/* The inducing points, and memory for as many as there are. */
static enum gpnn_status choose(struct fit *f, struct gpnn_error *err)
{
  const struct gpnn_collapsed_options *o = f->options;
  size_t d = f->view->d, width = f->covariance->n_lengthscales + 2;
  enum gpnn_status status = GPNN_OK;
  f->z = gpnn_alloc(o->inducing, d, sizeof *f->z);
  if (f->z == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  if (o->z != NULL) {
    memcpy(f->z, o->z, o->inducing * d * sizeof *f->z);
    status = gpnn_inducing_distinct(o->inducing, d, f->z, &f->m, err);
  } else
    status = gpnn_inducing_choose(o->how, f->view, f->covariance, o->inducing, o->start.seed,
                                  o->start.threads, f->z, &f->m, err);
  if (status != GPNN_OK) return status;
  f->weights = gpnn_alloc(f->m, 1, sizeof *f->weights);
  f->root = gpnn_alloc(f->m, f->m, sizeof *f->root);
  f->u = gpnn_alloc(width, 3, sizeof *f->u);
  f->exponential = gpnn_alloc(width, 1, sizeof *f->exponential);
  return f->weights && f->root && f->u && f->exponential ? GPNN_OK
                                                         : gpnn_fail_memory(err, MEMORY_FOR);
}

static struct gpnn_cross_problem problem_of(const struct fit *f)
{
  return (struct gpnn_cross_problem){.m = f->m,
                                     .d = f->view->d,
                                     .z = f->z,
                                     .kernel = f->covariance->kernel,
                                     .smoothness = f->covariance->smoothness,
                                     .n_lengthscales = f->covariance->n_lengthscales,
                                     .group = f->view->group};
}

static struct gpnn_collapsed_data data_of(const struct fit *f)
{
  return (struct gpnn_collapsed_data){f->view->n, f->view->x, f->view->y, GPNN_COLLAPSED_JITTER,
                                      f->options->start.threads};
}

/* ---- steps on all rows -------------------------------------------------------------------- */

/* Minus the bound of all rows at the logarithms of lengthscales, kernel scale and noise variance.
 */
static enum gpnn_status evaluate(void *context, size_t n, const double *u, double *value,
                                 double *gradient, struct gpnn_error *err)
{
  struct fit *f = context;
  for (size_t j = 0; j < n; j++) f->exponential[j] = exp(u[j]);
  const struct gpnn_collapsed_parameters at = {f->exponential, f->exponential[n - 2],
                                               f->exponential[n - 1]};
  enum gpnn_status status = gpnn_collapsed_bound(f->collapsed, &at, value, gradient, err);
  if (status != GPNN_OK) return status;
  *value = -*value;
  for (size_t j = 0; j < n && gradient != NULL; j++) gradient[j] = -gradient[j];
  return GPNN_OK;
}

static enum gpnn_status improve(struct fit *f, struct gpnn_error *err)
{
  const struct gpnn_collapsed_start_options *start = &f->options->start;
  const double reach = 4; /* the sample has found the order of magnitude */
  struct gpnn_covariance *covariance = f->covariance;
  size_t width = covariance->n_lengthscales, n = width + 2;
  double *lower = f->u + n, *upper = lower + n;
  struct gpnn_optimize_report report;
  for (size_t j = 0; j < n; j++) {
    bool fixed = j == width + 1 ? start->fixes_noise
                 : j == width   ? start->fixes_kernelscale
                                : start->fixes_lengthscales;
    f->u[j] = log(j == width + 1 ? covariance->noise
                  : j == width   ? covariance->kernelscale
                                 : covariance->lengthscale[j]);
    lower[j] = f->u[j] - (fixed ? 0 : reach);
    upper[j] = f->u[j] + (fixed ? 0 : reach);
  }
  enum gpnn_status status =
      gpnn_optimize_lbfgs(evaluate, f, n, f->options->steps, 0, lower, upper, f->u, &report, err);
  for (size_t j = 0; j < width && status == GPNN_OK; j++) covariance->lengthscale[j] = exp(f->u[j]);
  if (status != GPNN_OK) return status;
  covariance->kernelscale = exp(f->u[width]);
  covariance->noise = exp(f->u[width + 1]);
  return GPNN_OK;
}

/* ---- batches of rows ---------------------------------------------------------------------- */

/* Parameters and posterior by batches, from those of the sample. */
static enum gpnn_status take_batches(struct fit *f, double *bound, struct gpnn_error *err)
{
  const struct gpnn_cross_problem problem = problem_of(f);
  const struct gpnn_collapsed_data data = data_of(f);
  struct gpnn_covariance *covariance = f->covariance;
  size_t width = covariance->n_lengthscales;
  for (size_t j = 0; j < width; j++) f->u[j] = log(covariance->lengthscale[j]);
  f->u[width] = log(covariance->kernelscale);
  f->u[width + 1] = log(covariance->noise);
  enum gpnn_status status = gpnn_svgp_fit(&problem, &data, f->options->batches, f->u, bound,
                                          f->weights, f->root, &f->rank, err);
  if (status != GPNN_OK) return status;
  for (size_t j = 0; j < width; j++) covariance->lengthscale[j] = exp(f->u[j]);
  covariance->kernelscale = exp(f->u[width]);
  covariance->noise = exp(f->u[width + 1]);
  return GPNN_OK;
}

/* ---- the result --------------------------------------------------------------------------- */

/* Kernel scale, noise variance and posterior of all rows. */
static enum gpnn_status conclude(struct fit *f, double *bound, struct gpnn_error *err)
{
  const struct gpnn_collapsed_start_options *start = &f->options->start;
  struct gpnn_covariance *covariance = f->covariance;
  bool rescales = !start->fixes_kernelscale && !start->fixes_noise;
  struct gpnn_collapsed_parameters at = {covariance->lengthscale, covariance->kernelscale,
                                         covariance->noise};
  enum gpnn_status status = gpnn_collapsed_posterior(f->collapsed, &at, rescales, bound, f->weights,
                                                     f->root, &f->rank, err);
  covariance->kernelscale = at.kernelscale;
  covariance->noise = at.noise;
  return status;
}

static enum gpnn_status keep(const struct fit *f, struct gpnn_state *arrays, struct gpnn_error *err)
{
  const struct gpnn_inducing_arrays model = {.m = f->m,
                                             .d = f->view->d,
                                             .rank = f->rank,
                                             .points = f->z,
                                             .weights = f->weights,
                                             .root = f->root};
  return gpnn_inducing_keep(&model, f->view->schema.target.name, arrays, err);
}

/* Parameters and posterior from passes over all rows. */
static enum gpnn_status take_all(struct fit *f, double *bound, struct gpnn_error *err)
{
  const struct gpnn_cross_problem problem = problem_of(f);
  const struct gpnn_collapsed_data data = data_of(f);
  enum gpnn_status status = gpnn_collapsed_new(&f->collapsed, &problem, &data, err);
  if (status == GPNN_OK && f->options->steps > 0) status = improve(f, err);
  return status == GPNN_OK ? conclude(f, bound, err) : status;
}

enum gpnn_status gpnn_collapsed_fit(const struct gpnn_dataset *view,
                                    const struct gpnn_collapsed_options *options,
                                    struct gpnn_parameters *params, struct gpnn_state *arrays,
                                    struct gpnn_collapsed_report *report, struct gpnn_error *err)
{
  struct fit f = {.view = view, .options = options, .covariance = &params->covariance};
  *report = (struct gpnn_collapsed_report){0};
  params->family = options->batches == NULL ? GPNN_FAMILY_COLLAPSED : GPNN_FAMILY_SVGP;
  params->likelihood = GPNN_LIKELIHOOD_LOCAL;
  params->provenance.fit_rows = view->n;
  enum gpnn_status status =
      gpnn_collapsed_start(view, &options->start, f.covariance, &report->evaluations, err);
  if (status == GPNN_OK) status = choose(&f, err);
  if (status == GPNN_OK)
    status = options->batches == NULL ? take_all(&f, &report->bound, err)
                                      : take_batches(&f, &report->bound, err);
  if (status == GPNN_OK) status = keep(&f, arrays, err);
  report->inducing = f.m;
  report->rank = f.rank;
  fit_release(&f);
  return status;
}
