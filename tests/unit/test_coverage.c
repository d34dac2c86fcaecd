#include "stats/scores/coverage.h"

#include "stats/distributions/normal.h"
#include "unit.h"

static void three_rows_give_what_the_formulas_give_by_hand(void **state)
{
  (void)state;
  struct gpnn_coverage coverage = {0};
  assert_ok(gpnn_coverage_add(&coverage, 5, 4, 7, &err)); /* within */
  assert_ok(gpnn_coverage_add(&coverage, 1, 2, 4, &err)); /* 1 below */
  assert_ok(gpnn_coverage_add(&coverage, 9, 6, 7, &err)); /* 2 above */
  struct gpnn_coverage_result r = gpnn_coverage_result(&coverage, 0.8);
  assert_int_equal(r.n, 3);
  assert_close(r.coverage, 1.0 / 3, 1e-15);
  assert_close(r.width, (3 + 2 + 1) / 3.0, 1e-15);
  assert_close(r.score, (3 + 2 + 1 + 2 / 0.2 * (1 + 2)) / 3, 1e-14);
}

static void the_bounds_belong_to_the_interval(void **state)
{
  (void)state;
  struct gpnn_coverage coverage = {0};
  assert_ok(gpnn_coverage_add(&coverage, 1, 1, 2, &err));
  assert_ok(gpnn_coverage_add(&coverage, 2, 1, 2, &err));
  assert_ok(gpnn_coverage_add(&coverage, 3, 3, 3, &err));
  assert_close(gpnn_coverage_result(&coverage, 0.5).coverage, 1, 0);
}

/* The score is least for the true quantiles: over truths spread like a normal distribution, wider
 * and narrower intervals score worse. */
static void the_score_is_proper(void **state)
{
  (void)state;
  enum { N = 20000 };
  double right = gpnn_normal_half_width(0.9), scores[3];
  for (size_t k = 0; k < 3; k++) {
    struct gpnn_coverage coverage = {0};
    double half = right * (0.9 + 0.1 * (double)k);
    for (size_t i = 0; i < N; i++) {
      double truth = gpnn_normal_quantile(((double)i + 0.5) / N);
      assert_ok(gpnn_coverage_add(&coverage, truth, -half, half, &err));
    }
    scores[k] = gpnn_coverage_result(&coverage, 0.9).score;
  }
  assert_true(scores[1] < scores[0] && scores[1] < scores[2]);
  /* the integral: 2 half + 2/alpha 2 (phi(half) - half alpha/2) = 4 phi(half) / alpha */
  assert_close(scores[1], 4 * gpnn_normal_density(right) / 0.1, 1e-3);
}

static void unknown_results_are_nan(void **state)
{
  (void)state;
  struct gpnn_coverage coverage = {0};
  assert_true(isnan(gpnn_coverage_result(&coverage, 0.9).coverage));
  assert_ok(gpnn_coverage_add(&coverage, 1, 0, 3, &err));
  struct gpnn_coverage_result r = gpnn_coverage_result(&coverage, NAN);
  assert_close(r.width, 3, 0);
  assert_true(isnan(r.score));
}

static void infinite_intervals_cover_and_reversed_ones_are_refused(void **state)
{
  (void)state;
  struct gpnn_coverage coverage = {0};
  assert_ok(gpnn_coverage_add(&coverage, 1e300, -INFINITY, INFINITY, &err));
  assert_fails(gpnn_coverage_add(&coverage, 1, 2, 1, &err), GPNN_EDATA, "above the upper");
  struct gpnn_coverage_result r = gpnn_coverage_result(&coverage, 0.9);
  assert_int_equal(r.n, 1);
  assert_close(r.coverage, 1, 0);
  assert_true(isinf(r.width) && isinf(r.score));
}

static void the_standard_error_is_that_of_a_binomial_fraction(void **state)
{
  (void)state;
  assert_close(gpnn_coverage_se(0.9, 100), 0.03, 1e-14);
  assert_close(gpnn_coverage_se(0.5, 4), 0.25, 1e-14);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_rows_give_what_the_formulas_give_by_hand),
      cmocka_unit_test(the_bounds_belong_to_the_interval),
      cmocka_unit_test(the_score_is_proper),
      cmocka_unit_test(unknown_results_are_nan),
      cmocka_unit_test(infinite_intervals_cover_and_reversed_ones_are_refused),
      cmocka_unit_test(the_standard_error_is_that_of_a_binomial_fraction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
