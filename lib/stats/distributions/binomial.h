/*
 * binomial: the binomial distribution, for how far a counted fraction may be off by chance.
 * Threads: no shared state.
 */
#ifndef GPNN_STATS_BINOMIAL_H
#define GPNN_STATS_BINOMIAL_H

#include <stddef.h>

/*
 * The 'q' quantile, q in (0, 1), of the number K of successes in 'n' trials of probability 'p' in
 * [0, 1]: the least k with P(K <= k) >= q; 0 without trials.  It adds up the probabilities within
 * ten standard deviations of the mean, in time O(sqrt(n)).
 */
size_t gpnn_binomial_quantile(size_t n, double p, double q);

/* The same where 'p' is itself drawn, from the beta distribution with parameters 'a' and 'b' > 0:
 * K is beta-binomial.  Time grows with its standard deviation. */
size_t gpnn_beta_binomial_quantile(size_t n, double a, double b, double q);

#endif
