/*
 * moments: means, standard deviations and covariances of rows that need not fit into memory.
 *
 * Rows are gone through several times, a block at a time, so that numbers far from zero keep their
 * digits.  Sums are over each block, and then over the blocks in their order: they round less than
 * sums row after row, and depend on neither memory nor threads.
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
 * Mean and population standard deviation of each of the first 'n_columns' columns, n > 0 rows.
 * In units of the column's own largest magnitude, about the middle of its range, so that squares
 * neither overflow nor vanish and values far from zero lose no digits; the mean is corrected by
 * the mean of what remains.  The sd is 0 where it is nothing but the rounding of the values:
 * less than a few units in the last place of the largest; it is infinite where two values differ by
 * more than the largest number, so that nothing can be done with them.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_moments_learn(const struct gpnn_row_source *source,
                                                    size_t n_columns, struct gpnn_moments *moments,
                                                    struct gpnn_error *err);

/*
 * Lower triangle of the population covariance of the 'd' columns from column 'first' on, about
 * the means in 'moments' (d of them) and, if 'scaled', in units of their sds: 'cov' is d by d,
 * column-major, and zero.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_moments_covariance(const struct gpnn_row_source *source,
                                                         size_t first, size_t d,
                                                         const struct gpnn_moments *moments,
                                                         bool scaled, double *cov,
                                                         struct gpnn_error *err);

#endif
