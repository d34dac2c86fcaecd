#include "stats/scores/power_law.h"
#include "unit.h"

static void a_power_law_is_found_exactly(void **state)
{
  (void)state;
  const double log_x[] = {1, 2, 4, 7}, log_y[] = {2.25, 1.5, 0, -2.25};
  struct gpnn_power_law fit;
  gpnn_power_law_fit(&fit, 4, log_x, log_y);
  assert_int_equal(fit.n, 4);
  assert_near(fit.slope, -0.75, 1e-15);
  assert_near(fit.intercept, 3, 1e-14);
  assert_near(fit.se, 0, 1e-15);
  assert_near(fit.r2, 1, 1e-15);
}

/* By hand: x = 0 1 2 3, y = 1 3 2 5: Sxx = 5, Sxy = 5.5, Syy = 8.75, residuals 2.7. */
static void the_fit_is_the_closed_form(void **state)
{
  (void)state;
  const double log_x[] = {0, 1, 2, 3}, log_y[] = {1, 3, 2, 5};
  struct gpnn_power_law fit;
  gpnn_power_law_fit(&fit, 4, log_x, log_y);
  assert_close(fit.slope, 1.1, 1e-14);
  assert_close(fit.intercept, 1.1, 1e-14);
  assert_close(fit.r2, 1 - 2.7 / 8.75, 1e-14);
  assert_close(fit.se, sqrt(2.7 / 2 / 5), 1e-14);
}

static void the_standard_error_of_a_good_fit_is_accurate(void **state)
{
  (void)state;
  enum { N = 40 };
  double log_x[N], log_y[N];
  struct gpnn_power_law fit;
  for (size_t i = 0; i < N; i++) {
    log_x[i] = 30 + (double)i / 10;
    log_y[i] = -5 * log_x[i] + 1e-9 * cos((double)(i * i));
  }
  gpnn_power_law_fit(&fit, N, log_x, log_y);
  assert_near(fit.slope, -5, 1e-9);
  assert_true(fit.se > 1e-11 && fit.se < 1e-9);
}

static void points_without_a_logarithm_are_skipped(void **state)
{
  (void)state;
  const double log_x[] = {0, 1, 2, 3, 4, NAN}, log_y[] = {0, -INFINITY, 4, 6, NAN, 1};
  struct gpnn_power_law fit;
  gpnn_power_law_fit(&fit, 6, log_x, log_y);
  assert_int_equal(fit.n, 3);
  assert_close(fit.slope, 2, 1e-14);
}

static void too_few_points_give_nan(void **state)
{
  (void)state;
  const double two[] = {1, 2}, same[] = {1, 1, 1}, rising[] = {1, 2, 3};
  struct gpnn_power_law fit;
  gpnn_power_law_fit(&fit, 0, NULL, NULL);
  assert_int_equal(fit.n, 0);
  assert_true(isnan(fit.slope) && isnan(fit.se) && isnan(fit.r2) && isnan(fit.intercept));
  gpnn_power_law_fit(&fit, 2, two, two);
  assert_int_equal(fit.n, 2);
  assert_true(isnan(fit.slope));
  gpnn_power_law_fit(&fit, 3, same, rising);
  assert_true(isnan(fit.slope) && isnan(fit.r2));
  gpnn_power_law_fit(&fit, 3, rising, same);
  assert_near(fit.slope, 0, 1e-15);
  assert_true(isnan(fit.r2));
}

static void the_last_fit_is_of_eight_sizes_whatever_the_sign(void **state)
{
  (void)state;
  double x[11], y[11];
  for (size_t i = 0; i < 11; i++) {
    x[i] = pow(10, (double)i);
    y[i] = i < 3 ? 1e9 : (i % 2 == 0 ? 2 : -2) * pow(x[i], -0.25);
  }
  struct gpnn_power_law fit;
  gpnn_power_law_fit_last(&fit, 11, x, y);
  assert_int_equal(fit.n, 8);
  assert_close(fit.slope, -0.25, 1e-12);
  assert_close(exp(fit.intercept), 2, 1e-12);
  gpnn_power_law_fit_last(&fit, 6, x, y);
  assert_int_equal(fit.n, 6);
  gpnn_power_law_fit_last(&fit, 2, x, y);
  assert_true(isnan(fit.slope));
}

static void equal_sizes_count_once(void **state)
{
  (void)state;
  double x[22], y[22];
  for (size_t i = 0; i < 22; i++) {
    x[i] = pow(10, (double)(i / 2));
    y[i] = i < 6 ? 1e9 : pow(x[i], -0.5) * (i % 2 == 0 ? 2 : 0.5);
  }
  struct gpnn_power_law fit;
  assert_int_equal(gpnn_power_law_fit_last(&fit, 22, x, y), 6);
  assert_int_equal(fit.n, 16);
  assert_close(fit.slope, -0.5, 1e-12);
}

static void values_that_are_equal_but_for_rounding_have_slope_zero(void **state)
{
  (void)state;
  const double x[] = {1, 10, 100, 1000}, y[] = {0.3, 0.1 + 0.2, 0.3, 0.3};
  struct gpnn_power_law fit;
  assert_true(y[1] != y[0]);
  gpnn_power_law_fit_last(&fit, 4, x, y);
  assert_true(fit.slope == 0 && isnan(fit.r2));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_power_law_is_found_exactly),
      cmocka_unit_test(the_fit_is_the_closed_form),
      cmocka_unit_test(the_standard_error_of_a_good_fit_is_accurate),
      cmocka_unit_test(points_without_a_logarithm_are_skipped),
      cmocka_unit_test(too_few_points_give_nan),
      cmocka_unit_test(the_last_fit_is_of_eight_sizes_whatever_the_sign),
      cmocka_unit_test(equal_sizes_count_once),
      cmocka_unit_test(values_that_are_equal_but_for_rounding_have_slope_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
