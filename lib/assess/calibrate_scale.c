#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assess/calibrate_private.h"
#include "base/memory.h"
#include "likelihood/atom.h"
#include "linalg/arrays.h"

/* The predictions of the latent function at the rows. */
struct predicted {
  double *mean, *variance, *mean_variance, *misfit, *nearest; /* owned; channels by rows */
  double *noise; /* owned; of the parameters that predicted each row; NULL: those of the model */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
  struct gpnn_atom atom;      /* that the targets may be at; share 0: none */
  double at;                  /* standardised */
  double *atoms; /* owned; of each channel, as are the following; NULL: there is no atom */
  double *share;
  bool *is_at; /* of the rows of the channel */
};

static void predicted_release(struct predicted *p)
{
  gpnn_arrays_free(p->arrays);
  free(p->noise);
  free(p->atoms);
  free(p->share);
  free(p->is_at);
}

/* Looks for an atom, and makes room for what concerns it. */
static enum gpnn_status find_atom(const struct gpnn_channel *channel, size_t n_channels,
                                  size_t number, const struct gpnn_heldout *rows,
                                  struct predicted *p, struct gpnn_error *err)
{
  size_t n = rows->query.n;
  enum gpnn_status status = gpnn_atom_find(channel->dataset, channel->parameters, &p->atom, err);
  if (status != GPNN_OK || !(p->atom.share > 0)) return status;
  p->atoms = gpnn_alloc(n_channels, 1, sizeof *p->atoms);
  p->share = gpnn_alloc(n_channels, n, sizeof *p->share);
  p->is_at = gpnn_alloc(n, 1, sizeof *p->is_at);
  if (!p->atoms || !p->share || !p->is_at) return gpnn_fail_memory(err, "for calibration");
  p->at = gpnn_atom_standardised(&p->atom, channel->parameters, channel->dataset);
  for (size_t c = 0; c < n_channels; c++) p->atoms[c] = c == number ? p->at : nan("");
  for (size_t i = 0; i < n; i++) p->is_at[i] = gpnn_atom_is(p->at, rows->y[i]);
  return GPNN_OK;
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
                                const struct gpnn_heldout *rows, struct predicted *p,
                                struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  const struct gpnn_query *query = &rows->query;
  bool across = options->on == GPNN_CALIBRATE_CROSS_FITTED;
  size_t n_channels = across ? gpnn_crossfit_n_channels(options->crossfit) : 1;
  enum gpnn_status status = GPNN_OK;
  if (!predicted_alloc(p, n_channels, query->n)) return gpnn_fail_memory(err, "for calibration");
  if (!options->without_atom)
    status = find_atom(gpnn_model_channel(model, 0), n_channels, across ? options->channel : 0,
                       rows, p, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_latent latent = {.mean = p->mean,
                                     .variance = p->variance,
                                     .mean_variance = p->mean_variance,
                                     .misfit = p->misfit,
                                     .nearest = p->nearest,
                                     .atom = p->atoms,
                                     .share = p->share};
  return across
             ? predict_across(options->crossfit, query, &latent, p, result, options->channel, err)
             : gpnn_model_predict(model, query, &latent, &result->counts, err);
}

/* Sets z: the errors in standard deviations of the law found. */
static enum gpnn_status set_z(const struct gpnn_scale_rows *rows,
                              const struct gpnn_parameters *given,
                              struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  bool has_error = false;
  for (size_t i = 0; i < rows->n; i++) {
    double error = rows->y[i] - rows->mean[i];
    has_error = has_error || error != 0;
    result->z[i] = error == 0 ? 0 : error / gpnn_calibrate_sd(rows, given, &result->law, i);
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
  enum gpnn_status status = predict(model, options, rows, &p, result, err);
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
    const struct gpnn_calibrate_atom_rows atom = {
        &scale_rows, params, &p.atom, p.at, p.share == NULL ? NULL : p.share + at, p.is_at};
    if (status == GPNN_OK && p.atoms != NULL) status = gpnn_calibrate_atom(&atom, result, err);
  }
  predicted_release(&p);
  return status;
}
