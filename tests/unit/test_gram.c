#include "dense.h"
#include "random.h"
#include "unit.h"

#include "kernel/covariance.h"

enum { N = 70, D = 3 };

static struct gpnn_covariance covariance_of(const char *kernel, double *lengthscale, size_t n)
{
  return (struct gpnn_covariance){.kernel = gpnn_kernel_by_name(kernel),
                                  .n_lengthscales = n,
                                  .lengthscale = lengthscale,
                                  .kernelscale = 1.7,
                                  .noise = 99};
}

static void covariances_are_those_of_the_kernel_with_the_diagonal_added(void **state)
{
  (void)state;
  static const uint32_t group[D] = {0, 1, 2};
  double lengthscale[D] = {0.5, 1, 3}, diagonal[N], k[N * N], threaded[N * N];
  double *x = normal_rows(N, D, 1);
  for (size_t i = 0; i < N; i++) diagonal[i] = 0.1 * (double)i;
  for (size_t ard = 0; ard < 2; ard++)
    for (const char *const *name = (const char *const[]){"rbf", "matern32", NULL}; *name; name++) {
      const struct gpnn_covariance c = covariance_of(*name, lengthscale, ard ? D : 1);
      assert_ok(gpnn_gram(&c, N, D, group, x, diagonal, 1, k, &err));
      assert_ok(gpnn_gram(&c, N, D, group, x, diagonal, 3, threaded, &err));
      assert_memory_equal(k, threaded, sizeof k);
      for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
          long double one = dense_kernel(*name, D, x + i * D, x + j * D, ard ? D : 1, lengthscale);
          assert_near(k[i * N + j], 1.7 * (double)one + (i == j ? diagonal[i] : 0), 1e-13);
          assert_true(k[i * N + j] == k[j * N + i]);
        }
    }
  free(x);
}

static void a_rotation_comes_before_the_lengthscales(void **state)
{
  (void)state;
  static const uint32_t group[D] = {0, 1, 2};
  double lengthscale[D] = {0.5, 1, 3}, k[N * N], of_rotated[N * N];
  double *x = normal_rows(N, D, 1), *map = normal_rows(D, D, 2), *z = normal_rows(N, D, 3);
  struct gpnn_covariance c = covariance_of("matern52", lengthscale, D);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < D; j++) {
      z[i * D + j] = 0;
      for (size_t l = 0; l < D; l++) z[i * D + j] += map[j * D + l] * x[i * D + l];
    }
  assert_ok(gpnn_gram(&c, N, D, group, z, NULL, 1, of_rotated, &err));
  c.rotation = map;
  c.n_rotation = D * D;
  assert_ok(gpnn_gram(&c, N, D, group, x, NULL, 1, k, &err));
  for (size_t i = 0; i < N * N; i++) assert_near(k[i], of_rotated[i], 1e-12);
  free(x);
  free(map);
  free(z);
}

static void no_points_and_no_inputs_are_nothing(void **state)
{
  (void)state;
  double lengthscale[1] = {1}, k[4] = {0};
  struct gpnn_covariance c = covariance_of("exp", lengthscale, 1);
  assert_ok(gpnn_gram(&c, 0, 3, NULL, k, NULL, 2, NULL, &err));
  assert_ok(gpnn_gram(&c, 2, 0, NULL, NULL, NULL, 2, k, &err));
  for (size_t i = 0; i < 4; i++) assert_true(k[i] == 1.7);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(covariances_are_those_of_the_kernel_with_the_diagonal_added),
      cmocka_unit_test(a_rotation_comes_before_the_lengthscales),
      cmocka_unit_test(no_points_and_no_inputs_are_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
