/*
 * sum: addition that keeps the digits of small terms (Neumaier 1974).
 */
#ifndef GPNN_BASE_SUM_H
#define GPNN_BASE_SUM_H

#include <stddef.h>

/* A zeroed object is the empty sum. */
struct gpnn_sum {
  double sum, compensation;
};

void gpnn_sum_add(struct gpnn_sum *sum, double value);

/* The sum divided by 'n', the number of terms; NaN where that is 0. */
double gpnn_sum_mean(const struct gpnn_sum *sum, size_t n);

#endif
