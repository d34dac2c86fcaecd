/*
 * distance: how far rows lie from the training rows, in lengthscales, compared with the rows that
 * calibration saw.
 */
#ifndef GPNN_MODELS_DISTANCE_H
#define GPNN_MODELS_DISTANCE_H

#include <stddef.h>

#include "kernel/parameters.h"

/*
 * Records the quantiles .5 .9 .99 .999 of 'n' distances, which it sorts.  Each quantile is the
 * smallest distance that at least this fraction of them do not exceed (gpnn-methods(7), equation
 * 8.11).  From fewer than 100 distances it records none, and removes those recorded earlier.
 */
void gpnn_distance_record(struct gpnn_calibration *calibration, size_t n, double *distances);

/* How many of 'n' distances exceed the largest quantile recorded; 0 if none is recorded. */
size_t gpnn_distance_count_far(const struct gpnn_calibration *calibration, size_t n,
                               const double *distances);

#endif
