#include "tucker_dense.h"

#include "linalg/blas_threads.h"
#include "models/tucker/tucker_private.h"

static const char *const kernels[] = {"rbf", "exp", "matern32", "matern52"};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

static struct gpnn_tucker_value value_of(const struct tucker_case *c, double *gradient)
{
  struct gpnn_tucker_bound *bound = NULL;
  struct gpnn_tucker_value value;
  assert_ok(gpnn_tucker_bound_new(&bound, &c->tucker, c->data.threads, &err));
  assert_ok(gpnn_tucker_bound_at(bound, &c->tucker, &c->data, &value, gradient, &err));
  gpnn_tucker_bound_free(bound);
  return value;
}

/* ---- contractions ------------------------------------------------------------------------- */

static void products_with_kronecker_products_are_those_of_explicit_ones(void **state)
{
  (void)state;
  const size_t rows[] = {3, 2, 5}, columns[] = {2, 4, 3};
  double *a[3], *x = normal_rows(24, 1, 4), y[60], work[60];
  for (size_t l = 0; l < 3; l++) a[l] = normal_rows(rows[l], columns[l], l + 1);
  for (size_t p = 1; p <= 3; p++) {
    size_t n = rows[0] * (p > 1 ? rows[1] : 1) * (p > 2 ? rows[2] : 1);
    size_t m = columns[0] * (p > 1 ? columns[1] : 1) * (p > 2 ? columns[2] : 1);
    const struct gpnn_tucker_shape shape = {.p = p};
    gpnn_kronecker_multiply(p, rows, columns, (const double *const *)a, x, y, work);
    for (size_t i = 0; i < n; i++) {
      double sum = 0, size = 0;
      for (size_t j = 0; j < m; j++) {
        double product = x[j];
        for (size_t l = 0; l < p; l++)
          product *= a[l][tucker_digit(&shape, rows, i, l) * columns[l] +
                          tucker_digit(&shape, columns, j, l)];
        sum += product;
        size += fabs(product);
      }
      assert_near(y[i], sum, 1e-12 * size);
    }
  }
  for (size_t l = 0; l < 3; l++) free(a[l]);
  free(x);
}

/* ---- the bound ---------------------------------------------------------------------------- */

static void the_bound_is_that_of_the_dense_formula(void **state)
{
  (void)state;
  for (size_t k = 0; k < N_KERNELS; k++) {
    struct tucker_case c = tucker_made(kernels[k], 1);
    double expected = (double)tucker_dense_bound(&c, kernels[k]);
    assert_close(value_of(&c, NULL).bound, expected, 1e-9);
    tucker_case_release(&c);
  }
}

static void the_bound_of_a_diagonal_core_is_that_of_the_dense_formula(void **state)
{
  (void)state;
  const struct gpnn_tucker_shape shape = {
      .p = 3, .m = {4, 5, 3}, .q = {4, 4, 4}, .is_diagonal = true};
  struct tucker_case c = tucker_made_of(&shape, "rbf", 40, 2);
  assert_int_equal(c.tucker.n_core, 4);
  assert_close(value_of(&c, NULL).bound, (double)tucker_dense_bound(&c, "rbf"), 1e-9);
  tucker_case_release(&c);
}

static void it_is_below_the_collapsed_bound_and_the_evidence(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct tucker_case c = tucker_made("rbf", 100 + seed);
    struct gpnn_rng rng = seeded(seed);
    for (size_t l = 0; l < 3; l++)
      c.tucker.numbers[c.tucker.lengthscale + l] += 0.3 * gpnn_rng_normal(&rng);
    c.tucker.jitter = seed == 0 ? 1e-2 : 1e-6;
    long double collapsed, evidence = tucker_dense_evidence(&c, "rbf", &collapsed);
    double bound = value_of(&c, NULL).bound;
    assert_true(bound <= (double)collapsed + 1e-8);
    assert_true(collapsed <= evidence + 1e-8L);
    tucker_case_release(&c);
  }
}

static void the_best_covariance_of_one_dimension_gives_the_evidence(void **state)
{
  (void)state;
  const struct gpnn_tucker_shape shape = {.p = 1, .m = {12}, .q = {12}};
  struct tucker_case c = tucker_made_of(&shape, "exp", 12, 5);
  struct gpnn_tucker *t = &c.tucker;
  long double *k = calloc(12 * 12, sizeof *k), *alpha = calloc(12, sizeof *alpha), collapsed;
  double scale = exp(t->numbers[t->kernelscale]), noise = exp(t->numbers[t->noise]);
  assert_true(k && alpha);
  t->jitter = 1e-9;
  memcpy(c.x, t->points[0], 12 * sizeof *c.x);
  for (size_t i = 0; i < 12 * 12; i++)
    k[i] = scale * tucker_correlation(&c, "exp", 0, c.x[i / 12], c.x[i % 12]) +
           (i % 13 == 0 ? noise : 0);
  for (size_t i = 0; i < 12; i++) {
    alpha[i] = c.y[i];
    t->numbers[t->rho[0] + i] = log(noise / scale);
    for (size_t j = 0; j < 12; j++) t->numbers[t->factor[0] + i * 12 + j] = i == j;
  }
  tucker_factor(12, k);
  tucker_forward(12, k, alpha);
  tucker_backward(12, k, alpha);
  for (size_t i = 0; i < 12; i++) t->numbers[i] = scale * (double)alpha[i];
  assert_near(value_of(&c, NULL).bound, (double)tucker_dense_evidence(&c, "exp", &collapsed), 1e-6);
  free(k);
  free(alpha);
  tucker_case_release(&c);
}

/* ---- derivatives -------------------------------------------------------------------------- */

static void check_derivatives(struct tucker_case *c)
{
  const double h = 1e-5;
  struct gpnn_tucker *t = &c->tucker;
  double *gradient = gpnn_alloc(t->n_numbers, 1, sizeof *gradient);
  assert_non_null(gradient);
  value_of(c, gradient);
  for (size_t i = 0; i < t->n_numbers; i++) {
    double kept = t->numbers[i];
    t->numbers[i] = kept + h;
    double above = value_of(c, NULL).bound;
    t->numbers[i] = kept - h;
    double below = value_of(c, NULL).bound, difference = (above - below) / (2 * h);
    t->numbers[i] = kept;
    if (!(fabs(gradient[i] - difference) <= 1e-4 + 2e-5 * fabs(difference)))
      fail_msg("number %zu: %.9g, not %.9g", i, gradient[i], difference);
  }
  free(gradient);
}

static void derivatives_are_those_of_central_differences(void **state)
{
  (void)state;
  for (size_t k = 0; k < N_KERNELS; k++) {
    struct tucker_case c = tucker_made(kernels[k], 3);
    check_derivatives(&c);
    tucker_case_release(&c);
  }
}

static void so_are_those_of_a_diagonal_core_and_of_the_priors_covariance(void **state)
{
  (void)state;
  const struct gpnn_tucker_shape shape = {
      .p = 3, .m = {4, 2, 3}, .q = {3, 3, 3}, .is_diagonal = true};
  struct tucker_case c = tucker_made_of(&shape, "matern52", 40, 3);
  check_derivatives(&c);
  c.tucker.has_covariance = false;
  check_derivatives(&c);
  assert_near(value_of(&c, NULL).shrinkage, 1, 0);
  tucker_case_release(&c);
}

/* The bound where the log lengthscale of dimension 'l' differs by 'step', and L'U_l stays. */
static double moved(struct tucker_case *c, size_t l, double step)
{
  struct gpnn_tucker *t = &c->tucker;
  struct gpnn_tucker_matrices matrices;
  size_t bytes = t->n_numbers * sizeof *t->numbers;
  double *kept = gpnn_alloc(1, bytes, 1);
  assert_non_null(kept);
  memcpy(kept, t->numbers, bytes);
  assert_ok(gpnn_tucker_matrices_new(&matrices, t, &err));
  for (int back = 0; back < 2; back++) {
    assert_ok(gpnn_tucker_matrices_set(&matrices, t, &err));
    gpnn_tucker_whiten(&matrices, t, l, back, t->numbers + t->factor[l]);
    if (!back) t->numbers[t->lengthscale + l] += step;
  }
  double bound = value_of(c, NULL).bound;
  memcpy(t->numbers, kept, bytes);
  gpnn_tucker_matrices_release(&matrices);
  free(kept);
  return bound;
}

static void lengthscales_are_tuned_until_the_bound_has_no_slope(void **state)
{
  (void)state;
  const uint32_t group[] = {0, 1, 2};
  const struct gpnn_tucker_groups groups = {3, group};
  size_t n_inside = 0;
  for (size_t k = 0; k < N_KERNELS; k++) {
    struct tucker_case c = tucker_made(kernels[k], 3);
    struct gpnn_tucker_bound *bound = NULL;
    c.tucker.has_covariance = false;
    assert_ok(gpnn_tucker_bound_new(&bound, &c.tucker, 1, &err));
    assert_ok(gpnn_tucker_tune(bound, &c.tucker, &c.data, &groups, GPNN_TUCKER_TUNED_LENGTHSCALES,
                               200, &err));
    for (size_t l = 0; l < 3; l++) {
      const double h = 1e-4, at = c.tucker.numbers[c.tucker.lengthscale + l];
      double lower, upper;
      gpnn_tucker_limit_lengthscale(&c.tucker, l, &lower, &upper);
      if (at - lower < 0.01 || upper - at < 0.01) continue;
      n_inside++;
      assert_near((moved(&c, l, h) - moved(&c, l, -h)) / (2 * h), 0, 0.02);
    }
    gpnn_tucker_bound_free(bound);
    tucker_case_release(&c);
  }
  assert_true(n_inside >= 6);
}

static void a_partition_into_batches_averages_to_all_rows(void **state)
{
  (void)state;
  struct tucker_case c = tucker_made("matern32", 4);
  size_t n = c.tucker.n_numbers;
  double *whole = gpnn_alloc(n, 3, sizeof *whole), bound = 0;
  assert_non_null(whole);
  double *sum = whole + n, *part = sum + n, expected = value_of(&c, whole).bound;
  uint64_t row[4];
  c.data.n = 4;
  c.data.row = row;
  c.data.weight = 10;
  for (uint64_t b = 0; b < 10; b++) {
    for (uint64_t i = 0; i < 4; i++) row[i] = (7 * (4 * b + i)) % 40;
    bound += value_of(&c, part).bound / 10;
    for (size_t i = 0; i < n; i++) sum[i] += part[i] / 10;
  }
  assert_close(bound, expected, 1e-10);
  for (size_t i = 0; i < n; i++) assert_near(sum[i], whole[i], 1e-9 * (1 + fabs(whole[i])));
  free(whole);
  tucker_case_release(&c);
}

static void threads_change_nothing(void **state)
{
  (void)state;
  const struct gpnn_tucker_shape shape = {.p = 3, .m = {4, 5, 3}, .q = {2, 3, 2}};
  struct tucker_case c = tucker_made_of(&shape, "rbf", 3000, 6);
  size_t n = c.tucker.n_numbers;
  double *one = gpnn_alloc(n, 2, sizeof *one);
  assert_non_null(one);
  double bound = value_of(&c, one).bound;
  c.data.threads = 3;
  double other = value_of(&c, one + n).bound;
  assert_memory_equal(&bound, &other, sizeof bound);
  assert_memory_equal(one, one + n, n * sizeof *one);
  free(one);
  tucker_case_release(&c);
}

/* ---- hazards ------------------------------------------------------------------------------ */

static void the_divergence_is_exact_where_the_covariance_is_nearly_the_priors(void **state)
{
  (void)state;
  double mean[8], rest[8];
  for (size_t l = 0; l < 8; l++) {
    mean[l] = 1e-9;
    rest[l] = gpnn_tucker_rest(1e-9);
  }
  /* M/2 [(1 - x)^8 - 1 - 8 log(1 - x)] by its series, 28 x^2 - 56 x^3 + 4 x^2 + 8 x^3 / 3 + ... */
  double expected = 0.5 * pow(20, 8) * (32e-18 - 53.0e-27 - 1.0e-27 / 3);
  assert_close(gpnn_tucker_divergence(8, pow(20, 8), mean, rest), expected, 1e-12);
  for (double x = 1e-12; x < 0.99; x *= 1.3) {
    long double exact = x < 1e-4 ? (long double)x * x / 2 + (long double)x * x * x / 3 +
                                       (long double)x * x * x * x / 4
                                 : -log1pl(-(long double)x) - x;
    assert_close(gpnn_tucker_rest(x), (double)exact, 1e-12);
  }
}

static void the_divergence_is_the_sum_over_all_points(void **state)
{
  (void)state;
  const double lambda[2][4] = {{0.1, 0.5, 0.9}, {0.2, 0.3, 0.004, 0.8}};
  double mean[2] = {0}, rest[2] = {0}, expected = 0;
  for (size_t i = 0; i < 3; i++) {
    mean[0] += lambda[0][i] / 3;
    rest[0] += gpnn_tucker_rest(lambda[0][i]) / 3;
    for (size_t j = 0; j < 4; j++) {
      double left = (1 - lambda[0][i]) * (1 - lambda[1][j]);
      expected += 0.5 * (left - 1 - log(left));
    }
  }
  for (size_t j = 0; j < 4; j++) {
    mean[1] += lambda[1][j] / 4;
    rest[1] += gpnn_tucker_rest(lambda[1][j]) / 4;
  }
  assert_close(gpnn_tucker_divergence(2, 12, mean, rest), expected, 1e-13);
}

static void a_singular_dimension_is_named_and_more_jitter_tried(void **state)
{
  (void)state;
  const struct gpnn_tucker_shape shape = {.p = 2, .m = {3, 20}, .q = {2, 2}};
  struct tucker_case c = tucker_made_of(&shape, "rbf", 10, 7);
  struct gpnn_tucker_matrices matrices;
  assert_ok(gpnn_tucker_matrices_new(&matrices, &c.tucker, &err));
  c.tucker.jitter = 1e-18;
  c.tucker.numbers[c.tucker.lengthscale + 1] = log(3);
  assert_fails(gpnn_tucker_matrices_set(&matrices, &c.tucker, &err), GPNN_ENUMERIC,
               "dimension 2 of the grid");
  assert_ok(gpnn_tucker_matrices_escalate(&matrices, &c.tucker, &err));
  assert_true(c.tucker.jitter > 1e-18 && c.tucker.jitter < 1e-9);
  c.tucker.numbers[c.tucker.lengthscale] = NAN;
  assert_fails(gpnn_tucker_matrices_escalate(&matrices, &c.tucker, &err), GPNN_ENUMERIC,
               "dimension 1 of the grid");
  gpnn_tucker_matrices_release(&matrices);
  tucker_case_release(&c);
}

static void predictions_are_those_of_the_dense_formulas(void **state)
{
  (void)state;
  for (size_t k = 0; k < N_KERNELS; k++) {
    struct tucker_case c = tucker_made(kernels[k], 8);
    double *x = normal_rows(20, 3, 9);
    struct tucker_dense d = tucker_dense_of(&c, kernels[k], 20, x);
    const struct gpnn_tucker_data data = {.n = 20, .x = x};
    struct gpnn_tucker_matrices matrices;
    struct gpnn_tucker_tile tile;
    assert_ok(gpnn_tucker_matrices_new(&matrices, &c.tucker, &err));
    assert_ok(gpnn_tucker_matrices_set(&matrices, &c.tucker, &err));
    assert_ok(gpnn_tucker_tile_new(&tile, &c.tucker, &err));
    gpnn_tucker_tile_project(&c.tucker, &data, 0, 20, false, &tile);
    gpnn_tucker_tile_means(&c.tucker, 20, &tile);
    gpnn_tucker_tile_variances(&c.tucker, &matrices, 20, &tile);
    tucker_factor(d.points, d.k);
    for (size_t i = 0; i < 20; i++) {
      long double mean, variance;
      double scale = exp(c.tucker.numbers[c.tucker.kernelscale]);
      tucker_dense_predict(&c, &d, d.k, i, &mean, &variance);
      assert_near(tile.mean[i], (double)mean, 1e-10);
      assert_near(scale * gpnn_tucker_tile_left(&c.tucker, &tile, i), (double)variance, 1e-9);
      assert_true(variance >= 0 && (double)variance <= scale * (1 + 1e-12));
    }
    gpnn_tucker_tile_release(&tile);
    gpnn_tucker_matrices_release(&matrices);
    tucker_dense_release(&d);
    tucker_case_release(&c);
    free(x);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_with_kronecker_products_are_those_of_explicit_ones),
      cmocka_unit_test(the_bound_is_that_of_the_dense_formula),
      cmocka_unit_test(the_bound_of_a_diagonal_core_is_that_of_the_dense_formula),
      cmocka_unit_test(it_is_below_the_collapsed_bound_and_the_evidence),
      cmocka_unit_test(the_best_covariance_of_one_dimension_gives_the_evidence),
      cmocka_unit_test(derivatives_are_those_of_central_differences),
      cmocka_unit_test(so_are_those_of_a_diagonal_core_and_of_the_priors_covariance),
      cmocka_unit_test(lengthscales_are_tuned_until_the_bound_has_no_slope),
      cmocka_unit_test(a_partition_into_batches_averages_to_all_rows),
      cmocka_unit_test(threads_change_nothing),
      cmocka_unit_test(the_divergence_is_exact_where_the_covariance_is_nearly_the_priors),
      cmocka_unit_test(the_divergence_is_the_sum_over_all_points),
      cmocka_unit_test(a_singular_dimension_is_named_and_more_jitter_tried),
      cmocka_unit_test(predictions_are_those_of_the_dense_formulas),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
