/*
 * conjugate: a nearest-neighbour Gaussian process with conjugate priors (Finley et al. 2019,
 * algorithm 5; gpnn-methods(7), equations 7.1 to 7.13).
 *
 * The correlation C and the ratio a = noise / kernelscale are held at values tried on a grid; all
 * else has a posterior in closed form.  With M = C + a I in Vecchia's form, y ~ N(T beta, s2 M),
 * a flat prior on beta and s2 ~ IG(shape, scale):
 *   V = (T'M^-1 T)^-1,  g = V T'M^-1 y,  a* = shape + (n - p)/2,
 *   b* = scale + 1/2 (y'M^-1 y - g'V^-1 g),
 * with p coefficients: the likelihood is s2^(-n/2) times exponentials, and integrating the p
 * coefficients out, which a flat prior leaves to the data alone, gives s2^(p/2) back.  (A normal
 * prior of variance s2 V0 brings a factor s2^(-p/2) of its own, which makes that n/2 however wide
 * it is: Finley et al. write n/2.)
 * A prediction from the nearest rows is Student-t with 2 a* degrees of freedom.  The parameters
 * written,
 *   kernelscale s2 = E[s2] = b* / (a* - 1),  noise a s2,  coefficients g,  covariance V s2,
 *   degrees 2 a*,
 * make models/local/local.h give its location and its variance b* v / (a* - 1), exactly.
 *
 * The grid: effective ranges (distances at which the correlation has fallen to 0.05) and ratios
 * a, each scored by K-fold cross-validation: a fold's rows are predicted from their nearest rows
 * of the other folds, under the posterior of the other folds alone.
 */
#ifndef GPNN_MODELS_CONJUGATE_CONJUGATE_H
#define GPNN_MODELS_CONJUGATE_CONJUGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/index.h"
#include "kernel/parameters.h"
#include "search/search.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gpnn_conjugate_score {
  GPNN_CONJUGATE_RMSPE = 0, /* root of the mean squared error */
  GPNN_CONJUGATE_CRPS = 1,  /* of a normal distribution with the prediction's variance */
};

struct gpnn_conjugate_options {
  const struct gpnn_kernel *kernel;
  double smoothness;   /* of the general Matern kernel */
  const double *ratio; /* lengthscales of the groups of inputs up to a common
                          factor; NULL: all equal */
  enum gpnn_mean mean;
  size_t neighbours; /* m, of every row and of every prediction */
  size_t n_folds;    /* K >= 2 */
  enum gpnn_conjugate_score score;
  size_t n_ranges;                 /* effective ranges to try, >= 1 */
  double least_range, most_range;  /* the first and the last, in equal ratios between, as
                                      shares of the rows' extent (the diagonal of their box) */
  size_t n_noises;                 /* ratios a to try */
  const double *noises;            /* n_noises of them, > 0, rising */
  double prior_shape, prior_scale; /* of s2, > 0; standardised y squared */
  size_t most_rows;                /* rows of the cross-validation: all, or this many random
                                      ones; the posterior takes all */
  enum gpnn_search_kind search;    /* as in vecchia/vecchia.h */
  double recall;
  uint64_t seed;
  int threads;
};

/* exp with 15 neighbours and 5 folds, 7 ranges of 1 to 60 % of the extent, ratios of 0.001 to 1,
 * IG(2, 1): a prior mean of 1, which is the target's variance, and no prior variance. */
void gpnn_conjugate_defaults(struct gpnn_conjugate_options *options);

/* One thing tried; standardised units. */
struct gpnn_conjugate_point {
  double range;       /* effective, in standardised inputs (over the ratio) */
  double lengthscale; /* that gives it (times the ratio) */
  double noise;       /* the ratio a */
  double rmspe, crps; /* NaN: could not be scored */
};

/* Is told of each once it is scored. */
typedef void gpnn_conjugate_listener(void *context, const struct gpnn_conjugate_point *point);

struct gpnn_conjugate_report {
  struct gpnn_conjugate_point best;
  size_t n_points;     /* tried */
  size_t n_scored;     /* rows of the cross-validation */
  bool at_least_range; /* the best is the first or the last of the ranges or ratios tried: */
  bool at_most_range;  /* a wider grid may have a better one */
  bool at_least_noise;
  bool at_most_noise;
};

/*
 * Chooses range and ratio and computes the posterior.  'params' must be zeroed and is released by
 * the caller, who also sets the index's fingerprint in it.  'listener' may be NULL.
 * GPNN_EDATA: the terms of the mean are collinear, there are fewer rows than folds, they have no
 * extent, or they have known noise, for which a conjugate prior has no place.  GPNN_EINVAL: an
 * option is out of its bounds.  GPNN_ENUMERIC: nothing on the grid can be scored.
 * Cost O(K m^3) a row of the cross-validation and thing tried, O(m^3) a row of all; memory
 * O(n m).  The result does not depend on the number of threads.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_conjugate(const struct gpnn_dataset *dataset, const struct gpnn_conjugate_options *options,
               gpnn_conjugate_listener *listener, void *context, struct gpnn_parameters *params,
               struct gpnn_conjugate_report *report, struct gpnn_error *err);

/*
 * The posterior alone, for given parameters: 'params' has kernel, lengthscales, mean and
 * neighbours, and in 'noise' the ratio a; it gets the rest.  Uses of 'options' the prior, the
 * search, seed and threads.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_conjugate_posterior(const struct gpnn_dataset *dataset,
                         const struct gpnn_conjugate_options *options,
                         struct gpnn_parameters *params, struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
