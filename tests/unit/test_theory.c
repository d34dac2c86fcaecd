#include "simulate/theory.h"

#include "unit.h"

static void the_limits_are_their_formulas(void **state)
{
  (void)state;
  struct gpnn_theory_limits limits = gpnn_theory_limits(0.1, 0.2, 50);
  assert_close(limits.mse, 0.102, 1e-14);
  assert_close(limits.cal, 0.5, 1e-14);
  assert_close(limits.nll, 0.5 * (log(0.204) + 0.5 + log(8 * atan(1))), 1e-14);
}

static void the_schedule_ends_with_the_number_given(void **state)
{
  (void)state;
  /* p = 1, d = 2: m is as the root of n */
  assert_int_equal(gpnn_theory_schedule(1, 2, 100, 1000000, 1000000), 100);
  assert_int_equal(gpnn_theory_schedule(1, 2, 100, 1000000, 10000), 10);
  assert_int_equal(gpnn_theory_schedule(1, 2, 100, 1000000, 10001), 11);
  assert_int_equal(gpnn_theory_schedule(1, 2, 100, 1000000, 1), 1);
  assert_int_equal(gpnn_theory_schedule(1, 2, 1000000, 10000, 100), 100);
  assert_int_equal(gpnn_theory_schedule(0.5, 2, 100, 1000000, 1000), 10);
  for (size_t m = 1; m < 500; m++)
    assert_int_equal(gpnn_theory_schedule(0.7, 5, m, 1000000007, 1000000007), m);
  assert_close(gpnn_theory_exponent(1, 4), -1.0 / 3, 1e-15);
  assert_close(gpnn_theory_exponent(2.5, 2), -5.0 / 7, 1e-15);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_limits_are_their_formulas),
      cmocka_unit_test(the_schedule_ends_with_the_number_given),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
