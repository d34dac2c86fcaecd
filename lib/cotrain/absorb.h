/*
 * absorb: what the asking owner makes of another owner's answers about rows of a pool, of which the
 * other sees other inputs: rows with noise of their own, or a model of own rows and answers
 * (gpnn-methods-share(7), equations 18.1 to 18.10).
 *
 * Whatever the rule, a model has the form of one with inducing points (equation 17.3): with k the
 * asking model's covariances of a row with its own rows t and then the asked rows q, the mean is
 * k'weights, and the variance of the latent function kernelscale - |root k|^2.  Nothing is
 * approximated: the points are all rows, so this is for a few thousand of them.
 *
 * Threads: no shared state.
 *
 * Source: Thomas (2017), section 4.2; Tresp (2000).
 */
#ifndef GPNN_COTRAIN_ABSORB_H
#define GPNN_COTRAIN_ABSORB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "cotrain/answers.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"

/* What becomes of answers: rows by the first three rules, a model of own rows and answers by the
 * others. */
enum gpnn_absorb_rule {
  GPNN_ABSORB_DEFLATED, /* what the answering model's data say, without its prior, which is not data
                         */
  GPNN_ABSORB_MARGINAL, /* means, as uncertain as they are said to be */
  GPNN_ABSORB_NONE,     /* means, as if they were observed */
  GPNN_ABSORB_FULL,     /* observations with correlated errors */
  GPNN_ABSORB_HYBRID,   /* observations under the sum of both precisions, then noise */
  GPNN_ABSORB_BLOCKY,   /* observations that are independent of the own rows */
};

/* True of the rules that make a model. */
static inline bool gpnn_absorb_makes_model(enum gpnn_absorb_rule rule)
{
  return rule >= GPNN_ABSORB_FULL;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* A row made of an answer, in the units of the target. */
struct gpnn_absorbed {
  bool is_dropped;      /* the answer says next to nothing */
  double target, noise; /* 'noise': variance besides that of the asking model's own noise */
};

/*
 * Makes a row of each answer; with 'ignores_privacy' the noise of privacy is taken for none.
 * GPNN_EMISMATCH: the report lacks what the rule needs.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_absorb_rows(const struct gpnn_answers *answers,
                                                  enum gpnn_absorb_rule rule, bool ignores_privacy,
                                                  struct gpnn_absorbed *rows,
                                                  struct gpnn_error *err);

/* ---- models --------------------------------------------------------------------------------- */

/* What part of the covariance of the answers' errors counts in the rules full, hybrid and blocky.
 */
enum gpnn_fusion_uncertainty {
  GPNN_FUSION_JOINT,    /* all of it */
  GPNN_FUSION_MARGINAL, /* the variances */
  GPNN_FUSION_NONE,
};

/* Points, own rows and answers together, that a model may have. */
enum { GPNN_FUSION_MOST = 5000 };

/*
 * Answers about n asked rows; arrays are borrowed.  Matrices are n by n and symmetric, with both
 * triangles.  Without uncertainty there may be no covariance, and by the rule full no prior: NULL.
 */
struct gpnn_fusion_answers {
  size_t n;                 /* may be 0: the model is that of the own rows alone */
  const double *x;          /* n by d: the asked rows as the asking model sees them */
  const double *mean;       /* n: the answers; released ones with the noise of privacy */
  const double *covariance; /* of the answering model, of observations given its rows */
  const double *prior;      /* of the answering model's latent function, before any row */
  const double *privacy;    /* of the noise that was added to 'mean'; NULL: none was */
};

/* All arrays are owned; a zeroed object is empty and may be released. */
struct gpnn_fusion {
  size_t m, rank;    /* points: own rows and then asked ones; rows of the root, at most m */
  double *points;    /* m by d */
  double *weights;   /* m */
  double *root;      /* rank by m */
  double score;      /* mean negative log density of the own rows, each predicted from all else */
  size_t n_negative; /* points where the variance is below 0, which happens under the rule blocky
                        alone; predictions take 0 */
};

/*
 * Combines the rows of a target's view, which may have noise of their own, with answers.  The
 * parameters' kernel, lengthscales, kernel scale and noise variance are taken as they are.  Takes
 * some 5 m^3 operations and memory for 5 m^2 numbers.  The rule is one of those that make a model;
 * with no answers all give that of the own rows.
 *
 * GPNN_EINVAL: more than GPNN_FUSION_MOST points.  GPNN_EMISMATCH: the parameters have a mean
 * function, a rotation, a transform, members, degrees of freedom or a family, or are of classes or
 * counts; or the view has offsets, or is of a grid or a model file.  GPNN_EDATA: a number of the
 * answers is not finite, or a covariance not positive definite.  GPNN_ENUMERIC: a covariance of the
 * model is not positive definite even with jitter (linalg/factors/cholesky.h).  GPNN_ENOMEM.
 * '*fusion' is then as it was.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_fusion_new(struct gpnn_fusion *fusion, const struct gpnn_dataset *view,
                const struct gpnn_parameters *params, const struct gpnn_fusion_answers *answers,
                enum gpnn_absorb_rule rule, enum gpnn_fusion_uncertainty uncertainty,
                struct gpnn_error *err);
void gpnn_fusion_release(struct gpnn_fusion *fusion);

/* ---- answers as they come ------------------------------------------------------------------ */

/* GPNN_EMISMATCH: the answers standardise the target otherwise than the view. */
GPNN_MUST_CHECK enum gpnn_status gpnn_absorb_check_units(const struct gpnn_answers *answers,
                                                         const struct gpnn_dataset *view,
                                                         struct gpnn_error *err);

/* How many answers are farther from the centre than GPNN_ABSORB_FAR scales, or standard deviations
 * that the answering model has before it sees any row if they are told and less, the noise of
 * privacy included: next to none, unless they are in other units than they say.  0 if the report
 * has no means. */
enum { GPNN_ABSORB_FAR = 10 };
size_t gpnn_absorb_n_far(const struct gpnn_answers *answers);

/* How a model is made of own rows and answers. */
struct gpnn_absorb_options {
  enum gpnn_absorb_rule rule; /* one that makes a model */
  enum gpnn_fusion_uncertainty uncertainty;
  bool ignores_privacy;
  bool gate; /* keep answers only if the own rows, each predicted from all else, are not predicted
                worse for them */
};

/* What came of it. */
struct gpnn_absorb_outcome {
  bool is_kept;       /* false: the gate left the answers out */
  double alone, with; /* mean negative log density of the own rows without and with the answers */
  size_t n_negative;  /* as in struct gpnn_fusion */
};

/*
 * Makes the model of a view's rows, seen by 'params', and of answers about rows 'x' (answers->n by
 * d, standardised).  GPNN_EMISMATCH: the report lacks what the rule needs, or as
 * gpnn_absorb_check_units(); otherwise outcomes as for gpnn_fusion_new().
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_absorb_model(const struct gpnn_dataset *view, const struct gpnn_parameters *params,
                  const struct gpnn_answers *answers, const double *x,
                  const struct gpnn_absorb_options *options, struct gpnn_fusion *fusion,
                  struct gpnn_absorb_outcome *outcome, struct gpnn_error *err);

#endif
