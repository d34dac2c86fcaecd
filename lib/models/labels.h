/*
 * labels: the probabilities of the classes of rows, from any model whose parameters are of classes.
 *
 * An object combines one channel of a model with options, and predicts any number of batches of
 * rows.  It takes the probabilities that the model gives (gpnn_model_classify()), replaces those of
 * rows too far from all training rows, and applies the temperature that calibration found
 * (gpnn-methods-classes(7), equation 13.16).
 *
 * Calling sequence: gpnn_labels_new(); gpnn_labels_predict(); gpnn_labels_rank() for the labels of
 * a row; gpnn_labels_free().
 *
 * Threads: one call at a time for each object; several objects may share a model.  Results depend
 * neither on the number of threads nor on which rows are in a batch.
 */
#ifndef GPNN_MODELS_LABELS_H
#define GPNN_MODELS_LABELS_H

#include <stddef.h>

#include "base/status.h"
#include "models/predict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_labels;

/* 'model' is borrowed and must outlive the object; of 'options', only the limits of distance and
 * what is predicted beyond them count.  GPNN_EINVAL: the channel is of a number; or as
 * gpnn_globe_new() and gpnn_model_classify(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_labels_new(struct gpnn_labels **labels,
                                                 const struct gpnn_model *model, size_t channel,
                                                 const struct gpnn_predict_options *options,
                                                 struct gpnn_error *err);

/* How many classes there are. */
size_t gpnn_labels_n_classes(const struct gpnn_labels *labels);

/*
 * Predicts rows, of which noise and offset do not matter: writes n by K probabilities to 'p', each
 * row of sum 1 but for rounding, or all NaN beyond the largest distance.  Adds to '*counts', that
 * of the channel.  Outcomes as for gpnn_model_classify().  n = 0 does nothing.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_labels_predict(struct gpnn_labels *labels,
                                                     const struct gpnn_predict_rows *rows,
                                                     double *p, struct gpnn_counts *counts,
                                                     struct gpnn_error *err);

/*
 * Writes to 'rank' (n_ranked <= n) the classes of a row with the largest p_c cost_c, the largest
 * first and of equals the first class (gpnn-methods-classes(7), equation 13.17).  'cost' (n) is
 * what it costs to take a row of class c for one of another class, so that the first class has the
 * least expected cost; NULL: the same for all.  The probabilities 'p' (n) are not NaN.
 */
void gpnn_labels_rank(size_t n, const double *p, const double *cost, size_t n_ranked, size_t *rank);

/* NULL is allowed. */
void gpnn_labels_free(struct gpnn_labels *labels);

/* Replaces each of the 'n' probabilities of a row by its power 'temperature' > 0, divided by their
 * sum; at 1 they stay as they are. */
void gpnn_labels_temper(size_t n, double temperature, double *p);

#ifdef __cplusplus
}
#endif

#endif
