/* PITs of rows, with tied truths and without. */
#include "random.h"
#include "stats/distributions/normal.h"
#include "stats/distributions/student.h"
#include "stats/scores/pit.h"
#include "unit.h"

/* The largest difference of the values from uniform. */
static double distance_of(struct gpnn_pit *pit)
{
  const double *value = gpnn_pit_values(pit);
  double distance = 0, n = (double)pit->n;
  for (size_t i = 0; i < pit->n; i++)
    distance = fmax(distance, fmax((double)(i + 1) / n - value[i], value[i] - (double)i / n));
  return distance;
}

static void untied_rows_have_their_distribution_function_ascending(void **state)
{
  (void)state;
  const double error[] = {0.4, -1.3, 2.2}, df[] = {INFINITY, 4, 7.5};
  struct gpnn_pit pit = {0};
  for (size_t i = 0; i < 3; i++) assert_ok(gpnn_pit_add(&pit, (double)i, error[i], 2, df[i], &err));
  const double *value = gpnn_pit_values(&pit);
  assert_true(value[0] == gpnn_student_cdf(-0.65, 4));
  assert_true(value[1] == gpnn_normal_cdf(0.2));
  assert_true(value[2] == gpnn_student_cdf(1.1, 7.5));
  assert_true(value == gpnn_pit_values(&pit)); /* asking twice changes nothing */
  gpnn_pit_release(&pit);
}

/* Truths of 1, 3, 3 and 4, predicted at 2.5 with scale 1: 3 extends from 2 to 3.5. */
static void tied_rows_lie_between_the_middles_to_their_neighbours(void **state)
{
  (void)state;
  const double truth[] = {3, 1, 3, 4};
  struct gpnn_pit pit = {0};
  for (size_t i = 0; i < 4; i++)
    assert_ok(gpnn_pit_add(&pit, truth[i], truth[i] - 2.5, 1, INFINITY, &err));
  const double *value = gpnn_pit_values(&pit);
  assert_true(value[0] == gpnn_normal_cdf(-1.5) && value[3] == gpnn_normal_cdf(1.5));
  for (size_t i = 1; i < 3; i++)
    assert_true(value[i] > gpnn_normal_cdf(-0.5) && value[i] < gpnn_normal_cdf(1));
  assert_true(value[1] < value[2]);
  gpnn_pit_release(&pit);
}

static void the_least_and_the_greatest_truth_extend_to_the_ends(void **state)
{
  (void)state;
  enum { EACH = 2000 };
  struct gpnn_pit pit = {0};
  for (size_t i = 0; i < EACH; i++) {
    assert_ok(gpnn_pit_add(&pit, 0, -1, 1, INFINITY, &err)); /* up to 1/2: F = .309 */
    assert_ok(gpnn_pit_add(&pit, 1, 0, 1, INFINITY, &err));
  }
  const double *value = gpnn_pit_values(&pit), middle = gpnn_normal_cdf(-0.5);
  assert_true(value[0] < 0.001 && value[2 * EACH - 1] > 0.999);
  assert_true(value[EACH - 1] < middle && value[EACH] > middle);
  assert_near(value[EACH / 2], middle / 2, 0.02);
  gpnn_pit_release(&pit);
}

static void rows_with_only_one_truth_are_left_alone(void **state)
{
  (void)state;
  struct gpnn_pit pit = {0};
  assert_null(gpnn_pit_values(&pit));
  gpnn_pit_release(&pit);
  for (size_t i = 0; i < 3; i++)
    assert_ok(gpnn_pit_add(&pit, 5, 0.1 * (double)i, 1, INFINITY, &err));
  assert_true(gpnn_pit_values(&pit)[2] == gpnn_normal_cdf(0.2));
  gpnn_pit_release(&pit);
}

/* Normal or Student truths, rounded to whole numbers after they were drawn. */
static void add_rounded(struct gpnn_pit *pit, size_t n, double scale, double df, bool as_values)
{
  struct gpnn_rng rng = seeded(5);
  for (size_t i = 0; i < n; i++) {
    double location = 20 * gpnn_rng_uniform(&rng), u = gpnn_rng_uniform(&rng);
    double truth = rint(location + scale * gpnn_student_quantile(fmax(u, 1e-12), df));
    double t = (truth - location) / scale;
    assert_ok(as_values ? gpnn_pit_add_value(pit, truth, gpnn_student_cdf(t, df),
                                             gpnn_student_density(t, df) / scale, &err)
                        : gpnn_pit_add(pit, truth, truth - location, scale, df, &err));
  }
}

/* With scales from a fifth of the rounding to several times it.  The distance of values that are
 * not randomised is .2 and more where the scale is small. */
static void right_predictions_of_rounded_truths_are_uniform(void **state)
{
  (void)state;
  enum { N = 20000 };
  for (double scale = 0.2; scale < 5; scale *= 2.5) {
    struct gpnn_pit normal = {0}, student = {0};
    add_rounded(&normal, N, scale, INFINITY, false);
    add_rounded(&student, N, scale, 4, false);
    assert_true(distance_of(&normal) < 2.2 / sqrt(N)); /* exceeded once in 8000 */
    assert_true(distance_of(&student) < 2.2 / sqrt(N));
    gpnn_pit_release(&normal);
    gpnn_pit_release(&student);
  }
}

/* From PIT and density alone: exactly the same for normal predictions, nearly for others. */
static void values_with_densities_say_nearly_the_same(void **state)
{
  (void)state;
  enum { N = 20000 };
  struct gpnn_pit normal = {0}, known = {0}, student = {0};
  add_rounded(&normal, N, 0.7, INFINITY, true);
  add_rounded(&known, N, 0.7, INFINITY, false);
  add_rounded(&student, N, 0.7, 4, true);
  assert_true(distance_of(&normal) < 2.2 / sqrt(N));
  assert_true(distance_of(&known) < 2.2 / sqrt(N));
  assert_true(distance_of(&student) < 0.02);
  gpnn_pit_release(&normal);
  gpnn_pit_release(&known);
  gpnn_pit_release(&student);
}

static void values_whose_density_tells_nothing_stay_as_they_are(void **state)
{
  (void)state;
  const double value[] = {0, 0.3, 0.3, 0.6, 1, 1}, density[] = {0, 0, INFINITY, NAN, 1e-300, 0};
  struct gpnn_pit pit = {0};
  for (size_t i = 0; i < 6; i++)
    assert_ok(gpnn_pit_add_value(&pit, (double)(i % 2), value[i], density[i], &err));
  for (size_t i = 0; i < 6; i++) assert_true(gpnn_pit_values(&pit)[i] == value[i]);
  gpnn_pit_release(&pit);
}

/* Steps from 0.2 to 0.6, whatever the truths beside them, and one that rounding takes beyond 1. */
static void steps_are_filled_evenly_and_nothing_more(void **state)
{
  (void)state;
  enum { N = 4000 };
  struct gpnn_pit pit = {0};
  assert_ok(gpnn_pit_add_step(&pit, -1, 0.999, 0.004, &err)); /* not tied */
  for (size_t i = 0; i < N; i++) assert_ok(gpnn_pit_add_step(&pit, 0, 0.4, 0.4, &err));
  assert_ok(gpnn_pit_add_value(&pit, 1e-6, 0.61, 1, &err));
  const double *value = gpnn_pit_values(&pit);
  for (size_t i = 0; i < N; i++) assert_near(value[i], 0.2 + 0.4 * ((double)i + 0.5) / N, 0.015);
  assert_true(value[0] >= 0.2 && value[N - 1] <= 0.6);
  assert_close(value[N], 0.61, 1e-12);
  assert_true(value[N + 1] >= 0.997 && value[N + 1] <= 1);
  gpnn_pit_release(&pit);
}

static void the_order_of_rows_does_not_matter(void **state)
{
  (void)state;
  enum { N = 300 };
  struct gpnn_pit a = {0}, b = {0};
  for (size_t i = 0; i < N; i++) {
    size_t k = N - 1 - i;
    assert_ok(gpnn_pit_add(&a, (double)(i % 7), 0.01 * (double)i - 1, 1, 5, &err));
    assert_ok(gpnn_pit_add(&b, (double)(k % 7), 0.01 * (double)k - 1, 1, 5, &err));
  }
  assert_memory_equal(gpnn_pit_values(&a), gpnn_pit_values(&b), N * sizeof(double));
  gpnn_pit_release(&a);
  gpnn_pit_release(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(untied_rows_have_their_distribution_function_ascending),
      cmocka_unit_test(tied_rows_lie_between_the_middles_to_their_neighbours),
      cmocka_unit_test(the_least_and_the_greatest_truth_extend_to_the_ends),
      cmocka_unit_test(rows_with_only_one_truth_are_left_alone),
      cmocka_unit_test(right_predictions_of_rounded_truths_are_uniform),
      cmocka_unit_test(values_with_densities_say_nearly_the_same),
      cmocka_unit_test(values_whose_density_tells_nothing_stay_as_they_are),
      cmocka_unit_test(steps_are_filled_evenly_and_nothing_more),
      cmocka_unit_test(the_order_of_rows_does_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
