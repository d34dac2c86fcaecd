/*
 * heldout: rows with known targets, and the training rows that each may be predicted from.  They
 * are either the rows that a dataset holds out for calibration, or training rows that are left out
 * of their own predictions.
 *
 * Training rows can be left out in three ways (gpnn_model_hold_out()):
 *
 *   alone     random training rows, each left out alone.
 *   clusters  the training rows nearest to random centres, in the metric of the kernel, are left
 *             out together, and each of them is predicted.  A row may belong to several clusters.
 *   like      each of some given rows is represented by a training row near it.  A ball around
 *             that training row is left out, so that the distances to the nearest remaining rows
 *             have the same distribution as those of the given rows, as far as the training rows
 *             allow.  The row with the q-th smallest distance to its nearest neighbour gets the
 *             q-th smallest distance of the given rows as its radius, so that almost nothing is
 *             left out if the distributions are equal.  Radii that hardly occur among training rows
 *             stem from gaps in the data or from outside it.  There the radius of the ball is the
 *             quantile .99 of the given rows' distances, and the row lies off its centre, at the
 *             required distance from its edge, so that its neighbours lie to one side.  A ball
 *             around all rows is shrunk until it leaves some.  See gpnn-methods(7), equation 8.5.
 *
 * Rows are drawn at random; a larger draw begins with the rows of a smaller one.
 */
#ifndef GPNN_MODELS_HELDOUT_H
#define GPNN_MODELS_HELDOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "dataset/dataset.h"
#include "models/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Everything is standardised.  A zeroed object is empty and may be released. */
struct gpnn_heldout {
  struct gpnn_query query;
  const double *y;        /* the known targets: query.n */
  const double *noise;    /* query.n: known noise variances, added to the parameters'; NULL: none */
  const double *exposure; /* query.n: of counts; NULL: none */
  size_t cluster_rows;    /* errors may be correlated within each run of this many rows, but not
                             between runs; 1: all are independent */
  struct gpnn_heldout_rows { /* owned: the arrays behind those above; NULL: borrowed */
    double *x, *y, *regressors, *noise, *exposure;
    int64_t *self, *candidates;
    struct gpnn_arrays *arrays; /* what frees them */
  } own;
};

enum gpnn_holdout { GPNN_HOLDOUT_ALONE = 0, GPNN_HOLDOUT_CLUSTERS = 1, GPNN_HOLDOUT_LIKE = 2 };

struct gpnn_holdout_options {
  enum gpnn_holdout how;
  size_t n_rows;       /* to draw, > 0; CLUSTERS: the number of centres.  At most n; LIKE: at most
                          like->n */
  size_t cluster_rows; /* CLUSTERS: > 0, rows of each */
  const struct gpnn_query *like; /* LIKE: the rows to represent; only their 'x' is used */
  uint64_t seed;
};

/*
 * gpnn_model_hold_out() of models/model.h fills 'heldout' for a model with one channel.  'heldout'
 * must be zeroed, and the caller releases it even after a failure.  GPNN_EDATA: no training row
 * remains outside a cluster or a ball.  Cost: O(n d) per row, except for rows left out alone.
 */

/* The rows that 'dataset' holds out for calibration, if any: a random sample in random order.  They
 * are borrowed.  Those of a model file have no inputs, but their latent functions are known. */
struct gpnn_heldout gpnn_heldout_of_dataset(const struct gpnn_dataset *dataset);

void gpnn_heldout_release(struct gpnn_heldout *heldout);

/* ---- how models build held-out rows -------------------------------------------------------- */

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

#ifdef __cplusplus
}
#endif

#endif
