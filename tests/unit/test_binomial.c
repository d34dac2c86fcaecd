/* Quantiles of the binomial distribution, against its probabilities by Pascal's rule. */
#include "stats/distributions/binomial.h"
#include "stats/distributions/normal.h"
#include "unit.h"

enum { N = 60 };

/* P(K = k) for n trials, adding one trial after another. */
static void probabilities(size_t n, double p, double *mass)
{
  mass[0] = 1;
  for (size_t i = 1; i <= n; i++) {
    mass[i] = mass[i - 1] * p;
    for (size_t k = i - 1; k > 0; k--) mass[k] = mass[k] * (1 - p) + mass[k - 1] * p;
    mass[0] *= 1 - p;
  }
}

static void quantiles_are_the_least_k_that_reaches_the_probability(void **state)
{
  (void)state;
  static const double ps[] = {0.003, 0.05, 0.31, 0.5, 0.77, 0.99};
  static const double qs[] = {0.001, 0.025, 0.2, 0.55, 0.8, 0.975, 0.9995};
  for (size_t n = 1; n <= N; n += 7)
    for (size_t i = 0; i < 6; i++) {
      double mass[N + 1], below = 0;
      probabilities(n, ps[i], mass);
      for (size_t j = 0, k = 0; j < 7; j++) {
        while (k < n && below + mass[k] < qs[j]) below += mass[k++];
        assert_int_equal(gpnn_binomial_quantile(n, ps[i], qs[j]), k);
      }
    }
}

static void the_ends_are_certain(void **state)
{
  (void)state;
  assert_int_equal(gpnn_binomial_quantile(0, 0.5, 0.5), 0);
  assert_int_equal(gpnn_binomial_quantile(10, 0, 0.99), 0);
  assert_int_equal(gpnn_binomial_quantile(10, 1, 0.01), 10);
}

static void many_trials_are_normal(void **state)
{
  (void)state;
  static const size_t ns[] = {1000000, 1000000000};
  static const double ps[] = {0.02, 0.5, 0.95};
  for (size_t i = 0; i < 2; i++)
    for (size_t j = 0; j < 3; j++) {
      double n = (double)ns[i], p = ps[j], sd = sqrt(n * p * (1 - p));
      size_t k = gpnn_binomial_quantile(ns[i], p, 0.975);
      assert_near(((double)k - n * p) / sd, gpnn_normal_quantile(0.975), 0.01);
    }
}

static void both_tails_mirror_each_other(void **state)
{
  (void)state;
  /* P(K >= k) for p is P(K <= n - k) for 1 - p. */
  for (size_t n = 3; n < 5000; n = 2 * n + 1) {
    size_t low = gpnn_binomial_quantile(n, 0.3, 0.025),
           high = gpnn_binomial_quantile(n, 0.7, 0.975);
    assert_int_equal(low + high, n);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quantiles_are_the_least_k_that_reaches_the_probability),
      cmocka_unit_test(the_ends_are_certain),
      cmocka_unit_test(many_trials_are_normal),
      cmocka_unit_test(both_tails_mirror_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
