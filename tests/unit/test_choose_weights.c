/* Weights of the members of a stack. */
#include "base/rng.h"
#include "estimate/choose_private.h"
#include "unit.h"

/* Moments of independent errors with these variances, over 'rows' rows, plus an error common to all
 * with variance 'common'. */
static void independent(size_t n, const double *variance, double common, double rows,
                        double *moments)
{
  for (size_t k = 0; k < n; k++)
    for (size_t l = 0; l < n; l++) moments[k * n + l] = rows * (common + (k == l) * variance[k]);
}

static double value_at(size_t n, const double *moments, size_t size, const double *weight)
{
  double value = 0;
  for (size_t k = 0; k < n; k++) {
    double off = weight[k] == 0 ? 0 : weight[k] - 1 / (double)size;
    value += 8 * off * off;
    for (size_t l = 0; l < n; l++) value += 0.5 * weight[k] * weight[l] * moments[k * n + l];
  }
  return value;
}

/* Independent errors are weighted by one over their variances. */
static void independent_errors_are_weighted_by_their_precision(void **state)
{
  (void)state;
  const double variance[] = {1, 2, 4};
  double moments[9], weight[3];
  independent(3, variance, 0.7, 1e9, moments);
  assert_true(gpnn_weights_find(3, moments, 3, weight));
  assert_close(weight[0], 4.0 / 7, 1e-6);
  assert_close(weight[1], 2.0 / 7, 1e-6);
  assert_close(weight[2], 1.0 / 7, 1e-6);
}

static void few_rows_leave_the_weights_nearly_equal(void **state)
{
  (void)state;
  const double variance[] = {1, 4};
  double moments[4], weight[2], before = 0.5;
  for (double rows = 1e-3; rows < 1e6; rows *= 10) {
    independent(2, variance, 0, rows, moments);
    assert_true(gpnn_weights_find(2, moments, 2, weight));
    assert_true(weight[0] > before && weight[0] < 0.8);
    assert_close(weight[0] + weight[1], 1, 1e-14);
    before = weight[0];
  }
  assert_near(before, 0.8, 1e-3);
}

static void a_single_candidate_has_all_the_weight(void **state)
{
  (void)state;
  const double variance[] = {9, 1};
  double moments[4], weight[2];
  independent(2, variance, 0, 100, moments);
  assert_true(gpnn_weights_find(2, moments, 1, weight));
  assert_true(weight[0] == 1 && weight[1] == 0);
}

/* No point of a grid over the simplex, with these zeros or others, is better. */
static void weights_are_the_best_of_all_subsets(void **state)
{
  (void)state;
  enum { N = 3, STEPS = 40 };
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  for (int round = 0; round < 50; round++) {
    double error[N], moments[N * N] = {0}, weight[N], grid[N];
    for (size_t i = 0; i < 60; i++) {
      double common = gpnn_rng_normal(&rng);
      for (size_t k = 0; k < N; k++)
        error[k] = common + (0.3 + 0.4 * (double)k) * gpnn_rng_normal(&rng);
      for (size_t k = 0; k < N * N; k++) moments[k] += error[k / N] * error[k % N];
    }
    if (!gpnn_weights_find(N, moments, 2, weight)) continue;
    assert_true(weight[0] >= GPNN_WEIGHTS_LEAST);
    double best = value_at(N, moments, 2, weight);
    for (size_t other = 1; other < N; other++)
      for (int step = 2; step <= STEPS - 2; step++) {
        for (size_t k = 0; k < N; k++) grid[k] = 0;
        grid[0] = (double)step / STEPS;
        grid[other] = 1 - grid[0];
        assert_true(best <= value_at(N, moments, 2, grid) + 1e-12);
      }
  }
}

/* The second copies the first with an error added: any positive weight would be too much. */
static void useless_candidates_leave_no_subset(void **state)
{
  (void)state;
  const double moments[] = {1e6, 1e6, 1e6, 4e6};
  double weight[2] = {-1, -1};
  assert_false(gpnn_weights_find(2, moments, 2, weight));
  assert_true(weight[0] == -1 && weight[1] == -1);
  assert_false(gpnn_weights_find(2, moments, 3, weight));
}

static void errors_that_are_no_numbers_leave_no_subset(void **state)
{
  (void)state;
  const double moments[] = {NAN, 1, 1, 1}, infinite[] = {INFINITY, 0, 0, 1};
  double weight[2];
  assert_false(gpnn_weights_find(2, moments, 2, weight));
  assert_false(gpnn_weights_find(2, infinite, 2, weight));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(independent_errors_are_weighted_by_their_precision),
      cmocka_unit_test(few_rows_leave_the_weights_nearly_equal),
      cmocka_unit_test(a_single_candidate_has_all_the_weight),
      cmocka_unit_test(weights_are_the_best_of_all_subsets),
      cmocka_unit_test(useless_candidates_leave_no_subset),
      cmocka_unit_test(errors_that_are_no_numbers_leave_no_subset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
