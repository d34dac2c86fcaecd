/*
 * sample: some rows of a dataset, in memory, as a dataset of their own.
 *
 * It is like the other in all else, fingerprint and calibration rows included, and builds its
 * search when asked for it.  gpnn_sample_free() comes before the end of the dataset it is of.
 */
#ifndef GPNN_DATASET_SAMPLE_H
#define GPNN_DATASET_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"

struct gpnn_sample;

/* Copies 'n_rows' (at most n) random training rows, in their order; the seed decides which. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sample_draw(struct gpnn_sample **sample,
                                                  const struct gpnn_dataset *dataset, size_t n_rows,
                                                  uint64_t seed, struct gpnn_error *err);

/* Copies the training rows whose numbers are in 'row' (n_rows), in this order. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sample_take(struct gpnn_sample **sample,
                                                  const struct gpnn_dataset *dataset, size_t n_rows,
                                                  const uint64_t *row, struct gpnn_error *err);

/* The sample in the view of target 't' (dataset/dataset.h). */
const struct gpnn_dataset *gpnn_sample_target(const struct gpnn_sample *sample, size_t t);

/* NULL is allowed. */
void gpnn_sample_free(struct gpnn_sample *sample);

#endif
