/*
 * chisquare: the non-central chi-squared distribution, far in either tail (gpnn-methods(7),
 * equations 11.3 and 11.4).
 *
 * The law of the squared distance of d independent normal coordinates of unit variance from a
 * point: 'd' >= 1 degrees of freedom, non-centrality 'lambda' >= 0, the square of the distance of
 * that point from the mean.  Everything is in logarithms, so that probabilities may be as small as
 * e^-1e6.  With a = d/2, y = x/2, mu = lambda/2, p(b; y) = y^b e^-y / Gamma(b + 1) and J a Poisson
 * variable of mean mu,
 *   F(x)     = sum over s >= 0 of p(a + s; y) P(J <= s),
 *   1 - F(x) = Q(h, y) + sum over s >= h - a of p(a + s; y) P(J > s),
 * where h is 0 for even d and 1/2 for odd, Q(0, y) = 0 and Q(1/2, y) = erfc(sqrt y): the mixture of
 * central laws by J (Johnson, Kotz and Balakrishnan 1995, Continuous Univariate Distributions 2,
 * 29.3), each of them written out.  All terms are positive and log-concave in s; only those within
 * e^-40 of the largest are summed, about as many as the square root of d + lambda + x, at least a
 * dozen.
 *
 * Accuracy, for d, lambda and x up to 1e4: log probabilities and log densities l to an absolute
 * error of 5e-14 (1 + |l|) at most; quantiles to 1e-13 of themselves in the lower half, and in the
 * upper half of the distribution.
 */
#ifndef GPNN_STATS_CHISQUARE_H
#define GPNN_STATS_CHISQUARE_H

#include <stddef.h>

/* log F(x), log (1 - F(x)) and the log of the density.  -INFINITY is the log of 0. */
double gpnn_chisquare_log_cdf(double x, size_t d, double lambda);
double gpnn_chisquare_log_survival(double x, size_t d, double lambda);
double gpnn_chisquare_log_density(double x, size_t d, double lambda);

/*
 * The x with log F(x) = log_p, and with log (1 - F(x)) = log_q, for finite logarithms < 0: the
 * first for probabilities below 1/2, the second for those above, as either loses its digits where
 * its logarithm comes near 0.  'start' is a guess, or 0 for none; the quantile of a slightly lower
 * probability is a good one.
 */
double gpnn_chisquare_quantile_lower(double log_p, size_t d, double lambda, double start);
double gpnn_chisquare_quantile_upper(double log_q, size_t d, double lambda, double start);

#endif
