/* Known functions: published values, and what is said of their size. */
#include "base/rng.h"
#include "random.h"
#include "simulate/function.h"
#include "unit.h"

/* Values worked out from the published table of coefficients, read as text, by another program and
 * with exact summation. */
static void oakley_has_the_published_coefficients(void **state)
{
  (void)state;
  const struct gpnn_function *oakley = gpnn_function_by_name("oakley");
  double zeros[15] = {0}, ones[15], steps[15], mixed[15];
  for (int i = 0; i < 15; i++) {
    ones[i] = 1;
    steps[i] = (i - 7) / 4.0;
    mixed[i] = sin(3 * i + 1);
  }
  assert_close(oakley->value(15, zeros), 0.872981491944073, 1e-13);
  assert_close(oakley->value(15, ones), 3.1418731866083993, 1e-13);
  assert_close(oakley->value(15, steps), 1.638685382274961, 1e-13);
  assert_close(oakley->value(15, mixed), 0.3124880910462107, 1e-12);
}

static void oakley_is_standardised_over_standard_normal_inputs(void **state)
{
  (void)state;
  enum { N = 200000 };
  const struct gpnn_function *oakley = gpnn_function_by_name("oakley");
  struct gpnn_rng rng = seeded(1);
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < N; i++) {
    double x[15];
    for (int j = 0; j < 15; j++) x[j] = gpnn_rng_normal(&rng);
    double f = oakley->value(15, x);
    sum += f;
    squares += f * f;
    fourth += f * f * f * f;
  }
  assert_near(sum / N, 0, 4 * sqrt(1.0 / N));
  assert_near(squares / N, 1, 4 * sqrt((fourth / N - 1) / N));
}

static void waves_are_those_of_their_formula(void **state)
{
  (void)state;
  const struct gpnn_function *waves = gpnn_function_by_name("waves");
  const double two[] = {0.3, -0.2}, four[] = {0.1, 0.2, -0.3, 0.4};
  assert_close(waves->value(2, two), 0.7945868258037233, 1e-14);
  assert_close(waves->value(4, four), 0.9284465650806788, 1e-14);
  const double zeros[2] = {0};
  assert_close(waves->value(2, zeros), tanh(1), 1e-15);
}

/* Bounded, and no steeper than its argument: |grad|^2 <= sum_j (|cos| + sqrt 2 |sin|)^2 <= 3 d. */
static void waves_are_bounded_and_lipschitz(void **state)
{
  (void)state;
  const struct gpnn_function *waves = gpnn_function_by_name("waves");
  struct gpnn_rng rng = seeded(2);
  for (int i = 0; i < 20000; i++) {
    double x[6], z[6], distance = 0;
    for (int j = 0; j < 6; j++) {
      x[j] = gpnn_rng_normal(&rng) / sqrt(6);
      z[j] = x[j] + 0.01 * gpnn_rng_normal(&rng);
      distance += (x[j] - z[j]) * (x[j] - z[j]);
    }
    double here = waves->value(6, x), there = waves->value(6, z);
    assert_true(fabs(here) < 1);
    assert_true(fabs(here - there) <= sqrt(18 * distance));
  }
}

static void functions_are_found_and_know_their_inputs(void **state)
{
  (void)state;
  size_t n = 0;
  for (; gpnn_function_at(n) != NULL; n++)
    assert_ptr_equal(gpnn_function_by_name(gpnn_function_at(n)->name), gpnn_function_at(n));
  assert_int_equal(n, 3);
  assert_null(gpnn_function_by_name("oak"));
  const struct gpnn_function *oakley = gpnn_function_by_name("oakley");
  const struct gpnn_function *waves = gpnn_function_by_name("waves");
  const struct gpnn_function *zero = gpnn_function_by_name("zero");
  assert_true(gpnn_function_takes(oakley, 15) && !gpnn_function_takes(oakley, 14));
  assert_true(gpnn_function_takes(waves, 2) && gpnn_function_takes(waves, 20));
  assert_true(!gpnn_function_takes(waves, 3) && !gpnn_function_takes(waves, 0));
  assert_true(gpnn_function_takes(zero, 7) && !gpnn_function_takes(zero, 0));
  const double x[7] = {1, 2, 3};
  assert_true(zero->value(7, x) == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(oakley_has_the_published_coefficients),
      cmocka_unit_test(oakley_is_standardised_over_standard_normal_inputs),
      cmocka_unit_test(waves_are_those_of_their_formula),
      cmocka_unit_test(waves_are_bounded_and_lipschitz),
      cmocka_unit_test(functions_are_found_and_know_their_inputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
