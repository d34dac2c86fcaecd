/*
 * vecchia: rows in an order, each with the nearest of those before it.
 *
 * The density of n values is the product of each one's given all before it; conditioned on the m
 * nearest of those only, it is that of Vecchia (1988), and of the nearest-neighbour Gaussian
 * process (Datta et al. 2016; gpnn-methods(7), equation 6.1).  With m >= n - 1 it is the exact one,
 * in whatever order.
 *
 * Calling sequence: gpnn_vecchia_order(), gpnn_vecchia_neighbours(), and vecchia/whiten.h or an
 * objective on the lists.
 */
#ifndef GPNN_VECCHIA_VECCHIA_H
#define GPNN_VECCHIA_VECCHIA_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "search/search.h"

enum gpnn_order {
  GPNN_ORDER_PRINCIPAL = 0, /* by projection on the first principal component of the rows */
  GPNN_ORDER_RANDOM = 1,
};

/*
 * Writes to 'order' (n) the numbers of the rows of 'x' (n by d, row-major) from the first to the
 * last.  Principal: ties by row number; of the component's two directions that in which its
 * largest entry is positive (Jankowiak and Pleiss 2021, A.10.2).  'seed' matters to a random order
 * only.  GPNN_EINVAL: no such order; GPNN_ENUMERIC: no principal component.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_vecchia_order(enum gpnn_order kind, size_t n, size_t d,
                                                    const double *x, uint64_t seed, int64_t *order,
                                                    struct gpnn_error *err);

struct gpnn_vecchia_options {
  size_t neighbours;         /* m >= 1 */
  const double *lengthscale; /* d of them, or NULL: Euclidean */
  /* How rows are searched for: GPNN_SEARCH_FLAT finds the true nearest, GPNN_SEARCH_AUTO, among
   * many rows, 'recall' of them. */
  enum gpnn_search_kind kind;
  double recall; /* in (0, 1] */
  uint64_t seed;
  int threads;
};

#define GPNN_VECCHIA_OPTIONS_INIT           \
  {                                         \
    15, NULL, GPNN_SEARCH_FLAT, 0.999, 1, 1 \
  }

/*
 * Finds, for each of the 'n_wanted' rows named in 'wanted' (distinct; NULL: all n, in the order
 * of their numbers), its m nearest among the rows before it in 'order' (n): 'neighbours' is
 * n_wanted by m, nearest first, ties by row number, -1 where there are fewer.  Rows are numbered
 * as in 'x' (n by d).
 *
 * Halves of halves: the rows of a block's second half are looked for among its first half, and
 * each row keeps the best; blocks of a few thousand rows are looked through.  So a flat search
 * costs n_wanted n d / 2, one with inverted lists log n times what a search over n rows does, and
 * only blocks with wanted rows are searched.  Memory O(n_wanted m + n d).
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_vecchia_neighbours(size_t n, size_t d, const double *x, const int64_t *order, size_t n_wanted,
                        const int64_t *wanted, const struct gpnn_vecchia_options *options,
                        int64_t *neighbours, struct gpnn_error *err);

#endif
