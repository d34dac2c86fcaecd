/*
 * sample: small parts of a grid that show what parameters depend on: short and long distances
 * between levels, of several levels together (gpnn-methods(7), equation 16.58).
 *
 * Threads: no shared state.
 */
#ifndef GPNN_MODELS_GRID_FIT_SAMPLE_H
#define GPNN_MODELS_GRID_FIT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/grid/fit/view.h"

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
