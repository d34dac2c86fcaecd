/*
 * conjugate: a nearest-neighbour Gaussian process with conjugate priors (Finley et al. 2019,
 * algorithm 5; gpnn-methods(7), equations 7.1 to 7.13).
 *
 * The lengthscales and the noise ratio a = noise / kernelscale are chosen from a grid; everything
 * else has a posterior in closed form.  With the correlation C, M = C + a I in Vecchia's
 * approximation, y ~ N(T beta, s2 M), a flat prior on beta and s2 ~ IG(shape, scale):
 *   V = (T'M^-1 T)^-1,  g = V T'M^-1 y,  a* = shape + (n - p)/2,
 *   b* = scale + 1/2 (y'M^-1 y - g'V^-1 g),
 * with p coefficients: the likelihood is s2^(-n/2) times exponentials, and integrating out the p
 * coefficients under a flat prior contributes s2^(p/2).  (Under a normal prior of variance s2 V0
 * the prior contributes s2^(-p/2) as well, however wide it is; hence Finley et al. write n/2.)
 * A prediction from the nearest rows is Student-t with 2 a* degrees of freedom.  With the
 * parameters
 *   kernelscale s2 = E[s2] = b* / (a* - 1),  noise a s2,  coefficients g,  covariance V s2,
 *   degrees 2 a*,
 * models/local/local.h gives its location and its variance b* v / (a* - 1) exactly.
 *
 * The grid consists of effective ranges (distances at which the correlation has fallen to 0.05) and
 * noise ratios a.  Each point is scored by K-fold cross-validation: the rows of a fold are
 * predicted from their nearest rows in the other folds, under the posterior of those other folds.
 */
#ifndef GPNN_MODELS_CONJUGATE_CONJUGATE_H
#define GPNN_MODELS_CONJUGATE_CONJUGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/index/index.h"
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
  const double *ratio; /* n_groups: lengthscales up to a common factor; NULL: all equal */
  enum gpnn_mean mean;
  size_t neighbours; /* m, of every row and of every prediction */
  size_t n_folds;    /* K >= 2 */
  enum gpnn_conjugate_score score;
  size_t n_ranges;                 /* effective ranges to try, >= 1 */
  double least_range, most_range;  /* the first and the last, geometrically spaced, as fractions of
                                      the rows' extent (the diagonal of their bounding box) */
  size_t n_noises;                 /* noise ratios a to try */
  const double *noises;            /* n_noises, > 0, ascending */
  double prior_shape, prior_scale; /* of s2, > 0; standardised y squared */
  size_t most_rows;                /* cross-validate on at most this many random rows; the posterior
                                      always uses all */
  enum gpnn_search_kind search;    /* as in vecchia/vecchia.h */
  double recall;
  uint64_t seed;
  int threads;
};

/* exp with 15 neighbours and 5 folds, 7 ranges from 1 to 60 % of the extent, noise ratios from
 * 0.001 to 1, and IG(2, 1), whose mean of 1 is the target's variance and whose own variance is
 * infinite. */
void gpnn_conjugate_defaults(struct gpnn_conjugate_options *options);

/* One point of the grid; standardised units. */
struct gpnn_conjugate_point {
  double range;       /* effective range, of inputs divided by their ratio */
  double lengthscale; /* that has this range; multiply by the ratio */
  double noise;       /* the noise ratio a */
  double rmspe, crps; /* NaN: could not be scored */
};

/* Called for each point once it is scored. */
typedef void gpnn_conjugate_listener(void *context, const struct gpnn_conjugate_point *point);

struct gpnn_conjugate_report {
  struct gpnn_conjugate_point best;
  size_t n_points;     /* tried */
  size_t n_scored;     /* rows of the cross-validation */
  bool at_least_range; /* the best point is on an edge of the grid; a wider grid may */
  bool at_most_range;  /* contain a better one */
  bool at_least_noise;
  bool at_most_noise;
};

/*
 * Chooses range and noise ratio and computes the posterior.  'params' must be zeroed and is
 * released by the caller, who also sets the index's fingerprint in it.  'listener' may be NULL.
 * GPNN_EDATA: the terms of the mean are collinear, there are fewer rows than folds, all rows have
 * the same inputs, or rows have known noise, which a conjugate prior cannot account for.
 * GPNN_EINVAL: an option is out of bounds.  GPNN_ENUMERIC: no point of the grid can be scored.
 * Cost: O(K m^3) per cross-validated row and grid point, and O(m^3) per row for the posterior;
 * memory O(n m).  The result does not depend on the number of threads.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_conjugate(const struct gpnn_dataset *dataset, const struct gpnn_conjugate_options *options,
               gpnn_conjugate_listener *listener, void *context, struct gpnn_parameters *params,
               struct gpnn_conjugate_report *report, struct gpnn_error *err);

/*
 * Computes only the posterior: 'params' has the kernel, lengthscales, mean and neighbours, and in
 * 'noise' the ratio a; the rest is filled in.  Of 'options', only the prior, search, seed and
 * threads are used.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_conjugate_posterior(const struct gpnn_dataset *dataset,
                         const struct gpnn_conjugate_options *options,
                         struct gpnn_parameters *params, struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
