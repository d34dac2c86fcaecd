/*
 * standard: standardisation of inputs and target (A, E.1; specification section 2).
 *
 * y <- (y - mean) / sd with the training mean and population standard deviation.
 *   whiten  x <- W (x - mean) / sqrt(d),  W = diag(1/sqrt(lambda + eps)) U',  from the
 *           symmetric eigendecomposition U diag(lambda) U' of the population covariance.
 *           eps is absolute, in raw units squared; a direction whose variance is rounding
 *           (under 1e-12 of what it would be were the columns uncorrelated) is dropped.
 *   scale   x_j <- (x_j - mean_j) / (sqrt(d) sd_j); a constant column is dropped.
 *   none    inputs as they are (the target is standardised all the same).
 * The factor 1/sqrt(d) uses the number of features that remain.  For whiten that is
 * the number of features given, so that published runs are reproduced.
 */
#ifndef GPNN_DATA_STANDARD_H
#define GPNN_DATA_STANDARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum gpnn_standard_method {
  GPNN_STANDARD_NONE = 0,
  GPNN_STANDARD_SCALE = 1,
  GPNN_STANDARD_WHITEN = 2,
};

/* A zeroed object is empty and may be released.  Arrays are owned. */
struct gpnn_standard {
  enum gpnn_standard_method method;
  size_t n_in;    /* features that come in */
  size_t n_out;   /* standardised inputs d that go out */
  double *mean;   /* n_in */
  double *weight; /* none: NULL.  scale: n_in factors, 0 for a dropped column.
                     whiten: n_out by n_in, row-major */
  double eps;     /* whiten only */
  double y_mean, y_sd;
};

/* "scale" -> GPNN_STANDARD_SCALE and so on; false if 'name' is none of them. */
bool gpnn_standard_by_name(const char *name, enum gpnn_standard_method *method);
const char *gpnn_standard_name(enum gpnn_standard_method method);

/*
 * Learns the standardisation from 'x', n rows by n_in columns, row-major, and 'y', n
 * numbers.  'standard' must be zeroed.  GPNN_EDATA: fewer than 2 rows, a constant target,
 * or no input that varies.  Sums are compensated or taken about a first mean, so that
 * columns far from zero lose no digits; columns of magnitude 1e+-150 neither overflow nor
 * vanish under scale.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_standard_learn(struct gpnn_standard *standard,
                                                     enum gpnn_standard_method method, double eps,
                                                     size_t n, size_t n_in, const double *x,
                                                     const double *y, struct gpnn_error *err);

/* Standardises one row: 'x' has n_in numbers, 'z' n_out; they may not overlap except that
 * z == x is allowed under none and scale. */
void gpnn_standard_apply(const struct gpnn_standard *standard, const double *x, double *z);

void gpnn_standard_release(struct gpnn_standard *standard);

#endif
