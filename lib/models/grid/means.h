/*
 * means: a mean for each level of one factor of a grid, which is removed from the cells before they
 * are modelled, and put back into predictions (gpnn-methods-grid(7), equations 16.13 and 16.14).
 *
 * The mean of a level is that of its observed cells, shrunk towards 0 as if one more cell had been
 * observed there, of value 0, the mean of all cells.  Levels without any, and those that the grid
 * does not have, are predicted from these as a series (models/grid/series.h), with a variance;
 * where levels have no order, or several coordinates, they are independent about 0.
 *
 * Threads: read-only once made.
 */
#ifndef GPNN_MODELS_GRID_MEANS_H
#define GPNN_MODELS_GRID_MEANS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "dataset/grid/grid.h"
#include "models/grid/series.h"

/* A zeroed object is that of no factor: all means are 0. */
struct gpnn_grid_means {
  size_t factor;   /* 1 + the factor whose levels have means; 0: none */
  double *mean;    /* owned; of each level of it that has an observation */
  bool *is_known;  /* owned; whether it has */
  bool is_ordered; /* levels are places in a series */
  struct gpnn_grid_series series;
};

/*
 * Makes the means of the levels of 'factor' (1 + its number; 0: none) that have cells, whose values
 * are 'y' (n_cells).  'means' must be zeroed, and stays so after GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_means_make(struct gpnn_grid_means *means,
                                                      const struct gpnn_grid *grid, size_t factor,
                                                      const double *y, struct gpnn_error *err);

/* Estimates what the other levels are like.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_means_extend(struct gpnn_grid_means *means,
                                                        const struct gpnn_grid *grid,
                                                        struct gpnn_error *err);

/* The mean of an observed cell with these levels (n_factors). */
double gpnn_grid_means_at(const struct gpnn_grid_means *means, const size_t *level);

void gpnn_grid_means_release(struct gpnn_grid_means *means);

#endif
