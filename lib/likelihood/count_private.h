/*
 * count_private: what the sources of count.h share.
 */
#ifndef GPNN_LIKELIHOOD_COUNT_PRIVATE_H
#define GPNN_LIKELIHOOD_COUNT_PRIVATE_H

#include <math.h>

#include "likelihood/count.h"

/* log p(y | f) is the sum of a constant and of a part that depends on f; y need not be whole. */
double gpnn_count_constant(const struct gpnn_count_law *law, double y);
double gpnn_count_variable_part(const struct gpnn_count_law *law, double y, double f);

/* The latter for y > 0, where f = log y + off: without the digits that log y would cost. */
double gpnn_count_near_best(const struct gpnn_count_law *law, double y, double off);

/* The mode of p(y | f) times the density of f; sd > 0. */
double gpnn_count_mode(const struct gpnn_count_law *law, double y,
                       const struct gpnn_count_latent *latent);

/* The probability of counts up to k > -1, which need not be whole: then it lies between those of
 * the counts on either side. */
double gpnn_count_cdf_at(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                         double k);

/* The distance of points, for sums over f of something as wide as 'width': no more than 1/2 because
 * e^f itself varies over a unit of f. */
static inline double gpnn_count_step(double width)
{
  return fmin(0.4 * width, 0.5);
}

#endif
