/*
 * distance: how far rows lie from the training rows, in lengthscales, compared with the rows that
 * calibration saw.
 */
#ifndef GPNN_MODELS_DISTANCE_H
#define GPNN_MODELS_DISTANCE_H

#include <stddef.h>

#include "kernel/parameters.h"

/*
 * Records the quantiles .5 .9 .99 .999 of 'n' distances, which it sorts: each the smallest that so
 * large a share does not exceed (gpnn-methods(7), equation 8.11).  Of fewer than 100 it records
 * none, and forgets earlier ones.
 */
void gpnn_distance_record(struct gpnn_calibration *calibration, size_t n, double *distances);

/* Number of 'n' distances beyond the largest quantile recorded; 0 if none is. */
size_t gpnn_distance_count_far(const struct gpnn_calibration *calibration, size_t n,
                               const double *distances);

#endif
