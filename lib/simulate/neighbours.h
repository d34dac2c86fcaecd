/*
 * near: the nearest training rows of simulated points: found in a cloud of n random rows, or drawn
 * as they would be found there, without the cloud (gpnn-methods(7), equations 11.1 and 11.2).
 *
 * Rows are independent and of one law.  Given a point x*, the m smallest of its n distances are the
 * first m order statistics of n uniforms pushed through the inverse of F(r) = P(|X - x*| <= r):
 *   -log(1 - U_(j)) = sum_{i <= j} E_i / (n - i + 1),  E_i standard exponential,
 * and, given its distance, the direction of each is independent of the others'.
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

enum gpnn_inputs_law {
  GPNN_INPUTS_NORMAL, /* independent normal coordinates of mean 0 and standard deviation 'scale' */
  GPNN_INPUTS_DISK,   /* uniform on the disk of radius 'scale'; d = 2 */
  GPNN_INPUTS_CUBE,   /* uniform on [-scale, scale]^d; by search alone */
};

/* The law that inputs are drawn from. */
struct gpnn_inputs {
  enum gpnn_inputs_law law;
  size_t d;
  double scale; /* > 0 */
};

/* "normal" -> GPNN_INPUTS_NORMAL and so on (normal, disk, cube); false if it is none. */
bool gpnn_inputs_by_name(const char *name, enum gpnn_inputs_law *law);

/* Draws the d coordinates of one row. */
void gpnn_inputs_draw(const struct gpnn_inputs *inputs, struct gpnn_rng *rng, double *x);

struct gpnn_neighbours;

/* Largest n. */
#define GPNN_NEIGHBOURS_MOST 1000000000000000000u

struct gpnn_neighbours_options {
  struct gpnn_inputs inputs;
  uint64_t n;     /* training rows, 1 to GPNN_NEIGHBOURS_MOST */
  size_t m;       /* neighbours wanted; at most n */
  bool by_search; /* in a cloud: memory O(n d); else without it: O(1) */
  uint64_t seed;
  uint64_t draw; /* which of several independent training sets */
  int threads;
};

/*
 * Prepares; draws the cloud and builds its search, which misses no neighbour, where that is wanted:
 * 8 n d bytes and half as much again.  GPNN_EINVAL: no rows or too many, m > n, a scale that is
 * none, a disk that is not of two inputs, a cube without search.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_neighbours_new(struct gpnn_neighbours **near,
                                                     const struct gpnn_neighbours_options *options,
                                                     struct gpnn_error *err);

/*
 * Neighbours of 'n_points' points 'x' (n_points by d), of which the first is number 'first': the
 * numbers, the draw and the seed decide what is drawn, not the batch nor the threads.  'offsets'
 * (n_points by m by d) gets the neighbours less their point, nearest first: by theory without
 * cancellation, however near they are.  Points may be anywhere; those of a disk are usually in it.
 *
 * Accuracy by theory: distances are the quantiles of their uniform deviates to 1e-13 of themselves
 * (stats/chisquare.h), in a disk to 1e-13 but for what the last digit of |x*| moves its edge by.
 * Cost: some d deviates a neighbour, and no memory.  Points of one cloud share its rows, while what
 * theory draws for different points is independent.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_neighbours_find(const struct gpnn_neighbours *near,
                                                      uint64_t first, size_t n_points,
                                                      const double *x, double *offsets,
                                                      struct gpnn_error *err);

void gpnn_neighbours_free(struct gpnn_neighbours *near);

#endif
