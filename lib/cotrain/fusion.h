/*
 * fusion: a Gaussian process of one owner's rows, and of what the model of another owner, who sees
 * other inputs of the same objects, answered about some more of them (gpnn-methods(7),
 * equations 18.1 to 18.10).
 *
 * Whatever the rule, the predictor has the form of a model with inducing points (equation 17.3):
 * with k the asking model's covariances of a row with its own rows t and then the asked rows q, the
 * mean is k'weights, and the variance of the latent function kernelscale - |root k|^2.  Nothing is
 * approximated: the points are all rows, so this is for a few thousand of them.
 *
 * Calling sequence: gpnn_fusion_new() for a target, gpnn_fusion_release().  Everything is in
 * standardised units of the asking index, those of the answers included.
 *
 * Threads: no shared state.
 *
 * Source: Thomas (2017), Scalable Inference and Private Co-training for Gaussian Processes, chapter
 * 4; the committee machine of Tresp (2000).
 */
#ifndef GPNN_COTRAIN_FUSION_H
#define GPNN_COTRAIN_FUSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"

/* How answers enter the asking model. */
enum gpnn_fusion_rule {
  GPNN_FUSION_FULL,           /* as observations with correlated errors */
  GPNN_FUSION_HYBRID,         /* as observations under the sum of both precisions, then noise */
  GPNN_FUSION_HYBRID_LITERAL, /* the same with noise first: as exact observations, but for noise */
  GPNN_FUSION_BLOCKY,         /* as observations that are independent of the own rows */
  GPNN_FUSION_BCM,            /* as what the other owner's rows say of the latent function */
  GPNN_FUSION_YU,             /* as observations of the consensus of both views */
};

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
 * triangles.  Those that the rule does not need may be NULL (gpnn_fusion_needs()).
 */
struct gpnn_fusion_answers {
  size_t n;                 /* may be 0: the model is that of the own rows alone */
  const double *x;          /* n by d: the asked rows as the asking model sees them */
  const double *mean;       /* n: the answers; released ones with the noise of privacy */
  const double *covariance; /* of the answering model, of observations given its rows */
  const double *prior;      /* of the answering model's latent function, before any row */
  const double *noise;      /* n: variance of an observation there, given the latent function */
  const double *privacy;    /* of the noise that was added to 'mean', or by the rule bcm to 'shift';
                               NULL: none was */
  const double *shift;      /* n: h of the message exp(h'f - f'J f / 2) on the latent function f */
  const double *precision;  /* J (cotrain/message.h) */
};

/* The arrays that a rule needs besides 'x'. */
struct gpnn_fusion_needs {
  bool mean, covariance, prior, noise, message; /* 'message': shift and precision */
};
struct gpnn_fusion_needs gpnn_fusion_needs(enum gpnn_fusion_rule rule,
                                           enum gpnn_fusion_uncertainty uncertainty);

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

/* GPNN_EMISMATCH: the parameters have a mean function, a rotation, a transform, members, degrees of
 * freedom or a family, or are of classes or counts; or the view has offsets, or is of a grid or a
 * model file. */
GPNN_MUST_CHECK enum gpnn_status gpnn_fusion_check(const struct gpnn_dataset *view,
                                                   const struct gpnn_parameters *params,
                                                   struct gpnn_error *err);

/*
 * Combines the rows of a target's view, which may have noise of their own, with answers.  The
 * parameters' kernel, lengthscales, kernel scale and noise variance are taken as they are.  Takes
 * some 5 m^3 operations and memory for 5 m^2 numbers.  With no answers all rules give the model of
 * the own rows.
 *
 * GPNN_EINVAL: more than GPNN_FUSION_MOST points.  GPNN_EMISMATCH as gpnn_fusion_check().
 * GPNN_EDATA: a number of the answers is not finite, a noise variance is negative, or a covariance
 * not positive definite.  GPNN_ENUMERIC: a covariance of the model is not positive definite even
 * with jitter (linalg/cholesky.h).  GPNN_ENOMEM.  '*fusion' is then as it was.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_fusion_new(struct gpnn_fusion *fusion, const struct gpnn_dataset *view,
                const struct gpnn_parameters *params, const struct gpnn_fusion_answers *answers,
                enum gpnn_fusion_rule rule, enum gpnn_fusion_uncertainty uncertainty,
                struct gpnn_error *err);
void gpnn_fusion_release(struct gpnn_fusion *fusion);

#endif
