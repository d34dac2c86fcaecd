#include "random.h"
#include "stats/distributions/normal.h"
#include "stats/distributions/student.h"
#include "stats/scores/metrics.h"
#include "unit.h"

static const double levels[] = {0.5, 0.95};

static struct gpnn_metrics_result result_of(size_t n, const double *y, const double *mean,
                                            const double *sd)
{
  struct gpnn_metrics metrics = {0};
  struct gpnn_metrics_result result;
  gpnn_metrics_levels(&metrics, 2, levels);
  for (size_t i = 0; i < n; i++)
    assert_ok(gpnn_metrics_add(&metrics, y[i], mean[i], sd == NULL ? NAN : sd[i], INFINITY, &err));
  assert_ok(gpnn_metrics_result(&metrics, &result, &err));
  gpnn_metrics_release(&metrics);
  return result;
}

static void four_rows_give_what_the_formulas_give_by_hand(void **state)
{
  (void)state;
  const double y[] = {1, 2, 4, 9}, mean[] = {1.5, 2, 3, 9.25}, sd[] = {0.5, 1, 2, 0.25};
  struct gpnn_metrics_result r = result_of(4, y, mean, sd);
  const double z[] = {-1, 0, 0.5, -1}; /* (y - mean) / sd */
  assert_close(r.mse, (0.25 + 0 + 1 + 0.0625) / 4, 1e-15);
  assert_close(r.rmse, sqrt(1.3125 / 4), 1e-15);
  assert_close(r.mae, (0.5 + 0 + 1 + 0.25) / 4, 1e-15);
  assert_close(r.r2, 1 - 1.3125 / (9 + 4 + 0 + 25), 1e-14); /* the truths have mean 4 */
  assert_close(r.cal, (1 + 0 + 0.25 + 1) / 4, 1e-15);
  double nll = 0;
  for (size_t i = 0; i < 4; i++) nll += (log(2 * M_PI) / 2 + log(sd[i]) + z[i] * z[i] / 2) / 4;
  assert_close(r.nll, nll, 1e-14);
  assert_close(r.coverage[0], 0.5, 0); /* |z| <= 0.674: the second and the third */
  assert_close(r.coverage[1], 1, 0);
  assert_int_equal(r.n, 4);
}

/* CRPS = integral of (F(t) - [t >= y])^2 dt, by the midpoint rule. */
static void crps_is_the_integral_that_defines_it(void **state)
{
  (void)state;
  const double y[] = {0.7}, mean[] = {-0.4}, sd[] = {0.8};
  double integral = 0;
  const double step = 1e-4;
  for (double t = -9; t < 9; t += step) {
    double below = gpnn_normal_cdf((t + step / 2 - mean[0]) / sd[0]) - (t + step / 2 >= y[0]);
    integral += step * below * below;
  }
  assert_near(result_of(1, y, mean, sd).crps, integral, 1e-6);
}

static void right_predictions_of_normal_truths_are_calibrated(void **state)
{
  (void)state;
  enum { N = 20000 };
  static double y[N], mean[N], sd[N];
  struct gpnn_rng rng = seeded(11);
  for (size_t i = 0; i < N; i++) {
    mean[i] = 5 * gpnn_rng_normal(&rng);
    sd[i] = 0.1 + gpnn_rng_uniform(&rng);
    y[i] = mean[i] + sd[i] * gpnn_rng_normal(&rng);
  }
  struct gpnn_metrics_result r = result_of(N, y, mean, sd);
  assert_near(r.cal, 1, 5 * sqrt(2.0 / N));
  assert_near(r.coverage[0], 0.5, 5 * sqrt(0.25 / N));
  assert_near(r.coverage[1], 0.95, 5 * sqrt(0.0475 / N));
  assert_true(r.pit_distance < 2.2 / sqrt(N)); /* exceeded once in 8000 */
  double sum = 0;
  for (size_t i = 0; i < GPNN_METRICS_PIT_BINS; i++) {
    assert_near(r.pit[i], 0.1, 5 * sqrt(0.09 / N));
    sum += r.pit[i];
  }
  assert_near(sum, 1, 1e-10);
}

static void the_kolmogorov_distance_of_three_points_is_exact(void **state)
{
  (void)state;
  const double y[] = {0, 0, 0}, sd[] = {1, 1, 1};
  const double mean[] = {-gpnn_normal_quantile(0.2), -gpnn_normal_quantile(0.3),
                         -gpnn_normal_quantile(0.9)};
  /* the empirical distribution jumps to 2/3 at 0.3 */
  assert_near(result_of(3, y, mean, sd).pit_distance, 2.0 / 3 - 0.3, 1e-12);
}

static void without_sds_only_the_metrics_of_means_are_given(void **state)
{
  (void)state;
  const double y[] = {1, 2}, mean[] = {1, 4};
  struct gpnn_metrics_result r = result_of(2, y, mean, NULL);
  assert_false(r.has_sd);
  assert_close(r.mse, 2, 1e-15);
}

static void constant_truths_have_no_r2(void **state)
{
  (void)state;
  const double y[] = {3, 3}, mean[] = {1, 4}, sd[] = {1, 1};
  assert_true(isnan(result_of(2, y, mean, sd).r2));
}

static void sums_keep_their_digits(void **state)
{
  (void)state;
  enum { N = 100001 };
  static double y[N], mean[N];
  y[0] = 1e8; /* squared error 1e16, whose last place is 2 */
  for (size_t i = 1; i < N; i++) y[i] = 1;
  assert_close(result_of(N, y, mean, NULL).mse, (1e16 + 1e5) / N, 1e-16);
}

/* For any power of two as the unit, as far as squares are in the range of a double; beyond that,
 * for everything that is not squared. */
static void units_may_be_huge_or_tiny(void **state)
{
  (void)state;
  const double y[] = {1, 2, 4}, mean[] = {1.5, 2, 3}, sd[] = {0.5, 1, 2};
  struct gpnn_metrics_result r = result_of(3, y, mean, sd);
  for (int power = -1000; power <= 1000; power += 10) {
    double scaled_y[3], scaled_mean[3], scaled_sd[3];
    for (size_t i = 0; i < 3; i++) {
      scaled_y[i] = ldexp(y[i], power);
      scaled_mean[i] = ldexp(mean[i], power);
      scaled_sd[i] = ldexp(sd[i], power);
    }
    struct gpnn_metrics_result scaled = result_of(3, scaled_y, scaled_mean, scaled_sd);
    assert_close(scaled.rmse, ldexp(r.rmse, power), 1e-15);
    assert_close(scaled.mae, ldexp(r.mae, power), 1e-15);
    assert_close(scaled.crps, ldexp(r.crps, power), 1e-14);
    assert_close(scaled.score[0], ldexp(r.score[0], power), 1e-14);
    assert_close(scaled.r2, r.r2, 1e-14);
    assert_close(scaled.cal, r.cal, 1e-15);
    if (abs(power) < 500) assert_close(scaled.mse, ldexp(r.mse, 2 * power), 1e-15);
  }
}

static void squares_add_up_however_many_there_are(void **state)
{
  (void)state;
  enum { ROWS = (1 << 24) + 1 };
  for (double value = 0x1p+480; value <= 0x1p+500; value *= 0x1p+20) {
    struct gpnn_squares squares = {0};
    for (int i = 0; i < ROWS; i++) gpnn_squares_add(&squares, value);
    assert_close(gpnn_squares_root_mean(&squares, ROWS), value, 1e-12);
  }
}

static void errors_of_very_different_sizes_add_up(void **state)
{
  (void)state;
  for (int power = -1000; power <= 1000; power += 10)
    for (int apart = 0; apart <= 2; apart++) {
      const double mean[] = {0, 0, 0};
      const double y[] = {ldexp(3, power), -ldexp(3, power - apart), 0};
      double expected = ldexp(sqrt((9 + ldexp(9, -2 * apart)) / 3), power);
      assert_close(result_of(3, y, mean, NULL).rmse, expected, 4e-16);
    }
}

/* As the sd vanishes, the score becomes the absolute error. */
static void the_smallest_standard_deviation_gives_a_score(void **state)
{
  (void)state;
  const double y[] = {7}, mean[] = {5}, sd[] = {1e-320};
  struct gpnn_metrics_result r = result_of(1, y, mean, sd);
  assert_close(r.crps, 2, 1e-15);
  assert_close(r.score[0], 2 / 0.5 * 2, 1e-15);
  assert_close(r.coverage[0], 0, 0);
  assert_close(r.pit_distance, 1, 0);
}

static void other_units_are_those_of_scaled_rows(void **state)
{
  (void)state;
  const double y[] = {1, 2, 4}, mean[] = {1.5, 2, 3}, sd[] = {0.5, 1, 2}, unit = 4;
  double small_y[3], small_mean[3], small_sd[3];
  for (size_t i = 0; i < 3; i++) {
    small_y[i] = y[i] / unit;
    small_mean[i] = mean[i] / unit;
    small_sd[i] = sd[i] / unit;
  }
  struct gpnn_metrics_result whole = result_of(3, y, mean, sd);
  struct gpnn_metrics_result scaled = gpnn_metrics_in_units(&whole, unit, false);
  struct gpnn_metrics_result direct = result_of(3, small_y, small_mean, small_sd);
  assert_close(scaled.rmse, direct.rmse, 1e-14);
  assert_close(scaled.mse, direct.mse, 1e-14);
  assert_close(scaled.mae, direct.mae, 1e-14);
  assert_close(scaled.nll, direct.nll, 1e-14);
  assert_close(scaled.crps, direct.crps, 1e-14);
  assert_close(scaled.cal, direct.cal, 1e-14);
  assert_close(scaled.width[1], direct.width[1], 1e-14);
  assert_close(scaled.score[0], direct.score[0], 1e-14);
  assert_close(gpnn_metrics_in_units(&whole, unit, true).nll, whole.nll, 0);
}

static void impossible_standard_deviations_are_refused(void **state)
{
  (void)state;
  struct gpnn_metrics metrics = {0};
  gpnn_metrics_levels(&metrics, 2, levels);
  assert_fails(gpnn_metrics_add(&metrics, 1, 1, 0, INFINITY, &err), GPNN_EDATA,
               "standard deviation");
  assert_fails(gpnn_metrics_add(&metrics, 1, 1, -1, INFINITY, &err), GPNN_EDATA,
               "standard deviation");
  struct gpnn_metrics_result result;
  assert_fails(gpnn_metrics_result(&metrics, &result, &err), GPNN_EDATA, "no row");
  gpnn_metrics_release(&metrics);
}

static void widths_and_scores_are_those_of_the_central_intervals(void **state)
{
  (void)state;
  const double y[] = {1, 2, 4, 9}, mean[] = {1.5, 2, 3, 9.25}, sd[] = {0.5, 1, 2, 0.25};
  struct gpnn_metrics_result r = result_of(4, y, mean, sd);
  double half = 0.67448975019608174; /* the first and the last miss by (1 - half) sd */
  assert_close(r.width[0], 2 * half * 3.75 / 4, 1e-14);
  assert_close(r.score[0], (2 * half * 3.75 + 2 / 0.5 * (1 - half) * 0.75) / 4, 1e-14);
  assert_close(r.score[1], r.width[1], 1e-15); /* all are within */
}

/* Shifting truths and predictions together, or mirroring both, leaves the scores alone. */
static void scores_do_not_depend_on_origin_or_direction(void **state)
{
  (void)state;
  const double y[] = {1, 2, 4}, mean[] = {1.5, 2, 3}, sd[] = {0.5, 1, 2};
  const double moved[] = {9, 8, 6}, moved_mean[] = {8.5, 8, 7}; /* 10 less each */
  struct gpnn_metrics_result a = result_of(3, y, mean, sd), b = result_of(3, moved, moved_mean, sd);
  assert_close(a.nll, b.nll, 1e-14);
  assert_close(a.crps, b.crps, 1e-14);
  assert_close(a.score[0], b.score[0], 1e-14);
  assert_close(a.r2, b.r2, 1e-14);
}

static struct gpnn_metrics_result student_row(double y, double sd, double df)
{
  struct gpnn_metrics metrics = {0};
  struct gpnn_metrics_result result;
  gpnn_metrics_levels(&metrics, 2, levels);
  assert_ok(gpnn_metrics_add(&metrics, 1 + y, 1, sd, df, &err));
  assert_ok(gpnn_metrics_result(&metrics, &result, &err));
  gpnn_metrics_release(&metrics);
  return result;
}

/* With 4 degrees of freedom everything is elementary: scale^2 = sd^2 / 2,
 * f(t) = 3/8 (1 + t^2/4)^(-5/2), and the quantile of 0.95 within is 2.776445105197793. */
static void a_student_prediction_is_scored_as_one(void **state)
{
  (void)state;
  double y = 1.2, sd = 0.8, scale = sd / sqrt(2), t = y / scale;
  struct gpnn_metrics_result r = student_row(y, sd, 4);
  assert_close(r.nll, log(scale) - log(0.375) + 2.5 * log(1 + t * t / 4), 1e-13);
  assert_close(r.cal, y * y / (sd * sd), 1e-14);
  assert_close(r.width[1], 2 * scale * 2.7764451051977987, 1e-13);
  assert_close(r.crps, scale * gpnn_student_crps(t, 4), 1e-15);
  double s = t / sqrt(4 + t * t);
  double pit = 0.5 + 0.75 * (s - s * s * s / 3);
  assert_close(r.pit_distance, fmax(pit, 1 - pit), 1e-13);
}

static void rows_of_different_degrees_of_freedom_mix(void **state)
{
  (void)state;
  static const double dfs[] = {4, INFINITY, 4, 2.5};
  struct gpnn_metrics metrics = {0};
  struct gpnn_metrics_result all;
  gpnn_metrics_levels(&metrics, 2, levels);
  double nll = 0, width = 0;
  for (size_t i = 0; i < 4; i++) {
    struct gpnn_metrics_result one = student_row(0.3, 2, dfs[i]);
    nll += one.nll / 4;
    width += one.width[1] / 4;
    assert_ok(gpnn_metrics_add(&metrics, 1.3, 1, 2, dfs[i], &err));
  }
  assert_ok(gpnn_metrics_result(&metrics, &all, &err));
  assert_close(all.nll, nll, 1e-14);
  assert_close(all.width[1], width, 1e-14);
  gpnn_metrics_release(&metrics);
}

static void right_predictions_of_student_truths_are_calibrated(void **state)
{
  (void)state;
  enum { N = 20000, DF = 5 };
  struct gpnn_metrics metrics = {0};
  struct gpnn_metrics_result r;
  struct gpnn_rng rng = seeded(12);
  gpnn_metrics_levels(&metrics, 2, levels);
  for (size_t i = 0; i < N; i++) {
    double chi2 = 0, z = gpnn_rng_normal(&rng);
    for (size_t k = 0; k < DF; k++) {
      double one = gpnn_rng_normal(&rng);
      chi2 += one * one;
    }
    double sd = 3 * sqrt(DF / (DF - 2.0)); /* of scale 3 */
    assert_ok(gpnn_metrics_add(&metrics, 3 * z / sqrt(chi2 / DF), 0, sd, DF, &err));
  }
  assert_ok(gpnn_metrics_result(&metrics, &r, &err));
  assert_near(r.coverage[0], 0.5, 5 * sqrt(0.25 / N));
  assert_near(r.coverage[1], 0.95, 5 * sqrt(0.0475 / N));
  assert_true(r.pit_distance < 2.2 / sqrt(N));
  gpnn_metrics_release(&metrics);
}

static void a_pit_histogram_of_any_number_of_bins_counts_every_row_once(void **state)
{
  (void)state;
  struct gpnn_metrics metrics = {0};
  double shares[4];
  for (size_t i = 0; i < 4; i++) /* PITs 0.1, 0.2, 0.6, and 1 to rounding */
    assert_ok(gpnn_metrics_add(
        &metrics, i == 3 ? 50 : gpnn_normal_quantile(i == 2 ? 0.6 : 0.1 * (double)(i + 1)), 0, 1,
        INFINITY, &err));
  gpnn_metrics_pit_histogram(&metrics, 4, shares);
  assert_close(shares[0], 0.5, 0);
  assert_close(shares[1], 0, 0);
  assert_close(shares[2], 0.25, 0);
  assert_close(shares[3], 0.25, 0);
  gpnn_metrics_pit_histogram(&metrics, 1, shares);
  assert_close(shares[0], 1, 0);
  gpnn_metrics_release(&metrics);
}

/* Given scores replace those of mean and sd; the others and the means' metrics stay. */
static void given_scores_count_where_there_are_any(void **state)
{
  (void)state;
  const struct gpnn_metrics_given all = {-1.5, 0.25, 0.97, NAN}, only_pit = {NAN, NAN, 0.5, NAN};
  struct gpnn_metrics metrics = {0};
  struct gpnn_metrics_result r, one = student_row(0.3, 2, 4);
  gpnn_metrics_levels(&metrics, 2, levels);
  assert_ok(gpnn_metrics_add_given(&metrics, 2, 1, 2, INFINITY, &all, &err));
  assert_ok(gpnn_metrics_add_given(&metrics, 1.3, 1, 2, 4, &only_pit, &err));
  assert_ok(gpnn_metrics_result(&metrics, &r, &err));
  assert_close(r.nll, (1.5 + one.nll) / 2, 1e-14);
  assert_close(r.crps, (0.25 + one.crps) / 2, 1e-14);
  assert_close(r.cal, (0.25 + 0.0225) / 2, 1e-14);
  assert_close(r.coverage[0], 0.5, 0); /* of 0.97 and 0.5 the second */
  assert_close(r.coverage[1], 1, 0);   /* up to 0.975 */
  assert_close(r.pit_distance, 0.5, 1e-14);
  assert_true(isnan(r.width[0]) && isnan(r.score[1]));
  gpnn_metrics_release(&metrics);
}

/* Those of mean and sd, given: nothing but the widths is lost. */
static void given_scores_of_the_same_distribution_change_nothing(void **state)
{
  (void)state;
  enum { N = 200 };
  struct gpnn_metrics plain = {0}, given = {0};
  struct gpnn_metrics_result a, b;
  struct gpnn_rng rng = seeded(3);
  gpnn_metrics_levels(&plain, 2, levels);
  gpnn_metrics_levels(&given, 2, levels);
  for (size_t i = 0; i < N; i++) {
    double y = rint(3 * gpnn_rng_normal(&rng)), z = y / 3;
    const struct gpnn_metrics_given scores = {
        -gpnn_normal_nll(y, 3), 3 * gpnn_student_crps(z, INFINITY), gpnn_normal_cdf(z), 0};
    assert_ok(gpnn_metrics_add(&plain, y, 0, 3, INFINITY, &err));
    assert_ok(gpnn_metrics_add_given(&given, y, 0, 3, INFINITY, &scores, &err));
  }
  assert_ok(gpnn_metrics_result(&plain, &a, &err));
  assert_ok(gpnn_metrics_result(&given, &b, &err));
  assert_close(b.nll, a.nll, 1e-13);
  assert_close(b.crps, a.crps, 1e-13);
  assert_close(b.pit_distance, a.pit_distance, 1e-10);
  assert_close(b.coverage[0], a.coverage[0], 0);
  gpnn_metrics_release(&plain);
  gpnn_metrics_release(&given);
}

/* A step from 0.1 to 0.5, of which the level 0.5 contains the part from 0.25, and 0.95 all. */
static void a_step_is_inside_in_part_and_has_no_unit(void **state)
{
  (void)state;
  const struct gpnn_metrics_given step = {log(0.4), 1, 0.3, 0.4}, none = {-2, 1, 0.99, 0},
                                  whole = {log(0.4), 1, 1, 0.4}; /* beyond 1 by rounding, say */
  const double both[] = {0.5, 0.95};
  struct gpnn_metrics metrics = {0};
  struct gpnn_metrics_result r;
  gpnn_metrics_levels(&metrics, 2, both);
  assert_ok(gpnn_metrics_add_given(&metrics, 0, 1, 2, INFINITY, &step, &err));
  assert_ok(gpnn_metrics_add_given(&metrics, 0, 1, 2, INFINITY, &step, &err));
  assert_ok(gpnn_metrics_add_given(&metrics, 3, 1, 2, INFINITY, &none, &err));
  assert_ok(gpnn_metrics_add_given(&metrics, 0, 1, 2, INFINITY, &whole, &err));
  assert_ok(gpnn_metrics_result(&metrics, &r, &err));
  assert_close(r.coverage[0], 2 * 0.25 / 0.4 / 4, 1e-14);
  assert_close(r.coverage[1], (2 + 0.175 / 0.2) / 4, 1e-14);
  assert_close(r.at_steps, 0.75, 0);
  assert_close(gpnn_metrics_in_units(&r, 5, false).nll, r.nll - 0.25 * log(5), 1e-14);
  assert_true(isnan(r.width[0]));
  gpnn_metrics_release(&metrics);
}

/* Right predictions of mixtures: an atom at 0 and a normal law, whose mean and share vary. */
static void right_predictions_of_mixtures_are_uniform(void **state)
{
  (void)state;
  enum { N = 20000 };
  struct gpnn_metrics metrics = {0};
  struct gpnn_metrics_result r;
  struct gpnn_rng rng = seeded(8);
  gpnn_metrics_levels(&metrics, 2, levels);
  for (size_t i = 0; i < N; i++) {
    double p = gpnn_rng_uniform(&rng), mean = gpnn_rng_normal(&rng);
    bool is_at = gpnn_rng_uniform(&rng) < p;
    double y = is_at ? 0 : mean + gpnn_rng_normal(&rng), z = y - mean;
    double below = (1 - p) * gpnn_normal_cdf(z);
    const struct gpnn_metrics_given given = {is_at ? log(p) : log1p(-p) - gpnn_normal_nll(z, 1), 1,
                                             is_at ? below + p / 2 : below + (y > 0 ? p : 0),
                                             is_at ? p : 0};
    assert_ok(gpnn_metrics_add_given(&metrics, y, (1 - p) * mean, 1, INFINITY, &given, &err));
  }
  assert_ok(gpnn_metrics_result(&metrics, &r, &err));
  assert_true(r.pit_distance < 1.63 / sqrt(N)); /* exceeded by chance once in a hundred times */
  for (size_t i = 0; i < 2; i++)
    assert_near(r.coverage[i], levels[i], 3 * gpnn_coverage_se(levels[i], N));
  gpnn_metrics_release(&metrics);
}

static void impossible_scores_are_refused(void **state)
{
  (void)state;
  const struct gpnn_metrics_given step = {-1, 1, 0.5, 3};
  const struct gpnn_metrics_given pit = {-1, 1, 2, 0}, crps = {-1, -3, 0.5, 0};
  struct gpnn_metrics metrics = {0};
  assert_fails(gpnn_metrics_add_given(&metrics, 1, 1, 1, INFINITY, &pit, &err), GPNN_EDATA,
               "pit is not between 0 and 1 but 2");
  assert_fails(gpnn_metrics_add_given(&metrics, 1, 1, 1, INFINITY, &crps, &err), GPNN_EDATA,
               "crps is negative: -3");
  assert_fails(gpnn_metrics_add_given(&metrics, 1, 1, 1, INFINITY, &step, &err), GPNN_EDATA,
               "pitstep is not between 0 and 1 but 3");
  assert_int_equal(metrics.n, 0);
  gpnn_metrics_release(&metrics);
}

static void too_few_degrees_of_freedom_are_refused(void **state)
{
  (void)state;
  struct gpnn_metrics metrics = {0};
  assert_fails(gpnn_metrics_add(&metrics, 1, 1, 1, 2, &err), GPNN_EDATA, "not above 2");
  assert_fails(gpnn_metrics_add(&metrics, 1, 1, 1, NAN, &err), GPNN_EDATA, "not above 2");
  assert_int_equal(metrics.n, 0);
  gpnn_metrics_release(&metrics);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(four_rows_give_what_the_formulas_give_by_hand),
      cmocka_unit_test(crps_is_the_integral_that_defines_it),
      cmocka_unit_test(right_predictions_of_normal_truths_are_calibrated),
      cmocka_unit_test(the_kolmogorov_distance_of_three_points_is_exact),
      cmocka_unit_test(without_sds_only_the_metrics_of_means_are_given),
      cmocka_unit_test(constant_truths_have_no_r2),
      cmocka_unit_test(sums_keep_their_digits),
      cmocka_unit_test(units_may_be_huge_or_tiny),
      cmocka_unit_test(squares_add_up_however_many_there_are),
      cmocka_unit_test(errors_of_very_different_sizes_add_up),
      cmocka_unit_test(the_smallest_standard_deviation_gives_a_score),
      cmocka_unit_test(other_units_are_those_of_scaled_rows),
      cmocka_unit_test(impossible_standard_deviations_are_refused),
      cmocka_unit_test(widths_and_scores_are_those_of_the_central_intervals),
      cmocka_unit_test(scores_do_not_depend_on_origin_or_direction),
      cmocka_unit_test(a_student_prediction_is_scored_as_one),
      cmocka_unit_test(rows_of_different_degrees_of_freedom_mix),
      cmocka_unit_test(right_predictions_of_student_truths_are_calibrated),
      cmocka_unit_test(a_pit_histogram_of_any_number_of_bins_counts_every_row_once),
      cmocka_unit_test(given_scores_count_where_there_are_any),
      cmocka_unit_test(given_scores_of_the_same_distribution_change_nothing),
      cmocka_unit_test(a_step_is_inside_in_part_and_has_no_unit),
      cmocka_unit_test(right_predictions_of_mixtures_are_uniform),
      cmocka_unit_test(impossible_scores_are_refused),
      cmocka_unit_test(too_few_degrees_of_freedom_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
