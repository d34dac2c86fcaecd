/*
 * known: rows whose target is known and that no prediction of them uses, and how far off their
 * predictions are.
 */
#ifndef GPNN_MODELS_LOCAL_KNOWN_H
#define GPNN_MODELS_LOCAL_KNOWN_H

#include <stddef.h>

#include "base/status.h"
#include "models/local/localgp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Everything standardised, and borrowed. */
struct gpnn_known_rows {
  struct gpnn_points points;
  const double *y;     /* points.n */
  const double *noise; /* points.n: known noise variance, besides the parameters'; NULL: none */
  size_t together;     /* so many rows in succession may have errors in common; the next so many
                          are independent of them.  1: all are independent */
};

/* The rows that an index holds out: a random choice, in random order. */
struct gpnn_known_rows gpnn_known_held_out(const struct gpnn_dataset *dataset);

/*
 * Predicts the rows and writes points.n numbers to each array: 'z', (target - mean) / sd of an
 * observation, and 'nearest' (may be NULL), the distance to the nearest neighbour in lengthscales.
 * Adds to '*counts'.  Outcomes as gpnn_localgp_predict(), and GPNN_ENUMERIC: a sd is zero and
 * its error is not.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_known_scores(const struct gpnn_localgp *gp, const struct gpnn_known_rows *rows, double *z,
                  double *nearest, struct gpnn_localgp_counts *counts, struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
