#include "likelihood/distribution.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "likelihood/count.h"
#include "stats/distributions/normal.h"
#include "stats/distributions/student.h"

/* ---- w and the target --------------------------------------------------------------------- */

static double scale_of(const struct gpnn_distribution *d)
{
  return d->sd * gpnn_student_unit_scale(d->degrees);
}

/* The target without its offset. */
static double value_of(const struct gpnn_distribution *d, double w)
{
  return d->warp == NULL ? w : d->warp->inverse(d->warp->context, w);
}

static double target_of(const struct gpnn_distribution *d, double w)
{
  return d->warp == NULL ? w : value_of(d, w) + d->offset;
}

static double without_offset(const struct gpnn_distribution *d, double y)
{
  return d->warp == NULL ? y : y - d->offset;
}

/* (w - location) / scale of the w that the value 'y', without an offset, stems from. */
static double standardised(const struct gpnn_distribution *d, double y)
{
  double w = d->warp == NULL ? y : d->warp->forward(d->warp->context, y);
  double error = w - d->location;
  return error == 0 ? 0 : error / scale_of(d);
}

/* What a count's distribution knows of the latent function. */
static struct gpnn_count_latent latent_of(const struct gpnn_distribution *d)
{
  return (struct gpnn_count_latent){d->location, d->sd};
}

/* ---- the atom ----------------------------------------------------------------------------- */

/* The distribution without its atom, and the probability of that. */
static struct gpnn_distribution without_atom(const struct gpnn_distribution *d, double *probability)
{
  struct gpnn_distribution rest = *d;
  rest.atom = (struct gpnn_distribution_atom){0};
  *probability = 1 - d->atom.probability;
  return rest;
}

static bool has_atom(const struct gpnn_distribution *d)
{
  return d->atom.probability > 0;
}

static bool is_at_atom(const struct gpnn_distribution *d, double y)
{
  return fabs(y - d->atom.at) <= d->atom.within;
}

/* The target w with probability 'below' of smaller ones and 'above' of larger ones, which sum to 1;
 * the smaller of them has the digits. */
static double w_between(const struct gpnn_distribution *d, double below, double above)
{
  double t = below <= above ? gpnn_student_quantile(below, d->degrees)
                            : -gpnn_student_quantile(above, d->degrees);
  return d->location + scale_of(d) * t;
}

/* The same of the target, and of a mixture; NaN: at the atom. */
static double w_of_mixture(const struct gpnn_distribution *d, double below, double above)
{
  double p = d->atom.probability, rest = 1 - p;
  double t = standardised(d, without_offset(d, d->atom.at));
  double up_to = rest * gpnn_student_cdf(t, d->degrees);
  double beyond = rest * gpnn_student_cdf(-t, d->degrees);
  if (below < up_to) return w_between(d, below / rest, (above - p) / rest);
  if (above < beyond) return w_between(d, (below - p) / rest, above / rest);
  return nan("");
}

static double quantile(const struct gpnn_distribution *d, double below, double above)
{
  double w = has_atom(d) ? w_of_mixture(d, below, above) : w_between(d, below, above);
  return has_atom(d) && isnan(w) && !isnan(d->location) ? d->atom.at : target_of(d, w);
}

/* ---- quantiles ---------------------------------------------------------------------------- */

/* A draw of w is moved to that of the same probability in the mixture. */
double gpnn_distribution_target(const struct gpnn_distribution *d, double w)
{
  if (isnan(w)) return w;
  if (has_atom(d) && scale_of(d) > 0) {
    double t = (w - d->location) / scale_of(d);
    w = w_of_mixture(d, gpnn_student_cdf(t, d->degrees), gpnn_student_cdf(-t, d->degrees));
    if (isnan(w)) return d->atom.at;
  }
  if (d->warp == NULL) return w;
  return fmin(fmax(value_of(d, w), d->warp->lower), d->warp->upper) + d->offset;
}

double gpnn_distribution_quantile(const struct gpnn_distribution *d, double p)
{
  const struct gpnn_count_latent latent = latent_of(d);
  if (d->count != NULL) return gpnn_count_quantile(d->count, &latent, p);
  if (has_atom(d)) return quantile(d, p, 1 - p);
  return target_of(d, d->location + scale_of(d) * gpnn_student_quantile(p, d->degrees));
}

double gpnn_distribution_cdf(const struct gpnn_distribution *d, double y)
{
  const struct gpnn_count_latent latent = latent_of(d);
  if (d->count != NULL) return gpnn_count_pit(d->count, &latent, y);
  double below = gpnn_student_cdf(standardised(d, without_offset(d, y)), d->degrees);
  double p = d->atom.probability;
  if (!has_atom(d)) return below;
  return (1 - p) * below + p * (is_at_atom(d, y) ? 0.5 : y > d->atom.at ? 1 : 0);
}

void gpnn_distribution_interval(const struct gpnn_distribution *d, double half_width, double *lower,
                                double *upper)
{
  if (d->count != NULL) {
    *lower = gpnn_distribution_quantile(d, gpnn_normal_cdf(-half_width));
    *upper = gpnn_distribution_quantile(d, gpnn_normal_cdf(half_width));
    return;
  }
  if (has_atom(d)) {
    double t = half_width / gpnn_student_unit_scale(d->degrees);
    double below = gpnn_student_cdf(-t, d->degrees), above = gpnn_student_cdf(t, d->degrees);
    *lower = quantile(d, below, above);
    *upper = quantile(d, above, below);
    return;
  }
  *lower = target_of(d, d->location - half_width * d->sd);
  *upper = target_of(d, d->location + half_width * d->sd);
}

double gpnn_distribution_log_density(const struct gpnn_distribution *d, double y)
{
  const struct gpnn_count_latent latent = latent_of(d);
  if (d->count != NULL) return gpnn_count_marginal(d->count, &latent, y);
  if (has_atom(d)) {
    double probability;
    const struct gpnn_distribution rest = without_atom(d, &probability);
    if (is_at_atom(d, y) && !isnan(d->location)) return log(d->atom.probability);
    return log(probability) + gpnn_distribution_log_density(&rest, y);
  }
  double value = without_offset(d, y), t = standardised(d, value), scale = scale_of(d);
  if (isinf(t)) return -INFINITY;
  if (scale == 0) return isnan(t) ? t : INFINITY;
  double logp = -gpnn_student_nll(t * scale, scale, d->degrees);
  return d->warp == NULL ? logp : logp + d->warp->log_derivative(d->warp->context, value);
}

/* ---- integrals ---------------------------------------------------------------------------- */

/* The standardised w's over which the target is integrated: those between the ends of its range. */
struct range {
  const struct gpnn_distribution *distribution;
  double scale;
  double lower, upper;     /* ends of the target's range */
  double t_lower, t_upper; /* t there */
  double below, above;     /* probabilities beyond them */
  double v_lower, v_upper; /* asinh(t) between which there is more than rounding to integrate */
};

static struct range range_of(const struct gpnn_distribution *d)
{
  const double negligible = 92; /* twice the log of 1e20 */
  double nu = d->degrees;
  double farthest = asinh(isinf(nu) ? sqrt(negligible) : sqrt(nu * expm1(negligible / nu)));
  struct range r = {.distribution = d,
                    .scale = scale_of(d),
                    .lower = d->warp->lower,
                    .upper = d->warp->upper,
                    .t_lower = standardised(d, d->warp->lower),
                    .t_upper = standardised(d, d->warp->upper)};
  r.below = gpnn_student_cdf(r.t_lower, nu);
  r.above = gpnn_student_cdf(-r.t_upper, nu);
  r.v_lower = fmax(asinh(r.t_lower), -farthest);
  r.v_upper = fmin(asinh(r.t_upper), farthest);
  return r;
}

static double value_at(const struct range *r, double t)
{
  return value_of(r->distribution, r->distribution->location + r->scale * t);
}

/* A function of t, and of the target's value y there, without its offset, whose expectation is
 * wanted. */
typedef double integrand(const void *context, double t, double y);

/* An integrand's integral, and that of its square. */
struct integral {
  double first, second;
};

/* Adds the integrals, with respect to the distribution of t, over asinh(t) from 'a' to 'b', where
 * the warping function has no kink.  In asinh(t) both distributions are smooth and have light
 * tails; eight points of the rule in a piece are then accurate to some 1e-9, in pieces that are
 * half as long where tails are nearly normal. */
static void add_smooth(const struct range *r, double a, double b, integrand *f, const void *context,
                       struct integral *sum)
{
  enum { POINTS = 8 };
  static const double point[POINTS] = {-0.96028985649753623168, -0.79666647741362673959,
                                       -0.52553240991632898582, -0.18343464249564980494,
                                       0.18343464249564980494,  0.52553240991632898582,
                                       0.79666647741362673959,  0.96028985649753623168};
  static const double weight[POINTS] = {0.10122853629037625915, 0.22238103445337447054,
                                        0.31370664587788728734, 0.36268378337836198297,
                                        0.36268378337836198297, 0.31370664587788728734,
                                        0.22238103445337447054, 0.10122853629037625915};
  double longest = r->distribution->degrees > 8 ? 0.5 : 1;
  int pieces = 1 + (int)((b - a) / longest);
  double half = (b - a) / (2 * pieces);
  for (int i = 0; i < pieces; i++)
    for (int k = 0; k < POINTS; k++) {
      double v = a + half * (2 * i + 1 + point[k]), t = sinh(v);
      double density = gpnn_student_density(t, r->distribution->degrees) * cosh(v);
      double value = f(context, t, value_at(r, t));
      sum->first += half * weight[k] * density * value;
      sum->second += half * weight[k] * density * value * value;
    }
}

/* The integrals over asinh(t) from 'a' to 'b', one stretch between kinks after the other. */
static struct integral integrate(const struct range *r, double a, double b, integrand *f,
                                 const void *context)
{
  const struct gpnn_distribution *d = r->distribution;
  struct integral sum = {0};
  if (!(a < b)) return sum;
  for (size_t i = 0; i < d->warp->n_kinks; i++) {
    double v = asinh((d->warp->kink(d->warp->context, i) - d->location) / r->scale);
    if (!(v > a && v < b)) continue;
    add_smooth(r, a, v, f, context, &sum);
    a = v;
  }
  add_smooth(r, a, b, f, context, &sum);
  return sum;
}

/* ---- moments ------------------------------------------------------------------------------ */

static double difference(const void *centre, double t, double y)
{
  (void)t;
  return y - *(const double *)centre;
}

/* Of values that count as the ends of the range beyond it, relative to a value in the middle of the
 * distribution, so that a small standard deviation keeps its digits. */
static void warped_moments(const struct gpnn_distribution *d, double *mean, double *sd)
{
  const struct range r = range_of(d);
  double centre = fmin(fmax(value_of(d, d->location), r.lower), r.upper);
  double down = r.lower - centre, up = r.upper - centre;
  struct integral from_centre = integrate(&r, r.v_lower, r.v_upper, difference, &centre);
  double first = from_centre.first + r.below * down + r.above * up;
  double second = from_centre.second + r.below * down * down + r.above * up * up;
  *mean = centre + first + d->offset;
  *sd = sqrt(fmax(second - first * first, 0));
}

void gpnn_distribution_moments(const struct gpnn_distribution *d, double *mean, double *sd)
{
  const struct gpnn_count_latent latent = latent_of(d);
  if (d->count != NULL) {
    gpnn_count_moments(d->count, &latent, mean, sd);
    return;
  }
  if (has_atom(d)) {
    double probability, of_rest, sd_of_rest, p = d->atom.probability;
    const struct gpnn_distribution rest = without_atom(d, &probability);
    gpnn_distribution_moments(&rest, &of_rest, &sd_of_rest);
    double off = of_rest - d->atom.at;
    *mean = d->atom.at + probability * off;
    *sd = sqrt(probability * (sd_of_rest * sd_of_rest + p * off * off));
    return;
  }
  if (d->warp != NULL && !isnan(d->location) && !isnan(d->sd)) {
    warped_moments(d, mean, sd);
    return;
  }
  *mean = d->location;
  *sd = d->sd;
}

/* ---- CRPS --------------------------------------------------------------------------------- */

struct truth {
  double y, t, degrees;
};

/* |value - truth| times the probability of the tail that begins at the value and lies away from the
 * truth. */
static double tail_of_difference(const void *context, double t, double y)
{
  const struct truth *truth = context;
  return fabs(y - truth->y) * gpnn_student_cdf(t < truth->t ? t : -t, truth->degrees);
}

/* Integration by parts of the integral of (F(x) - [x >= y])^2 over x, to either side of the truth,
 * leaves a sum of positive terms without the derivative of the warping function. */
static double warped_crps(const struct gpnn_distribution *d, double y)
{
  const struct range r = range_of(d);
  double inside = fmin(fmax(y, r.lower), r.upper), t = standardised(d, inside);
  const struct truth truth = {inside, t, d->degrees};
  double at = fmin(fmax(asinh(t), r.v_lower), r.v_upper);
  double sum = r.below * r.below * (inside - r.lower) + r.above * r.above * (r.upper - inside);
  sum += 2 * integrate(&r, r.v_lower, at, tail_of_difference, &truth).first;
  sum += 2 * integrate(&r, at, r.v_upper, tail_of_difference, &truth).first;
  return sum + fabs(y - inside);
}

double gpnn_distribution_crps(const struct gpnn_distribution *d, double y)
{
  const struct gpnn_count_latent latent = latent_of(d);
  if (d->count != NULL) return gpnn_count_crps(d->count, &latent, y);
  if (has_atom(d)) {
    double probability, p = d->atom.probability;
    const struct gpnn_distribution rest = without_atom(d, &probability);
    return p * fabs(y - d->atom.at) + probability * (gpnn_distribution_crps(&rest, y) -
                                                     p * gpnn_distribution_crps(&rest, d->atom.at));
  }
  double value = without_offset(d, y), scale = scale_of(d), t = standardised(d, value);
  if (isnan(t) || isnan(scale)) return nan("");
  if (d->warp != NULL) return warped_crps(d, value);
  /* If t overflows, the distribution is a point in comparison. */
  return isinf(t) || scale == 0 ? fabs(y - d->location) : scale * gpnn_student_crps(t, d->degrees);
}

struct gpnn_distribution_score gpnn_distribution_score(const struct gpnn_distribution *d, double y)
{
  double pit = gpnn_distribution_cdf(d, y), step = is_at_atom(d, y) ? d->atom.probability : 0;
  return (struct gpnn_distribution_score){gpnn_distribution_log_density(d, y),
                                          gpnn_distribution_crps(d, y), pit,
                                          isnan(pit) ? pit : step};
}
