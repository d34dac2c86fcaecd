/*
 * Distribution function and quantiles of counts.
 *
 * A count is at most k where e^f is below a gamma variable of shape k + 1 (negative binomial: r
 * times the ratio of gamma variables of shapes k + 1 and r), so with T the log of that,
 *   P(count <= k) = P(T > f) = integral of the density of T times Phi((t - mean of f) / sd of f),
 * two smooth functions, of which either may be the narrower one.
 */
#include <math.h>
#include <stdlib.h>

#include "likelihood/count_private.h"
#include "stats/normal.h"

/* The variable T, measured from its mode, log(k + 1). */
struct threshold {
  const struct gpnn_count_law *law;
  double shape;     /* k + 1 */
  double log_scale; /* log of the factor of its density */
  double mode, sd;  /* of a normal density that fits it best at its mode */
};

static double threshold_density(const struct threshold *t, double off)
{
  return exp(t->log_scale + gpnn_count_near_best(t->law, t->shape, off));
}

static struct threshold threshold_of(const struct gpnn_count_law *law, double shape)
{
  struct threshold t = {.law = law, .shape = shape, .mode = log(shape)};
  t.sd = sqrt(1 / shape + 1 / law->dispersion);
  t.log_scale = gpnn_count_constant(law, shape) + log(shape); /* Gamma(shape), not its factorial */
  return t;
}

/* How far from its mode, in the direction 'sign', the density of T is negligible. */
static double reach(const struct threshold *t, double sign)
{
  const double negligible = 1e-16;
  double peak = threshold_density(t, 0), distance = 4 * t->sd;
  while (threshold_density(t, sign * distance) > negligible * peak && distance < 1e4)
    distance *= 1.3;
  return distance;
}

/* Integral over a piece by Gauss and Legendre's rule with eight points. */
static double integrate_piece(const struct threshold *t, const struct gpnn_count_latent *latent,
                              double from, double to)
{
  static const double point[] = {0.18343464249564980494, 0.52553240991632898582,
                                 0.79666647741362673959, 0.96028985649753623168};
  static const double weight[] = {0.36268378337836198297, 0.31370664587788728734,
                                  0.22238103445337447054, 0.10122853629037625915};
  double centre = 0.5 * (from + to), half = 0.5 * (to - from), sum = 0;
  double from_mode = latent->mean - t->mode;
  for (int i = 0; i < 8; i++) {
    double at = centre + (i % 2 == 0 ? half : -half) * point[i / 2];
    double above = latent->sd > 0 ? gpnn_normal_cdf((at - from_mode) / latent->sd) : 1;
    sum += weight[i / 2] * threshold_density(t, at) * above;
  }
  return half * sum;
}

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Ends of pieces that resolve both functions, in units of either's width; the tails of T, which may
 * be exponential, need some more. */
enum { N_STEPS = 9, N_TAIL = 10, N_ENDS = 2 * N_STEPS + 2 * N_TAIL + 2 };

static void set_ends(const struct threshold *t, const struct gpnn_count_latent *latent,
                     double ends[N_ENDS])
{
  static const double steps[N_STEPS] = {-6, -4, -2.5, -1.2, 0, 1.2, 2.5, 4, 6};
  double lower = -reach(t, -1), upper = reach(t, 1), far = 6;
  double from_mode = latent->mean - t->mode;
  int n = 0;
  if (latent->sd == 0) lower = fmin(fmax(lower, from_mode), upper);
  for (int i = 0; i < N_STEPS; i++) {
    ends[n++] = steps[i] * t->sd;
    ends[n++] = from_mode + steps[i] * latent->sd;
  }
  for (int i = 0; i < N_TAIL; i++) {
    far *= 1.35;
    ends[n++] = -far * t->sd;
    ends[n++] = far * t->sd;
  }
  ends[n++] = lower;
  ends[n++] = upper;
  for (int i = 0; i < N_ENDS; i++) ends[i] = fmin(fmax(ends[i], lower), upper);
  qsort(ends, N_ENDS, sizeof *ends, compare);
}

double gpnn_count_cdf_at(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                         double k)
{
  double ends[N_ENDS], sum = 0;
  const struct threshold t = threshold_of(law, k + 1);
  set_ends(&t, latent, ends);
  for (int i = 0; i + 1 < N_ENDS; i++)
    if (ends[i] < ends[i + 1]) sum += integrate_piece(&t, latent, ends[i], ends[i + 1]);
  return fmin(sum, 1);
}

double gpnn_count_cdf(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                      double y)
{
  if (isnan(y) || isnan(latent->mean) || isnan(latent->sd)) return nan("");
  if (y < 0) return 0;
  return isinf(y) ? 1 : gpnn_count_cdf_at(law, latent, floor(y));
}

double gpnn_count_pit(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                      double y)
{
  double up_to = gpnn_count_cdf(law, latent, y);
  return fmax(up_to - 0.5 * exp(gpnn_count_marginal(law, latent, y)), 0);
}

/* ---- quantiles ---------------------------------------------------------------------------- */

/* A guess at a quantile: as if the logarithm of the count were normal. */
static double guess(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                    double p)
{
  const double most = 500;
  double centre = fmin(fmax(latent->mean, -most), most);
  double weight = gpnn_count_slopes(law, 0, centre).weight;
  double spread = sqrt(latent->sd * latent->sd + 1 / weight);
  double z = gpnn_normal_quantile(p);
  return floor(exp(fmin(centre + z * fmin(spread, 100), most)));
}

/* Between 'below', up to which there is less than p, and 'above', up to which there is enough: by
 * the secant of the logarithm, and by halving where that does not shorten the search. */
static double narrow(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                     double p, double below, double above, double f_below, double f_above)
{
  for (int step = 0; above - below > 1; step++) {
    double share = (p - f_below) / (f_above - f_below);
    if (step % 3 == 2 || !(share > 0 && share < 1)) share = 0.5;
    double k = floor(below + share * (above - below));
    if (k <= below || k >= above) k = floor(below + 0.5 * (above - below));
    if (k <= below || k >= above) break; /* neighbouring doubles */
    double f = gpnn_count_cdf_at(law, latent, k);
    if (f >= p)
      above = k, f_above = f;
    else
      below = k, f_below = f;
  }
  return above;
}

double gpnn_count_quantile(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                           double p)
{
  const double most = 1e300;
  if (isnan(latent->mean) || isnan(latent->sd)) return nan("");
  double above = guess(law, latent, p), below = above;
  double f_above = gpnn_count_cdf_at(law, latent, above), f_below = f_above;
  for (double step = 1 + 0.1 * above; f_above < p && above < most; step *= 2) {
    below = above, f_below = f_above;
    above = floor(above + step);
    f_above = gpnn_count_cdf_at(law, latent, above);
  }
  for (double step = 1 + 0.1 * above; f_below >= p; step *= 2) {
    above = below, f_above = f_below;
    if (below == 0) return 0;
    below = fmax(floor(below - step), 0);
    f_below = gpnn_count_cdf_at(law, latent, below);
  }
  return narrow(law, latent, p, below, above, f_below, f_above);
}
