/*
 * means: a mean for each level of one factor of a grid, which is removed from the cells before they
 * are modelled, and put back into predictions (gpnn-methods-grid(7), equations 16.13 and 16.14).
 *
 * The mean of a level is that of its observed cells, shrunk towards 0 as if one more cell had been
 * observed there, of value 0, the mean of all cells.  A level without any, and one that the grid
 * does not have, is interpolated linearly between its neighbours in the coordinate, and has the
 * mean of the last beyond all of them; it is 0 where levels have no order, or several coordinates.
 *
 * Threads: read-only once made.
 */
#ifndef GPNN_MODELS_GRID_MEANS_H
#define GPNN_MODELS_GRID_MEANS_H

#include <stddef.h>

#include "base/status.h"
#include "dataset/grid.h"

/* A zeroed object is that of no factor: all means are 0. */
struct gpnn_grid_means {
  size_t factor; /* 1 + the factor whose levels have means; 0: none */
  double *mean;  /* owned; of each level of it */
  size_t n_sorted;
  double *x, *at; /* owned; n_sorted: coordinates of the levels with an observation, ascending, and
                     the means there; of levels without order there are none */
};

/*
 * Computes the means of the levels of factor 'factor' - 1 (0: there are none) from the values 'y'
 * (n_cells) of the observed cells.  'means' must be zeroed, and stays so after GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_means_make(struct gpnn_grid_means *means,
                                                      const struct gpnn_grid *grid, size_t factor,
                                                      const double *y, struct gpnn_error *err);

/* The mean of the cell with these levels (n_factors), all of the grid. */
double gpnn_grid_means_at(const struct gpnn_grid_means *means, const size_t *level);

/* The mean of a level of the factor that the grid does not have, at coordinate 'x'. */
double gpnn_grid_means_between(const struct gpnn_grid_means *means, double x);

void gpnn_grid_means_release(struct gpnn_grid_means *means);

#endif
