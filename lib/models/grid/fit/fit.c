#include "models/grid/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "dataset/grid/grid.h"
#include "likelihood/logistic.h"
#include "linalg/arrays.h"
#include "linalg/optimize.h"
#include "models/grid/fit/fit_private.h"

/* ---- blocks ---------------------------------------------------------------------------------- */

enum gpnn_status gpnn_grid_samples_draw(struct gpnn_grid_samples *blocks, size_t n,
                                        const struct gpnn_grid_view *view,
                                        struct gpnn_grid_sample_size size, uint64_t seed,
                                        uint64_t first, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (view->grid->n_cells <= size.cells) n = 1;
  blocks->chosen = gpnn_alloc(n, 1, sizeof *blocks->chosen);
  blocks->n_cells = gpnn_alloc(n, 1, sizeof *blocks->n_cells);
  if (blocks->chosen == NULL || blocks->n_cells == NULL)
    status = gpnn_fail_memory(err, "for samples of cells");
  while (status == GPNN_OK && blocks->n < n) {
    size_t b = blocks->n++;
    status =
        gpnn_grid_sample(view, size, seed, first + b, &blocks->chosen[b], &blocks->n_cells[b], err);
  }
  if (status != GPNN_OK) gpnn_grid_samples_release(blocks);
  return status;
}

void gpnn_grid_samples_release(struct gpnn_grid_samples *blocks)
{
  for (size_t b = 0; b < blocks->n; b++) free(blocks->chosen[b]);
  free(blocks->chosen);
  free(blocks->n_cells);
  memset(blocks, 0, sizeof *blocks);
}

/* ---- what moves ------------------------------------------------------------------------------ */

/* Lengthscales stay within this factor of the levels' spread; the prior of their logarithms has
 * this standard deviation. */
static const double most_lengthscales = 1000, spread_lengthscale = 2;
static const double most_loading = 30;

/* The least noise variance; under softplus all exceed it. */
static const double least_noise = 1e-4;

/* The spread of the logarithms of tasks' own variances, beside that of their loadings. */
static const double own_spread = 3;

/* The logarithm of the spread of prepared coordinate 'j' of factor 'a': its standard deviation. */
static double log_spread(const struct gpnn_grid_view *view, size_t a, size_t j)
{
  const struct gpnn_grid_factor *factor = &view->grid->factor[a];
  double mean = 0, square = 0;
  for (size_t i = 0; i < factor->n; i++)
    mean += view->prepared[a][i * factor->d + j] / (double)factor->n;
  for (size_t i = 0; i < factor->n; i++)
    square += pow(view->prepared[a][i * factor->d + j] - mean, 2);
  return square > 0 ? 0.5 * log(square / (double)factor->n) : 0;
}

static void describe_lengthscale(struct gpnn_grid_coordinate *c, double log_level, bool periodic)
{
  double centre = periodic ? 0 : log_level;
  c->role = GPNN_GRID_LENGTHSCALE;
  c->centre = centre;
  c->spread = spread_lengthscale;
  c->lower = centre - log(most_lengthscales);
  c->upper = centre + log(most_lengthscales);
  if (!periodic) return;
  c->lower = log(0.05);
  c->upper = log(20);
}

/* Describes the coordinates of factor 'a', from 'i' on; returns the one after them. */
static size_t describe_factor(struct gpnn_grid_objective *o, const struct gpnn_grid_view *view,
                              size_t a, size_t i)
{
  const struct gpnn_factor *factor = &o->parameters->grid.factor[a];
  size_t first = i, n = gpnn_factor_n_coordinates(factor),
         loadings = factor->n_tasks * factor->rank;
  for (size_t t = 0; t < factor->n_terms; t++) {
    const struct gpnn_factor_term *term = &factor->term[t];
    for (size_t j = 0; j < term->n_lengthscales; j++)
      describe_lengthscale(&o->coordinate[i++], log_spread(view, a, j), term->kernel == NULL);
    if (term->kernel == NULL) {
      double period = o->at[i];
      o->coordinate[i++] = (struct gpnn_grid_coordinate){
          .role = GPNN_GRID_PERIOD, .lower = period - log(1.5), .upper = period + log(1.5)};
    }
  }
  for (; i < first + n; i++) {
    bool is_task = factor->n_terms == 0, is_loading = is_task && i - first < loadings;
    bool is_pooled = is_task && (!is_loading || (i - first) % factor->rank == 0);
    o->coordinate[i] =
        (struct gpnn_grid_coordinate){.role = is_task ? GPNN_GRID_TASK : GPNN_GRID_NUGGET,
                                      .lower = is_loading ? -most_loading : log(1e-8),
                                      .upper = is_loading ? most_loading : log(100),
                                      .centre = is_loading ? 0 : log(0.1),
                                      .spread = is_pooled    ? 0
                                                : is_loading ? o->task_spread
                                                             : 3};
  }
  if (factor->n_terms == 0) {
    o->pool[o->n_pools++] =
        (struct gpnn_grid_pool){first, factor->rank, factor->n_tasks, o->task_spread};
    o->pool[o->n_pools++] =
        (struct gpnn_grid_pool){first + loadings, 1, factor->n_tasks, own_spread * o->task_spread};
  }
  for (size_t j = first; j < i; j++) o->coordinate[j].factor = a;
  return i;
}

/* The name of coordinate 'i' within its factor, or of the kernel scale or the noise. */
static const char *name_of(const struct gpnn_grid_objective *o, size_t i)
{
  const struct gpnn_grid_coordinate *c = &o->coordinate[i];
  if (c->role == GPNN_GRID_KERNELSCALE) return "kernelscale";
  if (c->role == GPNN_GRID_NOISE) return "noise";
  return gpnn_factor_coordinate_name(&o->parameters->grid.factor[c->factor],
                                     i - gpnn_grid_first_coordinate(o->parameters, c->factor));
}

/* True if 'held' has coordinate 'i', which is number 'k' of those of its name. */
static bool is_held(const struct gpnn_grid_objective *o, const struct gpnn_grid_held *held,
                    size_t i, size_t k)
{
  const struct gpnn_grid_coordinate *c = &o->coordinate[i];
  for (size_t h = 0; h < held->n; h++) {
    const struct gpnn_grid_numbers *of = &held->of[h];
    if (of->factor == c->factor && strcmp(of->name, name_of(o, i)) == 0 && k >= of->first &&
        k < of->first + of->n)
      return true;
  }
  return false;
}

/* Collects the coordinates that move: all but those held, and the kernel scale of tasks. */
static void find_free(struct gpnn_grid_objective *o, const struct gpnn_grid_held *held,
                      bool has_tasks)
{
  for (size_t i = 0, k = 0; i < o->n_coordinates; i++) {
    bool goes_on = i > 0 && o->coordinate[i].factor == o->coordinate[i - 1].factor;
    k = goes_on && strcmp(name_of(o, i), name_of(o, i - 1)) == 0 ? k + 1 : 0;
    if (is_held(o, held, i, k)) continue;
    if (has_tasks && o->coordinate[i].role == GPNN_GRID_KERNELSCALE) continue;
    o->free[o->n_free++] = i;
  }
}

void gpnn_grid_objective_describe(struct gpnn_grid_objective *o, const struct gpnn_grid_view *view,
                                  const struct gpnn_grid_held *held)
{
  size_t i = 0;
  bool has_tasks = false;
  for (size_t a = 0; a < o->parameters->grid.n_factors; a++) {
    i = describe_factor(o, view, a, i);
    has_tasks = has_tasks || o->parameters->grid.factor[a].n_terms == 0;
  }
  o->coordinate[i++] = (struct gpnn_grid_coordinate){.role = GPNN_GRID_KERNELSCALE,
                                                     .factor = GPNN_GRID_FACTORS,
                                                     .lower = log(1e-4),
                                                     .upper = log(1e4)};
  for (; i < o->n_coordinates; i++)
    o->coordinate[i] = (struct gpnn_grid_coordinate){.role = GPNN_GRID_NOISE,
                                                     .factor = GPNN_GRID_FACTORS,
                                                     .lower = log(least_noise),
                                                     .upper = log(100),
                                                     .centre = log(0.1),
                                                     .spread = 3};
  for (i = 0; i < o->n_coordinates; i++)
    o->coordinate[i].is_logarithm =
        o->coordinate[i].role != GPNN_GRID_TASK || o->coordinate[i].lower > -most_loading;
  find_free(o, held, has_tasks);
}

/* ---- the objective --------------------------------------------------------------------------- */

static enum gpnn_status evaluate_block(void *context, size_t thread, size_t b,
                                       struct gpnn_error *err)
{
  struct gpnn_grid_objective *o = context;
  (void)thread;
  double *gradient = o->wants_gradient ? o->gradient + b * o->n_coordinates : NULL;
  if (o->complete != NULL)
    return gpnn_grid_likelihood_complete(o->complete, o->parameters, &o->value[b], gradient, err);
  return gpnn_grid_likelihood_dense(&o->cells[b], o->parameters, &o->value[b], gradient, err);
}

/* The same of coordinates about their mean. */
static double pool_prior(const struct gpnn_grid_pool *pool, const double *at, double *gradient)
{
  double mean = 0, value = 0;
  for (size_t k = 0; k < pool->n; k++) mean += at[pool->first + k * pool->step] / (double)pool->n;
  for (size_t k = 0; k < pool->n; k++) {
    size_t i = pool->first + k * pool->step;
    double z = (at[i] - mean) / pool->spread;
    value += 0.5 * z * z;
    if (gradient != NULL) gradient[i] += z / pool->spread; /* the mean's own part adds up to 0 */
  }
  return value;
}

double gpnn_grid_objective_prior(const struct gpnn_grid_objective *o, double *gradient)
{
  double value = 0;
  for (size_t i = 0; i < o->n_coordinates; i++) {
    const struct gpnn_grid_coordinate *c = &o->coordinate[i];
    if (!(c->spread > 0)) continue;
    double z = (o->at[i] - c->centre) / c->spread;
    value += 0.5 * z * z;
    if (gradient != NULL) gradient[i] += z / c->spread;
  }
  for (size_t k = 0; k < o->n_pools; k++) value += pool_prior(&o->pool[k], o->at, gradient);
  return value;
}

/* The objective of the free coordinates: a gpnn_objective, whose context it is. */
static enum gpnn_status objective_evaluate(void *context, size_t n, const double *x, double *f,
                                           double *gradient, struct gpnn_error *err)
{
  struct gpnn_grid_objective *o = context;
  o->wants_gradient = gradient != NULL;
  o->n_evaluations++;
  for (size_t i = 0; i < n; i++) o->at[o->free[i]] = x[i];
  gpnn_grid_set_coordinates(o->parameters, o->at);
  enum gpnn_status status = gpnn_threads_try(o->threads, o->n_blocks, 1, evaluate_block, o, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < o->n_coordinates; i++) o->sum[i] = 0;
  *f = gpnn_grid_objective_prior(o, gradient == NULL ? NULL : o->sum);
  for (size_t b = 0; b < o->n_blocks; b++) {
    *f -= o->value[b];
    for (size_t i = 0; gradient != NULL && i < o->n_coordinates; i++)
      o->sum[i] -= o->gradient[b * o->n_coordinates + i];
  }
  for (size_t i = 0; gradient != NULL && i < n; i++) gradient[i] = o->sum[o->free[i]];
  return GPNN_OK;
}

/* ---- making it ------------------------------------------------------------------------------- */

static enum gpnn_status collect(struct gpnn_grid_objective *o, const struct gpnn_grid_view *view,
                                const struct gpnn_grid_samples *blocks, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  const double *prepared[GPNN_GRID_FACTORS];
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) prepared[a] = view->prepared[a];
  while (o->n_blocks < blocks->n && status == GPNN_OK) {
    size_t b = o->n_blocks++;
    o->n_cells += blocks->n_cells[b];
    status = gpnn_grid_subset_collect(&o->cells[b], view->grid, prepared, view->mean,
                                      blocks->n_cells[b], blocks->chosen[b], err);
  }
  return status;
}

/* Makes the objective of 'parameters', which it moves.  GPNN_ENOMEM.  It must be zeroed, and is
 * released by the caller whatever the outcome. */
static enum gpnn_status
objective_make(struct gpnn_grid_objective *o, struct gpnn_parameters *parameters,
               const struct gpnn_grid_view *view, const struct gpnn_grid_samples *blocks,
               const struct gpnn_grid_fit_options *options, struct gpnn_error *err)
{
  size_t n = gpnn_grid_n_coordinates(parameters);
  o->parameters = parameters;
  o->n_coordinates = n;
  o->task_spread = options->task_spread;
  o->threads = gpnn_threads_for(options->threads, blocks->n);
  o->arrays = GPNN_ARRAYS(GPNN_ARRAY(o->coordinate, n, 1), GPNN_ARRAY(o->free, n, 1),
                          GPNN_ARRAY(o->at, n, 1), GPNN_ARRAY(o->sum, n, 1),
                          GPNN_ARRAY(o->cells, blocks->n, 1), GPNN_ARRAY(o->value, blocks->n, 1),
                          GPNN_ARRAY(o->gradient, blocks->n, n));
  if (o->arrays == NULL) return gpnn_fail_memory(err, "for an estimation");
  gpnn_grid_get_coordinates(parameters, o->at);
  gpnn_grid_objective_describe(o, view, &options->held);
  if (!options->complete) return collect(o, view, blocks, err);
  o->complete = view;
  o->n_blocks = 1;
  o->n_cells = view->grid->n_cells;
  return GPNN_OK;
}

static void objective_release(struct gpnn_grid_objective *o)
{
  for (size_t b = 0; b < o->n_blocks; b++) gpnn_grid_subset_release(&o->cells[b]);
  gpnn_arrays_free(o->arrays);
}

/* ---- where to start -------------------------------------------------------------------------- */

/* Tries to move all free coordinates of one role and factor from 'x' by 'step', and moves 'x' there
 * if that is better than '*best'. 'trial' is scratch. */
static enum gpnn_status try_step(struct gpnn_grid_objective *o,
                                 const struct gpnn_grid_coordinate *like, double step, double *x,
                                 double *trial, double *best, struct gpnn_error *err)
{
  double f = INFINITY;
  for (size_t i = 0; i < o->n_free; i++) {
    const struct gpnn_grid_coordinate *c = &o->coordinate[o->free[i]];
    bool moves = c->role == like->role && c->factor == like->factor;
    trial[i] = moves ? fmin(fmax(x[i] + step, c->lower), c->upper) : x[i];
  }
  enum gpnn_status status = objective_evaluate(o, o->n_free, trial, &f, NULL, err);
  if (status == GPNN_ENUMERIC) return GPNN_OK; /* no place to start from */
  if (status != GPNN_OK || !(f < *best)) return status;
  *best = f;
  memcpy(x, trial, o->n_free * sizeof *x);
  return GPNN_OK;
}

/* True if free coordinate 'i' is the first of its role and factor, and worth scanning. */
static bool is_scanned(const struct gpnn_grid_objective *o, size_t i)
{
  const struct gpnn_grid_coordinate *c = &o->coordinate[o->free[i]];
  if (c->role != GPNN_GRID_LENGTHSCALE && c->role != GPNN_GRID_NOISE) return false;
  if (i == 0) return true;
  const struct gpnn_grid_coordinate *before = &o->coordinate[o->free[i - 1]];
  return before->role != c->role || before->factor != c->factor;
}

/* Moves 'at' to the best of a few points: coordinate by coordinate, lengthscales of a factor
 * together.  'x' (n_free) is scratch. */
static enum gpnn_status objective_scan(struct gpnn_grid_objective *o, double *x,
                                       struct gpnn_error *err)
{
  static const double step[] = {-2, -1, 1, 2};
  enum { STEPS = sizeof step / sizeof step[0] };
  double best = INFINITY;
  for (size_t i = 0; i < o->n_free; i++) x[i] = o->at[o->free[i]];
  enum gpnn_status status = objective_evaluate(o, o->n_free, x, &best, NULL, err);
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = o->n_free; i-- > 0;)
      for (size_t k = 0; is_scanned(o, i) && k < STEPS && status == GPNN_OK; k++)
        status = try_step(o, &o->coordinate[o->free[i]], step[k], x, x + o->n_free, &best, err);
  for (size_t i = 0; status == GPNN_OK && i < o->n_free; i++) o->at[o->free[i]] = x[i];
  return status;
}

/* ---- the descent ----------------------------------------------------------------------------- */

/* Moves the free coordinates 'x' from their start by L-BFGS; 'bounds' has room for twice as many.
 */
static enum gpnn_status descend(struct gpnn_grid_objective *o, size_t evaluations, double *x,
                                double *bounds, double *end, struct gpnn_error *err)
{
  struct gpnn_optimize_report report;
  for (size_t i = 0; i < o->n_free; i++) {
    const struct gpnn_grid_coordinate *c = &o->coordinate[o->free[i]];
    bounds[i] = c->lower;
    bounds[o->n_free + i] = c->upper;
    x[i] = fmin(fmax(o->at[o->free[i]], c->lower), c->upper);
  }
  enum gpnn_status status = gpnn_optimize_lbfgs(objective_evaluate, o, o->n_free, evaluations, 0,
                                                bounds, bounds + o->n_free, x, &report, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < o->n_free; i++) o->at[o->free[i]] = x[i];
  *end = report.end;
  return GPNN_OK;
}

/* From the best starting point on.  Without anything to estimate, the value is that of the start.
 */
static enum gpnn_status estimate(struct gpnn_grid_objective *o,
                                 const struct gpnn_grid_fit_options *options, double *end,
                                 struct gpnn_error *err)
{
  double none = 0;
  enum gpnn_status status = GPNN_OK;
  if (o->n_free == 0) return objective_evaluate(o, 0, &none, end, NULL, err);
  double *x = gpnn_alloc(o->n_free, 3, sizeof *x);
  if (x == NULL) return gpnn_fail_memory(err, "for an estimation");
  if (options->scans) status = objective_scan(o, x, err);
  if (status == GPNN_OK) status = descend(o, options->evaluations, x, x + o->n_free, end, err);
  free(x);
  return status;
}

enum gpnn_status gpnn_grid_fit(struct gpnn_parameters *parameters,
                               const struct gpnn_grid_view *view,
                               const struct gpnn_grid_samples *blocks,
                               const struct gpnn_grid_fit_options *options,
                               struct gpnn_grid_fit_report *report, struct gpnn_error *err)
{
  struct gpnn_grid_objective o = {0};
  double end = 0;
  double *start = gpnn_alloc(gpnn_grid_n_coordinates(parameters), 1, sizeof *start);
  if (start == NULL) return gpnn_fail_memory(err, "for an estimation");
  gpnn_grid_get_coordinates(parameters, start);
  enum gpnn_status status = objective_make(&o, parameters, view, blocks, options, err);
  if (status == GPNN_OK) status = estimate(&o, options, &end, err);
  gpnn_grid_set_coordinates(parameters, status == GPNN_OK ? o.at : start);
  if (status == GPNN_OK)
    *report = (struct gpnn_grid_fit_report){o.n_cells, o.n_evaluations,
                                            -(end - gpnn_grid_objective_prior(&o, NULL)) /
                                                (double)o.n_cells};
  objective_release(&o);
  free(start);
  return status;
}

/* ---- steps of Adam on all cells -------------------------------------------------------------- */

/* Logarithms that have moved less in ten steps are where they are going. */
static const double least_move = 1e-3;
#define LOG_2 0.69314718055994530942

struct descent {
  struct gpnn_grid_objective objective; /* without samples: coordinates and what they are */
  const struct gpnn_grid_view *view;
  const struct gpnn_grid_adam_options *options;
  struct gpnn_grid_adam_report report;
  double *solutions; /* of the last step */
  double *gradient;  /* of all coordinates */
};

/* A coordinate, and its derivative, where 'x' is what Adam moves. */
static double to_coordinate(const struct descent *d, size_t i, double x, double *slope)
{
  const struct gpnn_grid_coordinate *c = &d->objective.coordinate[i];
  *slope = 1;
  if (!d->options->softplus || !c->is_logarithm) return x;
  double value = gpnn_logistic_softplus(x);
  if (c->role == GPNN_GRID_NOISE) value += least_noise;
  *slope = 1 / (1 + exp(-x)) / value;
  return log(value);
}

static double from_coordinate(const struct descent *d, size_t i, double coordinate)
{
  const struct gpnn_grid_coordinate *c = &d->objective.coordinate[i];
  if (!d->options->softplus || !c->is_logarithm) return coordinate;
  double value = exp(coordinate);
  if (c->role == GPNN_GRID_NOISE) value = fmax(value - least_noise, 1e-12);
  return value > 30 ? value : log(expm1(value));
}

/* A gpnn_objective: minus the likelihood per cell, of which only the gradient is known. */
static enum gpnn_status evaluate_estimate(void *context, size_t n, const double *x, double *f,
                                          double *gradient, struct gpnn_error *err)
{
  struct descent *d = context;
  struct gpnn_grid_objective *o = &d->objective;
  struct gpnn_cg_report solved;
  double slope;
  *f = 0;
  for (size_t i = 0; i < n; i++) o->at[o->free[i]] = to_coordinate(d, o->free[i], x[i], &slope);
  gpnn_grid_set_coordinates(o->parameters, o->at);
  if (gradient == NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_grid_likelihood_estimate(
      d->view, o->parameters, &d->options->estimate, d->solutions, d->gradient, &solved, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < n; i++) {
    to_coordinate(d, o->free[i], x[i], &slope);
    gradient[i] = -d->gradient[o->free[i]] * slope / (double)d->view->grid->n_cells;
  }
  d->report.steps++;
  d->report.iterations += solved.iterations;
  d->report.residual = fmax(d->report.residual, solved.residual);
  d->report.n_failed += !solved.converged;
  if (d->options->progress != NULL)
    d->options->progress(d->options->progress_context, d->report.steps, solved.iterations,
                         solved.residual);
  return GPNN_OK;
}

static enum gpnn_status descend_by_adam(struct descent *d, struct gpnn_error *err)
{
  struct gpnn_grid_objective *o = &d->objective;
  struct gpnn_optimize_report report;
  double *x = gpnn_alloc(o->n_free, 3, sizeof *x), slope;
  if (x == NULL) return gpnn_fail_memory(err, "for an estimation");
  for (size_t i = 0; i < o->n_free; i++) {
    const struct gpnn_grid_coordinate *c = &o->coordinate[o->free[i]];
    x[i] = from_coordinate(d, o->free[i], o->at[o->free[i]]);
    x[o->n_free + i] = c->lower;
    x[2 * o->n_free + i] = c->upper;
  }
  struct gpnn_adam adam = {.n_steps = d->options->steps, .rate = d->options->rate};
  if (!d->options->softplus) {
    adam.lower = x + o->n_free;
    adam.upper = x + 2 * o->n_free;
    adam.least_move = least_move;
  }
  enum gpnn_status status =
      gpnn_optimize_adam(evaluate_estimate, d, o->n_free, &adam, x, &report, err);
  for (size_t i = 0; i < o->n_free && status == GPNN_OK; i++)
    o->at[o->free[i]] = to_coordinate(d, o->free[i], x[i], &slope);
  free(x);
  return status;
}

/* Refuses what cannot fit into memory: the covariances of all factors, and for each
 * right-hand side the arrays of conjugate gradients and its solution. */
static enum gpnn_status check_memory(const struct gpnn_grid *grid, size_t columns,
                                     struct gpnn_error *err)
{
  const double gibi = 1024.0 * 1024 * 1024;
  struct gpnn_grid_cost cost = gpnn_grid_cost(grid);
  size_t memory = gpnn_memory_allowed();
  double vectors = cost.vector * (double)columns * (GPNN_GRID_COST_ARRAYS + 1);
  double there = (double)memory;
  if (memory == 0 || cost.factors + vectors <= there) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENOMEM,
                   "steps on all cells need about %.3g GiB, and %.3g are allowed: %.3g for the "
                   "covariances of the factors, of %zu and %zu levels, and %.3g for %zu solutions; "
                   "use fewer (--tune probes), or leave the steps out",
                   (cost.factors + vectors) / gibi, there / gibi, cost.factors / gibi,
                   grid->factor[0].n, grid->factor[1].n, vectors / gibi, columns);
}

enum gpnn_status gpnn_grid_adam(struct gpnn_parameters *parameters,
                                const struct gpnn_grid_view *view,
                                const struct gpnn_grid_adam_options *options,
                                struct gpnn_grid_adam_report *report, struct gpnn_error *err)
{
  struct descent d = {.view = view, .options = options};
  struct gpnn_grid_samples none = {0};
  struct gpnn_grid_fit_options plain = {.held = options->held, .threads = 1};
  size_t n = gpnn_grid_n_coordinates(parameters);
  enum gpnn_status status = check_memory(view->grid, 1 + options->estimate.probes, err);
  if (status != GPNN_OK) return status;
  status = objective_make(&d.objective, parameters, view, &none, &plain, err);
  double *start = gpnn_alloc(n, 1, sizeof *start);
  d.gradient = gpnn_alloc(n, 1, sizeof *d.gradient);
  d.solutions = gpnn_alloc(view->grid->factor[0].n * view->inner, 1 + options->estimate.probes,
                           sizeof *d.solutions);
  if (status == GPNN_OK && (start == NULL || d.gradient == NULL || d.solutions == NULL))
    status = gpnn_fail_memory(err, "for vectors of a grid");
  if (status == GPNN_OK) {
    gpnn_grid_get_coordinates(parameters, start);
    if (d.objective.n_free > 0 && options->steps > 0) status = descend_by_adam(&d, err);
    gpnn_grid_set_coordinates(parameters, status == GPNN_OK ? d.objective.at : start);
  }
  if (status == GPNN_OK) *report = d.report;
  objective_release(&d.objective);
  free(start);
  free(d.gradient);
  free(d.solutions);
  return status;
}

void gpnn_grid_adam_start(struct gpnn_parameters *parameters, uint64_t seed)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_GRID_PROBES);
  for (size_t a = 0; a < parameters->grid.n_factors; a++) {
    struct gpnn_factor *factor = &parameters->grid.factor[a];
    for (size_t t = 0; t < factor->n_terms; t++) {
      for (size_t j = 0; j < factor->term[t].n_lengthscales; j++)
        factor->term[t].lengthscale[j] = LOG_2;
      factor->term[t].period = LOG_2;
    }
    gpnn_rng_normals(&rng, factor->n_tasks * factor->rank, factor->loadings);
    for (size_t i = 0; i < factor->n_tasks; i++) factor->own[i] = log1p(exp(gpnn_rng_normal(&rng)));
  }
  parameters->covariance.kernelscale = LOG_2;
  parameters->covariance.noise = least_noise + LOG_2;
  for (size_t i = 0; i < parameters->grid.n_noise; i++)
    parameters->grid.noise[i] = least_noise + LOG_2;
}
