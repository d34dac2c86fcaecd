/*
 * nearby: predictions of cells held out from the observed cells most correlated with them, which
 * cost milliseconds where those from all cells take seconds (gpnn-methods(7), equation 16.60).
 * Candidates are scored, and variances calibrated, by these.
 *
 * Threads: no shared state.
 */
#ifndef GPNN_MODELS_GRID_FIT_NEARBY_H
#define GPNN_MODELS_GRID_FIT_NEARBY_H

#include "base/status.h"
#include "kernel/parameters.h"
#include "models/grid/fit/holes.h"
#include "models/grid/fit/subset.h"
#include "models/grid/fit/view.h"

/* What was predicted of a task's cells, and what was observed: means of their observations, in the
 * units of the view, and the variance of these. */
struct gpnn_grid_nearby {
  double mean[GPNN_GRID_TASK_CELLS], variance[GPNN_GRID_TASK_CELLS], y[GPNN_GRID_TASK_CELLS];
};

/* How much a prediction uses: other sites, cells of each of them, and of the site itself. */
struct gpnn_grid_nearby_size {
  size_t sites, cells, own_cells;
};

/* What predictions are made from, and what parameters are estimated with. */
static const struct gpnn_grid_nearby_size gpnn_grid_nearby_usual = {24, 14, 64};
static const struct gpnn_grid_nearby_size gpnn_grid_nearby_small = {12, 8, 24};

/* Collects what a task's cells are predicted from, and these, last: cells of other sites
 * that the process correlates with this one most, and of the site itself, those at the levels
 * nearest to the ones to predict first.  A level mean that nothing may be known of is 0.
 * GPNN_ENOMEM: 'cells', which must be zeroed, stays so. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_nearby_collect(struct gpnn_grid_subset *cells,
                                                          const struct gpnn_grid_view *view,
                                                          const struct gpnn_parameters *parameters,
                                                          const struct gpnn_grid_task *task,
                                                          struct gpnn_grid_nearby_size size,
                                                          struct gpnn_error *err);

/* Predicts a task's cells from these.  GPNN_ENUMERIC: their covariance matrix is not positive
 * definite.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_nearby_predict(struct gpnn_grid_nearby *prediction,
                                                          const struct gpnn_grid_view *view,
                                                          const struct gpnn_parameters *parameters,
                                                          const struct gpnn_grid_task *task,
                                                          struct gpnn_grid_nearby_size size,
                                                          struct gpnn_error *err);

#endif
