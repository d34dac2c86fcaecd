#include "simulate/inputs.h"

#include <math.h>

static const double two_pi = 6.28318530717958647692;

void gpnn_inputs_draw(const struct gpnn_inputs *inputs, struct gpnn_rng *rng, double *x)
{
  if (inputs->law == GPNN_INPUTS_DISK) {
    double radius = inputs->scale * sqrt(gpnn_rng_uniform(rng));
    double angle = two_pi * gpnn_rng_uniform(rng);
    x[0] = radius * cos(angle);
    x[1] = radius * sin(angle);
  } else if (inputs->law == GPNN_INPUTS_NORMAL) {
    gpnn_rng_normals(rng, inputs->d, x);
    for (size_t j = 0; j < inputs->d; j++) x[j] *= inputs->scale;
  } else {
    for (size_t j = 0; j < inputs->d; j++) x[j] = inputs->scale * (2 * gpnn_rng_uniform(rng) - 1);
  }
}
