#include "models/grid/system/precondition_private.h"

#include <stdlib.h>

#include "base/memory.h"

#define MEMORY_FOR "for the preconditioner of a grid"

void gpnn_grid_precondition_free(struct gpnn_grid_preconditioner_state *state)
{
  if (state == NULL) return;
  gpnn_grid_eigen_free(state->eigen);
  gpnn_grid_full_free(state->full);
  gpnn_grid_pivoted_free(state->pivoted);
  free(state);
}

static enum gpnn_status make_eigen(struct gpnn_grid_preconditioner_state *state,
                                   const struct gpnn_grid_cells *cells,
                                   const struct gpnn_grid_system_options *options,
                                   struct gpnn_error *err)
{
  struct gpnn_grid_spectrum outer = {0}, inner = {0};
  struct gpnn_grid_eigen_plan plan;
  enum gpnn_status status = gpnn_grid_decompose(&outer, cells->n[0], cells->k[0], err);
  if (status == GPNN_OK) status = gpnn_grid_decompose_inner(&inner, cells, err);
  if (status == GPNN_OK) status = gpnn_grid_plan_eigen(cells, &outer, &inner, options, &plan, err);
  if (status == GPNN_OK)
    status =
        gpnn_grid_eigen_new(&state->eigen, cells, &outer, &inner, &plan, options->threads, err);
  gpnn_grid_spectrum_release(&outer);
  gpnn_grid_spectrum_release(&inner);
  if (status != GPNN_OK) return status;
  state->rank = gpnn_grid_eigen_rank(state->eigen);
  state->bytes = gpnn_grid_eigen_bytes(state->eigen);
  return GPNN_OK;
}

static enum gpnn_status make_pivoted(struct gpnn_grid_preconditioner_state *state,
                                     const struct gpnn_grid_cells *cells,
                                     const struct gpnn_grid_system_options *options,
                                     struct gpnn_error *err)
{
  size_t rank = options->rank > 0 ? options->rank : GPNN_GRID_PIVOTS;
  if (rank > cells->n_observed) rank = cells->n_observed;
  enum gpnn_status status =
      gpnn_grid_pivoted_new(&state->pivoted, cells, rank, options->threads, err);
  if (status != GPNN_OK) return status;
  state->rank = gpnn_grid_pivoted_rank(state->pivoted);
  state->bytes = cells->outer * cells->inner * state->rank * sizeof(double);
  return GPNN_OK;
}

static enum gpnn_status make(struct gpnn_grid_preconditioner_state *state,
                             const struct gpnn_grid_cells *cells,
                             const struct gpnn_grid_system_options *options, struct gpnn_error *err)
{
  state->kind = options->preconditioner;
  if (state->kind == GPNN_GRID_PRECONDITION_AUTO) state->kind = gpnn_grid_plan_kind(cells, options);
  switch (state->kind) {
  case GPNN_GRID_PRECONDITION_AUTO:
  case GPNN_GRID_PRECONDITION_EIGEN:
    return make_eigen(state, cells, options, err);
  case GPNN_GRID_PRECONDITION_GRID:
    return gpnn_grid_full_new(&state->full, cells, err);
  case GPNN_GRID_PRECONDITION_PIVOTED:
    return make_pivoted(state, cells, options, err);
  case GPNN_GRID_PRECONDITION_NONE:
    break;
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_precondition_new(struct gpnn_grid_preconditioner_state **made,
                                            const struct gpnn_grid_cells *cells,
                                            const struct gpnn_grid_system_options *options,
                                            struct gpnn_error *err)
{
  struct gpnn_grid_preconditioner_state *state = gpnn_alloc(1, 1, sizeof *state);
  if (state == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = make(state, cells, options, err);
  if (status == GPNN_OK)
    *made = state;
  else
    gpnn_grid_precondition_free(state);
  return status;
}

size_t gpnn_grid_precondition_scratch(const struct gpnn_grid_preconditioner_state *state,
                                      const struct gpnn_grid_cells *cells, size_t columns)
{
  if (state->eigen != NULL) return gpnn_grid_eigen_scratch(state->eigen, columns);
  return state->full != NULL ? 2 * cells->outer * cells->inner * columns : 0;
}

enum gpnn_status gpnn_grid_precondition_apply(const struct gpnn_grid_preconditioner_state *state,
                                              size_t columns, const double *x, double *y,
                                              double *scratch, int threads, struct gpnn_error *err)
{
  if (state->eigen != NULL)
    return gpnn_grid_eigen_apply(state->eigen, columns, x, y, scratch, threads, err);
  if (state->pivoted != NULL) return gpnn_grid_pivoted_apply(state->pivoted, columns, x, y, err);
  return gpnn_grid_full_apply(state->full, columns, x, y, scratch, threads, err);
}
