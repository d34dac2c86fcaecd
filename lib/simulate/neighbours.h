/*
 * neighbours: the nearest training rows of simulated points, either found in a cloud of n random
 * rows or drawn from the distribution they have there, without the cloud (gpnn-methods-simulate(7),
 * equations 11.1 and 11.2).
 *
 * Rows are independent and identically distributed.  Given a point x*, the m smallest of its n
 * distances are the first m order statistics of n uniform deviates, mapped by the inverse of
 * F(r) = P(|X - x*| <= r):
 *   -log(1 - U_(j)) = sum_{i <= j} E_i / (n - i + 1),  E_i standard exponential;
 * and given its distance, the direction of each neighbour is independent of the others.
 *
 * Calling sequence: gpnn_neighbours_new(), gpnn_neighbours_find() any number of times,
 * gpnn_neighbours_free().
 */
#ifndef GPNN_SIMULATE_NEIGHBOURS_H
#define GPNN_SIMULATE_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"

/* The distributions that inputs of simulated rows are drawn from. */
enum gpnn_inputs_law {
  GPNN_INPUTS_NORMAL, /* independent normal coordinates with mean 0 and standard deviation 'scale'
                       */
  GPNN_INPUTS_DISK,   /* uniform on the disk of radius 'scale'; d is 2 */
  GPNN_INPUTS_CUBE,   /* uniform on [-scale, scale]^d */
};

struct gpnn_inputs {
  enum gpnn_inputs_law law;
  size_t d;
  double scale; /* > 0 */
};

/* Draws the d coordinates of one row. */
void gpnn_inputs_draw(const struct gpnn_inputs *inputs, struct gpnn_rng *rng, double *x);

struct gpnn_neighbours;

/* The largest n. */
#define GPNN_NEIGHBOURS_MOST 1000000000000000000u

struct gpnn_neighbours_options {
  struct gpnn_inputs inputs; /* of points and rows; a cube only by search */
  uint64_t n;                /* training rows, 1 to GPNN_NEIGHBOURS_MOST */
  size_t m;                  /* neighbours wanted, at most n */
  bool by_search;            /* true: search a cloud, memory O(n d); false: draw, O(1) */
  uint64_t seed;
  uint64_t draw; /* number of the training set, out of any number of independent ones */
  int threads;   /* > 0 */
};

/*
 * Prepares.  By search this draws the cloud and builds an exact search over it, which takes 12 n d
 * bytes.  GPNN_EINVAL: no rows or too many, m > n, no inputs, a scale that is not positive and
 * finite, a disk with other than two inputs, a cube without search.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_neighbours_new(struct gpnn_neighbours **neighbours,
                                                     const struct gpnn_neighbours_options *options,
                                                     struct gpnn_error *err);

/*
 * Writes the neighbours of 'n_points' points 'x' (n_points by d), minus their point and nearest
 * first, to 'offsets' (n_points by m by d).  'first' is the number of the first point: numbers,
 * draw and seed determine the result, not the batch or the threads.  Points may be anywhere,
 * even outside the disk.
 *
 * Drawn offsets have no cancellation, however small they are.  Their distances are quantiles of
 * uniform deviates with a relative error of 1e-13 (stats/distributions/chisquare.h); near the edge
 * of a disk, the rounding of |x*| adds to it.  Cost: some d deviates per neighbour, and no memory.
 * Points of one cloud share its rows, while neighbours drawn for different points are independent.
 * Only searches can fail, for want of memory.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_neighbours_find(const struct gpnn_neighbours *neighbours,
                                                      uint64_t first, size_t n_points,
                                                      const double *x, double *offsets,
                                                      struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_neighbours_free(struct gpnn_neighbours *neighbours);

#endif
