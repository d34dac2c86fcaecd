/*
 * sample: some rows of a dataset, copied into memory, as a dataset of their own.
 *
 * Everything else is shared with the original dataset, fingerprint and calibration rows included,
 * so the sample must be freed first.  A search over its rows is built when asked for.  Rows are
 * numbered as in the view that they are taken from, and targets that other rows have are left out.
 *
 * Threads: a sample is read-only and may be shared freely.
 */
#ifndef GPNN_DATASET_SAMPLE_H
#define GPNN_DATASET_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"

struct gpnn_sample;

/* Draws the numbers of 'n_drawn' of 'n' rows, 1 to all, ascending, so that mapped pages are read
 * one after another; the seed determines which.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sample_numbers(uint64_t n, size_t n_drawn, uint64_t seed,
                                                     uint64_t *row, struct gpnn_error *err);

/* Copies 'n_rows' random training rows, 1 to all, in the order of the dataset; the seed determines
 * which.  GPNN_ENOMEM: '*sample' is not set. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sample_draw(struct gpnn_sample **sample,
                                                  const struct gpnn_dataset *dataset, size_t n_rows,
                                                  uint64_t seed, struct gpnn_error *err);

/* Copies the training rows with the 'n_rows' >= 1 numbers in 'row', each below n, in that order.
 * GPNN_ENOMEM: '*sample' is not set. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sample_take(struct gpnn_sample **sample,
                                                  const struct gpnn_dataset *dataset, size_t n_rows,
                                                  const uint64_t *row, struct gpnn_error *err);

/* Copies the first row of each group of a dataset whose rows have groups, without their groups.
 * GPNN_ENOMEM: '*sample' is not set. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sample_distinct(struct gpnn_sample **sample,
                                                      const struct gpnn_dataset *dataset,
                                                      struct gpnn_error *err);

/* Copies the training rows that have every target; 'dataset' is that of all rows.  GPNN_EDATA:
 * there are none.  GPNN_ENOMEM: '*sample' is not set. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sample_common(struct gpnn_sample **sample,
                                                    const struct gpnn_dataset *dataset,
                                                    struct gpnn_error *err);

/* The view of target 't' (dataset/dataset.h), without rows if that is left out; valid until the
 * sample is freed. */
const struct gpnn_dataset *gpnn_sample_target(const struct gpnn_sample *sample, size_t t);

/* Frees the rows copied; NULL is allowed. */
void gpnn_sample_free(struct gpnn_sample *sample);

#endif
