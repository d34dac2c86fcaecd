#include "assess/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/local/distance.h"
#include "models/local/heldout.h"

/* Rows that AUTO begins with, and the relative standard error at which it stops. */
enum { AUTO_ROWS = 1000 };
static const double auto_precision = 0.02;

/* Parameters that move while their calibration is sought. */
struct search {
  const struct gpnn_localgp *gp;
  struct gpnn_parameters *params;
  double kernelscale, noise; /* as they were; the second, where it is 0 and sought, a bit above */
  double *covariance;        /* owned; as it was; of no coefficients if these are known */
  bool by_factor;
  const struct gpnn_known_rows *rows;
  struct gpnn_calibrate_report *result;
};

/* ---- the mean of z^2 ------------------------------------------------------------------------ */

static double mean_square(size_t n, const double *z)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += z[i] * z[i];
  return sum / (double)n;
}

/* alpha and its standard error, from the means of 'together' rows each.  The few largest z^2 make
 * most of it, and few rows have none of them: so it is never less than normal errors have.  See
 * gpnn-methods(7), equations 8.2 and 8.4. */
static enum gpnn_status summarise(struct gpnn_calibrate_report *result, size_t together,
                                  struct gpnn_error *err)
{
  size_t n_means = result->n_rows / together;
  double alpha = mean_square(result->n_rows, result->z), squares = 0;
  if (!(alpha > 0) || !isfinite(alpha))
    return gpnn_fail(err, GPNN_ENUMERIC,
                     alpha == 0 ? "every calibration row is predicted without error: there is no "
                                  "factor to find"
                                : "the calibration factor is not finite: is the target of a "
                                  "calibration row wrong?");
  for (size_t i = 0; i < n_means; i++) {
    double off = mean_square(together, result->z + i * together) - alpha;
    squares += off * off;
  }
  result->alpha = alpha;
  double by_rows = sqrt(squares / (double)n_means / ((double)n_means - 1));
  double of_normal = alpha * sqrt(2 / (double)result->n_rows);
  result->standard_error = n_means > 1 ? fmax(by_rows, of_normal) : INFINITY;
  return GPNN_OK;
}

/* Distances are recorded, which takes finite ones. */
static enum gpnn_status check_distances(const struct gpnn_calibrate_report *result,
                                        struct gpnn_error *err)
{
  for (size_t i = 0; i < result->n_rows; i++)
    if (!isfinite(result->nearest[i]))
      return gpnn_fail(err, GPNN_ENUMERIC,
                       "a calibration row is farther from the training rows than a number can say: "
                       "is an input of it wrong?");
  return GPNN_OK;
}

/* Scores exactly these rows with the parameters as they are. */
static enum gpnn_status score(const struct gpnn_localgp *gp, const struct gpnn_known_rows *rows,
                              struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  size_t n = rows->points.n;
  gpnn_calibrate_report_release(result);
  result->z = gpnn_alloc(n, 1, sizeof *result->z);
  result->nearest = gpnn_alloc(n, 1, sizeof *result->nearest);
  if (result->z == NULL || result->nearest == NULL) return gpnn_fail_memory(err, "for calibration");
  result->n_rows = n;
  enum gpnn_status status =
      gpnn_known_scores(gp, rows, result->z, result->nearest, &result->counts, err);
  if (status == GPNN_OK) status = check_distances(result, err);
  return status == GPNN_OK ? summarise(result, rows->together, err) : status;
}

/* ---- roots ---------------------------------------------------------------------------------- */

/* Numbers in the covariance of the mean's coefficients. */
static size_t covariance_size(const struct gpnn_parameters *params)
{
  return params->mean.covariance == NULL
             ? 0
             : params->mean.n_coefficients * params->mean.n_coefficients;
}

/* Multiplies what is sought by 't'; the factor is of all variances that the parameters have. */
static void multiply(const struct search *search, double t)
{
  struct gpnn_parameters *params = search->params;
  params->covariance.noise = t * search->noise;
  if (!search->by_factor) return;
  params->covariance.kernelscale = t * search->kernelscale;
  for (size_t i = 0; i < covariance_size(params); i++)
    params->mean.covariance[i] = t * search->covariance[i];
}

/* Multiplies what is sought by 't' and finds log(mean z^2), which falls from positive to negative
 * as t grows. */
static enum gpnn_status log_alpha(const struct search *search, double t, double *value,
                                  struct gpnn_error *err)
{
  struct gpnn_calibrate_report *result = search->result;
  multiply(search, t);
  result->counts = (struct gpnn_localgp_counts){0};
  enum gpnn_status status =
      gpnn_known_scores(search->gp, search->rows, result->z, NULL, &result->counts, err);
  if (status == GPNN_OK) *value = log(mean_square(result->n_rows, result->z));
  return status;
}

/* Narrows the bracket log t in [low, high] of a root to it: regula falsi, Illinois variant. */
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

/* Finds the root near t = 1, with the parameters and the scores left at it.  '*found' tells
 * whether there is one. */
static enum gpnn_status find_root(const struct search *search, bool *found, struct gpnn_error *err)
{
  enum { MOST_STEPS = 16 };
  static const double stride = 1.3862943611198906; /* log 4 */
  double log_t[2] = {0, 0}, values[2], value;
  enum gpnn_status status = log_alpha(search, 1, &value, err);
  double direction = value > 0 ? 1 : -1;
  *found = value == 0;
  values[0] = values[1] = value;
  for (int step = 1; step <= MOST_STEPS && status == GPNN_OK && !*found; step++) {
    size_t end = direction > 0; /* the end of the bracket that moves on; the other follows it */
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

/* Seeks by noise or by factor where no formula gives the answer; '*found' as above. */
static enum gpnn_status seek(const struct gpnn_localgp *gp, struct gpnn_parameters *params,
                             bool by_factor, const struct gpnn_known_rows *rows,
                             struct gpnn_calibrate_report *result, bool *found,
                             struct gpnn_error *err)
{
  /* In units of the kernel scale: where a search for a noise begins that is 0. */
  static const double some_noise = 1e-6;
  struct search search = {.gp = gp,
                          .params = params,
                          .kernelscale = params->covariance.kernelscale,
                          .noise = params->covariance.noise,
                          .by_factor = by_factor,
                          .rows = rows,
                          .result = result};
  double noise = params->covariance.noise;
  size_t n_covariance = covariance_size(params);
  search.covariance = gpnn_alloc(n_covariance, 1, sizeof *search.covariance);
  if (search.covariance == NULL) return gpnn_fail_memory(err, "for calibration");
  for (size_t i = 0; i < n_covariance; i++) search.covariance[i] = params->mean.covariance[i];
  if (!by_factor && noise == 0) search.noise = some_noise * params->covariance.kernelscale;
  enum gpnn_status status = find_root(&search, found, err);
  result->kernelscale = params->covariance.kernelscale;
  result->noise = params->covariance.noise;
  multiply(&search, 1);
  params->covariance.noise = noise;
  free(search.covariance);
  return status;
}

/* The published factor, without known noise: scores scale as the standard deviations do. */
static void apply_alpha(const struct gpnn_parameters *params, struct gpnn_calibrate_report *result)
{
  double root = sqrt(result->alpha);
  for (size_t i = 0; i < result->n_rows; i++) result->z[i] /= root;
  result->kernelscale = params->covariance.kernelscale * result->alpha;
  result->noise = params->covariance.noise * result->alpha;
}

static enum gpnn_status solve(const struct gpnn_localgp *gp, struct gpnn_parameters *params,
                              enum gpnn_calibrate_by by, const struct gpnn_known_rows *rows,
                              struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  bool has_known_noise = gpnn_localgp_data(gp)->noise != NULL || rows->noise != NULL;
  bool found = false;
  enum gpnn_status status = GPNN_OK;
  if (by == GPNN_CALIBRATE_NOISE) status = seek(gp, params, false, rows, result, &found, err);
  result->by_factor = !found;
  if (status != GPNN_OK || found) return status;
  if (by == GPNN_CALIBRATE_NOISE) status = score(gp, rows, result, err);
  result->by_factor = true;
  if (status == GPNN_OK && !has_known_noise) apply_alpha(params, result);
  if (status != GPNN_OK || !has_known_noise) return status;
  status = seek(gp, params, true, rows, result, &found, err);
  if (status == GPNN_OK && !found)
    return gpnn_fail(err, GPNN_ENUMERIC,
                     result->alpha < 1
                         ? "no factor makes the variances right: the known noise of the rows is "
                           "more than their errors"
                         : "no factor makes the variances right, however large: is the target of a "
                           "calibration row wrong?");
  result->standard_error *= result->kernelscale / params->covariance.kernelscale / result->alpha;
  result->alpha = result->kernelscale / params->covariance.kernelscale;
  return status;
}

/* Whether parameters with this calibration would read back. */
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
  enum { MOST_SHARE = 10 };        /* one row in so many */
  enum { ROWS_OF_A_NUMBER = 100 }; /* for an error of 2 % */
  size_t metric = params->covariance.n_rotation > 0 ? params->covariance.n_rotation
                                                    : params->covariance.n_lengthscales;
  size_t numbers = metric + params->mean.n_coefficients + 2;
  return params->provenance.fit_rows > n / MOST_SHARE && n / ROWS_OF_A_NUMBER < numbers;
}

/* Rows to begin with, and whether they were enough; if not, '*n' becomes how many to try next. */
static size_t first_rows(size_t wanted, size_t available)
{
  if (wanted == GPNN_CALIBRATE_AUTO) wanted = AUTO_ROWS;
  return wanted < available ? wanted : available;
}

static bool were_enough(const struct gpnn_calibrate_report *calibration, size_t wanted,
                        size_t available, size_t *n)
{
  if (wanted != GPNN_CALIBRATE_AUTO || *n == available ||
      calibration->standard_error < auto_precision * calibration->alpha)
    return true;
  *n = *n > available / 2 ? available : 2 * *n;
  return false;
}

static size_t rows_available(const struct gpnn_localgp *gp,
                             const struct gpnn_calibrate_options *options)
{
  if (options->on == GPNN_CALIBRATE_GIVEN) return options->given.points.n;
  if (options->on == GPNN_CALIBRATE_LIKE) return options->like.n;
  return gpnn_localgp_data(gp)->n;
}

/* Takes 'n' rows; 'distances' are those of the rows to be like.  What 'leftout' holds is replaced.
 */
static enum gpnn_status take_rows(const struct gpnn_localgp *gp,
                                  const struct gpnn_calibrate_options *options, size_t n,
                                  struct gpnn_heldout *leftout, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  size_t cluster = options->cluster_rows;
  gpnn_heldout_release(leftout);
  switch (options->on) {
  case GPNN_CALIBRATE_GIVEN:
    leftout->rows = options->given;
    leftout->rows.points.n = n;
    break;
  case GPNN_CALIBRATE_LEFT_OUT:
    status = gpnn_heldout_alone(leftout, gp, n, options->seed, err);
    break;
  case GPNN_CALIBRATE_CLUSTERS:
    status = gpnn_heldout_clusters(leftout, gp, (n + cluster - 1) / cluster, cluster, options->seed,
                                   err);
    break;
  case GPNN_CALIBRATE_LIKE:
    status = gpnn_heldout_like(leftout, gp, &options->like, n, options->seed, err);
    break;
  }
  return status;
}

enum gpnn_status gpnn_calibrate(const struct gpnn_localgp *gp, struct gpnn_parameters *params,
                                const struct gpnn_calibrate_options *options,
                                struct gpnn_calibrate_report *calibration, struct gpnn_error *err)
{
  size_t available = rows_available(gp, options);
  if (available == 0) return gpnn_fail(err, GPNN_EDATA, "no rows to calibrate on");
  struct gpnn_heldout leftout = {0};
  struct gpnn_calibrate_report result = {0};
  size_t n = first_rows(options->wanted, available);
  enum gpnn_status status;
  do {
    status = take_rows(gp, options, n, &leftout, err);
    if (status == GPNN_OK) status = score(gp, &leftout.rows, &result, err);
  } while (status == GPNN_OK && !were_enough(&result, options->wanted, available, &n));
  if (status == GPNN_OK) status = solve(gp, params, options->by, &leftout.rows, &result, err);
  if (status == GPNN_OK) status = check_range(params, &result, err);
  if (status == GPNN_OK)
    *calibration = result;
  else
    gpnn_calibrate_report_release(&result);
  gpnn_heldout_release(&leftout);
  return status;
}

/* ---- use ------------------------------------------------------------------------------------ */

void gpnn_calibrate_apply(const struct gpnn_calibrate_report *calibration,
                          struct gpnn_parameters *params)
{
  if (calibration->by_factor) {
    for (size_t i = 0; i < covariance_size(params); i++)
      params->mean.covariance[i] *= calibration->alpha;
    params->calibration.factor = params->calibration.has_factor
                                     ? params->calibration.factor * calibration->alpha
                                     : calibration->alpha;
    params->calibration.has_factor = true;
  }
  params->covariance.kernelscale = calibration->kernelscale;
  params->covariance.noise = calibration->noise;
  params->calibration.n_conformal = 0;
  gpnn_distance_record(params, calibration->n_rows, calibration->nearest);
}

bool gpnn_calibrate_apply_bound(const struct gpnn_calibrate_report *calibration,
                                struct gpnn_parameters *params)
{
  if (calibration->alpha > 1) {
    gpnn_calibrate_apply(calibration, params);
    return true;
  }
  params->calibration.n_conformal = 0;
  gpnn_distance_record(params, calibration->n_rows, calibration->nearest);
  return false;
}

void gpnn_calibrate_report_release(struct gpnn_calibrate_report *calibration)
{
  free(calibration->z);
  free(calibration->nearest);
  *calibration = (struct gpnn_calibrate_report){0};
}
