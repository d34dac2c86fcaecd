/*
 * tails: compressing the long tails of inputs (gpnn-methods(7), equations 1.14 and 1.15).
 *
 * A kernel sees distances.  In a column with a long tail most rows are close to each other by the
 * measure of the few that are far out, and what tells them apart is lost.  Such a column is
 * replaced by
 *   centre + spread asinh((value - centre) / spread),
 * with its centre and spread (dataset/spread.h): as it was near the centre, logarithmic far away.
 * A tail is long if the kurtosis of the column exceeds 6, that of Laplace's distribution.
 */
#ifndef GPNN_DATASET_TAILS_H
#define GPNN_DATASET_TAILS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_feature;    /* table/schema.h */
struct gpnn_row_source; /* stats/row_source.h */

/* The tails of n columns.  A zeroed object has none and may be released. */
struct gpnn_tails {
  size_t n;
  double *centre; /* owned; n; NULL: no column has a long tail */
  double *spread; /* owned with 'centre'; n, 0 for a column whose tails are not long */
};

/*
 * Finds which of the first 'n_in' columns of 'rows' have long tails.  'tails' must be zeroed.
 * Columns that have a unit or are one of several coordinates of a point are left alone, as are
 * those with only one value besides the most frequent; 'features' may be NULL: there are no such
 * columns.  GPNN_ENOMEM, and whatever 'rows' fails with.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tails_learn(struct gpnn_tails *tails,
                                                  const struct gpnn_row_source *rows, size_t n_in,
                                                  const struct gpnn_feature *features,
                                                  struct gpnn_error *err);

/* True if column 'j' has a long tail. */
bool gpnn_tails_has(const struct gpnn_tails *tails, size_t j);

/* 'value' of column 'j', compressed. */
double gpnn_tails_compress(const struct gpnn_tails *tails, size_t j, double value);

void gpnn_tails_release(struct gpnn_tails *tails);

#ifdef __cplusplus
}
#endif

#endif
