#include <math.h>

#include "simulate/risk.h"
#include "stats/sum.h"

static const double log_2pi = 1.8378770664093454836;

/* ---- estimates ---------------------------------------------------------------------------- */

/* Value 'i' of something that is averaged over points. */
struct values {
  const struct gpnn_simulated *simulated;
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
  return v->simulated->risk[v->a * v->simulated->n_points + i];
}

static double mse(const struct values *v, size_t i)
{
  return v->simulated->mse[v->a * v->simulated->n_points + i];
}

static double cal(const struct values *v, size_t i)
{
  return v->simulated->z2[v->a * v->simulated->n_points + i] / v->factor;
}

static double nll(const struct values *v, size_t i)
{
  double log_variance = v->simulated->log_variance[v->a * v->simulated->n_points + i];
  return 0.5 * (log_variance + log(v->factor) + cal(v, i) + log_2pi);
}

static double held(const struct values *v, size_t i)
{
  return v->simulated->held_z2[v->a * v->simulated->n_held + i];
}

static double derivative(const struct values *v, size_t i)
{
  static const double weight[GPNN_STENCIL] = {1, -8, 8, -1};
  double sum = 0;
  for (size_t k = 0; k < GPNN_STENCIL; k++)
    sum += weight[k] * v->simulated->risk[(v->a + k) * v->simulated->n_points + i];
  return sum / (12 * v->step);
}

struct gpnn_estimate gpnn_simulated_risk(const struct gpnn_simulated *simulated, size_t a)
{
  return estimate(&(struct values){simulated, a, 1, 0}, simulated->n_points, risk);
}

struct gpnn_estimate gpnn_simulated_mse(const struct gpnn_simulated *simulated, size_t a)
{
  return estimate(&(struct values){simulated, a, 1, 0}, simulated->n_points, mse);
}

struct gpnn_estimate gpnn_simulated_nll(const struct gpnn_simulated *simulated, size_t a,
                                        double factor)
{
  return estimate(&(struct values){simulated, a, factor, 0}, simulated->n_points, nll);
}

struct gpnn_estimate gpnn_simulated_cal(const struct gpnn_simulated *simulated, size_t a,
                                        double factor)
{
  return estimate(&(struct values){simulated, a, factor, 0}, simulated->n_points, cal);
}

struct gpnn_estimate gpnn_simulated_factor(const struct gpnn_simulated *simulated, size_t a)
{
  return estimate(&(struct values){simulated, a, 1, 0}, simulated->n_held, held);
}

struct gpnn_estimate gpnn_simulated_derivative(const struct gpnn_simulated *simulated, size_t first,
                                               double step)
{
  return estimate(&(struct values){simulated, first, 1, step}, simulated->n_points, derivative);
}

/* ---- parameters --------------------------------------------------------------------------- */

double *gpnn_simulate_value(struct gpnn_assumed *assumed, enum gpnn_simulate_parameter parameter)
{
  switch (parameter) {
  case GPNN_SIMULATE_LENGTHSCALE:
    return &assumed->covariance.lengthscale;
  case GPNN_SIMULATE_KERNELSCALE:
    return &assumed->covariance.kernelscale;
  case GPNN_SIMULATE_NOISE:
    return &assumed->covariance.noise;
  case GPNN_SIMULATE_COEFFICIENT:
  case GPNN_SIMULATE_N_PARAMETERS:
    break;
  }
  return &assumed->coefficient;
}

const char *gpnn_simulate_name(enum gpnn_simulate_parameter parameter)
{
  static const char *const names[GPNN_SIMULATE_N_PARAMETERS] = {"lengthscale", "kernelscale",
                                                                "noise", "coefficient"};
  return names[parameter];
}

bool gpnn_simulate_allows(enum gpnn_simulate_parameter parameter, double value)
{
  return isfinite(value) && (value > 0 || parameter == GPNN_SIMULATE_COEFFICIENT);
}

bool gpnn_simulate_stencil(const struct gpnn_assumed *at, enum gpnn_simulate_parameter parameter,
                           double step, struct gpnn_assumed stencil[GPNN_STENCIL])
{
  static const double steps[GPNN_STENCIL] = {-2, -1, 1, 2};
  struct gpnn_assumed moved = *at;
  double here = *gpnn_simulate_value(&moved, parameter);
  if (!gpnn_simulate_allows(parameter, here - 2 * step)) return false;
  for (size_t k = 0; k < GPNN_STENCIL; k++) {
    *gpnn_simulate_value(&moved, parameter) = here + steps[k] * step;
    stencil[k] = moved;
  }
  return true;
}

/* ---- theory ------------------------------------------------------------------------------- */

struct gpnn_simulate_limits gpnn_simulate_limits(double noise, double assumed, size_t m)
{
  double more = 1 + 1 / (double)m;
  return (struct gpnn_simulate_limits){.mse = noise * more,
                                       .nll =
                                           0.5 * (log(assumed * more) + noise / assumed + log_2pi),
                                       .cal = noise / assumed};
}

double gpnn_simulate_exponent(double p, size_t d)
{
  return -2 * p / (2 * p + (double)d);
}

size_t gpnn_simulate_schedule(double p, size_t d, size_t most, uint64_t largest, uint64_t n)
{
  /* Rounding must not make one more of a whole number. */
  static const double nearly = 1 - 1e-12;
  double share = pow((double)n / (double)largest, -gpnn_simulate_exponent(p, d));
  double m = fmax(ceil((double)most * share * nearly), 1);
  return m < (double)n ? (size_t)m : (size_t)n;
}
