/*
 * sum: addition that keeps the digits of small terms (Neumaier 1974), and sums of squares of any
 * numbers.
 */
#ifndef GPNN_STATS_SUM_H
#define GPNN_STATS_SUM_H

#include <stddef.h>

/* A zeroed object is the empty sum. */
struct gpnn_sum {
  double sum, compensation;
};

void gpnn_sum_add(struct gpnn_sum *sum, double value);

/* The sum divided by 'n', the number of terms; NaN where that is 0. */
double gpnn_sum_mean(const struct gpnn_sum *sum, size_t n);

/*
 * Squares of numbers so large or small that these would be beyond the range of a double, kept in
 * units of their own (Blue 1978).  A zeroed object is the empty sum.
 */
struct gpnn_squares {
  struct gpnn_sum small, usual, large;
};

void gpnn_squares_add(struct gpnn_squares *squares, double value);

/* The root of the mean of 'n' squares; NaN where n is 0. */
double gpnn_squares_root_mean(const struct gpnn_squares *squares, size_t n);

/* Their mean, which may be zero or infinite though the root is not. */
double gpnn_squares_mean(const struct gpnn_squares *squares, size_t n);

#endif
