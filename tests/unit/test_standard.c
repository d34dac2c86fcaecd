#include "unit.h"

#include "base/rng.h"
#include "data/standard.h"

enum { N = 500, D = 3 };

/* Correlated columns of different units, one of them far from zero; y depends on them. */
static void make_rows(double *x, double *y)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  for (size_t i = 0; i < N; i++) {
    double a = gpnn_rng_normal(&rng), b = gpnn_rng_normal(&rng), c = gpnn_rng_normal(&rng);
    x[i * D] = 1e6 + a;
    x[i * D + 1] = 20 * (a + b);
    x[i * D + 2] = 1e-2 * (b - c);
    y[i] = 7 + 3 * c;
  }
}

/* Population covariance of columns j and k of z, n by d, computed plainly. */
static double covariance_of(size_t n, size_t d, const double *z, size_t j, size_t k)
{
  double mean_j = 0, mean_k = 0, sum = 0;
  for (size_t i = 0; i < n; i++) {
    mean_j += z[i * d + j] / (double)n;
    mean_k += z[i * d + k] / (double)n;
  }
  for (size_t i = 0; i < n; i++) sum += (z[i * d + j] - mean_j) * (z[i * d + k] - mean_k);
  return sum / (double)n;
}

static void names_read_back(void **state)
{
  (void)state;
  enum gpnn_standard_method method = GPNN_STANDARD_NONE;
  assert_true(gpnn_standard_by_name("whiten", &method));
  assert_int_equal(method, GPNN_STANDARD_WHITEN);
  assert_string_equal(gpnn_standard_name(method), "whiten");
  assert_true(gpnn_standard_by_name("scale", &method));
  assert_true(gpnn_standard_by_name("none", &method));
  assert_false(gpnn_standard_by_name("whitened", &method));
  assert_int_equal(method, GPNN_STANDARD_NONE);
}

static void scaled_columns_have_variance_one_over_d(void **state)
{
  (void)state;
  double x[N * D], y[N], z[N * D];
  struct gpnn_standard standard = {0};
  make_rows(x, y);
  assert_ok(gpnn_standard_learn(&standard, GPNN_STANDARD_SCALE, 1e-5, N, D, NULL, x, y, &err));
  assert_int_equal(standard.n_out, D);
  for (size_t i = 0; i < N; i++) gpnn_standard_apply(&standard, x + i * D, z + i * D);
  for (size_t j = 0; j < D; j++) {
    double mean = 0;
    for (size_t i = 0; i < N; i++) mean += z[i * D + j] / N;
    assert_near(mean, 0, 1e-9);
    assert_close(covariance_of(N, D, z, j, j), 1.0 / D, 1e-9);
  }
  double squares = covariance_of(N, 1, y, 0, 0);
  assert_close(standard.y_sd, sqrt(squares), 1e-12);
  gpnn_standard_apply(&standard, x, x); /* in place */
  assert_memory_equal(x, z, D * sizeof *x);
  gpnn_standard_release(&standard);
  assert_null(standard.mean);
}

static void whitened_columns_have_covariance_one_over_d(void **state)
{
  (void)state;
  double x[N * D], y[N], z[N * D];
  struct gpnn_standard standard = {0};
  make_rows(x, y);
  assert_ok(gpnn_standard_learn(&standard, GPNN_STANDARD_WHITEN, 0, N, D, NULL, x, y, &err));
  assert_int_equal(standard.n_out, D);
  for (size_t i = 0; i < N; i++) gpnn_standard_apply(&standard, x + i * D, z + i * D);
  for (size_t j = 0; j < D; j++)
    for (size_t k = 0; k < D; k++)
      assert_near(covariance_of(N, D, z, j, k), j == k ? 1.0 / D : 0, 1e-6);
  gpnn_standard_release(&standard);
}

/* Two uncorrelated columns of variance 4 and 1: W is known in closed form. */
static void whitening_damps_by_eps(void **state)
{
  (void)state;
  const double x[] = {2, 1, 2, -1, -2, 1, -2, -1}, y[] = {0, 1, 2, 3}, eps = 0.5;
  struct gpnn_standard standard = {0};
  assert_ok(gpnn_standard_learn(&standard, GPNN_STANDARD_WHITEN, eps, 4, 2, NULL, x, y, &err));
  assert_int_equal(standard.n_out, 2);
  double small = 1 / sqrt(1 + eps) / sqrt(2), large = 1 / sqrt(4 + eps) / sqrt(2);
  const double expected[] = {0, small, large, 0};
  for (size_t i = 0; i < 4; i++) assert_near(standard.weight[i], expected[i], 1e-15);
  assert_near(standard.eps, eps, 0);
  gpnn_standard_release(&standard);
}

static void whitening_drops_dependent_directions(void **state)
{
  (void)state;
  double x[N * D], y[N], z[2];
  make_rows(x, y);
  for (size_t i = 0; i < N; i++) x[i * D + 2] = 0.5 * x[i * D + 1];
  for (size_t i = 0; i < N; i++) x[i * D] -= 1e6;
  struct gpnn_standard standard = {0};
  assert_ok(gpnn_standard_learn(&standard, GPNN_STANDARD_WHITEN, 1e-5, N, D, NULL, x, y, &err));
  assert_int_equal(standard.n_in, D);
  assert_int_equal(standard.n_out, 2);
  gpnn_standard_apply(&standard, x, z);
  assert_true(isfinite(z[0]) && isfinite(z[1]));
  gpnn_standard_release(&standard);
}

static void whitening_keeps_columns_of_very_different_units(void **state)
{
  (void)state;
  double x[N * D], y[N];
  make_rows(x, y);
  for (size_t i = 0; i < N; i++) x[i * D] *= 1e7;
  struct gpnn_standard standard = {0};
  assert_ok(gpnn_standard_learn(&standard, GPNN_STANDARD_WHITEN, 1e-5, N, D, NULL, x, y, &err));
  assert_int_equal(standard.n_out, D);
  gpnn_standard_release(&standard);
}

static void constant_columns_are_dropped_under_scale(void **state)
{
  (void)state;
  double x[N * D], y[N], z[2];
  make_rows(x, y);
  for (size_t i = 0; i < N; i++) x[i * D + 1] = 0.1;
  struct gpnn_standard standard = {0};
  assert_ok(gpnn_standard_learn(&standard, GPNN_STANDARD_SCALE, 0, N, D, NULL, x, y, &err));
  assert_int_equal(standard.n_out, 2);
  assert_true(standard.weight[1] == 0);
  gpnn_standard_apply(&standard, x, z);
  double sd = sqrt(covariance_of(N, D, x, 2, 2));
  assert_close(standard.weight[2], 1 / (sqrt(2) * sd), 1e-9);
  assert_close(z[1], (x[2] - standard.mean[2]) * standard.weight[2], 1e-15);
  gpnn_standard_release(&standard);
}

static void rounding_noise_is_no_variation(void **state)
{
  (void)state;
  double x[4] = {1e9, 1e9, nextafter(1e9, 2e9), 1e9}, y[4] = {1, 2, 3, 4};
  struct gpnn_standard standard = {0};
  assert_fails(gpnn_standard_learn(&standard, GPNN_STANDARD_SCALE, 0, 4, 1, NULL, x, y, &err),
               GPNN_EDATA, "no input varies");
  assert_fails(gpnn_standard_learn(&standard, GPNN_STANDARD_WHITEN, 0, 4, 1, NULL, x, y, &err),
               GPNN_EDATA, "no input varies");
  assert_null(standard.mean);
}

static void extreme_magnitudes_survive_scaling(void **state)
{
  (void)state;
  const double y[] = {1e200, 2e200, 3e200, 4e200};
  const double x[] = {1e150, 1e-150, 2e150, 2e-150, 3e150, 3e-150, 4e150, 4e-150};
  struct gpnn_standard standard = {0};
  double z[2];
  assert_ok(gpnn_standard_learn(&standard, GPNN_STANDARD_SCALE, 0, 4, 2, NULL, x, y, &err));
  assert_close(standard.y_sd, sqrt(1.25) * 1e200, 1e-14);
  gpnn_standard_apply(&standard, x, z);
  assert_close(z[0], -1.5 / sqrt(1.25) / sqrt(2), 1e-14);
  assert_close(z[1], -1.5 / sqrt(1.25) / sqrt(2), 1e-14);
  gpnn_standard_release(&standard);
  const double huge[] = {1e200, -1e200, 1e200, -1e200};
  assert_fails(gpnn_standard_learn(&standard, GPNN_STANDARD_WHITEN, 0, 4, 1, NULL, huge, y, &err),
               GPNN_ENUMERIC, "too large for whitening");
}

static void none_leaves_inputs_and_standardises_the_target(void **state)
{
  (void)state;
  double x[N * D], y[N], z[D];
  make_rows(x, y);
  struct gpnn_standard standard = {0};
  assert_ok(gpnn_standard_learn(&standard, GPNN_STANDARD_NONE, 0, N, D, NULL, x, y, &err));
  assert_int_equal(standard.n_out, D);
  assert_null(standard.weight);
  gpnn_standard_apply(&standard, x, z);
  assert_memory_equal(z, x, sizeof z);
  assert_true(standard.y_sd > 2 && standard.y_sd < 4);
  gpnn_standard_release(&standard);
}

static void hopeless_tables_are_refused(void **state)
{
  (void)state;
  const double x[] = {1, 2, 3}, same[] = {4, 4, 4};
  struct gpnn_standard standard = {0};
  assert_fails(gpnn_standard_learn(&standard, GPNN_STANDARD_SCALE, 0, 1, 1, NULL, x, x, &err),
               GPNN_EDATA, "at least 2");
  assert_fails(gpnn_standard_learn(&standard, GPNN_STANDARD_SCALE, 0, 3, 1, NULL, x, same, &err),
               GPNN_EDATA, "the target does not vary");
  assert_fails(gpnn_standard_learn(&standard, GPNN_STANDARD_SCALE, 0, 3, 1, NULL, same, x, &err),
               GPNN_EDATA, "no input varies");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_read_back),
      cmocka_unit_test(scaled_columns_have_variance_one_over_d),
      cmocka_unit_test(whitened_columns_have_covariance_one_over_d),
      cmocka_unit_test(whitening_damps_by_eps),
      cmocka_unit_test(whitening_drops_dependent_directions),
      cmocka_unit_test(whitening_keeps_columns_of_very_different_units),
      cmocka_unit_test(constant_columns_are_dropped_under_scale),
      cmocka_unit_test(rounding_noise_is_no_variation),
      cmocka_unit_test(extreme_magnitudes_survive_scaling),
      cmocka_unit_test(none_leaves_inputs_and_standardises_the_target),
      cmocka_unit_test(hopeless_tables_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
