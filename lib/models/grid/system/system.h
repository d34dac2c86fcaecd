/*
 * system: the covariance matrix A of the observed cells of a grid, as something to multiply with
 * and to solve (gpnn-methods-grid(7), equations 16.40 to 16.49).
 *
 *   A = P (K_1 x ... x K_F) P' + diag(noise)
 *
 * where P keeps the observed cells and the kernel scale is part of the first factor's matrix.
 * A is never formed.  Vectors are padded: a number for each cell of the grid, 0 where nothing was
 * observed; M of them as [p][M][q], where p is the number of levels of the first factor and q the
 * product of the others' (the layout of linalg/iterative/cg.h with outer = p and inner = q). Levels
 * without any observation cost nothing in a solve.
 *
 * Calling sequence: gpnn_grid_system_new(), any of the others, gpnn_grid_system_free().
 * Threads: a system never changes and may be shared; results do not depend on the threads.
 */
#ifndef GPNN_MODELS_GRID_SYSTEM_SYSTEM_H
#define GPNN_MODELS_GRID_SYSTEM_SYSTEM_H

#include <stddef.h>

#include "base/status.h"
#include "dataset/grid/grid.h"
#include "kernel/parameters.h"
#include "linalg/iterative/cg.h"

struct gpnn_grid_system;

enum gpnn_grid_preconditioner {
  GPNN_GRID_PRECONDITION_AUTO = 0, /* by the work that each is expected to take */
  GPNN_GRID_PRECONDITION_EIGEN,    /* the largest eigenpairs of the full grid over a diagonal of
                                      blocks, one for each level of the first factor */
  GPNN_GRID_PRECONDITION_PIVOTED,  /* pivoted Cholesky */
  GPNN_GRID_PRECONDITION_GRID,     /* the inverse of the full grid's covariance */
  GPNN_GRID_PRECONDITION_NONE,
};

struct gpnn_grid_system_options {
  enum gpnn_grid_preconditioner preconditioner;
  size_t rank;   /* eigenpairs or pivots; 0: automatic (pivots: 100) */
  size_t memory; /* bytes that preconditioner and vectors may take; 0: a quarter of the machine's */
  int threads;
  size_t columns; /* right-hand sides that will be solved for, and how exactly, as far as known: */
  double tolerance; /* how much preparation pays; 0: 64, and 0.01 */
};

/*
 * Fails with GPNN_ENOMEM, and a message with the sizes, if the machine's memory is too small for
 * the system of 'grid' and 'vectors' more vectors of all cells.  What is asked for before anything
 * is computed can be refused; memory that was promised but is not there ends the process without a
 * word.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_check_memory(const struct gpnn_grid *grid,
                                                        size_t vectors, struct gpnn_error *err);

/*
 * Makes the system of 'grid' with the factors, kernel scale and noise of 'parameters'
 * (parameters->grid).  Both are borrowed.  A cell observed c times has 1/c of the noise variance.
 * GPNN_ENUMERIC: a factor's matrix is not finite.  GPNN_ENOMEM, also as gpnn_grid_check_memory()
 * without vectors.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_system_new(struct gpnn_grid_system **system, const struct gpnn_grid *grid,
                     const struct gpnn_parameters *parameters,
                     const struct gpnn_grid_system_options *options, struct gpnn_error *err);

/* Levels of the first factor, and combinations of levels of the others. */
size_t gpnn_grid_system_outer(const struct gpnn_grid_system *system);
size_t gpnn_grid_system_inner(const struct gpnn_grid_system *system);

/* The matrix of factor 'a', n by n, row-major, symmetric; that of factor 0 times the kernel scale.
 */
const double *gpnn_grid_system_factor(const struct gpnn_grid_system *system, size_t a);

/* The noise variance of each cell, padded: 0 where nothing was observed. */
const double *gpnn_grid_system_noise(const struct gpnn_grid_system *system);

/* Y = A X for padded vectors; and Y = K X without projection and noise, whose results at cells that
 * were not observed are wanted too (for posterior means): exactly if 'tolerance' is 0, otherwise
 * for solutions to that tolerance, by the eigenvectors that they see where that saves work. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_system_multiply(const struct gpnn_grid_system *system,
                                                           size_t columns, const double *x,
                                                           double *y, struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_system_spread(const struct gpnn_grid_system *system,
                                                         double tolerance, size_t columns,
                                                         const double *x, double *y,
                                                         struct gpnn_error *err);

/* Multiplies along one factor only: element (..., l, ...) of y is sum_l' k[l, l'] x(..., l', ...),
 * where 'k' is n_to by the factor's n_levels; the building block of products with other levels than
 * the grid's.  'dims' has the sizes of the n_factors axes of 'x', 'columns' vectors as [first
 * axis][columns][other axes].  'y' has n_to in place of dims[axis]. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_contract_axis(size_t n_factors, const size_t *dims,
                                                         size_t columns, size_t axis, size_t n_to,
                                                         const double *k, const double *x,
                                                         double *y, int threads,
                                                         struct gpnn_error *err);

/*
 * Solves A X = B for padded vectors, in batches that fit the memory; 'x' has starting values.  As
 * gpnn_block_cg_solve(), with the system's preconditioner; 'options' apply to each batch.  At the
 * tolerance that the system was made for, eigenvectors of A that matter less are left out of
 * products if that saves work (16.75); '*report' has what they may add to the residual.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_system_solve(const struct gpnn_grid_system *system,
                                                        size_t columns, const double *b, double *x,
                                                        const struct gpnn_cg_options *options,
                                                        struct gpnn_cg_report *report,
                                                        struct gpnn_error *err);

/*
 * The relative residual that solutions for draws need: 0.03 standard deviations of the noise, the
 * least of all levels, for targets as the parameters have them; from 1e-6 to 0.01
 * (gpnn-methods-grid(7), equation 16.71).
 */
double gpnn_grid_noise_tolerance(const struct gpnn_parameters *parameters);

/* What the preconditioner turned out to be: its name and rank, for reports. */
const char *gpnn_grid_system_preconditioner(const struct gpnn_grid_system *system, size_t *rank);

void gpnn_grid_system_free(struct gpnn_grid_system *system);

#endif
