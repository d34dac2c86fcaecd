/*
 * combine: one prediction of a row from those of several models (gpnn-methods-share(7), equations
 * 19.1 to 19.7).
 *
 * A prediction is a mean and a variance, and the models that have none of a row are left out.  The
 * prior is what would be predicted of any row without data.  Densities are normal, or Student's t:
 * fuse and poe multiply these as they are, and give the t that is closest; the rules with
 * powers hold for normal densities, and take the variances.
 *
 * Threads: no shared state.
 *
 * Source: Hinton (2002), products of experts; Tresp (2000), the Bayesian committee machine; Cao and
 * Fleet (2014) and Deisenroth and Ng (2015), their general and robust forms; Liu, Cai, Wang and Ong
 * (2018), the one with an expert that all others know; Breiman (1996), stacking.
 */
#ifndef GPNN_COMBINE_COMBINE_H
#define GPNN_COMBINE_COMBINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum gpnn_combine_rule {
  GPNN_COMBINE_FUSE,  /* exact if the models' inputs are independent given the target; for models of
                         one latent function, combined without their noise, the Bayesian committee
                         machine */
  GPNN_COMBINE_POE,   /* product of experts */
  GPNN_COMBINE_GPOE,  /* the same with powers */
  GPNN_COMBINE_RBCM,  /* fuse with powers: the robust committee machine */
  GPNN_COMBINE_GRBCM, /* the same where the first model's rows are part of those of all others */
  GPNN_COMBINE_WEIGHTS, /* the mixture of the distributions */
  GPNN_COMBINE_STACK,   /* the weighted mean, with a spread of its own */
  GPNN_COMBINE_RULES
};

/* The word for a rule, as "fuse". */
const char *gpnn_combine_name(enum gpnn_combine_rule rule);

/* True if the rule needs the variances of predictions; the prior; weights that are learnt. */
bool gpnn_combine_needs_variance(enum gpnn_combine_rule rule);
bool gpnn_combine_needs_prior(enum gpnn_combine_rule rule);
bool gpnn_combine_needs_weights(enum gpnn_combine_rule rule);

struct gpnn_combine_settings {
  enum gpnn_combine_rule rule;
  size_t n;                          /* models, at least 1 */
  double prior_mean, prior_variance; /* of an observation; variance > 0 */
  double noise;          /* variance >= 0 that is part of all variances but not combined: that of
                            observations, if models are of one latent function */
  const double *weights; /* n, or NULL.  gpoe: the powers, instead of those by what was learnt.
                            weights and stack: those learnt, of sum 1 */
  double spread;         /* stack: what the weighted mean of variances is multiplied by */
  double spare_variance; /* stack: stands in where a model has no variance; and, if none has any,
                            the variance itself */
};

struct gpnn_combined {
  double mean, variance;
  double df; /* degrees of freedom, above 2; INFINITY: normal */
};

/*
 * Combines predictions of a row: 'mean', 'variance' and degrees of freedom 'df' (n each; above 2 or
 * INFINITY; NULL: all are normal), none above 1e100, nor a variance above 1e200; a mean that is
 * NaN: the model has no prediction.  A variance that is NaN is allowed under the rule stack alone.
 * With none at all, mean and variance are NaN.  Variances that are not above the noise count as a
 * millionth of the prior's, or of the largest, above it, and as 1e-200 at least.
 *
 * Where densities are multiplied, the result has their mean, and the 50 % and 95 % intervals around
 * it, which the variance and the degrees of freedom are those of.  Otherwise 1 / df is the mean of
 * those of the models, weighted by what each contributes to the variance, or to the precision.
 *
 * 'share' (n, or NULL) gets the numbers by which errors of the models add up in the mean.
 */
struct gpnn_combined gpnn_combine(const struct gpnn_combine_settings *settings, const double *mean,
                                  const double *variance, const double *df, double *share);

/* Truths that a prior is made of, so far; zeroed: none yet. */
struct gpnn_combine_truths {
  size_t n;
  double mean, squares; /* the sum of squared differences from the mean */
};

/* Adds those of n_rows truths that are known (not NaN). */
void gpnn_combine_add_truths(struct gpnn_combine_truths *truths, size_t n_rows,
                             const double *truth);

/* Their mean and variance, as a prior; false: there are none, or all are equal. */
bool gpnn_combine_prior(const struct gpnn_combine_truths *truths, double *mean, double *variance);

/*
 * Learns weights from n_rows rows whose truth is known, none of which the models have seen: 'means'
 * and 'variances' n_rows by n.  Rows that a model has no prediction of are left out.  Writes the
 * weights (n; none negative, of sum 1), and of the rule stack the spread and the spare variance:
 * under the rule weights those with the largest likelihood of the mixture, by expectation and
 * maximisation, and under stack those with the least squared error, and the spread with the largest
 * likelihood.  Densities are Student's t with the degrees of freedom 'df' (n_rows by n; above 2, or
 * INFINITY), those of a stack of what these come to.
 *
 * GPNN_EDATA: there are fewer than n + 1 such rows.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_combine_learn(enum gpnn_combine_rule rule, size_t n, size_t n_rows, const double *means,
                   const double *variances, const double *df, const double *truth, double *weights,
                   double *spread, double *spare_variance, struct gpnn_error *err);

/* How good a rule's predictions are (stats/scores/metrics.h). */
struct gpnn_combine_score {
  size_t n; /* rows; 0: the rule predicts none, and the rest means nothing */
  double rmse, nll, cal, crps;
};

/*
 * Scores a rule on rows whose truth is known; 'df' is n_rows by n.  Weights that are learnt and not
 * given are learnt from every other row and scored on the rows between them, and the other way
 * round.  Rows where no variance follows are left out. Outcomes as for gpnn_combine_learn().
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_combine_check(const struct gpnn_combine_settings *settings, size_t n_rows, const double *means,
                   const double *variances, const double *df, const double *truth,
                   struct gpnn_combine_score *score, struct gpnn_error *err);

#endif
