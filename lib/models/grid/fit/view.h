/*
 * view: a grid as a candidate process sees it: levels as its kernels take them, cells without the
 * means of their levels.
 *
 * Threads: read-only once made.
 */
#ifndef GPNN_MODELS_GRID_FIT_VIEW_H
#define GPNN_MODELS_GRID_FIT_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/grid.h"
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

#endif
