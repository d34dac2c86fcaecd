#include "models/inducing/collapsed/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/optimize.h"
#include "models/inducing/collapsed/collapsed.h"
#include "models/inducing/inducing.h"

#define MEMORY_FOR "for a sample of the rows"

struct gpnn_collapsed_start_options gpnn_collapsed_start_defaults(void)
{
  return (struct gpnn_collapsed_start_options){.ard = true,
                                               .rows = 3000,
                                               .inducing = 300,
                                               .most_evaluations = 60,
                                               .refined_rows = 8000,
                                               .refined_inducing = 800,
                                               .refined_evaluations = 25,
                                               .seed = 1,
                                               .threads = 1};
}

/* A sample of the rows, and where the search is: the logarithms of the lengthscales, of the kernel
 * scale and of the noise variance. */
struct search {
  const struct gpnn_dataset *view;
  const struct gpnn_collapsed_start_options *options;
  size_t n, m, width;                              /* rows, inducing points, lengthscales */
  double *x, *y, *z;                               /* owned; n by d; n; m by d */
  double *start, *u, *exponential, *lower, *upper; /* owned; width + 2 each */
  struct gpnn_collapsed *collapsed;                /* of the kernel that is being tried */
  size_t evaluations;
};

static void search_release(struct search *s)
{
  double *const owned[] = {s->x, s->y, s->z, s->start, s->u, s->exponential, s->lower, s->upper};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  gpnn_collapsed_free(s->collapsed);
}

/* ---- samples ------------------------------------------------------------------------------ */

/* Random rows; the first m of them are inducing points. */
static enum gpnn_status draw(struct search *s, size_t rows, size_t inducing, struct gpnn_error *err)
{
  struct gpnn_rng rng;
  const struct gpnn_dataset *view = s->view;
  size_t d = view->d, n = s->n = view->n < rows ? view->n : rows;
  s->m = n < inducing ? n : inducing;
  free(s->x), free(s->y), free(s->z);
  s->x = gpnn_alloc(n, d, sizeof *s->x);
  s->y = gpnn_alloc(n, 1, sizeof *s->y);
  s->z = gpnn_alloc(s->m, d, sizeof *s->z);
  uint64_t *row = gpnn_alloc(n, 1, sizeof *row);
  enum gpnn_status status =
      s->x && s->y && s->z && row ? GPNN_OK : gpnn_fail_memory(err, MEMORY_FOR);
  gpnn_rng_init(&rng, s->options->seed, GPNN_RNG_SAMPLE);
  if (status == GPNN_OK) status = gpnn_rng_sample(&rng, view->n, n, row, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    memcpy(s->x + i * d, view->x + row[i] * d, d * sizeof *s->x);
    s->y[i] = view->y[row[i]];
  }
  if (status == GPNN_OK) memcpy(s->z, s->x, s->m * d * sizeof *s->z);
  free(row);
  return status;
}

static enum gpnn_status search_init(struct search *s, struct gpnn_error *err)
{
  const struct gpnn_collapsed_start_options *options = s->options;
  s->width = options->ard ? s->view->n_groups : 1;
  double **const points[] = {&s->start, &s->u, &s->exponential, &s->lower, &s->upper};
  bool done = true;
  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    done = (*points[i] = gpnn_alloc(s->width + 2, 1, sizeof(double))) != NULL && done;
  return done ? draw(s, options->rows, options->inducing, err) : gpnn_fail_memory(err, MEMORY_FOR);
}

/* ---- the search --------------------------------------------------------------------------- */

/* The spread of a group's inputs in the sample (root mean square); 1 if standardising has left it
 * near that, so that only positions on the globe, in km, have another. */
static double spread_of(const struct search *s, size_t group)
{
  size_t d = s->view->d, n_inputs = 0;
  double square = 0;
  for (size_t j = 0; j < d; j++) {
    double sum = 0, centre;
    if (s->width > 1 && s->view->group[j] != group) continue;
    for (size_t i = 0; i < s->n; i++) sum += s->x[i * d + j];
    centre = sum / (double)s->n;
    for (size_t i = 0; i < s->n; i++) square += pow(s->x[i * d + j] - centre, 2);
    n_inputs++;
  }
  double spread = sqrt(square / (double)s->n / (double)n_inputs);
  return spread > 4 && isfinite(spread) ? spread : 1;
}

/* Where it starts; what is fixed has bounds that leave no room. */
static void set_start(struct search *s)
{
  const struct gpnn_covariance *guess = s->options->guess;
  bool has_lengthscales = guess != NULL && guess->n_lengthscales > 0;
  for (size_t j = 0; j < s->width; j++)
    s->start[j] = has_lengthscales
                      ? log(gpnn_covariance_lengthscales(guess)[guess->n_lengthscales == 1 ? 0 : j])
                      : log((double)s->view->d) / 2 + log(spread_of(s, j));
  s->start[s->width] = guess == NULL ? 0 : log(guess->kernelscale);
  s->start[s->width + 1] = guess == NULL ? log(0.1) : log(fmax(guess->noise, 1e-8));
}

static void set_bounds(struct search *s, const struct gpnn_kernel *kernel)
{
  const struct gpnn_collapsed_start_options *o = s->options;
  double least_noise = gpnn_kernel_least_noise(kernel, o->smoothness);
  for (size_t j = 0; j < s->width + 2; j++) {
    bool is_noise = j == s->width + 1, is_scale = j == s->width;
    bool fixed = is_noise   ? o->fixes_noise
                 : is_scale ? o->fixes_kernelscale
                            : o->fixes_lengthscales;
    s->lower[j] = fixed      ? s->start[j]
                  : is_noise ? log(least_noise)
                  : is_scale ? log(1e-4)
                             : log(1e-3 * spread_of(s, j));
    s->upper[j] = fixed      ? s->start[j]
                  : is_noise ? log(1e2)
                  : is_scale ? log(1e4)
                             : log(1e4 * spread_of(s, j));
  }
}

/* Minus the bound. */
static enum gpnn_status evaluate(void *context, size_t n, const double *u, double *f,
                                 double *gradient, struct gpnn_error *err)
{
  struct search *s = context;
  for (size_t j = 0; j < n; j++) s->exponential[j] = exp(u[j]);
  const struct gpnn_collapsed_parameters at = {s->exponential, s->exponential[s->width],
                                               s->exponential[s->width + 1]};
  enum gpnn_status status = gpnn_collapsed_bound(s->collapsed, &at, f, gradient, err);
  if (status != GPNN_OK) return status;
  *f = -*f;
  for (size_t j = 0; j < n && gradient != NULL; j++) gradient[j] = -gradient[j];
  return GPNN_OK;
}

/* Finds the best parameters for a kernel, from s->u on; '*bound' is what they reach. */
static enum gpnn_status try_kernel(struct search *s, const struct gpnn_kernel *kernel,
                                   size_t most_evaluations, double *bound, struct gpnn_error *err)
{
  const struct gpnn_collapsed_start_options *options = s->options;
  const struct gpnn_cross_problem problem = {.m = s->m,
                                             .d = s->view->d,
                                             .z = s->z,
                                             .kernel = kernel,
                                             .smoothness = options->smoothness,
                                             .n_lengthscales = s->width,
                                             .group = s->view->group};
  const struct gpnn_collapsed_data data = {s->n, s->x, s->y, GPNN_COLLAPSED_JITTER,
                                           options->threads};
  struct gpnn_optimize_report report;
  gpnn_collapsed_free(s->collapsed);
  s->collapsed = NULL;
  set_bounds(s, kernel);
  for (size_t j = 0; j < s->width + 2; j++) s->u[j] = fmin(fmax(s->u[j], s->lower[j]), s->upper[j]);
  enum gpnn_status status = gpnn_collapsed_new(&s->collapsed, &problem, &data, err);
  if (status == GPNN_OK)
    status = gpnn_optimize_lbfgs(evaluate, s, s->width + 2, most_evaluations, 0, s->lower, s->upper,
                                 s->u, &report, err);
  if (status != GPNN_OK) return status;
  s->evaluations += report.n_evaluations;
  *bound = -report.end;
  return GPNN_OK;
}

/* A kernel that was tried, and where its search ended. */
struct candidate {
  const struct gpnn_kernel *kernel;
  double bound;
  double *u; /* owned; width + 2 */
};

enum { MOST_CANDIDATES = 4, REFINED_CANDIDATES = 2 };

/* Brings the candidates with the largest bounds to the front. */
static void sort(size_t n, struct candidate *candidates)
{
  for (size_t i = 1; i < n; i++)
    for (size_t j = i; j > 0 && candidates[j].bound > candidates[j - 1].bound; j--) {
      struct candidate kept = candidates[j];
      candidates[j] = candidates[j - 1];
      candidates[j - 1] = kept;
    }
}

/* The kernel explains next to nothing: the search has ended in the valley of noise alone. */
static bool is_flat(const struct search *s, const double *u)
{
  return !s->options->fixes_kernelscale && u[s->width] < u[s->width + 1] + log(1e-3);
}

/* Tries the kernels from lengthscales 'factor' times those of the start: each from where the one
 * before it ended, unless that is flat.  Candidates keep the better of this and what they had. */
static enum gpnn_status try_kernels(struct search *s, double factor, size_t n,
                                    struct candidate *candidates, struct gpnn_error *err)
{
  size_t width = s->width + 2;
  for (size_t k = 0; k < n; k++) {
    struct candidate *own = &candidates[k];
    double bound;
    if (k == 0 || is_flat(s, s->u)) {
      memcpy(s->u, s->start, width * sizeof *s->u);
      for (size_t j = 0; j < s->width; j++) s->u[j] += log(factor);
    }
    enum gpnn_status status = try_kernel(s, own->kernel, s->options->most_evaluations, &bound, err);
    if (status != GPNN_OK) return status;
    if (bound > own->bound) {
      own->bound = bound;
      memcpy(own->u, s->u, width * sizeof *s->u);
    }
  }
  sort(n, candidates);
  return GPNN_OK;
}

/* Tries all kernels, from elsewhere too as long as they find nothing; the best comes first. */
static enum gpnn_status find_candidates(struct search *s, size_t n, struct candidate *candidates,
                                        struct gpnn_error *err)
{
  static const char *const names[MOST_CANDIDATES] = {"matern52", "rbf", "matern32", "exp"};
  static const double factors[] = {1, 0.25, 4};
  size_t n_factors = s->options->fixes_lengthscales ? 1 : sizeof factors / sizeof *factors;
  enum gpnn_status status = GPNN_OK;
  set_start(s);
  for (size_t k = 0; k < n; k++) {
    const struct gpnn_kernel *given = s->options->kernel;
    candidates[k].kernel = given != NULL ? given : gpnn_kernel_by_name(names[k]);
    candidates[k].bound = -INFINITY;
    candidates[k].u = gpnn_alloc(s->width + 2, 1, sizeof(double));
    if (candidates[k].u == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  }
  for (size_t i = 0; i < n_factors && status == GPNN_OK; i++)
    if (i == 0 || is_flat(s, candidates[0].u))
      status = try_kernels(s, factors[i], n, candidates, err);
  return status;
}

/* ---- the result --------------------------------------------------------------------------- */

static enum gpnn_status keep(const struct search *s, const struct candidate *candidate,
                             struct gpnn_covariance *covariance, struct gpnn_error *err)
{
  double *lengthscale = gpnn_alloc(s->width, 1, sizeof *lengthscale);
  if (lengthscale == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t j = 0; j < s->width; j++) lengthscale[j] = exp(candidate->u[j]);
  *covariance = (struct gpnn_covariance){.kernel = candidate->kernel,
                                         .smoothness = s->options->smoothness,
                                         .n_lengthscales = s->width,
                                         .lengthscale = lengthscale,
                                         .kernelscale = exp(candidate->u[s->width]),
                                         .noise = exp(candidate->u[s->width + 1])};
  return GPNN_OK;
}

/* Improves the best candidates on a larger sample, with inducing points that the metric of the
 * first spreads, so that their bounds can be compared. */
static enum gpnn_status refine(struct search *s, size_t n, struct candidate *candidates,
                               struct gpnn_error *err)
{
  const struct gpnn_collapsed_start_options *o = s->options;
  struct gpnn_covariance first = {.n_lengthscales = 0};
  enum gpnn_status status = keep(s, &candidates[0], &first, err);
  if (status == GPNN_OK) status = draw(s, o->refined_rows, o->refined_inducing, err);
  if (status == GPNN_OK)
    status = gpnn_inducing_choose(GPNN_INDUCING_KMEANS, s->view, &first, s->m, o->seed, o->threads,
                                  s->z, &s->m, err);
  for (size_t k = 0; k < n && status == GPNN_OK; k++) {
    memcpy(s->u, candidates[k].u, (s->width + 2) * sizeof *s->u);
    status = try_kernel(s, candidates[k].kernel, o->refined_evaluations, &candidates[k].bound, err);
    memcpy(candidates[k].u, s->u, (s->width + 2) * sizeof *s->u);
  }
  sort(n, candidates);
  free(first.lengthscale);
  return status;
}

enum gpnn_status gpnn_collapsed_start(const struct gpnn_dataset *view,
                                      const struct gpnn_collapsed_start_options *options,
                                      struct gpnn_covariance *covariance, size_t *evaluations,
                                      struct gpnn_error *err)
{
  struct candidate candidates[MOST_CANDIDATES] = {{.u = NULL}};
  struct search s = {.view = view, .options = options};
  size_t n = options->kernel != NULL ? 1 : MOST_CANDIDATES;
  size_t n_refined = n < REFINED_CANDIDATES ? n : REFINED_CANDIDATES;
  bool refines = options->refined_evaluations > 0 && view->n > options->rows;
  covariance->lengthscale = NULL;
  if (view->n < 2) return gpnn_fail(err, GPNN_EDATA, "at least two training rows are needed");
  enum gpnn_status status = search_init(&s, err);
  if (status == GPNN_OK) status = find_candidates(&s, n, candidates, err);
  if (status == GPNN_OK && refines) status = refine(&s, n_refined, candidates, err);
  if (status == GPNN_OK) status = keep(&s, &candidates[0], covariance, err);
  if (status == GPNN_OK) *evaluations = s.evaluations;
  for (size_t k = 0; k < n; k++) free(candidates[k].u);
  search_release(&s);
  return status;
}
