/*
 * incomplete: rows of numbers of which some are missing, and the normal distribution that they are
 * taken to come from (gpnn-methods(7), equations 1.19 to 1.22).
 *
 * Mean and covariance are those of the maximum likelihood of the numbers that are there, by EM
 * (Dempster, Laird and Rubin 1977), of columns in units of their standard deviations and with 1e-3
 * added to their variances.  Cells farther from the middle half of their column than five times its
 * width count as just so far.  A missing number is NaN.
 *
 * Calling sequence: gpnn_incomplete_fit(), then gpnn_incomplete_complete() for any rows;
 * gpnn_incomplete_release() at the end, also after a failure.
 * Threads: completing only reads the distribution, but needs scratch memory for each thread.
 */
#ifndef GPNN_STATS_INCOMPLETE_H
#define GPNN_STATS_INCOMPLETE_H

#include <stddef.h>

#include "base/status.h"

struct gpnn_arrays; /* linalg/arrays.h */

/* A zeroed object is empty and may be released. */
struct gpnn_incomplete {
  size_t d;
  double *least, *most;  /* of each column: cells beyond count as these */
  double *centre, *unit; /* of each column: its mean and standard deviation; 0 and 1 if it is empty
                            or constant */
  double *mean;          /* d: in these units */
  double *precision;     /* d by d, both triangles: the inverse of the covariance */
  size_t n_steps;        /* of EM */
  struct gpnn_arrays *arrays; /* owned: those above */
};

/*
 * Fits the distribution to 'rows' (n by d, row-major; n, d > 0), of which as many as take about 1e9
 * operations a step are looked at, evenly spaced.  GPNN_ENUMERIC: the covariance cannot be
 * inverted, as numbers are too large.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_incomplete_fit(struct gpnn_incomplete *fitted, size_t n,
                                                     size_t d, const double *rows,
                                                     struct gpnn_error *err);

/* How many numbers the scratch memory has that completing a row needs. */
size_t gpnn_incomplete_scratch(size_t d);

/* Replaces what 'row' (d numbers) lacks by its mean given what it has, in place.  GPNN_ENUMERIC: as
 * above. */
GPNN_MUST_CHECK enum gpnn_status gpnn_incomplete_complete(const struct gpnn_incomplete *fitted,
                                                          double *row, double *scratch,
                                                          struct gpnn_error *err);

void gpnn_incomplete_release(struct gpnn_incomplete *fitted);

#endif
