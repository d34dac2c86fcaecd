/*
 * Queries: candidates of an engine, ranked again in double precision.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas_threads.h"
#include "search/search_private.h"

/* ---- memory of a thread ---- */

/* Memory of one thread, allocated when first needed. */
struct workspace {
  bool is_ready;
  size_t limit;  /* FAISS: the most candidates that are requested for a query */
  int64_t *rows; /* FAISS: the first candidates of a block of queries */
  int64_t *more; /* FAISS: up to 'limit' candidates of a query that needs more */
  struct gpnn_reranking ranking;
  struct gpnn_faiss_scratch faiss;
  struct gpnn_tree_workspace tree;
  size_t visited;
};

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* How many candidates to request from FAISS at first for 'k' neighbours. */
static size_t first_wanted(size_t n, size_t k)
{
  size_t spare = k / 8 > 16 ? k / 8 : 16;
  return k > n - smaller(n, spare) ? n : k + spare;
}

/* Queries per call of FAISS for 'k' distinct rows each: many if it may use the BLAS and their
 * candidates do not take too much memory. */
static size_t faiss_block(const struct gpnn_search *search, size_t k, size_t n_queries, int threads)
{
  const size_t most = (1 << 20) / first_wanted(search->points.n_distinct, k);
  if (search->report.kind != GPNN_SEARCH_FLAT || n_queries <= GPNN_FAISS_FEW ||
      most <= GPNN_FAISS_FEW || gpnn_blas_claim(threads) < threads)
    return GPNN_FAISS_FEW;
  return smaller(most, GPNN_FAISS_BLOCK);
}

/* For blocks of 'n_queries' for 'k' distinct rows each. */
static bool workspace_init(const struct gpnn_search *search, size_t n_queries, size_t k,
                           bool is_counted, struct workspace *workspace)
{
  size_t n = search->points.n_distinct, wanted = first_wanted(n, k), capacity;
  if (search->tree != NULL)
    return gpnn_tree_workspace_init(search->tree, k, is_counted, &workspace->tree);
  workspace->limit = n / 16 < k ? n : smaller(n, 16 * k + 4096);
  if (!gpnn_multiply(n_queries, wanted, &capacity)) return false;
  workspace->rows = gpnn_alloc(capacity, 1, sizeof *workspace->rows);
  workspace->more = gpnn_alloc(workspace->limit, 1, sizeof *workspace->more);
  return workspace->rows != NULL && workspace->more != NULL &&
         gpnn_rerank_reserve(&workspace->ranking, workspace->limit, search->points.d) &&
         gpnn_faiss_scratch_init(search->faiss,
                                 capacity > workspace->limit ? capacity : workspace->limit,
                                 &workspace->faiss);
}

static void workspace_release(struct workspace *workspace)
{
  free(workspace->rows);
  free(workspace->more);
  gpnn_rerank_release(&workspace->ranking);
  gpnn_faiss_scratch_release(&workspace->faiss);
  gpnn_tree_workspace_release(&workspace->tree);
}

/* ---- FAISS ---- */

/*
 * True if the k nearest rows must be among the candidates: either the k-th is nearer than the
 * farthest candidate by more than the error of single precision, or all rows are candidates.
 */
static bool is_complete(const struct gpnn_search *search, size_t n_queries, double norm, size_t k,
                        size_t wanted, size_t found, const struct gpnn_neighbour *ranked)
{
  if (found < wanted || wanted == search->points.n_distinct) return true;
  double last = sqrt(ranked[k - 1].distance), farthest = sqrt(ranked[found - 1].distance);
  return last + gpnn_faiss_error(search->faiss, n_queries, norm, farthest) < farthest;
}

/* Finds the 'k' nearest rows, k <= n, of one query.  It was one of 'n_queries' in a call that
 * requested 'wanted' 'candidates', which are overwritten; 'norm' is from gpnn_faiss_scratch. */
static enum gpnn_status finish_query(const struct gpnn_search *search, const double *query,
                                     size_t n_queries, double norm, size_t k, size_t wanted,
                                     int64_t *candidates, struct workspace *workspace,
                                     int64_t *rows, double *distances, struct gpnn_error *err)
{
  const struct gpnn_search_points *points = &search->points;
  size_t n_distinct = smaller(k, points->n_distinct);
  size_t found = gpnn_rerank(points, query, wanted, candidates, wanted, &workspace->ranking);
  while (!is_complete(search, n_queries, norm, n_distinct, wanted, found,
                      workspace->ranking.neighbours)) {
    if (wanted == workspace->limit) {
      /* Too many ties.  Flat search promises the exact answer, the others do not. */
      if (search->report.kind != GPNN_SEARCH_FLAT) break;
      return gpnn_exact_query(points, 1, query, k, rows, distances, 1, err);
    }
    wanted = workspace->limit / 4 < wanted ? workspace->limit : 4 * wanted;
    enum gpnn_status status = gpnn_faiss_candidates(search->faiss, 1, query, wanted,
                                                    &workspace->faiss, workspace->more, NULL, err);
    if (status != GPNN_OK) return status;
    n_queries = 1;
    found = gpnn_rerank(points, query, wanted, workspace->more, wanted, &workspace->ranking);
  }
  return gpnn_rerank_write(points, &workspace->ranking, found, k, rows, distances, err);
}

static enum gpnn_status answer_by_faiss(const struct gpnn_search *search, size_t n_queries,
                                        const double *queries, size_t k, size_t kept,
                                        struct workspace *workspace, int64_t *rows,
                                        double *distances, struct gpnn_error *err)
{
  size_t n = search->points.n_distinct, d = search->points.d;
  size_t wanted = first_wanted(n, smaller(kept, n));
  double norms[GPNN_FAISS_BLOCK];
  enum gpnn_status status =
      gpnn_faiss_candidates(search->faiss, n_queries, queries, wanted, &workspace->faiss,
                            workspace->rows, &workspace->visited, err);
  memcpy(norms, workspace->faiss.norms, sizeof norms); /* requesting more overwrites them */
  for (size_t q = 0; q < n_queries && status == GPNN_OK; q++)
    status =
        finish_query(search, queries + q * d, n_queries, norms[q], kept, wanted,
                     workspace->rows + q * wanted, workspace, rows + q * k, distances + q * k, err);
  return status;
}

/* ---- any engine ---- */

/* All queries of a call. */
struct request {
  const struct gpnn_search *search;
  size_t n_queries, k, kept; /* each has k results, of which the first 'kept' exist */
  size_t block;              /* queries answered at a time by a thread */
  bool is_counted;           /* the rows looked at are */
  const double *queries;
  const double *within; /* n_queries; NULL: any distance */
  int64_t *rows;        /* NULL: only the order is wanted */
  double *distances;
  struct workspace *workspaces; /* owned; one per thread */
  /* Trees: the queries, as rows, sorted by leaf so that they find rows still in cache; and scratch
   * of the same size.  Else NULL. */
  struct gpnn_neighbour *order, *spare;
};

/* The memory of a thread, or NULL if there is none. */
static struct workspace *workspace_of(const struct request *request, size_t thread)
{
  struct workspace *workspace = &request->workspaces[thread];
  size_t k = smaller(request->kept, request->search->points.n_distinct);
  if (!workspace->is_ready)
    workspace->is_ready =
        workspace_init(request->search, request->block, k, request->is_counted, workspace);
  return workspace->is_ready ? workspace : NULL;
}

/* The n queries from 'from' on, counted in 'order' if there is one. */
struct block {
  size_t from, n;
};

static enum gpnn_status answer_by_tree(const struct request *request, struct block block,
                                       struct workspace *workspace, struct gpnn_error *err)
{
  const struct gpnn_search *search = request->search;
  const struct gpnn_search_points *points = &search->points;
  size_t d = points->d, k = smaller(request->kept, points->n_distinct);
  const double *queries[GPNN_TREE_QUERIES] = {NULL};
  double within[GPNN_TREE_QUERIES] = {0};
  for (size_t i = 0; i < block.n; i++) {
    size_t q = (size_t)request->order[block.from + i].row;
    queries[i] = request->queries + q * d;
    within[i] = request->within == NULL ? INFINITY : request->within[q];
  }
  enum gpnn_status status = gpnn_tree_candidates(search->tree, block.n, queries, within, k,
                                                 &workspace->tree, &workspace->visited, err);
  for (size_t i = 0; i < block.n && status == GPNN_OK; i++) {
    const struct gpnn_tree_scratch *scratch = &workspace->tree.scratch[i];
    size_t to = (size_t)request->order[block.from + i].row * request->k;
    if (!gpnn_rerank_reserve(&workspace->ranking, scratch->found, d))
      return gpnn_fail_memory(err, "for a search");
    size_t found =
        gpnn_rerank(points, queries[i], scratch->found, scratch->rows, k, &workspace->ranking);
    /* Of rows beyond that, some may be missing and others not. */
    while (found > 0 && workspace->ranking.neighbours[found - 1].distance > within[i]) found--;
    status = gpnn_rerank_write(points, &workspace->ranking, found, request->kept,
                               request->rows + to, request->distances + to, err);
  }
  return status;
}

static enum gpnn_status answer(void *context, size_t thread, size_t number, struct gpnn_error *err)
{
  const struct request *request = context;
  struct workspace *workspace = workspace_of(request, thread);
  if (workspace == NULL) return gpnn_fail_memory(err, "for a search");
  size_t size = request->block, k = request->k, d = request->search->points.d;
  struct block block = {number * size, smaller(size, request->n_queries - number * size)};
  if (request->order != NULL) return answer_by_tree(request, block, workspace, err);
  return answer_by_faiss(request->search, block.n, request->queries + block.from * d, k,
                         request->kept, workspace, request->rows + block.from * k,
                         request->distances + block.from * k, err);
}

/* Finds the leaf of a query, to sort by. */
static enum gpnn_status locate(void *context, size_t thread, size_t q, struct gpnn_error *err)
{
  const struct request *request = context;
  struct workspace *workspace = workspace_of(request, thread);
  if (workspace == NULL) return gpnn_fail_memory(err, "for a search");
  const double *query = request->queries + q * request->search->points.d;
  size_t leaf = gpnn_tree_leaf(request->search->tree, query, &workspace->tree);
  request->order[q] = (struct gpnn_neighbour){(double)leaf, (int64_t)q};
  return GPNN_OK;
}

static void fill_missing(const struct request *request)
{
  size_t k = request->k;
  for (size_t q = 0; q < request->n_queries; q++)
    for (size_t i = request->kept; i < k; i++) {
      request->rows[q * k + i] = -1;
      request->distances[q * k + i] = INFINITY;
    }
}

/* Sorts the queries by leaf, and answers them unless no results are wanted. */
static enum gpnn_status answer_all(struct request *request, int threads, size_t *visited,
                                   struct gpnn_error *err)
{
  enum { LOCATE_TOGETHER = 1024 };
  size_t size = request->block, n_blocks = (request->n_queries + size - 1) / size;
  enum gpnn_status status = GPNN_OK;
  threads = gpnn_threads_for(threads, n_blocks);
  request->workspaces = gpnn_alloc((size_t)threads, 1, sizeof *request->workspaces);
  if (request->workspaces == NULL) return gpnn_fail_memory(err, "for a search");
  if (request->order != NULL) {
    status = gpnn_threads_try(threads, request->n_queries, LOCATE_TOGETHER, locate, request, err);
    if (status == GPNN_OK) gpnn_nearest_sort(request->n_queries, request->order, request->spare);
  }
  if (status == GPNN_OK && request->rows != NULL)
    status = gpnn_threads_try(threads, n_blocks, 1, answer, request, err);
  if (status == GPNN_OK && request->rows != NULL) fill_missing(request);
  for (int t = 0; t < threads; t++) {
    if (status == GPNN_OK && visited != NULL) *visited += request->workspaces[t].visited;
    workspace_release(&request->workspaces[t]);
  }
  free(request->workspaces);
  return status;
}

static enum gpnn_status request_order(struct request *request, struct gpnn_error *err)
{
  request->order = gpnn_alloc(request->n_queries, 1, sizeof *request->order);
  request->spare = gpnn_alloc(request->n_queries, 1, sizeof *request->spare);
  if (request->order != NULL && request->spare != NULL) return GPNN_OK;
  return gpnn_fail_memory(err, "for a search");
}

enum gpnn_status gpnn_search_order(const struct gpnn_search *search, size_t n_queries,
                                   const double *queries, int threads, size_t *order,
                                   struct gpnn_error *err)
{
  struct request request = {.search = search,
                            .n_queries = n_queries,
                            .k = 1,
                            .kept = 1,
                            .block = GPNN_TREE_QUERIES,
                            .queries = queries};
  for (size_t q = 0; q < n_queries; q++) order[q] = q;
  if (n_queries == 0 || search->tree == NULL) return GPNN_OK;
  enum gpnn_status status = request_order(&request, err);
  if (status == GPNN_OK) status = answer_all(&request, threads, NULL, err);
  for (size_t q = 0; q < n_queries && status == GPNN_OK; q++)
    order[q] = (size_t)request.order[q].row;
  free(request.order);
  free(request.spare);
  return status;
}

enum gpnn_status gpnn_search_query_counted(const struct gpnn_search *search, size_t n_queries,
                                           const double *queries, const double *within, size_t k,
                                           int64_t *rows, double *distances, int threads,
                                           size_t *visited, struct gpnn_error *err)
{
  if (n_queries == 0 || k == 0) return GPNN_OK;
  if (search->faiss == NULL && search->tree == NULL)
    return gpnn_exact_query(&search->points, n_queries, queries, k, rows, distances, threads, err);
  struct request request = {.search = search,
                            .n_queries = n_queries,
                            .k = k,
                            .kept = smaller(k, search->points.n),
                            .block = GPNN_TREE_QUERIES,
                            .is_counted = visited != NULL,
                            .queries = queries,
                            .within = within,
                            .rows = rows,
                            .distances = distances};
  enum gpnn_status status = GPNN_OK;
  if (search->tree != NULL)
    status = request_order(&request, err);
  else
    request.block = faiss_block(search, smaller(k, search->points.n_distinct), n_queries, threads);
  if (status == GPNN_OK) status = answer_all(&request, threads, visited, err);
  free(request.order);
  free(request.spare);
  return status;
}

enum gpnn_status gpnn_search_query(const struct gpnn_search *search, size_t n_queries,
                                   const double *queries, size_t k, int64_t *rows,
                                   double *distances, int threads, struct gpnn_error *err)
{
  const struct gpnn_search_points *points = &search->points;
  enum gpnn_status status = gpnn_search_query_counted(search, n_queries, queries, NULL, k, rows,
                                                      distances, threads, NULL, err);
  /* The lists visited may hold fewer than k rows.  That is rare: look at every row instead. */
  size_t last = smaller(k, points->n) - 1;
  for (size_t q = 0; q < n_queries && k > 0 && status == GPNN_OK; q++)
    if (rows[q * k + last] < 0)
      status = gpnn_exact_query(points, 1, queries + q * points->d, k, rows + q * k,
                                distances + q * k, threads, err);
  return status;
}

enum gpnn_status gpnn_search_query_within(const struct gpnn_search *search, size_t n_queries,
                                          const double *queries, const double *within, size_t k,
                                          int64_t *rows, double *distances, int threads,
                                          struct gpnn_error *err)
{
  if (search->tree == NULL)
    return gpnn_search_query(search, n_queries, queries, k, rows, distances, threads, err);
  return gpnn_search_query_counted(search, n_queries, queries, within, k, rows, distances, threads,
                                   NULL, err);
}
