/* Learning curves: power laws above a floor. */
#include "random.h"
#include "stats/scores/learning_curve.h"
#include "unit.h"

enum { SIZES = 5 };

static const double rows[SIZES] = {500, 1000, 2000, 4000, 8000};
static const double alike[SIZES] = {1, 1, 1, 1, 1};

static void fill(double floor, double scale, double exponent, double *value)
{
  for (size_t i = 0; i < SIZES; i++) value[i] = floor + scale * pow(rows[i] / 8000, -exponent);
}

static double misfit(const double *value, const double *weight,
                     const struct gpnn_learning_curve *curve)
{
  double sum = 0;
  for (size_t i = 0; i < SIZES; i++)
    sum += weight[i] * pow(value[i] - gpnn_learning_curve_at(curve, rows[i]), 2);
  return sum;
}

static void a_curve_is_recovered_from_exact_points(void **state)
{
  (void)state;
  static const double exponents[] = {0.1, 0.25, 0.5, 1, 1.7};
  for (size_t e = 0; e < 5; e++) {
    double value[SIZES];
    struct gpnn_learning_curve curve;
    fill(0.3, 0.2, exponents[e], value);
    gpnn_learning_curve_fit(SIZES, rows, value, alike, 0, &curve);
    assert_close(curve.exponent, exponents[e], 1e-3);
    assert_close(curve.floor, 0.3, 2e-3);
    assert_close(curve.scale, 0.2, 2e-3);
    assert_close(gpnn_learning_curve_at(&curve, 80000), 0.3 + 0.2 * pow(10, -exponents[e]), 1e-4);
    assert_true(gpnn_learning_curve_at(&curve, INFINITY) == curve.floor);
    assert_true(curve.unit == 8000);
  }
}

static void the_floor_is_never_below_the_least(void **state)
{
  (void)state;
  double value[SIZES];
  struct gpnn_learning_curve curve, free_curve;
  for (size_t i = 0; i < SIZES; i++) value[i] = 2 - 0.21 * log(rows[i] / 500); /* bends upwards */
  gpnn_learning_curve_fit(SIZES, rows, value, alike, 0, &curve);
  assert_true(curve.floor >= 0);
  gpnn_learning_curve_fit(SIZES, rows, value, alike, -INFINITY, &free_curve);
  assert_true(free_curve.floor < 0);
  assert_true(misfit(value, alike, &free_curve) < misfit(value, alike, &curve));
  assert_near(gpnn_learning_curve_at(&free_curve, 16000), 2 - 0.21 * log(32), 0.02);
}

static void a_flat_or_rising_curve_has_nothing_to_gain(void **state)
{
  (void)state;
  const double flat[SIZES] = {0.4, 0.4, 0.4, 0.4, 0.4}, rising[SIZES] = {0.3, 0.35, 0.4, 0.45, 0.5};
  struct gpnn_learning_curve curve;
  gpnn_learning_curve_fit(SIZES, rows, flat, alike, 0, &curve);
  assert_close(gpnn_learning_curve_at(&curve, 80000), 0.4, 1e-9);
  gpnn_learning_curve_fit(SIZES, rows, rising, alike, 0, &curve);
  assert_true(curve.scale == 0 && curve.exponent == 0);
  assert_close(gpnn_learning_curve_at(&curve, 500), 0.4, 1e-12);
}

static void no_other_curve_nearby_fits_better(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(4);
  for (size_t trial = 0; trial < 20; trial++) {
    double value[SIZES], weight[SIZES];
    struct gpnn_learning_curve curve;
    fill(0.3, 0.2, 0.5, value);
    for (size_t i = 0; i < SIZES; i++) {
      value[i] += 0.02 * gpnn_rng_normal(&rng);
      weight[i] = 0.2 + gpnn_rng_uniform(&rng);
    }
    gpnn_learning_curve_fit(SIZES, rows, value, weight, 0, &curve);
    double least = misfit(value, weight, &curve);
    for (size_t k = 0; k < 6; k++) {
      struct gpnn_learning_curve other = curve;
      double by = k % 2 == 0 ? 0.99 : 1.01;
      if (k / 2 == 0) other.floor *= by;
      if (k / 2 == 1) other.scale *= by;
      if (k / 2 == 2) other.exponent = fmin(fmax(other.exponent * by, 0.02), 2);
      assert_true(misfit(value, weight, &other) >= least * (1 - 1e-9));
    }
  }
}

static void a_point_of_greater_weight_is_fitted_more_closely(void **state)
{
  (void)state;
  const double value[SIZES] = {1, 0.8, 0.9, 0.6, 0.5}, heavy[SIZES] = {1, 1, 1e6, 1, 1};
  struct gpnn_learning_curve a, b;
  gpnn_learning_curve_fit(SIZES, rows, value, alike, 0, &a);
  gpnn_learning_curve_fit(SIZES, rows, value, heavy, 0, &b);
  assert_true(fabs(gpnn_learning_curve_at(&b, 2000) - 0.9) <
              0.01 * fabs(gpnn_learning_curve_at(&a, 2000) - 0.9));
}

static void the_unit_of_rows_and_of_values_does_not_matter(void **state)
{
  (void)state;
  double value[SIZES], scaled[SIZES], more[SIZES];
  struct gpnn_learning_curve a, b;
  fill(0.3, 0.2, 0.37, value);
  value[2] += 0.01;
  for (size_t i = 0; i < SIZES; i++) {
    scaled[i] = 1e12 * value[i];
    more[i] = 1e9 * rows[i];
  }
  gpnn_learning_curve_fit(SIZES, rows, value, alike, 0, &a);
  gpnn_learning_curve_fit(SIZES, more, scaled, alike, 0, &b);
  assert_close(gpnn_learning_curve_at(&b, 8e13), 1e12 * gpnn_learning_curve_at(&a, 80000), 1e-6);
}

static void a_curve_passes_through_few_points(void **state)
{
  (void)state;
  const double value[] = {0.5, 0.4, 0.35};
  for (size_t n = 1; n <= 3; n++) {
    struct gpnn_learning_curve curve;
    gpnn_learning_curve_fit(n, rows, value, alike, 0, &curve);
    for (size_t i = 0; i < n; i++)
      assert_close(gpnn_learning_curve_at(&curve, rows[i]), value[i], 1e-6);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_curve_is_recovered_from_exact_points),
      cmocka_unit_test(the_floor_is_never_below_the_least),
      cmocka_unit_test(a_flat_or_rising_curve_has_nothing_to_gain),
      cmocka_unit_test(no_other_curve_nearby_fits_better),
      cmocka_unit_test(a_point_of_greater_weight_is_fitted_more_closely),
      cmocka_unit_test(the_unit_of_rows_and_of_values_does_not_matter),
      cmocka_unit_test(a_curve_passes_through_few_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
