/*
 * halton: points that fill the unit cube more evenly than random ones do.
 *
 * Coordinate j of point i is the number whose digits, after the point and in the base of the j-th
 * prime, are those of i in reverse, each of them permuted at random (Owen 2017, A randomized Halton
 * algorithm).  So every point is uniform, and averages over them are unbiased.
 * Threads: no shared state.
 */
#ifndef GPNN_STATS_HALTON_H
#define GPNN_STATS_HALTON_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Writes the first 'n' points of dimension 'd' to 'points' (n by d), each number in [0, 1), drawn
 * with 'seed'.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_halton_fill(size_t n, size_t d, uint64_t seed, double *points,
                                                  struct gpnn_error *err);

#endif
