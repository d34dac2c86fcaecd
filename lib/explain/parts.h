/*
 * parts: what the mean of a prediction is made of, and where its variance comes from.
 *
 * A process predicts the latent function at a row by its mean function there, plus weight times
 * (target minus mean function) of each of the row's neighbours (gpnn-methods(7), equation 3.3);
 * where that leaves what the targets of neighbours can say, it is bounded (equation 3.37).  So the
 * mean is a sum of parts: the mean function's, one of each neighbour, and the bound's.
 *
 * The parts are those of a single process: of a stack, those of a member's model, in which each
 * part counts by the member's weight.  Everything is in standardised units, of the transformed
 * target if there is a transform. Threads: those of the model; no result depends on their number.
 */
#ifndef GPNN_EXPLAIN_PARTS_H
#define GPNN_EXPLAIN_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "likelihood/head.h"
#include "models/model.h"

/* A neighbour of a row. */
struct gpnn_part {
  int64_t row;     /* of training; -1: there is no further neighbour */
  double distance; /* from it, in lengthscales */
  double weight;
  double part; /* of the mean: weight times (target minus mean function) */
};

/* Rows and what they are predicted from.  A zeroed object is empty and may be released. */
struct gpnn_parts {
  size_t n, m;             /* rows, and neighbours of each */
  struct gpnn_part *parts; /* n by m: of each row by the magnitude of their weights, equal ones by
                              their number */
  double *trend;           /* n: the mean function at the row */
  double *bound;           /* n: what bounding the mean adds to it, mostly 0 */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/*
 * Finds the parts of the rows of 'query', which lack no input, for a model with one channel, a
 * number.  Of classes (gpnn_model_classify()) 'part', 'trend' and 'bound' are 0: labels have no
 * mean, and the weights are those with which neighbours speak for their classes.
 *
 * GPNN_EINVAL: the model has no weights; otherwise outcomes as for gpnn_model_predict().  'parts'
 * must be zeroed; the caller releases it, also after a failure.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_parts_find(struct gpnn_parts *parts, const struct gpnn_model *model,
                const struct gpnn_query *query, struct gpnn_counts *counts, struct gpnn_error *err);

void gpnn_parts_release(struct gpnn_parts *parts);

/*
 * Where the variance of an observation comes from: the shares of its noise, and of what the process
 * does not know at the row, of sum 1; and what the standard deviation is multiplied by as the row's
 * neighbours contradict each other more (above 1) or less than the parameters expect, of which a
 * local scale takes account (likelihood/scale.h).  Without such a scale that is 1.
 */
struct gpnn_variance_sources {
  double noise, distance, disagreement;
};

/* Those of a row; 'known_noise' as for gpnn_head_observe().  NaN where the variance is 0. */
struct gpnn_variance_sources gpnn_variance_sources(const struct gpnn_head *head,
                                                   const struct gpnn_latent_row *latent,
                                                   double known_noise);

#endif
