/* Quantiles of the distances seen in calibration, and rows beyond them. */
#include "base/rng.h"
#include "models/reach.h"
#include "unit.h"

enum { MOST = 2000 };

/* The levels in thousandths, so that nothing here is rounded. */
static const size_t thousandths[GPNN_N_DISTANCES] = {500, 900, 990, 999};

/* Puts 'n' values into random order. */
static void shuffle(struct gpnn_rng *rng, size_t n, double *values)
{
  for (size_t i = n; i > 1; i--) {
    size_t at = (size_t)gpnn_rng_below(rng, i);
    double swapped = values[at];
    values[at] = values[i - 1];
    values[i - 1] = swapped;
  }
}

/* Of the distances 1 ... n the r-th smallest is r: each quantile says which one it is. */
static void each_quantile_is_the_smallest_that_its_fraction_does_not_exceed(void **state)
{
  (void)state;
  struct gpnn_rng rng;
  static double distances[MOST];
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  for (size_t n = 100; n <= MOST; n++) {
    struct gpnn_parameters params = {0};
    for (size_t i = 0; i < n; i++) distances[i] = (double)(i + 1);
    shuffle(&rng, n, distances);
    gpnn_distance_record(&params.calibration, n, distances);
    assert_true(params.calibration.has_distance);
    for (size_t k = 0; k < GPNN_N_DISTANCES; k++) {
      size_t rank = 1;
      while (1000 * rank < thousandths[k] * n) rank++;
      if (params.calibration.distance[k] != (double)rank)
        fail_msg("of %zu distances the quantile .%zu is number %g, not %zu", n, thousandths[k],
                 params.calibration.distance[k], rank);
    }
  }
}

static void equal_distances_count_as_often_as_they_occur(void **state)
{
  (void)state;
  enum { N = 200 };
  struct gpnn_parameters params = {0};
  double distances[N];
  for (size_t i = 0; i < N; i++) distances[i] = i < 180 ? 0 : i < 198 ? 2 : 5;
  gpnn_distance_record(&params.calibration, N, distances);
  assert_true(params.calibration.distance[0] == 0 &&
              params.calibration.distance[1] == 0); /* 180 of 200 are .9 */
  assert_true(params.calibration.distance[2] == 2 &&
              params.calibration.distance[3] == 5); /* and 198 are .99 */
}

static void rows_at_the_largest_quantile_are_not_beyond_it(void **state)
{
  (void)state;
  const double distances[] = {0, 3.9, 4, 4.1, INFINITY};
  struct gpnn_parameters params = {.calibration.has_distance = true,
                                   .calibration.distance = {1, 2, 3, 4}};
  assert_int_equal(gpnn_distance_count_far(&params.calibration, 5, distances), 2);
  params.calibration.has_distance = false;
  assert_int_equal(gpnn_distance_count_far(&params.calibration, 5, distances), 0);
}

static void too_few_distances_are_not_recorded(void **state)
{
  (void)state;
  double distances[100] = {0};
  struct gpnn_parameters params = {.calibration.has_distance = true};
  gpnn_distance_record(&params.calibration, 99, distances);
  assert_false(params.calibration.has_distance);
  gpnn_distance_record(&params.calibration, 100, distances);
  assert_true(params.calibration.has_distance);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_quantile_is_the_smallest_that_its_fraction_does_not_exceed),
      cmocka_unit_test(equal_distances_count_as_often_as_they_occur),
      cmocka_unit_test(rows_at_the_largest_quantile_are_not_beyond_it),
      cmocka_unit_test(too_few_distances_are_not_recorded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
