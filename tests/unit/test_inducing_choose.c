/* Inducing points: where they come from, and that they are different. */
#include "models/inducing/inducing.h"

#include "dense.h"
#include "random.h"
#include "unit.h"

#include "linalg/blas_threads.h"

static const enum gpnn_inducing_how ways[] = {GPNN_INDUCING_KMEANS, GPNN_INDUCING_GREEDY,
                                              GPNN_INDUCING_SUBSET};
enum { WAYS = sizeof ways / sizeof *ways };

static const uint32_t groups[] = {0, 1, 2};

/* Rows of normal deviates. */
static struct gpnn_dataset view_of(size_t n, size_t d, const double *x)
{
  return (struct gpnn_dataset){.n = n, .d = d, .n_groups = d, .group = groups, .x = x};
}

static struct gpnn_covariance covariance_of(double lengthscale)
{
  return gpnn_covariance_isotropic(gpnn_kernel_by_name("rbf"), 0, lengthscale, 1, 0.1);
}

static size_t choose(enum gpnn_inducing_how how, const struct gpnn_dataset *view,
                     double lengthscale, size_t m, uint64_t seed, double *z)
{
  const struct gpnn_covariance covariance = covariance_of(lengthscale);
  size_t n = 0;
  assert_ok(gpnn_inducing_choose(how, view, &covariance, m, seed, 2, z, &n, &err));
  return n;
}

static bool equal(size_t d, const double *a, const double *b)
{
  bool same = true;
  for (size_t l = 0; l < d; l++) same = same && a[l] == b[l];
  return same;
}

static bool is_row(const struct gpnn_dataset *view, const double *z)
{
  for (size_t i = 0; i < view->n; i++)
    if (equal(view->d, view->x + i * view->d, z)) return true;
  return false;
}

static void assert_distinct(size_t n, size_t d, const double *z)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++) assert_false(equal(d, z + i * d, z + j * d));
}

/* The mean squared distance of rows to their nearest point. */
static double distortion(const struct gpnn_dataset *view, size_t m, const double *z)
{
  double sum = 0;
  for (size_t i = 0; i < view->n; i++) {
    double least = INFINITY;
    for (size_t j = 0; j < m; j++) {
      double r2 = 0;
      for (size_t l = 0; l < view->d; l++)
        r2 += pow(view->x[i * view->d + l] - z[j * view->d + l], 2);
      least = fmin(least, r2);
    }
    sum += least;
  }
  return sum / (double)view->n;
}

static void points_are_distinct_and_those_of_rows_are_rows(void **state)
{
  (void)state;
  double *x = normal_rows(700, 3, 1);
  struct gpnn_dataset view = view_of(700, 3, x);
  double z[60 * 3];
  for (size_t w = 0; w < WAYS; w++) {
    assert_int_equal(choose(ways[w], &view, 0.5, 60, 3, z), 60);
    assert_distinct(60, 3, z);
    for (size_t j = 0; j < 60 && ways[w] != GPNN_INDUCING_KMEANS; j++)
      assert_true(is_row(&view, z + j * 3));
  }
  free(x);
}

/* Lloyd's steps never make the distortion worse, and k-means++ alone is better than chance. */
static void means_of_clusters_are_nearer_to_rows_than_random_rows(void **state)
{
  (void)state;
  double *x = normal_rows(2000, 3, 4);
  struct gpnn_dataset view = view_of(2000, 3, x);
  double means[40 * 3], random[40 * 3];
  for (uint64_t seed = 1; seed <= 5; seed++) {
    choose(GPNN_INDUCING_KMEANS, &view, 1, 40, seed, means);
    choose(GPNN_INDUCING_SUBSET, &view, 1, 40, seed, random);
    assert_true(distortion(&view, 40, means) < 0.8 * distortion(&view, 40, random));
  }
  free(x);
}

/* Three clusters far apart have a point each, at their means. */
static void clusters_far_apart_are_found(void **state)
{
  (void)state;
  double *x = normal_rows(300, 2, 5), mean[3][2] = {{0}}, z[6];
  struct gpnn_dataset view = view_of(300, 2, x);
  for (size_t i = 0; i < 300; i++)
    for (size_t l = 0; l < 2; l++) {
      x[i * 2 + l] = 0.1 * x[i * 2 + l] + (double)(i % 3) * (l == 0 ? 50 : -20);
      mean[i % 3][l] += x[i * 2 + l] / 100;
    }
  assert_int_equal(choose(GPNN_INDUCING_KMEANS, &view, 1, 3, 9, z), 3);
  for (size_t c = 0; c < 3; c++) {
    double least = INFINITY;
    for (size_t j = 0; j < 3; j++)
      least = fmin(least, hypot(z[2 * j] - mean[c][0], z[2 * j + 1] - mean[c][1]));
    assert_near(least, 0, 1e-12);
  }
  free(x);
}

/* With a lengthscale of nothing to speak of for the other, only one input decides. */
static void distances_are_in_lengthscales(void **state)
{
  (void)state;
  double *x = normal_rows(400, 2, 6), lengthscale[] = {1e-3, 1e3}, z[4];
  struct gpnn_dataset view = view_of(400, 2, x);
  struct gpnn_covariance covariance = covariance_of(1);
  size_t n;
  covariance.n_lengthscales = 2;
  covariance.lengthscale = lengthscale;
  for (size_t i = 0; i < 400; i++) x[2 * i] = i % 2 == 0 ? -1 : 1;
  assert_ok(gpnn_inducing_choose(GPNN_INDUCING_KMEANS, &view, &covariance, 2, 1, 1, z, &n, &err));
  assert_int_equal(n, 2);
  assert_near(fabs(z[0]), 1, 0);
  assert_near(z[0] + z[2], 0, 0);
  free(x);
}

/* Variance of row i given the first k points, times the determinant that the points already have:
 * each pivot of the textbook Cholesky factor of the points is the largest there could have been. */
static double variance_given(const double *x, size_t k, const double *z, size_t d,
                             double lengthscale)
{
  long double a[30 * 30], b[30], c[30], left = 1;
  for (size_t i = 0; i < k; i++) {
    for (size_t j = 0; j < k; j++)
      a[i * k + j] = dense_kernel("rbf", d, z + i * d, z + j * d, 1, &lengthscale);
    b[i] = c[i] = dense_kernel("rbf", d, z + i * d, x, 1, &lengthscale);
  }
  long double second[30] = {0};
  if (k > 0) dense_solve(k, a, b, second);
  for (size_t i = 0; i < k; i++) left -= b[i] * c[i];
  return (double)left;
}

static void greedy_points_are_where_variance_is_largest(void **state)
{
  (void)state;
  double *x = normal_rows(80, 2, 7);
  struct gpnn_dataset view = view_of(80, 2, x);
  double z[12 * 2];
  assert_int_equal(choose(GPNN_INDUCING_GREEDY, &view, 0.8, 12, 1, z), 12);
  for (size_t k = 1; k < 12; k++) {
    double taken = variance_given(z + k * 2, k, z, 2, 0.8);
    for (size_t i = 0; i < view.n; i++)
      assert_true(variance_given(view.x + i * 2, k, z, 2, 0.8) < taken + 1e-9);
  }
  free(x);
}

/* Where the kernel is so smooth that a few points explain everything, the rest are random rows. */
static void greedy_points_are_filled_up(void **state)
{
  (void)state;
  double *x = normal_rows(200, 1, 8);
  struct gpnn_dataset view = view_of(200, 1, x);
  double z[100];
  assert_int_equal(choose(GPNN_INDUCING_GREEDY, &view, 100, 100, 1, z), 100);
  assert_distinct(100, 1, z);
  free(x);
}

static void equal_rows_give_one_point(void **state)
{
  (void)state;
  double *x = normal_rows(90, 2, 9), z[50 * 2];
  struct gpnn_dataset view = view_of(90, 2, x);
  x[0] = 0.0;
  for (size_t i = 7; i < 90; i++) memcpy(x + i * 2, x + i % 7 * 2, 2 * sizeof *x);
  x[14] = -0.0; /* row 7 is row 0 all the same */
  for (size_t w = 0; w < WAYS; w++) {
    assert_int_equal(choose(ways[w], &view, 0.5, 50, 1, z), 7);
    assert_distinct(7, 2, z);
    assert_int_equal(choose(ways[w], &view, 0.5, 3, 1, z), 3);
  }
  free(x);
}

static void as_many_points_as_rows_are_the_rows(void **state)
{
  (void)state;
  double *x = normal_rows(20, 3, 10);
  struct gpnn_dataset view = view_of(20, 3, x);
  double z[25 * 3];
  for (size_t w = 0; w < WAYS; w++) {
    assert_int_equal(choose(ways[w], &view, 1, 25, 1, z), 20);
    assert_distinct(20, 3, z);
    for (size_t j = 0; j < 20; j++) assert_true(is_row(&view, z + j * 3));
  }
  free(x);
}

static void wild_inputs_do_no_harm(void **state)
{
  (void)state;
  double *x = normal_rows(50, 2, 11), z[10 * 2];
  struct gpnn_dataset view = view_of(50, 2, x);
  x[3] = 1e300;
  x[4] = -1e300;
  x[6] = 1.7e308;
  x[9] = -1.7e308;
  for (size_t w = 0; w < WAYS; w++) {
    assert_int_equal(choose(ways[w], &view, 1, 10, 1, z), 10);
    for (size_t j = 0; j < 20; j++) assert_true(isfinite(z[j]));
  }
  free(x);
}

static void the_seed_determines_points_and_threads_do_not(void **state)
{
  (void)state;
  double *x = normal_rows(12000, 2, 12);
  struct gpnn_dataset view = view_of(12000, 2, x);
  const struct gpnn_covariance covariance = covariance_of(0.3);
  double one[30 * 2], four[30 * 2], other[30 * 2];
  size_t n;
  for (size_t w = 0; w < WAYS; w++) {
    assert_ok(gpnn_inducing_choose(ways[w], &view, &covariance, 30, 5, 1, one, &n, &err));
    assert_ok(gpnn_inducing_choose(ways[w], &view, &covariance, 30, 5, 4, four, &n, &err));
    assert_ok(gpnn_inducing_choose(ways[w], &view, &covariance, 30, 6, 4, other, &n, &err));
    assert_memory_equal(one, four, sizeof one);
    assert_memory_not_equal(one, other, sizeof one);
  }
  free(x);
}

static void without_rows_there_is_nothing_to_choose(void **state)
{
  (void)state;
  const struct gpnn_dataset view = {.d = 2, .group = groups};
  const struct gpnn_covariance covariance = covariance_of(1);
  double z[2];
  size_t n;
  assert_fails(gpnn_inducing_choose(GPNN_INDUCING_KMEANS, &view, &covariance, 1, 1, 1, z, &n, &err),
               GPNN_EDATA, "no rows");
}

static void the_first_of_equal_points_is_kept(void **state)
{
  (void)state;
  double z[] = {1, 2, 3, 4, 1, 2, 0.0, 5, 3, 4, -0.0, 5, 7, 8};
  const double kept[] = {1, 2, 3, 4, 0, 5, 7, 8};
  size_t n;
  assert_ok(gpnn_inducing_distinct(7, 2, z, &n, &err));
  assert_int_equal(n, 4);
  for (size_t i = 0; i < 8; i++) assert_near(z[i], kept[i], 0);
  assert_ok(gpnn_inducing_distinct(0, 2, z, &n, &err));
  assert_int_equal(n, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_are_distinct_and_those_of_rows_are_rows),
      cmocka_unit_test(means_of_clusters_are_nearer_to_rows_than_random_rows),
      cmocka_unit_test(clusters_far_apart_are_found),
      cmocka_unit_test(distances_are_in_lengthscales),
      cmocka_unit_test(greedy_points_are_where_variance_is_largest),
      cmocka_unit_test(greedy_points_are_filled_up),
      cmocka_unit_test(equal_rows_give_one_point),
      cmocka_unit_test(as_many_points_as_rows_are_the_rows),
      cmocka_unit_test(wild_inputs_do_no_harm),
      cmocka_unit_test(the_seed_determines_points_and_threads_do_not),
      cmocka_unit_test(without_rows_there_is_nothing_to_choose),
      cmocka_unit_test(the_first_of_equal_points_is_kept),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
