#include "unit.h"

#include <stdbool.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas_threads.h"
#include "linalg/factors/cholesky.h"

enum { N = 70 };

/* Scratch memory for a matrix of order n, or NULL to test LAPACK's part. */
static double *scratch(size_t n, bool wanted)
{
  double *work = wanted ? gpnn_alloc(gpnn_cholesky_work(n), 1, sizeof *work) : NULL;
  assert_true(!wanted || work != NULL);
  return work;
}

/* A well-conditioned covariance matrix; its upper triangle must stay untouched. */
static void covariance(void *context, double *k)
{
  double noise = *(const double *)context;
  for (size_t j = 0; j < N; j++)
    for (size_t i = 0; i < N; i++)
      k[j * N + i] =
          i < j ? 1e300 : exp(-0.05 * fabs((double)i - (double)j)) + (i == j ? noise : 0);
}

/* Rank one: singular, so that only jitter helps. */
static void ones(void *context, double *k)
{
  (void)context;
  for (size_t i = 0; i < 9; i++) k[i] = 1;
}

static void negative(void *context, double *k)
{
  (void)context;
  for (size_t i = 0; i < 4; i++) k[i] = i % 3 == 0 ? -1 : 0;
}

static void poisoned(void *context, double *k)
{
  for (size_t i = 0; i < 9; i++) k[i] = i % 4 == 0 ? 2 : 0.1;
  k[5] = *(const double *)context; /* row 2, column 1 */
}

static void never(void *context, double *k)
{
  (void)context;
  (void)k;
  fail_msg("refilled though the factorisation succeeded");
}

static double *factored(double noise, bool with_scratch)
{
  double jitter = -1, *k = gpnn_alloc(N, N, sizeof *k), *work = scratch(N, with_scratch);
  assert_non_null(k);
  covariance(&noise, k);
  assert_ok(gpnn_cholesky_factor(N, k, work, 1, never, NULL, &jitter, &err));
  assert_true(jitter == 0);
  free(work);
  return k;
}

static double entry(size_t i, size_t j, double noise)
{
  return exp(-0.05 * fabs((double)i - (double)j)) + (i == j ? noise : 0);
}

static void factor_times_its_transpose_is_the_matrix(void **state)
{
  (void)state;
  for (int with = 0; with < 2; with++) {
    double *l = factored(0.1, with);
    for (size_t i = 0; i < N; i++)
      for (size_t j = 0; j <= i; j++) {
        double sum = 0;
        for (size_t q = 0; q <= j; q++) sum += l[q * N + i] * l[q * N + j];
        assert_near(sum, entry(i, j, 0.1), 1e-13);
      }
    assert_true(l[5 * N + 4] == 1e300);
    free(l);
  }
}

static void solve_gives_what_the_matrix_maps_to_b(void **state)
{
  (void)state;
  double *l = factored(0.1, true), z[N];
  for (size_t i = 0; i < N; i++) z[i] = cos((double)i);
  gpnn_cholesky_solve(N, l, z);
  for (size_t i = 0; i < N; i++) {
    double sum = 0;
    for (size_t j = 0; j < N; j++) sum += entry(i, j, 0.1) * z[j];
    assert_near(sum, cos((double)i), 1e-12);
  }
  free(l);
}

static void forward_solves_one_right_hand_side_and_many_alike(void **state)
{
  (void)state;
  double *l = factored(0.1, true), b[3 * N], one[N];
  for (size_t i = 0; i < 3 * N; i++) b[i] = sin((double)i);
  memcpy(one, b + N, sizeof one);
  gpnn_cholesky_forward(N, l, 3, b);
  gpnn_cholesky_forward(N, l, 1, one);
  for (size_t i = 0; i < N; i++) {
    double sum = 0;
    for (size_t j = 0; j <= i; j++) sum += l[j * N + i] * b[N + j];
    assert_near(sum, sin((double)(N + i)), 1e-13);
    assert_near(one[i], b[N + i], 1e-13);
  }
  free(l);
}

static void inverse_times_the_matrix_is_the_identity(void **state)
{
  (void)state;
  for (int with = 0; with < 2; with++) {
    double *k = factored(0.1, with), *work = scratch(N, with);
    gpnn_cholesky_invert(N, k, work);
    for (size_t i = 0; i < N; i++)
      for (size_t j = 0; j < N; j++) {
        double sum = 0;
        for (size_t q = 0; q < N; q++)
          sum += (q <= i ? k[q * N + i] : k[i * N + q]) * entry(q, j, 0.1);
        assert_near(sum, i == j, 1e-12);
      }
    assert_true(k[5 * N + 4] == 1e300);
    free(k);
    free(work);
  }
}

static void logdet_of_a_known_matrix(void **state)
{
  (void)state;
  double k[] = {4, 2, 0, 10}, jitter; /* determinant 4*10 - 2*2 */
  assert_ok(gpnn_cholesky_factor(2, k, NULL, 1, never, NULL, &jitter, &err));
  assert_close(gpnn_cholesky_logdet(2, k), log(36), 1e-15);
}

static void singular_matrix_gets_the_least_jitter(void **state)
{
  (void)state;
  for (int with = 0; with < 2; with++) {
    double *work = scratch(3, with);
    double k[9], jitter = 0;
    ones(NULL, k);
    assert_ok(gpnn_cholesky_factor(3, k, work, 4, ones, NULL, &jitter, &err));
    assert_close(jitter, 4e-10, 1e-12);
    assert_close(k[0] * k[0], 1 + jitter, 1e-15);
    free(work);
  }
}

/* The covariance of points on a line under a smooth kernel, 'context' apart, the last two at the
 * same place: the last pivot is 0 but for rounding. */
enum { POINTS = 12 };

static void twins(void *context, double *k)
{
  double apart = *(const double *)context;
  for (size_t j = 0; j < POINTS; j++)
    for (size_t i = j; i < POINTS; i++) {
      double r = apart * ((double)(i == POINTS - 1 ? i - 1 : i) - (double)j);
      k[j * POINTS + i] = i == POINTS - 1 && j >= POINTS - 2 ? 1 : exp(-r * r / 2);
    }
}

static void a_pivot_of_rounding_errors_gets_jitter_whatever_its_sign(void **state)
{
  (void)state;
  for (int with = 0; with < 2; with++) {
    double *work = scratch(POINTS, with);
    for (double apart = 0.8; apart < 3; apart *= 1.01) {
      double k[POINTS * POINTS], jitter = 0;
      twins(&apart, k);
      assert_ok(gpnn_cholesky_factor(POINTS, k, work, 1, twins, &apart, &jitter, &err));
      assert_close(jitter, 1e-10, 1e-12);
    }
    free(work);
  }
}

/* A row with much noise does not make rows with little noise get jitter. */
static void pivots_are_judged_by_their_own_diagonal(void **state)
{
  (void)state;
  for (int with = 0; with < 2; with++) {
    double k[] = {1e30, 0, 0, 0, 1, 0.5, 0, 0.5, 0.251}, jitter = -1, *work = scratch(3, with);
    assert_ok(gpnn_cholesky_factor(3, k, work, 1, never, NULL, &jitter, &err));
    assert_true(jitter == 0);
    free(work);
  }
}

static void indefinite_matrix_is_refused_and_jitter_untouched(void **state)
{
  (void)state;
  for (int with = 0; with < 2; with++) {
    double *work = scratch(2, with);
    double k[4], jitter = -7;
    negative(NULL, k);
    assert_fails(gpnn_cholesky_factor(2, k, work, 1, negative, NULL, &jitter, &err), GPNN_ENUMERIC,
                 "not positive definite, even with 0.0001");
    assert_true(jitter == -7);
    free(work);
  }
}

static void values_that_are_not_finite_are_noticed(void **state)
{
  (void)state;
  for (int with = 0; with < 2; with++) {
    double *work = scratch(3, with);
    double values[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
      double k[9], jitter = -7;
      poisoned(&values[i], k);
      assert_fails(gpnn_cholesky_factor(3, k, work, 1, poisoned, &values[i], &jitter, &err),
                   GPNN_ENUMERIC, "not finite");
    }
    free(work);
  }
}

static void order_zero_does_nothing(void **state)
{
  (void)state;
  double k[1] = {5}, b[1] = {6}, jitter = -7;
  assert_ok(gpnn_cholesky_factor(0, k, b, 1, never, NULL, &jitter, &err));
  assert_true(jitter == 0);
  gpnn_cholesky_forward(0, k, 1, b);
  gpnn_cholesky_solve(0, k, b);
  gpnn_cholesky_invert(0, k, NULL);
  gpnn_cholesky_invert(0, k, b);
  assert_true(k[0] == 5 && b[0] == 6 && gpnn_cholesky_logdet(0, k) == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factor_times_its_transpose_is_the_matrix),
      cmocka_unit_test(solve_gives_what_the_matrix_maps_to_b),
      cmocka_unit_test(forward_solves_one_right_hand_side_and_many_alike),
      cmocka_unit_test(inverse_times_the_matrix_is_the_identity),
      cmocka_unit_test(logdet_of_a_known_matrix),
      cmocka_unit_test(singular_matrix_gets_the_least_jitter),
      cmocka_unit_test(a_pivot_of_rounding_errors_gets_jitter_whatever_its_sign),
      cmocka_unit_test(pivots_are_judged_by_their_own_diagonal),
      cmocka_unit_test(indefinite_matrix_is_refused_and_jitter_untouched),
      cmocka_unit_test(values_that_are_not_finite_are_noticed),
      cmocka_unit_test(order_zero_does_nothing),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
