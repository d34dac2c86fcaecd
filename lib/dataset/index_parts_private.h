/*
 * index_parts_private: the rows of targets that some rows lack, as an index stores them: those that
 * have the target, once more (section PART of gpnn-index(5)).
 *
 * 'rows' is the dataset of all rows, whose targets are NaN where they are missing, and 'present'
 * has an entry for each target.
 */
#ifndef GPNN_DATASET_INDEX_PARTS_PRIVATE_H
#define GPNN_DATASET_INDEX_PARTS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"

/* How many training and calibration rows have a target. */
struct gpnn_index_present {
  size_t n, n_calibration;
};

/* Counts the rows that have each target, in '*present', which the caller frees; NULL: every row has
 * all of them.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_count_present(const struct gpnn_dataset *rows,
                                                          struct gpnn_index_present **present,
                                                          struct gpnn_error *err);

/* The length of the section; false if it is more than memory can hold. */
bool gpnn_index_parts_bytes(const struct gpnn_dataset *rows,
                            const struct gpnn_index_present *present, size_t *bytes);

/* Takes the next bytes of the section, a multiple of 8. */
typedef enum gpnn_status gpnn_index_taker(void *context, const unsigned char *bytes, size_t length,
                                          struct gpnn_error *err);

/* Bytes that are taken at most at a time. */
enum { GPNN_INDEX_PART_BLOCK = 1 << 18 };

/* Gathers the section from all rows.  GPNN_ENOMEM, or what 'take' fails with. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_gather_parts(const struct gpnn_dataset *rows,
                                                         const struct gpnn_index_present *present,
                                                         gpnn_index_taker *take, void *context,
                                                         struct gpnn_error *err);

/* Points the views of all targets to their rows in the section, whose length must be right. */
void gpnn_index_set_parts(const struct gpnn_dataset *rows, const struct gpnn_index_present *present,
                          const unsigned char *bytes, struct gpnn_dataset *views);

/* '*agree' tells whether counts and section are what all rows say.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_verify_parts(const struct gpnn_dataset *rows,
                                                         const struct gpnn_index_present *present,
                                                         const unsigned char *bytes, bool *agree,
                                                         struct gpnn_error *err);

#endif
