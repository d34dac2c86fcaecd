/*
 * Candidates that an engine proposes from single precision, ranked again in double.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "linalg/arrays.h"
#include "search/search_private.h"

void gpnn_rerank_release(struct gpnn_reranking *ranking)
{
  gpnn_arrays_free(ranking->arrays);
  free(ranking->expanded);
  *ranking = (struct gpnn_reranking){0};
}

bool gpnn_rerank_reserve(struct gpnn_reranking *ranking, size_t n, size_t d)
{
  if (n <= ranking->capacity) return true;
  gpnn_rerank_release(ranking);
  ranking->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(ranking->neighbours, n, 1), GPNN_ARRAY(ranking->spare, n, 1),
                  GPNN_ARRAY(ranking->distances, n, 1),
                  GPNN_ARRAY(ranking->differences, GPNN_DISTANCE_LANES, d));
  bool enough = ranking->arrays != NULL;
  ranking->capacity = enough ? n : 0;
  return enough;
}

size_t gpnn_rerank(const struct gpnn_search_points *points, const double *query,
                   size_t n_candidates, int64_t *candidates, size_t k,
                   struct gpnn_reranking *ranking)
{
  size_t n = 0;
  /* -1 means none; a damaged structure may hold any number. */
  for (size_t i = 0; i < n_candidates; i++)
    if (candidates[i] >= 0 && (uint64_t)candidates[i] < points->n_distinct)
      candidates[n++] = (int64_t)gpnn_duplicates_first(points, (size_t)candidates[i]);
  gpnn_search_points_distances(points, query, n, candidates, ranking->differences,
                               ranking->distances);
  for (size_t i = 0; i < n; i++)
    ranking->neighbours[i] = (struct gpnn_neighbour){ranking->distances[i], candidates[i]};
  /* Sorting a few too many is quicker than selecting first. */
  if (n / 4 > k) {
    gpnn_nearest_select(n, ranking->neighbours, k);
    n = k;
  }
  gpnn_nearest_sort(n, ranking->neighbours, ranking->spare);
  return n;
}

/* Appends a row and its duplicates, up to k: of equally near rows, no more can be among the k
 * nearest. */
static size_t add_duplicates(const struct gpnn_search_points *points, struct gpnn_neighbour first,
                             size_t k, struct gpnn_neighbour *to)
{
  size_t n = 0, row = (size_t)first.row;
  do {
    to[n++] = (struct gpnn_neighbour){first.distance, (int64_t)row};
    row = gpnn_duplicates_next(points, row);
  } while (row != 0 && n < k);
  return n;
}

/* Writes the k nearest rows, duplicates included, of 'n' ranked distinct rows to ranking->expanded,
 * sorted; returns how many there are, k or more if there can be. */
static size_t expand(const struct gpnn_search_points *points, struct gpnn_reranking *ranking,
                     size_t n, size_t k)
{
  const struct gpnn_neighbour *distinct = ranking->neighbours;
  struct gpnn_neighbour *expanded = ranking->expanded;
  size_t found = 0;
  for (size_t i = 0; i < n; i++) {
    if (found >= k && distinct[i].distance > distinct[i - 1].distance) break;
    found += add_duplicates(points, distinct[i], k, expanded + found);
    if (found <= 2 * k) continue;
    gpnn_nearest_select(found, expanded, k);
    found = k;
  }
  gpnn_nearest_sort(found, expanded, expanded + 3 * k);
  return found;
}

enum gpnn_status gpnn_rerank_write(const struct gpnn_search_points *points,
                                   struct gpnn_reranking *ranking, size_t found, size_t k,
                                   int64_t *rows, double *distances, struct gpnn_error *err)
{
  const struct gpnn_neighbour *nearest = ranking->neighbours;
  if (points->next != NULL) {
    if (ranking->expanded == NULL || ranking->k < k) {
      free(ranking->expanded);
      ranking->expanded = gpnn_alloc(k, 6, sizeof *ranking->expanded);
      ranking->k = k;
    }
    if (ranking->expanded == NULL) return gpnn_fail_memory(err, "for a search");
    found = expand(points, ranking, found, k);
    nearest = ranking->expanded;
  }
  for (size_t i = 0; i < k; i++) {
    rows[i] = i < found ? nearest[i].row : -1;
    distances[i] = i < found ? nearest[i].distance : INFINITY;
  }
  return GPNN_OK;
}
