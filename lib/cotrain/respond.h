/*
 * respond: what a model answers about rows that another owner asks about, and how each answer
 * depends on the responses of its training rows.
 *
 * Everything that leaves is in the units of the target.  Threads: the model's; results do not
 * depend on their number.
 *
 * Source: gpnn-methods-share(7), equations 20.3 to 20.5.
 */
#ifndef GPNN_COTRAIN_RESPOND_H
#define GPNN_COTRAIN_RESPOND_H

#include <stddef.h>

#include "base/status.h"
#include "cotrain/answers.h"
#include "models/model.h"

/* GPNN_EMISMATCH: the first channel of the model cannot answer: its target holds classes or counts,
 * is seen through a transform, or has offsets, or it is a grid. */
GPNN_MUST_CHECK enum gpnn_status gpnn_respond_check(const struct gpnn_model *model,
                                                    struct gpnn_error *err);

/*
 * Fills in the arrays of 'answers', whose report, number and ids are set and which
 * gpnn_answers_allocate() has made, by the first channel of a model; 'x' (n by d) is standardised.
 * Means and variances are those of the observations that gpnn_predict() gives; prior variances are
 * those far from all training rows.  Means come from 'model', and everything else from 'blank', the
 * same model unless answers are to hide responses (struct gpnn_clipped of cotrain/conceal.h).  The
 * noise of privacy stays 0.
 *
 * GPNN_EMISMATCH: as gpnn_respond_check().  GPNN_EINVAL: the report needs covariances, which the
 * model has not.  Otherwise outcomes as for gpnn_model_predict().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_respond(const struct gpnn_model *model,
                                              const struct gpnn_model *blank, const double *x,
                                              struct gpnn_answers *answers, struct gpnn_error *err);

/* Writes to 'prior' (q by q) the covariance of the latent function at the rows 'x' (standardised)
 * before the model has seen any row, in units of the target; of a stack the mean of its members'.
 * Outcomes as for gpnn_gram(), and GPNN_ENOMEM; 'prior' is undefined after a failure. */
GPNN_MUST_CHECK enum gpnn_status gpnn_respond_prior(const struct gpnn_model *model, size_t q,
                                                    const double *x, double *prior,
                                                    struct gpnn_error *err);

/* How answers depend on responses: answer i has the part parts[j * q + i] of the j-th response that
 * any answer depends on.  A zeroed object may be released. */
struct gpnn_dependence {
  size_t q, n;
  double *parts; /* owned; q by n, one column of q after another */
};

/*
 * Finds how the means of q rows depend on the responses of the model's
 * training rows.  GPNN_EINVAL: the model's predictions are not linear in its responses, or it is a
 * model file, which has no training rows.  Otherwise outcomes as for gpnn_respond().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_respond_depend(const struct gpnn_model *model, size_t q,
                                                     const double *x,
                                                     struct gpnn_dependence *dependence,
                                                     struct gpnn_error *err);

void gpnn_dependence_release(struct gpnn_dependence *dependence);

#endif
