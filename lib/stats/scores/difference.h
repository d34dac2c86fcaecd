/*
 * difference: the mean of paired differences, and how certain it is (gpnn-methods(7), equations 5.3
 * and 5.4).  Threads: no shared state.
 */
#ifndef GPNN_STATS_DIFFERENCE_H
#define GPNN_STATS_DIFFERENCE_H

#include <stddef.h>

/* The mean of a[i] - b[i] (b NULL: zero), and its standard error, which is 0 if n is 1. */
double gpnn_mean_difference(size_t n, const double *a, const double *b, double *standard_error);

#endif
