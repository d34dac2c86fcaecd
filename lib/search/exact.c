/*
 * Brute force in double: the reference that every other search is measured against.
 *
 * Queries are taken a few at a time through blocks of rows that stay in cache; each keeps its
 * k nearest so far in a heap with the farthest on top.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/simd.h"
#include "search/search_private.h"

enum { LANES = GPNN_POINTS_LANES };

/* Squared differences from 'query' to rows, one a lane, each times the metric. */
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

/* The same after a map; 'room' is LANES by d. */
GPNN_SIMD static void mapped_distances(size_t d, const double *const rows[LANES],
                                       const double *query, const double *map, double *room,
                                       double sum[LANES])
{
  for (size_t j = 0; j < d; j++)
    for (size_t i = 0; i < LANES; i++) room[j * LANES + i] = rows[i][j] - query[j];
  for (size_t i = 0; i < LANES; i++) sum[i] = 0;
  for (size_t j = 0; j < d; j++) {
    double z[LANES] = {0};
    for (size_t l = 0; l < d; l++) {
      double factor = map[j * d + l];
#pragma omp simd
      for (size_t i = 0; i < LANES; i++) z[i] += factor * room[l * LANES + i];
    }
    for (size_t i = 0; i < LANES; i++) sum[i] += z[i] * z[i];
  }
}

void gpnn_points_distances(const struct gpnn_points *points, const double *query, size_t n,
                           const int64_t *rows, double *room, double *distances)
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
      mapped_distances(points->d, at, query, points->map, room, sum);
    /* Of infinite coordinates a map may make what is no number. */
    for (size_t i = 0; i < count; i++) distances[from + i] = isnan(sum[i]) ? INFINITY : sum[i];
  }
}

static bool nearer(struct gpnn_neighbour a, struct gpnn_neighbour b)
{
  return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
}

/* Puts 'item' in the place of the top of a heap of 'n' whose parents are farther than their
 * children. */
static void replace_top(struct gpnn_neighbour *heap, size_t n, struct gpnn_neighbour item)
{
  size_t at = 0;
  for (size_t child = 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && nearer(heap[child], heap[child + 1])) child++;
    if (!nearer(item, heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = item;
}

enum { QUERIES = 8, ROWS = 256 };

/* Farther than any row; stays where distances are no numbers. */
static const int64_t none = INT64_MAX;

/* What one thread needs for QUERIES queries of k neighbours. */
struct room {
  struct gpnn_neighbour *heaps, *spare; /* QUERIES by k; k */
  double *lanes;                        /* for gpnn_points_distances() */
};

static bool room_init(struct room *room, size_t k, size_t d)
{
  room->heaps = gpnn_alloc(QUERIES, k, sizeof *room->heaps);
  room->spare = gpnn_alloc(k, 1, sizeof *room->spare);
  room->lanes = gpnn_alloc(GPNN_POINTS_LANES, d, sizeof *room->lanes);
  return room->heaps != NULL && room->spare != NULL && room->lanes != NULL;
}

static void room_release(struct room *room)
{
  free(room->heaps);
  free(room->spare);
  free(room->lanes);
}

/* The 'k' nearest, k <= n, of up to QUERIES queries, each in a heap of its own, then sorted. */
static void scan(const struct gpnn_points *points, size_t n_queries, const double *queries,
                 size_t k, const struct room *room)
{
  int64_t rows[ROWS];
  double distances[ROWS];
  for (size_t i = 0; i < n_queries * k; i++)
    room->heaps[i] = (struct gpnn_neighbour){INFINITY, none};
  for (size_t from = 0; from < points->n; from += ROWS) {
    size_t n = points->n - from < ROWS ? points->n - from : ROWS;
    for (size_t i = 0; i < n; i++) rows[i] = (int64_t)(from + i);
    for (size_t q = 0; q < n_queries; q++) {
      struct gpnn_neighbour *heap = room->heaps + q * k;
      gpnn_points_distances(points, queries + q * points->d, n, rows, room->lanes, distances);
      for (size_t i = 0; i < n; i++) {
        struct gpnn_neighbour item = {distances[i], rows[i]};
        if (nearer(item, heap[0])) replace_top(heap, k, item);
      }
    }
  }
  for (size_t q = 0; q < n_queries; q++) gpnn_neighbours_sort(k, room->heaps + q * k, room->spare);
}

/* Queries under way; results are k apart, of which the first 'kept' can be found. */
struct inquiry {
  const struct gpnn_points *points;
  size_t n_queries, k, kept;
  const double *queries;
  int64_t *rows;
  double *distances;
  struct room *rooms; /* owned; one a thread */
};

/* Answers QUERIES queries, or as many as are left. */
static enum gpnn_status answer(void *context, size_t thread, size_t block, struct gpnn_error *err)
{
  const struct inquiry *inquiry = context;
  const struct gpnn_points *points = inquiry->points;
  struct room *room = &inquiry->rooms[thread];
  size_t from = block * QUERIES, left = inquiry->n_queries - from, k = inquiry->k;
  size_t n = left < QUERIES ? left : QUERIES, kept = inquiry->kept;
  if (room->heaps == NULL && !room_init(room, kept, points->d))
    return gpnn_fail_memory(err, "for a search");
  scan(points, n, inquiry->queries + from * points->d, kept, room);
  for (size_t q = 0; q < n; q++)
    for (size_t i = 0; i < k; i++) {
      size_t to = (from + q) * k + i;
      bool found = i < kept && room->heaps[q * kept + i].row != none;
      inquiry->rows[to] = found ? room->heaps[q * kept + i].row : -1;
      inquiry->distances[to] = found ? room->heaps[q * kept + i].distance : INFINITY;
    }
  return GPNN_OK;
}

enum gpnn_status gpnn_exact_query(const struct gpnn_points *points, size_t n_queries,
                                  const double *queries, size_t k, int64_t *rows, double *distances,
                                  int threads, struct gpnn_error *err)
{
  size_t kept = k < points->n ? k : points->n, n_blocks = (n_queries + QUERIES - 1) / QUERIES;
  struct inquiry inquiry = {points, n_queries, k, kept, queries, rows, distances, NULL};
  if (kept == 0) return GPNN_OK;
  threads = gpnn_threads_for(threads, n_blocks);
  inquiry.rooms = gpnn_alloc((size_t)threads, 1, sizeof *inquiry.rooms);
  if (inquiry.rooms == NULL) return gpnn_fail_memory(err, "for a search");
  enum gpnn_status status = gpnn_threads_try(threads, n_blocks, 1, answer, &inquiry, err);
  for (int t = 0; t < threads; t++) room_release(&inquiry.rooms[t]);
  free(inquiry.rooms);
  return status;
}
