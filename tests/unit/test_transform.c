#include "random.h"

#include <float.h>

#include "base/compare.h"
#include "stats/distributions/normal.h"
#include "stats/transform.h"

static const enum gpnn_transform_kind kinds[] = {GPNN_TRANSFORM_LOG, GPNN_TRANSFORM_ASINH,
                                                 GPNN_TRANSFORM_BOXCOX, GPNN_TRANSFORM_YEO_JOHNSON,
                                                 GPNN_TRANSFORM_RANK};
enum { N_KINDS = sizeof kinds / sizeof kinds[0], N = 3000 };

/* Positive, skewed targets far from unit scale: exp(5 + normal). */
static double *skewed(size_t n, uint64_t seed)
{
  double *y = normal_rows(n, 1, seed);
  for (size_t i = 0; i < n; i++) y[i] = exp(5 + y[i]);
  return y;
}

static struct gpnn_transform fitted(enum gpnn_transform_kind kind, size_t n, const double *y)
{
  struct gpnn_transform t = {0};
  assert_ok(gpnn_transform_fit(&t, kind, n, y, &err));
  return t;
}

/* A transform of each kind, and targets on which they were fitted. */
static int set_up(void **state)
{
  struct gpnn_transform *t = calloc(N_KINDS, sizeof *t);
  double *y = skewed(N, 1);
  for (size_t k = 0; k < N_KINDS; k++) t[k] = fitted(kinds[k], N, y);
  free(y);
  *state = t;
  return t == NULL ? -1 : 0;
}

static int tear_down(void **state)
{
  free(*state);
  return 0;
}

/* ---- the function ------------------------------------------------------------------------- */

static void inverse_undoes_the_transform_in_the_range_and_beyond(void **state)
{
  const struct gpnn_transform *t = *state;
  for (size_t k = 0; k < N_KINDS; k++) {
    for (double y = 1e-3; y < 1e6; y *= 1.07)
      assert_close(gpnn_transform_invert(&t[k], gpnn_transform_apply(&t[k], y)), y,
                   1e-9 * (1 + t[k].scale / y));
    for (double z = -9; z < 9; z += 0.1)
      assert_near(gpnn_transform_apply(&t[k], gpnn_transform_invert(&t[k], z)), z, 1e-9);
  }
}

static void each_rises_everywhere_and_stays_finite(void **state)
{
  const struct gpnn_transform *t = *state;
  static const double wild[] = {-DBL_MAX, -1e300, -1e20, -3,  -1e-300, 0,    DBL_TRUE_MIN, 1e-300,
                                1e-20,    1,      7,     150, 1e4,     1e20, 1e300,        DBL_MAX};
  for (size_t k = 0; k < N_KINDS; k++) {
    double before = -INFINITY, inverse_before = -INFINITY;
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
      double z = gpnn_transform_apply(&t[k], wild[i]), y = gpnn_transform_invert(&t[k], wild[i]);
      assert_true(isfinite(z) && isfinite(y) && gpnn_transform_takes(kinds[k], y));
      assert_true(z >= before && y >= inverse_before);
      before = z;
      inverse_before = y;
    }
    before = -INFINITY;
    for (double y = 0.5; y < 1e5; y *= 1.01) {
      assert_true(gpnn_transform_apply(&t[k], y) > before);
      before = gpnn_transform_apply(&t[k], y);
    }
  }
}

static void log_slope_is_that_of_finite_differences(void **state)
{
  const struct gpnn_transform *t = *state;
  for (size_t k = 0; k < N_KINDS; k++)
    for (double y = 0.0101; y < 1e6; y *= 1.3) {
      double h = 1e-6 * y;
      double below = gpnn_transform_apply(&t[k], y), above = gpnn_transform_apply(&t[k], y + h);
      double slope = exp(gpnn_transform_log_slope(&t[k], y + h / 2));
      assert_close((above - below) / h, slope, 1e-5);
    }
}

/* The trapezoidal rule in log y, and for what is not positive in y. */
static void density_integrates_to_one_in_the_units_of_the_target(void **state)
{
  const struct gpnn_transform *t = *state;
  for (size_t k = 0; k < N_KINDS; k++) {
    double sum = 0, step = 1e-4;
    for (double l = -60; l < 60; l += step) {
      double y = exp(l), z = gpnn_transform_apply(&t[k], y);
      sum += step * y * gpnn_normal_density(z) * exp(gpnn_transform_log_slope(&t[k], y));
      if (!gpnn_transform_takes(kinds[k], -y)) continue;
      z = gpnn_transform_apply(&t[k], -y);
      sum += step * y * gpnn_normal_density(z) * exp(gpnn_transform_log_slope(&t[k], -y));
    }
    assert_near(sum, 1, 1e-4);
  }
}

static void targets_that_are_not_positive_have_no_density_under_log_and_boxcox(void **state)
{
  const struct gpnn_transform *t = *state;
  for (size_t k = 0; k < N_KINDS; k++) {
    bool takes = kinds[k] != GPNN_TRANSFORM_LOG && kinds[k] != GPNN_TRANSFORM_BOXCOX;
    assert_int_equal(gpnn_transform_takes(kinds[k], 0), takes);
    assert_int_equal(gpnn_transform_takes(kinds[k], -1), takes);
    assert_int_equal(isfinite(gpnn_transform_log_slope(&t[k], 0)), takes);
    assert_true(isfinite(gpnn_transform_apply(&t[k], -1)));
    assert_true(isnan(gpnn_transform_apply(&t[k], NAN)));
    assert_true(isnan(gpnn_transform_invert(&t[k], NAN)));
    assert_true(isnan(gpnn_transform_log_slope(&t[k], NAN)));
  }
}

/* ---- the fit ------------------------------------------------------------------------------ */

static void fit_standardises_and_records_the_range(void **state)
{
  (void)state;
  double *y = skewed(N, 1);
  for (size_t k = 0; k < N_KINDS; k++) {
    struct gpnn_transform t = fitted(kinds[k], N, y);
    double sum = 0, squares = 0, least = INFINITY, most = 0;
    for (size_t i = 0; i < N; i++) {
      double z = gpnn_transform_apply(&t, y[i]);
      sum += z;
      squares += z * z;
      least = fmin(least, y[i]);
      most = fmax(most, y[i]);
    }
    assert_near(sum / N, 0, 1e-9);
    assert_near(squares / N, 1, 1e-9);
    assert_true(t.low == least && t.high == most);
  }
  free(y);
}

/* The fourth standardised moment less 3, and the third: both 0 for a normal distribution. */
static void assert_nearly_normal(const struct gpnn_transform *t, const double *y)
{
  double third = 0, fourth = 0;
  for (size_t i = 0; i < N; i++) {
    double z = gpnn_transform_apply(t, y[i]);
    third += z * z * z / N;
    fourth += z * z * z * z / N;
  }
  assert_near(third, 0, 0.25);
  assert_near(fourth - 3, 0, 0.5);
}

static void fit_makes_what_each_is_made_for_normal(void **state)
{
  (void)state;
  double *y = normal_rows(N, 1, 3), *made = gpnn_alloc(N, 1, sizeof *made);
  for (size_t i = 0; i < N; i++) made[i] = exp(2 * y[i] - 10);
  struct gpnn_transform t = fitted(GPNN_TRANSFORM_BOXCOX, N, made);
  assert_near(t.power, 0, 0.05);
  assert_nearly_normal(&t, made);
  for (size_t i = 0; i < N; i++) made[i] = 1e4 * pow(5 + 0.8 * y[i], 2);
  t = fitted(GPNN_TRANSFORM_BOXCOX, N, made);
  assert_near(t.power, 0.5, 0.15);
  for (size_t i = 0; i < N; i++) made[i] = 40 + 3 * sinh(2 * y[i]);
  t = fitted(GPNN_TRANSFORM_ASINH, N, made);
  assert_near(t.centre, 40, 2);
  assert_near(log(t.scale / 3), 0, 0.3);
  assert_nearly_normal(&t, made);
  for (size_t i = 0; i < N; i++) made[i] = y[i] < 0 ? y[i] : expm1(y[i]);
  t = fitted(GPNN_TRANSFORM_YEO_JOHNSON, N, made);
  assert_true(t.power < 1);
  for (size_t i = 0; i < N; i++) made[i] = pow(y[i], 5);
  t = fitted(GPNN_TRANSFORM_RANK, N, made);
  assert_nearly_normal(&t, made);
  free(made);
  free(y);
}

static void fit_of_normal_targets_changes_little(void **state)
{
  (void)state;
  double *y = normal_rows(N, 1, 5);
  for (size_t i = 0; i < N; i++) y[i] = 300 + 20 * y[i];
  for (size_t k = 0; k < N_KINDS; k++) {
    if (kinds[k] == GPNN_TRANSFORM_LOG) continue;
    struct gpnn_transform t = fitted(kinds[k], N, y);
    for (double z = -2; z < 2; z += 0.1)
      assert_near(gpnn_transform_apply(&t, 300 + 20 * z), z, 0.2);
  }
  free(y);
}

static void fit_finds_the_power_of_greatest_likelihood(void **state)
{
  (void)state;
  double *y = skewed(N, 7), loss[3];
  struct gpnn_transform best = fitted(GPNN_TRANSFORM_YEO_JOHNSON, N, y);
  for (int side = -1; side <= 1; side++) {
    double sum = 0, squares = 0, slopes = 0;
    struct gpnn_transform t = best;
    t.power += 0.1 * side;
    t.mean = 0;
    t.sd = 1;
    for (size_t i = 0; i < N; i++) {
      double value = gpnn_transform_apply(&t, y[i]);
      sum += value / N;
      squares += value * value / N;
      slopes += gpnn_transform_log_slope(&t, y[i]) / N;
    }
    loss[side + 1] = 0.5 * log(squares - sum * sum) - slopes;
  }
  assert_true(loss[1] < loss[0] && loss[1] < loss[2]);
  free(y);
}

static void equal_targets_get_the_score_in_their_middle(void **state)
{
  (void)state;
  double y[1000];
  for (size_t i = 0; i < 1000; i++) y[i] = i < 600 ? 0 : i < 900 ? 1 : (double)i - 898;
  struct gpnn_transform t = fitted(GPNN_TRANSFORM_RANK, 1000, y);
  double distance = gpnn_transform_apply(&t, 1) - gpnn_transform_apply(&t, 0);
  assert_close(distance * t.sd, gpnn_normal_quantile(0.75) - gpnn_normal_quantile(0.3), 1e-12);
  assert_true(t.value[0] == 0 && t.score[0] == gpnn_normal_quantile(0.3));
  assert_true(t.value[t.n_knots - 1] == 101);
}

static void fit_survives_few_equal_and_wild_targets(void **state)
{
  (void)state;
  static const double sets[][4] = {{1, 2, 2, 2},
                                   {5, 5, 5, 6},
                                   {1e-300, 1, 1, 1e300},
                                   {1, 1 + 1e-12, 1, 1},
                                   {1e300, 2e300, 1e300, 1.5e300},
                                   {1e-300, 2e-300, 1.5e-300, 1e-300}};
  for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++)
    for (size_t n = 2; n <= 4; n++)
      for (size_t k = 0; k < N_KINDS; k++) {
        struct gpnn_transform t = {0};
        struct gpnn_error err;
        if (gpnn_transform_fit(&t, kinds[k], n, sets[s], &err) != GPNN_OK) {
          assert_non_null(strstr(err.text, "equal"));
          continue;
        }
        for (size_t i = 0; i < n; i++) assert_true(fabs(gpnn_transform_apply(&t, sets[s][i])) < 3);
      }
}

static void unsuitable_targets_are_refused(void **state)
{
  (void)state;
  struct gpnn_transform t = {0};
  double zero[] = {3, 0, 5}, same[] = {3, 3, 3};
  assert_fails(gpnn_transform_fit(&t, GPNN_TRANSFORM_LOG, 3, zero, &err), GPNN_EDATA,
               "0 is not positive, as a log transform needs");
  assert_fails(gpnn_transform_fit(&t, GPNN_TRANSFORM_BOXCOX, 3, zero, &err), GPNN_EDATA,
               "not positive");
  for (size_t k = 0; k < N_KINDS; k++)
    assert_fails(gpnn_transform_fit(&t, kinds[k], 3, same, &err), GPNN_EDATA,
                 "all targets are equal");
  assert_int_equal(t.kind, GPNN_TRANSFORM_NONE);
}

static void bounds_are_the_range_widened_by_its_width(void **state)
{
  const struct gpnn_transform *t = *state;
  for (size_t k = 0; k < N_KINDS; k++) {
    double lower, upper, width = t[k].high - t[k].low;
    gpnn_transform_bounds(&t[k], &lower, &upper);
    assert_true(upper == t[k].high + width);
    assert_true(gpnn_transform_takes(kinds[k], lower));
    if (gpnn_transform_takes(kinds[k], -1)) assert_true(lower == t[k].low - width);
  }
}

/* ---- numbers ------------------------------------------------------------------------------ */

static void numbers_describe_a_transform_completely(void **state)
{
  const struct gpnn_transform *t = *state;
  for (size_t k = 0; k < N_KINDS; k++) {
    double numbers[GPNN_TRANSFORM_NUMBERS];
    const char *why;
    struct gpnn_transform read = {0};
    enum gpnn_transform_kind kind;
    size_t n = gpnn_transform_numbers(&t[k], numbers);
    assert_true(gpnn_transform_by_name(gpnn_transform_name(kinds[k]), &kind));
    assert_int_equal(kind, kinds[k]);
    assert_true(gpnn_transform_set(&read, kind, n, numbers, &why));
    for (double y = 0.01; y < 1e5; y *= 1.3)
      assert_true(gpnn_transform_apply(&read, y) == gpnn_transform_apply(&t[k], y));
    assert_false(gpnn_transform_set(&read, kind, n - 1, numbers, &why));
    assert_false(gpnn_transform_set(&read, kind, n + 1, numbers, &why));
    numbers[1] = 0;
    assert_false(gpnn_transform_set(&read, kind, n, numbers, &why));
    assert_string_equal(why, "its sd is not positive");
    numbers[1] = 1;
    numbers[3] = numbers[2];
    assert_false(gpnn_transform_set(&read, kind, n, numbers, &why));
  }
  enum gpnn_transform_kind kind;
  assert_false(gpnn_transform_by_name("auto", &kind));
}

static void bad_numbers_are_refused(void **state)
{
  (void)state;
  static const struct {
    enum gpnn_transform_kind kind;
    size_t n;
    double numbers[8];
    const char *why;
  } bad[] = {
      {GPNN_TRANSFORM_LOG, 4, {0, 1, 0, 2}, "its range is not positive"},
      {GPNN_TRANSFORM_LOG, 4, {0, 1, -DBL_MAX, DBL_MAX}, "its range is empty or too large"},
      {GPNN_TRANSFORM_ASINH, 6, {0, 1, 0, 2, 1, 0}, "its scale is not positive"},
      {GPNN_TRANSFORM_BOXCOX, 6, {0, 1, 1, 2, 1, 0}, "its centre is not positive"},
      {GPNN_TRANSFORM_BOXCOX, 6, {0, 1, 1, 2, 11, 1}, "its power is not between -10 and 10"},
      {GPNN_TRANSFORM_YEO_JOHNSON, 7, {0, 1, 1, 2, 1, 0, -1}, "its scale is not positive"},
      {GPNN_TRANSFORM_RANK, 6, {0, 1, 1, 2, 1, 0}, "fewer than two knots"},
      {GPNN_TRANSFORM_RANK, 8, {0, 1, 1, 2, 1, 0, 1, 1}, "the knots do not rise"},
      {GPNN_TRANSFORM_RANK, 8, {0, 1, 1, 2, 1, 0, 2, 0}, "the knots do not rise"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct gpnn_transform t = {0};
    const char *why;
    assert_false(gpnn_transform_set(&t, bad[i].kind, bad[i].n, bad[i].numbers, &why));
    assert_string_equal(why, bad[i].why);
    assert_int_equal(t.kind, GPNN_TRANSFORM_NONE);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inverse_undoes_the_transform_in_the_range_and_beyond),
      cmocka_unit_test(each_rises_everywhere_and_stays_finite),
      cmocka_unit_test(log_slope_is_that_of_finite_differences),
      cmocka_unit_test(density_integrates_to_one_in_the_units_of_the_target),
      cmocka_unit_test(targets_that_are_not_positive_have_no_density_under_log_and_boxcox),
      cmocka_unit_test(fit_standardises_and_records_the_range),
      cmocka_unit_test(fit_makes_what_each_is_made_for_normal),
      cmocka_unit_test(fit_of_normal_targets_changes_little),
      cmocka_unit_test(fit_finds_the_power_of_greatest_likelihood),
      cmocka_unit_test(equal_targets_get_the_score_in_their_middle),
      cmocka_unit_test(fit_survives_few_equal_and_wild_targets),
      cmocka_unit_test(unsuitable_targets_are_refused),
      cmocka_unit_test(bounds_are_the_range_widened_by_its_width),
      cmocka_unit_test(numbers_describe_a_transform_completely),
      cmocka_unit_test(bad_numbers_are_refused),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
