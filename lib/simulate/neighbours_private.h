/*
 * neighbours_private: drawing the neighbours of a point without a cloud of rows.
 */
#ifndef GPNN_SIMULATE_NEIGHBOURS_PRIVATE_H
#define GPNN_SIMULATE_NEIGHBOURS_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "simulate/inputs.h"

/* Draws the 'm' nearest of 'n' rows to 'x' as gpnn_neighbours_find() says; of normal inputs or of a
 * disk. */
void gpnn_neighbours_draw(const struct gpnn_inputs *inputs, uint64_t n, size_t m, const double *x,
                          struct gpnn_rng *rng, double *offsets);

#endif
