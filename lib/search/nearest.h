/*
 * nearest: lists of neighbours in the order of (distance, row): the k nearest, sorted or in a heap.
 *
 * No two neighbours of a list are the same row and no distance is NaN or negative, so the order is
 * total, and lists that were found separately merge into one that does not depend on how the rows
 * were divided.  Nothing here allocates or fails; n = 0 does nothing.
 */
#ifndef GPNN_SEARCH_NEAREST_H
#define GPNN_SEARCH_NEAREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpnn_neighbour {
  double distance; /* squared, or any other that orders alike */
  int64_t row;
};

/* True if 'a' comes before 'b'.  Without branches, which no processor could predict. */
static inline bool gpnn_nearest_precedes(struct gpnn_neighbour a, struct gpnn_neighbour b)
{
  return (a.distance < b.distance) | ((a.distance == b.distance) & (a.row < b.row));
}

/* Sorts 'n' neighbours; 'spare' has n elements too. */
void gpnn_nearest_sort(size_t n, struct gpnn_neighbour *neighbours, struct gpnn_neighbour *spare);

/* Moves the first k of n neighbours, k <= n, to the front, in any order. */
void gpnn_nearest_select(size_t n, struct gpnn_neighbour *neighbours, size_t k);

/*
 * Heaps of the k > 0 nearest neighbours met so far, the farthest at heap[0].  Fill a heap with
 * distance INFINITY and row GPNN_NEAREST_NONE, offer it each neighbour, and sort it at the end:
 * where fewer than k were offered, GPNN_NEAREST_NONE comes last.
 */
#define GPNN_NEAREST_NONE INT64_MAX

/* Replaces heap[0], which comes after 'item', by 'item'. */
void gpnn_nearest_replace(struct gpnn_neighbour *heap, size_t k, struct gpnn_neighbour item);

static inline void gpnn_nearest_offer(struct gpnn_neighbour *heap, size_t k,
                                      struct gpnn_neighbour item)
{
  if (gpnn_nearest_precedes(item, heap[0])) gpnn_nearest_replace(heap, k, item);
}

/* The value that sorting 'n' values would put at position k < n.  'values' are reordered. */
float gpnn_nearest_select_float(size_t n, float *values, size_t k);

#endif
