#include "models/grid/fit/adam.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/grid_cost.h"
#include "linalg/optimize.h"
#include "models/grid/fit/coordinates.h"
#include "models/grid/fit/fit_private.h"

/* What a noise variance exceeds under softplus, and where everything starts. */
static const double least_noise = 1e-4;

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
  double value = (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
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
static enum gpnn_status evaluate(void *context, size_t n, const double *x, double *f,
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

static enum gpnn_status descend(struct descent *d, struct gpnn_error *err)
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
  enum gpnn_status status = gpnn_optimize_adam(evaluate, d, o->n_free, &adam, x, &report, err);
  for (size_t i = 0; i < o->n_free && status == GPNN_OK; i++)
    o->at[o->free[i]] = to_coordinate(d, o->free[i], x[i], &slope);
  free(x);
  return status;
}

/* Refuses what cannot fit into the machine's memory: the covariances of all factors, and for each
 * right-hand side the arrays of conjugate gradients and its solution. */
static enum gpnn_status check_memory(const struct gpnn_grid *grid, size_t columns,
                                     struct gpnn_error *err)
{
  const double gibi = 1024.0 * 1024 * 1024;
  struct gpnn_grid_cost cost = gpnn_grid_cost(grid);
  long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
  double vectors = cost.vector * (double)columns * (GPNN_GRID_COST_ARRAYS + 1);
  double there = (double)pages * (double)bytes;
  if (pages <= 0 || bytes <= 0 || cost.factors + vectors <= there) return GPNN_OK;
  return gpnn_fail(
      err, GPNN_ENOMEM,
      "steps on all cells need about %.3g GiB, and this machine has %.3g: %.3g for the "
      "covariances of the factors, of %zu and %zu levels, and %.3g for %zu solutions; "
      "use fewer --probes, or leave the steps out",
      (cost.factors + vectors) / gibi, there / gibi, cost.factors / gibi, grid->factor[0].n,
      grid->factor[1].n, vectors / gibi, columns);
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
  status = gpnn_grid_objective_make(&d.objective, parameters, view, &none, &plain, err);
  double *start = gpnn_alloc(n, 1, sizeof *start);
  d.gradient = gpnn_alloc(n, 1, sizeof *d.gradient);
  d.solutions = gpnn_alloc(view->grid->factor[0].n * view->inner, 1 + options->estimate.probes,
                           sizeof *d.solutions);
  if (status == GPNN_OK && (start == NULL || d.gradient == NULL || d.solutions == NULL))
    status = gpnn_fail_memory(err, "for vectors of a grid");
  if (status == GPNN_OK) {
    gpnn_grid_get_coordinates(parameters, start);
    if (d.objective.n_free > 0 && options->steps > 0) status = descend(&d, err);
    gpnn_grid_set_coordinates(parameters, status == GPNN_OK ? d.objective.at : start);
  }
  if (status == GPNN_OK) *report = d.report;
  gpnn_grid_objective_release(&d.objective);
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
