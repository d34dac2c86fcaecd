/*
 * mean: the mean function of the process, coefficients times known terms t(x) (gpnn-methods(7),
 * equation 2.19).
 *
 *   zero        no terms
 *   constant    1
 *   linear      1 and the d standardised inputs
 *   regressors  1 and the regressors of the index
 */
#ifndef GPNN_KERNEL_MEAN_H
#define GPNN_KERNEL_MEAN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gpnn_mean {
  GPNN_MEAN_ZERO = 0,
  GPNN_MEAN_CONSTANT = 1,
  GPNN_MEAN_LINEAR = 2,
  GPNN_MEAN_REGRESSORS = 3,
};
enum { GPNN_MEANS = 4 };

/* A mean, in standardised units of the target.  A zeroed object is a mean of zero. */
struct gpnn_mean_function {
  enum gpnn_mean kind;
  size_t n_coefficients; /* gpnn_mean_width() of them */
  double *coefficients;  /* n_coefficients; whoever holds the object says who owns them */
  double *covariance;    /* of the coefficients, n_coefficients squared; NULL: they are taken
                            as exact */
};

/* "zero" for GPNN_MEAN_ZERO and so on. */
extern const char *const gpnn_mean_names[GPNN_MEANS];

/* The number of terms with 'd' inputs and 'n_regressors' regressors. */
size_t gpnn_mean_width(enum gpnn_mean mean, size_t d, size_t n_regressors);

/*
 * Writes the terms of one row to 'terms' (gpnn_mean_width() of them), from its standardised
 * inputs 'x' (d) and 'regressors' (n_regressors, or NULL where there are none).
 */
void gpnn_mean_terms(enum gpnn_mean mean, size_t d, const double *x, size_t n_regressors,
                     const double *regressors, double *terms);

/* The mean at one row: the sum of coefficients times terms; 0 without terms. */
double gpnn_mean_value(enum gpnn_mean mean, const double *coefficients, size_t d, const double *x,
                       size_t n_regressors, const double *regressors);

#ifdef __cplusplus
}
#endif

#endif
