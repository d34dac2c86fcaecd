#include "unit.h"

#include "stats/distributions/normal.h"

static void density_is_its_formula(void **state)
{
  (void)state;
  assert_close(gpnn_normal_density(0), 0.39894228040143267794, 1e-15);
  assert_close(gpnn_normal_density(-3), exp(-4.5) / sqrt(8 * atan(1)), 1e-14);
  assert_true(gpnn_normal_density(50) == 0);
}

/* Values to 20 digits from tables of erfc. */
static void cdf_is_accurate_in_both_tails(void **state)
{
  (void)state;
  assert_true(gpnn_normal_cdf(0) == 0.5);
  assert_close(gpnn_normal_cdf(1), 0.84134474606854294859, 1e-15);
  assert_close(gpnn_normal_cdf(-10), 7.6198530241605260660e-24, 1e-13);
  assert_close(gpnn_normal_cdf(-2), 0.022750131948179207200, 1e-14);
  assert_true(gpnn_normal_cdf(40) == 1);
}

static void quantile_inverts_cdf(void **state)
{
  (void)state;
  for (double z = -37; z < 5; z += 0.25)
    assert_near(gpnn_normal_quantile(gpnn_normal_cdf(z)), z, 1e-9);
}

static void quantiles_are_those_of_tables(void **state)
{
  (void)state;
  assert_close(gpnn_normal_quantile(0.975), 1.9599639845400542355, 4e-15);
  assert_close(gpnn_normal_quantile(0.995), 2.5758293035489007610, 4e-15);
  assert_near(gpnn_normal_quantile(0.5), 0, 1e-16);
  assert_close(gpnn_normal_quantile(1e-300), -37.047096299361201, 1e-12);
}

static void quantile_is_odd_about_one_half(void **state)
{
  (void)state;
  for (double p = 0.0625; p < 0.5; p += 0.0625)
    assert_true(gpnn_normal_quantile(p) == -gpnn_normal_quantile(1 - p));
}

static void half_width_and_nll_are_their_definitions(void **state)
{
  (void)state;
  assert_close(gpnn_normal_half_width(0.95), 1.959963984540054, 1e-13);
  assert_close(gpnn_normal_half_width(0.5), 0.6744897501960817, 1e-13);
  assert_close(gpnn_normal_nll(1.5, 2), -log(gpnn_normal_density(0.75) / 2), 1e-14);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(density_is_its_formula),
      cmocka_unit_test(half_width_and_nll_are_their_definitions),
      cmocka_unit_test(cdf_is_accurate_in_both_tails),
      cmocka_unit_test(quantile_inverts_cdf),
      cmocka_unit_test(quantiles_are_those_of_tables),
      cmocka_unit_test(quantile_is_odd_about_one_half),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
