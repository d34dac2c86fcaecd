#include <math.h>
#include <string.h>

#include "models/grid/fit/coordinates.h"
#include "models/grid/fit/fit_private.h"

/* Lengthscales stay within this factor of the levels' spread; the prior of their logarithms has
 * this standard deviation. */
static const double most_lengthscales = 1000, spread_lengthscale = 2;
static const double least_noise = 1e-4, most_loading = 30;

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
  enum gpnn_status status = gpnn_grid_objective_evaluate(o, o->n_free, trial, &f, NULL, err);
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

enum gpnn_status gpnn_grid_objective_scan(struct gpnn_grid_objective *o, double *x,
                                          struct gpnn_error *err)
{
  static const double step[] = {-2, -1, 1, 2};
  enum { STEPS = sizeof step / sizeof step[0] };
  double best = INFINITY;
  for (size_t i = 0; i < o->n_free; i++) x[i] = o->at[o->free[i]];
  enum gpnn_status status = gpnn_grid_objective_evaluate(o, o->n_free, x, &best, NULL, err);
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = o->n_free; i-- > 0;)
      for (size_t k = 0; is_scanned(o, i) && k < STEPS && status == GPNN_OK; k++)
        status = try_step(o, &o->coordinate[o->free[i]], step[k], x, x + o->n_free, &best, err);
  for (size_t i = 0; status == GPNN_OK && i < o->n_free; i++) o->at[o->free[i]] = x[i];
  return status;
}
