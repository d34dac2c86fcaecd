#include "likelihood/distribution.h"

#include <math.h>

#include "stats/transform.h"

static double in_table(const struct gpnn_target_warp *target, double y)
{
  return target->centre + target->scale * y;
}

static double in_units(const struct gpnn_target_warp *target, double y)
{
  return (y - target->centre) / target->scale;
}

static double forward(const void *context, double y)
{
  const struct gpnn_target_warp *target = context;
  return gpnn_transform_apply(target->transform, in_table(target, y));
}

static double inverse(const void *context, double w)
{
  const struct gpnn_target_warp *target = context;
  return in_units(target, gpnn_transform_invert(target->transform, w));
}

static double log_derivative(const void *context, double y)
{
  const struct gpnn_target_warp *target = context;
  return gpnn_transform_log_slope(target->transform, in_table(target, y)) + log(target->scale);
}

static double kink(const void *context, size_t i)
{
  const struct gpnn_target_warp *target = context;
  return gpnn_transform_kink(target->transform, i);
}

struct gpnn_warp gpnn_target_warp_function(const struct gpnn_target_warp *target)
{
  double lower, upper;
  gpnn_transform_bounds(target->transform, &lower, &upper);
  return (struct gpnn_warp){.context = target,
                            .forward = forward,
                            .inverse = inverse,
                            .log_derivative = log_derivative,
                            .lower = in_units(target, lower),
                            .upper = in_units(target, upper),
                            .n_kinks = gpnn_transform_n_kinks(target->transform),
                            .kink = kink};
}
