/*
 * Brute force in double: the reference that every other search is measured against.
 *
 * Queries are taken a few at a time through blocks of rows that stay in cache; each keeps its
 * k nearest so far in a heap with the farthest on top.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "data/search_engine.h"

double gpnn_points_distance(const struct gpnn_points *points, size_t row, const double *query)
{
  const double *x = points->x + row * points->d, *inverse = points->inverse;
  double sum = 0;
  if (inverse == NULL) {
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < points->d; j++) sum += (x[j] - query[j]) * (x[j] - query[j]);
  } else {
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < points->d; j++) {
      double scaled = (x[j] - query[j]) * inverse[j];
      sum += scaled * scaled;
    }
  }
  return sum;
}

static bool nearer(struct gpnn_neighbour a, struct gpnn_neighbour b)
{
  return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
}

int gpnn_neighbour_compare(const void *a, const void *b)
{
  const struct gpnn_neighbour *left = a, *right = b;
  return nearer(*left, *right) ? -1 : nearer(*right, *left);
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

/* The 'k' nearest, k <= n, of up to QUERIES queries, each in a heap of its own, then sorted. */
static void scan(const struct gpnn_points *points, size_t n_queries, const double *queries,
                 size_t k, struct gpnn_neighbour *heaps)
{
  for (size_t i = 0; i < n_queries * k; i++) heaps[i] = (struct gpnn_neighbour){INFINITY, none};
  for (size_t from = 0; from < points->n; from += ROWS) {
    size_t end = points->n - from < ROWS ? points->n : from + ROWS;
    for (size_t q = 0; q < n_queries; q++) {
      struct gpnn_neighbour *heap = heaps + q * k;
      for (size_t row = from; row < end; row++) {
        struct gpnn_neighbour item = {gpnn_points_distance(points, row, queries + q * points->d),
                                      (int64_t)row};
        if (nearer(item, heap[0])) replace_top(heap, k, item);
      }
    }
  }
  for (size_t q = 0; q < n_queries; q++)
    qsort(heaps + q * k, k, sizeof *heaps, gpnn_neighbour_compare);
}

enum gpnn_status gpnn_exact_query(const struct gpnn_points *points, size_t n_queries,
                                  const double *queries, size_t k, int64_t *rows, double *distances,
                                  int threads, struct gpnn_error *err)
{
  size_t kept = k < points->n ? k : points->n, n_blocks = (n_queries + QUERIES - 1) / QUERIES;
  bool short_of_memory = false;
  if (kept == 0) return GPNN_OK;
#pragma omp parallel num_threads(threads)
  {
    struct gpnn_neighbour *heaps = gpnn_alloc(QUERIES, kept, sizeof *heaps);
    if (heaps == NULL) {
#pragma omp atomic write
      short_of_memory = true;
    }
#pragma omp for schedule(dynamic)
    for (size_t block = 0; block < n_blocks; block++) {
      if (heaps == NULL) continue;
      size_t from = block * QUERIES, n = n_queries - from < QUERIES ? n_queries - from : QUERIES;
      scan(points, n, queries + from * points->d, kept, heaps);
      for (size_t q = 0; q < n; q++)
        for (size_t i = 0; i < k; i++) {
          size_t to = (from + q) * k + i;
          bool found = i < kept && heaps[q * kept + i].row != none;
          rows[to] = found ? heaps[q * kept + i].row : -1;
          distances[to] = found ? heaps[q * kept + i].distance : INFINITY;
        }
    }
    free(heaps);
  }
  return short_of_memory ? gpnn_fail_memory(err, "for a search") : GPNN_OK;
}
