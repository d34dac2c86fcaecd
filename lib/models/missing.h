/*
 * missing: predicting rows that lack some of their inputs.
 *
 * What is predicted of such a row is the distribution given what it has: it is predicted once for
 * each of several draws of what it lacks (dataset/missing.h), and the predictions are combined
 * (gpnn-methods(7), equations 1.24 and 1.25).  Their means differ by what the row lacks, and so its
 * variance is larger than theirs; as K draws know their own spread too well, it counts (K + 1) /
 * (K - 1) times.  The probabilities of classes, and the other numbers that describe a prediction,
 * are averaged.  A row that lacks all of its inputs is predicted by the mean and the variance of
 * the training rows' targets, or by the frequencies of their classes.
 *
 * gpnn_model_predict() and gpnn_model_classify() come here by themselves.
 */
#ifndef GPNN_MODELS_MISSING_H
#define GPNN_MODELS_MISSING_H

#include <stdbool.h>
#include <stddef.h>

#include "models/model.h"

/* Draws for each row unless options say otherwise, and for one that lacks the code of a category:
 * levels hardly go with other inputs, so that training rows less like it tell as much. */
enum { GPNN_MISSING_DRAWS = 10, GPNN_MISSING_DRAWS_CODED = 40 };

/* How many a model draws for a row that lacks no code. */
size_t gpnn_missing_draws(const struct gpnn_model *model);

/* True if a row of 'query' lacks an input, and there are training rows to draw it from. */
bool gpnn_missing_any(const struct gpnn_model *model, const struct gpnn_query *query);

/* As gpnn_model_predict() and gpnn_model_classify(), of rows some of which lack inputs. */
GPNN_MUST_CHECK enum gpnn_status gpnn_missing_predict(const struct gpnn_model *model,
                                                      const struct gpnn_query *query,
                                                      const struct gpnn_latent *latent,
                                                      struct gpnn_counts *counts,
                                                      struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_missing_classify(const struct gpnn_model *model,
                                                       size_t channel,
                                                       const struct gpnn_query *query, double *p,
                                                       double *nearest, struct gpnn_counts *counts,
                                                       struct gpnn_error *err);

#endif
