#include "unit.h"

#include "stats/distributions/normal.h"
#include "stats/distributions/student.h"

/* From 40-digit evaluations of the incomplete beta function. */
static void cdf_is_accurate_in_the_tail_and_the_middle(void **state)
{
  (void)state;
  static const struct {
    double t, df, below;
  } known[] = {
      {-2, 2.5, 0.078695747878982993312},     {-0.3, 7, 0.38644502520106714118},
      {-40, 3, 1.7190340394579264142e-5},     {-12, 30, 2.7900927075996280315e-13},
      {-6, 200, 4.5575601744051926754e-9},    {-1, 200, 0.15925942395487333324},
      {-20, 2000, 1.4357948448065457232e-81},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    assert_close(gpnn_student_cdf(known[i].t, known[i].df), known[i].below, 1e-13);
    assert_close(gpnn_student_cdf(-known[i].t, known[i].df), 1 - known[i].below, 1e-15);
  }
}

/* F and f are elementary for 1 (Cauchy), 2 and 4 degrees of freedom. */
static void few_degrees_of_freedom_have_elementary_functions(void **state)
{
  (void)state;
  for (double t = -1e6; t < 1e6; t = t < -0.01 ? t / 3 : t < 0.01 ? t + 0.005 : 3 * t) {
    double root = sqrt(2 + t * t);
    assert_close(gpnn_student_cdf(t, 1), atan2(1, -t) / M_PI, 1e-14);
    assert_close(gpnn_student_density(t, 1), 1 / (M_PI * (1 + t * t)), 1e-13);
    assert_close(gpnn_student_cdf(t, 2), t < 0 ? 1 / (root * (root - t)) : (1 + t / root) / 2,
                 1e-13);
    assert_close(gpnn_student_density(t, 2), 1 / (root * root * root), 1e-13);
    double s = t / sqrt(4 + t * t);
    assert_near(gpnn_student_cdf(t, 4), 0.5 + 0.75 * (s - s * s * s / 3), 1e-15);
  }
}

static void quantiles_are_those_of_tables(void **state)
{
  (void)state;
  assert_close(gpnn_student_quantile(0.975, 3), 3.1824463052837095927, 1e-13);
  assert_close(gpnn_student_quantile(0.975, 10), 2.2281388519862747484, 1e-13);
  assert_close(gpnn_student_quantile(0.95, 2.1), 2.8273354002997516301, 1e-13);
  assert_close(gpnn_student_half_width(0.99, 5), 4.0321429835552280784, 1e-13);
  assert_close(gpnn_student_quantile(0.25, 1.5), -0.87259466254157063604, 1e-13);
  assert_true(gpnn_student_quantile(0.5, 7) == 0);
}

static void quantile_inverts_cdf_from_one_degree_to_very_many(void **state)
{
  (void)state;
  static const double dfs[] = {1, 1.3, 2, 2.01, 4, 33, 999.5, 9999, 10001, 1e6, 1e12, INFINITY};
  static const double ps[] = {1e-250, 1e-60, 1e-9, 0.001, 0.1, 0.3, 0.499};
  for (size_t i = 0; i < sizeof dfs / sizeof dfs[0]; i++)
    for (size_t j = 0; j < sizeof ps / sizeof ps[0]; j++) {
      double t = gpnn_student_quantile(ps[j], dfs[i]);
      /* relative to the change of F when t changes by 1e-12 of itself, plus F's own error */
      double allowed = 1e-12 * (1 - t * gpnn_student_density(t, dfs[i]) / ps[j]);
      assert_close(gpnn_student_cdf(t, dfs[i]), ps[j], allowed);
    }
}

/* The two methods of computing F agree at the point where one takes over. */
static void cdf_is_continuous_where_the_method_changes(void **state)
{
  (void)state;
  for (double t = -30; t < 0; t += 0.5) {
    double before = gpnn_student_cdf(t, 10000 * (1 - 1e-15));
    assert_close(gpnn_student_cdf(t, 10000), before, 1e-12);
  }
}

static void many_degrees_of_freedom_approach_the_normal(void **state)
{
  (void)state;
  for (double z = -5; z < 5; z += 0.37) {
    assert_close(gpnn_student_cdf(z, 1e14), gpnn_normal_cdf(z), 1e-11);
    assert_close(gpnn_student_density(z, 1e14), gpnn_normal_density(z), 1e-11);
    assert_close(gpnn_student_crps(z, 1e14), gpnn_student_crps(z, INFINITY), 1e-11);
    assert_true(gpnn_student_cdf(z, INFINITY) == gpnn_normal_cdf(z));
  }
  assert_close(gpnn_student_nll(1.5, 2, INFINITY), gpnn_normal_nll(1.5, 2), 0);
  assert_close(gpnn_student_unit_scale(INFINITY), 1, 0);
}

/* f is the derivative of F, and integrates to a variance of df / (df - 2). */
static void density_is_the_derivative_of_the_cdf(void **state)
{
  (void)state;
  for (double t = -4; t < 4; t += 0.3) {
    const double h = 1e-4;
    double slope = (gpnn_student_cdf(t + h, 6.5) - gpnn_student_cdf(t - h, 6.5)) / (2 * h);
    assert_close(gpnn_student_density(t, 6.5), slope, 1e-7);
    assert_close(gpnn_student_nll(3 * t, 3, 6.5), -log(gpnn_student_density(t, 6.5) / 3), 1e-13);
  }
  double variance = 0;
  for (double t = -400; t < 400; t += 0.01) variance += 0.01 * t * t * gpnn_student_density(t, 6.5);
  double unit = gpnn_student_unit_scale(6.5);
  assert_close(variance * unit * unit, 1, 1e-6);
}

/* CRPS = integral of (F(s) - [s >= t])^2 ds, by the midpoint rule in s = sinh(u). */
static void crps_is_the_integral_that_defines_it(void **state)
{
  (void)state;
  static const double dfs[] = {1.5, 2.2, 5, 40, 20000, INFINITY};
  static const double ts[] = {-3, 0, 0.4, 12};
  for (size_t i = 0; i < sizeof dfs / sizeof dfs[0]; i++)
    for (size_t j = 0; j < sizeof ts / sizeof ts[0]; j++) {
      double integral = 0, step = 1e-4, u_t = asinh(ts[j]);
      for (double u = step / 2; u < 25; u += step) { /* both ways from the jump at t */
        double right = gpnn_student_cdf(-sinh(u_t + u), dfs[i]);
        double left = gpnn_student_cdf(sinh(u_t - u), dfs[i]);
        integral += step * (right * right * cosh(u_t + u) + left * left * cosh(u_t - u));
      }
      assert_close(gpnn_student_crps(ts[j], dfs[i]), integral, 1e-7);
    }
}

static void extremes_are_neither_nan_nor_out_of_range(void **state)
{
  (void)state;
  static const double dfs[] = {1, 2.5, 100, 1e5, INFINITY};
  for (size_t i = 0; i < sizeof dfs / sizeof dfs[0]; i++) {
    assert_true(gpnn_student_cdf(-INFINITY, dfs[i]) == 0);
    assert_true(gpnn_student_cdf(INFINITY, dfs[i]) == 1);
    assert_true(gpnn_student_cdf(1e200, dfs[i]) == 1);
    assert_true(gpnn_student_cdf(0, dfs[i]) == 0.5);
    assert_true(gpnn_student_density(1e200, dfs[i]) == 0);
    assert_true(i == 0 || isfinite(gpnn_student_crps(1e200, dfs[i])));
  }
  assert_close(gpnn_student_cdf(-1e200, 1), 1e-200 / M_PI, 1e-13);
  assert_close(gpnn_student_quantile(1e-250, 1), -1e250 / M_PI, 1e-13);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cdf_is_accurate_in_the_tail_and_the_middle),
      cmocka_unit_test(few_degrees_of_freedom_have_elementary_functions),
      cmocka_unit_test(quantiles_are_those_of_tables),
      cmocka_unit_test(quantile_inverts_cdf_from_one_degree_to_very_many),
      cmocka_unit_test(cdf_is_continuous_where_the_method_changes),
      cmocka_unit_test(many_degrees_of_freedom_approach_the_normal),
      cmocka_unit_test(density_is_the_derivative_of_the_cdf),
      cmocka_unit_test(crps_is_the_integral_that_defines_it),
      cmocka_unit_test(extremes_are_neither_nan_nor_out_of_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
