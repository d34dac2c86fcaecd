/*
 * places: rows of a table as places on a grid: which of its levels their coordinates are, and which
 * are new.
 *
 * Threads: a finder is read-only once made; places belong to whoever has them found.
 */
#ifndef GPNN_MODELS_GRID_PLACES_H
#define GPNN_MODELS_GRID_PLACES_H

#include "models/grid/posterior.h"

/* The levels of a grid in order.  A zeroed object may be released. */
struct gpnn_grid_finder {
  const struct gpnn_grid *grid;       /* borrowed */
  uint32_t *order[GPNN_GRID_FACTORS]; /* owned; levels, ascending by their coordinates */
};

/* Places with their arrays.  A zeroed object may be released. */
struct gpnn_grid_found {
  struct gpnn_grid_places places; /* whose arrays are: */
  uint32_t *level;                /* owned */
  double *x[GPNN_GRID_FACTORS];   /* owned */
};

/* GPNN_ENOMEM: 'finder', which must be zeroed, stays so. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_finder_make(struct gpnn_grid_finder *finder,
                                                       const struct gpnn_grid *grid,
                                                       struct gpnn_error *err);
void gpnn_grid_finder_release(struct gpnn_grid_finder *finder);

/* Finds 'n' rows 'x', which have the coordinates of all factors one after another, as the grid has
 * them.  A level is the grid's if all coordinates are equal; equal new ones are one level, and they
 * are numbered in ascending order.  GPNN_ENOMEM: 'found', which must be zeroed, stays so. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_find(struct gpnn_grid_found *found,
                                                const struct gpnn_grid_finder *finder, size_t n,
                                                const double *x, struct gpnn_error *err);
void gpnn_grid_found_release(struct gpnn_grid_found *found);

#endif
