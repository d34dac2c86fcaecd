#include "stats/scores/metrics.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "stats/distributions/student.h"

static void set_half_widths(struct gpnn_metrics *metrics, double df)
{
  metrics->df = df;
  for (size_t i = 0; i < metrics->n_levels; i++)
    metrics->half_width[i] = gpnn_student_half_width(metrics->levels[i], df);
}

void gpnn_metrics_levels(struct gpnn_metrics *metrics, size_t n_levels, const double *levels)
{
  assert(n_levels <= GPNN_METRICS_LEVELS);
  metrics->n_levels = n_levels;
  for (size_t i = 0; i < n_levels; i++) metrics->levels[i] = levels[i];
  set_half_widths(metrics, INFINITY);
}

static enum gpnn_status add_intervals(struct gpnn_metrics *metrics, double error, double scale,
                                      double df, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (df != metrics->df) set_half_widths(metrics, df);
  for (size_t i = 0; i < metrics->n_levels && status == GPNN_OK; i++) {
    double half = metrics->half_width[i] * scale;
    status = gpnn_coverage_add(&metrics->coverage[i], error, -half, half, err);
  }
  return status;
}

static bool has_step(const struct gpnn_metrics_given *given)
{
  return !isnan(given->pit) && given->step > 0;
}

/* The probability that a PIT lies within 'reach' of one half. */
static double coverage_of(const struct gpnn_metrics_given *given, double reach)
{
  if (!has_step(given)) return fabs(given->pit - 0.5) <= reach;
  double low = fmax(given->pit - given->step / 2, 0), high = fmin(given->pit + given->step / 2, 1);
  return fmax(fmin(high, 0.5 + reach) - fmax(low, 0.5 - reach), 0) / (high - low);
}

/* The same from the PIT alone. */
static void add_coverages(struct gpnn_metrics *metrics, const struct gpnn_metrics_given *given)
{
  for (size_t i = 0; i < metrics->n_levels; i++)
    gpnn_coverage_add_unmeasured(&metrics->coverage[i], coverage_of(given, metrics->levels[i] / 2));
}

static enum gpnn_status check(double sd, double df, const struct gpnn_metrics_given *given,
                              struct gpnn_error *err)
{
  if (!(sd > 0) || isinf(sd))
    return gpnn_fail(
        err, GPNN_EDATA,
        "a standard deviation is not a positive number but %g, which has no likelihood", sd);
  if (!(df > 2)) return gpnn_fail(err, GPNN_EDATA, "degrees of freedom are not above 2");
  if (given->crps < 0) return gpnn_fail(err, GPNN_EDATA, "crps is negative: %g", given->crps);
  if (given->pit < 0 || given->pit > 1)
    return gpnn_fail(err, GPNN_EDATA, "pit is not between 0 and 1 but %g", given->pit);
  if (given->step < 0 || given->step > 1)
    return gpnn_fail(err, GPNN_EDATA, "pitstep is not between 0 and 1 but %g", given->step);
  return GPNN_OK;
}

static enum gpnn_status add_probabilistic(struct gpnn_metrics *metrics, double truth, double error,
                                          double sd, double df,
                                          const struct gpnn_metrics_given *given,
                                          struct gpnn_error *err)
{
  double z = error / sd, scale = sd * gpnn_student_unit_scale(df), t = error / scale;
  enum gpnn_status status = check(sd, df, given, err);
  if (status != GPNN_OK) return status;
  double nll = isnan(given->logp) ? gpnn_student_nll(error, scale, df) : -given->logp;
  if (!isnan(given->pit)) {
    status = has_step(given) ? gpnn_pit_add_step(&metrics->pit, truth, given->pit, given->step, err)
                             : gpnn_pit_add_value(&metrics->pit, truth, given->pit, exp(-nll), err);
    if (status == GPNN_OK) add_coverages(metrics, given);
  } else {
    status = gpnn_pit_add(&metrics->pit, truth, error, scale, df, err);
    if (status == GPNN_OK) status = add_intervals(metrics, error, scale, df, err);
  }
  if (status != GPNN_OK) return status;
  gpnn_sum_add(&metrics->nll, nll);
  gpnn_sum_add(&metrics->nll_squares, nll * nll);
  gpnn_sum_add(&metrics->cal, z * z);
  /* If t overflows, the predicted distribution is a point in comparison. */
  double crps = isinf(t) ? fabs(error) : scale * gpnn_student_crps(t, df);
  gpnn_sum_add(&metrics->crps, isnan(given->crps) ? crps : given->crps);
  metrics->n_with_sd++;
  metrics->n_at_steps += has_step(given);
  return GPNN_OK;
}

enum gpnn_status gpnn_metrics_add(struct gpnn_metrics *metrics, double truth, double mean,
                                  double sd, double df, struct gpnn_error *err)
{
  static const struct gpnn_metrics_given nothing = {NAN, NAN, NAN, NAN};
  return gpnn_metrics_add_given(metrics, truth, mean, sd, df, &nothing, err);
}

enum gpnn_status gpnn_metrics_add_given(struct gpnn_metrics *metrics, double truth, double mean,
                                        double sd, double df,
                                        const struct gpnn_metrics_given *given,
                                        struct gpnn_error *err)
{
  double error = truth - mean;
  if (!isnan(sd)) {
    enum gpnn_status status = add_probabilistic(metrics, truth, error, sd, df, given, err);
    if (status != GPNN_OK) return status;
  }
  metrics->n++;
  gpnn_squares_add(&metrics->errors, error);
  gpnn_sum_add(&metrics->absolute, fabs(error));
  double from_mean = truth - metrics->y_mean, n = (double)metrics->n;
  metrics->y_mean += from_mean / n;
  gpnn_squares_add(&metrics->y_spread, from_mean * sqrt((n - 1) / n));
  return GPNN_OK;
}

/* The Kolmogorov distance of the PIT values from the uniform distribution. */
static double pit_distance(struct gpnn_metrics *metrics)
{
  size_t n = metrics->pit.n;
  double distance = 0;
  const double *pit = gpnn_pit_values(&metrics->pit);
  for (size_t i = 0; i < n; i++) {
    double p = pit[i];
    double above = (double)(i + 1) / (double)n - p, below = p - (double)i / (double)n;
    distance = fmax(distance, fmax(above, below));
  }
  return distance;
}

void gpnn_metrics_pit_histogram(struct gpnn_metrics *metrics, size_t n_bins, double *fractions)
{
  size_t n = metrics->pit.n;
  const double *pit = gpnn_pit_values(&metrics->pit);
  for (size_t bin = 0; bin < n_bins; bin++) fractions[bin] = 0;
  for (size_t i = 0; i < n; i++) {
    size_t bin = (size_t)(pit[i] * (double)n_bins);
    fractions[bin < n_bins ? bin : n_bins - 1]++;
  }
  for (size_t bin = 0; bin < n_bins; bin++) fractions[bin] /= (double)n;
}

static void set_interval(const struct gpnn_metrics *metrics, size_t i,
                         struct gpnn_metrics_result *result)
{
  struct gpnn_coverage_result r = gpnn_coverage_result(&metrics->coverage[i], metrics->levels[i]);
  result->coverage[i] = r.coverage;
  result->width[i] = r.width;
  result->score[i] = r.score;
}

enum gpnn_status gpnn_metrics_result(struct gpnn_metrics *metrics,
                                     struct gpnn_metrics_result *result, struct gpnn_error *err)
{
  size_t n = metrics->n, n_sd = metrics->n_with_sd;
  if (n == 0) return gpnn_fail(err, GPNN_EDATA, "no row with a truth and a prediction");
  struct gpnn_metrics_result r = {.n = n, .has_sd = n_sd > 0};
  double spread = gpnn_squares_root_mean(&metrics->y_spread, n);
  r.mse = gpnn_squares_mean(&metrics->errors, n);
  r.rmse = gpnn_squares_root_mean(&metrics->errors, n);
  r.mae = gpnn_sum_mean(&metrics->absolute, n);
  r.r2 = spread > 0 ? 1 - (r.rmse / spread) * (r.rmse / spread) : NAN;
  r.nll = gpnn_sum_mean(&metrics->nll, n_sd);
  double squares = gpnn_sum_mean(&metrics->nll_squares, n_sd) - r.nll * r.nll;
  r.nll_error = n_sd > 1 ? sqrt(fmax(squares, 0) / (double)(n_sd - 1)) : INFINITY;
  r.cal = gpnn_sum_mean(&metrics->cal, n_sd);
  r.crps = gpnn_sum_mean(&metrics->crps, n_sd);
  r.at_steps = n_sd == 0 ? 0 : (double)metrics->n_at_steps / (double)n_sd;
  for (size_t i = 0; i < metrics->n_levels && n_sd > 0; i++) set_interval(metrics, i, &r);
  if (n_sd > 0) {
    r.pit_distance = pit_distance(metrics);
    gpnn_metrics_pit_histogram(metrics, GPNN_METRICS_PIT_BINS, r.pit);
  }
  *result = r;
  return GPNN_OK;
}

struct gpnn_metrics_result gpnn_metrics_in_units(const struct gpnn_metrics_result *result,
                                                 double unit, bool of_counts)
{
  struct gpnn_metrics_result r = *result;
  r.rmse /= unit;
  r.mse = r.rmse * r.rmse;
  r.mae /= unit;
  if (!of_counts) r.nll -= (1 - r.at_steps) * log(unit);
  r.crps /= unit;
  for (size_t i = 0; i < GPNN_METRICS_LEVELS; i++) {
    r.width[i] /= unit;
    r.score[i] /= unit;
  }
  return r;
}

void gpnn_metrics_release(struct gpnn_metrics *metrics)
{
  gpnn_pit_release(&metrics->pit);
  memset(metrics, 0, sizeof *metrics);
}
