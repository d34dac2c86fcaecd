#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "linalg/iterative/probes.h"
#include "linalg/optimize.h"
#include "models/inducing/diag/diag_private.h"

/* Iterations between pilot solutions; norms whose median limits the next one; how far beyond. */
enum { PILOT_EVERY = 500, WINDOW = 51, FEWEST = 5 };
static const double most_norm = 10;

/* Adam's rate is divided by sqrt(1 + t / this). */
static const double half_life = 2000;

enum { MU, RHO, KERNEL, BLOCKS };

struct norms {
  double ring[WINDOW];
  size_t n;
};

struct descent {
  struct gpnn_diag *diag;
  const struct gpnn_diag_problem *problem;
  const struct gpnn_diag_options *options;
  struct gpnn_diag_report *report;
  struct gpnn_diag_solver solver;
  struct gpnn_diag_probes probes;
  double *probe;
  struct gpnn_rng rng;
  uint64_t *order; /* n: rows in the order of this epoch */
  size_t at;       /* of the next row in it */
  size_t iteration;
  struct norms norms[BLOCKS];
  struct gpnn_diag_solutions since; /* the last record */
  double *lengthscale;
};

/* ---- batches and probes ------------------------------------------------------------------- */

static enum gpnn_status next_batch(struct descent *s, struct gpnn_diag_batch *batch,
                                   struct gpnn_error *err)
{
  size_t n = s->problem->n, left = n - s->at;
  if (left == 0 || s->iteration == 0) {
    enum gpnn_status status = gpnn_rng_sample(&s->rng, n, n, s->order, err);
    if (status != GPNN_OK) return status;
    s->at = 0;
    left = n;
  }
  batch->n = s->options->batch < left ? s->options->batch : left;
  batch->row = s->order + s->at;
  batch->scale = (double)n / (double)batch->n;
  s->at += batch->n;
  return GPNN_OK;
}

static void draw_probes(struct descent *s)
{
  size_t d = s->probes.n;
  gpnn_probes_draw(GPNN_PROBES_SIGNS, s->options->seed, s->iteration * d, 1, d, s->problem->m, NULL,
                   s->problem->threads, s->probe);
}

/* ---- the rate of truncation --------------------------------------------------------------- */

/* So that the weight of the last step times its length is that of the first (17.24). */
static double rate_of(enum gpnn_truncation truncation, double head, double tolerance, double steps)
{
  double ratio = log(head / tolerance);
  if (truncation == GPNN_TRUNCATION_QUADRATIC) return 2 * ratio / (steps * (steps + 1));
  return log((1 + exp(2 * ratio / steps)) / 2);
}

/* Counts the steps between head and tolerance in solutions for all probes. */
static enum gpnn_status pilot(struct descent *s, const double *point,
                              const struct gpnn_diag_batch *batch, double *gradient, double *steps,
                              struct gpnn_error *err)
{
  struct gpnn_diag_solutions solutions = {0};
  struct gpnn_diag_solver solver = s->solver;
  solver.truncation = GPNN_TRUNCATION_NONE;
  enum gpnn_status status =
      gpnn_diag_estimate(s->diag, point, batch, &s->probes, &solver, 0, gradient, &solutions, err);
  if (status != GPNN_OK) return status;
  *steps = (double)solutions.steps / (double)solutions.n;
  s->solver.rate = s->options->beta;
  if (s->options->beta == 0 && s->solver.truncation != GPNN_TRUNCATION_NONE)
    s->solver.rate = rate_of(s->solver.truncation, s->solver.head, s->solver.tolerance,
                             fmax(solutions.tail / (double)solutions.n, 1));
  s->report->beta = s->solver.rate;
  return GPNN_OK;
}

/* Chooses the solver at first, and the rate of truncation now and then. */
static enum gpnn_status look_around(struct descent *s, const double *point,
                                    const struct gpnn_diag_batch *batch, double *gradient,
                                    struct gpnn_error *err)
{
  bool by_choice = s->options->solver == GPNN_DIAG_SOLVER_AUTO && s->iteration == 0;
  bool truncates = !s->report->cholesky && s->solver.truncation != GPNN_TRUNCATION_NONE;
  double steps = 0;
  if (by_choice && s->report->cholesky) return GPNN_OK;
  if (!by_choice && !(truncates && s->iteration % PILOT_EVERY == 0)) return GPNN_OK;
  enum gpnn_status status = pilot(s, point, batch, gradient, &steps, err);
  if (by_choice) s->report->cholesky = (double)s->problem->m <= 4 * (double)s->probes.n * steps;
  return status;
}

/* ---- clipping ----------------------------------------------------------------------------- */

static double median(const struct norms *norms)
{
  double sorted[WINDOW];
  size_t n = norms->n < WINDOW ? norms->n : WINDOW;
  memcpy(sorted, norms->ring, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, gpnn_compare_doubles);
  return sorted[n / 2];
}

/* A norm far beyond those before it is brought down. */
static void clip(struct norms *norms, size_t n, double *gradient)
{
  double norm = 0;
  for (size_t i = 0; i < n; i++) norm += gradient[i] * gradient[i];
  norm = sqrt(norm);
  double most = norms->n < FEWEST ? INFINITY : most_norm * median(norms);
  for (size_t i = 0; i < n && norm > most; i++) gradient[i] *= most / norm;
  norms->ring[norms->n++ % WINDOW] = norm;
}

static void clip_blocks(struct descent *s, double *gradient)
{
  size_t m = s->problem->m, rest = gpnn_diag_size(s->problem) - 2 * m;
  clip(&s->norms[MU], m, gradient);
  clip(&s->norms[RHO], m, gradient + gpnn_diag_rho(s->problem));
  clip(&s->norms[KERNEL], rest, gradient + gpnn_diag_lengthscale(s->problem));
}

/* ---- records ------------------------------------------------------------------------------ */

static void add_solutions(struct gpnn_diag_solutions *to, const struct gpnn_diag_solutions *more)
{
  to->n += more->n;
  to->steps += more->steps;
  to->most = to->most > more->most ? to->most : more->most;
  to->extra += more->extra;
  to->n_capped += more->n_capped;
  to->n_refused += more->n_refused;
  to->most_weight = fmax(to->most_weight, more->most_weight);
  to->tail += more->tail;
}

/* Cholesky's 'bound' is at hand; otherwise it is measured. */
static enum gpnn_status record(struct descent *s, const double *point, double bound,
                               const struct gpnn_diag_batch *batch, struct gpnn_error *err)
{
  const struct gpnn_diag_problem *p = s->problem;
  const double *rho = point + gpnn_diag_rho(p), *logs = point + gpnn_diag_lengthscale(p);
  const struct gpnn_diag_solutions *since = &s->since;
  struct gpnn_diag_record r = {.iteration = s->iteration + 1, .least_s = INFINITY};
  enum gpnn_status status = GPNN_OK;
  if (!s->report->cholesky)
    status = gpnn_diag_measure(s->diag, point, batch, &s->probes, &s->solver, &bound, err);
  if (status != GPNN_OK) return status;
  for (size_t l = 0; l < p->n_lengthscales; l++) s->lengthscale[l] = exp(logs[l]);
  for (size_t j = 0; j < p->m; j++) r.least_s = fmin(r.least_s, exp(rho[j]));
  r.steps_mean = since->n == 0 ? 0 : (double)since->steps / (double)since->n;
  r.steps_most = since->most;
  r.extra = since->extra;
  r.most_weight = since->most_weight;
  r.rmse_batch = sqrt(gpnn_diag_squares(s->diag, point, batch) / (double)batch->n);
  r.bound = bound;
  r.n_lengthscales = p->n_lengthscales;
  r.lengthscale = s->lengthscale;
  r.kernelscale = exp(point[gpnn_diag_kernelscale(p)]);
  r.noise = exp(point[gpnn_diag_noise(p)]);
  s->options->record(s->options->record_context, &r);
  s->since = (struct gpnn_diag_solutions){0};
  return GPNN_OK;
}

/* ---- iterations --------------------------------------------------------------------------- */

static enum gpnn_status derive(struct descent *s, const double *point,
                               const struct gpnn_diag_batch *batch, double *bound, double *gradient,
                               struct gpnn_error *err)
{
  struct gpnn_diag_solutions solutions = {0};
  if (s->report->cholesky) return gpnn_diag_bound(s->diag, point, batch, bound, gradient, err);
  enum gpnn_status status = gpnn_diag_estimate(s->diag, point, batch, &s->probes, &s->solver,
                                               s->iteration, gradient, &solutions, err);
  add_solutions(&s->since, &solutions);
  add_solutions(&s->report->solutions, &solutions);
  return status;
}

/* The objective of the optimiser: one iteration.  Its value is of no use. */
static enum gpnn_status iterate(void *context, size_t n, const double *point, double *f,
                                double *gradient, struct gpnn_error *err)
{
  struct descent *s = context;
  struct gpnn_diag_batch batch;
  double bound = 0;
  *f = 0;
  if (gradient == NULL) return GPNN_OK;
  enum gpnn_status status = next_batch(s, &batch, err);
  if (status != GPNN_OK) return status;
  draw_probes(s);
  status = look_around(s, point, &batch, gradient, err);
  if (status == GPNN_OK) status = derive(s, point, &batch, &bound, gradient, err);
  if (status != GPNN_OK) return status;
  if (s->options->record_every > 0 && (s->iteration + 1) % s->options->record_every == 0)
    status = record(s, point, bound, &batch, err);
  clip_blocks(s, gradient);
  if (s->iteration < s->options->warmup) gradient[gpnn_diag_kernelscale(s->problem)] = 0;
  for (size_t i = 0; i < n; i++) gradient[i] = -gradient[i];
  s->iteration++;
  return status;
}

/* Some steps; what the optimiser has learnt of the gradients ends with them. */
static enum gpnn_status optimise(struct descent *s, size_t steps, double *point,
                                 const double *lower, const double *upper, struct gpnn_error *err)
{
  const struct gpnn_diag_options *o = s->options;
  size_t n = gpnn_diag_size(s->problem);
  struct gpnn_optimize_report report;
  const struct gpnn_adam adam = {
      .n_steps = steps, .rate = o->rate, .half_life = half_life, .lower = lower, .upper = upper};
  const struct gpnn_adagrad adagrad = {steps, o->rate, lower, upper};
  return o->optimizer == GPNN_DIAG_ADAM
             ? gpnn_optimize_adam(iterate, s, n, &adam, point, &report, err)
             : gpnn_optimize_adagrad(iterate, s, n, &adagrad, point, &report, err);
}

enum gpnn_status gpnn_diag_descend(struct gpnn_diag *diag, const struct gpnn_diag_options *options,
                                   double *point, struct gpnn_diag_report *report,
                                   struct gpnn_error *err)
{
  const struct gpnn_diag_problem *p = &diag->problem;
  struct descent s = {.diag = diag,
                      .problem = p,
                      .options = options,
                      .report = report,
                      .probes = {options->probes}};
  size_t size = gpnn_diag_size(p);
  double *bounds = gpnn_alloc(size, 2, sizeof *bounds);
  enum gpnn_status status = GPNN_OK;
  s.solver =
      (struct gpnn_diag_solver){options->truncation, options->head,           options->tolerance,
                                options->beta,       gpnn_diag_most_steps(p), options->seed};
  s.order = gpnn_alloc(p->n, 1, sizeof *s.order);
  s.probes.r = s.probe = gpnn_alloc(options->probes, p->m, sizeof *s.probe);
  s.lengthscale = gpnn_alloc(p->n_lengthscales, 1, sizeof *s.lengthscale);
  if (bounds == NULL || s.order == NULL || s.probe == NULL || s.lengthscale == NULL) {
    status = gpnn_fail_memory(err, "for batches");
  } else {
    gpnn_rng_init(&s.rng, options->seed, GPNN_RNG_DIAG_BATCH);
    gpnn_diag_bounds(p, exp(point[gpnn_diag_kernelscale(p)]), bounds, bounds + size);
    status = optimise(&s, options->warmup, point, bounds, bounds + size, err);
    if (status == GPNN_OK)
      status = optimise(&s, options->iterations, point, bounds, bounds + size, err);
  }
  free(bounds);
  free(s.order);
  free(s.probe);
  free(s.lengthscale);
  return status;
}
