/*
 * diag: the bound against the textbook formula of a variational Gaussian process, its derivatives
 * against differences, and what holds of it whatever the numbers.
 */
#include "linalg/blas_threads.h"

#include "diag.h"

static const char *const kernels[] = {"rbf", "exp", "matern32", "matern52", "matern:1.8"};

enum { N_KERNELS = sizeof kernels / sizeof *kernels };

static double bound_of(const struct diag_case *c, const struct gpnn_diag_batch *batch,
                       double *gradient)
{
  struct gpnn_diag *diag = NULL;
  struct gpnn_diag_batch all = gpnn_diag_all(&c->problem);
  double bound = NAN;
  assert_ok(gpnn_diag_new(&diag, &c->problem, &err));
  assert_ok(gpnn_diag_bound(diag, c->point, batch == NULL ? &all : batch, &bound, gradient, &err));
  gpnn_diag_free(diag);
  return bound;
}

static void take_optimal_mean(struct diag_case *c, size_t most_rows, double *residual)
{
  struct gpnn_diag *diag = NULL;
  assert_ok(gpnn_diag_new(&diag, &c->problem, &err));
  assert_ok(gpnn_diag_optimal_mean(diag, c->point, most_rows, 1e-10, residual, &err));
  gpnn_diag_free(diag);
}

static void the_bound_is_that_of_its_distribution_of_inducing_values(void **state)
{
  (void)state;
  for (size_t k = 0; k < N_KERNELS; k++) {
    struct diag_case c = diag_case(kernels[k], 60, 12, 1);
    real *mean, *s;
    if (k % 2 == 1) diag_case_add_noise(&c);
    diag_moments(&c, &mean, &s);
    assert_close(bound_of(&c, NULL, NULL), (double)diag_uncollapsed(&c, mean, s), 1e-8);
    free(mean), free(s);
    diag_case_free(&c);
  }
}

static void with_all_rows_inducing_the_bound_is_the_likelihood(void **state)
{
  (void)state;
  struct diag_case c = diag_case("matern52", 40, 40, 2);
  for (size_t i = 0; i < 40; i++) c.point[40 + i] = c.point[c.size - 1];
  take_optimal_mean(&c, SIZE_MAX, NULL);
  assert_near(bound_of(&c, NULL, NULL), (double)diag_log_likelihood(&c), 1e-8);
  diag_case_free(&c);
}

static void the_bound_never_exceeds_the_likelihood(void **state)
{
  (void)state;
  struct diag_case c = diag_case("rbf", 50, 10, 3);
  struct gpnn_rng rng = seeded(4);
  double most = (double)diag_log_likelihood(&c);
  for (size_t draw = 0; draw < 30; draw++) {
    for (size_t i = 0; i < 10; i++) {
      c.point[i] = 0.3 * gpnn_rng_normal(&rng);
      c.point[10 + i] = gpnn_rng_normal(&rng);
    }
    assert_true(bound_of(&c, NULL, NULL) <= most);
  }
  diag_case_free(&c);
}

/* Differences of the bound of 'batch' in every coordinate. */
static void check_gradient(struct diag_case *c, const struct gpnn_diag_batch *batch)
{
  const double h = 1e-5;
  double *gradient = gpnn_alloc(c->size, 1, sizeof *gradient);
  bound_of(c, batch, gradient);
  for (size_t i = 0; i < c->size; i++) {
    double at = c->point[i];
    c->point[i] = at + h;
    double above = bound_of(c, batch, NULL);
    c->point[i] = at - h;
    double below = bound_of(c, batch, NULL);
    c->point[i] = at;
    assert_near(gradient[i], (above - below) / (2 * h), 1e-4 + 1e-5 * fabs(gradient[i]));
  }
  free(gradient);
}

static void derivatives_are_those_of_the_bound(void **state)
{
  (void)state;
  const uint64_t row[] = {7, 0, 31, 12, 59};
  const struct gpnn_diag_batch batch = {5, row, 12};
  for (size_t k = 0; k < N_KERNELS; k++) {
    struct diag_case c = diag_case(kernels[k], 60, 12, 5);
    c.z[0] += 0.1; /* away from rows, and from kinks */
    check_gradient(&c, NULL);
    diag_case_add_noise(&c);
    check_gradient(&c, &batch);
    diag_case_free(&c);
  }
}

static void derivatives_of_more_rows_than_a_block_are_those_of_the_bound(void **state)
{
  (void)state;
  struct diag_case c = diag_case("rbf", 1100, 3, 6);
  check_gradient(&c, NULL);
  diag_case_free(&c);
}

static void the_optimal_mean_is_where_derivatives_vanish_whatever_rho(void **state)
{
  (void)state;
  for (size_t k = 0; k < N_KERNELS; k++) {
    struct diag_case c = diag_case(kernels[k], 60, 12, 7);
    double *gradient = gpnn_alloc(c.size, 1, sizeof *gradient);
    if (k % 2 == 1) diag_case_add_noise(&c);
    take_optimal_mean(&c, SIZE_MAX, NULL);
    for (int turn = 0; turn < 2; turn++) {
      bound_of(&c, NULL, gradient);
      for (size_t i = 0; i < 12; i++) assert_near(gradient[i], 0, 1e-7);
      for (size_t i = 0; i < 12; i++) c.point[12 + i] += 1;
    }
    free(gradient);
    diag_case_free(&c);
  }
}

static void conjugate_gradients_find_the_same_mean(void **state)
{
  (void)state;
  struct diag_case c = diag_case("matern52", 400, 12, 8),
                   direct = diag_case("matern52", 400, 12, 8);
  double residual = 1, none = 1;
  take_optimal_mean(&direct, SIZE_MAX, &none);
  take_optimal_mean(&c, 50, &residual);
  assert_true(none == 0 && residual <= 2e-10);
  for (size_t i = 0; i < 12; i++) assert_near(c.point[i], direct.point[i], 1e-7);
  diag_case_free(&c);
  diag_case_free(&direct);
}

/* S_opt^-1 = Kuu^-1 + Kuu^-1 Kuf Kfu Kuu^-1 / noise. */
static real *optimal_precision(const struct diag_case *c)
{
  size_t n = c->problem.n, m = c->problem.m;
  real *kuu = diag_kernel(c, m, c->z, m, c->z), *kfu = diag_kernel(c, n, c->x, m, c->z);
  real *precision = real_inverse(m, kuu, NULL), *a = real_times(n, m, m, kfu, precision);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++)
      for (size_t l = 0; l < m; l++)
        precision[j * m + l] += a[i * m + j] * a[i * m + l] / diag_noise(c, i);
  free(kuu), free(kfu), free(a);
  return precision;
}

static void what_rho_costs_is_a_divergence_from_the_optimal_covariance(void **state)
{
  (void)state;
  struct diag_case c = diag_case("rbf", 60, 12, 9);
  take_optimal_mean(&c, SIZE_MAX, NULL);
  real *precision = optimal_precision(&c), *mean, *s, logdet, logdet_s, trace = 0;
  diag_moments(&c, &mean, &s);
  real *ratio = real_times(12, 12, 12, precision, s);
  for (size_t i = 0; i < 12; i++) trace += ratio[i * 12 + i];
  free(real_inverse(12, precision, &logdet)), free(real_inverse(12, s, &logdet_s));
  double divergence = (double)(trace - 12 - logdet - logdet_s) / 2;
  assert_true(divergence > 0);
  assert_near((double)diag_collapsed(&c) - bound_of(&c, NULL, NULL), divergence, 1e-6);
  free(precision), free(mean), free(s), free(ratio);
  diag_case_free(&c);
}

static void the_optimal_mean_predicts_as_that_of_any_covariance(void **state)
{
  (void)state;
  struct diag_case c = diag_case("rbf", 60, 12, 10);
  take_optimal_mean(&c, SIZE_MAX, NULL);
  real *kuu = diag_kernel(&c, 12, c.z, 12, c.z), *kfu = diag_kernel(&c, 60, c.x, 12, c.z);
  real *inverse = real_inverse(12, kuu, NULL), *v = real_new(60, 1), *q = real_new(60, 60);
  for (size_t i = 0; i < 60; i++)
    for (size_t j = 0; j < 60; j++)
      q[i * 60 + j] = real_quadratic(12, kfu + i * 12, inverse, kfu + j * 12) +
                      (i == j ? diag_noise(&c, i) : 0);
  real *solver = real_inverse(60, q, NULL);
  for (size_t i = 0; i < 60; i++)
    for (size_t j = 0; j < 60; j++) v[i] += solver[i * 60 + j] * c.y[j];
  for (size_t i = 0; i < 60; i++) {
    real wanted = 0, got = 0;
    for (size_t j = 0; j < 60; j++)
      wanted += (q[i * 60 + j] - (i == j ? diag_noise(&c, i) : 0)) * v[j];
    for (size_t j = 0; j < 12; j++) got += kfu[i * 12 + j] * c.point[j];
    assert_near((double)got, (double)wanted, 1e-6);
  }
  free(kuu), free(kfu), free(inverse), free(v), free(q), free(solver);
  diag_case_free(&c);
}

static void results_do_not_depend_on_threads(void **state)
{
  (void)state;
  struct diag_case c = diag_case("matern32", 2500, 150, 11);
  double *one = gpnn_alloc(c.size, 1, sizeof *one), *four = gpnn_alloc(c.size, 1, sizeof *four);
  double bound = bound_of(&c, NULL, one);
  c.problem.threads = 4;
  assert_true(bound == bound_of(&c, NULL, four));
  assert_memory_equal(one, four, c.size * sizeof *one);
  take_optimal_mean(&c, 300, NULL);
  memcpy(four, c.point, c.size * sizeof *four);
  c.problem.threads = 1;
  take_optimal_mean(&c, 300, NULL);
  assert_memory_equal(c.point, four, c.size * sizeof *four);
  free(one), free(four);
  diag_case_free(&c);
}

static void inducing_inputs_in_one_place_are_no_obstacle(void **state)
{
  (void)state;
  struct diag_case c = diag_case("rbf", 30, 8, 12);
  double *gradient = gpnn_alloc(c.size, 1, sizeof *gradient);
  for (size_t i = 0; i < 8 * DIAG_D; i++) c.z[i] = 0.5;
  assert_true(isfinite(bound_of(&c, NULL, gradient)));
  for (size_t i = 0; i < c.size; i++) assert_true(isfinite(gradient[i]));
  take_optimal_mean(&c, SIZE_MAX, NULL);
  for (size_t i = 0; i < 8; i++) assert_true(isfinite(c.point[i]));
  free(gradient);
  diag_case_free(&c);
}

static void without_rows_the_best_bound_is_nothing(void **state)
{
  (void)state;
  struct diag_case c = diag_case("rbf", 20, 5, 13);
  c.problem.n = 0;
  take_optimal_mean(&c, SIZE_MAX, NULL);
  for (size_t i = 0; i < 5; i++) {
    assert_true(c.point[i] == 0);
    c.point[5 + i] = 30; /* q(u) is the prior */
  }
  assert_near(bound_of(&c, NULL, NULL), 0, 1e-9);
  diag_case_free(&c);
}

static void what_is_not_finite_is_said(void **state)
{
  (void)state;
  struct diag_case c = diag_case("rbf", 20, 5, 14);
  struct gpnn_diag_batch all = gpnn_diag_all(&c.problem);
  struct gpnn_diag *diag = NULL;
  double bound;
  assert_ok(gpnn_diag_new(&diag, &c.problem, &err));
  c.point[c.size - 1] = -2000;
  assert_fails(gpnn_diag_bound(diag, c.point, &all, &bound, NULL, &err), GPNN_ENUMERIC,
               "not finite");
  gpnn_diag_free(diag);
  gpnn_diag_free(NULL);
  diag_case_free(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_bound_is_that_of_its_distribution_of_inducing_values),
      cmocka_unit_test(with_all_rows_inducing_the_bound_is_the_likelihood),
      cmocka_unit_test(the_bound_never_exceeds_the_likelihood),
      cmocka_unit_test(derivatives_are_those_of_the_bound),
      cmocka_unit_test(derivatives_of_more_rows_than_a_block_are_those_of_the_bound),
      cmocka_unit_test(the_optimal_mean_is_where_derivatives_vanish_whatever_rho),
      cmocka_unit_test(conjugate_gradients_find_the_same_mean),
      cmocka_unit_test(what_rho_costs_is_a_divergence_from_the_optimal_covariance),
      cmocka_unit_test(the_optimal_mean_predicts_as_that_of_any_covariance),
      cmocka_unit_test(results_do_not_depend_on_threads),
      cmocka_unit_test(inducing_inputs_in_one_place_are_no_obstacle),
      cmocka_unit_test(without_rows_the_best_bound_is_nothing),
      cmocka_unit_test(what_is_not_finite_is_said),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
