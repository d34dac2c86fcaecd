#include "unit.h"

#include "models/kernel.h"

/* The formulas of the manual, one value at a time. */
static double formula(const char *name, double r)
{
  double s3 = sqrt(3) * r, s5 = sqrt(5) * r;
  if (strcmp(name, "rbf") == 0) return exp(-r * r / 2);
  if (strcmp(name, "exp") == 0) return exp(-r);
  if (strcmp(name, "matern32") == 0) return (1 + s3) * exp(-s3);
  return (1 + s5 + 5 * r * r / 3) * exp(-s5);
}

enum { N = 1003 }; /* no multiple of any vector width */

static void each_kernel_is_its_formula(void **state)
{
  (void)state;
  static double r2[N], c[N], slope[N];
  for (size_t k = 0; gpnn_kernel_at(k) != NULL; k++) {
    const struct gpnn_kernel *kernel = gpnn_kernel_at(k);
    for (size_t i = 0; i < N; i++) r2[i] = 0.0003 * (double)(i * i);
    kernel->with_slope(0, N, r2, c, slope);
    /* 4 units in the last place of the vector exponential, and the roundings of its argument,
     * which is at most 151. */
    for (size_t i = 0; i < N; i++) assert_close(c[i], formula(kernel->name, sqrt(r2[i])), 1e-13);
    kernel->correlation(0, N, r2);
    for (size_t i = 0; i < N; i++) assert_close(r2[i], c[i], 4e-15);
  }
}

static void slope_is_the_derivative_by_log_lengthscale(void **state)
{
  (void)state;
  for (size_t k = 0; gpnn_kernel_at(k) != NULL; k++) {
    const struct gpnn_kernel *kernel = gpnn_kernel_at(k);
    for (double r = 0.05; r < 6; r *= 1.3) {
      double r2 = r * r, c, slope, h = 1e-5;
      kernel->with_slope(0, 1, &r2, &c, &slope);
      /* A longer lengthscale shortens r. */
      double difference =
          (formula(kernel->name, r * exp(-h)) - formula(kernel->name, r * exp(h))) / (2 * h);
      assert_near(slope * r2, difference, 1e-9);
    }
  }
}

static void at_distance_zero_correlation_is_exactly_one(void **state)
{
  (void)state;
  static const double limit[] = {0, 3, 5.0 / 3, 1}; /* slopes, in the order of the table */
  for (size_t k = 0; gpnn_kernel_at(k) != NULL; k++) {
    double r2[17] = {0}, c[17], slope[17];
    gpnn_kernel_at(k)->with_slope(0, 17, r2, c, slope);
    gpnn_kernel_at(k)->correlation(0, 17, r2);
    for (size_t i = 0; i < 17; i++) {
      assert_true(c[i] == 1);
      assert_true(r2[i] == 1);
      assert_close(slope[i], limit[k], 1e-15);
    }
  }
}

static void far_points_have_correlation_zero_and_no_nan(void **state)
{
  (void)state;
  for (size_t k = 0; gpnn_kernel_at(k) != NULL; k++) {
    double far[] = {1e7, 1e100, 1e308, INFINITY, 1e7, 1e100, 1e308, INFINITY, INFINITY};
    double c[9], slope[9];
    gpnn_kernel_at(k)->with_slope(0, 9, far, c, slope);
    gpnn_kernel_at(k)->correlation(0, 9, far);
    for (size_t i = 0; i < 9; i++) {
      assert_true(c[i] == 0);
      assert_true(slope[i] == 0);
      assert_true(far[i] == 0);
    }
  }
}

static void nan_stays_nan(void **state)
{
  (void)state;
  for (size_t k = 0; gpnn_kernel_at(k) != NULL; k++) {
    double r2[9], c[9], slope[9];
    for (size_t i = 0; i < 9; i++) r2[i] = NAN;
    gpnn_kernel_at(k)->with_slope(0, 9, r2, c, slope);
    for (size_t i = 0; i < 9; i++) assert_true(isnan(c[i]));
  }
}

static void kernels_are_found_by_name(void **state)
{
  (void)state;
  for (size_t k = 0; gpnn_kernel_at(k) != NULL; k++)
    assert_ptr_equal(gpnn_kernel_by_name(gpnn_kernel_at(k)->name), gpnn_kernel_at(k));
  assert_ptr_equal(gpnn_kernel_by_name("matern12"), gpnn_kernel_by_name("exp"));
  assert_null(gpnn_kernel_by_name("matern"));
  assert_null(gpnn_kernel_by_name(""));
  assert_null(gpnn_kernel_at(4));
}

static void distances_are_sums_of_squared_differences(void **state)
{
  (void)state;
  enum { ROWS = 13, D = 5, STRIDE = 16 };
  double columns[D * STRIDE], point[D], r2[ROWS];
  for (size_t i = 0; i < D * STRIDE; i++) columns[i] = sin((double)i * 1.7);
  for (size_t j = 0; j < D; j++) point[j] = columns[j * STRIDE + 4];
  gpnn_kernel_distances(ROWS, D, STRIDE, columns, point, r2);
  for (size_t i = 0; i < ROWS; i++) {
    double sum = 0;
    for (size_t j = 0; j < D; j++) sum += pow(columns[j * STRIDE + i] - point[j], 2);
    assert_near(r2[i], sum, 1e-15);
  }
  assert_true(r2[4] == 0);
}

static void distances_do_not_cancel_far_from_the_origin(void **state)
{
  (void)state;
  double columns[] = {1e9, 1e9 + 1e-3, 1e9 + 1}, point[] = {1e9}, r2[3];
  gpnn_kernel_distances(3, 1, 3, columns, point, r2);
  assert_true(r2[0] == 0);
  assert_true(r2[1] == (columns[1] - 1e9) * (columns[1] - 1e9));
  assert_true(r2[2] == 1);
}

static void without_columns_all_rows_coincide(void **state)
{
  (void)state;
  double r2[3] = {7, 7, 7}, unused = 0;
  gpnn_kernel_distances(3, 0, 3, &unused, &unused, r2);
  for (size_t i = 0; i < 3; i++) assert_true(r2[i] == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kernel_is_its_formula),
      cmocka_unit_test(slope_is_the_derivative_by_log_lengthscale),
      cmocka_unit_test(at_distance_zero_correlation_is_exactly_one),
      cmocka_unit_test(far_points_have_correlation_zero_and_no_nan),
      cmocka_unit_test(nan_stays_nan),
      cmocka_unit_test(kernels_are_found_by_name),
      cmocka_unit_test(distances_are_sums_of_squared_differences),
      cmocka_unit_test(distances_do_not_cancel_far_from_the_origin),
      cmocka_unit_test(without_columns_all_rows_coincide),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
