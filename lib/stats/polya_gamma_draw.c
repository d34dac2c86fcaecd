/*
 * Draws from PG(b, c): for whole b by the method of Devroye (2009) as Polson, Scott and Windle
 * (2013, section 4.1 and its appendix) adapt it, and otherwise from the sum of gamma variables that
 * defines the distribution.
 *
 * A draw from PG(1, c) is a quarter of one from J*(1, z), z = c/2, whose density is an alternating
 * series: proposals come from its first term, and enough of the others are summed to see whether
 * the proposal is to be accepted.
 */
#include <math.h>
#include <stdbool.h>

#include "stats/normal.h"
#include "stats/polya_gamma.h"

static const double pi = 3.14159265358979323846;

/* The first term of the series has one form up to this point and another beyond it. */
static const double cut = 0.64;

/* The n-th coefficient of the series at 'x'. */
static double coefficient(int n, double x)
{
  double h = n + 0.5;
  if (x > cut) return pi * h * exp(-0.5 * h * h * pi * pi * x);
  return pi * h * pow(2 / (pi * x), 1.5) * exp(-2 * h * h / x);
}

/* The probability that a proposal lies beyond the cut.  That below it is inverse Gaussian. */
static double share_beyond(double z, double rate)
{
  double root = sqrt(1 / cut);
  double below = exp(rate * cut - z) * gpnn_normal_cdf(root * (cut * z - 1));
  /* Where z is large the other term is less than rounding. */
  if (z < 20) below += exp(rate * cut + z) * gpnn_normal_cdf(-root * (cut * z + 1));
  return 1 / (1 + 4 * rate / pi * below);
}

/* An inverse Gaussian variable of mean 1/z and shape 1, given that it is below the cut. */
static double inverse_gaussian(struct gpnn_rng *rng, double z)
{
  for (double x;;) {
    if (z * cut < 1) { /* the mean is beyond the cut: from the inverse of a chi-squared one */
      double e, other;
      do {
        e = gpnn_rng_exponential(rng);
        other = gpnn_rng_exponential(rng);
      } while (e * e > 2 * other / cut);
      x = cut / ((1 + cut * e) * (1 + cut * e));
      if (gpnn_rng_uniform(rng) < exp(-0.5 * z * z * x)) return x;
    } else {
      double mean = 1 / z, y = gpnn_rng_normal(rng);
      double t = mean * y * y;
      x = mean + 0.5 * mean * (t - sqrt(4 * t + t * t));
      if (gpnn_rng_uniform(rng) > mean / (mean + x)) x = mean * mean / x;
      if (x <= cut) return x;
    }
  }
}

/* Whether a proposal 'x' belongs to the distribution: the partial sums of the series are in turn
 * above and below its value, and closer to it each time. */
static bool is_accepted(struct gpnn_rng *rng, double x)
{
  double sum = coefficient(0, x), level = gpnn_rng_uniform(rng) * sum;
  for (int n = 1;; n++) {
    if (n % 2 == 1) {
      sum -= coefficient(n, x);
      if (level <= sum) return true;
    } else {
      sum += coefficient(n, x);
      if (level > sum) return false;
    }
  }
}

/* A draw from PG(1, 2z), z >= 0. */
static double draw_one(struct gpnn_rng *rng, double z)
{
  double rate = pi * pi / 8 + 0.5 * z * z, beyond = share_beyond(z, rate);
  for (;;) {
    double x = gpnn_rng_uniform(rng) < beyond ? cut + gpnn_rng_exponential(rng) / rate
                                              : inverse_gaussian(rng, z);
    if (is_accepted(rng, x)) return 0.25 * x;
  }
}

/* A draw from PG(b, c) for b < 1. */
static double draw_fraction(struct gpnn_rng *rng, double b, double c)
{
  enum { MOST = 200 };
  double rest = gpnn_polya_gamma_mean(b, c), drawn = 0;
  for (int k = 0; k < MOST; k++) {
    double scale = 1 / (2 * pi * pi * (k + 0.5) * (k + 0.5) + 0.5 * c * c);
    drawn += scale * gpnn_rng_gamma(rng, b);
    rest -= scale * b;
  }
  return drawn + fmax(rest, 0);
}

double gpnn_polya_gamma_draw(struct gpnn_rng *rng, double b, double c)
{
  double sum = 0, z = 0.5 * fabs(c);
  for (; b >= 1; b--) sum += draw_one(rng, z);
  return b > 0 ? sum + draw_fraction(rng, b, c) : sum;
}
