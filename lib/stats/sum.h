/*
 * sum: compensated sums (Neumaier 1974), sums of logarithms, and sums of squares that neither
 * overflow nor underflow. Threads: an object belongs to one thread at a time.
 */
#ifndef GPNN_STATS_SUM_H
#define GPNN_STATS_SUM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A zeroed object is the empty sum. */
struct gpnn_sum {
  double sum, compensation;
};

void gpnn_sum_add(struct gpnn_sum *sum, double value);

/* The sum divided by 'n', the number of terms; NaN if n is 0. */
double gpnn_sum_mean(const struct gpnn_sum *sum, size_t n);

/* Turns n >= 1 logarithms into shares of their sum, and returns the logarithm of that sum. */
double gpnn_softmax(size_t n, double *values);

/*
 * A sum of squares of any finite numbers: squares that would overflow or underflow are summed
 * apart, scaled (Blue 1978, A portable Fortran program to find the Euclidean norm of a vector).  A
 * zeroed object is the empty sum.
 */
struct gpnn_squares {
  struct gpnn_sum small, usual, large;
};

void gpnn_squares_add(struct gpnn_squares *squares, double value);

/* The root of the mean of the 'n' squares; NaN if n is 0. */
double gpnn_squares_root_mean(const struct gpnn_squares *squares, size_t n);

/* Their mean, which may underflow to 0 or overflow though its root does not; NaN if n is 0. */
double gpnn_squares_mean(const struct gpnn_squares *squares, size_t n);

#ifdef __cplusplus
}
#endif

#endif
