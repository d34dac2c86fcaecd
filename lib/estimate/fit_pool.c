/* The pool of rows for an estimation from neighbourhoods, and their neighbours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "estimate/fit_private.h"
#include "kernel/rotation.h"
#include "likelihood/categorical.h"
#include "linalg/arrays.h"
#include "search/search.h"
#include "vecchia/vecchia.h"

/* ---- spacing ------------------------------------------------------------------------------- */

/* The row that is neighbour 'a' in order of distance, from 1, of a row whose list of 'found' may
 * have the row itself; where its distance is goes to '*at'. */
static int64_t other(int64_t row, size_t n_found, const int64_t *found, size_t a, size_t *at)
{
  size_t n = 0;
  for (*at = 0; *at < n_found; (*at)++) {
    if (found[*at] < 0 || found[*at] == row) continue;
    if (++n == a) return found[*at];
  }
  return -1;
}

struct counts {
  size_t tied, equal;    /* rows whose nearest has the same inputs, and of these the same target */
  size_t far, far_equal; /* rows with a farthest neighbour, and of these the same target */
};

struct lists {
  const struct gpnn_dataset *dataset;
  size_t n, n_found, m; /* rows; found for each; others among these */
  const int64_t *row, *found;
  const double *distance; /* squared */
};

/* The ratio of two distances of row 'i', those of others 'a' and 'b'; NaN if both are 0 or there
 * are none. */
static double ratio_of(const struct lists *lists, size_t i, size_t a, size_t b)
{
  size_t at_a, at_b;
  const int64_t *found = lists->found + i * lists->n_found;
  const double *distance = lists->distance + i * lists->n_found;
  if (other(lists->row[i], lists->n_found, found, a, &at_a) < 0 ||
      other(lists->row[i], lists->n_found, found, b, &at_b) < 0)
    return NAN;
  return distance[at_b] > 0 ? sqrt(distance[at_a] / distance[at_b]) : NAN;
}

/* True if the nearest row to row 'i' has the same inputs; counts it and whether targets agree. */
static bool count_ties(const struct lists *lists, size_t i, struct counts *counts)
{
  const struct gpnn_dataset *dataset = lists->dataset;
  const int64_t *found = lists->found + i * lists->n_found;
  size_t d = dataset->d, at, row = (size_t)lists->row[i];
  int64_t near = other(lists->row[i], lists->n_found, found, 1, &at);
  int64_t far = other(lists->row[i], lists->n_found, found, lists->m, &at);
  if (near < 0 || far < 0) return false;
  counts->far++;
  counts->far_equal += dataset->y[far] == dataset->y[row];
  if (memcmp(dataset->x + (size_t)near * d, dataset->x + row * d, d * sizeof(double)) != 0)
    return false;
  counts->tied++;
  counts->equal += dataset->y[near] == dataset->y[row];
  return true;
}

/* True if rows with the same inputs are copies of each other: if their targets agree clearly more
 * often than those of other neighbours, halfway from these to always. */
static bool ties_are_copies(const struct counts *counts)
{
  double tied = (double)counts->equal / fmax(1, (double)counts->tied);
  double far = (double)counts->far_equal / fmax(1, (double)counts->far);
  return tied > 0.5 * (1 + far);
}

/* The median of the 'n' numbers that are not NaN, sorting them; 'none' if there are none. */
static double median(size_t n, double *values, double none)
{
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    if (!isnan(values[i])) values[kept++] = values[i];
  if (kept == 0) return none;
  qsort(values, kept, sizeof *values, gpnn_compare_doubles);
  return values[kept / 2];
}

/* The dimension that distances grow with: in d dimensions half as many neighbours are at 2^(-1/d)
 * of the distance. */
static double effective_dimension(const struct lists *lists, double *ratio)
{
  size_t half = lists->m / 2;
  double d = (double)lists->dataset->d;
  if (half < 2) return d;
  for (size_t i = 0; i < lists->n; i++) ratio[i] = ratio_of(lists, i, half, 2 * half);
  double typical = median(lists->n, ratio, 0.5);
  return typical > 0 ? fmax(1, fmin(d, log(2) / -log(fmin(typical, 0.999)))) : 1;
}

double gpnn_fit_usual_spacing(size_t m, double dimension)
{
  return m < 2 ? 1 : pow(-expm1(-log(2) / (double)(m - 1)), 1 / dimension);
}

/* Measures the spacing of 'n' rows (struct gpnn_fit_report) from the lists of the 'n_found' nearest
 * training rows of each, nearest first and -1 where there are none, with squared distances; a row
 * may be in its own list.  1 for both if there is not enough memory. */
static void measure_spacing(const struct gpnn_dataset *dataset, size_t n, const int64_t *row,
                            size_t n_found, const int64_t *found, const double *distance,
                            double *spacing, double *usual)
{
  struct lists lists = {dataset, n, n_found, n_found - 1, row, found, distance};
  struct counts counts = {0};
  double *ratio = gpnn_alloc(n, 1, sizeof *ratio);
  bool *tied = gpnn_alloc(n, 1, sizeof *tied);
  *spacing = *usual = 1;
  if (ratio != NULL && tied != NULL && lists.m > 1) {
    *usual = gpnn_fit_usual_spacing(lists.m, effective_dimension(&lists, ratio));
    for (size_t i = 0; i < n; i++) tied[i] = count_ties(&lists, i, &counts);
    double when_tied = ties_are_copies(&counts) ? 0 : 1;
    for (size_t i = 0; i < n; i++) ratio[i] = tied[i] ? when_tied : ratio_of(&lists, i, 1, lists.m);
    *spacing = median(n, ratio, 1);
  }
  free(tied);
  free(ratio);
}

/* The 'n' rows of the random order that all estimations share. */
static enum gpnn_status draw_rows(const struct gpnn_dataset *dataset, uint64_t seed, size_t n,
                                  int64_t *row, double *x, struct gpnn_error *err)
{
  struct gpnn_rng rng;
  uint64_t *order = gpnn_alloc(n, 1, sizeof *order);
  if (order == NULL) return gpnn_fail_memory(err, "for the rows to measure");
  gpnn_rng_init(&rng, seed, GPNN_RNG_ESTIMATE);
  enum gpnn_status status = gpnn_rng_sample(&rng, dataset->n, n, order, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    row[i] = (int64_t)order[i];
    memcpy(x + i * dataset->d, dataset->x + order[i] * dataset->d, dataset->d * sizeof *x);
  }
  free(order);
  return status;
}

/* How the 'wanted' nearest rows are searched. */
static struct gpnn_search_options how_to_search(const struct gpnn_fit_options *options,
                                                const double *lengthscale, size_t wanted)
{
  struct gpnn_search_options how = GPNN_SEARCH_OPTIONS_INIT;
  how.neighbours = wanted;
  how.lengthscale = lengthscale;
  how.seed = options->seed;
  how.threads = options->threads;
  how.brief = true;
  return how;
}

enum gpnn_status gpnn_fit_find_spacing(const struct gpnn_dataset *dataset,
                                       const struct gpnn_parameters *params,
                                       const struct gpnn_fit_options *options,
                                       struct gpnn_fit_report *report, struct gpnn_error *err)
{
  enum { ROWS = 1000 };
  size_t n = dataset->n < ROWS ? dataset->n : ROWS, d = dataset->d;
  size_t n_found = options->k + 1 < dataset->n ? options->k + 1 : dataset->n;
  bool is_measured = report->usual_spacing < 1 || report->spacing < 1;
  if (is_measured || dataset->n > GPNN_FIT_SPACING_ROWS) return GPNN_OK;
  int64_t *row = gpnn_alloc(n, 1, sizeof *row);
  double *x = gpnn_alloc(n, d, sizeof *x);
  double *lengthscale = gpnn_alloc(d, 1, sizeof *lengthscale);
  const struct gpnn_search_options how = how_to_search(options, lengthscale, n_found);
  struct gpnn_near near = {0};
  const struct gpnn_near_lists *found = NULL;
  enum gpnn_status status = GPNN_OK;
  if (row == NULL || x == NULL || lengthscale == NULL) {
    status = gpnn_fail_memory(err, "for the rows to measure");
  } else {
    gpnn_covariance_expand(&params->covariance, d, dataset->group, lengthscale);
    status = draw_rows(dataset, options->seed, n, row, x, err);
  }
  const struct gpnn_near_query query = {dataset->n, d, dataset->x, n, x, n_found, &how};
  if (status == GPNN_OK) status = gpnn_near_find(&near, &query, &found, err);
  if (status == GPNN_OK)
    measure_spacing(dataset, n, row, n_found, found->row, found->distance, &report->spacing,
                    &report->usual_spacing);
  gpnn_near_release(&near);
  free(lengthscale);
  free(x);
  free(row);
  return status;
}

bool gpnn_fit_has_copies(const struct gpnn_fit_report *report)
{
  static const double most = 0.05, share = 1.0 / 3;
  return report->spacing < fmin(most, share * report->usual_spacing);
}

/* ---- rows ------------------------------------------------------------------------------- */

/* Number of neighbours of a row in the objective: the k of MLL-k includes the row itself. */
static size_t neighbours_of(const struct gpnn_fit_problem *problem)
{
  size_t n = problem->dataset->n, k = problem->options->k;
  if (problem->kind == GPNN_OBJECTIVE_MLL_K && k > 1) k--;
  return k < n - 1 ? k : n - 1;
}

static enum gpnn_status pool_alloc(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  const struct gpnn_fit_options *options = problem->options;
  struct gpnn_fit_pool *pool = &problem->pool;
  struct gpnn_fit_batches *batches = &problem->batches;
  size_t n = problem->dataset->n, d = problem->dataset->d;
  pool->n = options->rows < n ? options->rows : n;
  pool->k = neighbours_of(problem);
  batches->n = options->batch < pool->n ? options->batch : pool->n;
  batches->next = pool->n;
  bool is_vecchia = problem->kind == GPNN_OBJECTIVE_VECCHIA;
  problem->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(pool->row, pool->n, 1), GPNN_ARRAY(pool->neighbour, pool->n, pool->k),
      GPNN_ARRAY(pool->x, pool->n, d), GPNN_ARRAY(batches->order, pool->n, 1),
      GPNN_ARRAY(batches->row, batches->n, 1), GPNN_ARRAY(batches->neighbour, batches->n, pool->k),
      GPNN_ARRAY(problem->lengthscale, d, 1), GPNN_ARRAY(problem->searched, d, 1),
      GPNN_ARRAY_IF(is_vecchia, pool->before, n, 1));
  if (problem->arrays == NULL) return gpnn_fail_memory(err, "for the rows to estimate from");
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
  enum gpnn_status status = pool_alloc(problem, err);
  if (status == GPNN_OK) status = count_classes(problem, err);
  if (status == GPNN_OK) status = allocate_squares(problem, err);
  return status == GPNN_OK ? draw_pool(problem, err) : status;
}

void gpnn_fit_pool_release(struct gpnn_fit_problem *problem)
{
  free(problem->pool.squares);
  free(problem->pool.share);
  free(problem->batches.squares);
  gpnn_near_release(&problem->near);
  gpnn_arrays_free(problem->arrays);
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
  struct gpnn_near *near = problem->options->near;
  size_t d = dataset->d, wanted = 1 + pool->k * (problem->options->thin < 0 ? 1 : 2);
  if (wanted > dataset->n) wanted = dataset->n;
  struct gpnn_search_options how = how_to_search(problem->options, problem->lengthscale, wanted);
  how.recall = 0.9; /* a missed row is hardly nearer than the one found instead */
  if (learnt->n > 0) {
    how.lengthscale = NULL;
    gpnn_rotation_apply(d, learnt->map, dataset->n, dataset->x, learnt->all);
    for (size_t i = 0; i < pool->n; i++)
      memcpy(pool->x + i * d, learnt->all + (size_t)pool->row[i] * d, d * sizeof *pool->x);
  }
  if (learnt->n > 0 || near == NULL) near = &problem->near;
  const struct gpnn_near_query query = {
      dataset->n, d, learnt->n > 0 ? learnt->all : dataset->x, pool->n, pool->x, wanted, &how};
  const struct gpnn_near_lists *found;
  enum gpnn_status status = gpnn_near_find(near, &query, &found, err);
  if (status == GPNN_OK && problem->spacing < 0)
    measure_spacing(dataset, pool->n, pool->row, found->k, found->row, found->distance,
                    &problem->spacing, &problem->usual_spacing);
  for (size_t i = 0; i < pool->n && status == GPNN_OK; i++)
    keep_neighbours(problem, i, found->k, found->row + i * found->k);
  if (learnt->n > 0) gpnn_near_release(near); /* the rows will lie elsewhere */
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
