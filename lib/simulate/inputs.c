#include "simulate/inputs.h"

#include <math.h>
#include <string.h>

static const double two_pi = 6.28318530717958647692;

static const char *const names[] = {
    [GPNN_INPUTS_NORMAL] = "normal",
    [GPNN_INPUTS_DISK] = "disk",
    [GPNN_INPUTS_CUBE] = "cube",
};

bool gpnn_inputs_by_name(const char *name, enum gpnn_inputs_law *law)
{
  for (int i = GPNN_INPUTS_NORMAL; i <= GPNN_INPUTS_CUBE; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *law = (enum gpnn_inputs_law)i;
    return true;
  }
  return false;
}

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
