#include "unit.h"

#include "kernel/kernel.h"

/* log of z^a K_b(z), by the trapezoidal rule about the largest value of
 * K_b(z) = 1/2 integral of exp(b t - z cosh t). */
static long double log_bessel(long double a, long double b, long double z)
{
  long double middle = asinhl(b / z), top = b * middle - z * coshl(middle), sum = 1, term;
  long double h = fminl(0.15L / powl(z * z + b * b, 0.25L), 0.04L);
  for (int side = -1; side <= 1; side += 2)
    for (int k = 1; k < 20000; k++) {
      long double t = middle + side * k * h;
      sum += term = expl(b * t - z * coshl(t) - top);
      if (term < 1e-22L) break;
    }
  return a * logl(z) + top + logl(sum * h / 2);
}

/* The Matern correlation and its slope, from their definition. */
static double matern(double nu, double r)
{
  if (r == 0) return 1;
  return (double)expl(log_bessel(nu, nu, sqrtl(2.0L * nu) * r) + (1 - nu) * logl(2) - lgammal(nu));
}

static double matern_slope(double nu, double r)
{
  long double bessel = log_bessel((long double)nu - 1, (long double)nu - 1, sqrtl(2.0L * nu) * r);
  return (double)(2 * nu * expl(bessel + (1 - nu) * logl(2) - lgammal(nu)));
}

static const double nu = 1.2; /* what kernels that need a smoothness get */

/* The formulas of the manual, one value at a time. */
static double formula(const char *name, double r)
{
  if (strcmp(name, "matern") == 0) return matern(nu, r);
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
    kernel->with_slope(nu, N, r2, c, slope);
    /* 4 units in the last place of the vector exponential, and the roundings of its argument,
     * which is at most 151. */
    for (size_t i = 0; i < N; i++) assert_close(c[i], formula(kernel->name, sqrt(r2[i])), 1e-13);
    gpnn_kernel_correlate(kernel, nu, N, r2);
    /* Roots up to 39 may differ in the last place, which the exponential takes for a part of 7e-15.
     */
    for (size_t i = 0; i < N; i++) assert_close(r2[i], c[i], 1.2e-14);
  }
}

static void slope_is_the_derivative_by_log_lengthscale(void **state)
{
  (void)state;
  for (size_t k = 0; gpnn_kernel_at(k) != NULL; k++) {
    const struct gpnn_kernel *kernel = gpnn_kernel_at(k);
    for (double r = 0.05; r < 6; r *= 1.3) {
      double r2 = r * r, c, slope, h = 1e-5;
      kernel->with_slope(nu, 1, &r2, &c, &slope);
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
  static const double limit[] = {0, 3, 5.0 / 3, 1, 6}; /* slopes, in the order of the table */
  for (size_t k = 0; gpnn_kernel_at(k) != NULL; k++) {
    double r2[17] = {0}, c[17], slope[17];
    gpnn_kernel_at(k)->with_slope(nu, 17, r2, c, slope);
    gpnn_kernel_correlate(gpnn_kernel_at(k), nu, 17, r2);
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
    gpnn_kernel_at(k)->with_slope(nu, 9, far, c, slope);
    gpnn_kernel_correlate(gpnn_kernel_at(k), nu, 9, far);
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
    gpnn_kernel_at(k)->with_slope(nu, 9, r2, c, slope);
    for (size_t i = 0; i < 9; i++) assert_true(isnan(c[i]));
  }
}

static void kernels_are_found_by_name(void **state)
{
  (void)state;
  for (size_t k = 0; gpnn_kernel_at(k) != NULL; k++)
    assert_ptr_equal(gpnn_kernel_by_name(gpnn_kernel_at(k)->name), gpnn_kernel_at(k));
  assert_ptr_equal(gpnn_kernel_by_name("matern12"), gpnn_kernel_by_name("exp"));
  assert_null(gpnn_kernel_by_name("matern1"));
  assert_null(gpnn_kernel_by_name(""));
  assert_null(gpnn_kernel_at(5));
}

static void kernels_are_next_to_each_other_by_smoothness(void **state)
{
  (void)state;
  static const char *const names[] = {"exp", "matern32", "matern52", "rbf"};
  for (int i = 0; i < 4; i++)
    for (int by = -4; by <= 4; by++) {
      const struct gpnn_kernel *next = gpnn_kernel_next(gpnn_kernel_by_name(names[i]), by);
      bool is_there = i + by >= 0 && i + by < 4;
      assert_ptr_equal(next, is_there ? gpnn_kernel_by_name(names[i + by]) : NULL);
    }
  assert_null(gpnn_kernel_next(gpnn_kernel_by_name("matern"), -1));
}

static void kernels_are_read_as_people_write_them(void **state)
{
  (void)state;
  static const char *const wrong[] = {
      "matern", "matern:", "matern:0", "matern:-1", "matern:nan",   "matern:x",   "rbf:1",
      "exp:",   "",        ":1",       "cubic",     "matern:100.5", "matern:1e9", "matern:1 2"};
  static const double values[] = {1.2, 0.01, 100, 1.0 / 3, 4.9e-324, 12345.0 / 7e5};
  const struct gpnn_kernel *kernel = NULL;
  double smoothness = 7;
  char text[GPNN_KERNEL_BYTES], longest[2 * GPNN_KERNEL_BYTES] = "";
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_false(gpnn_kernel_parse(wrong[i], &kernel, &smoothness));
  memset(longest, 'm', sizeof longest - 1);
  assert_false(gpnn_kernel_parse(longest, &kernel, &smoothness));
  assert_true(kernel == NULL && smoothness == 7);
  assert_true(gpnn_kernel_parse("matern12", &kernel, &smoothness));
  assert_ptr_equal(kernel, gpnn_kernel_by_name("exp"));
  assert_true(smoothness == 0);
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    gpnn_kernel_write(gpnn_kernel_by_name("matern"), values[i], text);
    assert_true(gpnn_kernel_parse(text, &kernel, &smoothness));
    assert_ptr_equal(kernel, gpnn_kernel_by_name("matern"));
    assert_true(smoothness == values[i]);
  }
  gpnn_kernel_write(gpnn_kernel_by_name("rbf"), 3, text);
  assert_string_equal(text, "rbf");
  gpnn_kernel_write(gpnn_kernel_by_name("matern"), 1.2, text);
  assert_string_equal(text, "matern:1.2");
}

static void rough_processes_keep_more_noise(void **state)
{
  (void)state;
  const struct gpnn_kernel *matern_kernel = gpnn_kernel_by_name("matern");
  assert_true(gpnn_kernel_least_noise(gpnn_kernel_by_name("exp"), 0) == 3e-3);
  assert_true(gpnn_kernel_least_noise(gpnn_kernel_by_name("matern32"), 0) == 1e-6);
  assert_true(gpnn_kernel_least_noise(gpnn_kernel_by_name("rbf"), 0) == 1e-6);
  assert_true(gpnn_kernel_least_noise(matern_kernel, 0.99) == 3e-3);
  assert_true(gpnn_kernel_least_noise(matern_kernel, 1) == 1e-6);
}

/* ---- the Matern kernel of any smoothness --------------------------------------------------- */

static const double smoothnesses[] = {0.01,      0.3, 0.499999,  0.5, 0.500001, 0.75,
                                      0.9999999, 1,   1.0000001, 1.2, 1.5,      2,
                                      2.5,       7.7, 33,        100};
enum { N_SMOOTHNESSES = sizeof smoothnesses / sizeof *smoothnesses };

static void matern_is_its_definition_at_every_smoothness_and_distance(void **state)
{
  (void)state;
  for (size_t k = 0; k < N_SMOOTHNESSES; k++)
    for (double r = 1e-7; r < 60; r *= 1.21) {
      double r2 = r * r, c, slope;
      gpnn_kernel_by_name("matern")->with_slope(smoothnesses[k], 1, &r2, &c, &slope);
      double right = matern(smoothnesses[k], sqrt(r2));
      if (right < 1e-200) break;
      assert_close(c, right, 1e-12);
      assert_close(slope, matern_slope(smoothnesses[k], sqrt(r2)), 1e-12);
      gpnn_kernel_correlate(gpnn_kernel_by_name("matern"), smoothnesses[k], 1, &r2);
      assert_true(r2 == c);
    }
}

/* Near 0 a rough correlation is 1 - Gamma(1 - nu) / Gamma(1 + nu) (z/2)^(2 nu), but for terms of
 * the order of z^2. */
static void rough_matern_falls_as_a_power_from_the_least_distances_on(void **state)
{
  (void)state;
  for (double s = 0.01; s < 0.3; s *= 1.7)
    for (double r = 1e-130; r < 1e-9; r *= 1e5) {
      double r2 = r * r;
      gpnn_kernel_correlate(gpnn_kernel_by_name("matern"), s, 1, &r2);
      assert_near(1 - r2, tgamma(1 - s) / tgamma(1 + s) * pow(r * sqrt(s / 2), 2 * s), 1e-13);
    }
}

static void matern_of_half_a_whole_number_is_the_closed_form(void **state)
{
  (void)state;
  static const char *const names[] = {"exp", "matern32", "matern52"};
  static double r2[N], c[N], slope[N], right[N], right_slope[N];
  for (size_t k = 0; k < 3; k++) {
    for (size_t i = 0; i < N; i++) r2[i] = 0.0003 * (double)(i * i);
    gpnn_kernel_by_name(names[k])->with_slope(0, N, r2, right, right_slope);
    gpnn_kernel_by_name("matern")->with_slope(0.5 + (double)k, N, r2, c, slope);
    for (size_t i = 0; i < N; i++) {
      assert_close(c[i], right[i], 1e-12);
      assert_close(slope[i], right_slope[i], 1e-12);
    }
  }
}

/* K_1(1), K_0(1) and K_(1/3)(1) to 20 digits, from an arithmetic of many. */
static void matern_agrees_with_values_of_high_precision(void **state)
{
  (void)state;
  double r2 = 0.5, c, slope; /* z = 1 */
  gpnn_kernel_by_name("matern")->with_slope(1, 1, &r2, &c, &slope);
  assert_close(c, 0.60190723019723457474, 1e-14);
  assert_close(slope, 2 * 0.42102443824070833334, 1e-14);
  r2 = 1.5;
  gpnn_kernel_correlate(gpnn_kernel_by_name("matern"), 1.0 / 3, 1, &r2);
  assert_close(r2, pow(2, 2.0 / 3) / tgamma(1.0 / 3) * 0.43843063344153436170, 1e-14);
}

static void matern_grows_smooth_towards_rbf(void **state)
{
  (void)state;
  for (double r = 0; r < 6; r += 0.05) {
    double r2 = r * r;
    gpnn_kernel_correlate(gpnn_kernel_by_name("matern"), GPNN_KERNEL_SMOOTHEST, 1, &r2);
    assert_near(r2, exp(-r * r / 2), 0.004);
  }
}

static void matern_at_the_edges_is_finite_and_between_0_and_1(void **state)
{
  (void)state;
  static const double edges[] = {0,    4.9e-324, 1e-310, 1e-300, 1e-200, 1e-100, 1e-30, 1e-16,
                                 1e-8, 1e-3,     1e3,    1e5,    1e6,    1e8,    1e300, INFINITY};
  enum { N_EDGES = sizeof edges / sizeof *edges };
  for (size_t k = 0; k < N_SMOOTHNESSES + 2; k++) {
    double s = k < N_SMOOTHNESSES ? smoothnesses[k] : k == N_SMOOTHNESSES ? 4.9e-324 : 1e-9;
    double c[N_EDGES], slope[N_EDGES];
    gpnn_kernel_by_name("matern")->with_slope(s, N_EDGES, edges, c, slope);
    assert_true(c[0] == 1 && c[N_EDGES - 1] == 0 && slope[N_EDGES - 1] == 0);
    for (size_t i = 0; i < N_EDGES; i++) {
      assert_true(c[i] >= 0 && c[i] <= 1 && slope[i] >= 0 && isfinite(slope[i]));
      if (i > 0) assert_true(c[i] <= c[i - 1] + 1e-14);
      if (i < 4) assert_true(slope[i] * edges[i] <= 1);
    }
  }
}

static void a_matern_value_does_not_depend_on_its_company(void **state)
{
  (void)state;
  static double r2[N], c[N], slope[N];
  for (size_t i = 0; i < N; i++) r2[i] = 3 * fabs(sin((double)i));
  gpnn_kernel_by_name("matern")->with_slope(0.8, N, r2, c, slope);
  for (size_t i = 0; i < N; i++) {
    double alone, alone_slope;
    gpnn_kernel_by_name("matern")->with_slope(0.8, 1, &r2[i], &alone, &alone_slope);
    assert_close(alone, c[i], 1e-14);
    assert_close(alone_slope, slope[i], 1e-14);
  }
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
      cmocka_unit_test(kernels_are_next_to_each_other_by_smoothness),
      cmocka_unit_test(kernels_are_read_as_people_write_them),
      cmocka_unit_test(rough_processes_keep_more_noise),
      cmocka_unit_test(matern_is_its_definition_at_every_smoothness_and_distance),
      cmocka_unit_test(rough_matern_falls_as_a_power_from_the_least_distances_on),
      cmocka_unit_test(matern_of_half_a_whole_number_is_the_closed_form),
      cmocka_unit_test(matern_agrees_with_values_of_high_precision),
      cmocka_unit_test(matern_grows_smooth_towards_rbf),
      cmocka_unit_test(matern_at_the_edges_is_finite_and_between_0_and_1),
      cmocka_unit_test(a_matern_value_does_not_depend_on_its_company),
      cmocka_unit_test(distances_are_sums_of_squared_differences),
      cmocka_unit_test(distances_do_not_cancel_far_from_the_origin),
      cmocka_unit_test(without_columns_all_rows_coincide),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
