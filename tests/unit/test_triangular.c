#include "linalg/factors/triangular.h"

#include "linalg/blas_threads.h"
#include "linalg/factors/cholesky.h"
#include "random.h"
#include "unit.h"

/* (R'R)_ij of 'rank' rows of m numbers. */
static double product(size_t rank, size_t m, const double *root, size_t i, size_t j)
{
  double sum = 0;
  for (size_t r = 0; r < rank; r++) sum += root[r * m + i] * root[r * m + j];
  return sum;
}

static void rotating_leaves_the_product_and_makes_zeros(void **state)
{
  enum { M = 7, MOST = 11 };
  static const size_t ranks[] = {0, 1, 4, M, MOST};
  (void)state;
  for (size_t t = 0; t < sizeof ranks / sizeof *ranks; t++) {
    double *before = normal_rows(MOST, M, 3), root[MOST * M], scratch[M];
    size_t rank = ranks[t];
    memcpy(root, before, sizeof root);
    assert_ok(gpnn_triangular_rotate(M, &rank, root, scratch, &err));
    assert_int_equal(rank, ranks[t] < M ? ranks[t] : M);
    for (size_t i = 0; i < M; i++)
      for (size_t j = 0; j < M; j++)
        assert_near(product(rank, M, root, i, j), product(ranks[t], M, before, i, j), 1e-12);
    for (size_t r = 0; r < rank; r++)
      for (size_t j = 0; j < r; j++) assert_true(root[r * M + j] == 0);
    free(before);
  }
}

static void refill(void *context, double *k)
{
  memcpy(k, context, 16 * sizeof *k);
}

static void the_inverse_of_a_factor_is_a_root_of_the_inverse(void **state)
{
  enum { N = 4 };
  double k[N * N], factor[N * N], jitter;
  double *rows = normal_rows(2 * N, N, 5);
  (void)state;
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) k[i * N + j] = product(2 * N, N, rows, i, j);
  memcpy(factor, k, sizeof k);
  assert_ok(gpnn_cholesky_factor(N, factor, NULL, 1, refill, k, &jitter, &err));
  gpnn_triangular_invert(N, factor);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      double unit = 0;
      for (size_t l = 0; l < N; l++) unit += k[i * N + l] * product(N, N, factor, l, j);
      assert_near(unit, i == j, 1e-12);
      if (j > i) assert_true(factor[i * N + j] == 0);
    }
  gpnn_triangular_invert(0, NULL);
  free(rows);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rotating_leaves_the_product_and_makes_zeros),
      cmocka_unit_test(the_inverse_of_a_factor_is_a_root_of_the_inverse),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
