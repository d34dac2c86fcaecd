#include "stats/distributions/chisquare.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

/* Terms are left out once they are smaller than the largest by this factor, e^-44, which allows for
 * their number. */
static const double negligible = 1e-19;

/* ---- Poisson probabilities ---- */

/* From here on Stirling's series is accurate to rounding. */
static const double stirling = 16;

/* log Gamma(b + 1) minus Stirling's (b + 1/2) log b - b + log(2 pi) / 2, for b >= 'stirling'. */
static double stirling_remainder(double b)
{
  double u = 1 / (b * b);
  return (1.0 / 12 -
          u * (1.0 / 360 -
               u * (1.0 / 1260 - u * (1.0 / 1680 - u * (1.0 / 1188 - u * (691.0 / 360360)))))) /
         b;
}

/* b log(b / y) + y - b >= 0, without cancellation for y near b (Loader 2000, Fast and accurate
 * computation of binomial probabilities). */
static double deviance(double b, double y)
{
  if (!(fabs(b - y) < 0.1 * (b + y))) return b * log(b / y) + y - b;
  double v = (b - y) / (b + y), power = 2 * b * v, sum = (b - y) * v, before;
  for (int j = 3;; j += 2) {
    power *= v * v;
    before = sum;
    sum += power / j;
    if (sum == before) return sum;
  }
}

/* log p(b; y) = log(y^b e^-y / Gamma(b + 1)) for b = -1/2, 0, 1/2, 1 ... and y >= 0. */
static double log_poisson(double b, double y)
{
  if (b >= stirling) return -stirling_remainder(b) - deviance(b, y) - 0.5 * log(2 * M_PI * b);
  bool is_whole = b == floor(b);
  double factorial = is_whole ? 1 : sqrt(M_PI); /* Gamma(1/2) is that of b = -1/2 */
  for (double k = is_whole ? 1 : 0.5; k <= b; k++) factorial *= k;
  return (b == 0 ? 0 : b * log(y)) - y - log(factorial);
}

/* P(J <= k) / P(J = k) for k <= mu, and P(J >= k) / P(J = k) for k >= mu: sums of decreasing terms.
 */
static double sum_below(double k, double mu)
{
  double term = 1, sum = 1;
  for (; k > 0 && term > negligible * sum; k--) sum += term *= k / mu;
  return sum;
}

static double sum_above(double k, double mu)
{
  double term = 1, sum = 1;
  while (term > negligible * sum) sum += term *= mu / ++k;
  return sum;
}

/* log P(J <= k) for k >= 0, summing whichever tail has fewer terms. */
static double log_poisson_cdf(double k, double mu)
{
  if (k <= mu) return log_poisson(k, mu) + log(sum_below(k, mu));
  return log1p(-exp(log_poisson(k + 1, mu)) * sum_above(k + 1, mu));
}

/* log P(J > k) for k >= -1. */
static double log_poisson_survival(double k, double mu)
{
  if (k < 0) return 0;
  if (k + 1 >= mu) return log_poisson(k + 1, mu) + log(sum_above(k + 1, mu));
  return log1p(-exp(log_poisson(k, mu)) * sum_below(k, mu));
}

/* ---- the two tails ---- */

struct distribution {
  double a, mu; /* half the degrees of freedom, half the non-centrality */
};

/* The log of a tail's probability, and its derivative by log x: x f(x) divided by the probability.
 */
struct tail {
  double log, slope;
};

static struct distribution distribution_of(size_t d, double lambda)
{
  assert(d > 0 && lambda >= 0);
  /* A smaller lambda changes no digit, but its powers would underflow. */
  return (struct distribution){(double)d / 2, lambda < 1e-200 ? 0 : lambda / 2};
}

/*
 * The first term of F that is not negligible.  Terms grow from s - 1 to s by y / (a + s) times
 * P(J <= s) / P(J <= s - 1), which is at least 1 and at least mu / s: they rise at least up to the
 * s where y max(1, mu / s) = a + s, and from there down they fall at least that fast.
 */
static double first_below(struct distribution dist, double y)
{
  double a = dist.a, mu = dist.mu, product = 1;
  double balanced = 2 * mu * y / (a + sqrt(a * a + 4 * mu * y));
  double s = floor(fmax(balanced, fmax(y - a, 0)));
  for (; s > 0 && product > negligible; s--) product *= (a + s) / y * fmin(1, s / mu);
  return s;
}

/*
 * The lower tail F and its slope, by ascending s.  'hazard' is P(J = s) / P(J <= s), which turns a
 * term of F into one of the density: f = sum over s of p(a + s; y) P(J = s) (a + s) / x.
 */
static struct tail tail_below(struct distribution dist, double y)
{
  double s = first_below(dist, y), log_cdf = log_poisson_cdf(s, dist.mu);
  double scale = log_poisson(dist.a + s, y) + log_cdf;
  double hazard = exp(log_poisson(s, dist.mu) - log_cdf);
  double term = 1, sum = 0, density = 0;
  for (;; s++) {
    sum += term;
    density += term * hazard * (dist.a + s);
    double grown = hazard * dist.mu / (s + 1);
    double ratio = y / (dist.a + s + 1) * (1 + grown);
    if (ratio < 1 && term * ratio < negligible * 100 * (1 - ratio) * sum) break;
    hazard = grown / (1 + grown);
    term *= ratio;
  }
  return (struct tail){scale + log(sum), density / sum};
}

/* The last term of 1 - F that is not negligible, by the same reasoning: from s to s - 1 terms grow
 * by (a + s) / y times P(J > s - 1) / P(J > s), at least 1 and at least (s + 1) / mu. */
static double last_above(struct distribution dist, double first, double y)
{
  double a = dist.a, mu = dist.mu, product = 1;
  double balanced = (sqrt((a - 1) * (a - 1) + 4 * mu * y) - (a + 1)) / 2;
  double s = fmax(ceil(fmin(balanced, y - a)), first);
  if (mu == 0) return -1; /* P(J > s) is 0 for s >= 0 */
  while (product < 1 / negligible) {
    s++;
    product *= (a + s) / y * fmax(1, (s + 1) / mu);
  }
  return s;
}

/* log Q(1/2, y) = log erfc(sqrt y); for large y by the asymptotic series (DLMF 7.12.1). */
static double log_erfc_root(double y)
{
  if (y < 500) return log(erfc(sqrt(y)));
  double u = 1 / (2 * y);
  return -y - 0.5 * log(M_PI * y) + log1p(-u * (1 - 3 * u * (1 - 5 * u * (1 - 7 * u))));
}

/*
 * The upper tail 1 - F and its slope, by descending s.  'hazard' is P(J = s + 1) / P(J > s), which
 * again turns terms into those of the density: f = sum over s >= -1 of p(a + s; y) P(J = s + 1)
 * / 2.
 */
static struct tail tail_above(struct distribution dist, double y)
{
  bool is_odd = dist.a != floor(dist.a);
  double first = (is_odd ? 0.5 : 0) - dist.a, s = last_above(dist, first, y);
  double log_survival = log_poisson_survival(s, dist.mu),
         scale = log_poisson(dist.a + s, y) + log_survival;
  double hazard = s < -1 ? 0 : exp(log_poisson(s + 1, dist.mu) - log_survival);
  double term = 1, sum = 0, density = 0;
  for (;; s--) {
    if (s >= first) sum += term;
    density += term * hazard;
    if (s <= fmin(first, -1)) break;
    double grown = s < 0 ? 0 : hazard * (s + 1) / dist.mu;
    double ratio = (dist.a + s) / y * (1 + grown);
    if (ratio < 1 && term * ratio < negligible * 100 * (1 - ratio) * sum) break;
    hazard = grown / (1 + grown);
    term *= ratio;
  }
  double log_sum = scale + log(sum);
  if (is_odd) {
    double rest = log_erfc_root(y);
    log_sum = fmax(log_sum, rest) + log1p(exp(-fabs(log_sum - rest)));
  }
  return (struct tail){log_sum, y * density * exp(scale - log_sum)};
}

/* Judged by the mean, as the median is only a little below it. */
static bool is_lower_half(struct distribution dist, double y)
{
  return y < dist.a + dist.mu;
}

double gpnn_chisquare_log_cdf(double x, size_t d, double lambda)
{
  struct distribution dist = distribution_of(d, lambda);
  if (!(x > 0)) return -INFINITY;
  if (isinf(x)) return 0;
  if (is_lower_half(dist, x / 2)) return tail_below(dist, x / 2).log;
  return log1p(-exp(tail_above(dist, x / 2).log));
}

/* ---- quantiles ---- */

/*
 * The x at which the log of a tail is 'log', by Newton's method for it as a function of log x. That
 * function is concave for the lower tail, so that steps from the left never pass the root; steps
 * that go astray are kept between the nearest points known to lie on either side of it.
 */
static double invert(struct tail (*tail_at)(struct distribution, double), double direction,
                     double log, struct distribution dist, double x)
{
  enum { STEPS = 300 };
  const double farthest = 8, near = 1e-9; /* the next step would be of the order of its square */
  double least = 0, most = INFINITY;
  for (int step = 0; step < STEPS; step++) {
    struct tail tail = tail_at(dist, x / 2);
    double change = direction * (log - tail.log) / tail.slope;
    change = fmax(fmin(change, farthest), -farthest);
    if (fabs(change) < near) return x * exp(change);
    if (change > 0)
      least = x;
    else
      most = x;
    x *= exp(change);
    if (x <= least || x >= most) x = sqrt(least) * sqrt(most);
  }
  return x;
}

double gpnn_chisquare_quantile_lower(double log_p, size_t d, double lambda, double start)
{
  assert(log_p < 0 && isfinite(log_p));
  struct distribution dist = distribution_of(d, lambda);
  if (start <= 0) {
    /* For small y, F is about e^-mu y^a / Gamma(a + 1), and p(a; 1) = 1 / (e Gamma(a + 1)). */
    double log_y = (log_p + dist.mu - log_poisson(dist.a, 1) - 1) / dist.a;
    start = 2 * exp(fmin(log_y, log(dist.a + dist.mu)));
  }
  return invert(tail_below, 1, log_p, dist, start);
}

double gpnn_chisquare_quantile_upper(double log_q, size_t d, double lambda, double start)
{
  assert(log_q < 0 && isfinite(log_q));
  struct distribution dist = distribution_of(d, lambda);
  return invert(tail_above, -1, log_q, dist, start > 0 ? start : 2 * (dist.a + dist.mu));
}
