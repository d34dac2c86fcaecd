/*
 * binomial: the binomial distribution, for how far a counted share may be off by chance.
 */
#ifndef GPNN_STATS_BINOMIAL_H
#define GPNN_STATS_BINOMIAL_H

#include <stddef.h>

/*
 * The least k with P(K <= k) >= 'q', where K is the number of successes in 'n' trials of
 * probability 'p', for p in [0, 1] and q in (0, 1).  By adding probabilities up, some 20 standard
 * deviations of them at most: O(sqrt(n)).
 */
size_t gpnn_binomial_quantile(size_t n, double p, double q);

#endif
