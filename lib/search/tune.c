/*
 * Building a search to a recall.
 *
 * The recall is measured on a sample of the rows themselves: the mean share of a query's true k
 * nearest that are found.  The effort (lists visited, efSearch, or the reach of a tree) is doubled
 * until the recall is met, then bisected to the least that meets it.  Work is counted in rows
 * looked at, so that choices are reproducible.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "linalg/blas_threads.h"
#include "search/search_private.h"

enum {
  SAMPLE = 256,          /* queries the recall is measured on */
  BRIEF_SAMPLE = 32,     /* the same where few queries will come */
  BRIEF_LISTS = 4,       /* and a fourth of the lists serves these */
  WHOLE = 100,           /* effort of a tree that misses nothing */
  FEW_ROWS = 10000,      /* a tree of so few is quick enough whole, */
  BRIEF_CELLS = 1 << 17, /* and where few queries will come, one of so few numbers */
};

/* The sample with its truth, and room for answers. */
struct trial {
  size_t n_queries, k;
  double *queries;   /* n_queries by d */
  double *farthest;  /* n_queries: true distance of the k-th nearest */
  int64_t *rows;     /* n_queries by k */
  double *distances; /* likewise */
  int threads;
};

/* What a trial found. */
struct measure {
  double recall;
  double visited; /* mean share of the places looked at */
};

static void trial_release(struct trial *trial)
{
  free(trial->queries);
  free(trial->farthest);
  free(trial->rows);
  free(trial->distances);
}

static enum gpnn_status draw_queries(struct trial *trial, const struct gpnn_points *points,
                                     uint64_t seed, struct gpnn_error *err)
{
  uint64_t chosen[SAMPLE];
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_SEARCH_SAMPLE);
  enum gpnn_status status = gpnn_rng_sample(&rng, points->n, trial->n_queries, chosen, err);
  for (size_t i = 0; i < trial->n_queries && status == GPNN_OK; i++)
    memcpy(trial->queries + i * points->d, points->x + (size_t)chosen[i] * points->d,
           points->d * sizeof *trial->queries);
  return status;
}

static enum gpnn_status trial_init(struct trial *trial, const struct gpnn_points *points,
                                   const struct gpnn_search_options *options,
                                   struct gpnn_error *err)
{
  trial->threads = options->threads;
  size_t sample = options->brief ? BRIEF_SAMPLE : SAMPLE;
  trial->n_queries = points->n < sample ? points->n : sample;
  trial->k = options->neighbours < points->n ? options->neighbours : points->n;
  if (trial->k == 0) trial->k = 1;
  trial->queries = gpnn_alloc(trial->n_queries, points->d, sizeof *trial->queries);
  trial->farthest = gpnn_alloc(trial->n_queries, 1, sizeof *trial->farthest);
  trial->rows = gpnn_alloc(trial->n_queries, trial->k, sizeof *trial->rows);
  trial->distances = gpnn_alloc(trial->n_queries, trial->k, sizeof *trial->distances);
  if (trial->queries == NULL || trial->farthest == NULL || trial->rows == NULL ||
      trial->distances == NULL)
    return gpnn_fail_memory(err, "for tuning a search");
  return draw_queries(trial, points, options->seed, err);
}

/* After queries have met rows all over. */
static void let_go(const struct gpnn_points *points)
{
  gpnn_mapping_evict(points->mapping, points->x, points->n * points->d * sizeof *points->x);
}

/* Finds the true neighbours, with 'search' where it has a tree, which is quicker; '*visited' is the
 * mean share of the places that took. */
static enum gpnn_status find_truth(struct trial *trial, const struct gpnn_search *search,
                                   double *visited, struct gpnn_error *err)
{
  size_t n_visited = 0;
  const struct gpnn_points *points = &search->points;
  enum gpnn_status status =
      search->tree != NULL ? gpnn_search_query_counted(search, trial->n_queries, trial->queries,
                                                       trial->k, trial->rows, trial->distances,
                                                       trial->threads, &n_visited, err)
                           : gpnn_exact_query(points, trial->n_queries, trial->queries, trial->k,
                                              trial->rows, trial->distances, trial->threads, err);
  for (size_t i = 0; i < trial->n_queries && status == GPNN_OK; i++)
    trial->farthest[i] = trial->distances[i * trial->k + trial->k - 1];
  *visited = (double)n_visited / (double)trial->n_queries / (double)points->n_places;
  let_go(points);
  return status;
}

/* Measures the search at 'effort'. */
static enum gpnn_status measure(struct trial *trial, struct gpnn_search *search, size_t effort,
                                struct measure *found, struct gpnn_error *err)
{
  size_t visited = 0, hits = 0, n_truth = trial->n_queries * trial->k;
  enum gpnn_status status = gpnn_search_set_effort(search, effort, err);
  if (status == GPNN_OK)
    status =
        gpnn_search_query_counted(search, trial->n_queries, trial->queries, trial->k, trial->rows,
                                  trial->distances, trial->threads, &visited, err);
  if (status != GPNN_OK) return status;
  /* By distance, so that either of two rows at the same distance counts as found. */
  for (size_t i = 0; i < n_truth; i++) hits += trial->distances[i] <= trial->farthest[i / trial->k];
  found->recall = (double)hits / (double)n_truth;
  found->visited = (double)visited / (double)trial->n_queries / (double)search->points.n_places;
  let_go(&search->points);
  return GPNN_OK;
}

static void report_measure(struct gpnn_search *search, const struct trial *trial, size_t effort,
                           struct measure found)
{
  search->report.effort = effort;
  search->report.recall = found.recall;
  search->report.visited =
      found.visited * (double)search->points.n_places / (double)search->points.n;
  search->report.n_queries = trial->n_queries;
  search->report.neighbours = trial->k;
}

/* What efforts to try. */
struct efforts {
  size_t first, most;
  double worth; /* no effort is of use that looks at more than this share of the rows */
  const struct measure *at_most; /* what 'most' is known to find, or NULL */
};

/* Measures the search at 'effort', unless it is known what that finds. */
static enum gpnn_status find_out(struct trial *trial, struct gpnn_search *search,
                                 const struct efforts *efforts, size_t effort,
                                 struct measure *found, struct gpnn_error *err)
{
  if (efforts->at_most == NULL || effort != efforts->most)
    return measure(trial, search, effort, found, err);
  *found = *efforts->at_most;
  return GPNN_OK;
}

/* Sets the least effort that reaches 'recall', or the greatest that was tried, and reports it. */
static enum gpnn_status find_effort(struct trial *trial, struct gpnn_search *search, double recall,
                                    struct efforts efforts, struct gpnn_error *err)
{
  struct measure found = {0}, best = {0};
  size_t low = 0, high = efforts.first; /* 'low' is known to be too little */
  enum gpnn_status status = find_out(trial, search, &efforts, high, &best, err);
  while (status == GPNN_OK && best.recall < recall && high < efforts.most &&
         best.visited <= efforts.worth) {
    low = high;
    high = efforts.most / 2 < high ? efforts.most : 2 * high;
    status = find_out(trial, search, &efforts, high, &best, err);
  }
  while (status == GPNN_OK && best.recall >= recall && high - low > 1) {
    size_t middle = low + (high - low) / 2;
    status = measure(trial, search, middle, &found, err);
    if (found.recall >= recall) {
      high = middle;
      best = found;
    } else {
      low = middle;
      if (found.visited > efforts.worth) break;
    }
  }
  if (status == GPNN_OK) status = gpnn_search_set_effort(search, high, err);
  if (status == GPNN_OK) report_measure(search, trial, high, best);
  return status;
}

/* About 2 sqrt(n): twice as many are searched a little quicker, but take four times as long
 * to train.  FAISS wants 39 rows or more to train each. */
static size_t lists_for(size_t n, bool brief)
{
  size_t wanted = (size_t)(2 * sqrt((double)n)) / (brief ? BRIEF_LISTS : 1), most = n / 39;
  if (wanted > most) wanted = most;
  return wanted == 0 ? 1 : wanted;
}

/* ---- FAISS ---- */

static enum gpnn_status tune_faiss(struct gpnn_search *search, enum gpnn_search_kind kind,
                                   const struct gpnn_search_options *options,
                                   struct gpnn_error *err)
{
  const struct gpnn_points *points = &search->points;
  bool has_lists = kind == GPNN_SEARCH_IVF;
  int threads = has_lists ? gpnn_blas_claim(options->threads) : options->threads;
  if (threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  struct trial trial = {0};
  double unused;
  search->report.kind = kind;
  search->report.asked = options->recall;
  search->report.n_lists = has_lists ? lists_for(points->n_places, options->brief) : 0;
  enum gpnn_status status = trial_init(&trial, points, options, err);
  if (status == GPNN_OK) status = find_truth(&trial, search, &unused, err);
  if (status == GPNN_OK)
    status = gpnn_faiss_build(&search->engine, points, kind, search->report.n_lists, options->seed,
                              threads, err);
  size_t most = has_lists ? search->report.n_lists : GPNN_FAISS_BEAM_MOST;
  if (status == GPNN_OK)
    status = find_effort(&trial, search, options->recall, (struct efforts){1, most, 1, NULL}, err);
  trial_release(&trial);
  return status;
}

static void report_all(struct gpnn_search *search, enum gpnn_search_kind kind,
                       const struct gpnn_search_options *options)
{
  search->report = (struct gpnn_search_report){.kind = kind,
                                               .asked = options->recall,
                                               .recall = 1,
                                               .neighbours = options->neighbours,
                                               .visited = 1};
}

static enum gpnn_status make_flat(struct gpnn_search *search,
                                  const struct gpnn_search_options *options, struct gpnn_error *err)
{
  report_all(search, GPNN_SEARCH_FLAT, options);
  return gpnn_faiss_build(&search->engine, &search->points, GPNN_SEARCH_FLAT, 0, options->seed,
                          options->threads, err);
}

/* ---- trees ---- */

/* Beyond this share of the rows, boxes hardly tell rows apart, however near they are to be. */
static const double nearly_all = 0.8;

/* What looking at a share of the rows of a whole tree costs, in rows that a query looks at by
 * itself: where it is much, several go together, each at a third of the price. */
static double work_of(double share)
{
  return share > 1.0 / GPNN_TREE_PATIENCE ? share / 3 : share;
}

/*
 * Whether looking at a share of the rows costs a query little beside predicting from its k
 * neighbours, so that missing none is as good as free: n d against k^3/3 + 20 k^2 (factorisation
 * and covariances), of which the former takes some fifty times as long an operation where it waits
 * for memory; a fifth is little.
 * See gpnn-methods(7), equation 10.5.
 */
static bool is_cheap(const struct gpnn_points *points, double share, size_t neighbours)
{
  double k = (double)neighbours, solve = k * k * k / 3 + 20 * k * k;
  return 250 * share * (double)points->n_places * (double)points->d <= solve;
}

/* The share of the rows that has to be looked at for a query to cost a 'gain'-th of what it costs
 * in a whole tree: ranking a neighbour is as dear as looking at some hundred coordinates. */
static double worthwhile(const struct gpnn_points *points, double whole, size_t neighbours)
{
  const double gain = 1.3, rank = 400;
  double cells = (double)points->n_places * (double)points->d;
  return whole / gain - (1 - 1 / gain) * rank * (double)neighbours / cells;
}

/* Sets the effort of a tree that is there: to find all, unless the recall asked for takes much less
 * work. */
static enum gpnn_status tune_tree(struct gpnn_search *search,
                                  const struct gpnn_search_options *options, struct gpnn_error *err)
{
  const struct gpnn_points *points = &search->points;
  struct trial trial = {0};
  struct measure whole = {.recall = 1};
  enum gpnn_status status = trial_init(&trial, points, options, err);
  if (status == GPNN_OK) status = find_truth(&trial, search, &whole.visited, err);
  if (status == GPNN_OK) report_measure(search, &trial, WHOLE, whole);
  double work = work_of(whole.visited);
  if (status == GPNN_OK && options->recall < 1 && whole.visited < nearly_all &&
      !is_cheap(points, work, trial.k)) {
    double worth = worthwhile(points, work, trial.k);
    status = find_effort(&trial, search, options->recall,
                         (struct efforts){WHOLE / 2, WHOLE, worth, &whole}, err);
    const struct gpnn_search_report *report = &search->report;
    double worth_of_rows = worth * (double)points->n_places / (double)points->n;
    if (status == GPNN_OK &&
        (report->recall < options->recall || report->visited > worth_of_rows)) {
      status = gpnn_search_set_effort(search, WHOLE, err);
      report_measure(search, &trial, WHOLE, whole);
    }
  }
  trial_release(&trial);
  return status;
}

static enum gpnn_status make_tree(struct gpnn_search *search,
                                  const struct gpnn_search_options *options, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_tree_build(&search->tree, &search->points, options->threads, err);
  if (status != GPNN_OK) return status;
  report_all(search, GPNN_SEARCH_TREE, options);
  search->report.effort = WHOLE;
  size_t n = search->points.n_places;
  bool is_small = n < FEW_ROWS || (options->brief && n <= BRIEF_CELLS / search->points.d);
  return is_small ? GPNN_OK : tune_tree(search, options, err);
}

enum gpnn_status gpnn_search_set_effort(struct gpnn_search *search, size_t effort,
                                        struct gpnn_error *err)
{
  if (search->tree == NULL) return gpnn_faiss_set_effort(search->engine, effort, err);
  search->tree->share = (double)effort / 100;
  return GPNN_OK;
}

enum gpnn_status gpnn_search_tune(struct gpnn_search *search,
                                  const struct gpnn_search_options *options, struct gpnn_error *err)
{
  switch (options->kind) {
  case GPNN_SEARCH_AUTO:
  case GPNN_SEARCH_TREE:
    return make_tree(search, options, err);
  case GPNN_SEARCH_FLAT:
    return make_flat(search, options, err);
  case GPNN_SEARCH_EXACT:
    report_all(search, GPNN_SEARCH_EXACT, options);
    return GPNN_OK;
  case GPNN_SEARCH_IVF:
  case GPNN_SEARCH_HNSW:
    break;
  }
  return tune_faiss(search, options->kind, options, err);
}
