#include "simulate/views.h"

#include <math.h>

#include "base/rng.h"

struct gpnn_views_object gpnn_views_draw(const struct gpnn_views_options *options, uint64_t number)
{
  const double r = options->correlation, rest = sqrt((1 - r) * (1 + r));
  struct gpnn_rng rng;
  double z[3];
  gpnn_rng_init_at(&rng, options->seed, GPNN_RNG_VIEWS, number);
  gpnn_rng_normals(&rng, 3, z);
  const double second = options->dependent ? z[1] : z[2];
  return (struct gpnn_views_object){z[0], {r * z[0] + rest * z[1], r * z[0] + rest * second}};
}

bool gpnn_views_seen(enum gpnn_views_mask mask, const struct gpnn_views_object *object)
{
  switch (mask) {
  case GPNN_VIEWS_FIRST:
    return object->x[0] > 0;
  case GPNN_VIEWS_SECOND:
    return object->x[1] < 0;
  default:
    return true;
  }
}
