/* Every set of loops that this processor has, against LAPACK and long doubles. */
#include "random.h"
#include "unit.h"

#include <float.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "linalg/panels/panels.h"

enum { D = 3 };

/* A covariance matrix of order n with right-hand sides below it, in panels and column-major. */
struct block {
  const struct gpnn_panel_set *set;
  size_t n, n_rows, stride;
  double *columns; /* D by stride: points */
  double *k;       /* n_rows by n, one column after another */
  double *a;
};

static double *at(const struct block *b, size_t i, size_t j)
{
  return &b->a[gpnn_panel_at(b->n, b->set->lanes, i, j)];
}

static void block_new(struct block *b, const struct gpnn_panel_set *set, size_t n, size_t rights,
                      double noise)
{
  struct gpnn_rng rng = seeded(n);
  *b = (struct block){.set = set, .n = n, .n_rows = n + rights, .stride = (n + 15) / 8 * 8};
  b->columns = gpnn_alloc(D, b->stride, sizeof(double));
  b->k = gpnn_alloc(n, b->n_rows, sizeof(double));
  b->a = gpnn_alloc(gpnn_panel_room(n, b->n_rows, set->lanes), 1, sizeof(double));
  assert_true(b->columns != NULL && b->k != NULL && b->a != NULL);
  for (size_t k = 0; k < D * b->stride; k++) b->columns[k] = gpnn_rng_normal(&rng);
  set->fill(GPNN_PANEL_MATERN52, n, n, D, b->stride, b->columns, b->a);
  for (size_t j = 0; j < n; j++) *at(b, j, j) += noise;
  for (size_t i = n; i < b->n_rows; i++)
    for (size_t j = 0; j < n; j++) *at(b, i, j) = gpnn_rng_normal(&rng);
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < b->n_rows; i++) b->k[j * b->n_rows + i] = *at(b, i, j);
}

static void block_free(struct block *b)
{
  free(b->columns);
  free(b->k);
  free(b->a);
}

/* LAPACK's factor and solutions in b->k. */
static void factor_by_lapack(struct block *b)
{
  int n = (int)b->n, ld = (int)b->n_rows, rights = ld - n;
  assert_int_equal(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, b->k, ld), 0);
  if (rights > 0)
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rights, n, 1, b->k,
                ld, b->k + n, ld);
}

static const size_t orders[] = {
    1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,  15,  16,  17,  18,  19,
    20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,  34,  35,  36,  37,  38,
    39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52,  53,  54,  55,  56,  57,
    58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 100, 127, 128, 129, 400, 1000};
enum { N_ORDERS = sizeof orders / sizeof *orders };

static void factors_and_solutions_are_those_of_lapack(void **state)
{
  (void)state;
  const struct gpnn_panel_set *set;
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (size_t o = 0; o < N_ORDERS; o++)
      for (size_t rights = 0; rights < 40; rights += 1 + rights * rights) { /* 0, 1, 3, 13 */
        struct block b;
        block_new(&b, set, orders[o], rights, 0.1);
        factor_by_lapack(&b);
        assert_true(set->factor(b.n, b.n_rows, b.a));
        for (size_t j = 0; j < b.n; j++)
          for (size_t i = j; i < b.n_rows; i++)
            assert_near(*at(&b, i, j), b.k[j * b.n_rows + i], 2e-12);
        block_free(&b);
      }
}

/* The factor of a nearly singular matrix is poorly determined, but its product is not. */
static void nearly_singular_matrices_are_the_product_of_their_factor(void **state)
{
  (void)state;
  const struct gpnn_panel_set *set;
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (size_t n = 5; n < 300; n += 1 + n / 3) {
      struct block b;
      block_new(&b, set, n, 1, 1e-10);
      assert_true(set->factor(n, b.n_rows, b.a));
      for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
          double sum = 0;
          for (size_t q = 0; q <= j; q++) sum += *at(&b, i, q) * *at(&b, j, q);
          assert_near(sum, b.k[j * b.n_rows + i], 1e-14);
        }
      block_free(&b);
    }
}

static void a_bad_number_anywhere_is_noticed(void **state)
{
  (void)state;
  static const double bad[] = {NAN, INFINITY, -INFINITY, 1.5, -1e300};
  const struct gpnn_panel_set *set;
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (size_t v = 0; v < sizeof bad / sizeof *bad; v++)
      for (size_t i = 1; i < 21; i++)
        for (size_t j = 0; j < i; j++) {
          struct block b;
          block_new(&b, set, 21, 1, 0);
          *at(&b, i, j) = bad[v];
          assert_false(set->factor(21, 22, b.a));
          block_free(&b);
        }
}

static void a_pivot_that_is_not_positive_is_noticed(void **state)
{
  (void)state;
  static const double bad[] = {NAN, INFINITY, 0, -1e-300, -0.0};
  const struct gpnn_panel_set *set;
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (size_t v = 0; v < sizeof bad / sizeof *bad; v++)
      for (size_t i = 0; i < 21; i++) {
        struct block b;
        block_new(&b, set, 21, 0, 0.1);
        for (size_t j = 0; j < i; j++) *at(&b, i, j) = 0;
        *at(&b, i, i) = bad[v];
        assert_false(set->factor(21, 21, b.a));
        block_free(&b);
      }
}

static void a_solution_does_not_depend_on_the_other_right_hand_sides(void **state)
{
  (void)state;
  const struct gpnn_panel_set *set;
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (size_t n = 29; n < 40; n++) {
      struct block one, many;
      block_new(&one, set, n, 1, 0.1);
      block_new(&many, set, n, 37, 0.1);
      for (size_t j = 0; j < n; j++) *at(&many, n + 30, j) = *at(&one, n, j);
      assert_true(set->factor(n, one.n_rows, one.a) && set->factor(n, many.n_rows, many.a));
      for (size_t j = 0; j < n; j++) assert_true(*at(&many, n + 30, j) == *at(&one, n, j));
      block_free(&one);
      block_free(&many);
    }
}

static void solving_with_a_factor_is_what_factoring_does_below_it(void **state)
{
  (void)state;
  enum { RIGHTS = 19 };
  const struct gpnn_panel_set *set;
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (size_t o = 0; o < N_ORDERS - 1; o++) {
      struct block b;
      block_new(&b, set, orders[o], RIGHTS, 0.1);
      size_t n = b.n;
      double *right = gpnn_alloc(gpnn_panel_room(n, RIGHTS, set->lanes), 1, sizeof *right);
      assert_non_null(right);
      for (size_t t = 0; t < RIGHTS; t++)
        for (size_t j = 0; j < n; j++)
          right[gpnn_panel_at(n, set->lanes, t, j)] = *at(&b, n + t, j);
      assert_true(set->factor(n, b.n_rows, b.a));
      set->solve(n, RIGHTS, b.a, right);
      for (size_t t = 0; t < RIGHTS; t++)
        for (size_t j = 0; j < n; j++)
          assert_near(right[gpnn_panel_at(n, set->lanes, t, j)], *at(&b, n + t, j), 1e-10);
      free(right);
      block_free(&b);
    }
}

static void inverse_times_the_matrix_is_the_identity(void **state)
{
  (void)state;
  const struct gpnn_panel_set *set;
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (size_t o = 0; o < N_ORDERS - 1; o++) {
      struct block b;
      block_new(&b, set, orders[o], 0, 0.1);
      size_t n = b.n;
      double *work = gpnn_alloc(gpnn_panel_room(n, n, set->lanes), 1, sizeof *work);
      double *inverse = gpnn_alloc(n, n, sizeof *inverse),
             *product = gpnn_alloc(n, n, sizeof *work);
      assert_true(work != NULL && inverse != NULL && product != NULL);
      set->pack(n, b.k, b.a);
      assert_true(set->factor(n, n, b.a));
      set->invert(n, b.a, work);
      set->unpack(n, b.a, inverse);
      for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++) {
          assert_true(inverse[j * n + i] == 0); /* untouched */
          inverse[j * n + i] = inverse[i * n + j];
        }
      cblas_dsymm(CblasColMajor, CblasLeft, CblasLower, (int)n, (int)n, 1, b.k, (int)n, inverse,
                  (int)n, 0, product, (int)n);
      for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) assert_near(product[j * n + i], i == j, 1e-11);
      free(work);
      free(inverse);
      free(product);
      block_free(&b);
    }
}

/* ---- correlations -------------------------------------------------------------------------- */

/* The formulas of kernel/kernel.h. */
static long double formula(enum gpnn_panel_form form, long double r2)
{
  long double s = sqrtl(r2 * (form == GPNN_PANEL_MATERN52   ? 5
                              : form == GPNN_PANEL_MATERN32 ? 3
                                                            : 1));
  if (form == GPNN_PANEL_DISTANCE) return r2;
  if (form == GPNN_PANEL_RBF) return expl(-r2 / 2);
  if (form == GPNN_PANEL_MATERN32) return (1 + s) * expl(-s);
  if (form == GPNN_PANEL_MATERN52) return (1 + s + s * s / 3) * expl(-s);
  return expl(-s);
}

static double ulp(double x)
{
  return nextafter(x, INFINITY) - x;
}

/* rbf tests the exponential at exact arguments, and exp at exact roots. */
static void exponentials_are_within_a_unit_in_the_last_place(void **state)
{
  (void)state;
  const struct gpnn_panel_set *set;
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (double x = 0; x < 760; x += x < 1 ? 0x1p-12 : x < 40 ? 0x1.003p-6 : 0x1.003p-4) {
      double wanted = (double)formula(GPNN_PANEL_RBF, 2 * x), r2 = 2 * x, root = 0;
      set->correlate(GPNN_PANEL_RBF, 1, &r2);
      assert_near(r2, wanted, ulp(wanted));
      root = (double)(float)x; /* its square is exact */
      r2 = root * root;
      set->correlate(GPNN_PANEL_EXP, 1, &r2);
      wanted = (double)expl(-(long double)root);
      assert_near(r2, wanted, ulp(wanted));
    }
}

static void roots_are_within_a_unit_in_the_last_place(void **state)
{
  (void)state;
  const struct gpnn_panel_set *set;
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (double r2 = 1e-40; r2 < 1e5; r2 *= 1.0371) {
      double c = r2, root = sqrt(r2);
      set->correlate(GPNN_PANEL_EXP, 1, &c);
      double wanted = (double)expl(-sqrtl((long double)r2));
      assert_near(c, wanted, 1.1 * ulp(wanted) + wanted * ulp(root));
    }
}

static void edges_of_correlations(void **state)
{
  (void)state;
  const struct gpnn_panel_set *set;
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (int form = GPNN_PANEL_EXP; form <= GPNN_PANEL_RBF; form++) {
      double r2[] = {0, -0.0, DBL_TRUE_MIN, 1e-310, 1e-300, NAN, 1e7, 1e300, INFINITY, 4e6, 0};
      set->correlate((enum gpnn_panel_form)form, 11, r2);
      for (size_t i = 0; i < 5; i++) assert_true(r2[i] == 1);
      assert_true(isnan(r2[5]));
      for (size_t i = 6; i < 10; i++) assert_true(r2[i] == 0);
      assert_true(r2[10] == 1);
    }
}

static void a_block_has_the_correlations_of_its_points(void **state)
{
  (void)state;
  const struct gpnn_panel_set *set;
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (int form = GPNN_PANEL_DISTANCE; form <= GPNN_PANEL_RBF; form++)
      for (size_t n = 1; n < 36; n += 1 + n / 4) {
        struct block b;
        block_new(&b, set, n, 1, 0);
        set->fill((enum gpnn_panel_form)form, n, n + 1, D, b.stride, b.columns, b.a);
        for (size_t j = 0; j < n; j++)
          for (size_t i = j; i <= n; i++) {
            long double r2 = 0;
            for (size_t c = 0; c < D; c++) {
              const double *x = b.columns + c * b.stride;
              r2 += ((long double)x[i] - x[j]) * ((long double)x[i] - x[j]);
            }
            double wanted = (double)formula((enum gpnn_panel_form)form, r2);
            assert_near(*at(&b, i, j), wanted, 2e-15 * (double)(1 + r2) * (1 + wanted));
            if (i == j) assert_true(*at(&b, i, j) == (form == GPNN_PANEL_DISTANCE ? 0 : 1));
          }
        block_free(&b);
      }
}

/* Rows of panels, and the points they are compared with. */
enum { CROSS_ROWS = 48, CROSS_MOST = 300 };

static void distances_and_weighted_sums_are_those_of_the_points(void **state)
{
  (void)state;
  const struct gpnn_panel_set *set;
  static double points[D * 304], rows[D * CROSS_ROWS], weights[CROSS_MOST];
  struct gpnn_rng rng = seeded(3);
  for (size_t k = 0; k < sizeof points / sizeof *points; k++) points[k] = gpnn_rng_normal(&rng);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) rows[k] = gpnn_rng_normal(&rng);
  for (size_t j = 0; j < CROSS_MOST; j++) weights[j] = gpnn_rng_normal(&rng);
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (size_t n = 1; n <= CROSS_MOST; n = 2 * n + 1) {
      double *a = gpnn_alloc(gpnn_panel_size(n, set->lanes), 1, sizeof *a);
      double *aligned = gpnn_alloc(D, CROSS_ROWS, sizeof *aligned);
      assert_true(a != NULL && aligned != NULL);
      memcpy(aligned, rows, sizeof rows);
      set->distances(n, D, 304, points, CROSS_ROWS, aligned + set->lanes, a);
      _Alignas(64) double sum[8] = {0};
      for (size_t i = 0; i < set->lanes; i++) sum[i] = 2;
      set->weigh(n, a, weights, sum);
      _Alignas(64) double smallest[8];
      set->least(n, a, smallest);
      for (size_t i = 0; i < set->lanes; i++) {
        long double expected = 2;
        double least = INFINITY;
        for (size_t j = 0; j < n; j++) {
          long double r2 = 0;
          for (size_t c = 0; c < D; c++) {
            long double t =
                (long double)rows[c * CROSS_ROWS + set->lanes + i] - points[c * 304 + j];
            r2 += t * t;
          }
          assert_near(a[j * set->lanes + i], (double)r2, 1e-15 * (double)(1 + r2));
          expected += r2 * weights[j];
          least = fmin(least, a[j * set->lanes + i]);
        }
        assert_near(smallest[i], least, 0);
        assert_near(sum[i], (double)expected, 1e-12);
      }
      free(a);
      free(aligned);
    }
}

/* With both types of numbers, and the same bytes for a row wherever it is. */
static void squares_are_those_of_the_products(void **state)
{
  (void)state;
  const struct gpnn_panel_set *set;
  enum { N = 150, BEGIN = 9, END = 143, STRIP = GPNN_PANEL_STRIP };
  struct gpnn_rng rng = seeded(4);
  static double strip[(END - BEGIN) * STRIP], rows[CROSS_ROWS][N];
  static float narrow[(END - BEGIN) * STRIP];
  for (size_t k = 0; k < sizeof strip / sizeof *strip; k++)
    narrow[k] = (float)(strip[k] = gpnn_rng_normal(&rng));
  for (size_t i = 0; i < CROSS_ROWS; i++)
    for (size_t j = 0; j < N; j++) rows[i][j] = i % 7 == 3 ? rows[3][j] : gpnn_rng_normal(&rng);
  for (size_t j = 0; j < N; j++)
    for (size_t i = 10; i < CROSS_ROWS; i += 7) rows[i][j] = rows[3][j];
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++) {
    size_t floats = 2 * set->lanes;
    double *a = gpnn_alloc(gpnn_panel_size(N, 1), CROSS_ROWS, sizeof *a);
    float *b = gpnn_alloc(gpnn_panel_size(N, 1), CROSS_ROWS, sizeof *b);
    assert_true(a != NULL && b != NULL);
    for (size_t i = 0; i < CROSS_ROWS; i++)
      for (size_t j = 0; j < N; j++) {
        a[gpnn_panel_at(N, set->lanes, i, j)] = rows[i][j];
        b[gpnn_panel_at(N, floats, i, j)] = (float)rows[i][j];
      }
    _Alignas(64) double sum[CROSS_ROWS] = {0};
    _Alignas(64) float sum_float[CROSS_ROWS] = {0};
    set->squares(N, BEGIN, END, strip, CROSS_ROWS, a, sum);
    set->squares_float(N, BEGIN, END, narrow, CROSS_ROWS, b, sum_float);
    for (size_t i = 0; i < CROSS_ROWS; i++) {
      long double expected = 0;
      for (size_t w = 0; w < STRIP; w++) {
        long double product = 0;
        for (size_t j = BEGIN; j < END; j++)
          product += (long double)rows[i][j] * strip[(j - BEGIN) * STRIP + w];
        expected += product * product;
      }
      assert_near(sum[i], (double)expected, 1e-12 * (double)expected);
      assert_near(sum_float[i], (double)expected, 3e-6 * (double)expected);
      if (i % 7 == 3) assert_true(sum[i] == sum[3] && sum_float[i] == sum_float[3]);
    }
    free(a);
    free(b);
  }
}

/* ---- mixed precision ----------------------------------------------------------------------- */

static void floats_solve_to_their_precision(void **state)
{
  (void)state;
  const struct gpnn_panel_set *set;
  for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++)
    for (size_t o = 0; o < N_ORDERS - 1; o++) {
      struct block b;
      block_new(&b, set, orders[o], 2, 0.5);
      size_t n = b.n, lanes = 2 * set->lanes, room = (n + 15) / 16 * 16;
      float *a = gpnn_alloc(gpnn_panel_room(n, n + 2, lanes), 1, sizeof *a);
      float *z = gpnn_alloc(room, 1, sizeof *z);
      double *x = gpnn_alloc(room, 1, sizeof *x), *r = gpnn_alloc(room, 1, sizeof *r);
      assert_true(a != NULL && z != NULL && x != NULL && r != NULL);
      set->narrow(n, n + 2, b.a, a);
      assert_true(set->factor_float(n, n + 2, a));
      for (size_t j = 0; j < n; j++) {
        r[j] = *at(&b, n + 1, j);
        z[j] = (float)r[j];
      }
      set->forward(n, a, z);
      for (size_t j = 0; j < n; j++)
        assert_near((double)z[j], (double)a[gpnn_panel_at(n, lanes, n + 1, j)], 2e-4);
      set->backward(n, a, z);
      for (size_t j = 0; j < n; j++) x[j] = (double)z[j];
      set->subtract_product(n, b.a, x, r); /* a residual of the precision of floats */
      for (size_t i = 0; i < n; i++) {
        double left = *at(&b, n + 1, i);
        for (size_t j = 0; j < n; j++) left -= *at(&b, i > j ? i : j, i > j ? j : i) * x[j];
        assert_near(r[i], left, 1e-12);
        assert_near(r[i], 0, 1e-3);
      }
      free(a);
      free(z);
      free(x);
      free(r);
      block_free(&b);
    }
}

static void the_sets_are_those_of_the_processor_widest_first(void **state)
{
  (void)state;
  size_t n = 0;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    assert_ptr_equal(gpnn_panels_at(n++), &gpnn_panels_avx512);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    assert_ptr_equal(gpnn_panels_at(n++), &gpnn_panels_avx2);
#endif
  assert_ptr_equal(gpnn_panels_at(n), &gpnn_panels_portable);
  assert_null(gpnn_panels_at(n + 1));
  assert_ptr_equal(gpnn_panels_best(), gpnn_panels_at(0));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sets_are_those_of_the_processor_widest_first),
      cmocka_unit_test(factors_and_solutions_are_those_of_lapack),
      cmocka_unit_test(nearly_singular_matrices_are_the_product_of_their_factor),
      cmocka_unit_test(a_bad_number_anywhere_is_noticed),
      cmocka_unit_test(a_pivot_that_is_not_positive_is_noticed),
      cmocka_unit_test(a_solution_does_not_depend_on_the_other_right_hand_sides),
      cmocka_unit_test(solving_with_a_factor_is_what_factoring_does_below_it),
      cmocka_unit_test(inverse_times_the_matrix_is_the_identity),
      cmocka_unit_test(exponentials_are_within_a_unit_in_the_last_place),
      cmocka_unit_test(roots_are_within_a_unit_in_the_last_place),
      cmocka_unit_test(edges_of_correlations),
      cmocka_unit_test(a_block_has_the_correlations_of_its_points),
      cmocka_unit_test(distances_and_weighted_sums_are_those_of_the_points),
      cmocka_unit_test(squares_are_those_of_the_products),
      cmocka_unit_test(floats_solve_to_their_precision),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
