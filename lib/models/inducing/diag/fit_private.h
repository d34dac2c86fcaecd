/*
 * The parts of a fit of diag: the start, the steps, and the polish.
 */
#ifndef GPNN_MODELS_INDUCING_DIAG_FIT_PRIVATE_H
#define GPNN_MODELS_INDUCING_DIAG_FIT_PRIVATE_H

#include "models/inducing/diag/fit.h"

/* Operations that computing a matrix of inducing points from rows may take; more rows are used
 * evenly spaced, or by conjugate gradients. */
#define GPNN_DIAG_MOST_OPERATIONS 4e11

/* Rows within these operations. */
size_t gpnn_diag_affordable_rows(const struct gpnn_diag_problem *problem);

/* Takes the steps of an optimiser from 'point', and counts what it did in the report. */
GPNN_MUST_CHECK enum gpnn_status gpnn_diag_descend(struct gpnn_diag *diag,
                                                   const struct gpnn_diag_options *options,
                                                   double *point, struct gpnn_diag_report *report,
                                                   struct gpnn_error *err);

/* Improves rho, given everything else, by at most 50 steps (equation 17.26), with the solver that
 * the report names. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_diag_polish_covariance(struct gpnn_diag *diag, const struct gpnn_diag_options *options,
                            double *point, struct gpnn_diag_report *report, struct gpnn_error *err);

/* Steps of a solution after which it is given up: min(m, 1000), but at least 50. */
size_t gpnn_diag_most_steps(const struct gpnn_diag_problem *problem);

/* Lowest and highest value of each number of a point whose kernel scale is 'kernelscale'. */
void gpnn_diag_bounds(const struct gpnn_diag_problem *problem, double kernelscale, double *lower,
                      double *upper);

#endif
