#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "dense.h"
#include "linalg/blas_threads.h"
#include "unit.h"
#include "vecchia/vecchia.h"
#include "vecchia/whiten.h"

enum { N = 9001, D = 2, M = 7 }; /* more than two blocks of the search, the last one short */

static double *make_rows(size_t n, size_t d, bool on_lattice)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  double *x = gpnn_alloc(n, d, sizeof *x);
  assert_non_null(x);
  for (size_t i = 0; i < n * d; i++)
    x[i] = on_lattice ? floor(60 * gpnn_rng_uniform(&rng)) : gpnn_rng_normal(&rng);
  return x;
}

static void order_rows(enum gpnn_order kind, size_t n, size_t d, const double *x, int64_t *order)
{
  assert_ok(gpnn_vecchia_order(kind, n, d, x, 5, order, &err));
}

/* ---- orders ---- */

static void an_order_has_every_row_once(void **state)
{
  (void)state;
  double *x = make_rows(500, 3, false);
  int64_t order[500];
  for (enum gpnn_order kind = GPNN_ORDER_PRINCIPAL; kind <= GPNN_ORDER_RANDOM; kind++) {
    bool seen[500] = {false};
    order_rows(kind, 500, 3, x, order);
    for (size_t i = 0; i < 500; i++) {
      assert_in_range(order[i], 0, 499);
      assert_false(seen[order[i]]);
      seen[order[i]] = true;
    }
  }
  free(x);
}

static void the_principal_order_goes_along_the_longest_direction(void **state)
{
  (void)state;
  enum { ROWS = 200 };
  double *x = make_rows(ROWS, 2, false), along[ROWS];
  int64_t order[ROWS];
  for (size_t i = 0; i < ROWS; i++) {
    double far = 10 * x[2 * i], near = 1e-6 * x[2 * i + 1];
    along[i] = far;
    x[2 * i] = 100 + 0.6 * far - 0.8 * near; /* turned by the angle of a 3-4-5 triangle */
    x[2 * i + 1] = 0.8 * far + 0.6 * near;
  }
  order_rows(GPNN_ORDER_PRINCIPAL, ROWS, 2, x, order);
  for (size_t i = 1; i < ROWS; i++) assert_true(along[order[i - 1]] < along[order[i]]);
  free(x);
}

/* The direction by the formula for two columns, neither of which has the order of both. */
static void the_principal_order_takes_every_column_in(void **state)
{
  (void)state;
  enum { ROWS = 300 };
  double *x = make_rows(ROWS, 2, false), mean[2] = {0}, c[3] = {0}, last = -INFINITY;
  int64_t order[ROWS];
  for (size_t i = 0; i < ROWS; i++) x[2 * i] = 1.5 * x[2 * i] + x[2 * i + 1];
  for (size_t i = 0; i < 2 * ROWS; i++) mean[i % 2] += x[i] / ROWS;
  for (size_t i = 0; i < ROWS; i++) {
    double a = x[2 * i] - mean[0], b = x[2 * i + 1] - mean[1];
    c[0] += a * a / ROWS;
    c[1] += a * b / ROWS;
    c[2] += b * b / ROWS;
  }
  double angle = 0.5 * atan2(2 * c[1], c[0] - c[2]);
  order_rows(GPNN_ORDER_PRINCIPAL, ROWS, 2, x, order);
  for (size_t i = 0; i < ROWS; i++) {
    const double *row = x + 2 * order[i];
    double along = cos(angle) * row[0] + sin(angle) * row[1];
    assert_true(along > last - 1e-12);
    last = along;
  }
  free(x);
}

static void equal_rows_keep_the_order_of_their_numbers(void **state)
{
  (void)state;
  double x[20] = {0};
  int64_t order[20];
  order_rows(GPNN_ORDER_PRINCIPAL, 20, 1, x, order);
  for (int64_t i = 0; i < 20; i++) assert_int_equal(order[i], i);
}

static void another_seed_is_another_random_order(void **state)
{
  (void)state;
  int64_t a[50], b[50], c[50];
  assert_ok(gpnn_vecchia_order(GPNN_ORDER_RANDOM, 50, 1, NULL, 1, a, &err));
  assert_ok(gpnn_vecchia_order(GPNN_ORDER_RANDOM, 50, 1, NULL, 1, b, &err));
  assert_ok(gpnn_vecchia_order(GPNN_ORDER_RANDOM, 50, 1, NULL, 2, c, &err));
  assert_memory_equal(a, b, sizeof a);
  assert_memory_not_equal(a, c, sizeof a);
}

/* ---- neighbours ---- */

/* The nearest of the rows before 'position', by looking at each. */
static void brute_force(const double *x, const double *lengthscale, const int64_t *order,
                        size_t position, int64_t *nearest)
{
  double distances[M] = {0};
  for (size_t a = 0; a < M; a++) nearest[a] = -1;
  for (size_t p = 0; p < position; p++) {
    int64_t row = order[p];
    double r2 = 0;
    for (size_t j = 0; j < D; j++)
      r2 +=
          pow((x[row * D + (int64_t)j] - x[order[position] * D + (int64_t)j]) / lengthscale[j], 2);
    size_t at = M;
    while (at > 0 && (nearest[at - 1] < 0 || r2 < distances[at - 1] ||
                      (r2 == distances[at - 1] && row < nearest[at - 1])))
      at--;
    for (size_t a = M; a-- > at + 1;) {
      nearest[a] = nearest[a - 1];
      distances[a] = distances[a - 1];
    }
    if (at == M) continue;
    nearest[at] = row;
    distances[at] = r2;
  }
}

static void compare_with_brute_force(bool on_lattice, enum gpnn_order kind)
{
  double *x = make_rows(N, D, on_lattice), lengthscale[] = {1, on_lattice ? 0.5 : 1.7};
  int64_t *order = gpnn_alloc(N, 1, sizeof *order), *lists = gpnn_alloc(N, M, sizeof *lists);
  struct gpnn_vecchia_options options = GPNN_VECCHIA_OPTIONS_INIT;
  options.neighbours = M;
  options.lengthscale = lengthscale;
  options.threads = 2;
  order_rows(kind, N, D, x, order);
  assert_ok(gpnn_vecchia_neighbours(N, D, x, order, 0, NULL, &options, lists, &err));
  for (size_t position = 0; position < N; position += position < 20 ? 1 : 113) {
    int64_t expected[M];
    brute_force(x, lengthscale, order, position, expected);
    assert_memory_equal(lists + order[position] * M, expected, sizeof expected);
  }
  free(x);
  free(order);
  free(lists);
}

static void neighbours_are_the_nearest_earlier_rows(void **state)
{
  (void)state;
  compare_with_brute_force(false, GPNN_ORDER_RANDOM);
  compare_with_brute_force(false, GPNN_ORDER_PRINCIPAL);
}

static void ties_go_to_the_lower_row_number(void **state)
{
  (void)state;
  compare_with_brute_force(true, GPNN_ORDER_RANDOM);
  compare_with_brute_force(true, GPNN_ORDER_PRINCIPAL);
}

static void wanted_rows_threads_and_kinds_of_search_change_no_list(void **state)
{
  (void)state;
  enum { WANTED = 40 };
  double *x = make_rows(N, D, true);
  int64_t *order = gpnn_alloc(N, 1, sizeof *order), *all = gpnn_alloc(N, M, sizeof *all);
  int64_t *again = gpnn_alloc(N, M, sizeof *again), wanted[WANTED], some[WANTED * M];
  struct gpnn_vecchia_options options = GPNN_VECCHIA_OPTIONS_INIT;
  options.neighbours = M;
  for (int64_t i = 0; i < WANTED; i++) wanted[i] = (i * 4391 + 17) % N;
  order_rows(GPNN_ORDER_RANDOM, N, D, x, order);
  assert_ok(gpnn_vecchia_neighbours(N, D, x, order, 0, NULL, &options, all, &err));
  options.threads = 3;
  assert_ok(gpnn_vecchia_neighbours(N, D, x, order, 0, NULL, &options, again, &err));
  assert_memory_equal(all, again, N * M * sizeof *all);
  options.kind = GPNN_SEARCH_EXACT;
  assert_ok(gpnn_vecchia_neighbours(N, D, x, order, WANTED, wanted, &options, some, &err));
  for (size_t i = 0; i < WANTED; i++)
    assert_memory_equal(some + i * M, all + wanted[i] * M, M * sizeof *all);
  free(x);
  free(order);
  free(all);
  free(again);
}

static void no_neighbours_are_refused(void **state)
{
  (void)state;
  double x[] = {1, 2};
  int64_t order[] = {0, 1}, lists[2];
  struct gpnn_vecchia_options options = GPNN_VECCHIA_OPTIONS_INIT;
  options.neighbours = 0;
  assert_fails(gpnn_vecchia_neighbours(2, 1, x, order, 0, NULL, &options, lists, &err), GPNN_EINVAL,
               "neighbours");
}

/* ---- whitening ---- */

static void whitened_squares_are_the_dense_quadratic_form_and_determinant(void **state)
{
  (void)state;
  enum { ROWS = 40 };
  double *x = make_rows(ROWS, D, false), *z = make_rows(ROWS, 1, false);
  double lengthscale[] = {0.9, 1.4}, noise[ROWS], residuals[ROWS], variances[ROWS];
  int64_t order[ROWS], lists[ROWS * ROWS];
  for (size_t i = 0; i < ROWS; i++) noise[i] = 0.01 * (double)(i % 5);
  struct gpnn_covariance covariance = {
      .kernel = gpnn_kernel_by_name("matern52"), .kernelscale = 1.3, .noise = 0.2};
  struct gpnn_vecchia_options options = GPNN_VECCHIA_OPTIONS_INIT;
  options.neighbours = ROWS;
  options.lengthscale = lengthscale;
  order_rows(GPNN_ORDER_RANDOM, ROWS, D, x, order);
  assert_ok(gpnn_vecchia_neighbours(ROWS, D, x, order, 0, NULL, &options, lists, &err));
  struct gpnn_whiten_rows rows = {ROWS, D, 1, ROWS, x, noise, z, lists};
  struct gpnn_jitter jitter = {0, 0};
  assert_ok(gpnn_whiten(&rows, &covariance, lengthscale, 0, ROWS, NULL, 2, residuals, variances,
                        NULL, &jitter, &err));
  assert_int_equal(jitter.n, 0);
  double squares = 0, logdet = 0;
  for (size_t i = 0; i < ROWS; i++) {
    squares += residuals[i] * residuals[i] / variances[i];
    logdet += log(variances[i]);
  }
  long double k[ROWS * ROWS], u[ROWS], v[ROWS], dense = 0, dense_logdet = 0;
  for (size_t i = 0; i < ROWS; i++) {
    u[i] = v[i] = z[i];
    for (size_t j = 0; j < ROWS; j++)
      k[i * ROWS + j] = 1.3L * dense_kernel("matern52", D, x + i * D, x + j * D, D, lengthscale) +
                        (i == j ? 0.2L + (long double)noise[i] : 0);
  }
  dense_solve(ROWS, k, u, v);
  for (size_t i = 0; i < ROWS; i++) {
    dense += z[i] * u[i];
    dense_logdet += logl(fabsl(k[i * ROWS + i])); /* pivots */
  }
  assert_close(squares, (double)dense, 1e-11);
  assert_close(logdet, (double)dense_logdet, 1e-11);
  free(x);
  free(z);
}

static void equal_rows_without_noise_stay_finite(void **state)
{
  (void)state;
  double x[8] = {0}, z[4] = {1, 2, 3, 4}, residuals[4], variances[4], lengthscale[] = {1, 1};
  int64_t lists[] = {-1, -1, 0, -1, 0, 1, 0, 1};
  struct gpnn_covariance covariance = {.kernel = gpnn_kernel_by_name("rbf"), .kernelscale = 2};
  struct gpnn_whiten_rows rows = {4, 2, 1, 2, x, NULL, z, lists};
  struct gpnn_jitter jitter = {5, 1e-12}; /* of rows before these */
  assert_ok(gpnn_whiten(&rows, &covariance, lengthscale, 0, 4, NULL, 2, residuals, variances, NULL,
                        &jitter, &err));
  assert_int_equal(jitter.n, 7); /* the third and the fourth, whose neighbours are alike */
  assert_close(jitter.most, 2e-10, 1e-12);
  assert_near(variances[0], 2, 0);
  assert_close(variances[1], 2e-10, 1e-12); /* nothing is its own, but no variance is 0 */
  for (size_t i = 1; i < 4; i++) {
    assert_true(isfinite(residuals[i]));
    assert_true(variances[i] >= 2e-10);
  }
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_order_has_every_row_once),
      cmocka_unit_test(the_principal_order_goes_along_the_longest_direction),
      cmocka_unit_test(the_principal_order_takes_every_column_in),
      cmocka_unit_test(equal_rows_keep_the_order_of_their_numbers),
      cmocka_unit_test(another_seed_is_another_random_order),
      cmocka_unit_test(neighbours_are_the_nearest_earlier_rows),
      cmocka_unit_test(ties_go_to_the_lower_row_number),
      cmocka_unit_test(wanted_rows_threads_and_kinds_of_search_change_no_list),
      cmocka_unit_test(no_neighbours_are_refused),
      cmocka_unit_test(whitened_squares_are_the_dense_quadratic_form_and_determinant),
      cmocka_unit_test(equal_rows_without_noise_stay_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
