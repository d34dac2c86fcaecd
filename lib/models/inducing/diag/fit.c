#include "models/inducing/diag/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/inducing/diag/diag_private.h"

/* ---- options ------------------------------------------------------------------------------ */

struct gpnn_diag_options gpnn_diag_default_options(void)
{
  return (struct gpnn_diag_options){.kernel = gpnn_kernel_by_name("rbf"),
                                    .ard = true,
                                    .m = 1024,
                                    .seed = 1,
                                    .threads = 1,
                                    .from_sample = true,
                                    .start = gpnn_collapsed_start_defaults(),
                                    .batch = 256,
                                    .probes = 8,
                                    .head = 1e-2,
                                    .tolerance = 1e-6,
                                    .rate = 0.005,
                                    .iterations = 50,
                                    .polish = true};
}

struct gpnn_diag_options gpnn_diag_published_options(void)
{
  struct gpnn_diag_options options = gpnn_diag_default_options();
  options.from_sample = false;
  options.solver = GPNN_DIAG_SOLVER_CG;
  options.truncation = GPNN_TRUNCATION_QUADRATIC;
  options.optimizer = GPNN_DIAG_ADAGRAD;
  options.rate = 0.3;
  options.iterations = 25000;
  options.warmup = 500;
  options.polish = false;
  return options;
}

static enum gpnn_status check(const struct gpnn_dataset *view,
                              const struct gpnn_diag_options *options, struct gpnn_error *err)
{
  if (view->n < 2) return gpnn_fail(err, GPNN_EINVAL, "at least two training rows are needed");
  if (options->m == 0 || options->batch == 0 || options->probes == 0)
    return gpnn_fail(err, GPNN_EINVAL,
                     "inducing points, rows of a batch and probes must be at least 1");
  if (!(options->tolerance > 0 && options->tolerance < options->head && options->head < 1))
    return gpnn_fail(err, GPNN_EINVAL,
                     "the tolerance must be above 0, below that of the head, and that below 1");
  if (!(options->rate > 0 && isfinite(options->rate) && options->beta >= 0 &&
        isfinite(options->beta)))
    return gpnn_fail(err, GPNN_EINVAL, "rates must be positive");
  return GPNN_OK;
}

/* ---- the point ---------------------------------------------------------------------------- */

size_t gpnn_diag_most_steps(const struct gpnn_diag_problem *problem)
{
  return problem->m < 50 ? 50 : problem->m > 1000 ? 1000 : problem->m;
}

static void fill(size_t n, double value, double *x)
{
  for (size_t i = 0; i < n; i++) x[i] = value;
}

void gpnn_diag_bounds(const struct gpnn_diag_problem *problem, double kernelscale, double *lower,
                      double *upper)
{
  size_t m = problem->m, logs = gpnn_diag_lengthscale(problem), n = problem->n_lengthscales;
  double least_noise = gpnn_kernel_least_noise(problem->kernel, problem->smoothness);
  fill(m, -INFINITY, lower);
  fill(m, INFINITY, upper);
  fill(m, log(1e-6 * kernelscale), lower + m);
  fill(m, log(1e6 * kernelscale), upper + m);
  fill(n, log(1e-3), lower + logs);
  fill(n, log(1e4), upper + logs);
  lower[logs + n] = log(1e-4);
  upper[logs + n] = log(1e4);
  lower[logs + n + 1] = log(least_noise);
  upper[logs + n + 1] = log(1e2);
}

/* What is exact for rho where every row is an inducing input. */
static void start_rho(const struct gpnn_diag_problem *p, double *point)
{
  double lowest = point[gpnn_diag_kernelscale(p)] + log(1e-6);
  double rho = point[gpnn_diag_noise(p)] + log((double)p->m / (double)p->n);
  fill(p->m, fmax(rho, lowest), point + gpnn_diag_rho(p));
}

/* Where the descent begins: at 'covariance', or where the publication does if that is NULL. */
static enum gpnn_status start(struct gpnn_diag *diag, const struct gpnn_diag_problem *p,
                              const struct gpnn_covariance *covariance, double *point,
                              struct gpnn_diag_report *report, struct gpnn_error *err)
{
  double *lengthscale = point + gpnn_diag_lengthscale(p);
  fill(p->n_lengthscales, log((double)p->d) / 2, lengthscale);
  point[gpnn_diag_kernelscale(p)] = covariance == NULL ? 0 : log(covariance->kernelscale);
  point[gpnn_diag_noise(p)] = log(covariance == NULL ? 0.1 : covariance->noise);
  for (size_t l = 0; covariance != NULL && l < p->n_lengthscales; l++)
    lengthscale[l] = log(covariance->lengthscale[l]);
  start_rho(p, point);
  return covariance == NULL ? GPNN_OK
                            : gpnn_diag_optimal_mean(diag, point, gpnn_diag_affordable_rows(p),
                                                     1e-6, &report->mean_residual, err);
}

static enum gpnn_status polish(struct gpnn_diag *diag, const struct gpnn_diag_problem *p,
                               const struct gpnn_diag_options *options, double *point,
                               struct gpnn_diag_report *report, struct gpnn_error *err)
{
  struct gpnn_diag_batch all = gpnn_diag_all(p);
  double operations = (double)p->m * (double)p->m * (double)(p->n + p->m);
  enum gpnn_status status = gpnn_diag_optimal_mean(diag, point, gpnn_diag_affordable_rows(p), 1e-6,
                                                   &report->mean_residual, err);
  if (status == GPNN_OK) status = gpnn_diag_polish_covariance(diag, options, point, report, err);
  if (status == GPNN_OK && report->cholesky && operations < GPNN_DIAG_MOST_OPERATIONS)
    status = gpnn_diag_bound(diag, point, &all, &report->bound, NULL, err);
  return status;
}

/* ---- results ------------------------------------------------------------------------------ */

static enum gpnn_status keep_arrays(const struct gpnn_dataset *view,
                                    const struct gpnn_diag_problem *p, const double *point,
                                    struct gpnn_state *arrays, struct gpnn_error *err)
{
  const char *target = view->schema.target.name;
  enum gpnn_status status = gpnn_state_add(arrays, target, "inducing", p->m * p->d, p->z, err);
  if (status == GPNN_OK) status = gpnn_state_add(arrays, target, "weights", p->m, point, err);
  if (status == GPNN_OK)
    status = gpnn_state_add(arrays, target, "rho", p->m, point + gpnn_diag_rho(p), err);
  return status;
}

static enum gpnn_status keep_covariance(const struct gpnn_diag_problem *p, const double *point,
                                        struct gpnn_covariance *covariance, struct gpnn_error *err)
{
  *covariance = (struct gpnn_covariance){.kernel = p->kernel,
                                         .smoothness = p->smoothness,
                                         .n_lengthscales = p->n_lengthscales,
                                         .kernelscale = exp(point[gpnn_diag_kernelscale(p)]),
                                         .noise = exp(point[gpnn_diag_noise(p)])};
  covariance->lengthscale = gpnn_alloc(p->n_lengthscales, 1, sizeof *covariance->lengthscale);
  if (covariance->lengthscale == NULL) return gpnn_fail_memory(err, "for parameters");
  for (size_t l = 0; l < p->n_lengthscales; l++)
    covariance->lengthscale[l] = exp(point[gpnn_diag_lengthscale(p) + l]);
  return GPNN_OK;
}

static enum gpnn_status keep_parameters(const struct gpnn_dataset *view,
                                        const struct gpnn_diag_problem *p, const double *point,
                                        const struct gpnn_diag_report *report,
                                        struct gpnn_parameters *params, struct gpnn_error *err)
{
  const struct gpnn_diag_solutions *s = &report->solutions;
  params->family = GPNN_FAMILY_DIAG;
  params->likelihood = GPNN_LIKELIHOOD_LOCAL;
  params->provenance.fit_rows = view->n;
  enum gpnn_status status = keep_covariance(p, point, &params->covariance, err);
  if (status == GPNN_OK && s->n_capped > 0)
    status = gpnn_parameters_comment(params, err,
                                     "solves: %zu, of which %zu (%.1f %%) ended at the most steps",
                                     s->n, s->n_capped, 100 * (double)s->n_capped / (double)s->n);
  if (status == GPNN_OK && s->n_refused > 0)
    status = gpnn_parameters_comment(params, err, "random steps refused for their weight: %zu",
                                     s->n_refused);
  return status;
}

/* ---- the fit ------------------------------------------------------------------------------ */

static enum gpnn_status fit(const struct gpnn_diag_problem *p,
                            const struct gpnn_diag_options *options,
                            const struct gpnn_covariance *covariance, double *point,
                            struct gpnn_diag_report *report, struct gpnn_error *err)
{
  struct gpnn_diag *diag = NULL;
  enum gpnn_status status = gpnn_diag_new(&diag, p, err);
  report->m = p->m;
  report->cholesky = options->solver == GPNN_DIAG_SOLVER_CHOLESKY ||
                     (options->solver == GPNN_DIAG_SOLVER_AUTO && p->m <= 2048);
  if (status == GPNN_OK) status = start(diag, p, covariance, point, report, err);
  if (status == GPNN_OK) status = gpnn_diag_descend(diag, options, point, report, err);
  if (status == GPNN_OK && options->polish) status = polish(diag, p, options, point, report, err);
  gpnn_diag_free(diag);
  return status;
}

/* The inducing inputs: '*m' distinct ones. */
static enum gpnn_status choose(const struct gpnn_dataset *view,
                               const struct gpnn_diag_options *options,
                               const struct gpnn_covariance *covariance, double *z, size_t *m,
                               struct gpnn_error *err)
{
  struct gpnn_covariance plain = gpnn_covariance_isotropic(options->kernel, options->smoothness,
                                                           sqrt((double)view->d), 1, 0.1);
  if (options->z == NULL)
    return gpnn_inducing_choose(options->how, view, covariance != NULL ? covariance : &plain, *m,
                                options->seed, options->threads, z, m, err);
  memcpy(z, options->z, *m * view->d * sizeof *z);
  return gpnn_inducing_distinct(*m, view->d, z, m, err);
}

/* Kernel and lengthscales from a sample. */
static enum gpnn_status sample(const struct gpnn_dataset *view,
                               const struct gpnn_diag_options *options,
                               struct gpnn_covariance *covariance, struct gpnn_diag_report *report,
                               struct gpnn_error *err)
{
  struct gpnn_collapsed_start_options start = options->start;
  start.kernel = options->kernel;
  start.smoothness = options->smoothness;
  start.ard = options->ard;
  start.seed = options->seed;
  start.threads = options->threads;
  return gpnn_collapsed_start(view, &start, covariance, &report->start_evaluations, err);
}

enum gpnn_status gpnn_diag_fit(const struct gpnn_dataset *view,
                               const struct gpnn_diag_options *options,
                               struct gpnn_parameters *params, struct gpnn_state *arrays,
                               struct gpnn_diag_report *report, struct gpnn_error *err)
{
  struct gpnn_covariance covariance = {.lengthscale = NULL};
  const struct gpnn_covariance *from = options->from_sample ? &covariance : NULL;
  enum gpnn_status status = check(view, options, err);
  if (status != GPNN_OK) return status;
  size_t m = options->m < view->n ? options->m : view->n;
  double *point = NULL, *z = gpnn_alloc(m, view->d, sizeof *z);
  *report = (struct gpnn_diag_report){.bound = NAN};
  if (z == NULL) return gpnn_fail_memory(err, "for inducing inputs");
  if (from != NULL) status = sample(view, options, &covariance, report, err);
  if (status == GPNN_OK) status = choose(view, options, from, z, &m, err);
  struct gpnn_diag_problem p = {.n = view->n,
                                .d = view->d,
                                .x = view->x,
                                .y = view->y,
                                .noise = view->noise,
                                .m = m,
                                .z = z,
                                .kernel = from != NULL ? covariance.kernel : options->kernel,
                                .smoothness = options->smoothness,
                                .n_lengthscales = options->ard ? view->n_groups : 1,
                                .group = view->group,
                                .threads = options->threads};
  if (status == GPNN_OK && (point = gpnn_alloc(gpnn_diag_size(&p), 1, sizeof *point)) == NULL)
    status = gpnn_fail_memory(err, "for inducing points");
  if (status == GPNN_OK) status = fit(&p, options, from, point, report, err);
  if (status == GPNN_OK) status = keep_parameters(view, &p, point, report, params, err);
  if (status == GPNN_OK) status = keep_arrays(view, &p, point, arrays, err);
  free(covariance.lengthscale);
  free(point);
  free(z);
  return status;
}
