/*
 * predict: predictions in the user's units, row by row, from table units in.
 *
 * Wraps models/localgp.h: standardises the inputs, adds the noise variance unless the latent
 * function is asked for, debiases the mean if asked, and converts mean and standard
 * deviation to the units of the target.
 */
#ifndef GPNN_METHODS_PREDICT_H
#define GPNN_METHODS_PREDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "models/localgp.h"

enum gpnn_units {
  GPNN_UNITS_ORIGINAL = 0, /* of the target as it stands in the table */
  GPNN_UNITS_STANDARD = 1, /* (y - training mean) / training standard deviation */
};

struct gpnn_predict_options {
  bool latent;    /* the sd of the function without noise */
  bool debias;    /* mean times 1 + noise / (m kernelscale), in standardised units (T) */
  bool mean_only; /* no sd */
  enum gpnn_units units;
};

/*
 * Predicts 'n_rows' rows of 'features' (n_rows by the index's standard.n_in, table units).  Writes
 * 'mean' and, unless mean_only, 'sd', n_rows numbers each.  'z' is scratch of n_rows by d numbers.
 * Outcomes as gpnn_localgp_predict.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_predict_rows(const struct gpnn_localgp *gp, const struct gpnn_predict_options *options,
                  size_t n_rows, const double *features, double *z, double *mean, double *sd,
                  struct gpnn_localgp_counts *counts, struct gpnn_error *err);

/* A target value of the table in the units asked for. */
double gpnn_predict_target(const struct gpnn_index_contents *contents, enum gpnn_units units,
                           double y);

#endif
