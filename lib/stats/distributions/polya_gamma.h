/*
 * polya_gamma: the Polya-Gamma distribution PG(1, 0) of the auxiliary variables that make
 * a logistic likelihood Gaussian (Polson, Scott and Windle 2013; gpnn-methods-classes(7), equations
 * 15.1, 15.16 and 15.17):
 *
 *   1 / (1 + exp(-f)) = 1/2 exp(f/2) E exp(-omega f^2 / 2),  omega ~ PG(1, 0)
 *
 * Threads: no shared state.
 */
#ifndef GPNN_STATS_POLYA_GAMMA_H
#define GPNN_STATS_POLYA_GAMMA_H

#include "stats/distributions/hermite.h"

/*
 * The log density of PG(1, 0) at 'omega' > 0, with the relative error of the density below 1e-15
 * from 0.004 to 2.5 and no loss of digits beyond, where it may be far below the smallest double.
 * '*slope' gets the derivative by the logarithm of 'omega'.
 */
double gpnn_polya_gamma_log_density(double omega, double *slope);

/* The log-normal distribution whose logarithm has mean 'm' and standard deviation 's' > 0. */
struct gpnn_log_normal {
  double m, s;
};

/* The one of least divergence from PG(1, 0). */
struct gpnn_log_normal gpnn_polya_gamma_nearest(void);

/*
 * The Kullback-Leibler divergence of the log-normal distribution 'q' from PG(1, 0), by quadrature
 * over the logarithm.  'slope' gets its derivatives by m and by log s.  With the 20 nodes that
 * 'rule' should have, the error is about 1e-7.
 */
double gpnn_polya_gamma_divergence(struct gpnn_log_normal q, const struct gpnn_hermite *rule,
                                   double slope[2]);

#endif
