#include "tucker_dense.h"

#include "linalg/blas_threads.h"
#include "models/tucker/tucker_private.h"

static double bound_of(const struct tucker_case *c, double *gradient)
{
  struct gpnn_tucker_bound *bound = NULL;
  struct gpnn_tucker_value value;
  assert_ok(gpnn_tucker_bound_new(&bound, &c->tucker, 1, &err));
  assert_ok(gpnn_tucker_bound_at(bound, &c->tucker, &c->data, &value, gradient, &err));
  gpnn_tucker_bound_free(bound);
  return value.bound;
}

static struct gpnn_tucker_als *als_of(const struct tucker_case *c, size_t most_dense)
{
  struct gpnn_tucker_als *als = NULL;
  assert_ok(gpnn_tucker_als_new(&als, &c->tucker, most_dense, c->data.threads, &err));
  assert_ok(gpnn_tucker_als_set(als, &c->tucker, &err));
  return als;
}

static void sweep(struct tucker_case *c, size_t n)
{
  struct gpnn_tucker_als *als = als_of(c, GPNN_TUCKER_MOST_DENSE);
  for (size_t i = 0; i < n; i++) assert_ok(gpnn_tucker_als_sweep(als, &c->tucker, &c->data, &err));
  gpnn_tucker_als_free(als);
}

static double largest(size_t n, const double *x)
{
  double most = 0;
  for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

static const struct gpnn_tucker_shape full = {.p = 3, .m = {4, 5, 3}, .q = {2, 3, 2}};
static const struct gpnn_tucker_shape diagonal = {
    .p = 3, .m = {4, 5, 3}, .q = {3, 3, 3}, .is_diagonal = true};

/* ---- each step ---------------------------------------------------------------------------- */

static void check_steps(const struct gpnn_tucker_shape *shape, uint64_t seed)
{
  struct tucker_case c = tucker_made_of(shape, "matern52", 40, seed);
  struct gpnn_tucker *t = &c.tucker;
  struct gpnn_tucker_als *als = als_of(&c, GPNN_TUCKER_MOST_DENSE);
  double *gradient = gpnn_alloc(t->n_numbers, 1, sizeof *gradient);
  assert_non_null(gradient);
  double last = bound_of(&c, NULL);
  for (int i = 0; i < 4; i++)
    for (size_t l = 0; l <= 3; l++) {
      size_t first = l == 3 ? 0 : t->factor[l];
      size_t n = l == 3 ? t->n_core : shape->m[l] * shape->q[l];
      if (l == 3)
        assert_ok(gpnn_tucker_als_core(als, t, &c.data, &err));
      else
        assert_ok(gpnn_tucker_als_factor(als, t, &c.data, l, &err));
      double bound = bound_of(&c, gradient);
      assert_true(largest(n, gradient + first) < 1e-7);
      assert_true(bound >= last - 1e-6);
      last = bound;
      if (l < 3) assert_ok(gpnn_tucker_als_gauge(als, t, l, &err));
    }
  free(gradient);
  gpnn_tucker_als_free(als);
  tucker_case_release(&c);
}

static void each_step_raises_the_bound_to_where_its_derivative_is_zero(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    check_steps(&full, seed);
    check_steps(&diagonal, seed);
  }
}

static void means_of(const struct tucker_case *c, double *mean)
{
  struct gpnn_tucker_tile tile;
  assert_ok(gpnn_tucker_tile_new(&tile, &c->tucker, &err));
  gpnn_tucker_tile_project(&c->tucker, &c->data, 0, 40, false, &tile);
  gpnn_tucker_tile_means(&c->tucker, 40, &tile);
  memcpy(mean, tile.mean, 40 * sizeof *mean);
  gpnn_tucker_tile_release(&tile);
}

static void check_gauge(const struct gpnn_tucker_shape *shape)
{
  struct tucker_case c = tucker_made_of(shape, "rbf", 40, 3);
  struct gpnn_tucker_als *als = als_of(&c, GPNN_TUCKER_MOST_DENSE);
  double before[40], after[40], bound = bound_of(&c, NULL);
  means_of(&c, before);
  for (size_t l = 0; l < 3; l++) assert_ok(gpnn_tucker_als_gauge(als, &c.tucker, l, &err));
  means_of(&c, after);
  assert_close(bound_of(&c, NULL), bound, 1e-10);
  for (size_t i = 0; i < 40; i++) assert_near(after[i], before[i], 1e-10);
  struct gpnn_tucker_bound *object = NULL;
  struct gpnn_tucker_value value;
  assert_ok(gpnn_tucker_bound_new(&object, &c.tucker, 1, &err));
  assert_ok(gpnn_tucker_bound_at(object, &c.tucker, &c.data, &value, NULL, &err));
  double squares = 0;
  for (size_t i = 0; i < c.tucker.n_core; i++) squares += c.tucker.numbers[i] * c.tucker.numbers[i];
  if (!shape->is_diagonal) assert_close(value.quadratic, squares, 1e-9);
  gpnn_tucker_bound_free(object);
  gpnn_tucker_als_free(als);
  tucker_case_release(&c);
}

static void the_gauge_changes_neither_bound_nor_mean(void **state)
{
  (void)state;
  check_gauge(&full);
  check_gauge(&diagonal);
}

static void a_factor_of_lower_rank_than_it_has_columns_does_no_harm(void **state)
{
  (void)state;
  struct tucker_case c = tucker_made("rbf", 4);
  double *u = c.tucker.numbers + c.tucker.factor[1];
  for (size_t j = 0; j < 5; j++) u[3 * j + 1] = u[3 * j];
  sweep(&c, 3);
  struct tucker_case other = tucker_made("rbf", 4);
  sweep(&other, 3);
  assert_near(bound_of(&c, NULL), bound_of(&other, NULL), 2);
  memset(c.tucker.numbers, 0, c.tucker.rho[0] * sizeof(double)); /* a saddle: all zeros */
  sweep(&c, 1);
  assert_true(isfinite(bound_of(&c, NULL)));
  tucker_case_release(&c);
  tucker_case_release(&other);
}

static void conjugate_gradients_find_the_same(void **state)
{
  (void)state;
  for (int which = 0; which < 2; which++) {
    struct tucker_case c = tucker_made_of(which == 0 ? &full : &diagonal, "rbf", 40, 5);
    struct tucker_case other = tucker_made_of(which == 0 ? &full : &diagonal, "rbf", 40, 5);
    struct gpnn_tucker_als *als = als_of(&c, 0);
    assert_ok(gpnn_tucker_als_sweep(als, &c.tucker, &c.data, &err));
    gpnn_tucker_als_free(als);
    sweep(&other, 1);
    assert_close(bound_of(&c, NULL), bound_of(&other, NULL), 1e-9);
    tucker_case_release(&c);
    tucker_case_release(&other);
  }
}

static void threads_change_nothing(void **state)
{
  (void)state;
  struct tucker_case c = tucker_made_of(&full, "rbf", 10000, 6);
  struct tucker_case other = tucker_made_of(&full, "rbf", 10000, 6);
  other.data.threads = 3;
  sweep(&c, 1);
  sweep(&other, 1);
  assert_memory_equal(c.tucker.numbers, other.tucker.numbers, c.tucker.n_numbers * sizeof(double));
  tucker_case_release(&c);
  tucker_case_release(&other);
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void one_product_is_a_tucker_tensor_of_rank_one(void **state)
{
  (void)state;
  const struct gpnn_tucker_shape one = {.p = 3, .m = {4, 5, 3}, .q = {1, 1, 1}};
  const struct gpnn_tucker_shape same = {
      .p = 3, .m = {4, 5, 3}, .q = {1, 1, 1}, .is_diagonal = true};
  struct tucker_case c = tucker_made_of(&one, "exp", 40, 7);
  struct tucker_case other = tucker_made_of(&same, "exp", 40, 7);
  sweep(&c, 5);
  sweep(&other, 5);
  assert_close(bound_of(&c, NULL), bound_of(&other, NULL), 1e-9);
  tucker_case_release(&c);
  tucker_case_release(&other);
}

/* B = K + Kuf Kfu / noise, and Kuf y / noise in 'b'. */
static void fill_posterior(const struct tucker_case *c, const struct tucker_dense *d,
                           long double *matrix, long double *b)
{
  long double noise = expl((long double)c->tucker.numbers[c->tucker.noise]);
  size_t m = d->points;
  memcpy(matrix, d->k, m * m * sizeof *matrix);
  for (size_t i = 0; i < d->n; i++)
    for (size_t j = 0; j < m; j++) {
      b[j] += d->cross[i * m + j] * c->y[i] / noise;
      for (size_t k = 0; k < m; k++)
        matrix[j * m + k] += d->cross[i * m + j] * d->cross[i * m + k] / noise;
    }
}

/* KL(N(0, S) || N(0, K B^-1 K)), B overwritten by its factor. */
static long double divergence_from_the_best(const struct tucker_dense *d, long double *b,
                                            const long double *matrix)
{
  size_t m = d->points;
  long double *k = calloc(m * m, sizeof *k), *s = calloc(m * m, sizeof *s), sum = -(long double)m;
  long double *column = calloc(m, sizeof *column);
  assert_true(k && s && column);
  memcpy(k, d->k, m * m * sizeof *k);
  memcpy(s, d->s, m * m * sizeof *s);
  sum += 2 * tucker_factor(m, k) - tucker_factor(m, b) - tucker_factor(m, s);
  for (size_t j = 0; j < m; j++) { /* the trace of K^-1 B K^-1 S, column by column of S */
    long double product[64] = {0};
    for (size_t i = 0; i < m; i++) column[i] = d->s[i * m + j];
    tucker_forward(m, k, column);
    tucker_backward(m, k, column);
    for (size_t i = 0; i < m; i++)
      for (size_t a = 0; a < m; a++) product[i] += matrix[i * m + a] * column[a];
    tucker_forward(m, k, product);
    tucker_backward(m, k, product);
    sum += product[j];
  }
  free(k);
  free(s);
  free(column);
  return 0.5L * sum;
}

static void at_full_rank_the_mean_is_the_best_and_the_gap_that_of_the_covariance(void **state)
{
  (void)state;
  const struct gpnn_tucker_shape shape = {.p = 3, .m = {3, 4, 2}, .q = {3, 4, 2}};
  struct tucker_case c = tucker_made_of(&shape, "rbf", 40, 8);
  struct gpnn_tucker *t = &c.tucker;
  for (size_t l = 0; l < 3; l++)
    for (size_t i = 0; i < shape.m[l] * shape.m[l]; i++)
      t->numbers[t->factor[l] + i] = i % (shape.m[l] + 1) == 0;
  struct gpnn_tucker_als *als = als_of(&c, GPNN_TUCKER_MOST_DENSE);
  assert_ok(gpnn_tucker_als_core(als, t, &c.data, &err));
  gpnn_tucker_als_free(als);
  struct tucker_dense d = tucker_dense_of(&c, "rbf", 40, c.x);
  long double matrix[24 * 24], factor[24 * 24], alpha[24] = {0}, collapsed;
  fill_posterior(&c, &d, matrix, alpha);
  memcpy(factor, matrix, sizeof matrix);
  long double gap = divergence_from_the_best(&d, factor, matrix);
  tucker_forward(24, factor, alpha);
  tucker_backward(24, factor, alpha);
  double mean[40];
  means_of(&c, mean);
  for (size_t i = 0; i < 40; i++) {
    long double expected = 0;
    for (size_t j = 0; j < 24; j++) expected += d.cross[i * 24 + j] * alpha[j];
    assert_near(mean[i], (double)expected, 1e-7);
  }
  tucker_dense_evidence(&c, "rbf", &collapsed);
  assert_close((double)collapsed - bound_of(&c, NULL), (double)gap, 1e-6);
  tucker_dense_release(&d);
  tucker_case_release(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_step_raises_the_bound_to_where_its_derivative_is_zero),
      cmocka_unit_test(the_gauge_changes_neither_bound_nor_mean),
      cmocka_unit_test(a_factor_of_lower_rank_than_it_has_columns_does_no_harm),
      cmocka_unit_test(conjugate_gradients_find_the_same),
      cmocka_unit_test(threads_change_nothing),
      cmocka_unit_test(one_product_is_a_tucker_tensor_of_rank_one),
      cmocka_unit_test(at_full_rank_the_mean_is_the_best_and_the_gap_that_of_the_covariance),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
