/*
 * near_parts: what near.c shares with its two ways of finding; not for other modules.
 *
 * near_normal.c and near_disk.c draw neighbours by theory, near_search.c finds them in a cloud.
 */
#ifndef GPNN_SIMULATE_NEIGHBOURS_PRIVATE_H
#define GPNN_SIMULATE_NEIGHBOURS_PRIVATE_H

#include "search/search.h"
#include "simulate/neighbours.h"

struct gpnn_neighbours {
  struct gpnn_neighbours_options options;
  uint64_t seed;              /* of this draw: a hash of the options' seed and draw */
  double *rows;               /* owned: the cloud, n by d, or NULL */
  struct gpnn_search *search; /* owned: over it, or NULL */
};

/* The order statistics of n uniforms, one after the other: -log(1 - U_(j)) so far. */
struct gpnn_neighbours_order {
  uint64_t n, taken;
  double cumulated;
};

/* The next: -log(1 - U) in '*cumulated' and log U returned, accurate at either end of (0, 1). */
double gpnn_neighbours_next(struct gpnn_neighbours_order *order, struct gpnn_rng *rng,
                            double *cumulated);

/* The 'm' nearest of 'n' rows to 'x', drawn by theory. */
void gpnn_neighbours_normal(const struct gpnn_inputs *inputs, uint64_t n, size_t m, const double *x,
                            struct gpnn_rng *rng, double *offsets);
void gpnn_neighbours_disk(const struct gpnn_inputs *inputs, uint64_t n, size_t m, const double *x,
                          struct gpnn_rng *rng, double *offsets);

/* Draws the cloud and builds its search; gpnn_neighbours_find() in it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_neighbours_make_cloud(struct gpnn_neighbours *near,
                                                            struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_neighbours_look(const struct gpnn_neighbours *near,
                                                      size_t n_points, const double *x,
                                                      double *offsets, struct gpnn_error *err);

#endif
