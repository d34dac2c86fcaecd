/* Draws of Gaussian processes: their covariance, and that they do not depend on how they are
 * made. */
#include "base/rng.h"
#include "base/threads.h"
#include "covariance.h"
#include "linalg/blas_threads.h"
#include "random.h"
#include "simulate/process.h"
#include "unit.h"

static struct gpnn_covariance process_of(const char *kernel, double lengthscale, double kernelscale)
{
  return covariance_of(kernel, lengthscale, kernelscale, 0);
}

/* c(r), by the closed forms. */
static double correlation(const char *kernel, double r)
{
  if (strcmp(kernel, "rbf") == 0) return exp(-r * r / 2);
  if (strcmp(kernel, "exp") == 0 || strcmp(kernel, "matern:0.5") == 0) return exp(-r);
  double s = sqrt(3) * r, t = sqrt(5) * r;
  if (strcmp(kernel, "matern32") == 0 || strcmp(kernel, "matern:1.5") == 0)
    return (1 + s) * exp(-s);
  assert_string_equal(kernel, "matern52");
  return (1 + t + t * t / 3) * exp(-t);
}

/* The draw is linear in the deviates: f = A z with A A' the covariance matrix. */
static void exact_draws_have_the_covariance(void **state)
{
  (void)state;
  static const char *const kernels[] = {"rbf", "exp", "matern32", "matern52", "matern:1.5"};
  enum { N = GPNN_PROCESS_TILE + 5, D = 2 };
  double *x = normal_rows(N, D, 3);
  double *a = calloc((size_t)N * N, sizeof *a);
  assert_non_null(a);
  for (size_t k = 0; k < 5; k++) {
    struct gpnn_covariance process = process_of(kernels[k], 0.4, 1.7);
    size_t n = k < 2 ? N : 20; /* more than a tile, or part of one */
    memset(a, 0, (size_t)N * N * sizeof *a);
    for (size_t i = 0; i < n; i++) {
      a[i * n + i] = 1; /* column i of A */
      assert_ok(gpnn_process_draw(&process, n, D, x, 1, 1, a + i * n, &err));
    }
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j <= i; j++) {
        double sum = 0;
        double r = hypot(x[i * D] - x[j * D], x[i * D + 1] - x[j * D + 1]) / 0.4;
        for (size_t c = 0; c < n; c++) sum += a[c * n + i] * a[c * n + j];
        /* sqrt(1e-10) where the points before determine one */
        assert_near(sum, 1.7 * correlation(kernels[k], r), 2e-5);
        if (k != 0) assert_near(sum, 1.7 * correlation(kernels[k], r), 1e-12);
      }
  }
  free(a);
  free(x);
}

static void longer_draws_begin_with_shorter_ones_and_threads_do_not_matter(void **state)
{
  (void)state;
  static const char *const kernels[] = {"rbf", "matern:0.8"};
  enum { LONG = 5 * GPNN_PROCESS_TILE, SHORT = 2 * GPNN_PROCESS_TILE, D = 3 };
  double *x = normal_rows(LONG, D, 5);
  for (size_t k = 0; k < 2; k++) {
    struct gpnn_covariance process = process_of(kernels[k], 1.5, 1);
    double *f = normal_rows(LONG, 1, 6);
    assert_ok(gpnn_process_draw(&process, LONG, D, x, 1, 1, f, &err));
    for (int threads = 1; threads <= 3; threads++) {
      double *other = normal_rows(LONG, 1, 6), *begin = normal_rows(SHORT, 1, 6);
      assert_ok(gpnn_process_draw(&process, LONG, D, x, threads, 1, other, &err));
      assert_memory_equal(f, other, LONG * sizeof *f);
      assert_ok(gpnn_process_draw(&process, SHORT, D, x, threads, 1, begin, &err));
      assert_memory_equal(f, begin, SHORT * sizeof *f);
      free(other);
      free(begin);
    }
    free(f);
  }
  free(x);
}

/* Also where points determine one another. */
static void draws_made_together_are_those_made_alone(void **state)
{
  (void)state;
  enum { N = GPNN_PROCESS_TILE + 40, D = 1, DRAWS = 3 };
  struct gpnn_covariance process = process_of("rbf", 1, 2);
  double *x = normal_rows(N, D, 7), *together = normal_rows(DRAWS * N, 1, 8);
  double *alone = normal_rows(DRAWS * N, 1, 8);
  assert_ok(gpnn_process_draw(&process, N, D, x, 2, DRAWS, together, &err));
  for (size_t k = 0; k < DRAWS; k++)
    assert_ok(gpnn_process_draw(&process, N, D, x, 1, 1, alone + k * N, &err));
  assert_memory_equal(together, alone, DRAWS * N * sizeof *alone);
  free(x);
  free(together);
  free(alone);
}

/* Many points on a line, of which a few determine a smooth process: errors do not grow, and a point
 * that comes twice has one value. */
static void determined_points_follow_those_before(void **state)
{
  (void)state;
  enum { N = 1000 };
  struct gpnn_covariance process = process_of("rbf", 1, 1);
  double *x = malloc(N * sizeof *x), *f = normal_rows(N, 1, 9);
  assert_non_null(x);
  for (int i = 0; i < N; i++) x[i] = (i * 7 % (N / 2)) / (double)N;
  assert_ok(gpnn_process_draw(&process, N, 1, x, 2, 1, f, &err));
  for (int i = N / 2; i < N; i++) {
    assert_near(f[i], f[i - N / 2], 1e-4);
    assert_true(fabs(f[i]) < 6);
  }
  free(x);
  free(f);
}

static void a_draw_at_no_or_one_point(void **state)
{
  (void)state;
  struct gpnn_covariance process = process_of("exp", 2, 4);
  double x[1] = {3}, f[1] = {-1.5};
  assert_ok(gpnn_process_draw(&process, 0, 1, x, 1, 1, f, &err));
  assert_true(f[0] == -1.5);
  assert_ok(gpnn_process_draw(&process, 1, 1, x, 1, 1, f, &err));
  assert_close(f[0], -3, 1e-15);
}

/* Over many draws, covariances at several distances are those of the kernel. */
static void features_have_the_covariance_on_average(void **state)
{
  (void)state;
  static const char *const kernels[] = {"rbf", "exp", "matern32", "matern52", "matern:0.5"};
  enum { DRAWS = 1500, D = 3, PLACES = 5 };
  const double steps[PLACES] = {0, 0.15, 0.5, 1.2, 4};
  double x[PLACES * D] = {0};
  for (size_t i = 0; i < PLACES; i++)
    for (size_t j = 0; j < D; j++) x[i * D + j] = 0.7 + steps[i] / sqrt(D);
  for (size_t k = 0; k < 5; k++) {
    struct gpnn_covariance process = process_of(kernels[k], 0.6, 1.3);
    double sums[PLACES] = {0}, squares[PLACES] = {0};
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
      struct gpnn_features *features = NULL;
      double f[PLACES];
      assert_ok(gpnn_features_new(&features, &process, 10, D, seed, &err));
      gpnn_features_values(features, PLACES, x, f);
      gpnn_features_free(features);
      for (size_t i = 0; i < PLACES; i++) {
        sums[i] += f[0] * f[i];
        squares[i] += f[0] * f[i] * f[0] * f[i];
      }
    }
    for (size_t i = 0; i < PLACES; i++) {
      double mean = sums[i] / DRAWS, variance = squares[i] / DRAWS - mean * mean;
      assert_near(mean, 1.3 * correlation(kernels[k], steps[i] / 0.6), 4 * sqrt(variance / DRAWS));
    }
  }
}

/* A place has one value, whatever places come with it. */
static void features_are_a_function(void **state)
{
  (void)state;
  enum { N = 50, D = 4 };
  struct gpnn_covariance process = process_of("matern:0.01", 1, 1); /* of enormous frequencies */
  struct gpnn_features *features = NULL;
  double *x = normal_rows(N, D, 13), all[N], one = 0;
  assert_ok(gpnn_features_new(&features, &process, 700, D, 1, &err));
  gpnn_features_values(features, N, x, all);
  for (size_t i = 0; i < N; i++) {
    gpnn_features_values(features, 1, x + i * D, &one);
    assert_true(isfinite(one) && one == all[i]);
  }
  gpnn_features_free(features);
  gpnn_features_free(NULL);
  free(x);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_draws_have_the_covariance),
      cmocka_unit_test(longer_draws_begin_with_shorter_ones_and_threads_do_not_matter),
      cmocka_unit_test(draws_made_together_are_those_made_alone),
      cmocka_unit_test(determined_points_follow_those_before),
      cmocka_unit_test(a_draw_at_no_or_one_point),
      cmocka_unit_test(features_have_the_covariance_on_average),
      cmocka_unit_test(features_are_a_function),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
