/*
 * stored: what a model file holds in place of training rows (gpnn-model(5)): arrays of numbers,
 * found by the name of a target and their own, and the text of its parameters.  What an array means
 * is the business of the kind of model that wrote it (models/stored_model.h), but for those named
 * here.
 *
 * Threads: read-only, may be shared.
 */
#ifndef GPNN_DATASET_STORED_H
#define GPNN_DATASET_STORED_H

#include <stddef.h>

#include "container/state.h"

/* Arrays that a target of a model file has whatever its family.  The number of training rows, and
 * the kernel scale that the family's arrays are made for, which that of the parameters may be a
 * multiple of; then of each held-out row its truth, standardised, what the model predicts of the
 * latent function, and the known noise variance where rows have one. */
#define GPNN_STORED_ROWS "rows"
#define GPNN_STORED_KERNELSCALE "kernelscale"
#define GPNN_STORED_TRUTH "heldout-truth"
#define GPNN_STORED_MEAN "heldout-mean"
#define GPNN_STORED_VARIANCE "heldout-variance"
#define GPNN_STORED_NEAREST "heldout-nearest"
#define GPNN_STORED_NOISE "heldout-noise"

/* Latent functions of rows that are known without their inputs; NULL: none are. */
struct gpnn_stored_latent {
  const double *mean, *variance; /* of the function, without noise, at the stored kernel scale */
  const double *nearest;         /* distance to what the row is predicted from, in lengthscales */
};

/* All borrowed from the index (dataset/index/index.h) that opened the file, or from who made the
 * model.
 */
struct gpnn_stored {
  const struct gpnn_state *arrays; /* every number of them is finite */
  const char *text;                /* of the parameters, without a NUL */
  size_t length;
  struct gpnn_stored_latent held_out; /* of the view's target: n_calibration numbers each */
};

#endif
