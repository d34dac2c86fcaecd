/*
 * conceal: answers with noise that hides what any single response contributes to them.
 *
 * Calling sequence: gpnn_clipped_new() for the model that answers, gpnn_respond() with its two
 * models, gpnn_concealment_find(), and, once the release is charged (cotrain/ledger.h),
 * gpnn_concealment_apply().  gpnn_concealment_free() and gpnn_clipped_free() take zeroed objects.
 *
 * What leaves is then either noised, or computed by a model that has no responses.
 *
 * Threads: the model's; results do not depend on their number.
 */
#ifndef GPNN_COTRAIN_CONCEAL_H
#define GPNN_COTRAIN_CONCEAL_H

#include "cotrain/answers.h"
#include "cotrain/release.h"
#include "models/model.h"

/*
 * The models that answers come from, all owned; the model that they were made from outlives them.
 * 'clipped' has its responses brought into an interval, and is for means.  'blank' has the centre
 * of the target in place of all responses, and local scales in which these have no part
 * (gpnn_scale_hold_responses()): it is for everything else, and what it predicts depends on inputs
 * and parameters alone.
 */
struct gpnn_clipped {
  struct gpnn_dataset *datasets; /* 2 */
  double *y;                     /* of both */
  struct gpnn_parameters *parameters;
  struct gpnn_model *model, *blank;
};

/*
 * Makes both models, the first with responses between 'low' and 'high' (in units of the target).
 * GPNN_EMISMATCH: centre and scale of the target were found from responses; or rows have weights,
 * which follow from responses; or these may decide which rows there are.  Otherwise as
 * gpnn_model_with().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_clipped_new(const struct gpnn_model *model, double low,
                                                  double high, struct gpnn_clipped *clipped,
                                                  struct gpnn_error *err);

void gpnn_clipped_free(struct gpnn_clipped *clipped);

/* How much noise: so much that the release is mu-private, or, if mu is 0, tau of 'factor' scales of
 * the target. */
struct gpnn_concealment_options {
  enum gpnn_mechanism mechanism;
  double width; /* of the interval of responses */
  double mu, factor;
};

struct gpnn_concealment {
  struct gpnn_release release;
  double tau, mu; /* both 0 if the answers depend on no response and no factor is given */
};

/*
 * Finds the noise for answers about the rows 'x' (standardised), whose number n > 0 is
 * looked at.  GPNN_EINVAL: as gpnn_respond_depend(), or the mechanism is NONE.  Otherwise as
 * gpnn_release_shape().
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_concealment_find(const struct gpnn_model *model, const double *x,
                      const struct gpnn_answers *answers,
                      const struct gpnn_concealment_options *options,
                      struct gpnn_concealment *concealment, struct gpnn_error *err);

/* Adds a draw of the noise to the means, rounds these to 2^-20 of the scale, down to a power of 2,
 * and fills in how large the noise is.  'answers' was allocated with privacy.  As
 * gpnn_release_draw(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_concealment_apply(const struct gpnn_concealment *concealment,
                                                        struct gpnn_secret *secret,
                                                        struct gpnn_answers *answers,
                                                        struct gpnn_error *err);

void gpnn_concealment_free(struct gpnn_concealment *concealment);

#endif
