/*
 * moments: means, standard deviations and covariances of rows that need not fit into memory.
 *
 * Rows are gone through several times, a block at a time, so that numbers far from zero keep their
 * digits.  Sums are over each block, and then over the blocks in their order: they round less than
 * sums row after row, and depend on neither memory nor threads.
 */
#ifndef GPNN_DATA_MOMENTS_H
#define GPNN_DATA_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Rows that can be gone through again and again. */
struct gpnn_row_source {
  size_t n;     /* rows */
  size_t width; /* numbers a row */
  /* Fills 'rows' (count by width, row-major; at most gpnn_source_block()) with the rows from number
   * 'from' on; asked for in order, block after block, and then from row 0 again; roughly so by
   * several threads. */
  enum gpnn_status (*read)(void *context, size_t from, size_t count, double *rows,
                           struct gpnn_error *err);
  void *context;
  int threads; /* that may ask at a time; 0 is 1 */
};

/* Rows that are asked of a source at once, at most; where they are wide fewer, though one at least,
 * so that a block takes 8 MiB.  What is found depends on the width alone. */
enum { GPNN_SOURCE_BLOCK = 1024 };
size_t gpnn_source_block(size_t width);

struct gpnn_moments {
  double mean, sd; /* population sd */
};

/*
 * Mean and population standard deviation of each of the first 'n_columns' columns, n > 0 rows.
 * In units of the column's own largest magnitude, about the middle of its range, so that squares
 * neither overflow nor vanish and values far from zero lose no digits; the mean is corrected by
 * the mean of what remains.  The sd is 0 where it is nothing but the rounding of the values:
 * less than a few units in the last place of the largest.
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
