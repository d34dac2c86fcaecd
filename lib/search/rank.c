/*
 * Candidates of the engines, ranked again in double (search_engine.h).
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/search_private.h"

void gpnn_ranking_release(struct gpnn_ranking *ranking)
{
  free(ranking->neighbours);
  free(ranking->spare);
  free(ranking->distances);
  free(ranking->lanes);
  free(ranking->crowd);
  *ranking = (struct gpnn_ranking){0};
}

bool gpnn_ranking_reserve(struct gpnn_ranking *ranking, size_t n, size_t d)
{
  if (n <= ranking->capacity) return true;
  gpnn_ranking_release(ranking);
  ranking->neighbours = gpnn_alloc(n, 1, sizeof *ranking->neighbours);
  ranking->spare = gpnn_alloc(n, 1, sizeof *ranking->spare);
  ranking->distances = gpnn_alloc(n, 1, sizeof *ranking->distances);
  ranking->lanes = gpnn_alloc(GPNN_POINTS_LANES, d, sizeof *ranking->lanes);
  bool enough = ranking->neighbours != NULL && ranking->spare != NULL &&
                ranking->distances != NULL && ranking->lanes != NULL;
  ranking->capacity = enough ? n : 0;
  return enough;
}

size_t gpnn_rank(const struct gpnn_points *points, const double *query, size_t n_places,
                 int64_t *places, size_t k, struct gpnn_ranking *ranking)
{
  size_t n = 0;
  /* -1 is "none"; a damaged structure may name places that are not there. */
  for (size_t i = 0; i < n_places; i++)
    if (places[i] >= 0 && (uint64_t)places[i] < points->n_places)
      places[n++] = (int64_t)gpnn_points_first(points, (size_t)places[i]);
  gpnn_points_distances(points, query, n, places, ranking->lanes, ranking->distances);
  for (size_t i = 0; i < n; i++)
    ranking->neighbours[i] = (struct gpnn_neighbour){ranking->distances[i], places[i]};
  /* Sorting a few too many is quicker than leaving them out. */
  if (n / 4 > k) {
    gpnn_neighbours_select(n, ranking->neighbours, k);
    n = k;
  }
  gpnn_neighbours_sort(n, ranking->neighbours, ranking->spare);
  return n;
}

/* Of rows at the same distance as others, those at one place can only be among the nearest with as
 * many of the first as are wanted. */
static size_t add_place(const struct gpnn_points *points, struct gpnn_neighbour place, size_t k,
                        struct gpnn_neighbour *crowd)
{
  size_t n = 0, row = (size_t)place.row;
  do {
    crowd[n++] = (struct gpnn_neighbour){place.distance, (int64_t)row};
    row = gpnn_points_next(points, row);
  } while (row != 0 && n < k);
  return n;
}

/* The k nearest rows of 'n' ranked places, to ranking->crowd; returns how many there are. */
static size_t gather(const struct gpnn_points *points, struct gpnn_ranking *ranking, size_t n,
                     size_t k)
{
  const struct gpnn_neighbour *places = ranking->neighbours;
  struct gpnn_neighbour *crowd = ranking->crowd;
  size_t found = 0;
  for (size_t i = 0; i < n; i++) {
    if (found >= k && places[i].distance > places[i - 1].distance) break;
    found += add_place(points, places[i], k, crowd + found);
    if (found <= 2 * k) continue;
    gpnn_neighbours_select(found, crowd, k);
    found = k;
  }
  gpnn_neighbours_sort(found, crowd, crowd + 3 * k);
  return found;
}

enum gpnn_status gpnn_rank_take(const struct gpnn_points *points, struct gpnn_ranking *ranking,
                                size_t found, size_t k, int64_t *rows, double *distances,
                                struct gpnn_error *err)
{
  const struct gpnn_neighbour *nearest = ranking->neighbours;
  if (points->next != NULL) {
    if (ranking->crowd == NULL || ranking->k < k) {
      free(ranking->crowd);
      ranking->crowd = gpnn_alloc(k, 6, sizeof *ranking->crowd);
      ranking->k = k;
    }
    if (ranking->crowd == NULL) return gpnn_fail_memory(err, "for a search");
    found = gather(points, ranking, found, k);
    nearest = ranking->crowd;
  }
  for (size_t i = 0; i < k; i++) {
    rows[i] = i < found ? nearest[i].row : -1;
    distances[i] = i < found ? nearest[i].distance : INFINITY;
  }
  return GPNN_OK;
}
