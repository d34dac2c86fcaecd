/*
 * vecchia: rows in an order, each with its nearest neighbours among the earlier rows.
 *
 * The density of n values is the product of the density of each given all before it.  Conditioning
 * on the m nearest of those only gives Vecchia's (1988) approximation, which is also that of the
 * nearest-neighbour Gaussian process (Datta et al. 2016; gpnn-methods(7), equation 6.1).  With m >=
 * n - 1 it is exact, whatever the order.
 *
 * Calling sequence: gpnn_vecchia_order(), gpnn_vecchia_neighbours(), then vecchia/whiten.h or an
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
 * Writes the numbers of the n rows of 'x' (n by d, row-major) to 'order' from the first to the
 * last. Principal: ties are broken by row number; of the component's two directions, the one whose
 * largest entry is positive (Jankowiak and Pleiss 2021, A.10.2).  'seed' only matters to a random
 * order. GPNN_EINVAL: no such order; GPNN_ENUMERIC: no principal component.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_vecchia_order(enum gpnn_order kind, size_t n, size_t d,
                                                    const double *x, uint64_t seed, int64_t *order,
                                                    struct gpnn_error *err);

struct gpnn_vecchia_options {
  size_t neighbours;         /* m >= 1 */
  const double *lengthscale; /* d of them, or NULL: Euclidean */
  /* GPNN_SEARCH_FLAT finds the true nearest rows; GPNN_SEARCH_AUTO, among many rows, a fraction
   * 'recall' of them. */
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
 * Finds the m nearest earlier rows in 'order' (n) of each row in 'wanted' (n_wanted different
 * numbers; NULL: all n in the order of their numbers).  'neighbours' is n_wanted by m, nearest
 * first, ties broken by row number, -1 where there are fewer.  Rows are numbered as in 'x' (n by
 * d).  GPNN_EINVAL: options->neighbours is 0; otherwise only searches and memory can fail.
 *
 * The first half of the order is searched for neighbours of the second half, then the quarters of
 * each half, and so on down to blocks of a few thousand rows, in which all pairs are compared; each
 * row keeps the best.  A flat search thus costs n_wanted n d / 2, one with inverted lists log n
 * times a search over n rows, and only blocks with wanted rows are searched.  Memory
 * O(n_wanted m + n d).
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_vecchia_neighbours(size_t n, size_t d, const double *x, const int64_t *order, size_t n_wanted,
                        const int64_t *wanted, const struct gpnn_vecchia_options *options,
                        int64_t *neighbours, struct gpnn_error *err);

#endif
