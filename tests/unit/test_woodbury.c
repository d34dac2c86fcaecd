#include "solvers.h"
#include "unit.h"

#include "linalg/blas_threads.h"
#include "linalg/factors/woodbury.h"

/* L and D^-1 at random, with holes where 'holes', and the dense L L' + D without them. */
struct case_of {
  struct dense_matrix m;
  size_t rank;
  double *l, *precision;
};

static struct case_of made(size_t outer, size_t inner, size_t rank, bool holes)
{
  size_t n = outer * inner;
  struct case_of c = {.m = {.outer = outer, .inner = inner, .n = n}, .rank = rank};
  c.l = normal_rows(n, rank, 31);
  c.precision = gpnn_alloc(n, 1, sizeof *c.precision);
  c.m.a = gpnn_alloc(n, n, sizeof *c.m.a);
  assert_true(c.precision != NULL && c.m.a != NULL);
  for (size_t i = 0; i < n; i++) c.precision[i] = holes && i % 4 == 1 ? 0 : 0.5 + (double)(i % 7);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++) {
      bool hole = c.precision[i] == 0 || c.precision[k] == 0;
      double sum = hole ? i == k : i == k ? 1 / c.precision[i] : 0;
      for (size_t j = 0; j < rank && !hole; j++) sum += c.l[j * n + i] * c.l[j * n + k];
      c.m.a[k * n + i] = sum;
    }
  return c;
}

static void release(struct case_of *c)
{
  free(c->l);
  free(c->precision);
  dense_release(&c->m);
}

static enum gpnn_status prepared(const struct case_of *c, int threads, struct gpnn_woodbury *w,
                                 struct gpnn_error *err)
{
  return gpnn_woodbury_make(w, c->m.outer, c->m.inner, c->rank, c->l, c->precision, threads, err);
}

static void solutions_and_determinants_are_those_of_the_dense_matrix(void **state)
{
  (void)state;
  const size_t shapes[][4] = {{1, 50, 5, 3}, {50, 1, 5, 3}, {10, 5, 7, 4},
                              {40, 9, 3, 1}, {1, 1, 1, 2},  {10, 5, 0, 2}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
    for (int holes = 0; holes < 2; holes++) {
      struct case_of c = made(shapes[k][0], shapes[k][1], shapes[k][2], holes);
      size_t columns = shapes[k][3], n = c.m.n;
      double *b = normal_rows(n, columns, 32), *x = gpnn_alloc(n, columns, sizeof *x);
      struct gpnn_woodbury w;
      assert_ok(prepared(&c, 1, &w, &err));
      assert_near(w.log_determinant, lapack_logdet(n, c.m.a), 1e-10);
      assert_ok(gpnn_woodbury_solve(&w, columns, b, x, &err));
      double *exact = lapack_solve(&c.m, columns, b);
      for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < columns; j++) {
          size_t at = block_at(c.m.inner, columns, i, j);
          assert_near(x[at], c.precision[i] == 0 ? 0 : exact[at], 1e-11);
        }
      assert_ok(gpnn_woodbury_solve(&w, columns, b, b, &err)); /* in place */
      assert_memory_equal(b, x, n * columns * sizeof *b);
      free(exact);
      free(x);
      free(b);
      gpnn_woodbury_release(&w);
      release(&c);
    }
}

static void bad_numbers_are_refused(void **state)
{
  (void)state;
  struct case_of c = made(5, 2, 2, false);
  struct gpnn_woodbury w;
  const double bad[] = {-1, NAN, INFINITY};
  for (size_t k = 0; k < 3; k++) {
    c.precision[3] = bad[k];
    assert_fails(prepared(&c, 1, &w, &err), GPNN_ENUMERIC, "noise variance");
    assert_true(w.factor == NULL);
  }
  c.precision[3] = 1;
  c.l[4] = NAN;
  assert_fails(prepared(&c, 1, &w, &err), GPNN_ENUMERIC, "not finite");
  gpnn_woodbury_release(&w);
  c.m.outer = 0;
  assert_ok(prepared(&c, 1, &w, &err));
  assert_true(w.log_determinant == 0);
  assert_ok(gpnn_woodbury_solve(&w, 1, NULL, NULL, &err));
  gpnn_woodbury_release(&w);
  release(&c);
}

static void threads_make_no_difference(void **state)
{
  (void)state;
  enum { OUTER = 900, INNER = 31, RANK = 6, COLUMNS = 3, N = OUTER * INNER };
  double *l = normal_rows(N, RANK, 33), *x = normal_rows(N, COLUMNS, 34), *y[2];
  double *precision = normal_rows(N, 1, 35);
  for (size_t i = 0; i < N; i++) precision[i] *= precision[i];
  for (int t = 0; t < 2; t++) {
    struct gpnn_woodbury w;
    y[t] = gpnn_alloc(N, COLUMNS, sizeof *y[t]);
    assert_ok(gpnn_woodbury_make(&w, OUTER, INNER, RANK, l, precision, 1 + 2 * t, &err));
    assert_ok(gpnn_woodbury_solve(&w, COLUMNS, x, y[t], &err));
    gpnn_woodbury_release(&w);
  }
  assert_memory_equal(y[0], y[1], (size_t)N * COLUMNS * sizeof *x);
  free(l);
  free(x);
  free(precision);
  free(y[0]);
  free(y[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solutions_and_determinants_are_those_of_the_dense_matrix),
      cmocka_unit_test(bad_numbers_are_refused),
      cmocka_unit_test(threads_make_no_difference),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
