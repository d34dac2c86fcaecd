/* The pool of rows for an estimation from neighbourhoods, and their neighbours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "estimate/fit_private.h"
#include "kernel/rotation.h"
#include "likelihood/categorical.h"
#include "search/search.h"
#include "vecchia/vecchia.h"

/* ---- rows ------------------------------------------------------------------------------- */

/* Number of neighbours of a row in the objective: the k of MLL-k includes the row itself. */
static size_t neighbours_of(const struct gpnn_fit_problem *problem)
{
  size_t n = problem->dataset->n, k = problem->options->k;
  if (problem->kind == GPNN_OBJECTIVE_MLL_K && k > 1) k--;
  return k < n - 1 ? k : n - 1;
}

static enum gpnn_status allocate(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  const struct gpnn_fit_options *options = problem->options;
  struct gpnn_fit_pool *pool = &problem->pool;
  struct gpnn_fit_batches *batches = &problem->batches;
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

/* Allocates squared distances where they are worth storing: with a single lengthscale they remain
 * valid. */
static enum gpnn_status allocate_squares(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  const size_t most = 1 << 23, few_inputs = 8;
  struct gpnn_fit_pool *pool = &problem->pool;
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

/* Takes the first rows of the random order that all estimations share. */
static enum gpnn_status draw_pool(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = problem->dataset;
  struct gpnn_fit_pool *pool = &problem->pool;
  struct gpnn_fit_batches *batches = &problem->batches;
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

/* Finds the share of each class. */
static enum gpnn_status count_classes(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = problem->dataset;
  size_t n_classes = gpnn_dataset_n_classes(dataset);
  if (problem->kind != GPNN_OBJECTIVE_LABELS) return GPNN_OK;
  problem->pool.share = gpnn_alloc(n_classes, 1, sizeof *problem->pool.share);
  if (problem->pool.share == NULL) return gpnn_fail_memory(err, "for the classes");
  gpnn_categorical_shares(n_classes, dataset->n, dataset->y, problem->pool.share);
  return GPNN_OK;
}

enum gpnn_status gpnn_fit_pool_init(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  enum gpnn_status status = allocate(problem, err);
  if (status == GPNN_OK) status = count_classes(problem, err);
  if (status == GPNN_OK) status = allocate_squares(problem, err);
  return status == GPNN_OK ? draw_pool(problem, err) : status;
}

void gpnn_fit_pool_release(struct gpnn_fit_problem *problem)
{
  free(problem->pool.row);
  free(problem->pool.neighbour);
  free(problem->pool.x);
  free(problem->pool.before);
  free(problem->pool.squares);
  free(problem->pool.share);
  free(problem->batches.order);
  free(problem->batches.row);
  free(problem->batches.neighbour);
  free(problem->batches.squares);
  free(problem->lengthscale);
  free(problem->searched);
}

/* ---- neighbours ------------------------------------------------------------------------- */

/* True if training rows 'a' and 'b' are so close that one must not be a neighbour of the other. */
static bool is_thinned(const struct gpnn_fit_problem *problem, int64_t a, int64_t b)
{
  size_t d = problem->dataset->d;
  double thin = problem->options->thin, r2 = 0;
  if (thin < 0) return false;
  const double *x = problem->dataset->x + (size_t)a * d, *z = problem->dataset->x + (size_t)b * d;
  for (size_t j = 0; j < d; j++) r2 += (x[j] - z[j]) * (x[j] - z[j]);
  return r2 <= thin * thin;
}

/* Keeps up to k of the rows found for pool row 'i' as its neighbours. */
static void keep_neighbours(struct gpnn_fit_problem *problem, size_t i, size_t n_found,
                            const int64_t *found)
{
  struct gpnn_fit_pool *pool = &problem->pool;
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

/* Finds the nearest of all other rows; with thinning, among twice as many candidates. */
static enum gpnn_status search_all(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = problem->dataset;
  const struct gpnn_fit_rotation *learnt = &problem->rotation;
  struct gpnn_fit_pool *pool = &problem->pool;
  size_t d = dataset->d, wanted = 1 + pool->k * (problem->options->thin < 0 ? 1 : 2);
  if (wanted > dataset->n) wanted = dataset->n;
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  const double *all = dataset->x;
  options.neighbours = wanted;
  options.recall = 0.9; /* a missed row is hardly nearer than the one found instead */
  if (learnt->n == 0) {
    options.lengthscale = problem->lengthscale;
  } else {
    gpnn_rotation_apply(d, learnt->map, dataset->n, dataset->x, learnt->all);
    all = learnt->all;
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
    if (problem->spacing < 0)
      gpnn_fit_measure_spacing(dataset, pool->n, pool->row, wanted, found, distance,
                               &problem->spacing, &problem->usual_spacing);
    for (size_t i = 0; i < pool->n; i++) keep_neighbours(problem, i, wanted, found + i * wanted);
  }
  gpnn_search_free(search);
  free(found);
  free(distance);
  return status;
}

/* Finds, for each row, the nearest of the rows before it. */
static enum gpnn_status search_before(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = problem->dataset;
  struct gpnn_fit_pool *pool = &problem->pool;
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

/* Fails if thinning excludes every neighbour of every row. */
static enum gpnn_status check_lists(const struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  const struct gpnn_fit_pool *pool = &problem->pool;
  if (problem->options->thin < 0) return GPNN_OK;
  for (size_t i = 0; i < pool->n; i++)
    if (pool->neighbour[i * pool->k] >= 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL,
                   "thinning by %g in standardised inputs excludes every neighbour of every row",
                   problem->options->thin);
}

struct gpnn_neighbourhoods gpnn_fit_pool_hoods(const struct gpnn_fit_pool *pool)
{
  return (struct gpnn_neighbourhoods){pool->n,         pool->k,       pool->row,
                                      pool->neighbour, pool->squares, pool->share};
}

/* True if the metric orders rows as at the last search, as it always does with one lengthscale. */
static bool is_metric_unchanged(const struct gpnn_fit_problem *problem)
{
  struct gpnn_search_metric last = {problem->searched, NULL}, now = {problem->lengthscale, NULL};
  return problem->n_searches > 0 && problem->rotation.n == 0 &&
         gpnn_search_same_metric(problem->dataset->d, last, now);
}

enum gpnn_status gpnn_fit_pool_refresh(struct gpnn_fit_problem *problem, const double *u,
                                       struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = problem->dataset;
  gpnn_fit_coordinates_set(&problem->coordinates, u);
  gpnn_fit_rotation_set(problem, u);
  gpnn_covariance_expand(&problem->targets->params->covariance, dataset->d, dataset->group,
                         problem->lengthscale);
  problem->lists_changed = false;
  if (is_metric_unchanged(problem)) return GPNN_OK;
  memcpy(problem->searched, problem->lengthscale, dataset->d * sizeof *problem->searched);
  problem->n_searches++;
  enum gpnn_status status = problem->kind == GPNN_OBJECTIVE_VECCHIA ? search_before(problem, err)
                                                                    : search_all(problem, err);
  if (status == GPNN_OK) status = check_lists(problem, err);
  if (status == GPNN_OK && problem->pool.squares != NULL) {
    const struct gpnn_neighbourhoods hoods = gpnn_fit_pool_hoods(&problem->pool);
    gpnn_neighbourhood_squares(dataset, &hoods, problem->options->threads, problem->pool.squares);
  }
  return status;
}
