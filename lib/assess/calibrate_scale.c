#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assess/calibrate_private.h"
#include "base/memory.h"
#include "likelihood/head.h"
#include "linalg/arrays.h"

/* The predictions of the latent function at the rows. */
struct predicted {
  double *mean, *variance, *mean_variance, *misfit, *nearest; /* owned; channels by rows */
  double *noise; /* owned; of the parameters that predicted each row; NULL: those of the model */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static void predicted_release(struct predicted *p)
{
  gpnn_arrays_free(p->arrays);
  free(p->noise);
}

static bool predicted_alloc(struct predicted *p, size_t n_channels, size_t n)
{
  p->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(p->mean, n_channels, n), GPNN_ARRAY(p->variance, n_channels, n),
                  GPNN_ARRAY(p->mean_variance, n_channels, n), GPNN_ARRAY(p->misfit, n_channels, n),
                  GPNN_ARRAY(p->nearest, n_channels, n));
  return p->arrays != NULL;
}

/* Predicts training rows by parameters that have not seen them, for all channels of the cross-fit.
 */
static enum gpnn_status predict_across(const struct gpnn_crossfit *crossfit,
                                       const struct gpnn_query *query,
                                       const struct gpnn_latent *latent, struct predicted *p,
                                       struct gpnn_calibrate_report *result, size_t channel,
                                       struct gpnn_error *err)
{
  size_t n_channels = gpnn_crossfit_n_channels(crossfit);
  struct gpnn_counts *counts = gpnn_alloc(n_channels, 1, sizeof *counts);
  p->noise = gpnn_alloc(n_channels, query->n, sizeof *p->noise);
  enum gpnn_status status =
      counts == NULL || p->noise == NULL ? gpnn_fail_memory(err, "for calibration") : GPNN_OK;
  if (status == GPNN_OK)
    status = gpnn_crossfit_predict(crossfit, query->n, query->self, latent, p->noise, counts, err);
  if (status == GPNN_OK) result->counts = counts[channel];
  free(counts);
  return status;
}

static enum gpnn_status predict(const struct gpnn_model *model,
                                const struct gpnn_calibrate_options *options,
                                const struct gpnn_query *query, struct predicted *p,
                                struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  bool across = options->on == GPNN_CALIBRATE_CROSS_FITTED;
  size_t n_channels = across ? gpnn_crossfit_n_channels(options->crossfit) : 1;
  if (!predicted_alloc(p, n_channels, query->n)) return gpnn_fail_memory(err, "for calibration");
  const struct gpnn_latent latent = {.mean = p->mean,
                                     .variance = p->variance,
                                     .mean_variance = p->mean_variance,
                                     .misfit = p->misfit,
                                     .nearest = p->nearest};
  return across
             ? predict_across(options->crossfit, query, &latent, p, result, options->channel, err)
             : gpnn_model_predict(model, query, &latent, &result->counts, err);
}

/* Sets z: the errors in standard deviations of the law found. */
static enum gpnn_status set_z(const struct gpnn_scale_rows *rows,
                              const struct gpnn_parameters *given,
                              struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  struct gpnn_parameters params = *given;
  bool has_error = false;
  params.scale = result->law.scale;
  params.degrees = result->law.degrees;
  params.covariance.noise = gpnn_parameters_noise(given);
  params.n_members = 0;                    /* the noise is now that of all members */
  params.calibration.has_distance = false; /* an earlier calibration says nothing of this law */
  const struct gpnn_head head = gpnn_head_of(&params);
  for (size_t i = 0; i < rows->n; i++) {
    const struct gpnn_latent_row row = {rows->mean[i], rows->variance[i], rows->mean_variance[i],
                                        rows->misfit[i], rows->nearest[i]};
    double known = rows->known_noise == NULL ? 0 : rows->known_noise[i];
    if (rows->own_noise != NULL) params.covariance.noise = rows->own_noise[i];
    double error = rows->y[i] - row.mean;
    has_error = has_error || error != 0;
    result->z[i] = error == 0 ? 0 : error / sqrt(gpnn_head_observe(&head, &row, known).variance);
  }
  if (has_error) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENUMERIC,
                   "every calibration row is predicted without error, so there is no scale");
}

/* Estimates the law, and its standard error. */
static enum gpnn_status estimate(const struct gpnn_scale_rows *rows,
                                 const struct gpnn_parameters *params,
                                 struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  double of_log = INFINITY;
  enum gpnn_status status = gpnn_scale_fit(rows, params->likelihood, true, &result->law, err);
  if (status == GPNN_OK) status = gpnn_scale_standard_error(rows, &result->law, &of_log, err);
  if (status == GPNN_OK) status = set_z(rows, params, result, err);
  result->by_scale = true;
  result->alpha = result->law.scale.factor;
  result->standard_error = of_log * result->alpha;
  return status;
}

enum gpnn_status gpnn_calibrate_scale(const struct gpnn_model *model,
                                      const struct gpnn_calibrate_options *options,
                                      const struct gpnn_heldout *rows,
                                      struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  const struct gpnn_parameters *params = gpnn_model_channel(model, 0)->parameters;
  struct predicted p = {0};
  size_t n = rows->query.n;
  size_t at = options->on == GPNN_CALIBRATE_CROSS_FITTED ? options->channel * n : 0;
  enum gpnn_status status = predict(model, options, &rows->query, &p, result, err);
  if (status == GPNN_OK) {
    const struct gpnn_scale_rows scale_rows = {.n = n,
                                               .y = rows->y,
                                               .mean = p.mean + at,
                                               .variance = p.variance + at,
                                               .mean_variance = p.mean_variance + at,
                                               .misfit = p.misfit + at,
                                               .nearest = p.nearest + at,
                                               .known_noise = rows->noise,
                                               .noise = gpnn_parameters_noise(params),
                                               .own_noise = p.noise == NULL ? NULL : p.noise + at,
                                               .cluster_rows = rows->cluster_rows};
    memcpy(result->nearest, p.nearest + at, n * sizeof *p.nearest);
    status = estimate(&scale_rows, params, result, err);
  }
  predicted_release(&p);
  return status;
}
