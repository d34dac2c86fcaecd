/*
 * Queries: candidates of the engine, ranked again in double.
 */
#include "search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas_threads.h"
#include "search/search_private.h"

static const char *const names[] = {
    [GPNN_SEARCH_AUTO] = "auto", [GPNN_SEARCH_FLAT] = "flat",   [GPNN_SEARCH_IVF] = "ivf",
    [GPNN_SEARCH_HNSW] = "hnsw", [GPNN_SEARCH_EXACT] = "exact", [GPNN_SEARCH_TREE] = "tree",
};

bool gpnn_search_by_name(const char *name, enum gpnn_search_kind *kind)
{
  for (int i = GPNN_SEARCH_AUTO; i <= GPNN_SEARCH_TREE; i++) {
    if (i == GPNN_SEARCH_EXACT || strcmp(name, names[i]) != 0) continue;
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

/* What a thread works with, made when it is first needed, and how many candidates FAISS may be
 * asked for at most. */
struct workplace {
  bool is_ready;
  size_t limit;
  int64_t *rows; /* first candidates of a block of queries */
  int64_t *more; /* 'limit' candidates of a query that needs them */
  struct gpnn_ranking ranking;
  struct gpnn_faiss_scratch faiss;
  struct gpnn_tree_room tree;
  size_t visited;
};

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Candidates asked of FAISS at first for 'k' neighbours. */
static size_t first_wanted(size_t n, size_t k)
{
  size_t spare = k / 8 > 16 ? k / 8 : 16;
  return k > n - smaller(n, spare) ? n : k + spare;
}

/* Queries that FAISS is asked at a time for 'k' places each: many where it may use the BLAS and
 * there is room for their candidates. */
static size_t faiss_block(const struct gpnn_search *search, size_t k, size_t n_queries, int threads)
{
  const size_t most = (1 << 20) / first_wanted(search->points.n_places, k);
  if (search->report.kind != GPNN_SEARCH_FLAT || n_queries <= GPNN_FAISS_FEW ||
      most <= GPNN_FAISS_FEW || gpnn_blas_claim(threads) < threads)
    return GPNN_FAISS_FEW;
  return smaller(most, GPNN_FAISS_BLOCK);
}

/* For blocks of 'n_queries' that ask for 'k' places each. */
static bool workplace_init(const struct gpnn_search *search, size_t n_queries, size_t k,
                           struct workplace *place)
{
  size_t n = search->points.n_places, wanted = first_wanted(n, k), capacity;
  if (search->tree != NULL) return gpnn_tree_room_init(search->tree, k, &place->tree);
  place->limit = n / 16 < k ? n : smaller(n, 16 * k + 4096);
  if (!gpnn_multiply(n_queries, wanted, &capacity)) return false;
  place->rows = gpnn_alloc(capacity, 1, sizeof *place->rows);
  place->more = gpnn_alloc(place->limit, 1, sizeof *place->more);
  return place->rows != NULL && place->more != NULL &&
         gpnn_ranking_reserve(&place->ranking, place->limit, search->points.d) &&
         gpnn_faiss_scratch_init(search->engine, capacity > place->limit ? capacity : place->limit,
                                 &place->faiss);
}

static void workplace_release(struct workplace *place)
{
  free(place->rows);
  free(place->more);
  gpnn_ranking_release(&place->ranking);
  gpnn_faiss_scratch_release(&place->faiss);
  gpnn_tree_room_release(&place->tree);
}

/* ---- FAISS ---- */

/*
 * Whether no row that was not proposed can be among the k nearest: the k-th is nearer than
 * the farthest candidate by more than single precision can be wrong, or there are no more
 * candidates to be had.
 */
static bool is_settled(const struct gpnn_search *search, size_t n_queries, double norm, size_t k,
                       size_t wanted, size_t found, const struct gpnn_neighbour *ranked)
{
  if (found < wanted || wanted == search->points.n_places) return true;
  double last = sqrt(ranked[k - 1].distance), farthest = sqrt(ranked[found - 1].distance);
  return last + gpnn_faiss_blur(search->engine, n_queries, norm, farthest) < farthest;
}

/* The 'k' nearest rows, k <= n, of one query of 'norm' for which, among 'n_queries', 'wanted'
 * candidates lie in 'candidates', which are overwritten. */
static enum gpnn_status settle(const struct gpnn_search *search, const double *query,
                               size_t n_queries, double norm, size_t k, size_t wanted,
                               int64_t *candidates, struct workplace *place, int64_t *rows,
                               double *distances, struct gpnn_error *err)
{
  const struct gpnn_points *points = &search->points;
  size_t n_places = smaller(k, points->n_places);
  size_t found = gpnn_rank(points, query, wanted, candidates, wanted, &place->ranking);
  while (!is_settled(search, n_queries, norm, n_places, wanted, found, place->ranking.neighbours)) {
    if (wanted == place->limit) {
      /* More ties than is sane to keep: flat owes the exact answer, the others do not. */
      if (search->report.kind != GPNN_SEARCH_FLAT) break;
      return gpnn_exact_query(points, 1, query, k, rows, distances, 1, err);
    }
    wanted = place->limit / 4 < wanted ? place->limit : 4 * wanted;
    enum gpnn_status status = gpnn_faiss_candidates(search->engine, 1, query, wanted, &place->faiss,
                                                    place->more, NULL, err);
    if (status != GPNN_OK) return status;
    n_queries = 1;
    found = gpnn_rank(points, query, wanted, place->more, wanted, &place->ranking);
  }
  return gpnn_rank_take(points, &place->ranking, found, k, rows, distances, err);
}

static enum gpnn_status answer_faiss(const struct gpnn_search *search, size_t n_queries,
                                     const double *queries, size_t k, size_t kept,
                                     struct workplace *place, int64_t *rows, double *distances,
                                     struct gpnn_error *err)
{
  size_t n = search->points.n_places, d = search->points.d;
  size_t wanted = first_wanted(n, smaller(kept, n));
  double norms[GPNN_FAISS_BLOCK];
  enum gpnn_status status = gpnn_faiss_candidates(search->engine, n_queries, queries, wanted,
                                                  &place->faiss, place->rows, &place->visited, err);
  memcpy(norms, place->faiss.norms, sizeof norms); /* asking again overwrites the first */
  for (size_t q = 0; q < n_queries && status == GPNN_OK; q++)
    status = settle(search, queries + q * d, n_queries, norms[q], kept, wanted,
                    place->rows + q * wanted, place, rows + q * k, distances + q * k, err);
  return status;
}

/* ---- any engine ---- */

/* Queries under way, all of them. */
struct inquiry {
  const struct gpnn_search *search;
  size_t n_queries, k, kept; /* results are k apart, of which the first 'kept' are set */
  size_t block;              /* queries answered at a time */
  const double *queries;
  int64_t *rows;
  double *distances;
  struct workplace *places; /* owned; one a thread */
  /* Trees: the queries in an order that is kind to the cache, their numbers as rows; and as much
   * scratch. */
  struct gpnn_neighbour *order, *spare;
};

/* The workplace of a thread, or NULL without memory. */
static struct workplace *workplace_of(const struct inquiry *inquiry, size_t thread)
{
  struct workplace *place = &inquiry->places[thread];
  size_t k = smaller(inquiry->kept, inquiry->search->points.n_places);
  if (!place->is_ready) place->is_ready = workplace_init(inquiry->search, inquiry->block, k, place);
  return place->is_ready ? place : NULL;
}

/* A block of queries: those from 'from' on, in their order where they have one. */
struct block {
  size_t from, n;
};

static enum gpnn_status answer_tree(const struct inquiry *inquiry, struct block block,
                                    struct workplace *place, struct gpnn_error *err)
{
  const struct gpnn_search *search = inquiry->search;
  const struct gpnn_points *points = &search->points;
  size_t d = points->d, k = smaller(inquiry->kept, points->n_places);
  const double *queries[GPNN_TREE_QUERIES];
  for (size_t i = 0; i < block.n; i++)
    queries[i] = inquiry->queries + (size_t)inquiry->order[block.from + i].row * d;
  enum gpnn_status status =
      gpnn_tree_candidates(search->tree, block.n, queries, k, &place->tree, &place->visited, err);
  for (size_t i = 0; i < block.n && status == GPNN_OK; i++) {
    const struct gpnn_tree_scratch *scratch = &place->tree.scratch[i];
    size_t to = (size_t)inquiry->order[block.from + i].row * inquiry->k;
    if (!gpnn_ranking_reserve(&place->ranking, scratch->found, d))
      return gpnn_fail_memory(err, "for a search");
    size_t found = gpnn_rank(points, queries[i], scratch->found, scratch->rows, k, &place->ranking);
    status = gpnn_rank_take(points, &place->ranking, found, inquiry->kept, inquiry->rows + to,
                            inquiry->distances + to, err);
  }
  return status;
}

static enum gpnn_status answer(void *context, size_t thread, size_t number, struct gpnn_error *err)
{
  const struct inquiry *inquiry = context;
  struct workplace *place = workplace_of(inquiry, thread);
  if (place == NULL) return gpnn_fail_memory(err, "for a search");
  size_t size = inquiry->block, k = inquiry->k, d = inquiry->search->points.d;
  struct block block = {number * size, smaller(size, inquiry->n_queries - number * size)};
  if (inquiry->order != NULL) return answer_tree(inquiry, block, place, err);
  return answer_faiss(inquiry->search, block.n, inquiry->queries + block.from * d, k, inquiry->kept,
                      place, inquiry->rows + block.from * k, inquiry->distances + block.from * k,
                      err);
}

/* Notes the leaf of a query. */
static enum gpnn_status locate(void *context, size_t thread, size_t q, struct gpnn_error *err)
{
  const struct inquiry *inquiry = context;
  struct workplace *place = workplace_of(inquiry, thread);
  if (place == NULL) return gpnn_fail_memory(err, "for a search");
  const double *query = inquiry->queries + q * inquiry->search->points.d;
  size_t leaf = gpnn_tree_leaf(inquiry->search->tree, query, &place->tree);
  inquiry->order[q] = (struct gpnn_neighbour){(double)leaf, (int64_t)q};
  return GPNN_OK;
}

static void fill_missing(const struct inquiry *inquiry)
{
  size_t k = inquiry->k;
  for (size_t q = 0; q < inquiry->n_queries; q++)
    for (size_t i = inquiry->kept; i < k; i++) {
      inquiry->rows[q * k + i] = -1;
      inquiry->distances[q * k + i] = INFINITY;
    }
}

static enum gpnn_status ask(struct inquiry *inquiry, int threads, size_t *visited,
                            struct gpnn_error *err)
{
  enum { LOCATED_TOGETHER = 1024 };
  size_t size = inquiry->block, n_blocks = (inquiry->n_queries + size - 1) / size;
  enum gpnn_status status = GPNN_OK;
  threads = gpnn_threads_for(threads, n_blocks);
  inquiry->places = gpnn_alloc((size_t)threads, 1, sizeof *inquiry->places);
  if (inquiry->places == NULL) return gpnn_fail_memory(err, "for a search");
  if (inquiry->order != NULL) {
    status = gpnn_threads_try(threads, inquiry->n_queries, LOCATED_TOGETHER, locate, inquiry, err);
    if (status == GPNN_OK) gpnn_neighbours_sort(inquiry->n_queries, inquiry->order, inquiry->spare);
  }
  if (status == GPNN_OK) status = gpnn_threads_try(threads, n_blocks, 1, answer, inquiry, err);
  if (status == GPNN_OK) fill_missing(inquiry);
  for (int t = 0; t < threads; t++) {
    if (status == GPNN_OK && visited != NULL) *visited += inquiry->places[t].visited;
    workplace_release(&inquiry->places[t]);
  }
  free(inquiry->places);
  return status;
}

enum gpnn_status gpnn_search_query_counted(const struct gpnn_search *search, size_t n_queries,
                                           const double *queries, size_t k, int64_t *rows,
                                           double *distances, int threads, size_t *visited,
                                           struct gpnn_error *err)
{
  if (n_queries == 0 || k == 0) return GPNN_OK;
  if (search->engine == NULL && search->tree == NULL)
    return gpnn_exact_query(&search->points, n_queries, queries, k, rows, distances, threads, err);
  struct inquiry inquiry = {.search = search,
                            .n_queries = n_queries,
                            .k = k,
                            .kept = smaller(k, search->points.n),
                            .block = GPNN_TREE_QUERIES,
                            .queries = queries,
                            .rows = rows,
                            .distances = distances};
  enum gpnn_status status = GPNN_OK;
  if (search->tree != NULL) {
    inquiry.order = gpnn_alloc(n_queries, 1, sizeof *inquiry.order);
    inquiry.spare = gpnn_alloc(n_queries, 1, sizeof *inquiry.spare);
    if (inquiry.order == NULL || inquiry.spare == NULL)
      status = gpnn_fail_memory(err, "for a search");
  } else {
    inquiry.block = faiss_block(search, smaller(k, search->points.n_places), n_queries, threads);
  }
  if (status == GPNN_OK) status = ask(&inquiry, threads, visited, err);
  free(inquiry.order);
  free(inquiry.spare);
  return status;
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

/* The map that divides by lengthscales after a rotation. */
static void set_map(struct gpnn_search *search)
{
  size_t d = search->points.d;
  for (size_t j = 0; j < d; j++)
    for (size_t i = 0; i < d; i++)
      search->map[j * d + i] =
          search->rotation[j * d + i] * (search->inverse == NULL ? 1 : search->inverse[j]);
  search->points.map = search->map;
}

static enum gpnn_status set_metric(struct gpnn_search *search, struct gpnn_search_metric metric,
                                   struct gpnn_error *err)
{
  size_t d = search->points.d;
  if (metric.lengthscale != NULL) {
    search->lengthscale = gpnn_alloc(d, 1, sizeof *search->lengthscale);
    search->inverse = gpnn_alloc(d, 1, sizeof *search->inverse);
    if (search->lengthscale == NULL || search->inverse == NULL)
      return gpnn_fail_memory(err, "for a search");
  }
  for (size_t j = 0; j < d && metric.lengthscale != NULL; j++) {
    search->lengthscale[j] = metric.lengthscale[j];
    search->inverse[j] = 1 / metric.lengthscale[j];
    if (!(metric.lengthscale[j] > 0) || !isfinite(search->inverse[j]))
      return gpnn_fail(err, GPNN_ENUMERIC, "lengthscale %zu is not a positive number", j + 1);
  }
  search->points.inverse = search->inverse;
  if (metric.rotation == NULL) return GPNN_OK;
  search->rotation = gpnn_alloc(d, d, sizeof *search->rotation);
  search->map = gpnn_alloc(d, d, sizeof *search->map);
  if (search->rotation == NULL || search->map == NULL) return gpnn_fail_memory(err, "for a search");
  memcpy(search->rotation, metric.rotation, d * d * sizeof *search->rotation);
  set_map(search);
  return GPNN_OK;
}

/* A search without engine. */
static enum gpnn_status make(struct gpnn_search **search, size_t n, size_t d, const double *x,
                             struct gpnn_search_metric metric, struct gpnn_error *err)
{
  if (n == 0 || d == 0) return gpnn_fail(err, GPNN_EINVAL, "a search needs rows and inputs");
  struct gpnn_search *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for a search");
  made->points = (struct gpnn_points){.n = n, .d = d, .x = x, .n_places = n};
  enum gpnn_status status = set_metric(made, metric, err);
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
  const struct gpnn_search_metric metric = {options->lengthscale, options->rotation};
  struct gpnn_search *made = NULL;
  enum gpnn_status status = make(&made, n, d, x, metric, err);
  if (status == GPNN_OK) {
    made->points.mapping = options->mapping;
    if (options->kind != GPNN_SEARCH_EXACT && !gpnn_points_meet(&made->points, &made->places))
      status = gpnn_fail_memory(err, "for a search");
  }
  if (status == GPNN_OK) {
    status = gpnn_search_tune(made, options, err);
  }
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

struct gpnn_search_metric gpnn_search_metric(const struct gpnn_search *search)
{
  return (struct gpnn_search_metric){search->lengthscale, search->rotation};
}

double gpnn_search_recall_again(const struct gpnn_search_report *report)
{
  return report->kind == GPNN_SEARCH_FLAT ? 1 : report->asked;
}

/* Whether 'a' is 'ratio' times 'b', but for what writing numbers as text may lose. */
static bool is_multiple(double a, double ratio, double b)
{
  return fabs(a - ratio * b) <= 1e-9 * fabs(ratio * b);
}

bool gpnn_search_same_metric(size_t d, struct gpnn_search_metric a, struct gpnn_search_metric b)
{
  double first = 0;
  for (size_t j = 0; j < d; j++) {
    double left = a.lengthscale == NULL ? 1 : a.lengthscale[j];
    double right = b.lengthscale == NULL ? 1 : b.lengthscale[j];
    if (j == 0) first = left / right;
    if (!is_multiple(left, first, right)) return false;
  }
  if (a.rotation == NULL || b.rotation == NULL) return a.rotation == b.rotation;
  for (size_t j = 0; j < d * d; j++)
    if (!is_multiple(a.rotation[j], 1, b.rotation[j])) return false;
  return true;
}

enum gpnn_status gpnn_search_save(const struct gpnn_search *search, FILE *file,
                                  struct gpnn_error *err)
{
  switch (search->report.kind) {
  case GPNN_SEARCH_TREE:
    return gpnn_tree_save(search->tree, file, err);
  case GPNN_SEARCH_IVF:
  case GPNN_SEARCH_HNSW:
    return gpnn_faiss_save(search->engine, file, err);
  case GPNN_SEARCH_AUTO:
  case GPNN_SEARCH_FLAT:
  case GPNN_SEARCH_EXACT:
    break;
  }
  return GPNN_OK;
}

const uint32_t *gpnn_search_places(const struct gpnn_search *search, size_t *length)
{
  const struct gpnn_points *points = &search->points;
  *length = points->next == NULL ? 0 : (points->n + points->n_places) * sizeof *points->next;
  return points->next;
}

/* The places of the rows. */
static enum gpnn_status load_places(struct gpnn_search *search, struct gpnn_search_stored stored,
                                    struct gpnn_error *err)
{
  struct gpnn_points *points = &search->points;
  size_t n = stored.places_length / sizeof *stored.places;
  if (stored.places == NULL) return GPNN_OK;
  if (stored.places_length % sizeof *stored.places != 0 || n <= points->n || n > 2 * points->n)
    return gpnn_fail(err, GPNN_EFORMAT, "the stored places do not fit the rows");
  gpnn_points_share(points, n - points->n, stored.places);
  return GPNN_OK;
}

/* The engine of a search taken back. */
static enum gpnn_status load_engine(struct gpnn_search *search, struct gpnn_search_stored stored,
                                    struct gpnn_error *err)
{
  enum gpnn_search_kind kind = search->report.kind;
  enum gpnn_status status;
  if (kind == GPNN_SEARCH_EXACT) return GPNN_OK;
  if (kind == GPNN_SEARCH_FLAT)
    return gpnn_faiss_build(&search->engine, &search->points, kind, 0, 0, 1, err);
  if (kind == GPNN_SEARCH_TREE && stored.bytes != NULL) {
    if (search->report.effort < 1 || search->report.effort > 100)
      return gpnn_fail(err, GPNN_EFORMAT, "the stored search does not fit its settings");
    status = gpnn_tree_map(&search->tree, stored.bytes, stored.length, &search->points, err);
    return status == GPNN_OK ? gpnn_search_set_effort(search, search->report.effort, err) : status;
  }
  bool is_faiss = kind == GPNN_SEARCH_IVF || kind == GPNN_SEARCH_HNSW;
  if (!is_faiss || stored.file == NULL || stored.bytes == NULL)
    return gpnn_fail(err, GPNN_EFORMAT, "the stored search is missing or of no known kind");
  return gpnn_faiss_load(&search->engine, stored, &search->points, &search->report, err);
}

enum gpnn_status gpnn_search_load(struct gpnn_search **search, struct gpnn_search_stored stored,
                                  size_t n, size_t d, const double *x,
                                  const struct gpnn_search_report *report,
                                  struct gpnn_search_metric metric, struct gpnn_error *err)
{
  struct gpnn_search *made = NULL;
  enum gpnn_status status = make(&made, n, d, x, metric, err);
  if (status != GPNN_OK) return status;
  made->report = *report;
  status = load_places(made, stored, err);
  if (status == GPNN_OK) status = load_engine(made, stored, err);
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
  gpnn_tree_free(search->tree);
  free(search->lengthscale);
  free(search->rotation);
  free(search->inverse);
  free(search->map);
  free(search->places);
  free(search);
}
