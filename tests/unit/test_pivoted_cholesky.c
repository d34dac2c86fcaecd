#include "solvers.h"
#include "unit.h"

#include "linalg/blas_threads.h"
#include "linalg/factors/pivoted_cholesky.h"

static enum gpnn_status dense_row(void *context, size_t i, double *row, struct gpnn_error *err)
{
  const struct dense_matrix *m = context;
  if (m->n_most > 0 && i == m->n_most) return gpnn_fail(err, GPNN_EIO, "no such row");
  for (size_t k = 0; k < m->n; k++) row[k] = m->a[k * m->n + i];
  return GPNN_OK;
}

/* Of the first 'most' columns of 'm', with its own diagonal. */
static enum gpnn_status factored(struct dense_matrix *m, size_t most, double remainder,
                                 struct gpnn_pivoted_cholesky *to, struct gpnn_error *err)
{
  double *diagonal = gpnn_alloc(m->n, 1, sizeof *diagonal);
  assert_non_null(diagonal);
  for (size_t i = 0; i < m->n; i++) diagonal[i] = m->a[i * m->n + i];
  struct gpnn_pivoted_matrix matrix = {m->n, diagonal, dense_row, m};
  enum gpnn_status status = gpnn_pivoted_cholesky(&matrix, most, remainder, 1, to, err);
  free(diagonal);
  return status;
}

/* Element (i, k) of A - L L' with the first 'rank' columns. */
static double left(const struct dense_matrix *m, const struct gpnn_pivoted_cholesky *f, size_t rank,
                   size_t i, size_t k)
{
  double sum = m->a[k * m->n + i];
  for (size_t j = 0; j < rank; j++) sum -= f->l[j * m->n + i] * f->l[j * m->n + k];
  return sum;
}

static void all_columns_give_the_matrix(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(1, 50, 3, 0.1);
  struct gpnn_pivoted_cholesky f;
  assert_ok(factored(&m, 1000, 0, &f, &err));
  assert_int_equal(f.rank, m.n);
  for (size_t i = 0; i < m.n; i++)
    for (size_t k = 0; k < m.n; k++) assert_near(left(&m, &f, f.rank, i, k), 0, 1e-13);
  assert_near(f.remainder, 0, 1e-13);
  gpnn_pivoted_cholesky_release(&f);
  dense_release(&m);
}

/* Each pivot is the first of the largest elements that remain on the diagonal. */
static void pivots_are_the_largest_that_remain(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(1, 60, 4, 0.05);
  struct gpnn_pivoted_cholesky f;
  assert_ok(factored(&m, 12, 0, &f, &err));
  assert_int_equal(f.rank, 12);
  assert_int_equal(f.pivot[0], 0); /* all are equal */
  for (size_t r = 0; r < f.rank; r++)
    for (size_t i = 0; i < m.n; i++) {
      double mine = left(&m, &f, r, f.pivot[r], f.pivot[r]), other = left(&m, &f, r, i, i);
      assert_true(mine >= other - 1e-14 && other >= -1e-14);
      assert_near(left(&m, &f, r + 1, f.pivot[r], i), 0, 1e-14);
    }
  double trace = 0, all = 0;
  for (size_t i = 0; i < m.n; i++) trace += left(&m, &f, f.rank, i, i);
  for (size_t i = 0; i < m.n; i++) all += m.a[i * m.n + i];
  assert_close(f.remainder, trace / all, 1e-12);
  gpnn_pivoted_cholesky_release(&f);
  dense_release(&m);
}

static void ties_go_to_the_first(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(1, 9, 1, 0);
  struct gpnn_pivoted_cholesky f;
  for (size_t i = 0; i < 81; i++) m.a[i] = i % 10 == 0 ? 2 - (double)(i == 0) : 0;
  assert_ok(factored(&m, 20, 0, &f, &err));
  assert_int_equal(f.rank, 9);
  for (size_t r = 0; r < 9; r++) assert_int_equal(f.pivot[r], (r + 1) % 9);
  gpnn_pivoted_cholesky_release(&f);
  dense_release(&m);
}

static void it_stops_when_little_of_the_trace_remains(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(1, 80, 2, 0);
  struct gpnn_pivoted_cholesky few, fewer, none;
  assert_ok(factored(&m, 80, 1e-3, &few, &err));
  assert_true(few.remainder <= 1e-3 && few.rank < 40);
  assert_ok(factored(&m, few.rank - 1, 1e-3, &fewer, &err));
  assert_true(fewer.remainder > 1e-3);
  assert_ok(factored(&m, 0, 0, &none, &err));
  assert_true(none.rank == 0 && none.remainder == 1);
  gpnn_pivoted_cholesky_release(&none);
  gpnn_pivoted_cholesky_release(&few);
  gpnn_pivoted_cholesky_release(&fewer);
  dense_release(&m);
}

static void rank_ends_where_rounding_begins(void **state)
{
  (void)state;
  enum { N = 30 };
  struct dense_matrix m = smooth_matrix(1, N, 1, 0);
  struct gpnn_pivoted_cholesky f;
  for (size_t i = 0; i < N * N; i++) {
    double x = (double)(i / N), y = (double)(i % N);
    m.a[i] = 1 + x * y + cos(x) * cos(y);
  }
  assert_ok(factored(&m, N, 0, &f, &err));
  assert_int_equal(f.rank, 3);
  gpnn_pivoted_cholesky_release(&f);
  memset(m.a, 0, N * N * sizeof *m.a);
  assert_ok(factored(&m, N, 0, &f, &err));
  assert_true(f.rank == 0 && f.remainder == 0);
  gpnn_pivoted_cholesky_release(&f);
  dense_release(&m);
}

static void holes_stay_zero_and_do_not_matter(void **state)
{
  (void)state;
  enum { N = 40 };
  struct dense_matrix m = smooth_matrix(1, N, 3, 0.01);
  struct gpnn_pivoted_cholesky f;
  for (size_t i = 0; i < N * N; i++)
    if (i % N % 3 == 0 || i / N % 3 == 0) m.a[i] = 0;
  assert_ok(factored(&m, N, 0, &f, &err));
  assert_int_equal(f.rank, 26);
  for (size_t j = 0; j < f.rank; j++)
    for (size_t i = 0; i < N; i += 3) assert_true(f.l[j * N + i] == 0);
  gpnn_pivoted_cholesky_release(&f);
  dense_release(&m);
}

static void bad_matrices_are_refused(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(1, 10, 3, 0.1);
  struct gpnn_pivoted_cholesky f = {0};
  m.a[33] = -1;
  assert_fails(factored(&m, 5, 0, &f, &err), GPNN_ENUMERIC, "not positive semidefinite: pivot -1");
  m.a[33] = 1.1;
  m.a[3] = m.a[30] = 4;
  assert_fails(factored(&m, 10, 0, &f, &err), GPNN_ENUMERIC, "not positive semidefinite");
  m.a[3] = m.a[30] = NAN;
  assert_fails(factored(&m, 10, 0, &f, &err), GPNN_ENUMERIC, "not finite");
  m.a[0] = INFINITY;
  assert_fails(factored(&m, 10, 0, &f, &err), GPNN_ENUMERIC, "not finite");
  m.a[0] = 5;
  m.a[44] = 9;
  m.n_most = 4;
  assert_fails(factored(&m, 10, 0, &f, &err), GPNN_EIO, "no such row");
  assert_true(f.l == NULL && f.pivot == NULL && f.rank == 0);
  m.n = 0;
  assert_ok(factored(&m, 10, 0, &f, &err));
  gpnn_pivoted_cholesky_release(&f);
  dense_release(&m);
}

/* exp(-|i - k| / 50), in pieces of thousands of rows. */
static enum gpnn_status long_row(void *context, size_t i, double *row, struct gpnn_error *err)
{
  (void)err;
  size_t n = *(const size_t *)context;
  for (size_t k = 0; k < n; k++) row[k] = exp(-fabs((double)i - (double)k) / 50);
  return GPNN_OK;
}

static void threads_make_no_difference(void **state)
{
  (void)state;
  size_t n = 30011;
  double *diagonal = gpnn_alloc(n, 1, sizeof *diagonal);
  struct gpnn_pivoted_cholesky f[2];
  for (size_t i = 0; i < n; i++) diagonal[i] = 1;
  struct gpnn_pivoted_matrix matrix = {n, diagonal, long_row, &n};
  for (int t = 0; t < 2; t++)
    assert_ok(gpnn_pivoted_cholesky(&matrix, 15, 0, 1 + 2 * t, &f[t], &err));
  assert_memory_equal(f[0].l, f[1].l, 15 * n * sizeof *diagonal);
  assert_memory_equal(f[0].pivot, f[1].pivot, 15 * sizeof *f[0].pivot);
  gpnn_pivoted_cholesky_release(&f[0]);
  gpnn_pivoted_cholesky_release(&f[1]);
  free(diagonal);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_columns_give_the_matrix),
      cmocka_unit_test(pivots_are_the_largest_that_remain),
      cmocka_unit_test(ties_go_to_the_first),
      cmocka_unit_test(it_stops_when_little_of_the_trace_remains),
      cmocka_unit_test(rank_ends_where_rounding_begins),
      cmocka_unit_test(holes_stay_zero_and_do_not_matter),
      cmocka_unit_test(bad_matrices_are_refused),
      cmocka_unit_test(threads_make_no_difference),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
