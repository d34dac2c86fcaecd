/*
 * state: solutions of the equations of a grid, kept with its parameters (container/state.h).
 *
 * They are only where solving starts: if the parameters have been changed since, it takes longer,
 * and gives the same.  Starting from a solution within the tolerance takes no iteration.
 */
#ifndef GPNN_MODELS_GRID_STATE_H
#define GPNN_MODELS_GRID_STATE_H

#include "container/state.h"
#include "models/grid/posterior.h"

/* Adds to 'state' the arrays "alpha" and, if the posterior keeps draws, "draws": for each of them
 * in turn A^-1 (y - P f - e) of the observed cells.  'target' is the name of the target.
 * GPNN_ENOMEM: some may have been added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_state_store(const struct gpnn_grid_posterior *posterior,
                                                       const char *target, struct gpnn_state *state,
                                                       struct gpnn_error *err);

/* Lets 'options' start from what 'state' (NULL: nothing) has for this target of the index with this
 * fingerprint; borrowed.  What is of another index or length is left out. */
void gpnn_grid_state_find(const struct gpnn_state *state, uint64_t fingerprint, const char *target,
                          size_t n_cells, struct gpnn_grid_posterior_options *options);

#endif
