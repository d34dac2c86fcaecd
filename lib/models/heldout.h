/*
 * heldout: rows whose truth is known, with what each may be predicted from: those that a dataset
 * holds out for calibration, or training rows that stand for rows to predict.
 *
 * Training rows are left out of their own predictions in one of three ways (gpnn_model_hold_out()):
 *
 *   alone     random training rows, each left out alone.
 *   clusters  the training rows nearest to random centres, in the metric of the kernel, are left
 *             out together, and each of them is to be predicted.  A row may be in several clusters.
 *   like      one of the training rows near to each of some given rows stands for it, and around
 *             this a ball is left out, so that the distances to the nearest rows that remain are
 *             distributed as those of the given rows are, as far as the distances between training
 *             rows allow.  The row with the q-th smallest distance to its nearest other gets the
 *             q-th smallest distance of the given rows as its radius, so that equal distributions
 *             leave out next to nothing.  Radii that hardly occur among training rows come from
 *             gaps or from beyond: there the ball has the largest of them (the quantile .99) for a
 *             radius, and the row is as far from its edge as it has to be, so that its neighbours
 *             lie to one side.  See gpnn-methods(7), equation 8.5.
 *
 * Rows are drawn at random, and a larger draw begins with the rows of a smaller one.
 */
#ifndef GPNN_MODELS_HELDOUT_H
#define GPNN_MODELS_HELDOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "models/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Everything is standardised.  A zeroed object is empty and may be released. */
struct gpnn_heldout {
  struct gpnn_query query;
  const double *y;     /* the truths: query.n */
  const double *noise; /* query.n: known noise variances, besides the parameters'; NULL: none */
  size_t cluster_rows; /* so many rows in succession may have errors in common; the next so many
                          are independent of them.  1: all are independent */
  struct gpnn_heldout_rows { /* owned: what 'query', 'y' and 'noise' point to; NULL: it is borrowed
                              */
    double *x, *y, *regressors, *noise;
    int64_t *self, *candidates;
  } own;
};

enum gpnn_holdout { GPNN_HOLDOUT_ALONE = 0, GPNN_HOLDOUT_CLUSTERS = 1, GPNN_HOLDOUT_LIKE = 2 };

struct gpnn_holdout_options {
  enum gpnn_holdout how;
  size_t n_rows;       /* to draw, > 0: at most n; of clusters, the centres; at most like->n */
  size_t cluster_rows; /* CLUSTERS: > 0, rows of each */
  const struct gpnn_query *like; /* LIKE: the rows to stand for, whose 'x' alone matters */
  uint64_t seed;
};

/*
 * gpnn_model_hold_out() of models/model.h fills 'heldout', which must be zeroed and is released by
 * the caller also after a failure, for a model of one channel.  GPNN_EDATA: no training row remains
 * to predict a cluster from, or outside a ball.  Cost: O(n d) a row, but for rows left out alone.
 */

/* The rows that 'dataset' holds out for calibration, which are borrowed: a random choice, in random
 * order.  There may be none. */
struct gpnn_heldout gpnn_heldout_of_dataset(const struct gpnn_dataset *dataset);

void gpnn_heldout_release(struct gpnn_heldout *heldout);

#ifdef __cplusplus
}
#endif

#endif
