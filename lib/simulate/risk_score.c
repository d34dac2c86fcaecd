#include <math.h>

#include "simulate/risk.h"
#include "stats/distributions/normal.h"
#include "stats/sum.h"

/* ---- estimates ---------------------------------------------------------------------------- */

/* What a value per point, to be averaged over the points, depends on. */
struct values {
  const struct gpnn_risk_result *result;
  size_t a;
  double factor, step;
};

static struct gpnn_estimate estimate(const struct values *values, size_t n,
                                     double (*value)(const struct values *values, size_t i))
{
  struct gpnn_sum sum = {0};
  struct gpnn_squares squares = {0};
  for (size_t i = 0; i < n; i++) gpnn_sum_add(&sum, value(values, i));
  double mean = gpnn_sum_mean(&sum, n);
  for (size_t i = 0; i < n; i++) gpnn_squares_add(&squares, value(values, i) - mean);
  double sd = n > 1 ? gpnn_squares_root_mean(&squares, n - 1) : INFINITY;
  return (struct gpnn_estimate){mean, sd / sqrt((double)n)};
}

static double risk(const struct values *v, size_t i)
{
  return v->result->risk[v->a * v->result->n_points + i];
}

static double mse(const struct values *v, size_t i)
{
  return v->result->mse[v->a * v->result->n_points + i];
}

static double cal(const struct values *v, size_t i)
{
  return v->result->z2[v->a * v->result->n_points + i] / v->factor;
}

static double nll(const struct values *v, size_t i)
{
  double log_variance = v->result->log_variance[v->a * v->result->n_points + i];
  return 0.5 * (log_variance + log(v->factor) + cal(v, i) + GPNN_LOG_TWO_PI);
}

static double heldout(const struct values *v, size_t i)
{
  return v->result->heldout_z2[v->a * v->result->n_heldout + i];
}

static double derivative(const struct values *v, size_t i)
{
  static const double weight[GPNN_STENCIL] = {1, -8, 8, -1};
  double sum = 0;
  for (size_t k = 0; k < GPNN_STENCIL; k++)
    sum += weight[k] * v->result->risk[(v->a + k) * v->result->n_points + i];
  return sum / (12 * v->step);
}

struct gpnn_estimate gpnn_risk_of_mean(const struct gpnn_risk_result *result, size_t a)
{
  return estimate(&(struct values){result, a, 1, 0}, result->n_points, risk);
}

struct gpnn_estimate gpnn_risk_mse(const struct gpnn_risk_result *result, size_t a)
{
  return estimate(&(struct values){result, a, 1, 0}, result->n_points, mse);
}

struct gpnn_estimate gpnn_risk_nll(const struct gpnn_risk_result *result, size_t a, double factor)
{
  return estimate(&(struct values){result, a, factor, 0}, result->n_points, nll);
}

struct gpnn_estimate gpnn_risk_cal(const struct gpnn_risk_result *result, size_t a, double factor)
{
  return estimate(&(struct values){result, a, factor, 0}, result->n_points, cal);
}

struct gpnn_estimate gpnn_risk_factor(const struct gpnn_risk_result *result, size_t a)
{
  return estimate(&(struct values){result, a, 1, 0}, result->n_heldout, heldout);
}

struct gpnn_estimate gpnn_risk_derivative(const struct gpnn_risk_result *result, size_t first,
                                          double step)
{
  return estimate(&(struct values){result, first, 1, step}, result->n_points, derivative);
}

/* ---- parameters --------------------------------------------------------------------------- */

double *gpnn_risk_parameter_value(struct gpnn_assumed_model *assumed,
                                  enum gpnn_risk_parameter parameter)
{
  switch (parameter) {
  case GPNN_RISK_LENGTHSCALE:
    return &assumed->covariance.isotropic;
  case GPNN_RISK_KERNELSCALE:
    return &assumed->covariance.kernelscale;
  case GPNN_RISK_NOISE:
    return &assumed->covariance.noise;
  case GPNN_RISK_COEFFICIENT:
  case GPNN_RISK_N_PARAMETERS:
    break;
  }
  return &assumed->coefficient;
}

const char *gpnn_risk_parameter_name(enum gpnn_risk_parameter parameter)
{
  static const char *const names[GPNN_RISK_N_PARAMETERS] = {"lengthscale", "kernelscale", "noise",
                                                            "coefficient"};
  return names[parameter];
}

bool gpnn_risk_parameter_allows(enum gpnn_risk_parameter parameter, double value)
{
  return isfinite(value) && (value > 0 || parameter == GPNN_RISK_COEFFICIENT);
}

bool gpnn_risk_stencil(const struct gpnn_assumed_model *centre, enum gpnn_risk_parameter parameter,
                       double step, struct gpnn_assumed_model stencil[GPNN_STENCIL])
{
  static const double steps[GPNN_STENCIL] = {-2, -1, 1, 2};
  struct gpnn_assumed_model moved = *centre;
  double value = *gpnn_risk_parameter_value(&moved, parameter);
  if (!gpnn_risk_parameter_allows(parameter, value - 2 * step)) return false;
  for (size_t k = 0; k < GPNN_STENCIL; k++) {
    *gpnn_risk_parameter_value(&moved, parameter) = value + steps[k] * step;
    stencil[k] = moved;
  }
  return true;
}
