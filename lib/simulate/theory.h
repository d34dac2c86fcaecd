/*
 * theory: what is proved of predictions from nearest neighbours as the training rows grow without
 * bound (gpnn-methods-simulate(7), section 11).
 */
#ifndef GPNN_SIMULATE_THEORY_H
#define GPNN_SIMULATE_THEORY_H

#include <stddef.h>
#include <stdint.h>

struct gpnn_theory_limits {
  double mse, nll, cal;
};

/* MSE, NLL and CAL as n goes to infinity with 'm' >= 1 neighbours, each up to O(m^-2)
 * (gpnn-methods-simulate(7), equations 11.14 to 11.16), if the noise variance is 'noise' and is
 * assumed to be 'assumed' > 0. */
struct gpnn_theory_limits gpnn_theory_limits(double noise, double assumed, size_t m);

/* Stone's exponent -2p / (2p + d): how fast the risk can fall with n, for functions of smoothness p
 * of d inputs. */
double gpnn_theory_exponent(double p, size_t d);

/* The number of neighbours m_n = ceil(C n^(2p / (2p + d))) at which that rate is reached; C is such
 * that it is 'largest_m' at n = 'largest_n'.  At least 1 and at most 'n' (gpnn-methods-simulate(7),
 * equation 11.18). */
size_t gpnn_theory_schedule(double p, size_t d, size_t largest_m, uint64_t largest_n, uint64_t n);

#endif
