/*
 * Brute force in double precision: the reference that every other search is measured against.
 *
 * A few queries at a time go through blocks of rows that stay in cache; each keeps its k nearest so
 * far in a heap.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/arrays.h"
#include "linalg/simd.h"
#include "search/nearest.h"
#include "search/search_private.h"

enum { LANES = GPNN_DISTANCE_LANES };

/* Squared distances of one row per lane from 'query', scaled by 'inverse' unless it is NULL. */
GPNN_SIMD static void straight_distances(size_t d, const double *const rows[LANES],
                                         const double *query, const double *inverse,
                                         double sum[LANES])
{
  for (size_t i = 0; i < LANES; i++) sum[i] = 0;
  for (size_t j = 0; j < d; j++) {
    double factor = inverse == NULL ? 1 : inverse[j];
#pragma omp simd
    for (size_t i = 0; i < LANES; i++) {
      double scaled = (rows[i][j] - query[j]) * factor;
      sum[i] += scaled * scaled;
    }
  }
}

/* The same after a linear map; 'differences' is scratch of LANES by d. */
GPNN_SIMD static void mapped_distances(size_t d, const double *const rows[LANES],
                                       const double *query, const double *map, double *differences,
                                       double sum[LANES])
{
  for (size_t j = 0; j < d; j++)
    for (size_t i = 0; i < LANES; i++) differences[j * LANES + i] = rows[i][j] - query[j];
  for (size_t i = 0; i < LANES; i++) sum[i] = 0;
  for (size_t j = 0; j < d; j++) {
    double z[LANES] = {0};
    for (size_t l = 0; l < d; l++) {
      double factor = map[j * d + l];
#pragma omp simd
      for (size_t i = 0; i < LANES; i++) z[i] += factor * differences[l * LANES + i];
    }
    for (size_t i = 0; i < LANES; i++) sum[i] += z[i] * z[i];
  }
}

void gpnn_search_points_distances(const struct gpnn_search_points *points, const double *query,
                                  size_t n, const int64_t *rows, double *differences,
                                  double *distances)
{
  const double *at[LANES];
  double sum[LANES];
  for (size_t from = 0; from < n; from += LANES) {
    size_t count = n - from < LANES ? n - from : LANES;
    for (size_t i = 0; i < LANES; i++)
      at[i] = points->x + (size_t)rows[from + (i < count ? i : 0)] * points->d;
    if (points->map == NULL)
      straight_distances(points->d, at, query, points->inverse, sum);
    else
      mapped_distances(points->d, at, query, points->map, differences, sum);
    /* A map may turn infinite coordinates into NaN. */
    for (size_t i = 0; i < count; i++) distances[from + i] = isnan(sum[i]) ? INFINITY : sum[i];
  }
}

enum { QUERIES = 8, ROWS = 256 };

/* Memory of one thread for QUERIES queries of k neighbours. */
struct workspace {
  struct gpnn_neighbour *heaps, *spare; /* QUERIES by k; k */
  double *differences;                  /* for gpnn_search_points_distances() */
  struct gpnn_arrays *arrays;           /* owned; what frees the arrays */
};

static bool workspace_init(struct workspace *workspace, size_t k, size_t d)
{
  workspace->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(workspace->heaps, QUERIES, k), GPNN_ARRAY(workspace->spare, k, 1),
                  GPNN_ARRAY(workspace->differences, GPNN_DISTANCE_LANES, d));
  return workspace->arrays != NULL;
}

/* Finds the k <= n nearest rows of up to QUERIES queries, sorted, in a heap for each. */
static void scan(const struct gpnn_search_points *points, size_t n_queries, const double *queries,
                 size_t k, const struct workspace *workspace)
{
  int64_t rows[ROWS];
  double distances[ROWS];
  for (size_t i = 0; i < n_queries * k; i++)
    workspace->heaps[i] = (struct gpnn_neighbour){INFINITY, GPNN_NEAREST_NONE};
  for (size_t from = 0; from < points->n; from += ROWS) {
    size_t n = points->n - from < ROWS ? points->n - from : ROWS;
    for (size_t i = 0; i < n; i++) rows[i] = (int64_t)(from + i);
    for (size_t q = 0; q < n_queries; q++) {
      struct gpnn_neighbour *heap = workspace->heaps + q * k;
      gpnn_search_points_distances(points, queries + q * points->d, n, rows, workspace->differences,
                                   distances);
      for (size_t i = 0; i < n; i++)
        gpnn_nearest_offer(heap, k, (struct gpnn_neighbour){distances[i], rows[i]});
    }
  }
  for (size_t q = 0; q < n_queries; q++)
    gpnn_nearest_sort(k, workspace->heaps + q * k, workspace->spare);
}

/* All queries of a call; each has k results, of which the first 'kept' exist. */
struct batch {
  const struct gpnn_search_points *points;
  size_t n_queries, k, kept;
  const double *queries;
  int64_t *rows;
  double *distances;
  struct workspace *workspaces; /* owned; one per thread */
};

/* Answers the next QUERIES queries, or as many as are left. */
static enum gpnn_status answer(void *context, size_t thread, size_t block, struct gpnn_error *err)
{
  const struct batch *batch = context;
  const struct gpnn_search_points *points = batch->points;
  struct workspace *workspace = &batch->workspaces[thread];
  size_t from = block * QUERIES, left = batch->n_queries - from, k = batch->k;
  size_t n = left < QUERIES ? left : QUERIES, kept = batch->kept;
  if (workspace->heaps == NULL && !workspace_init(workspace, kept, points->d))
    return gpnn_fail_memory(err, "for a search");
  scan(points, n, batch->queries + from * points->d, kept, workspace);
  for (size_t q = 0; q < n; q++)
    for (size_t i = 0; i < k; i++) {
      size_t to = (from + q) * k + i;
      bool found = i < kept && workspace->heaps[q * kept + i].row != GPNN_NEAREST_NONE;
      batch->rows[to] = found ? workspace->heaps[q * kept + i].row : -1;
      batch->distances[to] = found ? workspace->heaps[q * kept + i].distance : INFINITY;
    }
  return GPNN_OK;
}

enum gpnn_status gpnn_exact_query(const struct gpnn_search_points *points, size_t n_queries,
                                  const double *queries, size_t k, int64_t *rows, double *distances,
                                  int threads, struct gpnn_error *err)
{
  size_t kept = k < points->n ? k : points->n, n_blocks = (n_queries + QUERIES - 1) / QUERIES;
  struct batch batch = {points, n_queries, k, kept, queries, rows, distances, NULL};
  if (kept == 0) return GPNN_OK;
  threads = gpnn_threads_for(threads, n_blocks);
  batch.workspaces = gpnn_alloc((size_t)threads, 1, sizeof *batch.workspaces);
  if (batch.workspaces == NULL) return gpnn_fail_memory(err, "for a search");
  enum gpnn_status status = gpnn_threads_try(threads, n_blocks, 1, answer, &batch, err);
  for (int t = 0; t < threads; t++) gpnn_arrays_free(batch.workspaces[t].arrays);
  free(batch.workspaces);
  return status;
}
