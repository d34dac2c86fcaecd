#include "covariance.h"

#include "dense.h"

enum { N = 9, D = 2, STRIDE = 12 };

/* Points one after another in 'rows' (N by D), one column after another in 'columns'. */
static void make_points(double *rows, double *columns)
{
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < D; j++)
      rows[i * D + j] = columns[j * STRIDE + i] = sin((double)(3 * i + j));
}

static void copies_of_an_isotropic_covariance_are_independent(void **state)
{
  (void)state;
  struct gpnn_covariance one = covariance_of("matern:1.3", 0.7, 2, 0.1), other = one;
  other.isotropic = 3;
  assert_int_equal(one.n_lengthscales, 1);
  assert_true(gpnn_covariance_lengthscales(&one) == &one.isotropic);
  assert_true(*gpnn_covariance_lengthscales(&one) == 0.7);
  assert_true(*gpnn_covariance_lengthscales(&other) == 3);
  assert_true(one.smoothness == 1.3 && one.kernelscale == 2 && one.noise == 0.1);
  assert_true(one.n_rotation == 0 && one.rotation == NULL);
}

static void a_single_lengthscale_is_repeated(void **state)
{
  (void)state;
  double lengthscale[] = {4, 5}, out[2];
  struct gpnn_covariance array = {.n_lengthscales = 1, .lengthscale = lengthscale};
  struct gpnn_covariance own = covariance_of("rbf", 6, 1, 0);
  gpnn_covariance_expand(&array, 2, (const uint32_t[]){0, 1}, out);
  assert_true(out[0] == 4 && out[1] == 4);
  gpnn_covariance_expand(&own, 2, NULL, out);
  assert_true(out[0] == 6 && out[1] == 6);
  gpnn_covariance_expand(&own, 0, NULL, NULL);
}

static void inputs_of_a_group_get_its_lengthscale(void **state)
{
  (void)state;
  double lengthscale[] = {4, 5, 6}, out[5];
  struct gpnn_covariance c = {.n_lengthscales = 3, .lengthscale = lengthscale};
  gpnn_covariance_expand(&c, 5, (const uint32_t[]){1, 1, 0, 2, 1}, out);
  assert_memory_equal(out, ((double[]){5, 5, 4, 6, 5}), sizeof out);
}

static void vectors_are_those_of_the_dense_formula(void **state)
{
  (void)state;
  static const char *const kernels[] = {"rbf", "exp", "matern32", "matern52", "matern:1.3"};
  const double one = 1, point[D] = {0.3, -0.2};
  double rows[N * D], columns[D * STRIDE], k[N];
  make_points(rows, columns);
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
    struct gpnn_covariance c = covariance_of(kernels[i], 1, 1.7, 0.5);
    gpnn_covariance_vector(&c, N, D, STRIDE, columns, point, k);
    for (size_t a = 0; a < N; a++)
      assert_near(k[a], 1.7 * (double)dense_kernel(kernels[i], D, rows + a * D, point, 1, &one),
                  1e-14);
  }
}

static void matrices_have_the_noise_on_the_diagonal(void **state)
{
  (void)state;
  const double one = 1;
  double rows[N * D], columns[D * STRIDE], row_noise[N], point[D], with[N * N], without[N * N];
  struct gpnn_covariance c = covariance_of("matern52", 1, 1.7, 0.5);
  make_points(rows, columns);
  for (size_t a = 0; a < N; a++) row_noise[a] = 0.1 * (double)a;
  gpnn_covariance_matrix(&c, N, D, STRIDE, columns, NULL, point, without);
  gpnn_covariance_matrix(&c, N, D, STRIDE, columns, row_noise, point, with);
  for (size_t b = 0; b < N; b++)
    for (size_t a = b; a < N; a++) {
      double expected =
          1.7 * (double)dense_kernel("matern52", D, rows + a * D, rows + b * D, 1, &one);
      assert_near(without[b * N + a], expected + (a == b ? 0.5 : 0), 1e-14);
      assert_near(with[b * N + a], expected + (a == b ? 0.5 + row_noise[a] : 0), 1e-14);
    }
  gpnn_covariance_matrix(&c, 0, D, STRIDE, columns, row_noise, point, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_of_an_isotropic_covariance_are_independent),
      cmocka_unit_test(a_single_lengthscale_is_repeated),
      cmocka_unit_test(inputs_of_a_group_get_its_lengthscale),
      cmocka_unit_test(vectors_are_those_of_the_dense_formula),
      cmocka_unit_test(matrices_have_the_noise_on_the_diagonal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
