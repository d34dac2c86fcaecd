#include "assess/calibrate.h"

#include <math.h>
#include <stdlib.h>

#include "assess/calibrate_private.h"
#include "base/memory.h"
#include "dataset/missing.h"
#include "likelihood/head.h"
#include "models/reach.h"

/* GPNN_CALIBRATE_AUTO begins with this many rows, and stops at this relative standard error. */
enum { AUTO_ROWS = 1000 };
static const double auto_precision = 0.02;

/* The search for a calibration. */
struct search {
  const struct gpnn_model *model;
  const struct gpnn_heldout *heldout;
  bool by_factor;
  double noise; /* multiplied by t: that of the parameters, or a little more if that is 0 */
  struct gpnn_calibrate_report *result;
};

static const struct gpnn_parameters *parameters_of(const struct gpnn_model *model)
{
  return gpnn_model_channel(model, 0)->parameters;
}

/* ---- the mean of z^2 ------------------------------------------------------------------------ */

static double mean_square(size_t n, const double *z)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += z[i] * z[i];
  return sum / (double)n;
}

/* Computes alpha and its standard error, from means over 'cluster_rows' rows each.  A few large z^2
 * account for most of the standard error, and a small sample may contain none of them; so it is
 * never set below that of normal errors.  See gpnn-methods(7), equations 8.2 and 8.4. */
static enum gpnn_status summarise(struct gpnn_calibrate_report *result, size_t cluster_rows,
                                  struct gpnn_error *err)
{
  size_t n_means = result->n_rows / cluster_rows;
  double alpha = mean_square(result->n_rows, result->z), squares = 0;
  if (!(alpha > 0) || !isfinite(alpha))
    return gpnn_fail(err, GPNN_ENUMERIC,
                     alpha == 0
                         ? "every calibration row is predicted without error, so there is no "
                           "calibration factor"
                         : "the calibration factor is not finite: is the target of a "
                           "calibration row wrong?");
  for (size_t i = 0; i < n_means; i++) {
    double off = mean_square(cluster_rows, result->z + i * cluster_rows) - alpha;
    squares += off * off;
  }
  result->alpha = alpha;
  double by_rows = sqrt(squares / (double)n_means / ((double)n_means - 1));
  double of_normal = alpha * sqrt(2 / (double)result->n_rows);
  result->standard_error = n_means > 1 ? fmax(by_rows, of_normal) : INFINITY;
  return GPNN_OK;
}

/* Distances will be recorded, so they must be finite, but for those of rows without any input. */
static enum gpnn_status check_distances(const struct gpnn_model *model,
                                        const struct gpnn_query *rows,
                                        const struct gpnn_calibrate_report *result,
                                        struct gpnn_error *err)
{
  size_t d = gpnn_model_channel(model, 0)->dataset->d;
  for (size_t i = 0; i < result->n_rows; i++) {
    if (isfinite(result->nearest[i])) continue;
    if (rows->x != NULL && gpnn_row_is_empty(d, rows->x + i * d)) continue;
    return gpnn_fail(err, GPNN_ENUMERIC,
                     "the distance from a calibration row to the training rows is not finite: is "
                     "one of its inputs wrong?");
  }
  return GPNN_OK;
}

/*
 * Predicts the rows and writes (target - mean) / sd of each observation to 'z', and the distance to
 * its nearest neighbour to 'nearest' (may be NULL).
 */
static enum gpnn_status find_scores(const struct gpnn_model *model, const struct gpnn_heldout *rows,
                                    double *z, double *nearest, struct gpnn_counts *counts,
                                    struct gpnn_error *err)
{
  size_t n = rows->query.n;
  const struct gpnn_head head = gpnn_head_of(parameters_of(model));
  double *variance = gpnn_alloc(n, 1, sizeof *variance);
  if (variance == NULL) return gpnn_fail_memory(err, "for calibration");
  const struct gpnn_latent latent = {.mean = z, .variance = variance, .nearest = nearest};
  enum gpnn_status status = gpnn_model_predict(model, &rows->query, &latent, counts, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    const struct gpnn_latent_row row = {.mean = z[i], .variance = variance[i]};
    struct gpnn_predictive value =
        gpnn_head_observe(&head, &row, rows->noise == NULL ? 0 : rows->noise[i]);
    double error = rows->y[i] - value.mean;
    z[i] = error == 0 ? 0 : error / sqrt(value.variance);
    if (!isfinite(z[i]))
      status =
          gpnn_fail(err, GPNN_ENUMERIC, "a row is predicted with an sd of 0, but with an error");
  }
  free(variance);
  return status;
}

static bool is_scaled(const struct gpnn_model *model)
{
  return parameters_of(model)->likelihood != GPNN_LIKELIHOOD_GAUSSIAN;
}

/* Scores these rows with the parameters unchanged, or estimates their scale or temperature. */
static enum gpnn_status score(const struct gpnn_model *model,
                              const struct gpnn_calibrate_options *options,
                              const struct gpnn_heldout *rows, struct gpnn_calibrate_report *result,
                              struct gpnn_error *err)
{
  size_t n = rows->query.n;
  gpnn_calibrate_report_release(result);
  result->z = gpnn_alloc(n, 1, sizeof *result->z);
  result->nearest = gpnn_alloc(n, 1, sizeof *result->nearest);
  if (result->z == NULL || result->nearest == NULL) return gpnn_fail_memory(err, "for calibration");
  result->n_rows = n;
  if (is_scaled(model)) {
    enum gpnn_likelihood likelihood = parameters_of(model)->likelihood;
    enum gpnn_status found = likelihood == GPNN_LIKELIHOOD_CATEGORICAL
                                 ? gpnn_calibrate_temperature(model, options, rows, result, err)
                             : gpnn_likelihood_is_of_counts(likelihood)
                                 ? gpnn_calibrate_counts(model, rows, result, err)
                                 : gpnn_calibrate_scale(model, options, rows, result, err);
    return found == GPNN_OK ? check_distances(model, &rows->query, result, err) : found;
  }
  enum gpnn_status status =
      find_scores(model, rows, result->z, result->nearest, &result->counts, err);
  if (status == GPNN_OK) status = check_distances(model, &rows->query, result, err);
  return status == GPNN_OK ? summarise(result, rows->cluster_rows, err) : status;
}

/* ---- roots ---------------------------------------------------------------------------------- */

/* Size of the covariance matrix of the mean's coefficients. */
static size_t covariance_size(const struct gpnn_parameters *params)
{
  return params->mean.covariance == NULL
             ? 0
             : params->mean.n_coefficients * params->mean.n_coefficients;
}

/* Sets '*changed' to the parameters with their noise, or if by_factor all their variances,
 * multiplied by 't'.  'covariance' gets that of the coefficients; all else is borrowed. */
static void multiply(const struct search *search, double t, double *covariance,
                     struct gpnn_parameters *changed)
{
  const struct gpnn_parameters *given = parameters_of(search->model);
  *changed = *given;
  changed->covariance.noise = t * search->noise;
  if (!search->by_factor) return;
  changed->covariance.kernelscale = t * given->covariance.kernelscale;
  changed->effects.unit = t * given->effects.unit;
  if (given->mean.covariance != NULL) changed->mean.covariance = covariance;
  for (size_t i = 0; i < covariance_size(given); i++) covariance[i] = t * given->mean.covariance[i];
}

/* Computes log(mean z^2) with the parameters multiplied by 't'; it falls from positive to negative
 * as t grows.  Stores the scores, kernel scale and noise in the result. */
static enum gpnn_status log_alpha(const struct search *search, double t, double *value,
                                  struct gpnn_error *err)
{
  struct gpnn_calibrate_report *result = search->result;
  struct gpnn_parameters changed;
  const struct gpnn_channel channel = {gpnn_model_channel(search->model, 0)->dataset, &changed};
  struct gpnn_model *model = NULL;
  double *covariance =
      gpnn_alloc(covariance_size(parameters_of(search->model)), 1, sizeof *covariance);
  if (covariance == NULL) return gpnn_fail_memory(err, "for calibration");
  multiply(search, t, covariance, &changed);
  result->counts = (struct gpnn_counts){0};
  enum gpnn_status status = gpnn_model_with(search->model, &channel, &model, err);
  if (status == GPNN_OK)
    status = find_scores(model, search->heldout, result->z, NULL, &result->counts, err);
  if (status == GPNN_OK) *value = log(mean_square(result->n_rows, result->z));
  result->kernelscale = changed.covariance.kernelscale;
  result->noise = changed.covariance.noise;
  gpnn_model_free(model);
  free(covariance);
  return status;
}

/* Finds the root in the bracket 'log_t' by regula falsi, Illinois variant. */
static enum gpnn_status narrow(const struct search *search, const double log_t[2],
                               const double values[2], struct gpnn_error *err)
{
  enum { MOST_STEPS = 60 };
  static const double precision = 1e-9;
  double low = log_t[0], high = log_t[1], at_low = values[0], at_high = values[1];
  int side = 0;
  for (int step = 0; step < MOST_STEPS; step++) {
    double at = (low * at_high - high * at_low) / (at_high - at_low), value;
    enum gpnn_status status = log_alpha(search, exp(at), &value, err);
    if (status != GPNN_OK || fabs(value) < precision || high - low < precision) return status;
    if (value > 0) {
      low = at, at_low = value;
      if (side == 1) at_high /= 2;
      side = 1;
    } else {
      high = at, at_high = value;
      if (side == -1) at_low /= 2;
      side = -1;
    }
  }
  return GPNN_OK;
}

/* Finds the root near t = 1 and leaves the result there; '*found' becomes false if there is none.
 */
static enum gpnn_status find_root(const struct search *search, bool *found, struct gpnn_error *err)
{
  enum { MOST_STEPS = 16 };
  static const double stride = 1.3862943611198906; /* log 4 */
  double log_t[2] = {0, 0}, values[2], value = 0;
  enum gpnn_status status = log_alpha(search, 1, &value, err);
  double direction = value > 0 ? 1 : -1;
  *found = value == 0;
  values[0] = values[1] = value;
  for (int step = 1; step <= MOST_STEPS && status == GPNN_OK && !*found; step++) {
    size_t end = direction > 0; /* the end of the bracket that moves; the other follows it */
    log_t[!end] = log_t[end];
    values[!end] = values[end];
    log_t[end] += direction * stride;
    status = log_alpha(search, exp(log_t[end]), &values[end], err);
    if (status != GPNN_OK || direction * values[end] > 0) continue;
    *found = true;
    status = narrow(search, log_t, values, err);
  }
  return status;
}

/* Finds the noise or the factor where there is no formula for it; '*found' as above. */
static enum gpnn_status seek(const struct gpnn_model *model, bool by_factor,
                             const struct gpnn_heldout *rows, struct gpnn_calibrate_report *result,
                             bool *found, struct gpnn_error *err)
{
  /* In units of the kernel scale: where the search starts if the noise is 0. */
  static const double some_noise = 1e-6;
  const struct gpnn_covariance *covariance = &parameters_of(model)->covariance;
  struct search search = {.model = model,
                          .heldout = rows,
                          .by_factor = by_factor,
                          .noise = covariance->noise,
                          .result = result};
  if (!by_factor && search.noise == 0) search.noise = some_noise * covariance->kernelscale;
  return find_root(&search, found, err);
}

/* Applies the published factor, without known noise: the scores scale with the standard deviations.
 */
static void apply_alpha(const struct gpnn_covariance *covariance,
                        struct gpnn_calibrate_report *result)
{
  double root = sqrt(result->alpha);
  for (size_t i = 0; i < result->n_rows; i++) result->z[i] /= root;
  result->kernelscale = covariance->kernelscale * result->alpha;
  result->noise = covariance->noise * result->alpha;
}

static enum gpnn_status solve(const struct gpnn_model *model,
                              const struct gpnn_calibrate_options *options,
                              const struct gpnn_heldout *rows, struct gpnn_calibrate_report *result,
                              struct gpnn_error *err)
{
  const struct gpnn_covariance *covariance = &parameters_of(model)->covariance;
  bool has_known_noise =
      gpnn_model_channel(model, 0)->dataset->noise != NULL || rows->noise != NULL;
  bool found = false;
  enum gpnn_status status = GPNN_OK;
  bool by_noise = options->by == GPNN_CALIBRATE_NOISE;
  if (by_noise) status = seek(model, false, rows, result, &found, err);
  result->by_factor = !found;
  if (status != GPNN_OK || found) return status;
  if (by_noise) status = score(model, options, rows, result, err);
  result->by_factor = true;
  if (status == GPNN_OK && !has_known_noise) apply_alpha(covariance, result);
  if (status != GPNN_OK || !has_known_noise) return status;
  status = seek(model, true, rows, result, &found, err);
  if (status == GPNN_OK && !found)
    return gpnn_fail(err, GPNN_ENUMERIC,
                     result->alpha < 1
                         ? "no factor calibrates the variances: the known noise of the rows "
                           "exceeds their errors"
                         : "no factor calibrates the variances, however large: is the target of a "
                           "calibration row wrong?");
  result->standard_error *= result->kernelscale / covariance->kernelscale / result->alpha;
  result->alpha = result->kernelscale / covariance->kernelscale;
  return status;
}

/* GPNN_ENUMERIC: parameters with this calibration could not be read back. */
static enum gpnn_status check_range(const struct gpnn_parameters *params,
                                    const struct gpnn_calibrate_report *result,
                                    struct gpnn_error *err)
{
  double factor = result->by_factor ? result->alpha : 1;
  double in_all = params->calibration.has_factor ? factor * params->calibration.factor : factor;
  bool fits = gpnn_parameters_can_have(result->kernelscale, result->noise) &&
              gpnn_parameters_can_have(in_all, 0);
  for (size_t i = 0; i < covariance_size(params); i++)
    fits = fits && isfinite(factor * params->mean.covariance[i]);
  if (fits) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENUMERIC,
                   "a factor of %.3g leaves the variances outside the range of numbers: is the "
                   "target of a calibration row wrong?",
                   result->alpha);
}

/* ---- rows ----------------------------------------------------------------------------------- */

bool gpnn_calibrate_is_circular(const struct gpnn_parameters *params, size_t n)
{
  enum { FRACTION = 10 };         /* circular only if more than one row in 10 was fitted */
  enum { ROWS_PER_NUMBER = 100 }; /* for an error of 2 % */
  size_t metric = params->covariance.n_rotation > 0 ? params->covariance.n_rotation
                                                    : params->covariance.n_lengthscales;
  size_t numbers = metric + params->mean.n_coefficients + 2;
  bool is_class = params->likelihood == GPNN_LIKELIHOOD_CATEGORICAL;
  return params->provenance.fit_rows > n / FRACTION && (is_class || n / ROWS_PER_NUMBER < numbers);
}

/* The number of rows to begin with. */
static size_t first_rows(size_t wanted, size_t available)
{
  if (wanted == GPNN_CALIBRATE_AUTO) wanted = AUTO_ROWS;
  return wanted < available ? wanted : available;
}

/* True if '*n' rows were enough; otherwise '*n' becomes the number to try next. */
static bool were_enough(const struct gpnn_calibrate_report *calibration, size_t wanted,
                        size_t available, size_t *n)
{
  if (wanted != GPNN_CALIBRATE_AUTO || *n == available ||
      calibration->standard_error < auto_precision * calibration->alpha)
    return true;
  *n = *n > available / 2 ? available : 2 * *n;
  return false;
}

static size_t rows_available(const struct gpnn_model *model,
                             const struct gpnn_calibrate_options *options)
{
  if (options->on == GPNN_CALIBRATE_GIVEN) return options->given.query.n;
  if (options->on == GPNN_CALIBRATE_LIKE) return options->like.n;
  if (options->on == GPNN_CALIBRATE_CROSS_FITTED) return gpnn_crossfit_n_rows(options->crossfit);
  return gpnn_model_channel(model, 0)->dataset->n;
}

/* The first 'n' rows of a cross-fit, of which 'dataset' has the targets. */
static enum gpnn_status take_rows(const struct gpnn_dataset *dataset,
                                  const struct gpnn_crossfit *crossfit, size_t n,
                                  struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_heldout_new(heldout, dataset, n, 0, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    gpnn_heldout_set(heldout, dataset, i, (size_t)gpnn_crossfit_rows(crossfit)[i]);
  return status;
}

/* Replaces the rows in 'heldout' by 'n' rows as the options say. */
static enum gpnn_status choose_rows(const struct gpnn_model *model,
                                    const struct gpnn_calibrate_options *options, size_t n,
                                    struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  struct gpnn_holdout_options holdout = {.n_rows = n,
                                         .cluster_rows = options->cluster_rows,
                                         .like = &options->like,
                                         .seed = options->seed};
  gpnn_heldout_release(heldout);
  switch (options->on) {
  case GPNN_CALIBRATE_GIVEN:
    *heldout = options->given;
    heldout->own = (struct gpnn_heldout_rows){0}; /* the caller keeps them */
    heldout->query.n = n;
    return GPNN_OK;
  case GPNN_CALIBRATE_LEFT_OUT:
    holdout.how = GPNN_HOLDOUT_ALONE;
    break;
  case GPNN_CALIBRATE_CLUSTERS:
    holdout.how = GPNN_HOLDOUT_CLUSTERS;
    holdout.n_rows = (n + options->cluster_rows - 1) / options->cluster_rows;
    break;
  case GPNN_CALIBRATE_LIKE:
    holdout.how = GPNN_HOLDOUT_LIKE;
    break;
  case GPNN_CALIBRATE_CROSS_FITTED:
    return take_rows(gpnn_model_channel(model, 0)->dataset, options->crossfit, n, heldout, err);
  }
  return gpnn_model_hold_out(model, &holdout, heldout, err);
}

enum gpnn_status gpnn_calibrate(const struct gpnn_model *model,
                                const struct gpnn_calibrate_options *options,
                                struct gpnn_calibrate_report *calibration, struct gpnn_error *err)
{
  size_t available = rows_available(model, options);
  if (is_scaled(model) && options->by == GPNN_CALIBRATE_NOISE)
    return gpnn_fail(err, GPNN_EINVAL, "only a Gaussian likelihood is calibrated by its noise");
  if (!is_scaled(model) && options->on == GPNN_CALIBRATE_CROSS_FITTED)
    return gpnn_fail(err, GPNN_EINVAL, "a Gaussian likelihood is not calibrated by a cross-fit");
  if (!is_scaled(model) && parameters_of(model)->n_members > 0)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "parameters of several members are calibrated by their scale, which takes "
                     "likelihood student or local, and not by a factor");
  if (available == 0) return gpnn_fail(err, GPNN_EDATA, "no rows to calibrate on");
  struct gpnn_heldout heldout = {0};
  struct gpnn_calibrate_report result = {0};
  size_t n = first_rows(options->wanted, available);
  enum gpnn_status status;
  do {
    status = choose_rows(model, options, n, &heldout, err);
    if (status == GPNN_OK) status = score(model, options, &heldout, &result, err);
  } while (status == GPNN_OK && !were_enough(&result, options->wanted, available, &n));
  if (status == GPNN_OK && !is_scaled(model))
    status = solve(model, options, &heldout, &result, err);
  if (status == GPNN_OK && !is_scaled(model))
    status = check_range(parameters_of(model), &result, err);
  if (status == GPNN_OK)
    *calibration = result;
  else
    gpnn_calibrate_report_release(&result);
  gpnn_heldout_release(&heldout);
  return status;
}

/* ---- use ------------------------------------------------------------------------------------ */

void gpnn_calibrate_apply(const struct gpnn_calibrate_report *calibration,
                          struct gpnn_parameters *params)
{
  if (calibration->by_scale) {
    params->scale = calibration->law.scale;
    params->degrees = calibration->law.degrees;
    params->atom = calibration->atom;
  }
  if (calibration->by_factor) {
    for (size_t i = 0; i < covariance_size(params); i++)
      params->mean.covariance[i] *= calibration->alpha;
    params->effects.unit *= calibration->alpha;
    params->calibration.factor = params->calibration.has_factor
                                     ? params->calibration.factor * calibration->alpha
                                     : calibration->alpha;
    params->calibration.has_factor = true;
  }
  if (calibration->by_temperature) params->calibration.temperature = calibration->alpha;
  if (!calibration->by_scale && !calibration->by_temperature) {
    params->covariance.kernelscale = calibration->kernelscale;
    params->covariance.noise = calibration->noise;
  }
  params->calibration.n_conformal = 0;
  gpnn_distance_record(&params->calibration, calibration->n_rows, calibration->nearest);
}

bool gpnn_calibrate_apply_bound(const struct gpnn_calibrate_report *calibration,
                                struct gpnn_parameters *params)
{
  bool tells = calibration->by_temperature ? calibration->alpha < 1
                                           : calibration->alpha > 1 && !calibration->by_scale;
  if (tells) {
    gpnn_calibrate_apply(calibration, params);
    return true;
  }
  params->calibration.n_conformal = 0;
  gpnn_distance_record(&params->calibration, calibration->n_rows, calibration->nearest);
  return false;
}

void gpnn_calibrate_report_release(struct gpnn_calibrate_report *calibration)
{
  free(calibration->z);
  free(calibration->nearest);
  *calibration = (struct gpnn_calibrate_report){0};
}
