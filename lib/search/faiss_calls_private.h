/*
 * faiss_calls: what is called of FAISS, as functions over plain arrays.
 *
 * Only flat search and the making of graphs: all else that it has, its indexes and their files
 * above all, would make every tool several times as large.
 *
 * Coordinates are finite.  GPNN_EEXTERNAL: FAISS failed, with its message.  GPNN_ENOMEM.  Threads:
 * FAISS uses one; several may call it at a time, also with the same rows once these are added.
 */
#ifndef GPNN_SEARCH_FAISS_CALLS_PRIVATE_H
#define GPNN_SEARCH_FAISS_CALLS_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- flat search ---- */

struct gpnn_faiss_flat;

/* No rows of 'd' coordinates, d at most INT_MAX / 4. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_flat_new(struct gpnn_faiss_flat **flat, size_t d,
                                                     struct gpnn_error *err);

/* Appends a copy of the n by d 'rows'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_flat_add(struct gpnn_faiss_flat *flat, size_t n,
                                                     const float *rows, struct gpnn_error *err);

/* The 'k' rows nearest to each of n 'queries': 'distances' (squared) and 'rows' are n by k; -1
 * where there are no more. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_flat_nearest(const struct gpnn_faiss_flat *flat,
                                                         size_t n, const float *queries, size_t k,
                                                         float *distances, int64_t *rows,
                                                         struct gpnn_error *err);

/* NULL does nothing. */
void gpnn_faiss_flat_free(struct gpnn_faiss_flat *flat);

/* ---- k-means ---- */

/* Finds 'k' means (k by d) of the n by d 'rows', n greater than k. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_means(size_t n, size_t d, const float *rows, size_t k,
                                                  float *means, struct gpnn_error *err);

/* ---- graphs ---- */

/* The squared distance of two rows. */
float gpnn_faiss_distance(size_t d, const float *a, const float *b);

/* Links of a row, on the lowest level and on each of the others. */
enum { GPNN_GRAPH_LEVELS = 8, GPNN_GRAPH_LOWEST = 64, GPNN_GRAPH_UPPER = 32 };

/*
 * Rows at n places; a level has the rows of the first places, and level 0 all.  Links are places of
 * the same level; the first that is none, UINT32_MAX for instance, ends those of a row.
 */
struct gpnn_graph {
  size_t n, d, n_levels, counts[GPNN_GRAPH_LEVELS]; /* places of each level, at least 1 */
  const uint32_t *ids;                              /* n: the distinct row at each place */
  const float *rows;                                /* n by d */
  const uint32_t *links[GPNN_GRAPH_LEVELS];         /* counts by GPNN_GRAPH_LOWEST or _UPPER */
  size_t entry;                                     /* a place of the highest level */
};

/* Draws how many levels each of n rows is on: 'levels' (n), at least 1, the same each time. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_draw_levels(size_t n, unsigned char *levels,
                                                        struct gpnn_error *err);

/* Finds the links of 'graph', n at most INT_MAX, whose places of the same levels are in the order
 * of their rows, and its entry.  'links' are the graph's. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_link(struct gpnn_graph *graph, uint32_t *const *links,
                                                 struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
