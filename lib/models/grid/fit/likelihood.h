/*
 * likelihood: the log marginal likelihood of observed cells, and its gradient in the coordinates of
 * the process (gpnn-methods-grid(7), equations 16.50 to 16.57).
 *
 *   L = -1/2 y' A^-1 y - 1/2 log |A| - n/2 log 2 pi,   A = K + diag(noise / count)
 *
 * with what observations of the same cell add to it, so that it is the likelihood of all of them.
 * It is exact for cells whose covariance matrix fits into memory, and for complete grids, whose
 * matrix has eigenvectors that are products; for all cells of any other grid its gradient is
 * estimated without bias from random vectors.
 *
 * Source: Lin, Ament, Balandat, Eriksson, Hernandez-Lobato and Bakshy (2025), section 3.
 * Threads: no shared state; results do not depend on their number.
 */
#ifndef GPNN_MODELS_GRID_FIT_LIKELIHOOD_H
#define GPNN_MODELS_GRID_FIT_LIKELIHOOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/grid/grid.h"
#include "kernel/parameters.h"
#include "models/grid/fit/view.h"
#include "models/grid/system/system.h"

/* ---- coordinates ----------------------------------------------------------------------------- */

/* The numbers that describe a process on a grid are a vector that estimation moves: those of each
 * factor in turn (kernel/factor.h), the logarithm of the kernel scale, and that of the noise
 * variance, or of each level's where levels have their own. */

/* How many coordinates there are; to and from a vector of them. */
size_t gpnn_grid_n_coordinates(const struct gpnn_parameters *parameters);
void gpnn_grid_get_coordinates(const struct gpnn_parameters *parameters, double *coordinates);
void gpnn_grid_set_coordinates(struct gpnn_parameters *parameters, const double *coordinates);

/* Which coordinate the first of factor 'a' is; with 'a' the number of factors, which the kernel
 * scale is.  The noise variances follow it. */
size_t gpnn_grid_first_coordinate(const struct gpnn_parameters *parameters, size_t a);

/* How many noise variances there are: 1, or one for each level of a factor. */
size_t gpnn_grid_n_noise(const struct gpnn_parameters *parameters);

/* ---- likelihoods ----------------------------------------------------------------------------- */

/*
 * The exact likelihood of 'cells' under 'parameters', to '*value', and its derivatives to
 * 'gradient', gpnn_grid_n_coordinates() of them, unless that is NULL.  Time O(n^3), memory 8 n^2
 * bytes besides those of the factors.  GPNN_ENUMERIC: the matrix is not positive definite, or not
 * finite.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_likelihood_dense(const struct gpnn_grid_subset *cells,
                           const struct gpnn_parameters *parameters, double *value,
                           double *gradient, struct gpnn_error *err);

/*
 * The log density of the last 'n_targets' of 'cells', each given all cells before them: the sum
 * over them (equation 16.57), with its derivatives to 'gradient' unless that is NULL.  'mean' and
 * 'variance' get the predictions, n_targets each.  Time O(n^3 / 3).  Outcomes as above.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_likelihood_conditional(const struct gpnn_grid_subset *cells, size_t n_targets,
                                 const struct gpnn_parameters *parameters, double *mean,
                                 double *variance, double *value, double *gradient,
                                 struct gpnn_error *err);

/* True if a grid has no holes, and cells observed equally often with the same noise variance: then
 * the eigenvectors of its covariance are products. */
bool gpnn_grid_likelihood_is_complete(const struct gpnn_grid *grid,
                                      const struct gpnn_parameters *parameters);

/* The exact likelihood of all cells of such a grid, as above, from the eigenvectors of the factors
 * (equations 16.50 to 16.53 in their basis).  Time O(sum n_a^3).
 * GPNN_ENUMERIC: a matrix is not finite, or its eigenvectors do not converge.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_likelihood_complete(const struct gpnn_grid_view *view,
                              const struct gpnn_parameters *parameters, double *value,
                              double *gradient, struct gpnn_error *err);

/* How traces are estimated (Hutchinson 1990; Lin et al. 2024). */
enum gpnn_grid_estimator {
  GPNN_GRID_ESTIMATOR_PATHWISE = 0, /* from draws of the targets' process, which are the same at all
                                       parameters but for its factors */
  GPNN_GRID_ESTIMATOR_HUTCHINSON,   /* from vectors of random signs */
};

struct gpnn_grid_estimate_options {
  enum gpnn_grid_estimator estimator;
  size_t probes;                          /* random vectors, at least 1 */
  uint64_t seed;                          /* of these */
  struct gpnn_grid_system_options system; /* the threads are those of everything */
  struct gpnn_cg_options solve;
};

/*
 * Estimates the gradient of the likelihood of all cells of a view, without bias (equations 16.54 to
 * 16.56).  'x' has starting values of the solutions, for the targets and each probe as a block of
 * [levels of the first factor][1 + probes][combinations of the others], and gets the solutions;
 * NULL: it starts at 0.  'gradient' may be NULL, too, if only solutions are wanted.  '*report' says
 * how the equations were solved; what has not converged is no failure here.  Memory: six such
 * blocks, and the system's.  Outcomes as gpnn_grid_system_new() and gpnn_grid_system_solve().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_likelihood_estimate(
    const struct gpnn_grid_view *view, const struct gpnn_parameters *parameters,
    const struct gpnn_grid_estimate_options *options, double *x, double *gradient,
    struct gpnn_cg_report *report, struct gpnn_error *err);

#endif
