/*
 * layout_private: the numbers of standardised rows, one array after another: inputs, by rows; the
 * first target; each further target; regressors, by rows; the noise variances for each target;
 * their offsets and the exposure, which are not standardised.  A single row is laid out likewise,
 * which leaves its numbers side by side.
 */
#ifndef GPNN_DATASET_TRAINING_LAYOUT_PRIVATE_H
#define GPNN_DATASET_TRAINING_LAYOUT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/spool.h"
#include "base/status.h"
#include "dataset/dataset.h"

/* How many numbers of each kind a row has; before it is standardised, n_features in place of d. */
struct gpnn_layout {
  size_t n_features, d, n_more, n_regressors, n_noises, n_offsets, n_exposures;
};

struct gpnn_layout gpnn_layout_of(const struct gpnn_scaling *scaling,
                                  const struct gpnn_schema *schema);

/* Numbers of a row. */
size_t gpnn_layout_width(const struct gpnn_layout *layout);

/* Standardises a row of features and other numbers, as training reads them, as number 'i' of 'n' in
 * 'numbers'. */
void gpnn_layout_standardise(const struct gpnn_scaling *scaling, const struct gpnn_layout *layout,
                             const double *row, size_t n, size_t i, double *numbers);

/* Copies training row 'i' of 'dataset', or one held out for calibration, to 'row', as a single row;
 * and such a row as number 'i' of 'n' to 'numbers'. */
void gpnn_layout_take(const struct gpnn_layout *layout, const struct gpnn_dataset *dataset,
                      bool is_calibration, size_t i, double *row);
void gpnn_layout_put(const struct gpnn_layout *layout, const double *row, size_t n, size_t i,
                     double *numbers);

/* Writes the arrays of 'count' rows into those of 'n' rows, from row 'from' on.  GPNN_EIO. */
GPNN_MUST_CHECK enum gpnn_status gpnn_layout_write(struct gpnn_spool *spool,
                                                   const struct gpnn_layout *layout, size_t n,
                                                   size_t from, size_t count, const double *numbers,
                                                   struct gpnn_error *err);

/* Points a dataset at the arrays of its training rows, 'n' of which are here and mapped, and of
 * those held out, which it knows the number of; arrays that it lacks are NULL. */
void gpnn_layout_point(struct gpnn_dataset *dataset, size_t n, const struct gpnn_layout *layout,
                       const struct gpnn_spool *rows, const double *held_out);

#endif
