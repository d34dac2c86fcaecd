#include "solvers.h"
#include "unit.h"

#include "linalg/blas_threads.h"
#include "linalg/iterative/block_cg.h"

/* Solves from 0; the caller frees the solution. */
static double *solved(struct dense_matrix *m, size_t columns, const double *b,
                      const struct gpnn_cg_options *options, struct gpnn_cg_report *report)
{
  struct gpnn_cg_matrix matrix = as_cg_matrix(m);
  double *x = gpnn_alloc(m->n, columns, sizeof *x);
  assert_non_null(x);
  assert_ok(gpnn_block_cg_solve(&matrix, columns, b, x, options, report, &err));
  return x;
}

static void check_solution(const struct dense_matrix *m, size_t columns, const double *b,
                           const double *x, double within_by)
{
  double *exact = lapack_solve(m, columns, b);
  for (size_t i = 0; i < m->n * columns; i++) assert_near(x[i], exact[i], within_by);
  free(exact);
}

static void solutions_are_those_of_a_factorisation_in_every_layout(void **state)
{
  (void)state;
  const size_t shapes[][3] = {{1, 60, 3}, {60, 1, 3}, {12, 5, 1},
                              {12, 5, 7}, {1, 1, 2},  {150, 1, 9}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
    for (int with = 0; with < 2; with++) {
      size_t columns = shapes[k][2];
      struct dense_matrix m = smooth_matrix(shapes[k][0], shapes[k][1], 4, 0.1);
      if (with) give_preconditioner(&m);
      double *b = normal_rows(m.n, columns, 5);
      struct gpnn_cg_options options = within(1e-12);
      struct gpnn_cg_report report;
      double *x = solved(&m, columns, b, &options, &report);
      assert_true(report.converged && report.residual <= 2e-12);
      check_solution(&m, columns, b, x, 1e-9);
      free(x);
      free(b);
      dense_release(&m);
    }
}

/* A column's own directions need as many iterations as there are eigenvalues, here all of them; the
 * directions of 10 columns a tenth, and one more for rounding. */
static void shared_directions_need_fewer_iterations(void **state)
{
  (void)state;
  enum { N = 60, COLUMNS = 10 };
  struct dense_matrix m = smooth_matrix(N, 1, 30, 0.1);
  memset(m.a, 0, sizeof(double) * N * N);
  for (size_t i = 0; i < N; i++) m.a[i * N + i] = 1 + (double)(i * i);
  double *b = normal_rows(N, COLUMNS, 8);
  struct gpnn_cg_options options = within(1e-9);
  struct gpnn_cg_report report, alone;
  free(solved(&m, COLUMNS, b, &options, &report));
  free(solved(&m, 1, b, &options, &alone));
  assert_true(report.converged && report.iterations <= N / COLUMNS + 1);
  assert_true(alone.iterations >= N / 2);
  free(b);
  dense_release(&m);
}

/* Equal ones, one that others add up to, one of zeros, and more of them than equations. */
static void dependent_right_hand_sides_are_solved_all_the_same(void **state)
{
  (void)state;
  enum { COLUMNS = 5 };
  for (size_t n = 3; n < 50; n += 46) {
    struct dense_matrix m = smooth_matrix(n, 1, 3, 0.1);
    double *b = normal_rows(n, COLUMNS, 11);
    struct gpnn_cg_options options = within(1e-11);
    struct gpnn_cg_report report;
    for (size_t i = 0; i < n; i++) {
      double *row = b + i * COLUMNS;
      row[1] = row[0];
      row[2] = row[0] + 2 * row[3];
      row[4] = 0;
    }
    double *x = solved(&m, COLUMNS, b, &options, &report);
    assert_true(report.converged);
    check_solution(&m, COLUMNS, b, x, 1e-9);
    for (size_t i = 0; i < n; i++) assert_true(x[i * COLUMNS + 4] == 0);
    free(x);
    free(b);
    dense_release(&m);
  }
}

/* Residuals that become dependent on the way: one column lies among few eigenvectors. */
static void a_column_that_ends_early_does_not_stop_the_others(void **state)
{
  (void)state;
  enum { N = 40, COLUMNS = 4 };
  struct dense_matrix m = smooth_matrix(N, 1, 3, 0.1);
  memset(m.a, 0, sizeof(double) * N * N);
  for (size_t i = 0; i < N; i++) m.a[i * N + i] = 1 + (double)i;
  double *b = normal_rows(N, COLUMNS, 12);
  for (size_t i = 2; i < N; i++) b[i * COLUMNS] = 0;
  struct gpnn_cg_options options = within(1e-11);
  struct gpnn_cg_report report;
  double *x = solved(&m, COLUMNS, b, &options, &report);
  assert_true(report.converged);
  check_solution(&m, COLUMNS, b, x, 1e-9);
  free(x);
  free(b);
  dense_release(&m);
}

static void a_good_start_saves_iterations(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(50, 1, 3, 0.01);
  struct gpnn_cg_matrix matrix = as_cg_matrix(&m);
  double *b = normal_rows(m.n, 3, 13);
  struct gpnn_cg_options options = within(1e-6);
  struct gpnn_cg_report cold, warm;
  double *x = solved(&m, 3, b, &options, &cold);
  assert_ok(gpnn_block_cg_solve(&matrix, 3, b, x, &options, &warm, &err));
  assert_int_equal(warm.iterations, 0);
  for (size_t i = 0; i < 3 * m.n; i++) x[i] *= 1 + 1e-5 * cos((double)i);
  assert_ok(gpnn_block_cg_solve(&matrix, 3, b, x, &options, &warm, &err));
  assert_true(warm.converged && warm.iterations > 0 && warm.iterations < cold.iterations);
  free(x);
  free(b);
  dense_release(&m);
}

static void told(void *context, size_t iteration, double residual)
{
  double *last = context;
  assert_true((double)iteration == last[0] + 1);
  last[0] = (double)iteration;
  last[1] = residual;
}

static void too_few_iterations_and_each_one_are_told(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(80, 1, 4, 0.001);
  double *b = normal_rows(m.n, 3, 7), last[2] = {0, 0};
  struct gpnn_cg_options options = within(1e-8);
  struct gpnn_cg_report report;
  options.most_iterations = 2;
  options.progress = told;
  options.progress_context = last;
  free(solved(&m, 3, b, &options, &report));
  assert_true(!report.converged && report.iterations == 2 && report.residual > 2e-8);
  assert_true(last[0] == 2 && fabs(last[1] - report.residual) < 1e-9);
  free(b);
  dense_release(&m);
}

static void bad_matrices_and_numbers_are_refused(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(10, 1, 3, 0.1);
  struct gpnn_cg_matrix matrix = as_cg_matrix(&m);
  double *b = normal_rows(m.n, 2, 16), *x = gpnn_alloc(m.n, 2, sizeof *x);
  struct gpnn_cg_options options = within(1e-6);
  struct gpnn_cg_report report;
  m.a[0] = -50;
  assert_fails(gpnn_block_cg_solve(&matrix, 2, b, x, &options, &report, &err), GPNN_ENUMERIC,
               "the matrix is not positive definite");
  m.a[0] = NAN;
  memset(x, 0, 2 * m.n * sizeof *x);
  assert_fails(gpnn_block_cg_solve(&matrix, 2, b, x, &options, &report, &err), GPNN_ENUMERIC,
               "a product with the matrix is not finite");
  m.a[0] = 1.1;
  m.n_most = 3;
  memset(x, 0, 2 * m.n * sizeof *x);
  assert_fails(gpnn_block_cg_solve(&matrix, 2, b, x, &options, &report, &err), GPNN_EIO,
               "out of order");
  m.n_most = 0;
  memset(x, 0, 2 * m.n * sizeof *x);
  b[3] = NAN;
  assert_fails(gpnn_block_cg_solve(&matrix, 2, b, x, &options, &report, &err), GPNN_ENUMERIC,
               "a right-hand side is not finite");
  assert_ok(gpnn_block_cg_solve(&matrix, 0, b, x, &options, &report, &err));
  assert_true(report.converged && report.iterations == 0);
  free(x);
  free(b);
  dense_release(&m);
}

/* A vector long enough for many pieces: a diagonal matrix. */
static enum gpnn_status scale(void *context, size_t columns, const double *x, double *y,
                              struct gpnn_error *err)
{
  const size_t *size = context;
  (void)err;
  for (size_t o = 0; o < size[0]; o++)
    for (size_t i = 0; i < columns * size[1]; i++)
      y[o * columns * size[1] + i] =
          x[o * columns * size[1] + i] * (1 + (double)((o * size[1] + i % size[1]) % 37));
  return GPNN_OK;
}

static void threads_do_not_change_the_bytes(void **state)
{
  (void)state;
  enum { COLUMNS = 6 };
  size_t size[2] = {301, 17}, n = size[0] * size[1] * COLUMNS;
  struct gpnn_cg_matrix matrix = {
      .outer = size[0], .inner = size[1], .multiply = scale, .context = size};
  double *b = normal_rows(size[0] * size[1], COLUMNS, 9), *first = gpnn_alloc(n, 1, sizeof *first),
         *x = gpnn_alloc(n, 1, sizeof *x);
  for (int threads = 1; threads <= 8; threads += 7) {
    struct gpnn_cg_options options = within(1e-8);
    struct gpnn_cg_report report;
    options.threads = threads;
    memset(x, 0, n * sizeof *x);
    assert_ok(gpnn_block_cg_solve(&matrix, COLUMNS, b, x, &options, &report, &err));
    assert_true(report.converged);
    if (threads == 1) memcpy(first, x, n * sizeof *x);
  }
  assert_memory_equal(first, x, n * sizeof *x);
  free(x);
  free(first);
  free(b);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solutions_are_those_of_a_factorisation_in_every_layout),
      cmocka_unit_test(shared_directions_need_fewer_iterations),
      cmocka_unit_test(dependent_right_hand_sides_are_solved_all_the_same),
      cmocka_unit_test(a_column_that_ends_early_does_not_stop_the_others),
      cmocka_unit_test(a_good_start_saves_iterations),
      cmocka_unit_test(too_few_iterations_and_each_one_are_told),
      cmocka_unit_test(bad_matrices_and_numbers_are_refused),
      cmocka_unit_test(threads_do_not_change_the_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
