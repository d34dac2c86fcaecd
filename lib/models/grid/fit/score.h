/*
 * score: how well a process predicts cells held out (gpnn-methods(7), equations 16.60, 16.63).
 *
 * Threads share the tasks; results do not depend on them.
 */
#ifndef GPNN_MODELS_GRID_FIT_SCORE_H
#define GPNN_MODELS_GRID_FIT_SCORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"
#include "models/grid/fit/holes.h"
#include "models/grid/fit/view.h"

/* Fewer cells than these say little of how large errors are. */
enum { GPNN_GRID_FEW_CELLS = 20 };

/* A zeroed one may be released. */
struct gpnn_grid_score {
  size_t n_cells;      /* that were predicted */
  size_t n_distinct;   /* of them, without those that several tasks share */
  double factor;       /* that variances are best multiplied by: the mean of squared errors, each
                          divided by its variance; nearer to 1, by the power n_distinct /
                          GPNN_GRID_FEW_CELLS, where there are fewer */
  double factor_error; /* its standard error, over tasks */
  double nll;  /* mean negative log density with that factor, of the target standardised without
                  a transform */
  double rmse; /* of medians, in the same units */
  double *error, *variance; /* owned; n_cells: of the tasks' cells, in units of the view; variances
                               without that factor */
  size_t n_tasks;
  double *loss; /* owned; n_tasks: the sum of the negative log densities of each */
};

/*
 * Predicts all tasks' cells from the view's others, and scores them: task i by parameters i modulo
 * 'n_parts', which differ only in what was estimated from different cells.  The view is that of
 * 'dataset' or of what the parameters' transform makes of it.  GPNN_ENUMERIC: a covariance matrix
 * is not positive definite, or a score is not finite.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_score(struct gpnn_grid_score *score,
                                                 const struct gpnn_dataset *dataset,
                                                 const struct gpnn_grid_view *view, size_t n_parts,
                                                 const struct gpnn_parameters *parameters,
                                                 const struct gpnn_grid_tasks *tasks, int threads,
                                                 struct gpnn_error *err);

/* How much lower the mean loss per cell of 'a' is than that of 'b', over the same tasks, and the
 * standard error of the difference. */
double gpnn_grid_score_gain(const struct gpnn_grid_score *a, const struct gpnn_grid_score *b,
                            double *standard_error);

void gpnn_grid_score_release(struct gpnn_grid_score *score);

#endif
