/*
 * view: a grid as a candidate process sees it, and the parts of it that parameters are estimated
 * from.
 *
 * A view has levels as kernels take them, and cells without the means of their levels; a subset has
 * some of the observed cells with their levels.  A sample is a small part that shows what
 * parameters depend on: short and long distances between levels, of several levels together
 * (gpnn-methods-grid(7), equation 16.58).
 *
 * Threads: read-only once made.
 */
#ifndef GPNN_MODELS_GRID_FIT_VIEW_H
#define GPNN_MODELS_GRID_FIT_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/grid/grid.h"
#include "kernel/factor.h"
#include "kernel/parameters.h"

/* A zeroed object may be released. */
struct gpnn_grid_view {
  const struct gpnn_grid *grid;        /* borrowed */
  size_t inner;                        /* combinations of levels of all factors but the first */
  size_t *first;                       /* owned; n + 1 of the first factor: the position among
                                          observed cells of each level's first */
  uint32_t *n_at[GPNN_GRID_FACTORS];   /* owned; n: how many cells each level has */
  double *prepared[GPNN_GRID_FACTORS]; /* owned; n by d (gpnn_factor_prepare()) */
  double *mean;                        /* owned; n_cells: of all cells of the same level of the
                                          parameters' mean factor; NULL: there is none */
};

/* Makes a view of 'grid' for the inputs and the means of 'parameters'.  GPNN_EDATA: a level has no
 * logarithm.  GPNN_ENOMEM.  After a failure the view, which must be zeroed, still is. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_view_make(struct gpnn_grid_view *view,
                                                     const struct gpnn_grid *grid,
                                                     const struct gpnn_parameters *parameters,
                                                     struct gpnn_error *err);

void gpnn_grid_view_release(struct gpnn_grid_view *view);

/* ---- some of its cells ----------------------------------------------------------------------- */

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

/* ---- samples --------------------------------------------------------------------------------- */

/* How large a sample is. */
struct gpnn_grid_sample_size {
  size_t cells; /* at most, unless levels of the first factor have fewer */
  size_t sites; /* levels of the first factor, at most */
};

/*
 * Draws sample 'number' of a view's cells: their positions in the grid's list, ascending, to
 * '*chosen', which the caller frees, and their number to '*n'.  Half of the sites are random, and
 * half the nearest to each of these.  Where the other factors have many levels, the sites share a
 * window of consecutive ones and others at distances from it whose logarithms are uniform.  A grid
 * with no more than 'cells' cells is its own sample.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_sample(const struct gpnn_grid_view *view,
                                                  struct gpnn_grid_sample_size size, uint64_t seed,
                                                  uint64_t number, size_t **chosen, size_t *n,
                                                  struct gpnn_error *err);

#endif
