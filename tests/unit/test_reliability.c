/* Bins by hand, and the error by chance against its expectation. */
#include "stats/scores/classification.h"

#include "random.h"

static void rows_fall_into_bins_closed_above(void **state)
{
  (void)state;
  struct gpnn_reliability r = {0};
  const double p[] = {0, 0.2, 0.2000001, 1, 0.34, 0.39};
  const bool is_right[] = {false, true, false, true, true, false};
  for (size_t i = 0; i < 6; i++) assert_ok(gpnn_reliability_add(&r, p[i], is_right[i], &err));
  assert_int_equal(gpnn_reliability_bin(&r, 0).n, 1);  /* 0 */
  assert_int_equal(gpnn_reliability_bin(&r, 2).n, 1);  /* 3/15 = 0.2 */
  assert_int_equal(gpnn_reliability_bin(&r, 3).n, 1);  /* just above it */
  assert_int_equal(gpnn_reliability_bin(&r, 14).n, 1); /* 1 */
  struct gpnn_reliability_bin two = gpnn_reliability_bin(&r, 5);
  assert_int_equal(two.n, 2);
  assert_near(two.from, 1.0 / 3, 1e-15);
  assert_near(two.to, 0.4, 1e-15);
  assert_near(two.predicted, 0.365, 1e-15);
  assert_near(two.observed, 0.5, 0);
  assert_near(two.se, sqrt((0.34 * 0.66 + 0.39 * 0.61) / 4), 1e-15);
  assert_near(gpnn_reliability_error(&r), (0 + 0.8 + 0.2000001 + 0 + 2 * 0.135) / 6, 1e-15);
  gpnn_reliability_release(&r);
}

static void without_rows_nothing_is_known(void **state)
{
  (void)state;
  struct gpnn_reliability r = {0};
  assert_true(isnan(gpnn_reliability_error(&r)));
  assert_true(isnan(gpnn_reliability_chance(&r)));
  assert_true(isnan(gpnn_reliability_bin(&r, 3).observed));
  gpnn_reliability_release(&r);
}

/* The mean of |K - n p| / n for K of a binomial distribution. */
static double mean_distance(size_t n, double p)
{
  double probability = pow(1 - p, (double)n), mean = 0;
  for (size_t k = 0; k <= n; k++) {
    mean += probability * fabs((double)k - (double)n * p);
    probability *= (double)(n - k) / (double)(k + 1) * p / (1 - p);
  }
  return mean / (double)n;
}

static void the_error_by_chance_is_what_right_probabilities_have(void **state)
{
  (void)state;
  const size_t sizes[] = {1, 7, 200};
  for (size_t k = 0; k < 3; k++) {
    struct gpnn_reliability r = {0};
    size_t n = sizes[k];
    for (size_t i = 0; i < n; i++) assert_ok(gpnn_reliability_add(&r, 0.7, true, &err));
    /* of 100 draws, whose standard deviation is less than their mean */
    double wanted = mean_distance(n, 0.7);
    assert_near(gpnn_reliability_chance(&r), wanted, 0.25 * wanted);
    gpnn_reliability_release(&r);
  }
}

static void the_error_by_chance_ignores_what_happened_and_the_order(void **state)
{
  (void)state;
  enum { N = 500 };
  struct gpnn_reliability up = {0}, down = {0};
  struct gpnn_rng rng = seeded(4);
  double p[N];
  for (size_t i = 0; i < N; i++) p[i] = gpnn_rng_uniform(&rng);
  for (size_t i = 0; i < N; i++) {
    assert_ok(gpnn_reliability_add(&up, p[i], true, &err));
    assert_ok(gpnn_reliability_add(&down, p[N - 1 - i], false, &err));
  }
  assert_near(gpnn_reliability_chance(&up), gpnn_reliability_chance(&down), 1e-15);
  gpnn_reliability_release(&up);
  gpnn_reliability_release(&down);
}

/* Rows that are right as often as predicted have about the error that chance gives. */
static void right_probabilities_have_no_more_than_chance(void **state)
{
  (void)state;
  enum { N = 20000 };
  struct gpnn_reliability r = {0}, sure = {0};
  struct gpnn_rng rng = seeded(5);
  for (size_t i = 0; i < N; i++) {
    double p = 0.5 + gpnn_rng_uniform(&rng) / 2;
    bool is_right = gpnn_rng_uniform(&rng) < p;
    assert_ok(gpnn_reliability_add(&r, p, is_right, &err));
    assert_ok(gpnn_reliability_add(&sure, sqrt(p), is_right, &err));
  }
  assert_true(gpnn_reliability_error(&r) < 1.5 * gpnn_reliability_chance(&r));
  assert_true(gpnn_reliability_error(&sure) > 10 * gpnn_reliability_chance(&sure));
  gpnn_reliability_release(&r);
  gpnn_reliability_release(&sure);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_fall_into_bins_closed_above),
      cmocka_unit_test(without_rows_nothing_is_known),
      cmocka_unit_test(the_error_by_chance_is_what_right_probabilities_have),
      cmocka_unit_test(the_error_by_chance_ignores_what_happened_and_the_order),
      cmocka_unit_test(right_probabilities_have_no_more_than_chance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
