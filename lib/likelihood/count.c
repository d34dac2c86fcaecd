#include "likelihood/count.h"

#include <math.h>

#include "likelihood/count_private.h"
#include "likelihood/logistic.h"

/* Beyond e^+-300 no count is found; within, rates and their products stay finite. */
static const double farthest = 300;

static double bounded(double f)
{
  return isnan(f) ? f : fmin(fmax(f, -farthest), farthest);
}

static double logistic(double x)
{
  return x > 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static bool is_poisson(const struct gpnn_count_law *law)
{
  return isinf(law->dispersion);
}

bool gpnn_count_is_count(double y)
{
  return y >= 0 && isfinite(y) && y == floor(y);
}

/* ---- given f ------------------------------------------------------------------------------ */

/* What Stirling's formula leaves of log Gamma(x), from x = 15 on to the last digit. */
static double correction(double x)
{
  double q = 1 / (x * x);
  return (1.0 / 12 - q * (1.0 / 360 - q * (1.0 / 1260 - q * (1.0 / 1680 - q / 1188)))) / x;
}

/* log Gamma(x), x > 0; lgamma() may write to a variable that threads share. */
static double log_gamma(double x)
{
  const double log_root_two_pi = 0.91893853320467274178, enough = 15;
  double product = 1;
  for (; x < enough; x++) product *= x;
  return (x - 0.5) * log(x) - x + log_root_two_pi + correction(x) - log(product);
}

/* log Gamma(a + y) - log Gamma(a), also where a is so large that the difference of the two would
 * have few digits. */
static double log_rising(double a, double y)
{
  const double large = 15;
  if (a < large || a + y < large) return log_gamma(a + y) - log_gamma(a);
  return (a + y - 0.5) * log1p(y / a) + y * (log(a) - 1) + correction(a + y) - correction(a);
}

/* Of the terms of Stirling's formula those that do not cancel, so that large counts lose no
 * digits: y log y - y - log y!, and the like for the negative binomial. */
double gpnn_count_constant(const struct gpnn_count_law *law, double y)
{
  const double log_two_pi = 1.83787706640934548356, large = 15;
  double r = law->dispersion;
  if (is_poisson(law)) {
    if (y >= large) return -0.5 * (log_two_pi + log(y)) - correction(y);
    return (y > 0 ? y * log(y) - y : 0) - log_gamma(y + 1);
  }
  return y >= r ? log_rising(y + 1, r - 1) - log_gamma(r) : log_rising(r, y) - log_gamma(y + 1);
}

/* x - (e^x - 1), with all its digits near 0. */
static double below_exponential(double x)
{
  if (fabs(x) > 0.01) return x - expm1(fmin(x, farthest));
  return -x * x * (0.5 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120 + x / 720))));
}

double gpnn_count_near_best(const struct gpnn_count_law *law, double y, double off)
{
  double r = law->dispersion, ratio = log(y / r);
  if (is_poisson(law)) return y * below_exponential(off);
  return -y * gpnn_logistic_softplus(-off - ratio) - r * gpnn_logistic_softplus(off + ratio);
}

double gpnn_count_variable_part(const struct gpnn_count_law *law, double y, double f)
{
  if (y > 0) return gpnn_count_near_best(law, y, f - log(y));
  return is_poisson(law) ? -exp(bounded(f))
                         : -law->dispersion * gpnn_logistic_softplus(f - log(law->dispersion));
}

double gpnn_count_log_probability(const struct gpnn_count_law *law, double y, double f)
{
  if (isnan(y) || isnan(f)) return nan("");
  if (!gpnn_count_is_count(y)) return -INFINITY;
  return gpnn_count_constant(law, y) + gpnn_count_variable_part(law, y, f);
}

struct gpnn_count_slopes gpnn_count_slopes(const struct gpnn_count_law *law, double y, double f)
{
  double r = law->dispersion;
  f = bounded(f);
  double rate = exp(f);
  if (is_poisson(law)) return (struct gpnn_count_slopes){y - rate, rate, rate};
  double u = f - log(r), below = logistic(-u), above = logistic(u);
  return (struct gpnn_count_slopes){y * below - r * above, (y + r) * above * below, r * above};
}

/* ---- the most likely f -------------------------------------------------------------------- */

/* Derivative by f of log p(y | f) and of the log density of a normal f. */
static double total_gradient(const struct gpnn_count_law *law, double y,
                             const struct gpnn_count_latent *latent, double f)
{
  double variance = latent->sd * latent->sd;
  return gpnn_count_slopes(law, y, f).gradient - (f - latent->mean) / variance;
}

/* By Newton's method, kept between bounds that a bisection moves: both densities are log-concave,
 * so that there is one mode, between the mean of f and the f that explains y best. */
double gpnn_count_mode(const struct gpnn_count_law *law, double y,
                       const struct gpnn_count_latent *latent)
{
  enum { MOST_STEPS = 200 };
  double variance = latent->sd * latent->sd, centre = bounded(latent->mean);
  double pull = variance * gpnn_count_slopes(law, y, centre).gradient;
  double best = y > 0 ? log(y) : -INFINITY;
  double lower = pull >= 0 ? centre : fmax(best, centre + pull);
  double upper = pull >= 0 ? fmin(best, centre + pull) : centre;
  double f = upper; /* from above, where the curvature is largest, steps do not overshoot */
  for (int step = 0; step < MOST_STEPS; step++) {
    double slope = total_gradient(law, y, latent, f);
    if (slope > 0) lower = f;
    if (slope < 0) upper = f;
    double move = slope / (gpnn_count_slopes(law, y, f).curvature + 1 / variance);
    double next = f + move;
    if (!(next >= lower && next <= upper)) next = 0.5 * (lower + upper);
    if (fabs(next - f) <= 1e-13 * (1 + fabs(f))) return next;
    f = next;
  }
  return f;
}

struct gpnn_count_site gpnn_count_site(const struct gpnn_count_law *law, double y,
                                       const struct gpnn_count_latent *latent)
{
  double f = gpnn_count_mode(law, y, latent);
  struct gpnn_count_slopes slopes = gpnn_count_slopes(law, y, f);
  return (struct gpnn_count_site){f + slopes.gradient / slopes.weight, 1 / slopes.weight};
}

/* ---- given a normal f --------------------------------------------------------------------- */

/* E = exp(m + v/2) and Var = E + E^2 (e^v - 1) + E^2 e^v / r. */
void gpnn_count_moments(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                        double *mean, double *sd)
{
  double variance = latent->sd * latent->sd, expected = exp(latent->mean + variance / 2);
  double relative = expm1(variance);
  if (!is_poisson(law)) relative += exp(variance) / law->dispersion;
  *mean = expected;
  *sd = sqrt(expected) * sqrt(1 + expected * relative);
}

/* Adds, to the sum of exp(value - largest), the terms at f + step, f + 2 step ... until they are
 * negligible. */
static double sum_outwards(const struct gpnn_count_law *law, double y,
                           const struct gpnn_count_latent *latent, double f, double step,
                           double largest)
{
  enum { MOST_TERMS = 100000 };
  const double negligible = 40;
  double sum = 0;
  for (int i = 1; i < MOST_TERMS; i++) {
    double at = f + i * step, z = (at - latent->mean) / latent->sd;
    double below = largest - (gpnn_count_variable_part(law, y, at) - 0.5 * z * z);
    if (below > negligible) break;
    sum += exp(-below);
  }
  return sum;
}

double gpnn_count_marginal(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                           double y)
{
  const double log_root_two_pi = 0.91893853320467274178;
  if (isnan(latent->mean) || isnan(latent->sd) || isnan(y)) return nan("");
  if (!gpnn_count_is_count(y)) return -INFINITY;
  if (!(latent->sd > 0)) return gpnn_count_log_probability(law, y, latent->mean);
  double f = gpnn_count_mode(law, y, latent), z = (f - latent->mean) / latent->sd;
  double curvature = gpnn_count_slopes(law, y, f).curvature + 1 / (latent->sd * latent->sd);
  double step = gpnn_count_step(1 / sqrt(curvature));
  double largest = gpnn_count_variable_part(law, y, f) - 0.5 * z * z;
  double sum = 1 + sum_outwards(law, y, latent, f, step, largest) +
               sum_outwards(law, y, latent, f, -step, largest);
  return gpnn_count_constant(law, y) + largest + log(sum * step / latent->sd) - log_root_two_pi;
}
