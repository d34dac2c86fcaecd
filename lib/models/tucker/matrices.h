/*
 * tucker_matrices: what the numbers of a Tucker model make of each dimension's grid: the
 * correlation matrix R_l of its points, C_l = R_l + diag(s_l), and the divergence of the
 * covariance of q(u) from the prior's (gpnn-methods(7), equations 17.34, 17.39 and 17.40).
 *
 * Matrices are column-major.  Calling sequence: gpnn_tucker_matrices_new() for a shape,
 * gpnn_tucker_matrices_set() whenever numbers have changed, gpnn_tucker_matrices_release().
 * Threads: between calls of set() it may be shared.
 */
#ifndef GPNN_MODELS_TUCKER_MATRICES_H
#define GPNN_MODELS_TUCKER_MATRICES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "models/tucker/tucker.h"

/* Of one dimension; arrays are owned by the whole. */
struct gpnn_tucker_matrix {
  double *r;        /* m by m: R_l, the jitter included */
  double *slope;    /* m by m: its derivative by the log lengthscale */
  double *root_r;   /* m by m: lower triangle, the Cholesky factor of R_l */
  double *root_c;   /* m by m: that of C_l, if there is a covariance */
  double *s;        /* m: exp(rho_l) */
  double mean;      /* of the eigenvalues of C_l^-1 R_l */
  double mean_rest; /* of -log(1 - lambda) - lambda of these */
};

struct gpnn_tucker_matrices {
  struct gpnn_tucker_matrix dimension[GPNN_TUCKER_DIMENSIONS];
  double divergence; /* of the covariance of q(u) (17.39); 0 if it is the prior's */
  double *block;     /* owned */
};

/* GPNN_ENOMEM: '*matrices' is zeroed. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_matrices_new(struct gpnn_tucker_matrices *matrices,
                                                          const struct gpnn_tucker *tucker,
                                                          struct gpnn_error *err);
void gpnn_tucker_matrices_release(struct gpnn_tucker_matrices *matrices);

/* Computes them for the tucker's numbers.  GPNN_ENUMERIC: the matrix of a dimension, which is named
 * by its number from 1, is not positive definite. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_matrices_set(struct gpnn_tucker_matrices *matrices,
                                                          const struct gpnn_tucker *tucker,
                                                          struct gpnn_error *err);

/* The same, with ten times the tucker's jitter as often as that helps, up to
 * GPNN_TUCKER_MOST_JITTER. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_tucker_matrices_escalate(struct gpnn_tucker_matrices *matrices, struct gpnn_tucker *tucker,
                              struct gpnn_error *err);

/* Multiplies U_l in 'u' (m by q, row-major) by the transposed factor of R_l, so that U_l'R_l U_l
 * becomes a plain product; or, with 'back', by its inverse. */
void gpnn_tucker_whiten(const struct gpnn_tucker_matrices *matrices,
                        const struct gpnn_tucker *tucker, size_t l, bool back, double *u);

/* -log(1 - lambda) - lambda for lambda in [0, 1), accurate to rounding however small it is. */
double gpnn_tucker_rest(double lambda);

/* The divergence (17.39) of p dimensions, from the means of the eigenvalues and of their rests. */
double gpnn_tucker_divergence(size_t p, double n_points, const double *mean,
                              const double *mean_rest);

#endif
