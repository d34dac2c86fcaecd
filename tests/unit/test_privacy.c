#include "stats/privacy.h"

#include <math.h>

#include "unit.h"

static const double pairs[][2] = {{0.5, 1e-5}, {1, 1e-5}, {2, 1e-6}, {1, 0.00625}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static void the_noise_for_a_sensitivity_of_one_is_as_tabulated(void **state)
{
  static const double exact[PAIRS] = {7.032, 3.731, 2.230, 2.028};
  (void)state;
  for (size_t i = 0; i < PAIRS; i++)
    assert_near(1 / gpnn_privacy_mu(pairs[i][0], pairs[i][1]), exact[i], 5e-4);
}

/* Published noise of 0.42 sensitivities, for one release and for 25 independent ones. */
static void little_noise_promises_little(void **state)
{
  (void)state;
  assert_near(gpnn_privacy_epsilon(0.00625, 1 / 0.42), 8.1, 0.05);
  assert_near(gpnn_privacy_epsilon(0.00625, sqrt(25) / 0.42), 99.7, 0.05);
}

/* The integral of (p - e^epsilon q)+ over the densities of the two hypotheses, by Simpson's rule
 * from the point on where it is positive. */
static double integrated(double epsilon, double mu)
{
  enum { STEPS = 20000 };
  const double from = epsilon / mu - mu / 2, width = 40.0 / STEPS;
  double sum = 0;
  for (int i = 0; i <= STEPS; i++) {
    const double z = from + i * width; /* of the density with mean 0 */
    const double p = exp(-0.5 * z * z), q = exp(epsilon - 0.5 * (z + mu) * (z + mu));
    sum += (i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2) * (p - q);
  }
  return sum * width / 3 / sqrt(2 * acos(-1));
}

static void each_is_the_inverse_of_the_other(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAIRS; i++) {
    const double mu = gpnn_privacy_mu(pairs[i][0], pairs[i][1]);
    assert_near(integrated(pairs[i][0], mu), pairs[i][1], 1e-9 * pairs[i][1]);
    assert_near(gpnn_privacy_epsilon(pairs[i][1], mu), pairs[i][0], 1e-9);
    assert_true(gpnn_privacy_epsilon(pairs[i][1], mu) <= pairs[i][0]);
  }
}

static void delta_is_the_integral_of_what_can_be_told(void **state)
{
  static const double epsilons[] = {0.3, 1, 4, 20}, mus[] = {0.1, 0.5, 1, 3, 10};
  size_t n = 0;
  (void)state;
  for (size_t e = 0; e < 4; e++)
    for (size_t m = 0; m < 5; m++) {
      const double delta = integrated(epsilons[e], mus[m]);
      if (delta < 1e-9 || delta > 1 - 1e-9) continue;
      assert_near(gpnn_privacy_epsilon(delta, mus[m]), epsilons[e], 1e-7 * epsilons[e]);
      assert_near(gpnn_privacy_mu(epsilons[e], delta), mus[m], 1e-7 * mus[m]);
      n++;
    }
  assert_true(n >= 10);
}

/* From the definition with 60 digits, where the distribution function is too small for a double. */
static void hardly_any_noise_promises_what_the_definition_says(void **state)
{
  static const double known[][3] = {
      /* mu, delta, epsilon */
      {30, 1e-5, 577.01197368801701},  {30, 1e-12, 660.13635674607303},
      {60, 1e-5, 2054.9274663729856},  {60, 1e-12, 2221.123505855452},
      {200, 1e-5, 20851.988679700928}, {200, 1e-12, 21405.913957092511}};
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_near(gpnn_privacy_epsilon(known[i][1], known[i][0]), known[i][2], 1e-9 * known[i][2]);
}

static void more_noise_promises_more(void **state)
{
  (void)state;
  for (double mu = 0.01; mu < 50; mu *= 1.5)
    for (double delta = 1e-12; delta < 1; delta *= 7) {
      const double epsilon = gpnn_privacy_epsilon(delta, mu);
      assert_true(epsilon >= 0);
      assert_true(gpnn_privacy_epsilon(delta, mu * 1.01) >= epsilon);
      assert_true(gpnn_privacy_epsilon(delta * 1.01, mu) <= epsilon);
    }
}

static void the_ends_of_the_range_are_as_they_must_be(void **state)
{
  (void)state;
  assert_true(gpnn_privacy_epsilon(1e-5, 0) == 0);
  assert_true(isinf(gpnn_privacy_epsilon(1e-5, INFINITY)));
  assert_true(isfinite(gpnn_privacy_epsilon(1e-300, 1000)));
  assert_true(gpnn_privacy_mu(0, 1e-5) > 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_noise_for_a_sensitivity_of_one_is_as_tabulated),
      cmocka_unit_test(little_noise_promises_little),
      cmocka_unit_test(each_is_the_inverse_of_the_other),
      cmocka_unit_test(delta_is_the_integral_of_what_can_be_told),
      cmocka_unit_test(hardly_any_noise_promises_what_the_definition_says),
      cmocka_unit_test(more_noise_promises_more),
      cmocka_unit_test(the_ends_of_the_range_are_as_they_must_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
