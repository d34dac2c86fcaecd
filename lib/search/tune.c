/*
 * Building a search that reaches a recall.
 *
 * The recall is measured on a sample of the rows themselves: the mean fraction of a query's true k
 * nearest rows that are found.  The effort (lists visited, efSearch, or the reach of a tree) is
 * doubled until the recall is reached, then bisected to the least that reaches it.  Work is counted
 * in rows looked at, not in seconds, so that the choice is reproducible.
 */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "linalg/arrays.h"
#include "linalg/blas_threads.h"
#include "search/search_private.h"

enum {
  SAMPLE = 256,          /* queries the recall is measured on */
  BRIEF_SAMPLE = 32,     /* the same if few queries are expected */
  BRIEF_LISTS = 4,       /* then a fourth of the lists is enough */
  WHOLE = 100,           /* effort of a tree that is exact */
  FEW_ROWS = 10000,      /* an exact tree is fast enough for up to this many rows, */
  BRIEF_CELLS = 1 << 17, /* or if few queries are expected, for up to this many numbers */
};

/* The sample, the true neighbours, and buffers for answers. */
struct trial {
  size_t n_queries, k;
  double *queries;   /* n_queries by d */
  double *farthest;  /* n_queries: true distance of the k-th nearest */
  int64_t *rows;     /* n_queries by k */
  double *distances; /* likewise */
  int threads;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* What a trial measured. */
struct measure {
  double recall;
  double visited; /* mean fraction of the distinct rows looked at */
};

static enum gpnn_status draw_queries(struct trial *trial, const struct gpnn_search_points *points,
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

static enum gpnn_status trial_init(struct trial *trial, const struct gpnn_search_points *points,
                                   const struct gpnn_search_options *options,
                                   struct gpnn_error *err)
{
  trial->threads = options->threads;
  size_t sample = options->brief ? BRIEF_SAMPLE : SAMPLE;
  trial->n_queries = points->n < sample ? points->n : sample;
  trial->k = options->neighbours < points->n ? options->neighbours : points->n;
  if (trial->k == 0) trial->k = 1;
  trial->arrays = GPNN_ARRAYS(GPNN_ARRAY(trial->queries, trial->n_queries, points->d),
                              GPNN_ARRAY(trial->farthest, trial->n_queries, 1),
                              GPNN_ARRAY(trial->rows, trial->n_queries, trial->k),
                              GPNN_ARRAY(trial->distances, trial->n_queries, trial->k));
  if (trial->arrays == NULL) return gpnn_fail_memory(err, "for tuning a search");
  return draw_queries(trial, points, options->seed, err);
}

/* Evicts all rows: queries read them anywhere. */
static void evict_rows(const struct gpnn_search_points *points)
{
  gpnn_mapping_evict(points->mapping, points->x, points->n * points->d * sizeof *points->x);
}

/* Finds the true neighbours, by the tree of 'search' if it has one, which is faster than brute
 * force; '*visited' is the mean fraction of the distinct rows that this looks at. */
static enum gpnn_status find_truth(struct trial *trial, const struct gpnn_search *search,
                                   double *visited, struct gpnn_error *err)
{
  size_t n_visited = 0;
  const struct gpnn_search_points *points = &search->points;
  enum gpnn_status status =
      search->tree != NULL
          ? gpnn_search_query_counted(search, trial->n_queries, trial->queries, NULL, trial->k,
                                      trial->rows, trial->distances, trial->threads, &n_visited,
                                      err)
          : gpnn_exact_query(points, trial->n_queries, trial->queries, trial->k, trial->rows,
                             trial->distances, trial->threads, err);
  for (size_t i = 0; i < trial->n_queries && status == GPNN_OK; i++)
    trial->farthest[i] = trial->distances[i * trial->k + trial->k - 1];
  *visited = (double)n_visited / (double)trial->n_queries / (double)points->n_distinct;
  evict_rows(points);
  return status;
}

/* Measures the search at 'effort'. */
static enum gpnn_status measure(struct trial *trial, struct gpnn_search *search, size_t effort,
                                struct measure *found, struct gpnn_error *err)
{
  size_t visited = 0, hits = 0, n_truth = trial->n_queries * trial->k;
  gpnn_search_set_effort(search, effort);
  enum gpnn_status status =
      gpnn_search_query_counted(search, trial->n_queries, trial->queries, NULL, trial->k,
                                trial->rows, trial->distances, trial->threads, &visited, err);
  if (status != GPNN_OK) return status;
  /* By distance, so that any of several equally near rows counts as found. */
  for (size_t i = 0; i < n_truth; i++) hits += trial->distances[i] <= trial->farthest[i / trial->k];
  found->recall = (double)hits / (double)n_truth;
  found->visited = (double)visited / (double)trial->n_queries / (double)search->points.n_distinct;
  evict_rows(&search->points);
  return GPNN_OK;
}

static void report_measure(struct gpnn_search *search, const struct trial *trial, size_t effort,
                           struct measure found)
{
  search->report.effort = effort;
  search->report.recall = found.recall;
  search->report.visited =
      found.visited * (double)search->points.n_distinct / (double)search->points.n;
  search->report.n_queries = trial->n_queries;
  search->report.neighbours = trial->k;
}

/* Which efforts to try. */
struct efforts {
  size_t first, most, guess; /* the last may be 0: there is none */
  double worth; /* an effort that looks at more than this fraction of the rows is not useful */
  const struct measure *at_most; /* the measurement of 'most' if it was made already, or NULL */
};

/* Measures the search at 'effort' unless that was done already. */
static enum gpnn_status measure_once(struct trial *trial, struct gpnn_search *search,
                                     const struct efforts *efforts, size_t effort,
                                     struct measure *found, struct gpnn_error *err)
{
  if (efforts->at_most == NULL || effort != efforts->most)
    return measure(trial, search, effort, found, err);
  *found = *efforts->at_most;
  return GPNN_OK;
}

/* Tries the guess, and whether one less would do: '*low' does not reach 'recall', and '*high',
 * which came to '*best', does unless it is to be raised. */
static enum gpnn_status try_guess(struct trial *trial, struct gpnn_search *search, double recall,
                                  const struct efforts *efforts, size_t *low, size_t *high,
                                  struct measure *best, struct gpnn_error *err)
{
  struct measure less = {0};
  enum gpnn_status status = measure(trial, search, efforts->guess, best, err);
  *high = efforts->guess;
  if (status != GPNN_OK || best->recall < recall || *high == 1) return status;
  status = measure(trial, search, *high - 1, &less, err);
  if (less.recall < recall) {
    *low = *high - 1;
  } else {
    *best = less;
    --*high;
  }
  return status;
}

/* Sets and reports the least effort that reaches 'recall', or else the greatest that was tried. */
static enum gpnn_status find_effort(struct trial *trial, struct gpnn_search *search, double recall,
                                    struct efforts efforts, struct gpnn_error *err)
{
  struct measure found = {0}, best = {0};
  size_t low = 0, high = efforts.first; /* 'low' does not reach it */
  bool has_guess = efforts.guess > 0 && efforts.guess < efforts.most;
  enum gpnn_status status =
      has_guess ? try_guess(trial, search, recall, &efforts, &low, &high, &best, err)
                : measure_once(trial, search, &efforts, high, &best, err);
  while (status == GPNN_OK && best.recall < recall && high < efforts.most &&
         best.visited <= efforts.worth) {
    low = high;
    high = efforts.most / 2 < high ? efforts.most : 2 * high;
    status = measure_once(trial, search, &efforts, high, &best, err);
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
  if (status != GPNN_OK) return status;
  gpnn_search_set_effort(search, high);
  report_measure(search, trial, high, best);
  return GPNN_OK;
}

/* About 2 sqrt(n): twice as many are searched a little faster but take four times as long to train.
 * FAISS wants at least 39 rows to train each. */
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
  const struct gpnn_search_points *points = &search->points;
  bool has_lists = kind == GPNN_SEARCH_IVF;
  int threads = has_lists ? gpnn_blas_claim(options->threads) : options->threads;
  if (threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  struct trial trial = {0};
  double unused;
  search->report.kind = kind;
  search->report.asked = options->recall;
  search->report.n_lists = has_lists ? lists_for(points->n_distinct, options->brief) : 0;
  enum gpnn_status status = trial_init(&trial, points, options, err);
  if (status == GPNN_OK) status = find_truth(&trial, search, &unused, err);
  if (status == GPNN_OK)
    status = gpnn_faiss_build(&search->faiss, points, kind, search->report.n_lists, options->seed,
                              threads, err);
  size_t most = has_lists ? search->report.n_lists : GPNN_FAISS_BEAM_MOST;
  if (status == GPNN_OK)
    status = find_effort(&trial, search, options->recall,
                         (struct efforts){1, most, options->effort, 1, NULL}, err);
  gpnn_arrays_free(trial.arrays);
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
  if (options->to_save) return GPNN_OK;
  return gpnn_faiss_build(&search->faiss, &search->points, GPNN_SEARCH_FLAT, 0, options->seed,
                          options->threads, err);
}

/* ---- trees ---- */

/* If queries look at more than this fraction of the rows, boxes exclude hardly any for any reach.
 */
static const double nearly_all = 0.8;

/* The cost of looking at a fraction of the rows of an exact tree, relative to looking at all of
 * them one query at a time: if it is large, several queries go together, each at a third of the
 * cost. */
static double work_of(double visited)
{
  return visited > 1.0 / GPNN_TREE_SWITCH ? visited / 3 : visited;
}

/*
 * True if a search takes little time beside a prediction from its k neighbours, so that nothing is
 * gained by missing some: work n d against k^3/3 + 20 k^2 (factorisation and covariances), where an
 * operation of the search takes some fifty times as long, since it waits for memory; little means a
 * fifth (gpnn-methods(7), equation 10.5).  This decides from some 270 neighbours on; for fewer it
 * only spares the trials, as worthwhile() is not positive wherever a search is this cheap.
 */
static bool is_cheap(const struct gpnn_search_points *points, double work, size_t neighbours)
{
  double k = (double)neighbours, solve = k * k * k / 3 + 20 * k * k;
  return 250 * work * (double)points->n_distinct * (double)points->d <= solve;
}

/* The fraction of the rows that a query may look at to be 'gain' times as cheap as 'whole' in an
 * exact tree: ranking a neighbour costs as much as looking at some hundred coordinates. */
static double worthwhile(const struct gpnn_search_points *points, double whole, size_t neighbours)
{
  const double gain = 1.3, rank = 400;
  double cells = (double)points->n_distinct * (double)points->d;
  return whole / gain - (1 - 1 / gain) * rank * (double)neighbours / cells;
}

/* Sets the effort of the tree: exact, unless the recall wanted takes much less work. */
static enum gpnn_status tune_tree(struct gpnn_search *search,
                                  const struct gpnn_search_options *options, struct gpnn_error *err)
{
  const struct gpnn_search_points *points = &search->points;
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
                         (struct efforts){WHOLE / 2, WHOLE, options->effort, worth, &whole}, err);
    const struct gpnn_search_report *report = &search->report;
    double worth_of_rows = worth * (double)points->n_distinct / (double)points->n;
    if (status == GPNN_OK &&
        (report->recall < options->recall || report->visited > worth_of_rows)) {
      gpnn_search_set_effort(search, WHOLE);
      report_measure(search, &trial, WHOLE, whole);
    }
  }
  gpnn_arrays_free(trial.arrays);
  return status;
}

static enum gpnn_status make_tree(struct gpnn_search *search,
                                  const struct gpnn_search_options *options, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_tree_build(&search->tree, &search->points, options->threads, err);
  if (status != GPNN_OK) return status;
  report_all(search, GPNN_SEARCH_TREE, options);
  search->report.effort = WHOLE;
  size_t n = search->points.n_distinct;
  bool is_small = n < FEW_ROWS || (options->brief && n <= BRIEF_CELLS / search->points.d);
  return is_small ? GPNN_OK : tune_tree(search, options, err);
}

void gpnn_search_set_effort(struct gpnn_search *search, size_t effort)
{
  if (search->tree != NULL) search->tree->reach = (double)effort / 100;
  if (search->faiss != NULL) search->faiss->effort = effort;
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
