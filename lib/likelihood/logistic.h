/*
 * logistic: the probability of one of two signs under a logistic likelihood, where the latent
 * function is known up to a normal distribution (gpnn-methods-classes(7), equation 15.4):
 *
 *   p(sign) = E 1 / (1 + exp(-sign f)),  f ~ N(mean, variance)
 *
 * by Gauss-Hermite quadrature: with 16 nodes and, where they are too few, beyond a standard
 * deviation of 4, with 32.  The relative error of p is below 1e-8 at a standard deviation of 1, and
 * reaches 1e-4 at 2, 2 % at 4 and at 6, and 7 % at 10.  Threads: no shared state.
 */
#ifndef GPNN_LIKELIHOOD_LOGISTIC_H
#define GPNN_LIKELIHOOD_LOGISTIC_H

#include <math.h>

#include "stats/distributions/hermite.h"

/* log(1 + exp(u)); that of -u, negated, is the log of the sigmoid 1 / (1 + exp(-u)). */
static inline double gpnn_logistic_softplus(double u)
{
  return fmax(u, 0) + log1p(exp(-fabs(u)));
}

/* That sigmoid. */
static inline double gpnn_logistic_sigmoid(double u)
{
  return u > 0 ? 1 / (1 + exp(-u)) : exp(u) / (1 + exp(u));
}

struct gpnn_logistic {
  struct gpnn_hermite few, many;
};

/* The derivatives of log p. */
struct gpnn_logistic_slopes {
  double mean, variance;
};

void gpnn_logistic_init(struct gpnn_logistic *logistic);

/* log p(sign) for a 'sign' of 1 or -1 and 'variance' > 0, with all digits where p is tiny.
 * 'slopes' may be NULL. */
double gpnn_logistic_log_probability(const struct gpnn_logistic *logistic, double sign, double mean,
                                     double variance, struct gpnn_logistic_slopes *slopes);

#endif
