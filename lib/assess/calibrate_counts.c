/*
 * The calibration of counts: one factor on the variance of the latent function and its noise, which
 * makes the counts of rows most likely that no prediction used; their means stay.  Where counts say
 * little about it, as small ones do, a normal prior on its logarithm keeps it near 1.
 */
#include <math.h>
#include <stdlib.h>

#include "assess/calibrate_private.h"
#include "base/memory.h"
#include "base/threads.h"
#include "estimate/count_sites.h"
#include "likelihood/count.h"
#include "linalg/arrays.h"
#include "stats/distributions/normal.h"

/* The sd of the prior. */
static const double prior_sd = 0.5;

/* Counts, and what the model predicts of the logarithm of their mean; arrays are owned. */
struct rows {
  size_t n;
  int threads;
  struct gpnn_count_law law;
  double *count, *mean, *variance, *loss;
  double factor;              /* that 'loss' is for */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static enum gpnn_status rows_init(struct rows *r, const struct gpnn_model *model,
                                  const struct gpnn_heldout *rows,
                                  struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  const struct gpnn_channel *channel = gpnn_model_channel(model, 0);
  const struct gpnn_parameters *params = channel->parameters;
  bool is_poisson = params->likelihood == GPNN_LIKELIHOOD_POISSON;
  size_t n = rows->query.n;
  r->n = n;
  r->threads = gpnn_model_options(model)->threads;
  r->law.dispersion = is_poisson ? INFINITY : params->dispersion;
  r->arrays = GPNN_ARRAYS(GPNN_ARRAY(r->count, n, 1), GPNN_ARRAY(r->mean, n, 1),
                          GPNN_ARRAY(r->variance, n, 1), GPNN_ARRAY(r->loss, n, 1));
  if (r->arrays == NULL) return gpnn_fail_memory(err, "for calibration");
  for (size_t i = 0; i < n; i++) {
    r->count[i] = gpnn_count_sites_restore(channel->dataset, rows->y[i]);
    if (isnan(r->count[i]))
      return gpnn_fail(err, GPNN_EDATA, "a row to calibrate on has %.10g, which is no count",
                       gpnn_scaling_restore(&channel->dataset->scaling, rows->y[i], 0));
  }
  const struct gpnn_latent latent = {
      .mean = r->mean, .variance = r->variance, .nearest = result->nearest};
  enum gpnn_status status = gpnn_model_predict(model, &rows->query, &latent, &result->counts, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    r->variance[i] += params->covariance.noise;
    if (rows->exposure != NULL) r->mean[i] += log(rows->exposure[i]);
  }
  return status;
}

static struct gpnn_count_latent latent_of(const struct rows *r, size_t i)
{
  return (struct gpnn_count_latent){r->mean[i] + 0.5 * (1 - r->factor) * r->variance[i],
                                    sqrt(r->factor * r->variance[i])};
}

static void find_loss(void *context, size_t thread, size_t i)
{
  const struct rows *r = context;
  const struct gpnn_count_latent latent = latent_of(r, i);
  (void)thread;
  r->loss[i] = -gpnn_count_marginal(&r->law, &latent, r->count[i]);
}

/* The mean loss under a factor, of which 'u' is the logarithm. */
static double loss_at(struct rows *r, double u)
{
  enum { TOGETHER = 16 };
  double sum = 0;
  r->factor = exp(u);
  gpnn_threads_each(r->threads, r->n, TOGETHER, find_loss, r);
  for (size_t i = 0; i < r->n; i++) sum += r->loss[i];
  return sum / (double)r->n;
}

/* The same with the prior. */
static double penalised(struct rows *r, double u)
{
  return loss_at(r, u) + 0.5 * (u / prior_sd) * (u / prior_sd) / (double)r->n;
}

/* The logarithm of the factor with the least loss, between 1/100 and 100, by golden sections. */
static double find_factor(struct rows *r)
{
  const double shorter = 0.61803398874989484820, precise = 1e-5;
  double a = log(0.01), b = log(100);
  double u = b - shorter * (b - a), v = a + shorter * (b - a);
  double at_u = penalised(r, u), at_v = penalised(r, v);
  while (b - a > precise) {
    if (at_u < at_v) {
      b = v, v = u, at_v = at_u;
      at_u = penalised(r, u = b - shorter * (b - a));
    } else {
      a = u, u = v, at_u = at_v;
      at_v = penalised(r, v = a + shorter * (b - a));
    }
  }
  return 0.5 * (a + b);
}

/* The standard error of the logarithm of the factor, by the slopes of the rows' losses and the
 * curvature of their sum with the prior's. */
static enum gpnn_status standard_error(struct rows *r, double u, double *error,
                                       struct gpnn_error *err)
{
  const double h = 0.02;
  double *above = gpnn_alloc(r->n, 1, sizeof *above), squares = 0;
  if (above == NULL) return gpnn_fail_memory(err, "for calibration");
  double here = loss_at(r, u), up = loss_at(r, u + h);
  for (size_t i = 0; i < r->n; i++) above[i] = r->loss[i];
  double down = loss_at(r, u - h);
  double curvature = fmax((double)r->n * (up - 2 * here + down) / (h * h), 0);
  for (size_t i = 0; i < r->n; i++) squares += pow((above[i] - r->loss[i]) / (2 * h), 2);
  *error = sqrt(squares) / (curvature + 1 / (prior_sd * prior_sd));
  free(above);
  return GPNN_OK;
}

/* The least half-width, in standard deviations of a normal, of an interval between quantiles that
 * contains the count. */
static double half_width(const struct rows *r, size_t i)
{
  const double widest = 37; /* beyond which the normal distribution function is 0 */
  const struct gpnn_count_latent latent = latent_of(r, i);
  double up_to = gpnn_count_cdf(&r->law, &latent, r->count[i]);
  double below = fmax(up_to - exp(gpnn_count_marginal(&r->law, &latent, r->count[i])), 0);
  double from_above = below > 0 ? gpnn_normal_quantile(fmin(below, 1)) : -widest;
  double from_below = up_to < 1 ? -gpnn_normal_quantile(up_to) : -widest;
  return fmin(fmax(fmax(from_above, from_below), 0), widest);
}

enum gpnn_status gpnn_calibrate_counts(const struct gpnn_model *model,
                                       const struct gpnn_heldout *rows,
                                       struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  struct rows r = {0};
  double of_log = INFINITY;
  enum gpnn_status status = rows_init(&r, model, rows, result, err);
  if (status == GPNN_OK) {
    double u = find_factor(&r);
    status = standard_error(&r, u, &of_log, err);
    r.factor = exp(u);
    for (size_t i = 0; i < r.n; i++) result->z[i] = half_width(&r, i);
    result->by_scale = true;
    result->law =
        (struct gpnn_scale_law){.likelihood = gpnn_model_channel(model, 0)->parameters->likelihood,
                                .scale.factor = r.factor};
    result->alpha = r.factor;
    result->standard_error = of_log * r.factor;
  }
  gpnn_arrays_free(r.arrays);
  return status;
}
