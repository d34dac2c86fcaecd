#include "models/grid/posterior.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "linalg/arrays.h"
#include "models/grid/posterior_private.h"
#include "stats/distributions/normal.h"
#include "stats/distributions/student.h"

#define MEMORY_FOR "for the posterior of a grid"

/* ---- checks ------------------------------------------------------------------------------- */

static enum gpnn_status check_factors(const struct gpnn_grid *grid,
                                      const struct gpnn_parameters *parameters,
                                      struct gpnn_error *err)
{
  if (parameters->grid.n_factors != grid->n_factors)
    return gpnn_fail(err, GPNN_EMISMATCH, "the grid has %zu factors, but the parameters have %zu",
                     grid->n_factors, parameters->grid.n_factors);
  for (size_t a = 0; a < grid->n_factors; a++) {
    const struct gpnn_factor *factor = &parameters->grid.factor[a];
    if (factor->n_terms == 0 && factor->n_tasks != grid->factor[a].n)
      return gpnn_fail(err, GPNN_EMISMATCH,
                       "factor %s has %zu levels, but the parameters are of %zu tasks",
                       grid->factor[a].name, grid->factor[a].n, factor->n_tasks);
  }
  return GPNN_OK;
}

/* Says in 'why', static text, what keeps the grid from being complete. */
static bool is_complete(const struct gpnn_grid *grid, const struct gpnn_parameters *parameters,
                        const char **why)
{
  *why = "the grid has holes";
  if (grid->n_cells != gpnn_grid_size(grid)) return false;
  *why = "some cells were observed more often than others";
  for (size_t i = 1; grid->counts != NULL && i < grid->n_cells; i++)
    if (grid->counts[i] != grid->counts[0]) return false;
  *why = "levels have noise of their own";
  return parameters->grid.noise_factor == 0;
}

static enum gpnn_status choose_engine(struct gpnn_grid_posterior *p, struct gpnn_error *err)
{
  enum { SPARSEST = 20 };
  enum gpnn_grid_engine engine = p->options.engine;
  const char *why;
  bool complete = is_complete(p->grid, p->parameters, &why);
  if (engine == GPNN_GRID_ENGINE_COMPLETE && !complete)
    return gpnn_fail(err, GPNN_EINVAL, "the engine complete is not for this grid: %s", why);
  if (engine == GPNN_GRID_ENGINE_AUTO) {
    size_t n = p->grid->n_cells;
    bool dense = n <= GPNN_GRID_DENSE_CELLS && gpnn_grid_size(p->grid) / SPARSEST <= n;
    engine = complete ? GPNN_GRID_ENGINE_COMPLETE
             : dense  ? GPNN_GRID_ENGINE_DENSE
                      : GPNN_GRID_ENGINE_LATENT;
  }
  p->ops = engine == GPNN_GRID_ENGINE_COMPLETE ? &gpnn_grid_complete_ops
           : engine == GPNN_GRID_ENGINE_DENSE  ? &gpnn_grid_dense_ops
                                               : &gpnn_grid_latent_ops;
  enum gpnn_grid_variance variance = p->options.variance;
  p->exact_variance = variance == GPNN_GRID_VARIANCE_EXACT ||
                      (variance == GPNN_GRID_VARIANCE_AUTO && p->ops->exact_variance);
  bool sampled = !p->exact_variance && variance != GPNN_GRID_VARIANCE_NONE;
  p->has_draws = sampled || p->options.keep_draws || p->options.mean == GPNN_GRID_MEAN_SAMPLE;
  return GPNN_OK;
}

/* ---- making ------------------------------------------------------------------------------- */

static enum gpnn_status prepare_levels(struct gpnn_grid_posterior *p, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < p->grid->n_factors && status == GPNN_OK; a++) {
    const struct gpnn_grid_factor *levels = &p->grid->factor[a];
    p->dims[a] = levels->n;
    p->prepared[a] = gpnn_alloc(levels->n, levels->d, sizeof(double));
    if (p->prepared[a] == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
    status = gpnn_factor_prepare(&p->parameters->grid.factor[a], levels->d, levels->n, levels->x,
                                 levels->n, levels->x, p->prepared[a], err);
  }
  return status;
}

/* Estimates what the means of other levels are like.  Under Student's t variances are squared
 * scales: theirs become those of intervals of 95 % as wide. */
static enum gpnn_status extend_means(struct gpnn_grid_posterior *p, struct gpnn_error *err)
{
  const double level = 0.95;
  const struct gpnn_parameters *parameters = p->parameters;
  enum gpnn_status status = gpnn_grid_means_extend(&p->means, p->grid, err);
  if (status != GPNN_OK || parameters->likelihood == GPNN_LIKELIHOOD_GAUSSIAN ||
      !(parameters->degrees > 0))
    return status;
  double wider =
      gpnn_student_half_width(level, parameters->degrees) / gpnn_normal_half_width(level);
  p->means.series.variance /= wider * wider;
  return GPNN_OK;
}

/* Removes the means of levels from the values of the cells, and pads them. */
static enum gpnn_status take_values(struct gpnn_grid_posterior *p, const double *y,
                                    struct gpnn_error *err)
{
  const struct gpnn_grid *grid = p->grid;
  size_t level[GPNN_GRID_FACTORS], cells = gpnn_grid_size(grid);
  if (y == NULL) y = grid->y;
  p->outer = grid->factor[0].n;
  p->inner = cells / p->outer;
  p->arrays = GPNN_ARRAYS(GPNN_ARRAY(p->y, cells, 1), GPNN_ARRAY(p->weights, cells, 1),
                          GPNN_ARRAY(p->mean, cells, 1), GPNN_ARRAY(p->alpha, grid->n_cells, 1));
  if (p->arrays == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status =
      gpnn_grid_means_make(&p->means, grid, p->parameters->grid.mean_factor, y, err);
  if (status == GPNN_OK) status = extend_means(p, err);
  for (size_t i = 0; status == GPNN_OK && i < grid->n_cells; i++) {
    gpnn_grid_levels(grid, grid->cell[i], level);
    p->y[grid->cell[i]] = y[i] - gpnn_grid_means_at(&p->means, level);
  }
  return status;
}

static enum gpnn_status make_engine(struct gpnn_grid_posterior *p, struct gpnn_error *err)
{
  struct gpnn_grid_system_options options = p->options.system;
  if (p->ops != &gpnn_grid_latent_ops) options.preconditioner = GPNN_GRID_PRECONDITION_NONE;
  if (p->has_draws) options.columns = 1 + p->options.draws;
  if (options.tolerance == 0) options.tolerance = p->options.tolerance;
  enum gpnn_status status = gpnn_grid_system_new(&p->system, p->grid, p->parameters, &options, err);
  bool has_state = p->ops->make != NULL;
  return status == GPNN_OK && has_state ? p->ops->make(p, &p->engine, err) : status;
}

double gpnn_grid_exact_tolerance(const struct gpnn_grid_posterior *p)
{
  const struct gpnn_grid_posterior_options *options = &p->options;
  bool is_tighter = options->exact_tolerance > 0 && options->exact_tolerance < options->tolerance;
  return is_tighter ? options->exact_tolerance : options->tolerance;
}

enum gpnn_status gpnn_grid_not_converged(double tolerance, const struct gpnn_cg_report *report,
                                         struct gpnn_error *err)
{
  return gpnn_fail(err, GPNN_ENUMERIC,
                   "conjugate gradients have not converged after %zu iterations: the worst "
                   "residual is %.2g of its right-hand side, not %.2g: allow more of them "
                   "(--max-iter), or accept the solution as it is (--accept)",
                   report->iterations, report->residual, tolerance);
}

enum gpnn_status gpnn_grid_posterior_solve(struct gpnn_grid_posterior *p, double tolerance,
                                           size_t columns, const double *b, double *x,
                                           struct gpnn_error *err)
{
  struct gpnn_cg_report report = {.converged = true};
  enum gpnn_status status = p->ops->solve(p, tolerance, columns, b, x, &report, err);
  if (status == GPNN_ENUMERIC && p->parameters->covariance.noise == 0)
    return gpnn_prefix(err, status, "the parameters have no noise, which every solution needs");
  if (status != GPNN_OK) return status;
  p->solved += columns;
  if (report.iterations > p->report.iterations) p->report.iterations = report.iterations;
  if (report.residual > p->report.residual) p->report.residual = report.residual;
  p->report.converged = p->report.converged && report.converged;
  if (report.converged || p->options.accept) return GPNN_OK;
  return gpnn_grid_not_converged(tolerance, &report, err);
}

/* alpha and the mean of all cells. */
static enum gpnn_status solve_mean(struct gpnn_grid_posterior *p, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = p->grid;
  for (size_t i = 0; p->options.alpha != NULL && i < grid->n_cells; i++)
    p->weights[grid->cell[i]] = p->options.alpha[i];
  p->options.alpha = NULL; /* borrowed until here */
  enum gpnn_status status =
      gpnn_grid_posterior_solve(p, gpnn_grid_exact_tolerance(p), 1, p->y, p->weights, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < grid->n_cells; i++) p->alpha[i] = p->weights[grid->cell[i]];
  return gpnn_grid_system_spread(p->system, 0, 1, p->weights, p->mean, err);
}

/* Vectors of all cells: values, weights and mean; and of draws, which are kept, what is solved. */
static enum gpnn_status check_memory(const struct gpnn_grid_posterior *p, struct gpnn_error *err)
{
  enum { VALUES = 3 };
  size_t kept = p->has_draws && p->options.keep_draws ? p->options.draws : 0;
  return gpnn_grid_check_memory(p->grid, VALUES + kept, err);
}

enum gpnn_status gpnn_grid_posterior_new(struct gpnn_grid_posterior **made,
                                         const struct gpnn_grid *grid, const double *y,
                                         const struct gpnn_parameters *parameters,
                                         const struct gpnn_grid_posterior_options *options,
                                         struct gpnn_error *err)
{
  enum gpnn_status status = check_factors(grid, parameters, err);
  if (status != GPNN_OK) return status;
  struct gpnn_grid_posterior *p = gpnn_alloc(1, 1, sizeof *p);
  if (p == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  p->grid = grid;
  p->parameters = parameters;
  p->options = *options;
  p->report.converged = true;
  if (p->options.system.threads < 1) p->options.system.threads = 1;
  if (p->options.tolerance == 0) p->options.tolerance = gpnn_grid_noise_tolerance(parameters);
  status = choose_engine(p, err);
  if (status == GPNN_OK) status = check_memory(p, err);
  if (status == GPNN_OK) status = prepare_levels(p, err);
  if (status == GPNN_OK) status = take_values(p, y, err);
  if (status == GPNN_OK) status = make_engine(p, err);
  if (status == GPNN_OK) status = solve_mean(p, err);
  if (status == GPNN_OK && p->has_draws) status = gpnn_grid_make_draws(p, err);
  if (status == GPNN_OK)
    *made = p;
  else
    gpnn_grid_posterior_free(p);
  return status;
}

void gpnn_grid_posterior_free(struct gpnn_grid_posterior *p)
{
  if (p == NULL) return;
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) {
    free(p->prepared[a]);
    gpnn_grid_root_release(&p->root[a]);
  }
  if (p->engine != NULL) p->ops->free(p->engine);
  if (p->blocks != NULL)
    for (size_t b = 0; b < gpnn_grid_n_blocks(p); b++) free(p->blocks[b]);
  free(p->blocks);
  gpnn_grid_system_free(p->system);
  gpnn_grid_means_release(&p->means);
  gpnn_arrays_free(p->arrays);
  free(p->variance);
  free(p);
}

/* ---- accessors ---------------------------------------------------------------------------- */

double gpnn_grid_posterior_noise(const struct gpnn_grid_posterior *p,
                                 const struct gpnn_grid_places *places, size_t i)
{
  const struct gpnn_grid_process *process = &p->parameters->grid;
  if (process->noise_factor == 0) return p->parameters->covariance.noise;
  uint32_t level = places->level[i * p->grid->n_factors + process->noise_factor - 1];
  return level < process->n_noise ? process->noise[level] : p->parameters->covariance.noise;
}

struct gpnn_grid_posterior_report gpnn_grid_posterior_report(const struct gpnn_grid_posterior *p)
{
  struct gpnn_grid_posterior_report report = {.engine = p->ops->name,
                                              .preconditioner = "none",
                                              .iterations = p->report.iterations,
                                              .residual = p->report.residual,
                                              .converged = p->report.converged,
                                              .exact_variance = p->exact_variance};
  if (p->ops->jitter != NULL) report.jitter = p->ops->jitter(p->engine);
  if (p->ops == &gpnn_grid_latent_ops)
    report.preconditioner = gpnn_grid_system_preconditioner(p->system, &report.rank);
  for (size_t a = 0; a < p->grid->n_factors && p->has_draws; a++)
    if (p->root[a].jitter > report.jitter) report.jitter = p->root[a].jitter;
  return report;
}

/* ---- kept solutions ----------------------------------------------------------------------- */

static const char alpha_name[] = "alpha", draws_name[] = "draws";

/* ---- out ---------------------------------------------------------------------------------- */

/* Copies all draws, one after another, from the padded blocks. */
static void take_draws(const struct gpnn_grid_posterior *p, double *draws)
{
  size_t n = p->grid->n_cells;
  for (size_t b = 0; b < gpnn_grid_n_blocks(p); b++) {
    size_t columns = gpnn_grid_block_draws(p, b);
    for (size_t c = 0; c < columns; c++)
      for (size_t o = 0; o < n; o++) {
        size_t cell = (size_t)p->grid->cell[o];
        *draws++ = p->blocks[b][(cell / p->inner * columns + c) * p->inner + cell % p->inner];
      }
  }
}

enum gpnn_status gpnn_grid_state_store(const struct gpnn_grid_posterior *p, const char *target,
                                       struct gpnn_state *state, struct gpnn_error *err)
{
  size_t n = p->grid->n_cells;
  enum gpnn_status status = gpnn_state_add(state, target, alpha_name, n, p->alpha, err);
  if (status != GPNN_OK || p->blocks == NULL) return status;
  double *draws = gpnn_alloc(n, p->options.draws, sizeof *draws);
  if (draws == NULL) return gpnn_fail_memory(err, "for the draws of a grid");
  take_draws(p, draws);
  status = gpnn_state_add(state, target, draws_name, n * p->options.draws, draws, err);
  free(draws);
  return status;
}

/* ---- in ----------------------------------------------------------------------------------- */

static bool is_finite(const struct gpnn_state_array *array)
{
  for (size_t i = 0; i < array->n; i++)
    if (!isfinite(array->values[i])) return false;
  return true;
}

void gpnn_grid_state_find(const struct gpnn_state *state, uint64_t fingerprint, const char *target,
                          size_t n_cells, struct gpnn_grid_posterior_options *options)
{
  if (state == NULL || state->fingerprint != fingerprint) return;
  const struct gpnn_state_array *alpha = gpnn_state_find(state, target, alpha_name);
  const struct gpnn_state_array *draws = gpnn_state_find(state, target, draws_name);
  if (alpha != NULL && alpha->n == n_cells && is_finite(alpha)) options->alpha = alpha->values;
  if (draws != NULL && draws->n % n_cells == 0 && is_finite(draws)) {
    options->start = draws->values;
    options->n_start = draws->n / n_cells;
  }
}
