#include "unit.h"

#include "stats/distributions/hermite.h"

/* E Z^(2k) = 1 3 5 ... (2k - 1), and odd powers have expectation zero. */
static void powers_below_twice_the_nodes_are_exact(void **state)
{
  (void)state;
  for (size_t n = 1; n <= GPNN_HERMITE_MOST; n++) {
    struct gpnn_hermite rule;
    gpnn_hermite_init(&rule, n);
    assert_int_equal(rule.n, n);
    double expected = 1;
    for (size_t k = 0; k < n; k++) {
      double even = 0, odd = 0;
      for (size_t q = 0; q < n; q++) {
        double power = rule.weight[q] * pow(rule.z[q], (double)(2 * k));
        even += power;
        odd += power * rule.z[q];
      }
      assert_close(even, expected, 1e-12);
      assert_near(odd, 0, 1e-10 * expected);
      expected *= (double)(2 * k + 1);
    }
  }
}

static void nodes_rise_and_are_symmetric(void **state)
{
  (void)state;
  for (size_t n = 2; n <= GPNN_HERMITE_MOST; n++) {
    struct gpnn_hermite rule;
    gpnn_hermite_init(&rule, n);
    for (size_t q = 0; q < n; q++) {
      assert_true(rule.weight[q] > 0);
      assert_true(rule.z[q] == -rule.z[n - 1 - q]);
      if (q > 0) assert_true(rule.z[q] > rule.z[q - 1]);
    }
  }
}

/* Abramowitz and Stegun, table 25.10, n = 20: the largest node is 5.3874808900112 sqrt(2). */
static void nodes_are_those_of_tables(void **state)
{
  (void)state;
  struct gpnn_hermite rule;
  gpnn_hermite_init(&rule, 20);
  assert_close(rule.z[19], 5.3874808900112 * sqrt(2), 1e-13);
  assert_close(rule.weight[19], 2.229393645534e-13 / sqrt(M_PI), 1e-11);
  assert_close(rule.weight[10], 0.4622436696006 / sqrt(M_PI), 1e-12);
}

static void expectations_of_smooth_functions_converge(void **state)
{
  (void)state;
  struct gpnn_hermite rule;
  double cosine = 0, exponential = 0;
  gpnn_hermite_init(&rule, 32);
  for (size_t q = 0; q < rule.n; q++) {
    cosine += rule.weight[q] * cos(1.5 * rule.z[q]);
    exponential += rule.weight[q] * exp(0.8 * rule.z[q] - 0.3);
  }
  assert_close(cosine, exp(-1.5 * 1.5 / 2), 1e-12);
  assert_close(exponential, exp(0.8 * 0.8 / 2 - 0.3), 1e-13);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(powers_below_twice_the_nodes_are_exact),
      cmocka_unit_test(nodes_rise_and_are_symmetric),
      cmocka_unit_test(nodes_are_those_of_tables),
      cmocka_unit_test(expectations_of_smooth_functions_converge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
