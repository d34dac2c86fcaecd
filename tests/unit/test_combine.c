/* Rules of combination against densities on a grid, and weights against a search. */
#include "combine/combine.h"

#include <math.h>

#include "random.h"
#include "stats/distributions/normal.h"
#include "stats/distributions/student.h"
#include "unit.h"

enum { MODELS = 3 };

static const double means[MODELS] = {0.4, 1.1, -0.2};
static const double variances[MODELS] = {0.5, 0.3, 0.9};
static const double prior_mean = 0.1, prior_variance = 1.7, noise = 0.2;

static double log_density(double y, double mean, double variance)
{
  return -gpnn_normal_nll(y - mean, sqrt(variance));
}

/* Mean and variance of the density whose logarithm, but for a constant, is that of the models to
 * the powers given, and of a base. */
static struct gpnn_combined on_grid(const double power[MODELS], double taken, double base_mean,
                                    double base_power, double base_variance)
{
  double sum = 0, first = 0, second = 0;
  for (double y = -15; y < 15; y += 1e-3) {
    double value = base_power * log_density(y, base_mean, base_variance);
    for (size_t i = 0; i < MODELS; i++)
      value += power[i] * log_density(y, means[i], variances[i] - taken);
    const double density = exp(value);
    sum += density;
    first += density * y;
    second += density * y * y;
  }
  first /= sum;
  return (struct gpnn_combined){first, second / sum - first * first, INFINITY};
}

static void assert_rule(enum gpnn_combine_rule rule, double taken, const double power[MODELS],
                        double base_mean, double base_variance)
{
  const struct gpnn_combine_settings settings = {.rule = rule,
                                                 .n = MODELS,
                                                 .prior_mean = prior_mean,
                                                 .prior_variance = prior_variance,
                                                 .noise = taken};
  const bool has_base = rule != GPNN_COMBINE_POE && rule != GPNN_COMBINE_GPOE;
  const double left = has_base ? 1 - power[0] - power[1] - power[2] : 0;
  const struct gpnn_combined wanted = on_grid(power, taken, base_mean, left, base_variance);
  const struct gpnn_combined found = gpnn_combine(&settings, means, variances, NULL, NULL);
  assert_near(found.mean, wanted.mean, 1e-9);
  assert_near(found.variance, wanted.variance + taken, 1e-9);
}

static double half_log(double wide, double narrow)
{
  return 0.5 * log(wide / narrow);
}

static void products_are_those_of_densities(void **state)
{
  (void)state;
  for (int t = 0; t < 2; t++) {
    const double taken = t == 0 ? 0 : noise, prior = prior_variance - taken;
    double ones[MODELS] = {1, 1, 1}, powers[MODELS], communicated[MODELS] = {0, 1, 0};
    for (size_t i = 0; i < MODELS; i++) powers[i] = half_log(prior, variances[i] - taken);
    assert_rule(GPNN_COMBINE_FUSE, taken, ones, prior_mean, prior);
    assert_rule(GPNN_COMBINE_POE, taken, ones, 0, 1);
    assert_rule(GPNN_COMBINE_GPOE, taken, powers, 0, 1);
    assert_rule(GPNN_COMBINE_RBCM, taken, powers, prior_mean, prior);
    assert_rule(GPNN_COMBINE_GRBCM, taken, communicated, means[0], variances[0] - taken);
  }
}

/* An expert that knows more than the one that all others know counts by how much more. */
static void committees_with_a_common_expert_count_what_is_new(void **state)
{
  const double mean[3] = {0, 0.5, 1}, variance[3] = {1, 0.5, 0.25};
  const double power = half_log(1, 0.25);
  const struct gpnn_combine_settings settings = {.rule = GPNN_COMBINE_GRBCM, .n = 3};
  const struct gpnn_combined c = gpnn_combine(&settings, mean, variance, NULL, NULL);
  const double precision = 1 / 0.5 + power / 0.25 - power;
  (void)state;
  assert_near(c.variance, 1 / precision, 1e-12);
  assert_near(c.mean, (0.5 / 0.5 + power / 0.25) / precision, 1e-12);
}

static void one_model_is_left_as_it_is(void **state)
{
  const double mean[2] = {0.7, NAN}, variance[2] = {0.4, NAN}, equal[2] = {0.5, 0.5};
  (void)state;
  for (enum gpnn_combine_rule rule = 0; rule < GPNN_COMBINE_RULES; rule++)
    for (size_t n = 1; n <= 2; n++) {
      struct gpnn_combine_settings settings = {
          .rule = rule, .n = n, .prior_mean = 0.2, .prior_variance = 1, .spread = 1};
      if (rule == GPNN_COMBINE_RBCM) continue; /* takes part of it back to the prior */
      if (gpnn_combine_needs_weights(rule)) settings.weights = equal;
      const struct gpnn_combined c = gpnn_combine(&settings, mean, variance, NULL, NULL);
      assert_near(c.mean, 0.7, 1e-15);
      if (rule != GPNN_COMBINE_GPOE) assert_near(c.variance, 0.4, 1e-15);
    }
}

static void mixtures_and_means_have_their_moments(void **state)
{
  const double weights[MODELS] = {0.2, 0.5, 0.3};
  struct gpnn_combine_settings settings = {
      .rule = GPNN_COMBINE_WEIGHTS, .n = MODELS, .weights = weights, .spread = 2};
  double mean = 0, square = 0, average = 0;
  (void)state;
  for (size_t i = 0; i < MODELS; i++) {
    mean += weights[i] * means[i];
    square += weights[i] * (variances[i] + means[i] * means[i]);
    average += weights[i] * variances[i];
  }
  struct gpnn_combined c = gpnn_combine(&settings, means, variances, NULL, NULL);
  assert_near(c.mean, mean, 1e-14);
  assert_near(c.variance, square - mean * mean, 1e-14);
  settings.rule = GPNN_COMBINE_STACK;
  c = gpnn_combine(&settings, means, variances, NULL, NULL);
  assert_near(c.mean, mean, 1e-14);
  assert_near(c.variance, 2 * average, 1e-14);
}

static void errors_add_up_by_the_shares(void **state)
{
  const double weights[MODELS] = {0.2, 0.5, 0.3};
  (void)state;
  for (enum gpnn_combine_rule rule = 0; rule < GPNN_COMBINE_RULES; rule++) {
    const struct gpnn_combine_settings settings = {
        .rule = rule,
        .n = MODELS,
        .prior_mean = prior_mean,
        .prior_variance = prior_variance,
        .weights = gpnn_combine_needs_weights(rule) ? weights : NULL,
        .spread = 1};
    double share[MODELS], moved[MODELS];
    const struct gpnn_combined c = gpnn_combine(&settings, means, variances, NULL, share);
    for (size_t i = 0; i < MODELS; i++) {
      memcpy(moved, means, sizeof moved);
      moved[i] += 1;
      assert_near(gpnn_combine(&settings, moved, variances, NULL, NULL).mean - c.mean, share[i],
                  1e-12);
    }
  }
}

/* ---- Student's t ---------------------------------------------------------------------------- */

/* The share of the product of Student's t, or normal, densities between two values, on a grid; its
 * mean goes to '*centre'. */
static double share_on_grid(size_t n, const double *mean, const double *variance, const double *df,
                            double low, double high, double *centre)
{
  double sum = 0, within = 0, first = 0;
  for (double y = -60; y < 60; y += 1e-3) {
    double value = 0;
    for (size_t i = 0; i < n; i++)
      value -=
          gpnn_student_nll(y - mean[i], sqrt(variance[i]) * gpnn_student_unit_scale(df[i]), df[i]);
    sum += exp(value);
    first += y * exp(value);
    if (y > low && y < high) within += exp(value);
  }
  *centre = first / sum;
  return within / sum;
}

static void products_with_tails_hold_what_their_intervals_say(void **state)
{
  static const struct {
    double mean[2], variance[2], df[2];
  } cases[] = {{{0, 0.4}, {1, 0.1}, {2.05, INFINITY}},
               {{0, 3}, {1, 0.3}, {3, 5}},
               {{0, 0.1}, {1, 1}, {2.05, 2.05}},
               {{-1, 1}, {0.5, 2}, {INFINITY, 30}}};
  (void)state;
  for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
    const struct gpnn_combine_settings s = {.rule = GPNN_COMBINE_POE, .n = 2};
    const struct gpnn_combined c =
        gpnn_combine(&s, cases[t].mean, cases[t].variance, cases[t].df, NULL);
    for (double p = 0.5; p < 1; p += 0.45) {
      double centre;
      const double half =
          sqrt(c.variance) * gpnn_student_unit_scale(c.df) * gpnn_student_half_width(p, c.df);
      assert_near(share_on_grid(2, cases[t].mean, cases[t].variance, cases[t].df, c.mean - half,
                                c.mean + half, &centre),
                  p, 2e-3);
      assert_near(c.mean, centre, 1e-3);
    }
  }
}

/* Views of a target of which little is known before, with errors of these degrees of freedom. */
static void assert_calibrated(const double df[2], const double sd[2])
{
  enum { TRIALS = 1500 };
  const struct gpnn_combine_settings s = {
      .rule = GPNN_COMBINE_FUSE, .n = 2, .prior_variance = 3600};
  const double variance[2] = {sd[0] * sd[0], sd[1] * sd[1]};
  double *normal = normal_rows(TRIALS, 3, 17), within[2] = {0, 0};
  for (size_t r = 0; r < TRIALS; r++) {
    const double *e = normal + 3 * r, truth = 60 * e[2];
    double mean[2];
    for (size_t i = 0; i < 2; i++)
      mean[i] = truth + sd[i] * gpnn_student_unit_scale(df[i]) *
                            gpnn_student_quantile(gpnn_normal_cdf(e[i]), df[i]);
    const struct gpnn_combined c = gpnn_combine(&s, mean, variance, df, NULL);
    const double z = fabs(truth - c.mean) / sqrt(c.variance) / gpnn_student_unit_scale(c.df);
    within[0] += z < gpnn_student_half_width(0.5, c.df);
    within[1] += z < gpnn_student_half_width(0.95, c.df);
  }
  assert_near(within[0] / TRIALS, 0.5, 0.04);
  assert_near(within[1] / TRIALS, 0.95, 0.02);
  free(normal);
}

static void fused_views_are_as_calibrated_as_each_of_them(void **state)
{
  (void)state;
  assert_calibrated((double[2]){2.05, INFINITY}, (double[2]){1, 1.0 / 3});
  assert_calibrated((double[2]){2.05, 2.05}, (double[2]){1, 1});
  assert_calibrated((double[2]){3, 8}, (double[2]){1, 2});
  assert_calibrated((double[2]){INFINITY, INFINITY}, (double[2]){1, 0.5});
}

/* What a model hardly contributes to does not have its tails. */
static void degrees_of_freedom_follow_contributions(void **state)
{
  const double mean[2] = {0, 0}, variance[2] = {1, 0.01}, df[2] = {2.5, INFINITY};
  const double equal[2] = {0.5, 0.5}, alone[2] = {2.5, 2.5};
  (void)state;
  for (enum gpnn_combine_rule rule = 0; rule < GPNN_COMBINE_RULES; rule++) {
    const struct gpnn_combine_settings s = {.rule = rule,
                                            .n = 2,
                                            .prior_variance = 4,
                                            .spread = 1,
                                            .weights =
                                                gpnn_combine_needs_weights(rule) ? equal : NULL};
    const double found = gpnn_combine(&s, mean, variance, df, NULL).df;
    if (gpnn_combine_needs_weights(rule))
      assert_near(found, 2.5 * 1.01, 1e-12);
    else
      assert_true(found > (rule == GPNN_COMBINE_GRBCM ? 20 : 50));
    if (rule == GPNN_COMBINE_FUSE || rule == GPNN_COMBINE_POE) continue;
    if (rule != GPNN_COMBINE_RBCM)
      assert_near(gpnn_combine(&s, mean, variance, alone, NULL).df, 2.5, 1e-12);
  }
}

static void one_distribution_keeps_its_tails_and_noise_dilutes_them(void **state)
{
  const double mean[2] = {1, NAN}, variance[2] = {1, NAN}, df[2] = {3, INFINITY};
  struct gpnn_combine_settings s = {.rule = GPNN_COMBINE_FUSE, .n = 2, .prior_variance = 4};
  (void)state;
  const struct gpnn_combined c = gpnn_combine(&s, mean, variance, df, NULL);
  assert_near(c.mean, 1, 1e-15);
  assert_near(c.df, 3, 1e-12);
  s.noise = 0.5;
  assert_near(gpnn_combine(&s, mean, variance, df, NULL).df, 6, 1e-12);
}

/* ---- what is learnt ------------------------------------------------------------------------- */

enum { ROWS = 400 };

/* Predictions of a target by models of different noise, the first two alike. */
static void make_lesson(double m[ROWS * MODELS], double v[ROWS * MODELS], double truth[ROWS])
{
  double *random = normal_rows(ROWS, MODELS + 1, 5);
  for (size_t r = 0; r < ROWS; r++) {
    const double *e = random + r * (MODELS + 1);
    truth[r] = e[0];
    m[r * MODELS] = truth[r] + 0.5 * e[1];
    m[r * MODELS + 1] = truth[r] + 0.5 * e[1] + 0.3 * e[2];
    m[r * MODELS + 2] = truth[r] + 0.6 * e[3];
    for (size_t i = 0; i < MODELS; i++) v[r * MODELS + i] = i == 2 ? 0.36 : 0.3;
  }
  free(random);
}

/* Degrees of freedom, the same of all models, of normal distributions, and of Student's t. */
static const double *degrees(double df)
{
  static double all[ROWS * MODELS];
  for (size_t r = 0; r < ROWS * MODELS; r++) all[r] = df;
  return all;
}

/* Squared error or negative log likelihood of weights on the lesson. */
static double cost(enum gpnn_combine_rule rule, const double *m, const double *v,
                   const double *truth, double df, const double weights[MODELS])
{
  double sum = 0;
  for (size_t r = 0; r < ROWS; r++) {
    double density = 0, mean = 0;
    for (size_t i = 0; i < MODELS; i++) {
      mean += weights[i] * m[r * MODELS + i];
      const double scale = sqrt(v[r * MODELS + i]) * gpnn_student_unit_scale(df);
      density += weights[i] * exp(-gpnn_student_nll(truth[r] - m[r * MODELS + i], scale, df));
    }
    sum += rule == GPNN_COMBINE_STACK ? (mean - truth[r]) * (mean - truth[r]) : -log(density);
  }
  return sum;
}

static void assert_best(double df)
{
  static double m[ROWS * MODELS], v[ROWS * MODELS], truth[ROWS];
  make_lesson(m, v, truth);
  for (enum gpnn_combine_rule rule = GPNN_COMBINE_WEIGHTS; rule < GPNN_COMBINE_RULES; rule++) {
    double weights[MODELS], spread, spare;
    assert_ok(gpnn_combine_learn(rule, MODELS, ROWS, m, v, degrees(df), truth, weights, &spread,
                                 &spare, &err));
    const double least = cost(rule, m, v, truth, df, weights);
    assert_near(weights[0] + weights[1] + weights[2], 1, 1e-12);
    for (int i = 0; i <= 40; i++)
      for (int j = 0; i + j <= 40; j++) {
        const double other[MODELS] = {i / 40.0, j / 40.0, (40 - i - j) / 40.0};
        assert_true(cost(rule, m, v, truth, df, other) >= least - 1e-4);
      }
  }
}

static void no_other_weights_do_better(void **state)
{
  (void)state;
  assert_best(INFINITY);
  assert_best(4);
}

static void the_spread_makes_errors_as_large_as_they_are_said_to_be(void **state)
{
  static double m[ROWS * MODELS], v[ROWS * MODELS], truth[ROWS];
  double weights[MODELS], square = 0;
  struct gpnn_combine_settings settings = {
      .rule = GPNN_COMBINE_STACK, .n = MODELS, .weights = weights};
  (void)state;
  make_lesson(m, v, truth);
  for (size_t r = 0; r < ROWS; r++) v[r * MODELS + 2] = NAN;
  assert_ok(gpnn_combine_learn(GPNN_COMBINE_STACK, MODELS, ROWS, m, v, degrees(INFINITY), truth,
                               weights, &settings.spread, &settings.spare_variance, &err));
  for (size_t r = 0; r < ROWS; r++) {
    const struct gpnn_combined c =
        gpnn_combine(&settings, m + r * MODELS, v + r * MODELS, NULL, NULL);
    square += (c.mean - truth[r]) * (c.mean - truth[r]) / c.variance / ROWS;
  }
  assert_near(square, 1, 1e-9);
}

/* Negative log likelihood of the stack's errors with another spread. */
static double cost_of_spread(struct gpnn_combine_settings settings, double times, const double *m,
                             const double *v, const double *truth, double df)
{
  double sum = 0;
  settings.spread *= times;
  for (size_t r = 0; r < ROWS; r++) {
    const struct gpnn_combined c =
        gpnn_combine(&settings, m + r * MODELS, v + r * MODELS, NULL, NULL);
    sum += gpnn_student_nll(c.mean - truth[r], sqrt(c.variance) * gpnn_student_unit_scale(df), df);
  }
  return sum;
}

static void heavy_tails_leave_the_spread_to_most_rows(void **state)
{
  static double m[ROWS * MODELS], v[ROWS * MODELS], truth[ROWS];
  const double df = 5;
  double weights[MODELS];
  struct gpnn_combine_settings settings = {
      .rule = GPNN_COMBINE_STACK, .n = MODELS, .weights = weights};
  (void)state;
  make_lesson(m, v, truth);
  truth[7] = 40;
  assert_ok(gpnn_combine_learn(GPNN_COMBINE_STACK, MODELS, ROWS, m, v, degrees(df), truth, weights,
                               &settings.spread, &settings.spare_variance, &err));
  assert_true(settings.spread < 3);
  const double least = cost_of_spread(settings, 1, m, v, truth, df);
  assert_true(cost_of_spread(settings, 0.99, m, v, truth, df) > least);
  assert_true(cost_of_spread(settings, 1.01, m, v, truth, df) > least);
}

/* Models that are less certain than the prior, which a committee of one function never has. */
static void a_mean_stays_among_those_of_models_that_contradict_the_prior(void **state)
{
  const double mean[3] = {1, 1.2, 0.8}, variance[3] = {1.5, 2, 3};
  double share[3];
  (void)state;
  for (enum gpnn_combine_rule rule = 0; rule < GPNN_COMBINE_WEIGHTS; rule++) {
    const struct gpnn_combine_settings settings = {.rule = rule, .n = 3, .prior_variance = 1};
    const struct gpnn_combined c = gpnn_combine(&settings, mean, variance, NULL, share);
    assert_true(c.mean >= 0 && c.mean <= 1.2);
    assert_true(c.variance <= 3);
  }
  const struct gpnn_combine_settings fuse = {
      .rule = GPNN_COMBINE_FUSE, .n = 3, .prior_variance = 1};
  assert_near(gpnn_combine(&fuse, mean, variance, NULL, share).variance, 3, 1e-12);
  assert_near(share[0] + share[1] + share[2], 1, 1e-12);
}

/* The likelihood of a mixture is that of each model's own distribution. */
static void weights_are_learnt_by_the_tails_of_each_model(void **state)
{
  static double m[ROWS * MODELS], v[ROWS * MODELS], truth[ROWS], df[ROWS * MODELS];
  double weights[MODELS], of_all[MODELS], spread, spare;
  (void)state;
  make_lesson(m, v, truth);
  for (size_t r = 0; r < ROWS; r++) {
    if (r % 20 == 0) truth[r] += 6; /* which only the last model makes likely */
    for (size_t i = 0; i < MODELS; i++) df[r * MODELS + i] = i == 2 ? 3 : INFINITY;
  }
  assert_ok(gpnn_combine_learn(GPNN_COMBINE_WEIGHTS, MODELS, ROWS, m, v, df, truth, weights,
                               &spread, &spare, &err));
  assert_ok(gpnn_combine_learn(GPNN_COMBINE_WEIGHTS, MODELS, ROWS, m, v, degrees(3), truth, of_all,
                               &spread, &spare, &err));
  assert_true(weights[2] > of_all[2] + 0.05);
}

static void few_rows_teach_nothing(void **state)
{
  const double m[3] = {1, 2, 3}, v[3] = {1, 1, 1}, df[3] = {INFINITY, INFINITY, INFINITY},
               truth[1] = {1};
  double weights[3], spread, spare;
  (void)state;
  assert_fails(
      gpnn_combine_learn(GPNN_COMBINE_STACK, 3, 1, m, v, df, truth, weights, &spread, &spare, &err),
      GPNN_EDATA, "weights of 3 models cannot be learnt from 1 rows");
}

static void what_is_extreme_stays_finite(void **state)
{
  const double mean[2] = {0, 1}, variance[2] = {0, 1e300}, nobody[2] = {NAN, NAN};
  (void)state;
  for (enum gpnn_combine_rule rule = 0; rule < GPNN_COMBINE_WEIGHTS; rule++) {
    const struct gpnn_combine_settings settings = {
        .rule = rule, .n = 2, .prior_variance = 1, .noise = 0.1};
    for (size_t t = 0; t < 16; t++) { /* the ends of what is allowed */
      const double far[2] = {t % 2 == 0 ? 1e100 : -1e100, t / 2 % 2 == 0 ? 1e100 : 0};
      const double wide[2] = {t / 4 % 2 == 0 ? 1e200 : 0, t / 8 % 2 == 0 ? 1e200 : 1};
      const double df[2] = {2.01, t % 3 == 0 ? INFINITY : 5};
      const struct gpnn_combined extreme = gpnn_combine(&settings, far, wide, df, NULL);
      assert_true(isfinite(extreme.mean) && isfinite(extreme.variance) && extreme.df > 2);
    }
    const struct gpnn_combined c = gpnn_combine(&settings, mean, variance, NULL, NULL);
    assert_true(isfinite(c.mean) && c.variance > 0);
    assert_true(isnan(gpnn_combine(&settings, nobody, nobody, NULL, NULL).mean));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_are_those_of_densities),
      cmocka_unit_test(committees_with_a_common_expert_count_what_is_new),
      cmocka_unit_test(one_model_is_left_as_it_is),
      cmocka_unit_test(mixtures_and_means_have_their_moments),
      cmocka_unit_test(errors_add_up_by_the_shares),
      cmocka_unit_test(no_other_weights_do_better),
      cmocka_unit_test(the_spread_makes_errors_as_large_as_they_are_said_to_be),
      cmocka_unit_test(heavy_tails_leave_the_spread_to_most_rows),
      cmocka_unit_test(a_mean_stays_among_those_of_models_that_contradict_the_prior),
      cmocka_unit_test(products_with_tails_hold_what_their_intervals_say),
      cmocka_unit_test(fused_views_are_as_calibrated_as_each_of_them),
      cmocka_unit_test(degrees_of_freedom_follow_contributions),
      cmocka_unit_test(one_distribution_keeps_its_tails_and_noise_dilutes_them),
      cmocka_unit_test(weights_are_learnt_by_the_tails_of_each_model),
      cmocka_unit_test(few_rows_teach_nothing),
      cmocka_unit_test(what_is_extreme_stays_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
