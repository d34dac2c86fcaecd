/* Predictive distributions against closed forms, and integrals against sums of many terms. */
#include "likelihood/distribution.h"
#include "stats/distributions/normal.h"
#include "stats/distributions/student.h"
#include "stats/transform.h"
#include "unit.h"

static const double dfs[] = {2.05, 3, 4.5, 12, 2000, INFINITY};
enum { N_DFS = sizeof dfs / sizeof dfs[0] };

/* ---- warping functions ---- */

static double same(const void *context, double x)
{
  (void)context;
  return x;
}

static double zero(const void *context, double x)
{
  (void)context;
  (void)x;
  return 0;
}

static double log_of(const void *context, double y)
{
  (void)context;
  return y <= 0 ? -INFINITY : log(y);
}

static double exp_of(const void *context, double w)
{
  (void)context;
  return exp(w);
}

static double minus_log(const void *context, double y)
{
  (void)context;
  return y <= 0 ? -INFINITY : -log(y);
}

/* So wide a range that it cuts nothing off. */
static const struct gpnn_warp identity = {NULL, same, same, zero, -1e5, 1e5, 0, NULL};
static const struct gpnn_warp logarithm = {NULL, log_of, exp_of, minus_log, 0.5, 20, 0, NULL};
static const struct gpnn_warp wide_logarithm = {NULL, log_of, exp_of, minus_log,
                                                -1e6, 1e6,    0,      NULL};

/* ---- without a warping function ---- */

static void a_plain_distribution_is_the_normal_or_students(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_DFS; i++) {
    const struct gpnn_distribution d = {-2, 0.7, dfs[i], NULL, 0, NULL, {0, 0, 0}, false};
    double scale = 0.7 * gpnn_student_unit_scale(dfs[i]), mean, sd, lower, upper;
    gpnn_distribution_moments(&d, &mean, &sd);
    assert_true(mean == -2 && sd == 0.7);
    for (double t = -30; t <= 30; t += 1.7) {
      struct gpnn_distribution_score score = gpnn_distribution_score(&d, -2 + scale * t);
      assert_close(score.logp, -gpnn_student_nll(scale * t, scale, dfs[i]), 1e-13);
      assert_close(score.crps, scale * gpnn_student_crps(t, dfs[i]), 1e-12);
      assert_close(score.pit, gpnn_student_cdf(t, dfs[i]), 1e-11);
      if (score.pit > 1e-6 && score.pit < 0.9)
        assert_near(gpnn_distribution_quantile(&d, score.pit), -2 + scale * t, 1e-9 * fabs(t));
    }
    gpnn_distribution_interval(&d, 1.5, &lower, &upper);
    assert_close(lower, -2 - 1.5 * 0.7, 1e-15);
    assert_close(upper, -2 + 1.5 * 0.7, 1e-15);
  }
}

/* ---- with one ---- */

/* The closed forms above, by quadrature. */
static void integrals_over_the_identity_are_the_closed_forms(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_DFS; i++)
    for (double sd = 1e-6; sd < 1e2; sd *= 1e3) {
      const struct gpnn_distribution plain = {3, sd, dfs[i], NULL, 0, NULL, {0, 0, 0}, false},
                                     d = {3, sd, dfs[i], &identity, 0, NULL, {0, 0, 0}, false};
      double mean, deviation;
      gpnn_distribution_moments(&d, &mean, &deviation);
      assert_near(mean, 3, 1e-11 * (1 + sd));
      /* The range leaves out the ends of tails, which matters where the variance hardly exists. */
      if (dfs[i] > 4) assert_close(deviation, sd, 1e-7);
      for (double z = -20; z <= 20; z += 2.3) {
        double y = 3 + z * sd;
        struct gpnn_distribution_score a = gpnn_distribution_score(&plain, y);
        struct gpnn_distribution_score b = gpnn_distribution_score(&d, y);
        assert_true(a.logp == b.logp && a.pit == b.pit);
        if (dfs[i] > 3) assert_close(b.crps, a.crps, 1e-7);
      }
    }
}

static void quantiles_and_intervals_go_through_the_function(void **state)
{
  (void)state;
  const struct gpnn_distribution d = {0.3, 0.6, 4, &logarithm, 0, NULL, {0, 0, 0}, false},
                                 plain = {0.3, 0.6, 4, NULL, 0, NULL, {0, 0, 0}, false};
  for (double p = 0.01; p < 1; p += 0.07) {
    double q = gpnn_distribution_quantile(&d, p);
    assert_close(q, exp(gpnn_distribution_quantile(&plain, p)), 1e-14);
    assert_close(gpnn_distribution_cdf(&d, q), p, 1e-11);
  }
  double lower, upper;
  gpnn_distribution_interval(&d, 2, &lower, &upper);
  assert_close(lower, exp(0.3 - 1.2), 1e-14);
  assert_close(upper, exp(0.3 + 1.2), 1e-14);
}

/* The slope of the distribution function. */
static void the_density_has_the_factor_of_the_function(void **state)
{
  (void)state;
  const struct gpnn_distribution d = {0.3, 0.6, 4, &logarithm, 0, NULL, {0, 0, 0}, false};
  for (double y = 0.2; y < 9; y *= 1.3) {
    double step = 1e-5 * y;
    double slope = gpnn_distribution_cdf(&d, y + step) - gpnn_distribution_cdf(&d, y - step);
    assert_close(exp(gpnn_distribution_log_density(&d, y)), slope / (2 * step), 1e-8);
  }
  assert_true(gpnn_distribution_log_density(&d, -1) == -INFINITY);
  assert_true(gpnn_distribution_cdf(&d, -1) == 0);
}

/* The log-normal distribution (Baringhaus and Franz 2004 for its CRPS), which is nearly all within
 * the range. */
static void moments_and_crps_of_the_log_normal_are_the_closed_forms(void **state)
{
  (void)state;
  for (double sd = 0.01; sd < 1.2; sd *= 2.5) {
    const struct gpnn_distribution d = {0.4, sd,   INFINITY,  &wide_logarithm,
                                        0,   NULL, {0, 0, 0}, false};
    double mean, deviation, expected = exp(0.4 + sd * sd / 2);
    gpnn_distribution_moments(&d, &mean, &deviation);
    assert_close(mean, expected, 1e-9);
    assert_close(deviation, expected * sqrt(expm1(sd * sd)), 1e-7);
    for (double z = -3; z < 3.1; z += 0.6) {
      double y = exp(0.4 + sd * z);
      double crps = y * (2 * gpnn_normal_cdf(z) - 1) -
                    2 * expected * (gpnn_normal_cdf(z - sd) + gpnn_normal_cdf(sd / sqrt(2)) - 1);
      assert_near(gpnn_distribution_crps(&d, y), crps, 1e-9 * y);
    }
  }
}

/* (F(x) - [x >= y])^2 summed from 'from' to 'to', both on one side of y. */
static double square_by_steps(const struct gpnn_distribution *d, double from, double to, double y)
{
  enum { STEPS = 100000 };
  double step = (to - from) / STEPS, sum = 0;
  for (int i = 0; i < STEPS; i++) {
    double x = from + step * (i + 0.5);
    double f = gpnn_distribution_cdf(d, x) - (x >= y);
    sum += step * f * f;
  }
  return sum;
}

/* The same over the range, where F jumps to 1 at its end. */
static double crps_by_steps(const struct gpnn_distribution *d, double y)
{
  double lower = d->warp->lower, upper = d->warp->upper, inside = fmin(fmax(y, lower), upper);
  return fabs(y - inside) + square_by_steps(d, lower, inside, y) +
         square_by_steps(d, inside, upper, y);
}

static void values_beyond_the_range_count_as_its_ends(void **state)
{
  (void)state;
  enum { STEPS = 20000 };
  for (size_t i = 0; i < N_DFS; i++) {
    const struct gpnn_distribution d = {2, 1.1, dfs[i], &logarithm, 0, NULL, {0, 0, 0}, false};
    double mean, sd, first = 0, second = 0;
    gpnn_distribution_moments(&d, &mean, &sd);
    for (int k = 0; k < STEPS; k++) {
      double y = gpnn_distribution_quantile(&d, (k + 0.5) / STEPS);
      y = fmin(fmax(y, logarithm.lower), logarithm.upper);
      first += y / STEPS;
      second += y * y / STEPS;
    }
    assert_close(mean, first, 1e-6);
    assert_close(sd, sqrt(second - first * first), 1e-6);
  }
  for (double y = -1; y < 30; y += 6.7) {
    const struct gpnn_distribution d = {2, 1.1, 3, &logarithm, 0, NULL, {0, 0, 0}, false};
    assert_close(gpnn_distribution_crps(&d, y), crps_by_steps(&d, y), 1e-5);
  }
}

/* Between knots the target is linear in w. */
static void moments_and_crps_of_ranks_are_exact_between_knots(void **state)
{
  (void)state;
  enum { STEPS = 200000 };
  struct gpnn_transform ranks = {
      .kind = GPNN_TRANSFORM_RANK, .sd = 1.1, .low = 0, .high = 90, .scale = 1, .n_knots = 10};
  for (size_t i = 0; i < ranks.n_knots; i++) {
    ranks.value[i] = (double)(i * i * i) / 8;
    ranks.score[i] = -2 + 0.4 * (double)i;
  }
  const struct gpnn_target_warp target = {&ranks, 30, 25};
  const struct gpnn_warp warp = gpnn_target_warp_function(&target);
  for (size_t i = 2; i < N_DFS; i++) { /* sums of steps miss the ends of heavier tails */
    const struct gpnn_distribution d = {0.4, 0.7, dfs[i], &warp, 0, NULL, {0, 0, 0}, false};
    double mean, sd, first = 0, second = 0;
    gpnn_distribution_moments(&d, &mean, &sd);
    for (int k = 0; k < STEPS; k++) {
      double y = gpnn_distribution_quantile(&d, (k + 0.5) / STEPS);
      y = fmin(fmax(y, warp.lower), warp.upper);
      first += y / STEPS;
      second += y * y / STEPS;
    }
    assert_near(mean, first, 3e-6);
    assert_near(sd, sqrt(second - first * first), 3e-6);
    assert_near(gpnn_distribution_crps(&d, 0.3), crps_by_steps(&d, 0.3), 3e-6);
  }
}

static void a_distribution_far_outside_the_range_is_at_its_end(void **state)
{
  (void)state;
  for (double location = -1e6; location < 2e6; location += 2e6) {
    const struct gpnn_distribution d = {location, 2, 50, &logarithm, 0, NULL, {0, 0, 0}, false};
    double mean, sd, end = location < 0 ? 0.5 : 20;
    gpnn_distribution_moments(&d, &mean, &sd);
    assert_close(mean, end, 1e-12);
    assert_near(sd, 0, 1e-9);
    assert_close(gpnn_distribution_crps(&d, 10), fabs(10 - end), 1e-12);
  }
}

/* ---- with an offset ---- */

/* Adding an offset to the target, and to the truth, changes no score. */
static void an_offset_moves_the_target(void **state)
{
  (void)state;
  for (double offset = -40; offset <= 40; offset += 80)
    for (size_t i = 0; i < N_DFS; i++) {
      const struct gpnn_distribution d = {0.4, 0.6, dfs[i], &logarithm, 0, NULL, {0, 0, 0}, false};
      const struct gpnn_distribution moved = {0.4,    0.6,  dfs[i],    &logarithm,
                                              offset, NULL, {0, 0, 0}, false};
      double a[4], b[4];
      gpnn_distribution_moments(&d, &a[0], &a[1]);
      gpnn_distribution_moments(&moved, &b[0], &b[1]);
      gpnn_distribution_interval(&d, 1.3, &a[2], &a[3]);
      gpnn_distribution_interval(&moved, 1.3, &b[2], &b[3]);
      assert_close(b[0], a[0] + offset, 1e-14);
      assert_true(b[1] == a[1]);
      assert_close(b[2], a[2] + offset, 1e-14);
      assert_close(b[3], a[3] + offset, 1e-14);
      for (double y = -1; y < 30; y += 2.25) {
        struct gpnn_distribution_score s = gpnn_distribution_score(&d, y);
        struct gpnn_distribution_score t = gpnn_distribution_score(&moved, y + offset);
        assert_true(t.logp == s.logp && t.pit == s.pit && t.crps == s.crps);
      }
      assert_close(gpnn_distribution_quantile(&moved, 0.2),
                   gpnn_distribution_quantile(&d, 0.2) + offset, 1e-14);
    }
}

/* ---- extremes ---- */

static void without_spread_all_probability_is_at_one_point(void **state)
{
  (void)state;
  const struct gpnn_warp *warps[] = {NULL, &logarithm};
  for (size_t i = 0; i < 2; i++) {
    const struct gpnn_distribution d = {1, 0, 4, warps[i], 0, NULL, {0, 0, 0}, false};
    double mean, sd, point = i == 0 ? 1 : exp(1);
    gpnn_distribution_moments(&d, &mean, &sd);
    assert_close(mean, point, 1e-14);
    assert_near(sd, 0, 1e-14);
    assert_close(gpnn_distribution_crps(&d, 3), 3 - point, 1e-10);
    assert_true(gpnn_distribution_log_density(&d, 3) == -INFINITY);
    assert_true(gpnn_distribution_log_density(&d, point) == INFINITY);
    assert_true(gpnn_distribution_cdf(&d, 3) == 1 && gpnn_distribution_cdf(&d, 0.5) == 0);
  }
}

static void what_is_missing_gives_what_is_missing(void **state)
{
  (void)state;
  const struct gpnn_warp *warps[] = {NULL, &logarithm};
  for (size_t i = 0; i < 2; i++) {
    struct gpnn_distribution d = {NAN, NAN, 4, warps[i], 0, NULL, {0, 0, 0}, false};
    double mean, sd, lower, upper;
    gpnn_distribution_moments(&d, &mean, &sd);
    gpnn_distribution_interval(&d, 1, &lower, &upper);
    assert_true(isnan(mean) && isnan(sd) && isnan(lower) && isnan(upper));
    struct gpnn_distribution_score score = gpnn_distribution_score(&d, 1);
    assert_true(isnan(score.logp) && isnan(score.crps) && isnan(score.pit));
    d = (struct gpnn_distribution){1, 1, 4, warps[i], 0, NULL, {0, 0, 0}, false};
    score = gpnn_distribution_score(&d, NAN);
    assert_true(isnan(score.logp) && isnan(score.crps) && isnan(score.pit));
  }
}

static void gross_errors_give_finite_scores(void **state)
{
  (void)state;
  const struct gpnn_distribution d = {0, 1e-200, 4, NULL, 0, NULL, {0, 0, 0}, false};
  assert_close(gpnn_distribution_crps(&d, 1e200), 1e200, 1e-15);
  assert_true(gpnn_distribution_cdf(&d, 1e200) == 1);
}

/* ---- an atom ---- */

static struct gpnn_distribution with_atom(const struct gpnn_warp *warp, double degrees, double at,
                                          double probability)
{
  return (struct gpnn_distribution){.location = 0.4,
                                    .sd = 0.7,
                                    .degrees = degrees,
                                    .warp = warp,
                                    .atom = {at, 1e-12, probability}};
}

/* The same without. */
static struct gpnn_distribution rest_of(struct gpnn_distribution d)
{
  d.atom.probability = 0;
  return d;
}

static const struct gpnn_warp *const atom_warps[] = {NULL, &logarithm};
static const double atoms[] = {0.6, 0.9, 3}, chances[] = {0.01, 0.4, 0.97};
#define EACH_ATOM(d)                                                                       \
  for (size_t a_ = 0; a_ < 2; a_++)                                                        \
    for (size_t b_ = 0; b_ < 3; b_++)                                                      \
      for (size_t c_ = 0; c_ < 3; c_++)                                                    \
        for (struct gpnn_distribution d =                                                  \
                 with_atom(atom_warps[a_], a_ == 0 ? dfs[c_] : 4, atoms[b_], chances[c_]); \
             d.atom.within > 0; d.atom.within = 0)

static void an_atom_of_no_probability_changes_nothing(void **state)
{
  (void)state;
  for (size_t i = 0; i < 2; i++)
    for (double y = 0.55; y < 4; y += 0.31) {
      const struct gpnn_distribution d = with_atom(atom_warps[i], 4, y, 0), plain = rest_of(d);
      struct gpnn_distribution_score a = gpnn_distribution_score(&d, y),
                                     b = gpnn_distribution_score(&plain, y);
      assert_memory_equal(&a, &b, sizeof a);
      assert_true(gpnn_distribution_quantile(&d, 0.3) == gpnn_distribution_quantile(&plain, 0.3));
    }
}

/* E|Y - y| - E|Y - Y'| / 2 is the integral of (F - [x >= y])^2, by the trapezoidal rule. */
static void the_crps_with_an_atom_is_the_integral(void **state)
{
  (void)state;
  enum { STEPS = 40000 };
  const double lower = 0.5, upper = 20, truths[] = {0.7, 0.9, 2};
  EACH_ATOM(d)
  {
    if (d.warp == NULL) d.degrees = INFINITY; /* so that nothing is beyond the ends */
    const struct gpnn_distribution rest = rest_of(d);
    for (size_t t = 0; t < 3; t++) {
      double sum = 0, from = d.warp == NULL ? -6 : lower, to = d.warp == NULL ? 8 : upper;
      double h = (to - from) / STEPS, p = d.atom.probability;
      for (int i = 0; i < STEPS; i++) {
        double x = from + (i + 0.5) * h, f = (1 - p) * gpnn_distribution_cdf(&rest, x);
        f += (x > d.atom.at ? p : 0) - (x > truths[t] ? 1 : 0);
        sum += f * f * h;
      }
      if (d.warp != NULL) { /* beyond the ends values count as the ends, where F is 0 or 1 */
        assert_near(gpnn_distribution_crps(&d, truths[t]), sum, 2e-3);
        continue;
      }
      assert_near(gpnn_distribution_crps(&d, truths[t]), sum, 2e-4);
    }
  }
}

static void quantiles_with_an_atom_invert_the_distribution_function(void **state)
{
  (void)state;
  EACH_ATOM(d)
  {
    const struct gpnn_distribution rest = rest_of(d);
    double p = d.atom.probability, below = (1 - p) * gpnn_distribution_cdf(&rest, d.atom.at);
    for (double q = 0.003; q < 1; q += 0.011) {
      double y = gpnn_distribution_quantile(&d, q);
      if (q > below && q < below + p)
        assert_true(y == d.atom.at);
      else
        assert_near(gpnn_distribution_cdf(&d, y), q, 1e-9);
    }
  }
}

static void the_distribution_function_at_an_atom_is_the_middle_of_its_step(void **state)
{
  (void)state;
  EACH_ATOM(d)
  {
    double at = gpnn_distribution_cdf(&d, d.atom.at);
    double below = gpnn_distribution_cdf(&d, d.atom.at - 1e-9);
    double above = gpnn_distribution_cdf(&d, d.atom.at + 1e-9);
    assert_near(above - below, d.atom.probability, 1e-7);
    assert_near(at, 0.5 * (above + below), 1e-7);
  }
}

/* Moments are averages over quantiles. */
static void moments_with_an_atom_are_those_of_quantiles(void **state)
{
  (void)state;
  enum { N = 40000 };
  EACH_ATOM(d)
  {
    double mean, sd, sum = 0, squares = 0;
    if (d.warp == NULL) d.degrees = INFINITY;
    gpnn_distribution_moments(&d, &mean, &sd);
    for (int i = 0; i < N; i++) {
      double y = gpnn_distribution_quantile(&d, (i + 0.5) / N);
      if (d.warp != NULL) y = fmin(fmax(y, d.warp->lower), d.warp->upper);
      sum += y / N;
      squares += y * y / N;
    }
    assert_near(mean, sum, 2e-4);
    assert_near(sd, sqrt(squares - sum * sum), 2e-3);
  }
}

/* Draws of w, moved to the mixture, are at the atom as often as it says, and monotone in w. */
static void draws_are_at_the_atom_with_its_probability(void **state)
{
  (void)state;
  enum { N = 20000 };
  EACH_ATOM(d)
  {
    size_t n_at = 0;
    double last = -INFINITY;
    const struct gpnn_distribution plain = {
        .location = d.location, .sd = d.sd, .degrees = d.degrees};
    for (int i = 0; i < N; i++) {
      double w = gpnn_distribution_quantile(&plain, (i + 0.5) / N);
      double y = gpnn_distribution_target(&d, w);
      assert_true(isfinite(y) && y >= last - 1e-9);
      n_at += y == d.atom.at;
      last = y;
    }
    assert_near((double)n_at / N, d.atom.probability, 3.0 / N);
    double far = gpnn_distribution_target(&d, 1e6);
    assert_true(isfinite(far) && far > d.atom.at);
  }
}

/* The interval of a half-width is between quantiles of the same probabilities. */
static void intervals_with_an_atom_are_between_quantiles(void **state)
{
  (void)state;
  EACH_ATOM(d)
  {
    double lower, upper;
    double width = gpnn_student_half_width(0.8, d.degrees) * gpnn_student_unit_scale(d.degrees);
    gpnn_distribution_interval(&d, width, &lower, &upper);
    assert_near(lower, gpnn_distribution_quantile(&d, 0.1), 1e-7);
    assert_near(upper, gpnn_distribution_quantile(&d, 0.9), 1e-7);
  }
}

static void the_density_at_an_atom_is_its_probability(void **state)
{
  (void)state;
  EACH_ATOM(d)
  {
    const struct gpnn_distribution rest = rest_of(d);
    double p = d.atom.probability;
    assert_close(gpnn_distribution_log_density(&d, d.atom.at), log(p), 1e-14);
    assert_true(gpnn_distribution_score(&d, d.atom.at).step == p);
    assert_true(gpnn_distribution_score(&d, 1.7).step == 0);
    assert_close(gpnn_distribution_log_density(&d, 1.7),
                 log1p(-p) + gpnn_distribution_log_density(&rest, 1.7), 1e-12);
  }
}

static void an_atom_beside_a_point_or_a_prediction_that_is_missing(void **state)
{
  (void)state;
  struct gpnn_distribution d = with_atom(NULL, 4, 1, 0.25);
  double mean, sd;
  d.sd = 0; /* 0.4 or 1 */
  gpnn_distribution_moments(&d, &mean, &sd);
  assert_close(mean, 0.75 * 0.4 + 0.25, 1e-14);
  assert_close(sd, sqrt(0.75 * 0.25) * 0.6, 1e-14);
  assert_close(gpnn_distribution_crps(&d, 1), 0.75 * 0.75 * 0.6, 1e-14);
  assert_true(gpnn_distribution_quantile(&d, 0.5) == 0.4);
  assert_true(gpnn_distribution_quantile(&d, 0.9) == 1);
  d.location = d.sd = NAN;
  gpnn_distribution_moments(&d, &mean, &sd);
  struct gpnn_distribution_score score = gpnn_distribution_score(&d, 1);
  assert_true(isnan(mean) && isnan(sd) && isnan(score.crps) && isnan(score.pit));
  assert_true(isnan(score.logp) && isnan(gpnn_distribution_quantile(&d, 0.5)));
  assert_true(isnan(score.step));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plain_distribution_is_the_normal_or_students),
      cmocka_unit_test(integrals_over_the_identity_are_the_closed_forms),
      cmocka_unit_test(quantiles_and_intervals_go_through_the_function),
      cmocka_unit_test(the_density_has_the_factor_of_the_function),
      cmocka_unit_test(moments_and_crps_of_the_log_normal_are_the_closed_forms),
      cmocka_unit_test(values_beyond_the_range_count_as_its_ends),
      cmocka_unit_test(moments_and_crps_of_ranks_are_exact_between_knots),
      cmocka_unit_test(a_distribution_far_outside_the_range_is_at_its_end),
      cmocka_unit_test(an_offset_moves_the_target),
      cmocka_unit_test(without_spread_all_probability_is_at_one_point),
      cmocka_unit_test(what_is_missing_gives_what_is_missing),
      cmocka_unit_test(gross_errors_give_finite_scores),
      cmocka_unit_test(an_atom_of_no_probability_changes_nothing),
      cmocka_unit_test(the_crps_with_an_atom_is_the_integral),
      cmocka_unit_test(quantiles_with_an_atom_invert_the_distribution_function),
      cmocka_unit_test(the_distribution_function_at_an_atom_is_the_middle_of_its_step),
      cmocka_unit_test(moments_with_an_atom_are_those_of_quantiles),
      cmocka_unit_test(draws_are_at_the_atom_with_its_probability),
      cmocka_unit_test(intervals_with_an_atom_are_between_quantiles),
      cmocka_unit_test(the_density_at_an_atom_is_its_probability),
      cmocka_unit_test(an_atom_beside_a_point_or_a_prediction_that_is_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
