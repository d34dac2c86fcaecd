/*
 * points: the rows that are searched, with their metric, and what every engine does with them.
 *
 *   duplicates.c   identical rows, which engines see once
 *   exact.c        distances in double precision; brute force over all rows
 *   float_frame.c  coordinates in single precision, and how wrong they may be
 *   rerank.c       an engine's candidates, ranked again in double precision
 */
#ifndef GPNN_SEARCH_POINTS_PRIVATE_H
#define GPNN_SEARCH_POINTS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mapping.h"
#include "base/status.h"
#include "search/nearest.h"

/* The rows and the metric; arrays are borrowed.  Distances are Euclidean after the linear map
 * 'map', or after multiplication by 'inverse', or as the rows are if both are NULL. */
struct gpnn_search_points {
  size_t n, d;
  const double *x;       /* n by d, row-major */
  const double *inverse; /* d reciprocal lengthscales, or NULL */
  const double *map;     /* d by d, row-major: the rotation divided by the lengthscales, or NULL */
  struct gpnn_mapping mapping; /* that x lies in, if it is mapped */
  size_t n_distinct;           /* rows after identical ones are merged: what engines search */
  const uint32_t *first; /* n_distinct: the first row of each, ascending; NULL: no duplicates */
  const uint32_t *next;  /* n: the next identical row, or 0; NULL: no duplicates */
};

/* ---- duplicates.c ---- */

/* The first row of distinct row 'i'.  Below n whatever was stored. */
static inline size_t gpnn_duplicates_first(const struct gpnn_search_points *points, size_t i)
{
  if (points->first == NULL) return i;
  return points->first[i] < points->n ? points->first[i] : 0;
}

/* The next row identical to 'row', or 0.  Greater than 'row' and below n whatever was stored. */
static inline size_t gpnn_duplicates_next(const struct gpnn_search_points *points, size_t row)
{
  if (points->next == NULL) return 0;
  size_t next = points->next[row];
  return next > row && next < points->n ? next : 0;
}

/*
 * Finds identical rows and sets n_distinct, first and next; they stay NULL unless some row stands
 * often enough to slow a search.  '*owned', which the caller frees, holds next, then first.  False
 * without memory.
 */
GPNN_MUST_CHECK bool gpnn_duplicates_find(struct gpnn_search_points *points, uint32_t **owned);

/* Sets them from such an array, which is borrowed. */
void gpnn_duplicates_set(struct gpnn_search_points *points, size_t n_distinct,
                         const uint32_t *next_and_first);

/* Evicts the rows from distinct row 'begin' to the one before 'end'. */
void gpnn_search_points_evict(const struct gpnn_search_points *points, size_t begin, size_t end);

/* ---- exact.c ---- */

enum { GPNN_DISTANCE_LANES = 8 };

/*
 * Squared distances of 'n' rows from 'query', infinite instead of NaN.  All engines report these,
 * so that equal pairs have equal distances.  'differences' is scratch of GPNN_DISTANCE_LANES by d.
 */
void gpnn_search_points_distances(const struct gpnn_search_points *points, const double *query,
                                  size_t n, const int64_t *rows, double *differences,
                                  double *distances);

/* gpnn_search_query() by brute force over every row.  Cost n d per query. */
GPNN_MUST_CHECK enum gpnn_status gpnn_exact_query(const struct gpnn_search_points *points,
                                                  size_t n_queries, const double *queries, size_t k,
                                                  int64_t *rows, double *distances, int threads,
                                                  struct gpnn_error *err);

/* ---- float_frame.c ---- */

/*
 * A coordinate frame for single precision: z = f (x - o), or F (x - o) under a rotation.  The
 * origin o is a point among the rows; f, or F, is the metric times the power of two that brings z
 * to about unit size.  So columns far from zero and tiny or huge units lose nothing to rounding.
 */
struct gpnn_float_frame {
  size_t d;
  double *origin, *factor; /* owned: d; d or NULL */
  double *map;             /* owned: d by d, column-major, or NULL */
  double scale;            /* the power of two */
};

/* Coordinates are clamped to this magnitude. */
#define GPNN_FLOAT_FRAME_EDGE 1e15

/* Both are false without memory, and 'frame' is then empty. */
GPNN_MUST_CHECK bool gpnn_float_frame_alloc(struct gpnn_float_frame *frame, size_t d, bool has_map);
GPNN_MUST_CHECK bool gpnn_float_frame_init(struct gpnn_float_frame *frame,
                                           const struct gpnn_search_points *points);
void gpnn_float_frame_release(struct gpnn_float_frame *frame);

/* Writes the coordinates of a row; returns its distance from the origin, in the frame's units. */
double gpnn_float_frame_apply(const struct gpnn_float_frame *frame, const double *row,
                              float *framed);

/* Bounds the error of a distance computed in single precision: of a row at 'distance' (not squared,
 * in the frame's units) from a query whose distance from the origin is 'norm'. */
double gpnn_float_frame_error(const struct gpnn_float_frame *frame, double norm, double distance);

/* ---- rerank.c ---- */

/* The candidates of one query, and scratch. */
struct gpnn_reranking {
  size_t capacity;
  struct gpnn_neighbour *neighbours, *spare; /* capacity */
  double *distances;                         /* capacity */
  double *differences;                       /* for gpnn_search_points_distances() */
  size_t k;
  struct gpnn_neighbour *expanded; /* 6 k, or NULL: the nearest rows with their duplicates */
};

/* Allocates for 'n' candidates; false without memory. */
GPNN_MUST_CHECK bool gpnn_rerank_reserve(struct gpnn_reranking *ranking, size_t n, size_t d);
void gpnn_rerank_release(struct gpnn_reranking *ranking);

/* Sorts the distinct rows 'candidates', which are overwritten, by distance in double precision,
 * ties by their first row; returns how many there are, or the k nearest of them if there are many
 * more. */
size_t gpnn_rerank(const struct gpnn_search_points *points, const double *query,
                   size_t n_candidates, int64_t *candidates, size_t k,
                   struct gpnn_reranking *ranking);

/* Writes the k nearest rows, duplicates included, of the 'found' distinct rows in 'ranking'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_rerank_write(const struct gpnn_search_points *points,
                                                   struct gpnn_reranking *ranking, size_t found,
                                                   size_t k, int64_t *rows, double *distances,
                                                   struct gpnn_error *err);

#endif
