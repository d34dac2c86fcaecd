/*
 * grid_cost: what predictions on a grid will cost, and when it pays to compute with all of its
 * cells though only some were observed (gpnn-methods-grid(7), equation 16.12).
 *
 * Numbers are doubles, as some are too large for integers.  Threads: no shared state.
 */
#ifndef GPNN_DATASET_GRID_COST_H
#define GPNN_DATASET_GRID_COST_H

#include "dataset/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the figures assume: draws solved together, the arrays of conjugate gradients for each,
 * pivots and eigenpairs of a preconditioner. */
enum {
  GPNN_GRID_COST_DRAWS = 64,
  GPNN_GRID_COST_ARRAYS = 5,
  GPNN_GRID_COST_PIVOTS = 100,
  GPNN_GRID_COST_EIGENPAIRS = 4000
};

/* Bytes but for the last three.  With a single solve at a time, 'draws' is 'vector' times the
 * arrays. */
struct gpnn_grid_cost {
  double factors; /* the matrices of all factors */
  double vector;  /* a number for each cell of the grid */
  double draws;   /* conjugate gradients for all draws at a time */
  double pivoted; /* preconditioner: pivoted Cholesky, 100 columns */
  double eigen;   /* preconditioner: at most 4000 eigenpairs, and a block for each level of the
                     first factor */
  double flops;   /* of a product of the covariance with a vector */
  double missing_time, missing_memory; /* the share of missing cells above which products with the
                                          matrix of the observed cells alone are faster, or smaller;
                                          negative: any */
};

struct gpnn_grid_cost gpnn_grid_cost(const struct gpnn_grid *grid);

#ifdef __cplusplus
}
#endif

#endif
