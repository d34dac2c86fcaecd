#include "methods/predict.h"

#include <math.h>

/* From standardised mean and latent variance to what was asked for, in place. */
static void finish(const struct gpnn_localgp *gp, const struct gpnn_predict_options *options,
                   size_t n, double *mean, double *sd)
{
  const struct gpnn_standard *standard = &gpnn_localgp_data(gp)->standard;
  const struct gpnn_params *params = gpnn_localgp_params(gp);
  size_t m = gpnn_localgp_neighbours(gp);
  double gamma = options->debias ? 1 + params->noise / ((double)m * params->kernelscale) : 1;
  bool original = options->units == GPNN_UNITS_ORIGINAL;
  double scale = original ? standard->y_sd : 1;
  double centre = original ? standard->y_mean : 0;
  double noise = options->latent ? 0 : params->noise;
  for (size_t i = 0; i < n; i++) mean[i] = centre + scale * gamma * mean[i];
  for (size_t i = 0; i < n && sd != NULL; i++) sd[i] = scale * sqrt(sd[i] + noise);
}

enum gpnn_status gpnn_predict_rows(const struct gpnn_localgp *gp,
                                   const struct gpnn_predict_options *options, size_t n_rows,
                                   const double *features, double *z, double *mean, double *sd,
                                   struct gpnn_localgp_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_standard *standard = &gpnn_localgp_data(gp)->standard;
  if (options->mean_only) sd = NULL;
  for (size_t i = 0; i < n_rows; i++)
    gpnn_standard_apply(standard, features + i * standard->n_in, z + i * standard->n_out);
  struct gpnn_points points = {.n = n_rows, .x = z};
  struct gpnn_prediction prediction = {.mean = mean, .latent = sd};
  enum gpnn_status status = gpnn_localgp_predict(gp, &points, &prediction, counts, err);
  if (status == GPNN_OK) finish(gp, options, n_rows, mean, sd);
  return status;
}

double gpnn_predict_target(const struct gpnn_index_contents *contents, enum gpnn_units units,
                           double y)
{
  const struct gpnn_standard *standard = &contents->standard;
  return units == GPNN_UNITS_ORIGINAL ? y : (y - standard->y_mean) / standard->y_sd;
}
