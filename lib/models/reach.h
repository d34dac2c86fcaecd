/*
 * reach: how far rows lie from the training rows, and which of them are too far to be predicted.
 *
 * Calling sequence: gpnn_reach_init(); for each batch gpnn_reach_measure(), gpnn_reach_is_beyond()
 * of its rows, and gpnn_reach_count() of each channel; gpnn_reach_release().
 * Threads: one batch at a time.
 */
#ifndef GPNN_MODELS_REACH_H
#define GPNN_MODELS_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"
#include "models/model.h"

/* ---- in lengthscales ----------------------------------------------------------------------- */

/*
 * Records the quantiles .5 .9 .99 .999 of 'n' distances, which it sorts.  Each quantile is the
 * smallest distance that at least this fraction of them do not exceed (gpnn-methods(7), equation
 * 8.11).  Infinite ones, of rows without any input, do not count.  From fewer than 100 distances it
 * records none, and removes those recorded earlier.
 */
void gpnn_distance_record(struct gpnn_calibration *calibration, size_t n, double *distances);

/* How many of 'n' distances exceed the largest quantile recorded; 0 if none is recorded. */
size_t gpnn_distance_count_far(const struct gpnn_calibration *calibration, size_t n,
                               const double *distances);

/* ---- over the globe ------------------------------------------------------------------------ */

/*
 * How far positions are from the nearest training row's, over the surface of the Earth.
 *
 * Calling sequence: gpnn_globe_new() for a dataset with one input that is a position on the globe
 * (gpnn-index --geo); gpnn_globe_distances(), any number of times; gpnn_globe_free().
 * Other inputs do not count.  The Earth is a sphere of radius GPNN_EARTH_RADIUS, so that nothing is
 * special about the date line or the poles.
 *
 * Cost: three numbers a training row, and a search over them.
 * Threads: an object may be shared freely.
 */
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

/* ---- of batches of rows -------------------------------------------------------------------- */

/* A zeroed object has no limits and may be released. */
struct gpnn_reach {
  double max_distance, max_km; /* 0: no limit */
  struct gpnn_globe *globe;    /* owned; NULL: no limit in km */
  double *km;                  /* owned: of the rows of the batch */
  size_t km_capacity;
};

/* The limits are those of struct gpnn_predict_options; the model is borrowed for the call. Outcomes
 * as for gpnn_globe_new(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_reach_init(struct gpnn_reach *reach,
                                                 const struct gpnn_model *model,
                                                 double max_distance, double max_km,
                                                 struct gpnn_error *err);

/* Begins a batch.  Outcomes as for gpnn_globe_distances(). */
GPNN_MUST_CHECK enum gpnn_status
gpnn_reach_measure(struct gpnn_reach *reach, const struct gpnn_query *rows, struct gpnn_error *err);

/* True if row 'i' of the batch, 'nearest' lengthscales from the nearest training row, is beyond the
 * largest distance allowed. */
bool gpnn_reach_is_beyond(const struct gpnn_reach *reach, size_t i, double nearest);

/* Adds the 'n' rows of the batch, as a channel with this calibration sees them, to 'counts'. */
void gpnn_reach_count(const struct gpnn_reach *reach, const struct gpnn_calibration *calibration,
                      size_t n, const double *nearest, struct gpnn_counts *counts);

void gpnn_reach_release(struct gpnn_reach *reach);

#endif
