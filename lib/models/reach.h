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

#include "models/globe.h"
#include "models/model.h"

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
