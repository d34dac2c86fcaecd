/*
 * privacy: what the noise of a release promises, by the exact accounting of Gaussian noise
 * (gpnn-methods-share(7), equations 21.2 and 21.3).
 *
 * A release is mu-private if telling apart two neighbouring sets of data from it is as hard as
 * telling a normal variable of mean 0 from one of mean mu: mu is the sensitivity in standard
 * deviations of the noise.  It then is (epsilon, delta)-differentially private for a curve of
 * pairs, and no better.
 *
 * Threads: no shared state.
 *
 * Source: Balle and Wang (2018), theorem 8; Dong, Roth and Su (2022), corollaries 1 and 3.
 */
#ifndef GPNN_STATS_PRIVACY_H
#define GPNN_STATS_PRIVACY_H

/* The least epsilon that a mu-private release (mu >= 0, or infinite) has at 'delta' in (0, 1),
 * rounded up; infinite if mu is. */
double gpnn_privacy_epsilon(double delta, double mu);

/* The largest mu of a release that is (epsilon, delta)-private, rounded down; epsilon >= 0, delta
 * in (0, 1).  Its inverse is the standard deviation of the noise for a sensitivity of 1. */
double gpnn_privacy_mu(double epsilon, double delta);

#endif
