/*
 * coordinates: the numbers that describe a process on a grid, as a vector that estimation moves:
 * those of each factor in turn (kernel/factor.h), the logarithm of the kernel scale, and that of
 * the noise variance, or of each level's where they have their own.
 *
 * Threads: no shared state.
 */
#ifndef GPNN_MODELS_GRID_FIT_COORDINATES_H
#define GPNN_MODELS_GRID_FIT_COORDINATES_H

#include <stddef.h>

#include "kernel/parameters.h"

/* How many coordinates there are; to and from a vector of them. */
size_t gpnn_grid_n_coordinates(const struct gpnn_parameters *parameters);
void gpnn_grid_get_coordinates(const struct gpnn_parameters *parameters, double *coordinates);
void gpnn_grid_set_coordinates(struct gpnn_parameters *parameters, const double *coordinates);

/* Which coordinate the first of factor 'a' is; with 'a' the number of factors, which the kernel
 * scale is.  The noise variances follow it. */
size_t gpnn_grid_first_coordinate(const struct gpnn_parameters *parameters, size_t a);

/* How many noise variances there are: 1, or one for each level of a factor. */
size_t gpnn_grid_n_noise(const struct gpnn_parameters *parameters);

#endif
