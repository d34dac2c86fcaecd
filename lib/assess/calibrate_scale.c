#include <math.h>
#include <stdlib.h>

#include "assess/calibrate_private.h"
#include "base/memory.h"
#include "likelihood/head.h"

/* The predictions of the latent function at the rows. */
struct predicted {
  double *mean, *variance, *mean_variance, *misfit; /* owned */
};

static void predicted_release(struct predicted *p)
{
  free(p->mean);
  free(p->variance);
  free(p->mean_variance);
  free(p->misfit);
}

static enum gpnn_status predict(const struct gpnn_model *model, const struct gpnn_query *query,
                                struct predicted *p, struct gpnn_calibrate_report *result,
                                struct gpnn_error *err)
{
  p->mean = gpnn_alloc(query->n, 1, sizeof *p->mean);
  p->variance = gpnn_alloc(query->n, 1, sizeof *p->variance);
  p->mean_variance = gpnn_alloc(query->n, 1, sizeof *p->mean_variance);
  p->misfit = gpnn_alloc(query->n, 1, sizeof *p->misfit);
  if (!p->mean || !p->variance || !p->mean_variance || !p->misfit)
    return gpnn_fail_memory(err, "for calibration");
  const struct gpnn_latent latent = {.mean = p->mean,
                                     .variance = p->variance,
                                     .mean_variance = p->mean_variance,
                                     .misfit = p->misfit,
                                     .nearest = result->nearest};
  return gpnn_model_predict(model, query, &latent, &result->counts, err);
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
  const struct gpnn_head head = gpnn_head_of(&params);
  for (size_t i = 0; i < rows->n; i++) {
    const struct gpnn_latent_row row = {rows->mean[i], rows->variance[i], rows->mean_variance[i],
                                        rows->misfit[i], rows->nearest[i]};
    double known = rows->known_noise == NULL ? 0 : rows->known_noise[i];
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
                                      const struct gpnn_heldout *rows,
                                      struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  const struct gpnn_parameters *params = gpnn_model_channel(model, 0)->parameters;
  struct predicted p = {0};
  enum gpnn_status status = predict(model, &rows->query, &p, result, err);
  const struct gpnn_scale_rows scale_rows = {.n = rows->query.n,
                                             .y = rows->y,
                                             .mean = p.mean,
                                             .variance = p.variance,
                                             .mean_variance = p.mean_variance,
                                             .misfit = p.misfit,
                                             .nearest = result->nearest,
                                             .known_noise = rows->noise,
                                             .noise = params->covariance.noise,
                                             .cluster_rows = rows->cluster_rows};
  if (status == GPNN_OK) status = estimate(&scale_rows, params, result, err);
  predicted_release(&p);
  return status;
}
