/*
 * heldout_rows: how models build held-out rows (models/heldout.h).
 */
#ifndef GPNN_MODELS_HELDOUT_ROWS_H
#define GPNN_MODELS_HELDOUT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "dataset/dataset.h"
#include "models/heldout.h"

/* Allocates 'n' held-out rows of 'dataset' with 'n_candidates' candidates each (0: the model finds
 * them when it predicts). */
GPNN_MUST_CHECK enum gpnn_status gpnn_heldout_new(struct gpnn_heldout *heldout,
                                                  const struct gpnn_dataset *dataset, size_t n,
                                                  size_t n_candidates, struct gpnn_error *err);

/* Makes training row 'row' of 'dataset' the i-th row held out. */
void gpnn_heldout_set(struct gpnn_heldout *heldout, const struct gpnn_dataset *dataset, size_t i,
                      size_t row);

/* Draws 'n' different rows of 'n_all' into '*drawn', which the caller frees even after a failure.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_heldout_draw(size_t n_all, size_t n, uint64_t seed,
                                                   enum gpnn_rng_purpose purpose, uint64_t **drawn,
                                                   struct gpnn_error *err);

/* Draws 'n' training rows of 'dataset', each left out alone, which needs no metric. */
GPNN_MUST_CHECK enum gpnn_status gpnn_heldout_alone(struct gpnn_heldout *heldout,
                                                    const struct gpnn_dataset *dataset, size_t n,
                                                    uint64_t seed, struct gpnn_error *err);

#endif
