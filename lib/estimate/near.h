/*
 * near: the nearest training rows of some of them, kept where they do not depend on what is
 * estimated.
 *
 * Under one lengthscale for all inputs, and without a rotation, the same rows are nearest whatever
 * the lengthscale.  Many candidates share such lists, and where inputs are hundreds finding them is
 * most of the work of a fit.
 *
 * Calling sequence: a zeroed struct gpnn_near for a set of rows and a sequence of queries;
 * gpnn_near_find() any number of times, each for the first of the queries; gpnn_near_release().
 *
 * Memory: 16 n k bytes for each of at most three lists.  Threads: an object belongs to one thread
 * at a time.
 */
#ifndef GPNN_ESTIMATE_NEAR_H
#define GPNN_ESTIMATE_NEAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "search/search.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_near_lists {
  size_t n, k;
  int64_t *row;     /* owned; n by k: nearest first, -1 where none was found */
  double *distance; /* owned; n by k: squared, up to a factor common to all */
};

struct gpnn_near {
  struct gpnn_near_lists kept[2]; /* under one lengthscale: many queries, and many neighbours */
  struct gpnn_near_lists once;    /* under another metric */
};

struct gpnn_near_query {
  size_t n_rows, d;
  const double *rows; /* n_rows by d */
  size_t n;
  const double *x; /* n by d: the queries */
  size_t k;        /* at most n_rows */
  const struct gpnn_search_options *how;
};

/* Finds the 'k' nearest rows of 'n' queries, themselves among them: in '*lists', which have at
 * least as many of either and are valid until the next call.  Outcomes as gpnn_search_build() and
 * gpnn_search_query(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_near_find(struct gpnn_near *near,
                                                const struct gpnn_near_query *query,
                                                const struct gpnn_near_lists **lists,
                                                struct gpnn_error *err);

void gpnn_near_release(struct gpnn_near *near);

#ifdef __cplusplus
}
#endif

#endif
