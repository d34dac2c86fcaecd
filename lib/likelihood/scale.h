/*
 * scale: how the scale of a predictive distribution depends on the row, and its estimation from
 * rows with known targets (gpnn-methods(7), equations 8.12 to 8.17).
 *
 * A model predicts a row with mean mu and variance v, latent function and noise together.  Under a
 * local scale the target follows Student's t with nu degrees of freedom, location mu and
 *
 *   scale^2 = S exp(c_1 f_1 + c_2 f_2 + ...) v + w
 *
 * where w is what does not depend on the model: the row's known noise, and the variance that the
 * uncertainty of the mean function's coefficients causes.  The feature that matters most is the
 * logarithm of the misfit g = r'K^-1 r / m of the row's neighbours: with c = 1, S = 1 and nu = m
 * this is the Student-t process of the neighbourhood, with c = 0 and nu infinite the Gaussian of
 * the model up to a factor.  Every feature, and then the sum, is
 * clipped to its range in the rows that the coefficients were estimated from, because it means
 * nothing beyond them.
 *
 * S, the coefficients and nu maximise the likelihood of rows that the model has not seen, together
 * with a weak prior, which matters only where rows are few; if intervals then fail to cover their
 * share of rows kept out, S and nu are set so that those of 50 % and 95 % do.  All values are in
 * standardised units. Threads: no shared state.
 */
#ifndef GPNN_LIKELIHOOD_SCALE_H
#define GPNN_LIKELIHOOD_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "kernel/parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The latent function at a row, as a model predicts it (struct gpnn_latent of models/model.h). */
struct gpnn_latent_row {
  double mean, variance;
  double mean_variance; /* the part of the variance due to the mean function's coefficients */
  double misfit, nearest;
  double share; /* of an atom (likelihood/atom.h), if there is one */
};

/* What the squared scale of 'row' is multiplied by, where 'noise' is that of the parameters. */
double gpnn_scale_factor(const struct gpnn_scale *scale, const struct gpnn_latent_row *row,
                         double noise);

/*
 * Makes the scale one that no response has a part in, for answers that are to hide these: each
 * feature that depends on the responses of neighbours (the misfit, the mean and its square) is held
 * in the middle of the range that it is clipped to.
 */
void gpnn_scale_hold_responses(struct gpnn_scale *scale);

/* The part of the variance of the latent function that the factor multiplies, not below 0. */
double gpnn_scale_process(const struct gpnn_latent_row *row);

/* A scale and the degrees of freedom that go with it. */
struct gpnn_scale_law {
  enum gpnn_likelihood likelihood; /* not Gaussian */
  struct gpnn_scale scale;
  double degrees;
};

/* The fewest degrees of freedom that are estimated: at 2 there is no standard deviation. */
#define GPNN_SCALE_FEWEST_DEGREES 2.05

/* Rows with known targets, and what a model predicted there; all borrowed, n numbers each. */
struct gpnn_scale_rows {
  size_t n;
  const double *y, *mean, *variance;
  const double *mean_variance; /* NULL: 0 */
  const double *misfit;
  const double *nearest;     /* NULL: not to be used */
  const double *known_noise; /* NULL: 0 */
  double noise;              /* of the parameters */
  const double *own_noise;   /* of the parameters that predicted each row, if they differ; NULL:
                                'noise' for all */
  size_t cluster_rows;       /* errors may be correlated within each run of this many rows */
};

/*
 * Estimates the law that suits 'n' > 0 rows.  Under GPNN_LIKELIHOOD_LOCAL the scale depends on the
 * misfit, and on the other features as well ('all_features') if together they lower the loss of
 * rows kept out of the estimation by more than one standard error.  GPNN_ENUMERIC: a prediction is
 * not finite.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_scale_fit(const struct gpnn_scale_rows *rows,
                                                enum gpnn_likelihood likelihood, bool all_features,
                                                struct gpnn_scale_law *law, struct gpnn_error *err);

/*
 * Writes to 'loss' (n) the negative log density of each row, and to 'crps' (n), unless that is
 * NULL, its continuous ranked probability score, under a law estimated from other rows
 * ('folds' >= 2 laws in all, or as many as there are rows; each from at most 'most' rows, 0: any
 * number), so that no row excuses its own error.  Local scales depend on the misfit alone, or on
 * all features.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_scale_cross_losses(const struct gpnn_scale_rows *rows,
                                                         enum gpnn_likelihood likelihood,
                                                         bool all_features, size_t folds,
                                                         size_t most, double *loss, double *crps,
                                                         struct gpnn_error *err);

/*
 * The standard error of log S, by the jackknife over up to 20 groups of consecutive rows: heavy
 * tails make it larger than the number of rows suggests.  Infinite if there is one group only.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_scale_standard_error(const struct gpnn_scale_rows *rows,
                                                           const struct gpnn_scale_law *law,
                                                           double *standard_error,
                                                           struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
