/*
 * leftout: training rows that stand for rows to predict: each is predicted from training rows
 * that leave it out, and with it, if wanted, all that surrounds it.
 *
 * Rows are drawn at random, and a larger draw begins with the rows of a smaller one.
 */
#ifndef GPNN_MODELS_LOCAL_HELDOUT_H
#define GPNN_MODELS_LOCAL_HELDOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/local/known.h"
#include "models/local/localgp.h"

/* A zeroed object is empty and may be released. */
struct gpnn_heldout {
  struct gpnn_known_rows rows;        /* of the arrays below */
  double *x, *y, *regressors, *noise; /* owned */
  int64_t *self;                      /* owned */
  int64_t *candidates;                /* owned, or NULL */
};

/* Draws 'n_rows' training rows (at most n), each left out alone. */
GPNN_MUST_CHECK enum gpnn_status gpnn_heldout_alone(struct gpnn_heldout *leftout,
                                                    const struct gpnn_localgp *gp, size_t n_rows,
                                                    uint64_t seed, struct gpnn_error *err);

/*
 * Draws 'n_clusters' centres among the training rows (at most n); the cluster of each, itself and
 * the 'cluster_rows' - 1 nearest others in the metric of the kernel, is left out together, and all
 * its rows are to be predicted.  A row may be in several clusters.  GPNN_EDATA: 'cluster_rows'
 * (> 0) leaves no row to predict from.  Cost: O(n d) for each row to predict.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_heldout_clusters(struct gpnn_heldout *leftout,
                                                       const struct gpnn_localgp *gp,
                                                       size_t n_clusters, size_t cluster_rows,
                                                       uint64_t seed, struct gpnn_error *err);

/*
 * Draws 'n_rows' rows of 'like' (at most like->n); one of the training rows near to each stands for
 * it, and around this a ball is left out, so that the distances to the nearest rows left are
 * distributed as those of 'like' are, as far as the distances between training rows allow.  The
 * row with the q-th smallest distance to its nearest other gets the q-th smallest distance of
 * 'like' as its radius, so that equal distributions leave out next to nothing.  Radii that hardly
 * occur among training rows come from gaps or from beyond: there the ball has the largest of them
 * (the quantile .99) for a radius, and the row is as far from its edge as it has to be, so that its
 * neighbours lie to one side.  GPNN_EDATA: a ball holds all rows.  Cost: O(n d) a row.
 * See gpnn-methods(7), equation 8.5.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_heldout_like(struct gpnn_heldout *leftout,
                                                   const struct gpnn_localgp *gp,
                                                   const struct gpnn_points *like, size_t n_rows,
                                                   uint64_t seed, struct gpnn_error *err);

void gpnn_heldout_release(struct gpnn_heldout *leftout);

#endif
