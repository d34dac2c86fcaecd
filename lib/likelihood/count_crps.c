/*
 * The CRPS of counts: a sum over counts or, where it has too many terms, an integral.
 */
#include <math.h>

#include "likelihood/count_private.h"

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
  *step = gpnn_count_step(fmin(latent->sd, 1 / sqrt(weight)));
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
  double constant = is_new ? gpnn_count_constant(p->law, k) : 0;
  for (int i = 0; i < p->n; i++) {
    if (is_new)
      p->probability[i] = exp(constant + gpnn_count_variable_part(p->law, k, p->f[i]));
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
  double f = gpnn_count_cdf_at(law, latent, x);
  return x < y - 0.5 ? f : 1 - f;
}

/* The integral of its square over x from 'from' to 'to', on one side of y. */
static double integrate_piece(const struct gpnn_count_law *law,
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
    sum += integrate_piece(law, latent, y, next, x);
    x = next;
    if (distance_at(law, latent, y, x) < negligible) break;
  }
  for (double x = y - 0.5; x < 1e300 && distance_at(law, latent, y, x + 0.5) > negligible;) {
    double next = x + fmax(share * (x + 0.5), 1);
    sum += integrate_piece(law, latent, y, x, next);
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
