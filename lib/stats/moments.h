/*
 * moments: means, standard deviations and covariances of rows that need not fit into memory.
 *
 * Rows are read several times (stats/row_source.h), so that numbers far from zero keep their
 * digits. Sums are taken over each block of rows, and then over the blocks in their order: they
 * round less than a running sum would, and depend neither on memory nor on threads.
 */
#ifndef GPNN_STATS_MOMENTS_H
#define GPNN_STATS_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "stats/row_source.h"

struct gpnn_moments {
  double mean, sd; /* population sd */
};

/*
 * Mean and population standard deviation of each of the first 'n_columns' columns, from at least
 * one row of finite numbers.
 *
 * Computed in units of the column's own largest magnitude and about the middle of its range, so
 * that squares neither overflow nor vanish and values far from zero lose no digits; the mean is
 * then corrected by the mean deviation.  The sd is 0 if the values differ by no more than rounding,
 * a few units in the last place of the largest; it is INFINITY if two values differ by more than
 * the largest double.
 *
 * Failures are those of the source, and GPNN_ENOMEM; 'moments' is then untouched.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_moments_learn(const struct gpnn_row_source *source,
                                                    size_t n_columns, struct gpnn_moments *moments,
                                                    struct gpnn_error *err);

/* The same where NaN stands for a number that is missing, which does not count; without any others
 * the mean of the column is NaN and its sd 0. */
GPNN_MUST_CHECK enum gpnn_status gpnn_moments_learn_present(const struct gpnn_row_source *source,
                                                            size_t n_columns,
                                                            struct gpnn_moments *moments,
                                                            struct gpnn_error *err);

/*
 * The lower triangle of the population covariance matrix of the 'd' columns from column 'first' on,
 * about the means in 'moments' (d of them) and, if 'scaled', in units of their sds, which must then
 * be positive.  'cov' is d by d, column-major, and must be zeroed before.  Failures are those of
 * the source, and GPNN_ENOMEM; 'cov' is then undefined.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_moments_covariance(const struct gpnn_row_source *source,
                                                         size_t first, size_t d,
                                                         const struct gpnn_moments *moments,
                                                         bool scaled, double *cov,
                                                         struct gpnn_error *err);

#endif
