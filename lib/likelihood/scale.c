#include "likelihood/scale.h"

#include <math.h>

#include "likelihood/scale_private.h"

/* Duplicates and tied targets make arguments 0; rows without neighbours make them infinite. */
static double bounded_log(double value)
{
  static const double least = 1e-6, most = 1e6;
  return log(fmin(fmax(value, least), most));
}

double gpnn_scale_feature(enum gpnn_scale_feature feature, const struct gpnn_latent_row *row,
                          double noise)
{
  double of_process = gpnn_scale_process(row);
  double mean = fmin(fmax(row->mean, -1e6), 1e6);
  switch (feature) {
  case GPNN_SCALE_MISFIT:
    return bounded_log(row->misfit);
  case GPNN_SCALE_NEAREST:
    return bounded_log(row->nearest);
  case GPNN_SCALE_SHARE:
    return of_process == 0 ? bounded_log(0) : bounded_log(of_process / (of_process + noise));
  case GPNN_SCALE_MEAN:
    return mean;
  case GPNN_SCALE_MEAN_SQUARE:
    return mean * mean;
  case GPNN_SCALE_FEATURES:
    break;
  }
  return 0;
}

static double clip(const struct gpnn_scale_term *term, double value)
{
  return fmin(fmax(value, term->low), term->high);
}

void gpnn_scale_hold_responses(struct gpnn_scale *scale)
{
  static const enum gpnn_scale_feature of_responses[] = {GPNN_SCALE_MISFIT, GPNN_SCALE_MEAN,
                                                         GPNN_SCALE_MEAN_SQUARE};
  for (size_t i = 0; i < sizeof of_responses / sizeof *of_responses; i++) {
    struct gpnn_scale_term *term = &scale->term[of_responses[i]];
    const double held = term->coefficient * (0.5 * term->low + 0.5 * term->high);
    if (term->coefficient == 0) continue;
    scale->factor = (scale->factor > 0 ? scale->factor : 1) * exp(held);
    scale->low -= held; /* equal ones, which are no range, stay equal */
    scale->high -= held;
    *term = (struct gpnn_scale_term){0};
  }
}

double gpnn_scale_process(const struct gpnn_latent_row *row)
{
  return fmax(row->variance - row->mean_variance, 0);
}

double gpnn_scale_factor(const struct gpnn_scale *scale, const struct gpnn_latent_row *row,
                         double noise)
{
  double exponent = 0, factor = scale->factor > 0 ? scale->factor : 1;
  for (int j = 0; j < GPNN_SCALE_FEATURES; j++) {
    const struct gpnn_scale_term *term = &scale->term[j];
    if (term->coefficient == 0) continue;
    double feature = gpnn_scale_feature((enum gpnn_scale_feature)j, row, noise);
    exponent += term->coefficient * clip(term, feature);
  }
  if (scale->low != scale->high) exponent = fmin(fmax(exponent, scale->low), scale->high);
  return factor * exp(exponent);
}
