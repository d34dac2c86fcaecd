/*
 * Estimation from neighbourhoods: leave-one-out, joint and Vecchia's (models/local/neighbourhood.h;
 * gpnn-methods(7), equations 4.10 to 4.27).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "kernel/rotation.h"
#include "linalg/blas.h"
#include "models/local/fit_coordinates_private.h"
#include "models/local/neighbourhood.h"
#include "search/search.h"
#include "vecchia/vecchia.h"

/* ---- the pool --------------------------------------------------------------------------- */

/* The rows an estimation uses, and their neighbours under the metric of the moment. */
struct pool {
  size_t n, k;
  int64_t *row, *neighbour; /* n; n by k */
  double *x;                /* n by d: the rows */
  int64_t *before;          /* vecchia: the order of all training rows; else NULL */
  double *squares;          /* n by GPNN_HOOD_SQUARES(k) (models/local/neighbourhood.h), or NULL */
};

/* Minibatches of the pool, drawn without replacement until it is used up. */
struct batches {
  struct gpnn_rng rng;
  size_t n, next;
  uint64_t *order; /* of the pool's rows */
  int64_t *row, *neighbour;
  double *squares; /* where the pool has them */
};

/*
 * A rotation being learnt: the kernel sees (I + E) base times the inputs.  Directions are as free
 * to mix as lengthscales to change, so E stands in the place of the lengthscales: its diagonal is
 * what they would change by.
 */
struct turning {
  size_t n;       /* d squared, or 0: nothing is learnt */
  double *base;   /* d by d: what is seen at the start */
  double *map;    /* d by d: what is seen now */
  double *turn;   /* d by d: I + E */
  double *by_map; /* d by d: derivative of the targets' mean objective */
  double *one;    /* d by d: of one target's */
  double *all;    /* n by d: all rows as seen */
};

/* An estimation under way. */
struct problem {
  const struct gpnn_fit_targets *targets;
  const struct gpnn_dataset *dataset; /* the first target's view, for the rows */
  const struct gpnn_fit_options *options;
  enum gpnn_objective_kind kind;
  struct gpnn_fit_coordinates coordinates;
  struct pool pool;
  struct batches batches;
  size_t n_steps;            /* of adam so far */
  bool lists_changed;        /* at the last search for neighbours */
  double spacing;            /* as in struct gpnn_fit_report, at the first search */
  struct gpnn_jitter jitter; /* of the last evaluation, all targets together */
  double prior;              /* the prior's share of its value */
  double *lengthscale;       /* d: scratch */
  double *searched;          /* d: those that neighbours were last searched under */
  size_t n_searches;         /* so far */
  struct turning turning;
  struct gpnn_team *team;
};

static void problem_release(struct problem *problem)
{
  gpnn_fit_coordinates_release(&problem->coordinates);
  free(problem->pool.row);
  free(problem->pool.neighbour);
  free(problem->pool.x);
  free(problem->pool.before);
  free(problem->pool.squares);
  free(problem->batches.order);
  free(problem->batches.row);
  free(problem->batches.neighbour);
  free(problem->batches.squares);
  free(problem->lengthscale);
  free(problem->searched);
  free(problem->turning.base);
  free(problem->turning.all);
  gpnn_team_free(problem->team);
}

/* Neighbours a row has in the objective: MLL-k counts the row itself. */
static size_t neighbours_of(const struct problem *problem)
{
  size_t n = problem->dataset->n, k = problem->options->k;
  if (problem->kind == GPNN_OBJECTIVE_MLL_K && k > 1) k--;
  return k < n - 1 ? k : n - 1;
}

static enum gpnn_status allocate(struct problem *problem, struct gpnn_error *err)
{
  const struct gpnn_fit_options *options = problem->options;
  struct pool *pool = &problem->pool;
  struct batches *batches = &problem->batches;
  size_t n = problem->dataset->n, d = problem->dataset->d;
  pool->n = options->rows < n ? options->rows : n;
  pool->k = neighbours_of(problem);
  batches->n = options->batch < pool->n ? options->batch : pool->n;
  batches->next = pool->n;
  pool->row = gpnn_alloc(pool->n, 1, sizeof *pool->row);
  pool->neighbour = gpnn_alloc(pool->n, pool->k, sizeof *pool->neighbour);
  pool->x = gpnn_alloc(pool->n, d, sizeof *pool->x);
  batches->order = gpnn_alloc(pool->n, 1, sizeof *batches->order);
  batches->row = gpnn_alloc(batches->n, 1, sizeof *batches->row);
  batches->neighbour = gpnn_alloc(batches->n, pool->k, sizeof *batches->neighbour);
  problem->lengthscale = gpnn_alloc(d, 1, sizeof *problem->lengthscale);
  problem->searched = gpnn_alloc(d, 1, sizeof *problem->searched);
  if (problem->kind == GPNN_OBJECTIVE_VECCHIA)
    pool->before = gpnn_alloc(n, 1, sizeof *pool->before);
  bool enough = pool->row && pool->neighbour && pool->x && batches->order && batches->row &&
                batches->neighbour && problem->lengthscale && problem->searched;
  if (!enough || (problem->kind == GPNN_OBJECTIVE_VECCHIA && pool->before == NULL))
    return gpnn_fail_memory(err, "for the rows to estimate from");
  return GPNN_OK;
}

/* Room for distances, where they are worth keeping: they serve as long as there is one lengthscale.
 */
static enum gpnn_status keep_squares(struct problem *problem, struct gpnn_error *err)
{
  const size_t most = 1 << 23, few_inputs = 8;
  struct pool *pool = &problem->pool;
  size_t width = GPNN_HOOD_SQUARES(pool->k);
  if (problem->targets->params->covariance.n_lengthscales > 1 || problem->options->learn_rotation ||
      problem->dataset->d < few_inputs || width == 0 || pool->n > most / width)
    return GPNN_OK;
  pool->squares = gpnn_alloc(pool->n, width, sizeof *pool->squares);
  problem->batches.squares = gpnn_alloc(problem->batches.n, width, sizeof *pool->squares);
  return pool->squares != NULL && problem->batches.squares != NULL
             ? GPNN_OK
             : gpnn_fail_memory(err, "for the rows to estimate from");
}

/* The first rows of the random order that every estimation draws from. */
static enum gpnn_status draw_pool(struct problem *problem, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = problem->dataset;
  struct pool *pool = &problem->pool;
  struct batches *batches = &problem->batches;
  size_t d = dataset->d;
  gpnn_rng_init(&batches->rng, problem->options->seed, GPNN_RNG_ESTIMATE);
  enum gpnn_status status =
      gpnn_rng_sample(&batches->rng, dataset->n, pool->n, batches->order, err);
  for (size_t i = 0; i < pool->n && status == GPNN_OK; i++) {
    pool->row[i] = (int64_t)batches->order[i];
    memcpy(pool->x + i * d, dataset->x + batches->order[i] * d, d * sizeof *pool->x);
  }
  gpnn_rng_init(&batches->rng, problem->options->seed, GPNN_RNG_BATCH);
  if (status == GPNN_OK && pool->before != NULL)
    status = gpnn_vecchia_order(GPNN_ORDER_PRINCIPAL, dataset->n, d, dataset->x,
                                problem->options->seed, pool->before, err);
  return status;
}

/* ---- a rotation being learnt -------------------------------------------------------------- */

/* Begins with the lengthscales as they are. */
static enum gpnn_status begin_turning(struct problem *problem, struct gpnn_error *err)
{
  struct turning *turning = &problem->turning;
  size_t d = problem->dataset->d;
  if (!problem->options->learn_rotation) return GPNN_OK;
  turning->n = d * d;
  turning->base = gpnn_alloc(5 * d, d, sizeof *turning->base);
  turning->all = gpnn_alloc(problem->dataset->n, d, sizeof *turning->all);
  if (turning->base == NULL || turning->all == NULL) return gpnn_fail_memory(err, "for a rotation");
  turning->map = turning->base + d * d;
  turning->turn = turning->map + d * d;
  turning->by_map = turning->turn + d * d;
  turning->one = turning->by_map + d * d;
  gpnn_covariance_expand(&problem->targets->params->covariance, d, problem->dataset->group,
                         problem->lengthscale);
  for (size_t j = 0; j < d; j++) turning->base[j * d + j] = 1 / problem->lengthscale[j];
  return GPNN_OK;
}

/* Sets the map from E, which stands behind the other coordinates. */
static void set_turning(struct problem *problem, const double *u)
{
  struct turning *turning = &problem->turning;
  int d = (int)problem->dataset->d;
  if (turning->n == 0) return;
  memcpy(turning->turn, u + problem->coordinates.n, turning->n * sizeof *u);
  for (int j = 0; j < d; j++) turning->turn[j * d + j] += 1;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, d, d, 1, turning->turn, d,
              turning->base, d, 0, turning->map, d);
}

/*
 * From the derivative H by a further (I + E') of the map to that by E, H (I + E)^-T, which stands
 * behind the other derivatives.  Where I + E cannot be inverted H itself serves.
 * See gpnn-methods(7), equation 4.27.
 */
static void turning_gradient(const struct problem *problem, double *gradient)
{
  const struct turning *turning = &problem->turning;
  lapack_int d = (lapack_int)problem->dataset->d, *pivots = NULL;
  double *to = gradient + problem->coordinates.n;
  if (turning->n == 0) return;
  memcpy(to, turning->by_map, turning->n * sizeof *to);
  pivots = gpnn_alloc((size_t)d, 1, sizeof *pivots);
  /* Row-major G = H T^-T is column-major T^-1 H', with T' standing where T is row-major. */
  if (pivots != NULL && LAPACKE_dgetrf(LAPACK_COL_MAJOR, d, d, turning->turn, d, pivots) == 0)
    (void)LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'T', d, d, turning->turn, d, pivots, to, d);
  free(pivots);
}

/* The map from the inputs in turning->base: what was learnt, behind the rotation that the
 * parameters have already. */
static void combine_turning(struct problem *problem, const double *given)
{
  struct turning *turning = &problem->turning;
  int d = (int)problem->dataset->d;
  if (given == NULL)
    memcpy(turning->base, turning->map, turning->n * sizeof *turning->map);
  else
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, d, d, 1, turning->map, d, given, d, 0,
                turning->base, d);
}

/* Writes what was learnt to every target's parameters. */
static enum gpnn_status finish_turning(struct problem *problem, struct gpnn_error *err)
{
  const struct gpnn_fit_targets *targets = problem->targets;
  struct turning *turning = &problem->turning;
  const double longest = 1e12;
  enum gpnn_status status = GPNN_OK;
  if (turning->n == 0) return GPNN_OK;
  combine_turning(problem, targets->params->covariance.rotation);
  for (size_t t = 0; t < targets->n && status == GPNN_OK; t++) {
    struct gpnn_parameters *params = &targets->params[t];
    if (params->covariance.rotation == NULL)
      params->covariance.rotation = gpnn_alloc(turning->n, 1, sizeof *params->covariance.rotation);
    if (params->covariance.rotation == NULL) return gpnn_fail_memory(err, "for a rotation");
    params->covariance.n_rotation = turning->n;
    status =
        gpnn_rotation_decompose(problem->dataset->d, turning->base, longest,
                                params->covariance.rotation, params->covariance.lengthscale, err);
  }
  return status;
}

/* ---- neighbours ------------------------------------------------------------------------- */

/* Whether training rows 'a' and 'b' are so near that one is to be passed over. */
static bool is_thinned(const struct problem *problem, int64_t a, int64_t b)
{
  size_t d = problem->dataset->d;
  double thin = problem->options->thin, r2 = 0;
  if (thin < 0) return false;
  const double *x = problem->dataset->x + (size_t)a * d, *z = problem->dataset->x + (size_t)b * d;
  for (size_t j = 0; j < d; j++) r2 += (x[j] - z[j]) * (x[j] - z[j]);
  return r2 <= thin * thin;
}

/* Keeps up to k of the rows found for pool row 'i' as its neighbours. */
static void keep_neighbours(struct problem *problem, size_t i, size_t n_found, const int64_t *found)
{
  struct pool *pool = &problem->pool;
  int64_t *list = pool->neighbour + i * pool->k;
  size_t kept = 0;
  for (size_t a = 0; a < n_found && kept < pool->k; a++) {
    int64_t row = found[a];
    if (row < 0 || row == pool->row[i] || is_thinned(problem, row, pool->row[i])) continue;
    problem->lists_changed |= list[kept] != row;
    list[kept++] = row;
  }
  while (kept < pool->k) list[kept++] = -1;
}

static int compare_doubles(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median over the pool of a row's nearest by its farthest distance, from squares; 'nearest' is
 * where the first of a list that may be itself stands. */
static double median_spacing(size_t n, size_t n_found, const double *distance)
{
  double *ratio = gpnn_alloc(n, 1, sizeof *ratio), median = 1;
  if (ratio == NULL) return 1;
  for (size_t i = 0; i < n; i++) {
    const double *own = distance + i * n_found;
    double farthest = own[n_found - 1];
    ratio[i] = farthest > 0 ? sqrt(own[n_found > 1] / farthest) : 0;
  }
  qsort(ratio, n, sizeof *ratio, compare_doubles);
  median = ratio[n / 2];
  free(ratio);
  return median;
}

/* The nearest of all other rows.  With thinning as many again are looked at. */
static enum gpnn_status search_all(struct problem *problem, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = problem->dataset;
  const struct turning *turning = &problem->turning;
  struct pool *pool = &problem->pool;
  size_t d = dataset->d, wanted = 1 + pool->k * (problem->options->thin < 0 ? 1 : 2);
  if (wanted > dataset->n) wanted = dataset->n;
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  const double *all = dataset->x;
  options.neighbours = wanted;
  options.recall = 0.9; /* a row missed is hardly nearer than the one in its place */
  if (turning->n == 0) {
    options.lengthscale = problem->lengthscale;
  } else {
    gpnn_rotation_apply(d, turning->map, dataset->n, dataset->x, turning->all);
    all = turning->all;
    for (size_t i = 0; i < pool->n; i++)
      memcpy(pool->x + i * d, all + (size_t)pool->row[i] * d, d * sizeof *all);
  }
  options.seed = problem->options->seed;
  options.threads = problem->options->threads;
  options.brief = true;
  int64_t *found = gpnn_alloc(pool->n, wanted, sizeof *found);
  double *distance = gpnn_alloc(pool->n, wanted, sizeof *distance);
  struct gpnn_search *search = NULL;
  enum gpnn_status status = GPNN_OK;
  if (found == NULL || distance == NULL)
    status = gpnn_fail_memory(err, "for neighbours");
  else
    status = gpnn_search_build(&search, dataset->n, d, all, &options, err);
  if (status == GPNN_OK)
    status =
        gpnn_search_query(search, pool->n, pool->x, wanted, found, distance, options.threads, err);
  if (status == GPNN_OK) {
    if (problem->spacing < 0) problem->spacing = median_spacing(pool->n, wanted, distance);
    for (size_t i = 0; i < pool->n; i++) keep_neighbours(problem, i, wanted, found + i * wanted);
  }
  gpnn_search_free(search);
  free(found);
  free(distance);
  return status;
}

/* The nearest of the rows before each. */
static enum gpnn_status search_before(struct problem *problem, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = problem->dataset;
  struct pool *pool = &problem->pool;
  struct gpnn_vecchia_options options = GPNN_VECCHIA_OPTIONS_INIT;
  options.neighbours = pool->k * (problem->options->thin < 0 ? 1 : 2);
  options.lengthscale = problem->lengthscale;
  options.kind = GPNN_SEARCH_AUTO;
  options.recall = 0.99;
  options.seed = problem->options->seed;
  options.threads = problem->options->threads;
  int64_t *found = gpnn_alloc(pool->n, options.neighbours, sizeof *found);
  if (found == NULL) return gpnn_fail_memory(err, "for neighbours");
  enum gpnn_status status = gpnn_vecchia_neighbours(
      dataset->n, dataset->d, dataset->x, pool->before, pool->n, pool->row, &options, found, err);
  for (size_t i = 0; i < pool->n && status == GPNN_OK; i++)
    keep_neighbours(problem, i, options.neighbours, found + i * options.neighbours);
  free(found);
  return status;
}

/* Thinning that leaves no row any neighbour leaves nothing to learn from. */
static enum gpnn_status check_lists(const struct problem *problem, struct gpnn_error *err)
{
  const struct pool *pool = &problem->pool;
  if (problem->options->thin < 0) return GPNN_OK;
  for (size_t i = 0; i < pool->n; i++)
    if (pool->neighbour[i * pool->k] >= 0) return GPNN_OK;
  return gpnn_fail(
      err, GPNN_EINVAL,
      "passing over neighbours within %g of standardised inputs leaves none to any row",
      problem->options->thin);
}

static struct gpnn_neighbourhoods hoods_of_pool(const struct pool *pool)
{
  return (struct gpnn_neighbourhoods){pool->n, pool->k, pool->row, pool->neighbour, pool->squares};
}

/* Whether the metric orders rows as it did at the last search: one lengthscale for all always does.
 */
static bool is_known(const struct problem *problem)
{
  struct gpnn_search_metric last = {problem->searched, NULL}, now = {problem->lengthscale, NULL};
  return problem->n_searches > 0 && problem->turning.n == 0 &&
         gpnn_search_same_metric(problem->dataset->d, last, now);
}

/* Finds the neighbours of the pool's rows anew under the metric at 'u', if they may be others. */
static enum gpnn_status refresh(struct problem *problem, const double *u, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = problem->dataset;
  gpnn_fit_coordinates_set(&problem->coordinates, u);
  set_turning(problem, u);
  gpnn_covariance_expand(&problem->targets->params->covariance, dataset->d, dataset->group,
                         problem->lengthscale);
  problem->lists_changed = false;
  if (is_known(problem)) return GPNN_OK;
  memcpy(problem->searched, problem->lengthscale, dataset->d * sizeof *problem->searched);
  problem->n_searches++;
  enum gpnn_status status = problem->kind == GPNN_OBJECTIVE_VECCHIA ? search_before(problem, err)
                                                                    : search_all(problem, err);
  if (status == GPNN_OK) status = check_lists(problem, err);
  if (status == GPNN_OK && problem->pool.squares != NULL) {
    const struct gpnn_neighbourhoods hoods = hoods_of_pool(&problem->pool);
    gpnn_neighbourhood_squares(dataset, &hoods, problem->options->threads, problem->pool.squares);
  }
  return status;
}

/* ---- objectives ------------------------------------------------------------------------- */

/* Threads to share an evaluation, a tenth of a millisecond of work for each at least: a minibatch
 * of few columns is evaluated sooner than another thread could be called. */
static int threads_for(const struct problem *problem, const struct gpnn_neighbourhoods *hoods)
{
  const double least = 4e6; /* in the units of 'work', which are some 25 ps */
  double k = (double)hoods->k, d = (double)problem->dataset->d;
  double work = (double)hoods->n * k * k * (k + 10 * d);
  return gpnn_threads_for(problem->options->threads, (size_t)(work / least));
}

/* Adds target 't' to the mean '*f', its gradient to those of the targets, and, unless 'gradient' is
 * NULL, its part of the derivative by the map. */
static enum gpnn_status add_target(struct problem *problem, size_t t,
                                   const struct gpnn_neighbourhoods *hoods, double *f,
                                   double *gradient, struct gpnn_error *err)
{
  const struct gpnn_fit_targets *targets = problem->targets;
  enum gpnn_density density =
      problem->kind == GPNN_OBJECTIVE_MLL_K ? GPNN_DENSITY_JOINT : GPNN_DENSITY_CONDITIONAL;
  struct turning *turning = &problem->turning;
  struct gpnn_neighbourhood_result result = {
      .gradient = gradient, .by_map = gradient == NULL || turning->n == 0 ? NULL : turning->one};
  enum gpnn_status status = gpnn_neighbourhood_objective(
      &targets->dataset[t], &targets->params[t], turning->n == 0 ? NULL : turning->map, density,
      hoods, problem->team, threads_for(problem, hoods), &result, err);
  if (status != GPNN_OK) return status;
  *f += result.value / (double)targets->n;
  gpnn_jitter_note(&problem->jitter, result.jitter.n, result.jitter.most);
  for (size_t j = 0; result.by_map != NULL && j < turning->n; j++)
    turning->by_map[j] += turning->one[j] / (double)targets->n;
  return GPNN_OK;
}

/* Rows that the mean objective is of: MLL-k counts each with all of its neighbourhood. */
static double rows_of(const struct problem *problem)
{
  double n = (double)problem->pool.n;
  return problem->kind == GPNN_OBJECTIVE_MLL_K ? n / (double)(problem->pool.k + 1) : n;
}

static enum gpnn_status evaluate(struct problem *problem, const struct gpnn_neighbourhoods *hoods,
                                 const double *u, double *f, double *gradient,
                                 struct gpnn_error *err)
{
  struct gpnn_fit_coordinates *coordinates = &problem->coordinates;
  struct turning *turning = &problem->turning;
  enum gpnn_status status = GPNN_OK;
  gpnn_fit_coordinates_set(coordinates, u);
  set_turning(problem, u);
  for (size_t j = 0; j < turning->n; j++) turning->by_map[j] = 0;
  *f = 0;
  problem->jitter = (struct gpnn_jitter){0, 0};
  for (size_t t = 0; t < problem->targets->n && status == GPNN_OK; t++)
    status =
        add_target(problem, t, hoods, f,
                   gradient == NULL ? NULL : coordinates->gradient + t * coordinates->width, err);
  if (status != GPNN_OK) return status;
  if (gradient != NULL) {
    gpnn_fit_coordinates_gradient(coordinates, gradient);
    turning_gradient(problem, gradient);
  }
  problem->prior = gpnn_fit_coordinates_prior(coordinates, rows_of(problem), u, gradient);
  *f += problem->prior;
  return GPNN_OK;
}

static enum gpnn_status pool_objective(void *context, size_t n, const double *u, double *f,
                                       double *gradient, struct gpnn_error *err)
{
  struct problem *problem = context;
  const struct gpnn_neighbourhoods hoods = hoods_of_pool(&problem->pool);
  (void)n;
  return evaluate(problem, &hoods, u, f, gradient, err);
}

static enum gpnn_status next_batch(struct problem *problem, struct gpnn_error *err)
{
  const struct pool *pool = &problem->pool;
  struct batches *batches = &problem->batches;
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

/* The objective on the next minibatch; without a gradient, on the pool: a minibatch's value says
 * little. */
static enum gpnn_status batch_objective(void *context, size_t n, const double *u, double *f,
                                        double *gradient, struct gpnn_error *err)
{
  struct problem *problem = context;
  const struct batches *batches = &problem->batches;
  if (gradient == NULL) return pool_objective(context, n, u, f, NULL, err);
  enum gpnn_status status = GPNN_OK;
  if (problem->n_steps++ % problem->options->refresh == 0) status = refresh(problem, u, err);
  if (status == GPNN_OK) status = next_batch(problem, err);
  struct gpnn_neighbourhoods hoods = {batches->n, problem->pool.k, batches->row, batches->neighbour,
                                      batches->squares};
  return status == GPNN_OK ? evaluate(problem, &hoods, u, f, gradient, err) : status;
}

/* ---- searches for parameters ------------------------------------------------------------ */

/* The coordinates of the search: those of the parameters, then E. */
struct point {
  size_t n;
  double *u, *lower, *upper; /* n of each, in one block that 'u' owns */
};

static enum gpnn_status point_init(const struct problem *problem, struct point *point,
                                   struct gpnn_error *err)
{
  const struct gpnn_fit_coordinates *c = &problem->coordinates;
  const double most = 4; /* beyond it directions have long lost what they were */
  point->n = c->n + problem->turning.n;
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

/* Entries of E move as one, so each has to move less than a parameter. */
static enum gpnn_status search_adam(struct problem *problem, struct point *point,
                                    struct gpnn_optimize_report *report, struct gpnn_error *err)
{
  const double rate = problem->turning.n == 0 ? 0.1 : 0.1 / sqrt((double)problem->dataset->d);
  const struct gpnn_adam adam = {.n_steps = problem->options->steps,
                                 .rate = rate,
                                 .falling = true,
                                 .lower = point->lower,
                                 .upper = point->upper};
  return gpnn_optimize_adam(batch_objective, problem, point->n, &adam, point->u, report, err);
}

/* All rows of the pool at once, with neighbours found anew until they or the objective no longer
 * change.  The last evaluation is at the result, as Adam's is. */
static enum gpnn_status search_lbfgs(struct problem *problem, struct point *point,
                                     struct gpnn_optimize_report *report, struct gpnn_error *err)
{
  enum { MOST_ROUNDS = 10, MOST_EVALUATIONS = 60 };
  struct gpnn_optimize_report round = {0};
  size_t n_evaluations = 0;
  double start = 0, before = INFINITY;
  for (size_t i = 0; i < MOST_ROUNDS; i++) {
    enum gpnn_status status = refresh(problem, point->u, err);
    if (status != GPNN_OK) return status;
    if (i > 0 && (!problem->lists_changed || fabs(before - round.end) < 1e-6)) break;
    before = i == 0 ? INFINITY : round.end;
    status = gpnn_optimize_lbfgs(pool_objective, problem, point->n, MOST_EVALUATIONS, point->lower,
                                 point->upper, point->u, &round, err);
    if (status != GPNN_OK) return status;
    if (i == 0) start = round.start;
    n_evaluations += round.n_evaluations;
  }
  *report = round;
  report->start = start;
  report->n_evaluations = n_evaluations + 1;
  return pool_objective(problem, point->n, point->u, &report->end, NULL, err);
}

static enum gpnn_status search(struct problem *problem, struct gpnn_optimize_report *report,
                               struct gpnn_error *err)
{
  struct point point = {0};
  enum gpnn_status status = point_init(problem, &point, err);
  if (status == GPNN_OK)
    status = problem->options->optimizer == GPNN_OPTIMIZER_LBFGS
                 ? search_lbfgs(problem, &point, report, err)
                 : search_adam(problem, &point, report, err);
  if (status == GPNN_OK) {
    gpnn_fit_coordinates_set(&problem->coordinates, point.u);
    set_turning(problem, point.u);
  }
  free(point.u);
  return status;
}

/* While a rotation is learnt the lengthscales stay as they are: E has them. */
enum gpnn_status gpnn_fit_neighbourhoods(const struct gpnn_fit_targets *targets,
                                         const struct gpnn_fit_options *options,
                                         enum gpnn_objective_kind kind, double scale,
                                         struct gpnn_fit_report *report, struct gpnn_error *err)
{
  struct problem problem = {.targets = targets,
                            .dataset = targets->dataset,
                            .options = options,
                            .kind = kind,
                            .spacing = -1};
  struct gpnn_fit_options free_ones = *options;
  bool with_constant = targets->params->mean.kind != GPNN_MEAN_ZERO;
  if (options->learn_rotation) free_ones.fixed_lengthscale = 1;
  enum gpnn_status status = gpnn_fit_coordinates_init(&problem.coordinates, &free_ones, targets,
                                                      scale, with_constant, err);
  if (status == GPNN_OK) status = gpnn_team_new(&problem.team, options->threads, err);
  if (status == GPNN_OK) status = allocate(&problem, err);
  if (status == GPNN_OK) status = keep_squares(&problem, err);
  if (status == GPNN_OK) status = draw_pool(&problem, err);
  if (status == GPNN_OK) status = begin_turning(&problem, err);
  if (status == GPNN_OK) status = search(&problem, &report->optimize, err);
  if (status == GPNN_OK) status = finish_turning(&problem, err);
  if (status == GPNN_OK) {
    report->objective = kind;
    report->value = report->optimize.end - problem.prior;
    report->n_rows = problem.pool.n;
    report->k = problem.pool.k;
    report->n_searches = problem.n_searches;
    report->spacing = problem.spacing < 0 ? 1 : problem.spacing;
    report->jitter = problem.jitter;
  }
  problem_release(&problem);
  return status;
}
