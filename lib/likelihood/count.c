#include "likelihood/count.h"

#include <math.h>
#include <stdlib.h>

#include "likelihood/logistic.h"
#include "stats/distributions/normal.h"

/* Beyond e^+-300 no count is found; within, rates and their products stay finite. */
static const double farthest = 300;

/* The distance of points, for sums over f of something as wide as 'width': no more than 1/2 because
 * e^f itself varies over a unit of f. */
static double step_of(double width)
{
  return fmin(0.4 * width, 0.5);
}

static double bounded(double f)
{
  return isnan(f) ? f : fmin(fmax(f, -farthest), farthest);
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
static double constant_part(const struct gpnn_count_law *law, double y)
{
  const double large = 15;
  double r = law->dispersion;
  if (is_poisson(law)) {
    if (y >= large) return -0.5 * (GPNN_LOG_TWO_PI + log(y)) - correction(y);
    return (y > 0 ? y * log(y) - y : 0) - log_gamma(y + 1);
  }
  return y >= r ? log_rising(y + 1, r - 1) - log_gamma(r) : log_rising(r, y) - log_gamma(y + 1);
}

/* x - (e^x - 1), with all its digits near 0. */
static double below_exponential(double x)
{
  x = fmin(x, farthest);
  if (fabs(x) > 0.01) return x - expm1(x);
  return -x * x * (0.5 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120 + x / 720))));
}

/* The same for y > 0, where f = log y + off: without the digits that log y would cost. */
static double near_best(const struct gpnn_count_law *law, double y, double off)
{
  double r = law->dispersion, ratio = log(y / r);
  if (is_poisson(law)) return y * below_exponential(off);
  return -y * gpnn_logistic_softplus(-off - ratio) - r * gpnn_logistic_softplus(off + ratio);
}

/* The part that depends on f. */
static double variable_part(const struct gpnn_count_law *law, double y, double f)
{
  if (y > 0) return near_best(law, y, f - log(y));
  return is_poisson(law) ? -exp(bounded(f))
                         : -law->dispersion * gpnn_logistic_softplus(f - log(law->dispersion));
}

double gpnn_count_log_probability(const struct gpnn_count_law *law, double y, double f)
{
  if (isnan(y) || isnan(f)) return nan("");
  if (!gpnn_count_is_count(y)) return -INFINITY;
  return constant_part(law, y) + variable_part(law, y, f);
}

struct gpnn_count_slopes gpnn_count_slopes(const struct gpnn_count_law *law, double y, double f)
{
  double r = law->dispersion;
  f = bounded(f);
  double rate = exp(f);
  if (is_poisson(law)) return (struct gpnn_count_slopes){y - rate, rate, rate};
  double u = f - log(r), below = gpnn_logistic_sigmoid(-u), above = gpnn_logistic_sigmoid(u);
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
static double mode(const struct gpnn_count_law *law, double y,
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

/* True if the most likely f lies beyond the rates that mode() looks at. */
static bool is_beyond(const struct gpnn_count_law *law, double y,
                      const struct gpnn_count_latent *latent)
{
  double nearest = bounded(latent->mean);
  if (nearest == latent->mean) return false;
  return (total_gradient(law, y, latent, nearest) < 0) == (nearest < 0);
}

struct gpnn_count_site gpnn_count_site(const struct gpnn_count_law *law, double y,
                                       const struct gpnn_count_latent *latent)
{
  double f = mode(law, y, latent);
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
    double below = largest - (variable_part(law, y, at) - 0.5 * z * z);
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
  if (!(latent->sd > 0) || is_beyond(law, y, latent))
    return gpnn_count_log_probability(law, y, latent->mean);
  double f = mode(law, y, latent), z = (f - latent->mean) / latent->sd;
  double curvature = gpnn_count_slopes(law, y, f).curvature + 1 / (latent->sd * latent->sd);
  double step = step_of(1 / sqrt(curvature));
  double largest = variable_part(law, y, f) - 0.5 * z * z;
  double sum = 1 + sum_outwards(law, y, latent, f, step, largest) +
               sum_outwards(law, y, latent, f, -step, largest);
  return constant_part(law, y) + largest + log(sum * step / latent->sd) - log_root_two_pi;
}

/* ---- the distribution function -------------------------------------------------------------- */

/* The variable T, measured from its mode, log(k + 1). */
struct threshold {
  const struct gpnn_count_law *law;
  double shape;     /* k + 1 */
  double log_scale; /* log of the factor of its density */
  double mode, sd;  /* of a normal density that fits it best at its mode */
};

static double threshold_density(const struct threshold *t, double off)
{
  return exp(t->log_scale + near_best(t->law, t->shape, off));
}

static struct threshold threshold_of(const struct gpnn_count_law *law, double shape)
{
  struct threshold t = {.law = law, .shape = shape, .mode = log(shape)};
  t.sd = sqrt(1 / shape + 1 / law->dispersion);
  t.log_scale = constant_part(law, shape) + log(shape); /* Gamma(shape), not its factorial */
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

/* The probability of counts up to k > -1, which need not be whole: then it lies between those of
 * the counts on either side. */
static double cdf_at(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
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
  return isinf(y) ? 1 : cdf_at(law, latent, floor(y));
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
    double f = cdf_at(law, latent, k);
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
  double f_above = cdf_at(law, latent, above), f_below = f_above;
  for (double step = 1 + 0.1 * above; f_above < p && above < most; step *= 2) {
    below = above, f_below = f_above;
    above = floor(above + step);
    f_above = cdf_at(law, latent, above);
  }
  for (double step = 1 + 0.1 * above; f_below >= p; step *= 2) {
    above = below, f_above = f_below;
    if (below == 0) return 0;
    below = fmax(floor(below - step), 0);
    f_below = cdf_at(law, latent, below);
  }
  return narrow(law, latent, p, below, above, f_below, f_above);
}

/* ---- the continuous ranked probability score ------------------------------------------------ */

enum { BLOCK = 64, MOST_POINTS = 1024, MOST_WORK = 1 << 20 };

/* ---- a sum -------------------------------------------------------------------------------- */

/* Equidistant points of f, with the probabilities of the count k at each. */
struct points {
  const struct gpnn_count_law *law;
  int n;
  double f[MOST_POINTS], weight[MOST_POINTS], probability[MOST_POINTS], ratio[MOST_POINTS];
};

/* How many points, at the distance '*step', resolve the density of f and the probabilities of the
 * counts that are likely. */
static double points_needed(const struct gpnn_count_law *law,
                            const struct gpnn_count_latent *latent, double *step)
{
  const double reach = 8, likely = 4;
  if (latent->sd == 0) return 1;
  double weight = gpnn_count_slopes(law, 0, latent->mean + likely * latent->sd).weight;
  *step = step_of(fmin(latent->sd, 1 / sqrt(weight)));
  return 2 * ceil(reach * latent->sd / *step) + 1;
}

static void place(struct points *p, const struct gpnn_count_law *law,
                  const struct gpnn_count_latent *latent, int n, double step)
{
  double sum = 0, r = law->dispersion;
  p->law = law;
  p->n = n;
  for (int i = 0; i < n; i++) {
    double off = (i - n / 2) * step, z = n == 1 ? 0 : off / latent->sd;
    p->f[i] = latent->mean + (n == 1 ? 0 : off);
    p->weight[i] = exp(-0.5 * z * z);
    p->ratio[i] = isinf(r) ? exp(fmin(p->f[i], 300)) : 1 / (1 + r * exp(-p->f[i]));
    sum += p->weight[i];
  }
  for (int i = 0; i < n; i++) p->weight[i] /= sum;
}

/* The probability of the count k, where k rises by one from call to call.  Recurrences from each
 * count to the next begin anew now and then, for points whose first counts are too unlikely. */
static double probability_of(struct points *p, int k)
{
  double sum = 0, r = p->law->dispersion, rises = isinf(r) ? 1.0 / k : (k - 1 + r) / k;
  bool is_new = k % BLOCK == 0;
  double constant = is_new ? constant_part(p->law, k) : 0;
  for (int i = 0; i < p->n; i++) {
    if (is_new)
      p->probability[i] = exp(constant + variable_part(p->law, k, p->f[i]));
    else
      p->probability[i] *= rises * p->ratio[i];
    sum += p->weight[i] * p->probability[i];
  }
  return sum;
}

static double crps_as_sum(struct points *points, double y, double most)
{
  const double negligible = 1e-10;
  double below = 0, sum = 0;
  for (int k = 0; k < most; k++) {
    below += probability_of(points, k);
    double off = k < y ? below : 1 - below;
    sum += off * off;
    if (k >= y && off < negligible) break;
  }
  return sum;
}

/* ---- an integral -------------------------------------------------------------------------- */

/* P(count <= x) - [x >= y], but for its sign. */
static double distance_at(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                          double y, double x)
{
  double f = cdf_at(law, latent, x);
  return x < y - 0.5 ? f : 1 - f;
}

/* The integral of its square over x from 'from' to 'to', on one side of y. */
static double integrate_crps_piece(const struct gpnn_count_law *law,
                                   const struct gpnn_count_latent *latent, double y, double from,
                                   double to)
{
  static const double point[] = {0.33998104358485626480, 0.86113631159405257522};
  static const double weight[] = {0.65214515486254614263, 0.34785484513745385737};
  double centre = 0.5 * (from + to), half = 0.5 * (to - from), sum = 0;
  for (int i = 0; i < 4; i++) {
    double x = centre + (i % 2 == 0 ? half : -half) * point[i / 2];
    double off = distance_at(law, latent, y, x);
    sum += weight[i / 2] * off * off;
  }
  return half * sum;
}

/* The count as if it were continuous: the term of k is the integral from k - 1/2 to k + 1/2.  Away
 * from y pieces become longer, up to a share of x that the distribution does not vary within. */
static double crps_as_integral(const struct gpnn_count_law *law,
                               const struct gpnn_count_latent *latent, double y)
{
  const double negligible = 1e-6; /* whose square is well above the rounding of the function */
  double weight = gpnn_count_slopes(law, 0, latent->mean).weight;
  double share = fmin(0.5 * sqrt(latent->sd * latent->sd + 1 / weight), 0.5), sum = 0;
  for (double x = y - 0.5; x > -0.5;) {
    double next = fmax(x - fmax(share * (x + 0.5), 1), -0.5);
    sum += integrate_crps_piece(law, latent, y, next, x);
    x = next;
    if (distance_at(law, latent, y, x) < negligible) break;
  }
  for (double x = y - 0.5; x < 1e300 && distance_at(law, latent, y, x + 0.5) > negligible;) {
    double next = x + fmax(share * (x + 0.5), 1);
    sum += integrate_crps_piece(law, latent, y, x, next);
    x = next;
  }
  return sum;
}

double gpnn_count_crps(const struct gpnn_count_law *law, const struct gpnn_count_latent *latent,
                       double y)
{
  double mean, sd, step = 0;
  if (isnan(y) || isnan(latent->mean) || isnan(latent->sd)) return nan("");
  gpnn_count_moments(law, latent, &mean, &sd);
  double most = fmax(mean + 20 * sd, y) + BLOCK, n = points_needed(law, latent, &step);
  if (!(n <= MOST_POINTS && n * most <= MOST_WORK)) return crps_as_integral(law, latent, y);
  struct points points;
  place(&points, law, latent, (int)n, step);
  return crps_as_sum(&points, y, most);
}
