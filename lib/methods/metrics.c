#include "methods/metrics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/normal.h"

static const double one_over_sqrt_pi = 0.56418958354775628695;

/* Neumaier's compensated addition. */
static void add(struct gpnn_metrics_sum *s, double value)
{
  double sum = s->sum + value;
  s->compensation += fabs(s->sum) >= fabs(value) ? (s->sum - sum) + value : (value - sum) + s->sum;
  s->sum = sum;
}

static double mean_of(const struct gpnn_metrics_sum *s, size_t n)
{
  if (n == 0) return NAN;
  /* Beyond the largest number the compensation would be infinity less infinity. */
  return (isinf(s->sum) ? s->sum : s->sum + s->compensation) / (double)n;
}

void gpnn_metrics_levels(struct gpnn_metrics *metrics, size_t n_levels, const double *levels)
{
  assert(n_levels <= GPNN_METRICS_LEVELS);
  metrics->n_levels = n_levels;
  for (size_t i = 0; i < n_levels; i++) {
    metrics->levels[i] = levels[i];
    metrics->half_width[i] = gpnn_normal_half_width(levels[i]);
  }
}

static enum gpnn_status add_probabilistic(struct gpnn_metrics *metrics, double error, double sd,
                                          struct gpnn_error *err)
{
  if (!(sd > 0) || isinf(sd))
    return gpnn_fail(err, GPNN_EDATA, "a standard deviation is not a positive number");
  if (!gpnn_grow(&metrics->pit, &metrics->pit_capacity, metrics->n_with_sd + 1,
                 sizeof *metrics->pit))
    return gpnn_fail_memory(err, "for the calibration of predictions");
  double z = error / sd, below = gpnn_normal_below(z);
  add(&metrics->nll, gpnn_normal_loss(error, sd));
  add(&metrics->cal, z * z);
  add(&metrics->crps, sd * (z * (2 * below - 1) + 2 * gpnn_normal_density(z) - one_over_sqrt_pi));
  for (size_t i = 0; i < metrics->n_levels; i++)
    metrics->covered[i] += fabs(z) <= metrics->half_width[i];
  metrics->pit[metrics->n_with_sd++] = below;
  return GPNN_OK;
}

enum gpnn_status gpnn_metrics_add(struct gpnn_metrics *metrics, double truth, double mean,
                                  double sd, struct gpnn_error *err)
{
  double error = truth - mean;
  if (!isnan(sd)) {
    enum gpnn_status status = add_probabilistic(metrics, error, sd, err);
    if (status != GPNN_OK) return status;
  }
  metrics->n++;
  add(&metrics->squared, error * error);
  add(&metrics->absolute, fabs(error));
  double from_mean = truth - metrics->y_mean;
  metrics->y_mean += from_mean / (double)metrics->n;
  metrics->y_m2 += from_mean * (truth - metrics->y_mean);
  return GPNN_OK;
}

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Kolmogorov distance of the PIT values from uniform, and their histogram. */
static void summarise_pit(struct gpnn_metrics *metrics, struct gpnn_metrics_result *result)
{
  size_t n = metrics->n_with_sd;
  qsort(metrics->pit, n, sizeof *metrics->pit, compare);
  for (size_t i = 0; i < n; i++) {
    double p = metrics->pit[i];
    double above = (double)(i + 1) / (double)n - p, below = p - (double)i / (double)n;
    result->pit_distance = fmax(result->pit_distance, fmax(above, below));
    size_t bin = (size_t)(p * GPNN_METRICS_PIT_BINS);
    result->pit[bin < GPNN_METRICS_PIT_BINS ? bin : GPNN_METRICS_PIT_BINS - 1]++;
  }
  for (size_t bin = 0; bin < GPNN_METRICS_PIT_BINS; bin++) result->pit[bin] /= (double)n;
}

enum gpnn_status gpnn_metrics_result(struct gpnn_metrics *metrics,
                                     struct gpnn_metrics_result *result, struct gpnn_error *err)
{
  size_t n = metrics->n, n_sd = metrics->n_with_sd;
  if (n == 0) return gpnn_fail(err, GPNN_EDATA, "no row with a truth and a prediction");
  struct gpnn_metrics_result r = {.n = n, .has_sd = n_sd > 0};
  r.mse = mean_of(&metrics->squared, n);
  r.rmse = sqrt(r.mse);
  r.mae = mean_of(&metrics->absolute, n);
  r.r2 = metrics->y_m2 > 0 ? 1 - r.mse * (double)n / metrics->y_m2 : NAN;
  r.nll = mean_of(&metrics->nll, n_sd);
  r.cal = mean_of(&metrics->cal, n_sd);
  r.crps = mean_of(&metrics->crps, n_sd);
  for (size_t i = 0; i < metrics->n_levels && n_sd > 0; i++)
    r.coverage[i] = (double)metrics->covered[i] / (double)n_sd;
  if (n_sd > 0) summarise_pit(metrics, &r);
  *result = r;
  return GPNN_OK;
}

struct gpnn_metrics_result gpnn_metrics_in_units(const struct gpnn_metrics_result *result,
                                                 double unit)
{
  struct gpnn_metrics_result r = *result;
  r.rmse /= unit;
  r.mse /= unit * unit;
  r.mae /= unit;
  r.nll -= log(unit);
  r.crps /= unit;
  return r;
}

void gpnn_metrics_release(struct gpnn_metrics *metrics)
{
  free(metrics->pit);
  memset(metrics, 0, sizeof *metrics);
}
