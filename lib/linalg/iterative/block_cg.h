/*
 * block_cg: conjugate gradients whose right-hand sides share their directions
 * (gpnn-methods-grid(7), equations 16.72 to 16.74).
 *
 * In the space that the directions of all columns span together, every solution is found in fewer
 * iterations than in that of its own: of the equations of a grid, with 64 of them, a half or a
 * third.  What it takes beside the products grows with the square of the columns.
 *
 * Directions are kept orthonormal, which is stable (Dubrulle 2001) until residuals become linearly
 * dependent: of equal or zero right-hand sides at once.  gpnn_cg_solve() goes on from there.
 */
#ifndef GPNN_LINALG_BLOCK_CG_H
#define GPNN_LINALG_BLOCK_CG_H

#include "linalg/iterative/cg.h"

/*
 * As gpnn_cg_solve() in all it takes and does, and with the same outcomes, for options without
 * weights and means, and without steps.  Whatever the threads, the results are the same.  Memory:
 * four blocks, or three without a preconditioner.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_block_cg_solve(const struct gpnn_cg_matrix *matrix,
                                                     size_t columns, const double *b, double *x,
                                                     const struct gpnn_cg_options *options,
                                                     struct gpnn_cg_report *report,
                                                     struct gpnn_error *err);

#endif
