/*
 * Estimation from neighbourhoods: leave-one-out, joint and Vecchia's (estimate/neighbourhood.h;
 * gpnn-methods(7), equations 4.10 to 4.29).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/fit_private.h"
#include "kernel/rotation.h"
#include "linalg/blas.h"

/* ---- rotation ------------------------------------------------------------------------------ */

/* Starts from the current lengthscales.  This and the following functions do nothing if no rotation
 * is learnt. */
static enum gpnn_status begin_rotation(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  struct gpnn_fit_rotation *learnt = &problem->rotation;
  size_t d = problem->dataset->d;
  if (!problem->options->learn_rotation) return GPNN_OK;
  learnt->n = d * d;
  learnt->base = gpnn_alloc(5 * d, d, sizeof *learnt->base);
  learnt->all = gpnn_alloc(problem->dataset->n, d, sizeof *learnt->all);
  if (learnt->base == NULL || learnt->all == NULL) return gpnn_fail_memory(err, "for a rotation");
  learnt->map = learnt->base + d * d;
  learnt->factor = learnt->map + d * d;
  learnt->by_map = learnt->factor + d * d;
  learnt->one = learnt->by_map + d * d;
  gpnn_covariance_expand(&problem->targets->params->covariance, d, problem->dataset->group,
                         problem->lengthscale);
  for (size_t j = 0; j < d; j++) learnt->base[j * d + j] = 1 / problem->lengthscale[j];
  return GPNN_OK;
}

void gpnn_fit_rotation_set(struct gpnn_fit_problem *problem, const double *u)
{
  struct gpnn_fit_rotation *learnt = &problem->rotation;
  int d = (int)problem->dataset->d;
  if (learnt->n == 0) return;
  memcpy(learnt->factor, u + problem->coordinates.n, learnt->n * sizeof *u);
  for (int j = 0; j < d; j++) learnt->factor[j * d + j] += 1;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, d, d, 1, learnt->factor, d,
              learnt->base, d, 0, learnt->map, d);
}

/*
 * H is the derivative by E' where the map becomes (I + E') times itself; that by E is
 * H (I + E)^-T, and H itself is used if I + E cannot be inverted.  See gpnn-methods(7),
 * equation 4.29.
 */
static void write_rotation_gradient(const struct gpnn_fit_problem *problem, double *gradient)
{
  const struct gpnn_fit_rotation *learnt = &problem->rotation;
  lapack_int d = (lapack_int)problem->dataset->d, *pivots = NULL;
  double *to = gradient + problem->coordinates.n;
  if (learnt->n == 0) return;
  memcpy(to, learnt->by_map, learnt->n * sizeof *to);
  pivots = gpnn_alloc((size_t)d, 1, sizeof *pivots);
  /* Row-major G = H T^-T is T^-1 H' in column-major order, where row-major T reads as T'. */
  if (pivots != NULL && LAPACKE_dgetrf(LAPACK_COL_MAJOR, d, d, learnt->factor, d, pivots) == 0)
    (void)LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'T', d, d, learnt->factor, d, pivots, to, d);
  free(pivots);
}

/* Writes to learnt->base the map from the original inputs: the learnt map after 'given', the
 * rotation that the parameters already have (or NULL). */
static void combine(struct gpnn_fit_problem *problem, const double *given)
{
  struct gpnn_fit_rotation *learnt = &problem->rotation;
  int d = (int)problem->dataset->d;
  if (given == NULL)
    memcpy(learnt->base, learnt->map, learnt->n * sizeof *learnt->map);
  else
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, d, d, 1, learnt->map, d, given, d, 0,
                learnt->base, d);
}

/* Writes the learnt rotation and lengthscales to every target's parameters. */
static enum gpnn_status finish_rotation(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  const struct gpnn_fit_targets *targets = problem->targets;
  struct gpnn_fit_rotation *learnt = &problem->rotation;
  const double longest = 1e12;
  enum gpnn_status status = GPNN_OK;
  if (learnt->n == 0) return GPNN_OK;
  combine(problem, targets->params->covariance.rotation);
  for (size_t t = 0; t < targets->n && status == GPNN_OK; t++) {
    struct gpnn_parameters *params = &targets->params[t];
    if (params->covariance.rotation == NULL)
      params->covariance.rotation = gpnn_alloc(learnt->n, 1, sizeof *params->covariance.rotation);
    if (params->covariance.rotation == NULL) return gpnn_fail_memory(err, "for a rotation");
    params->covariance.n_rotation = learnt->n;
    status =
        gpnn_rotation_decompose(problem->dataset->d, learnt->base, longest,
                                params->covariance.rotation, params->covariance.lengthscale, err);
  }
  return status;
}

static void free_rotation(struct gpnn_fit_problem *problem)
{
  free(problem->rotation.base);
  free(problem->rotation.all);
}

/* ---- objectives ------------------------------------------------------------------------- */

/* Number of threads for an evaluation, each with at least a tenth of a millisecond of work: a
 * minibatch with few columns is evaluated before another thread could start. */
static int threads_for(const struct gpnn_fit_problem *problem,
                       const struct gpnn_neighbourhoods *hoods)
{
  const double least = 4e6; /* in the units of 'work', each about 25 ps */
  double k = (double)hoods->k, d = (double)problem->dataset->d;
  double work = (double)hoods->n * k * k * (k + 10 * d);
  return gpnn_threads_for(problem->options->threads, (size_t)(work / least));
}

static enum gpnn_density density_of(enum gpnn_objective_kind kind)
{
  if (kind == GPNN_OBJECTIVE_LABELS) return GPNN_DENSITY_LABELS;
  return kind == GPNN_OBJECTIVE_MLL_K ? GPNN_DENSITY_JOINT : GPNN_DENSITY_CONDITIONAL;
}

/* Adds the objective of target 't' to the mean '*f' and, unless 'gradient' is NULL, writes its
 * gradient there and adds its part of the derivative by the map. */
static enum gpnn_status add_target(struct gpnn_fit_problem *problem, size_t t,
                                   const struct gpnn_neighbourhoods *hoods, double *f,
                                   double *gradient, struct gpnn_error *err)
{
  const struct gpnn_fit_targets *targets = problem->targets;
  struct gpnn_fit_rotation *learnt = &problem->rotation;
  struct gpnn_neighbourhood_result result = {
      .gradient = gradient, .by_map = gradient == NULL || learnt->n == 0 ? NULL : learnt->one};
  enum gpnn_status status = gpnn_neighbourhood_objective(
      &targets->dataset[t], &targets->params[t], learnt->n == 0 ? NULL : learnt->map,
      density_of(problem->kind), hoods, problem->team, threads_for(problem, hoods), &result, err);
  if (status != GPNN_OK) return status;
  *f += result.value / (double)targets->n;
  gpnn_jitter_note(&problem->jitter, result.jitter.n, result.jitter.most);
  for (size_t j = 0; result.by_map != NULL && j < learnt->n; j++)
    learnt->by_map[j] += learnt->one[j] / (double)targets->n;
  return GPNN_OK;
}

/* Number of rows that the prior is weighed against: a term of MLL-k covers a whole neighbourhood.
 */
static double rows_of(const struct gpnn_fit_problem *problem)
{
  double n = (double)problem->pool.n;
  return problem->kind == GPNN_OBJECTIVE_MLL_K ? n / (double)(problem->pool.k + 1) : n;
}

/*
 * The prior of the entries of E off the diagonal, which draws a rotation towards none
 * (gpnn-methods(7), section 4): minus its logarithm per row; adds its gradient to 'gradient',
 * unless that is NULL.
 */
static double rotation_prior(const struct gpnn_fit_problem *problem, const double *u,
                             double *gradient)
{
  const double sd = 0.3;
  size_t d = problem->dataset->d, first = problem->coordinates.n;
  double sum = 0, weight = 1 / (sd * sd * rows_of(problem));
  for (size_t i = 0; i < problem->rotation.n; i++) {
    if (i % d == i / d) continue;
    sum += weight * u[first + i] * u[first + i] / 2;
    if (gradient != NULL) gradient[first + i] += weight * u[first + i];
  }
  return sum;
}

static enum gpnn_status evaluate(struct gpnn_fit_problem *problem,
                                 const struct gpnn_neighbourhoods *hoods, const double *u,
                                 double *f, double *gradient, struct gpnn_error *err)
{
  struct gpnn_fit_coordinates *coordinates = &problem->coordinates;
  struct gpnn_fit_rotation *learnt = &problem->rotation;
  enum gpnn_status status = GPNN_OK;
  gpnn_fit_coordinates_set(coordinates, u);
  gpnn_fit_rotation_set(problem, u);
  for (size_t j = 0; j < learnt->n; j++) learnt->by_map[j] = 0;
  *f = 0;
  problem->jitter = (struct gpnn_jitter){0, 0};
  for (size_t t = 0; t < problem->targets->n && status == GPNN_OK; t++)
    status =
        add_target(problem, t, hoods, f,
                   gradient == NULL ? NULL : coordinates->gradient + t * coordinates->width, err);
  if (status != GPNN_OK) return status;
  if (gradient != NULL) {
    gpnn_fit_coordinates_gradient(coordinates, gradient);
    write_rotation_gradient(problem, gradient);
  }
  problem->prior = gpnn_fit_coordinates_prior(coordinates, rows_of(problem), u, gradient) +
                   rotation_prior(problem, u, gradient);
  *f += problem->prior;
  return GPNN_OK;
}

static enum gpnn_status pool_objective(void *context, size_t n, const double *u, double *f,
                                       double *gradient, struct gpnn_error *err)
{
  struct gpnn_fit_problem *problem = context;
  const struct gpnn_neighbourhoods hoods = gpnn_fit_pool_hoods(&problem->pool);
  (void)n;
  return evaluate(problem, &hoods, u, f, gradient, err);
}

static enum gpnn_status next_batch(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  const struct gpnn_fit_pool *pool = &problem->pool;
  struct gpnn_fit_batches *batches = &problem->batches;
  for (size_t i = 0; i < batches->n; i++) {
    if (batches->next == pool->n) {
      enum gpnn_status status =
          gpnn_rng_sample(&batches->rng, pool->n, pool->n, batches->order, err);
      if (status != GPNN_OK) return status;
      batches->next = 0;
    }
    size_t at = (size_t)batches->order[batches->next++];
    batches->row[i] = pool->row[at];
    memcpy(batches->neighbour + i * pool->k, pool->neighbour + at * pool->k,
           pool->k * sizeof *pool->neighbour);
    size_t width = GPNN_HOOD_SQUARES(pool->k);
    if (pool->squares != NULL)
      memcpy(batches->squares + i * width, pool->squares + at * width,
             width * sizeof *pool->squares);
  }
  return GPNN_OK;
}

/* The objective on the next minibatch or, without a gradient, on the whole pool, because the value
 * on a minibatch says little. */
static enum gpnn_status batch_objective(void *context, size_t n, const double *u, double *f,
                                        double *gradient, struct gpnn_error *err)
{
  struct gpnn_fit_problem *problem = context;
  const struct gpnn_fit_batches *batches = &problem->batches;
  if (gradient == NULL) return pool_objective(context, n, u, f, NULL, err);
  enum gpnn_status status = GPNN_OK;
  if (problem->n_steps++ % problem->options->refresh == 0)
    status = gpnn_fit_pool_refresh(problem, u, err);
  if (status == GPNN_OK) status = next_batch(problem, err);
  struct gpnn_neighbourhoods hoods = {batches->n,         problem->pool.k,  batches->row,
                                      batches->neighbour, batches->squares, problem->pool.share};
  return status == GPNN_OK ? evaluate(problem, &hoods, u, f, gradient, err) : status;
}

/* ---- searches for parameters ------------------------------------------------------------ */

/* The coordinates of the search: those of the parameters, then E. */
struct point {
  size_t n;
  double *u, *lower, *upper; /* n of each, in one block that 'u' owns */
};

static enum gpnn_status point_init(const struct gpnn_fit_problem *problem, struct point *point,
                                   struct gpnn_error *err)
{
  const struct gpnn_fit_coordinates *c = &problem->coordinates;
  const double most = 4; /* far more than any change that still resembles the start */
  point->n = c->n + problem->rotation.n;
  point->u = gpnn_alloc(point->n, 3, sizeof *point->u);
  if (point->u == NULL) return gpnn_fail_memory(err, "for the search");
  point->lower = point->u + point->n;
  point->upper = point->lower + point->n;
  for (size_t i = 0; i < point->n; i++) {
    point->u[i] = i < c->n ? c->u[i] : 0;
    point->lower[i] = i < c->n ? c->lower[i] : -most;
    point->upper[i] = i < c->n ? c->upper[i] : most;
  }
  return GPNN_OK;
}

/* The rate of the first step.  Entries of E act together, so each takes smaller steps than a single
 * parameter would. */
static double rate_of(const struct gpnn_fit_problem *problem)
{
  const double usual = 0.1;
  if (problem->options->rate > 0) return problem->options->rate;
  return problem->rotation.n == 0 ? usual : usual / sqrt((double)problem->dataset->d);
}

static enum gpnn_status search_adam(struct gpnn_fit_problem *problem, struct point *point,
                                    struct gpnn_optimize_report *report, struct gpnn_error *err)
{
  const struct gpnn_adam adam = {.n_steps = problem->options->steps,
                                 .rate = rate_of(problem),
                                 .falling = true,
                                 .lower = point->lower,
                                 .upper = point->upper};
  return gpnn_optimize_adam(batch_objective, problem, point->n, &adam, point->u, report, err);
}

/* Uses all rows of the pool, and finds neighbours again until they or the objective no longer
 * change.  The last evaluation is at the result, as with Adam. */
static enum gpnn_status search_lbfgs(struct gpnn_fit_problem *problem, struct point *point,
                                     struct gpnn_optimize_report *report, struct gpnn_error *err)
{
  enum { MOST_ROUNDS = 10, MOST_EVALUATIONS = 60 };
  struct gpnn_optimize_report round = {0};
  size_t n_evaluations = 0;
  double start = 0, before = INFINITY;
  for (size_t i = 0; i < MOST_ROUNDS; i++) {
    enum gpnn_status status = gpnn_fit_pool_refresh(problem, point->u, err);
    if (status != GPNN_OK) return status;
    if (i > 0 && (!problem->lists_changed || fabs(before - round.end) < 1e-6)) break;
    before = i == 0 ? INFINITY : round.end;
    status = gpnn_optimize_lbfgs(pool_objective, problem, point->n, MOST_EVALUATIONS, 0,
                                 point->lower, point->upper, point->u, &round, err);
    if (status != GPNN_OK) return status;
    if (i == 0) start = round.start;
    n_evaluations += round.n_evaluations;
  }
  *report = round;
  report->start = start;
  report->n_evaluations = n_evaluations + 1;
  return pool_objective(problem, point->n, point->u, &report->end, NULL, err);
}

static enum gpnn_status search(struct gpnn_fit_problem *problem,
                               struct gpnn_optimize_report *report, struct gpnn_error *err)
{
  struct point point = {0};
  enum gpnn_status status = point_init(problem, &point, err);
  if (status == GPNN_OK)
    status = problem->options->optimizer == GPNN_OPTIMIZER_LBFGS
                 ? search_lbfgs(problem, &point, report, err)
                 : search_adam(problem, &point, report, err);
  if (status == GPNN_OK) {
    gpnn_fit_coordinates_set(&problem->coordinates, point.u);
    gpnn_fit_rotation_set(problem, point.u);
  }
  free(point.u);
  return status;
}

/* While a rotation is learnt the lengthscales are fixed, because E includes their changes. */
enum gpnn_status gpnn_fit_neighbourhoods(const struct gpnn_fit_targets *targets,
                                         const struct gpnn_fit_options *options,
                                         enum gpnn_objective_kind kind, double scale,
                                         struct gpnn_fit_report *report, struct gpnn_error *err)
{
  struct gpnn_fit_problem problem = {.targets = targets,
                                     .dataset = targets->dataset,
                                     .options = options,
                                     .kind = kind,
                                     .spacing = -1};
  struct gpnn_fit_options free_ones = *options;
  bool with_constant = targets->params->mean.kind != GPNN_MEAN_ZERO;
  if (options->learn_rotation) free_ones.fixed_lengthscale = 1;
  if (kind == GPNN_OBJECTIVE_LABELS) free_ones.fixed_kernelscale = 1;
  enum gpnn_status status = gpnn_fit_coordinates_init(&problem.coordinates, &free_ones, targets,
                                                      scale, with_constant, err);
  if (status == GPNN_OK) status = gpnn_team_new(&problem.team, options->threads, err);
  if (status == GPNN_OK) status = gpnn_fit_pool_init(&problem, err);
  if (status == GPNN_OK) status = begin_rotation(&problem, err);
  if (status == GPNN_OK) status = search(&problem, &report->optimize, err);
  if (status == GPNN_OK) status = finish_rotation(&problem, err);
  if (status == GPNN_OK) {
    report->objective = kind;
    report->value = report->optimize.end - problem.prior;
    report->n_rows = problem.pool.n;
    report->k = problem.pool.k;
    report->n_searches = problem.n_searches;
    report->spacing = problem.spacing < 0 ? 1 : problem.spacing;
    report->usual_spacing = problem.spacing < 0 ? 1 : problem.usual_spacing;
    report->jitter = problem.jitter;
  }
  gpnn_fit_coordinates_release(&problem.coordinates);
  gpnn_fit_pool_release(&problem);
  free_rotation(&problem);
  gpnn_team_free(problem.team);
  return status;
}
