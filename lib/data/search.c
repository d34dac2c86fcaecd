/*
 * Queries: candidates of the engine, ranked again in double.
 */
#include "data/search.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/search_engine.h"

static const char *const names[] = {
    [GPNN_SEARCH_AUTO] = "auto", [GPNN_SEARCH_FLAT] = "flat",   [GPNN_SEARCH_IVF] = "ivf",
    [GPNN_SEARCH_HNSW] = "hnsw", [GPNN_SEARCH_EXACT] = "exact",
};

bool gpnn_search_by_name(const char *name, enum gpnn_search_kind *kind)
{
  for (int i = GPNN_SEARCH_AUTO; i <= GPNN_SEARCH_HNSW; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *kind = (enum gpnn_search_kind)i;
    return true;
  }
  return false;
}

const char *gpnn_search_name(enum gpnn_search_kind kind)
{
  return names[kind];
}

/* ---- queries ---- */

/* What a thread works with, and how many candidates a query may have at most. */
struct workplace {
  size_t limit;
  int64_t *rows;                     /* first candidates of GPNN_FAISS_BLOCK queries */
  int64_t *more;                     /* 'limit' candidates of a query that needs them */
  struct gpnn_neighbour *neighbours; /* limit */
  struct gpnn_faiss_scratch scratch;
  size_t visited;
};

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Candidates asked of the engine at first for 'k' neighbours. */
static size_t first_wanted(size_t n, size_t k)
{
  size_t spare = k / 8 > 16 ? k / 8 : 16;
  return k > n - smaller(n, spare) ? n : k + spare;
}

static bool workplace_init(const struct gpnn_search *search, size_t k, struct workplace *place)
{
  size_t n = search->points.n, wanted = first_wanted(n, k), capacity;
  place->limit = n / 16 < k ? n : smaller(n, 16 * k + 4096);
  if (!gpnn_multiply(GPNN_FAISS_BLOCK, wanted, &capacity)) return false;
  place->rows = gpnn_alloc(capacity, 1, sizeof *place->rows);
  place->more = gpnn_alloc(place->limit, 1, sizeof *place->more);
  place->neighbours = gpnn_alloc(place->limit, 1, sizeof *place->neighbours);
  return place->rows != NULL && place->more != NULL && place->neighbours != NULL &&
         gpnn_faiss_scratch_init(search->engine, capacity > place->limit ? capacity : place->limit,
                                 &place->scratch);
}

static void workplace_release(struct workplace *place)
{
  free(place->rows);
  free(place->more);
  free(place->neighbours);
  gpnn_faiss_scratch_release(&place->scratch);
}

/* Sorts the candidates 'rows' by their distances in double; returns how many there are. */
static size_t rank(const struct gpnn_points *points, const double *query, size_t n_rows,
                   const int64_t *rows, struct gpnn_neighbour *ranked)
{
  size_t n = 0;
  for (size_t i = 0; i < n_rows; i++) {
    /* -1 is "none"; a damaged structure may name rows that are not there. */
    if (rows[i] < 0 || (uint64_t)rows[i] >= points->n) continue;
    ranked[n].row = rows[i];
    ranked[n++].distance = gpnn_points_distance(points, (size_t)rows[i], query);
  }
  qsort(ranked, n, sizeof *ranked, gpnn_neighbour_compare);
  return n;
}

/*
 * Whether no row that was not proposed can be among the k nearest: the k-th is nearer than
 * the farthest candidate by more than single precision can be wrong, or there are no more
 * candidates to be had.
 */
static bool is_settled(const struct gpnn_search *search, const double *query, size_t k,
                       size_t wanted, size_t found, const struct gpnn_neighbour *ranked)
{
  if (found < wanted || wanted == search->points.n) return true;
  double last = sqrt(ranked[k - 1].distance), farthest = sqrt(ranked[found - 1].distance);
  return last + gpnn_faiss_blur(search->engine, query, farthest) < farthest;
}

/* The 'k' nearest, k <= n, of one query for which 'wanted' candidates lie in 'candidates'. */
static enum gpnn_status settle(const struct gpnn_search *search, const double *query, size_t k,
                               size_t wanted, const int64_t *candidates, struct workplace *place,
                               int64_t *rows, double *distances, struct gpnn_error *err)
{
  struct gpnn_neighbour *ranked = place->neighbours;
  size_t found = rank(&search->points, query, wanted, candidates, ranked);
  while (!is_settled(search, query, k, wanted, found, ranked)) {
    if (wanted == place->limit) {
      /* More ties than is sane to keep: flat owes the exact answer, the others do not. */
      if (search->report.kind != GPNN_SEARCH_FLAT) break;
      return gpnn_exact_query(&search->points, 1, query, k, rows, distances, 1, err);
    }
    wanted = place->limit / 4 < wanted ? place->limit : 4 * wanted;
    enum gpnn_status status = gpnn_faiss_candidates(search->engine, 1, query, wanted,
                                                    &place->scratch, place->more, NULL, err);
    if (status != GPNN_OK) return status;
    found = rank(&search->points, query, wanted, place->more, ranked);
  }
  for (size_t i = 0; i < k; i++) {
    rows[i] = i < found ? ranked[i].row : -1;
    distances[i] = i < found ? ranked[i].distance : INFINITY;
  }
  return GPNN_OK;
}

/* Up to GPNN_FAISS_BLOCK queries; results are 'k' apart, of which the first 'kept' are set. */
static enum gpnn_status answer(const struct gpnn_search *search, size_t n_queries,
                               const double *queries, size_t k, size_t kept,
                               struct workplace *place, int64_t *rows, double *distances,
                               struct gpnn_error *err)
{
  size_t wanted = first_wanted(search->points.n, kept), d = search->points.d;
  enum gpnn_status status =
      gpnn_faiss_candidates(search->engine, n_queries, queries, wanted, &place->scratch,
                            place->rows, &place->visited, err);
  for (size_t q = 0; q < n_queries && status == GPNN_OK; q++)
    status = settle(search, queries + q * d, kept, wanted, place->rows + q * wanted, place,
                    rows + q * k, distances + q * k, err);
  return status;
}

/* The failure of the first block that failed. */
struct outcome {
  size_t block;
  enum gpnn_status status;
  struct gpnn_error err;
};

static void record(struct outcome *outcome, size_t block, enum gpnn_status status,
                   const struct gpnn_error *err)
{
#pragma omp critical(gpnn_search_record)
  if (outcome->status == GPNN_OK || block < outcome->block) {
    outcome->block = block;
    outcome->status = status;
    outcome->err = *err;
  }
}

static void fill_missing(size_t n_queries, size_t k, size_t kept, int64_t *rows, double *distances)
{
  for (size_t q = 0; q < n_queries; q++)
    for (size_t i = kept; i < k; i++) {
      rows[q * k + i] = -1;
      distances[q * k + i] = INFINITY;
    }
}

static enum gpnn_status query_engine(const struct gpnn_search *search, size_t n_queries,
                                     const double *queries, size_t k, int64_t *rows,
                                     double *distances, int threads, size_t *visited,
                                     struct gpnn_error *err)
{
  size_t d = search->points.d, kept = smaller(k, search->points.n), total = 0;
  size_t n_blocks = (n_queries + GPNN_FAISS_BLOCK - 1) / GPNN_FAISS_BLOCK;
  struct outcome outcome = {.status = GPNN_OK};
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
    /* A team of one does not count as parallel, and FAISS would start teams of its own. */
    omp_set_num_threads(1);
    struct workplace place = {0};
    struct gpnn_error failure = {0};
    bool ready = workplace_init(search, kept, &place);
#pragma omp for schedule(dynamic)
    for (size_t block = 0; block < n_blocks; block++) {
      size_t from = block * GPNN_FAISS_BLOCK;
      enum gpnn_status status =
          ready ? answer(search, smaller(GPNN_FAISS_BLOCK, n_queries - from), queries + from * d, k,
                         kept, &place, rows + from * k, distances + from * k, &failure)
                : gpnn_fail_memory(&failure, "for a search");
      if (status != GPNN_OK) record(&outcome, block, status, &failure);
    }
    total += place.visited;
    workplace_release(&place);
  }
  if (outcome.status != GPNN_OK) return gpnn_fail(err, outcome.status, "%s", outcome.err.text);
  fill_missing(n_queries, k, kept, rows, distances);
  if (visited != NULL) *visited += total;
  return GPNN_OK;
}

enum gpnn_status gpnn_search_query_counted(const struct gpnn_search *search, size_t n_queries,
                                           const double *queries, size_t k, int64_t *rows,
                                           double *distances, int threads, size_t *visited,
                                           struct gpnn_error *err)
{
  if (n_queries == 0 || k == 0) return GPNN_OK;
  if (search->engine == NULL)
    return gpnn_exact_query(&search->points, n_queries, queries, k, rows, distances, threads, err);
  return query_engine(search, n_queries, queries, k, rows, distances, threads, visited, err);
}

enum gpnn_status gpnn_search_query(const struct gpnn_search *search, size_t n_queries,
                                   const double *queries, size_t k, int64_t *rows,
                                   double *distances, int threads, struct gpnn_error *err)
{
  const struct gpnn_points *points = &search->points;
  enum gpnn_status status =
      gpnn_search_query_counted(search, n_queries, queries, k, rows, distances, threads, NULL, err);
  /* Lists that together hold fewer than k rows: rare, and all rows are looked at instead. */
  size_t last = smaller(k, points->n) - 1;
  for (size_t q = 0; q < n_queries && k > 0 && status == GPNN_OK; q++)
    if (rows[q * k + last] < 0)
      status = gpnn_exact_query(points, 1, queries + q * points->d, k, rows + q * k,
                                distances + q * k, threads, err);
  return status;
}

/* ---- building, saving, loading ---- */

static enum gpnn_status set_metric(struct gpnn_search *search, const double *lengthscale,
                                   struct gpnn_error *err)
{
  size_t d = search->points.d;
  if (lengthscale == NULL) return GPNN_OK;
  search->lengthscale = gpnn_alloc(d, 1, sizeof *search->lengthscale);
  search->inverse = gpnn_alloc(d, 1, sizeof *search->inverse);
  if (search->lengthscale == NULL || search->inverse == NULL)
    return gpnn_fail_memory(err, "for a search");
  for (size_t j = 0; j < d; j++) {
    search->lengthscale[j] = lengthscale[j];
    search->inverse[j] = 1 / lengthscale[j];
    if (!(lengthscale[j] > 0) || !isfinite(search->inverse[j]))
      return gpnn_fail(err, GPNN_ENUMERIC, "lengthscale %zu is not a positive number", j + 1);
  }
  search->points.inverse = search->inverse;
  return GPNN_OK;
}

/* A search without engine. */
static enum gpnn_status make(struct gpnn_search **search, size_t n, size_t d, const double *x,
                             const double *lengthscale, struct gpnn_error *err)
{
  if (n == 0 || d == 0) return gpnn_fail(err, GPNN_EINVAL, "a search needs rows and inputs");
  struct gpnn_search *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for a search");
  made->points = (struct gpnn_points){.n = n, .d = d, .x = x};
  enum gpnn_status status = set_metric(made, lengthscale, err);
  if (status == GPNN_OK)
    *search = made;
  else
    gpnn_search_free(made);
  return status;
}

enum gpnn_status gpnn_search_build(struct gpnn_search **search, size_t n, size_t d, const double *x,
                                   const struct gpnn_search_options *options,
                                   struct gpnn_error *err)
{
  if (!(options->recall > 0 && options->recall <= 1))
    return gpnn_fail(err, GPNN_EINVAL, "a recall of %g is not in (0, 1]", options->recall);
  struct gpnn_search *made = NULL;
  enum gpnn_status status = make(&made, n, d, x, options->lengthscale, err);
  if (status == GPNN_OK) status = gpnn_search_tune(made, options, err);
  if (status == GPNN_OK)
    *search = made;
  else
    gpnn_search_free(made);
  return status;
}

const struct gpnn_search_report *gpnn_search_describe(const struct gpnn_search *search)
{
  return &search->report;
}

const double *gpnn_search_lengthscale(const struct gpnn_search *search)
{
  return search->lengthscale;
}

bool gpnn_search_same_metric(size_t d, const double *a, const double *b)
{
  double first = 0;
  for (size_t j = 0; j < d; j++) {
    double ratio = (a == NULL ? 1 : a[j]) / (b == NULL ? 1 : b[j]);
    if (j == 0) first = ratio;
    if (!(fabs(ratio - first) <= 1e-9 * first)) return false;
  }
  return true;
}

enum gpnn_status gpnn_search_save(const struct gpnn_search *search, FILE *file,
                                  struct gpnn_error *err)
{
  bool has_structure =
      search->report.kind == GPNN_SEARCH_IVF || search->report.kind == GPNN_SEARCH_HNSW;
  return has_structure ? gpnn_faiss_save(search->engine, file, err) : GPNN_OK;
}

/* The engine of a search taken back: only lists and graphs were stored. */
static enum gpnn_status load_engine(struct gpnn_search *search, FILE *file, struct gpnn_error *err)
{
  enum gpnn_search_kind kind = search->report.kind;
  if (kind == GPNN_SEARCH_EXACT) return GPNN_OK;
  if (kind == GPNN_SEARCH_FLAT)
    return gpnn_faiss_build(&search->engine, &search->points, kind, 0, 0, 1, err);
  if (file == NULL || (kind != GPNN_SEARCH_IVF && kind != GPNN_SEARCH_HNSW))
    return gpnn_fail(err, GPNN_EFORMAT, "the stored search is missing or of no known kind");
  return gpnn_faiss_load(&search->engine, file, &search->points, &search->report, err);
}

enum gpnn_status gpnn_search_load(struct gpnn_search **search, FILE *file, size_t n, size_t d,
                                  const double *x, const struct gpnn_search_report *report,
                                  const double *lengthscale, struct gpnn_error *err)
{
  struct gpnn_search *made = NULL;
  enum gpnn_status status = make(&made, n, d, x, lengthscale, err);
  if (status != GPNN_OK) return status;
  made->report = *report;
  status = load_engine(made, file, err);
  if (status == GPNN_OK)
    *search = made;
  else
    gpnn_search_free(made);
  return status;
}

void gpnn_search_free(struct gpnn_search *search)
{
  if (search == NULL) return;
  gpnn_faiss_free(search->engine);
  free(search->lengthscale);
  free(search->inverse);
  free(search);
}
