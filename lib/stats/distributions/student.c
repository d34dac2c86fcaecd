#include "stats/distributions/student.h"

#include <math.h>

#include "stats/distributions/normal.h"

/* From here on the transformation to a normal variable is accurate to rounding, while the continued
 * fraction takes ever more steps, as the square root of df. */
static const double many = 10000;

/* log(1 + s^2), without overflow of the square. */
static double log_one_plus_square(double s)
{
  return fabs(s) > 1e8 ? 2 * log(fabs(s)) : log1p(s * s);
}

/* Gamma(a + 1/2) / Gamma(a) for a > 0, accurate to rounding: by its asymptotic series for large a,
 * to which Gamma(a + 1) = a Gamma(a) leads from small a.  Differences of lgamma() would lose digits
 * as a grows. */
static double gamma_ratio(double a)
{
  double product = 1;
  for (; a < 32; a++) product *= a / (a + 0.5);
  double u = 1 / a;
  double series =
      1 + u * (-1.0 / 8 +
               u * (1.0 / 128 +
                    u * (5.0 / 1024 + u * (-21.0 / 32768 + u * (-399.0 / 262144 +
                                                                u * (869.0 / 4194304 +
                                                                     u * (39325.0 / 33554432)))))));
  return product * sqrt(a) * series;
}

/* The density at 0. */
static double peak(double df)
{
  return gamma_ratio(df / 2) / sqrt(df * M_PI);
}

static double log_density(double t, double df)
{
  return log(peak(df)) - (df + 1) / 2 * log_one_plus_square(t / sqrt(df));
}

/*
 * The continued fraction of the incomplete beta function (DLMF 8.17.22) by Lentz's method:
 * I_x(a, b) = x^a (1-x)^b / (a B(a, b)) times this, for x < (a+1) / (a+b+2).
 */
static double beta_fraction(double a, double b, double x)
{
  enum { STEPS = 500 };
  const double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (fabs(d) < tiny ? tiny : d);
  double fraction = d;
  for (int m = 1; m <= STEPS; m++) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (int half = 0; half < 2; half++) {
      double term = half == 0 ? even : odd;
      d = 1 + term * d;
      c = 1 + term / c;
      d = 1 / (fabs(d) < tiny ? tiny : d);
      if (fabs(c) < tiny) c = tiny;
      change = c * d;
      fraction *= change;
    }
    if (fabs(change - 1) < 1e-16) break;
  }
  return fraction;
}

/* The normal variable with the same cumulative probability as 't', by Hill's expansion (1970, CACM
 * 13(10), algorithm 395), which is accurate for df >= 'many'. */
static double normal_equivalent(double t, double df)
{
  double a = df - 0.5, b = 48 * a * a;
  double y = a * log_one_plus_square(t / sqrt(df));
  if (isinf(y)) return t;
  double z = ((((-0.4 * y - 3.3) * y - 24) * y - 85.5) / (0.8 * y * y + 100 + b) + y + 3) / b + 1;
  return copysign(z * sqrt(y), t);
}

/* F(t) = I_x(df/2, 1/2) / 2 for finite t <= 0, with x = df / (df + t^2). */
static double lower_tail(double t, double df)
{
  double s = t / sqrt(df), a = df / 2, x = 1 / (1 + s * s);
  /* (1-x)^(1/2) / B(a, 1/2) as 1/B = gamma_ratio / sqrt(pi) = peak sqrt(df). */
  double factor = peak(df) * exp(log(-t) - (a + 0.5) * log_one_plus_square(s));
  if (x < (a + 1) / (a + 2.5)) return factor * beta_fraction(a, 0.5, x) / (2 * a);
  return 0.5 - factor * beta_fraction(0.5, a, s * s / (1 + s * s));
}

double gpnn_student_density(double t, double df)
{
  return isinf(df) ? gpnn_normal_density(t) : exp(log_density(t, df));
}

double gpnn_student_cdf(double t, double df)
{
  if (isinf(df) || isinf(t)) return gpnn_normal_cdf(t);
  if (df >= many) return gpnn_normal_cdf(normal_equivalent(t, df));
  return t < 0 ? lower_tail(t, df) : 1 - lower_tail(-t, df);
}

double gpnn_student_quantile(double p, double df)
{
  if (isinf(df)) return gpnn_normal_quantile(p);
  if (p > 0.5) return -gpnn_student_quantile(1 - p, df);
  if (p == 0.5) return 0;
  /* Newton's method for log F(-e^u) as a function of u.  It is concave: after the first step, all
   * others go down, until rounding reverses one. */
  double u = log(-gpnn_normal_quantile(p));
  for (int step = 0; step < 100; step++) {
    double t = -exp(u), log_cdf = log(gpnn_student_cdf(t, df));
    double change = (log_cdf - log(p)) / exp(log_density(t, df) + u - log_cdf);
    u += change;
    if (step > 0 && !(change < -1e-16)) break;
  }
  return -exp(u);
}

double gpnn_student_half_width(double p, double df)
{
  /* By the lower tail, as (1 - p)/2 has digits where (1 + p)/2 would round to 1. */
  return -gpnn_student_quantile((1 - p) / 2, df);
}

double gpnn_student_unit_scale(double df)
{
  return isinf(df) ? 1 : sqrt((df - 2) / df);
}

double gpnn_student_nll(double error, double scale, double df)
{
  return isinf(df) ? gpnn_normal_nll(error, scale) : log(scale) - log_density(error / scale, df);
}

double gpnn_student_crps(double t, double df)
{
  static const double one_over_sqrt_pi = 0.56418958354775628695;
  double inner = t * (2 * gpnn_student_cdf(t, df) - 1);
  if (isinf(df)) return inner + 2 * gpnn_normal_density(t) - one_over_sqrt_pi;
  /* f(t) (df + t^2), avoiding the square, which would overflow before the product vanishes. */
  double middle = df * peak(df) * exp(-(df - 1) / 2 * log_one_plus_square(t / sqrt(df)));
  double ratio = gamma_ratio(df / 2);
  double last = sqrt(df / M_PI) * ratio * ratio / gamma_ratio(df - 0.5);
  return inner + 2 * (middle - last) / (df - 1);
}
