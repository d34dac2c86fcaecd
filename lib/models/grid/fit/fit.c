#include "models/grid/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/optimize.h"
#include "models/grid/fit/coordinates.h"
#include "models/grid/fit/fit_private.h"
#include "models/grid/fit/likelihood.h"
#include "models/grid/fit/subset.h"

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

enum gpnn_status gpnn_grid_objective_evaluate(void *context, size_t n, const double *x, double *f,
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

enum gpnn_status
gpnn_grid_objective_make(struct gpnn_grid_objective *o, struct gpnn_parameters *parameters,
                         const struct gpnn_grid_view *view, const struct gpnn_grid_samples *blocks,
                         const struct gpnn_grid_fit_options *options, struct gpnn_error *err)
{
  size_t n = gpnn_grid_n_coordinates(parameters);
  o->parameters = parameters;
  o->n_coordinates = n;
  o->task_spread = options->task_spread;
  o->threads = gpnn_threads_for(options->threads, blocks->n);
  o->coordinate = gpnn_alloc(n, 1, sizeof *o->coordinate);
  o->free = gpnn_alloc(n, 1, sizeof *o->free);
  o->at = gpnn_alloc(n, 1, sizeof *o->at);
  o->sum = gpnn_alloc(n, 1, sizeof *o->sum);
  o->cells = gpnn_alloc(blocks->n, 1, sizeof *o->cells);
  o->value = gpnn_alloc(blocks->n, 1, sizeof *o->value);
  o->gradient = gpnn_alloc(blocks->n, n, sizeof *o->gradient);
  if (o->coordinate == NULL || o->free == NULL || o->at == NULL || o->sum == NULL ||
      o->cells == NULL || o->value == NULL || o->gradient == NULL)
    return gpnn_fail_memory(err, "for an estimation");
  gpnn_grid_get_coordinates(parameters, o->at);
  gpnn_grid_objective_describe(o, view, &options->held);
  if (!options->complete) return collect(o, view, blocks, err);
  o->complete = view;
  o->n_blocks = 1;
  o->n_cells = view->grid->n_cells;
  return GPNN_OK;
}

void gpnn_grid_objective_release(struct gpnn_grid_objective *o)
{
  for (size_t b = 0; b < o->n_blocks; b++) gpnn_grid_subset_release(&o->cells[b]);
  free(o->coordinate);
  free(o->free);
  free(o->at);
  free(o->sum);
  free(o->cells);
  free(o->value);
  free(o->gradient);
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
  enum gpnn_status status =
      gpnn_optimize_lbfgs(gpnn_grid_objective_evaluate, o, o->n_free, evaluations, bounds,
                          bounds + o->n_free, x, &report, err);
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
  if (o->n_free == 0) return gpnn_grid_objective_evaluate(o, 0, &none, end, NULL, err);
  double *x = gpnn_alloc(o->n_free, 3, sizeof *x);
  if (x == NULL) return gpnn_fail_memory(err, "for an estimation");
  if (options->scans) status = gpnn_grid_objective_scan(o, x, err);
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
  enum gpnn_status status = gpnn_grid_objective_make(&o, parameters, view, blocks, options, err);
  if (status == GPNN_OK) status = estimate(&o, options, &end, err);
  gpnn_grid_set_coordinates(parameters, status == GPNN_OK ? o.at : start);
  if (status == GPNN_OK)
    *report = (struct gpnn_grid_fit_report){o.n_cells, o.n_evaluations,
                                            -(end - gpnn_grid_objective_prior(&o, NULL)) /
                                                (double)o.n_cells};
  gpnn_grid_objective_release(&o);
  free(start);
  return status;
}
