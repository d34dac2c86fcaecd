/*
 * subset: some of the observed cells of a grid, with the levels they belong to as kernels see them.
 * Samples of them are what parameters are estimated from (models/grid/fit/fit.h).
 *
 * Threads: read-only once made.
 */
#ifndef GPNN_MODELS_GRID_FIT_SUBSET_H
#define GPNN_MODELS_GRID_FIT_SUBSET_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/grid.h"
#include "kernel/factor.h"

/* Levels of one factor. */
struct gpnn_grid_subset_factor {
  size_t n, d;
  double *x;        /* owned; n by d, prepared (gpnn_factor_prepare()) */
  uint32_t *origin; /* owned; n: which levels of the grid they are */
};

/* A zeroed object is empty and may be released. */
struct gpnn_grid_subset {
  size_t n_factors;
  struct gpnn_grid_subset_factor factor[GPNN_GRID_FACTORS];
  size_t n;
  uint32_t *level; /* owned; n by n_factors: the levels of each cell, numbers among those here */
  double *y;       /* owned; n */
  uint32_t *count; /* owned; n: how many observations each is the mean of */
  double within;   /* sum of squares of these around their means */
};

/*
 * Collects 'n' observed cells of 'grid': 'chosen' has their positions in its list, ascending.
 * 'prepared' has the levels of each factor as its kernel sees them (n by d), 'mean' what is
 * subtracted from each of the grid's cells (n_cells), or is NULL.  The sum of squares within cells,
 * which is known for the grid as a whole, is shared out in proportion to the degrees of freedom.
 * GPNN_ENOMEM: '*cells', which must be zeroed, stays so.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_subset_collect(struct gpnn_grid_subset *cells, const struct gpnn_grid *grid,
                         const double *const prepared[], const double *mean, size_t n,
                         const size_t *chosen, struct gpnn_error *err);

void gpnn_grid_subset_release(struct gpnn_grid_subset *cells);

#endif
