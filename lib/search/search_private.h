/*
 * search: what search.c (building, storing), tune.c (choosing how much to search) and query.c
 * share.
 */
#ifndef GPNN_SEARCH_SEARCH_PRIVATE_H
#define GPNN_SEARCH_SEARCH_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "search/points_private.h"
#include "search/search.h"
#include "search/search_faiss_private.h"
#include "search/tree_private.h"

/* Without 'faiss' and 'tree' a search is exact: brute force in double precision. */
struct gpnn_search {
  struct gpnn_search_points points;
  double *lengthscale; /* owned: d, or NULL */
  double *rotation;    /* owned: d by d, or NULL */
  double *inverse;     /* owned: reciprocals of the lengthscales, or NULL; points.inverse */
  double *map;         /* owned: d by d, or NULL; points.map */
  struct gpnn_search_report report;
  uint32_t *duplicates;     /* owned, or NULL: points.next and points.first */
  struct gpnn_faiss *faiss; /* owned: flat, inverted lists or a graph */
  struct gpnn_tree *tree;   /* owned */
};

/* ---- query.c ---- */

/* gpnn_search_query() as the engine answers, which under ivf may lack rows; adds to '*visited',
 * unless it is NULL, the rows that lists or a tree looked at. */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_query_counted(const struct gpnn_search *search,
                                                           size_t n_queries, const double *queries,
                                                           size_t k, int64_t *rows,
                                                           double *distances, int threads,
                                                           size_t *visited, struct gpnn_error *err);

/* ---- tune.c ---- */

/* Sets lists visited per query, efSearch, or the reach of a tree in per cent; flat and exact
 * search have no effort. */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_set_effort(struct gpnn_search *search, size_t effort,
                                                        struct gpnn_error *err);

/* Builds the engine that 'options' ask for over the points of 'search', and sets the report. */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_tune(struct gpnn_search *search,
                                                  const struct gpnn_search_options *options,
                                                  struct gpnn_error *err);

#endif
