/*
 * combine_private: products of densities, for the rules of combination.
 */
#ifndef GPNN_COMBINE_COMBINE_PRIVATE_H
#define GPNN_COMBINE_COMBINE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "combine/combine.h"

/* A normal density, or of Student's t. */
struct factor {
  double mean, variance, df;
};

struct product {
  size_t n; /* at least 1 */
  const struct factor *factors;
};

/*
 * Finds the Student's t with the mean of the product of densities, of which those around it hold 50
 * % and 95 % in the same intervals: exactly, unless that would take tails lighter than the normal's
 * or degrees of freedom below 2.01; then the widths of both are wrong by the same factor.  Takes
 * some thousand logarithms for each factor.  False: the product is 0 for all that a double can
 * tell.
 */
bool gpnn_combine_density(const struct product *product, struct gpnn_combined *result);

#endif
