/*
 * count: distributions of counts whose mean is the exponential of a latent function f
 * (gpnn-methods-classes(7), equations 14.1 to 14.11).
 *
 * Given f, a count is Poisson with mean e^f, or negative binomial with that mean and dispersion r,
 * whose variance e^f + e^(2f)/r tends to Poisson's as r grows:
 *
 *   log p(y | f) = y f - e^f - log y!
 *   log p(y | f) = log [Gamma(y + r) / (Gamma(r) y!)] - r log(1 + e^f/r) - y log(1 + r e^-f)
 *
 * A prediction knows f only up to a normal distribution.  Moments are then in closed form.  Other
 * integrals over f are sums over equidistant points, which for functions as smooth as these
 * converge faster than any power of the distance; they are accurate to some 1e-8 however
 * narrow a large count makes the integrand, where Gauss and Hermite's rule at the distribution's
 * own points would miss it.
 *
 * For the fit, gpnn_count_site() replaces a count by a pseudo-target of f with a noise variance of
 * its own, so that regression applies.
 *
 * Counts are whole numbers >= 0, held as doubles; others have probability 0.  A NaN gives NaN.
 * Threads: no shared state.
 */
#ifndef GPNN_LIKELIHOOD_COUNT_H
#define GPNN_LIKELIHOOD_COUNT_H

#include <stdbool.h>

/* The distribution of a count, given f. */
struct gpnn_count_law {
  double dispersion; /* r > 0; INFINITY: Poisson */
};

/* What is known of f: that it is normal. */
struct gpnn_count_latent {
  double mean, sd; /* sd >= 0; 0: f is known */
};

/* Derivatives of log p(y | f) by f. */
struct gpnn_count_slopes {
  double gradient;
  double curvature; /* minus the second derivative, >= 0 */
  double weight;    /* its expectation over counts, the Fisher information, > 0 */
};

/* A pseudo-target of f, and the variance of its noise. */
struct gpnn_count_site {
  double target, noise;
};

bool gpnn_count_is_count(double y);

/* ---- given f ------------------------------------------------------------------------------ */

/* The log probability of 'y': -INFINITY unless it is a count. */
double gpnn_count_log_probability(const struct gpnn_count_law *law, double y, double f);

struct gpnn_count_slopes gpnn_count_slopes(const struct gpnn_count_law *law, double y, double f);

/*
 * The step of Fisher's scoring that explains the count y of a row: with f_1 the most likely f given
 * y and the prediction 'latent' of the row from other rows (sd > 0), target f_1 + gradient / weight
 * and noise 1 / weight there.  At f_1, rather than at the prediction itself, a count far from what
 * was predicted changes the target by no more than it should.
 */
struct gpnn_count_site gpnn_count_site(const struct gpnn_count_law *law, double y,
                                       const struct gpnn_count_latent *latent);

/* ---- given a normal f --------------------------------------------------------------------- */

/* Mean and standard deviation; infinite if they exceed the range of a double. */
void gpnn_count_moments(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                        double *mean, double *sd);

/* The log probability of 'y': -INFINITY unless it is a count.  If the most likely f lies beyond
 * +-300, f is taken for known. */
double gpnn_count_marginal(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                           double y);

/* The probability of counts up to y. */
double gpnn_count_cdf(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                      double y);

/* The least count up to which the probability is at least p in (0, 1). */
double gpnn_count_quantile(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                           double p);

/* The probability integral transform at the middle of its step: the probability of counts below y
 * and half that of y itself, so that no random number is needed.  Its mean is 1/2 where predictions
 * are right, but where counts are small it is not uniform. */
double gpnn_count_pit(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                      double y);

/* The continuous ranked probability score: the sum over counts k of (P(count <= k) - [k >= y])^2.
 * Where that has very many terms it is an integral instead, with a relative error below 1e-3. */
double gpnn_count_crps(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                       double y);

#endif
