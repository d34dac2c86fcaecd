/*
 * globe: how far positions are from the nearest training row's, over the surface of the Earth.
 *
 * Calling sequence: gpnn_globe_new() for a dataset with one input that is a position on the globe
 * (gpnn-index --geo); gpnn_globe_distances(), any number of times; gpnn_globe_free().
 * Other inputs do not count.  The Earth is a sphere of radius GPNN_EARTH_RADIUS, so that nothing is
 * special about the date line or the poles.
 *
 * Cost: three numbers a training row, and a search over them.
 * Threads: an object may be shared freely.
 */
#ifndef GPNN_MODELS_GLOBE_H
#define GPNN_MODELS_GLOBE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"

struct gpnn_globe;

/* 'dataset' is borrowed for the call.  GPNN_EINVAL: it has no position among its inputs, or
 * several. GPNN_ENOMEM; otherwise as gpnn_search_build(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_globe_new(struct gpnn_globe **globe,
                                                const struct gpnn_dataset *dataset, int threads,
                                                struct gpnn_error *err);

/* Writes to 'km' (n) the great-circle distance of each row of 'x' (n by d, standardised) to the
 * nearest training row; 'self' as in struct gpnn_query.  Infinite if there is no other row. */
GPNN_MUST_CHECK enum gpnn_status gpnn_globe_distances(const struct gpnn_globe *globe, size_t n,
                                                      const double *x, const int64_t *self,
                                                      double *km, struct gpnn_error *err);

void gpnn_globe_free(struct gpnn_globe *globe);

#endif
