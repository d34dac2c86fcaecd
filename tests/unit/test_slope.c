/* Lines of least squares, against the normal equations and by hand. */
#include "methods/slope.h"
#include "unit.h"

static void points_on_a_line_give_it_back(void **state)
{
  (void)state;
  double x[8], y[8];
  for (int i = 0; i < 8; i++) {
    x[i] = 7 + 0.7 * i * i;
    y[i] = 3 - 0.4 * x[i];
  }
  struct gpnn_slope fit;
  gpnn_slope_fit(&fit, 8, x, y);
  assert_near(fit.slope, -0.4, 1e-14);
  assert_near(fit.intercept, 3, 1e-12);
  assert_near(fit.se, 0, 1e-12);
  assert_near(fit.r2, 1, 1e-14);
  assert_int_equal(fit.n, 8);
}

static void four_points_by_hand(void **state)
{
  (void)state;
  /* The means are 1.5 and 2, and the squares of x about its mean sum to 5. */
  const double x[] = {0, 1, 2, 3}, y[] = {1, 2, 1.5, 3.5};
  struct gpnn_slope fit;
  gpnn_slope_fit(&fit, 4, x, y);
  double sxy = -1.5 * -1 + -0.5 * 0 + 0.5 * -0.5 + 1.5 * 1.5, syy = 1 + 0 + 0.25 + 2.25;
  double left = syy - sxy * sxy / 5;
  assert_near(fit.slope, sxy / 5, 1e-15);
  assert_near(fit.intercept, 2 - 1.5 * sxy / 5, 1e-15);
  assert_near(fit.r2, 1 - left / syy, 1e-15);
  assert_near(fit.se, sqrt(left / 2 / 5), 1e-15);
}

static void what_has_no_value_is_nan(void **state)
{
  (void)state;
  const double x[] = {1, 1, 1}, y[] = {1, 2, 3}, flat[] = {4, 4, 4};
  struct gpnn_slope fit;
  gpnn_slope_fit(&fit, 3, x, y);
  assert_true(isnan(fit.slope) && isnan(fit.intercept) && isnan(fit.se) && isnan(fit.r2));
  gpnn_slope_fit(&fit, 0, x, y);
  assert_true(isnan(fit.slope));
  gpnn_slope_fit(&fit, 2, y, x);
  assert_near(fit.slope, 0, 0);
  assert_true(isnan(fit.se));
  gpnn_slope_fit(&fit, 3, y, flat);
  assert_true(fit.slope == 0 && isnan(fit.r2));
}

static void far_from_the_origin_no_digits_are_lost(void **state)
{
  (void)state;
  double x[8], y[8];
  for (int i = 0; i < 8; i++) {
    x[i] = 1e8 + i;
    y[i] = -1e8 + 0.5 * i;
  }
  struct gpnn_slope fit;
  gpnn_slope_fit(&fit, 8, x, y);
  assert_near(fit.slope, 0.5, 1e-12);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_on_a_line_give_it_back),
      cmocka_unit_test(four_points_by_hand),
      cmocka_unit_test(what_has_no_value_is_nan),
      cmocka_unit_test(far_from_the_origin_no_digits_are_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
