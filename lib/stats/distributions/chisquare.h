/*
 * chisquare: the non-central chi-squared distribution, far into either tail
 * (gpnn-methods-simulate(7), equations 11.3 and 11.4).
 *
 * It is the distribution of the squared distance of d independent normal coordinates of unit
 * variance from a point: 'd' >= 1 degrees of freedom and non-centrality 'lambda' >= 0, the squared
 * distance of that point from the mean.  All probabilities are logarithms, so that they may be as
 * small as e^-1e6.
 *
 * With a = d/2, y = x/2, mu = lambda/2, p(b; y) = y^b e^-y / Gamma(b + 1) and J a Poisson variable
 * of mean mu,
 *   F(x)     = sum over s >= 0 of p(a + s; y) P(J <= s),
 *   1 - F(x) = Q(h, y) + sum over s >= h - a of p(a + s; y) P(J > s),
 * where h is 0 for even d and 1/2 for odd, Q(0, y) = 0 and Q(1/2, y) = erfc(sqrt y).  This is the
 * mixture of central distributions with weights P(J) (Johnson, Kotz and Balakrishnan 1995,
 * Continuous Univariate Distributions 2, section 29.3), each written as its own sum.  All terms are
 * positive and log-concave in s.  Only those within a factor e^-40 of the largest are summed: about
 * as many as the square root of d + lambda + x, and at least a dozen.
 *
 * Accuracy, for d, lambda and x up to 1e4: a log probability l has an absolute error
 * of at most 5e-14 (1 + |l|); quantiles have a relative error of 1e-13, each function in its half
 * of the distribution.
 *
 * Threads: no shared state.
 */
#ifndef GPNN_STATS_CHISQUARE_H
#define GPNN_STATS_CHISQUARE_H

#include <stddef.h>

/* log F(x) at any x but NaN; -INFINITY is the log of 0. */
double gpnn_chisquare_log_cdf(double x, size_t d, double lambda);

/*
 * The x with log F(x) = log_p, or with log (1 - F(x)) = log_q, for finite negative logarithms.  The
 * first is for the lower half of the distribution and the second for the upper, as either loses
 * digits where its logarithm approaches 0.  'start' is an initial guess, for instance the quantile
 * of a slightly lower probability, or 0 for none.
 */
double gpnn_chisquare_quantile_lower(double log_p, size_t d, double lambda, double start);
double gpnn_chisquare_quantile_upper(double log_q, size_t d, double lambda, double start);

#endif
