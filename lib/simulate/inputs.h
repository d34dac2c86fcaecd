/*
 * inputs: the distributions that inputs of simulated rows are drawn from.
 */
#ifndef GPNN_SIMULATE_INPUTS_H
#define GPNN_SIMULATE_INPUTS_H

#include <stddef.h>

#include "base/rng.h"

enum gpnn_inputs_law {
  GPNN_INPUTS_NORMAL, /* independent normal coordinates with mean 0 and standard deviation 'scale'
                       */
  GPNN_INPUTS_DISK,   /* uniform on the disk of radius 'scale'; d is 2 */
  GPNN_INPUTS_CUBE,   /* uniform on [-scale, scale]^d */
};

struct gpnn_inputs {
  enum gpnn_inputs_law law;
  size_t d;
  double scale; /* > 0 */
};

/* Draws the d coordinates of one row. */
void gpnn_inputs_draw(const struct gpnn_inputs *inputs, struct gpnn_rng *rng, double *x);

#endif
