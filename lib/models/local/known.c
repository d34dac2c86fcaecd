#include "models/local/known.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

struct gpnn_known_rows gpnn_known_held_out(const struct gpnn_dataset *dataset)
{
  return (struct gpnn_known_rows){.points = {.n = dataset->n_calibration,
                                             .x = dataset->calibration_x,
                                             .regressors = dataset->calibration_regressors},
                                  .y = dataset->calibration_y,
                                  .noise = dataset->calibration_noise,
                                  .together = 1};
}

enum gpnn_status gpnn_known_scores(const struct gpnn_localgp *gp,
                                   const struct gpnn_known_rows *rows, double *z, double *nearest,
                                   struct gpnn_localgp_counts *counts, struct gpnn_error *err)
{
  size_t n = rows->points.n;
  double noise = gpnn_localgp_params(gp)->covariance.noise;
  double *latent = gpnn_alloc(n, 1, sizeof *latent);
  if (latent == NULL) return gpnn_fail_memory(err, "for calibration");
  struct gpnn_prediction prediction = {.mean = z, .latent = latent, .nearest = nearest};
  enum gpnn_status status = gpnn_localgp_predict(gp, &rows->points, &prediction, counts, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    double variance = latent[i] + noise + (rows->noise == NULL ? 0 : rows->noise[i]);
    double error = rows->y[i] - z[i];
    z[i] = error == 0 ? 0 : error / sqrt(variance);
    if (!isfinite(z[i]))
      status = gpnn_fail(err, GPNN_ENUMERIC, "a row is predicted without uncertainty, and wrongly");
  }
  free(latent);
  return status;
}
