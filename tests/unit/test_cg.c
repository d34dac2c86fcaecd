#include "solvers.h"
#include "unit.h"

#include "linalg/blas_threads.h"

/* Solves from 0, or from the 'x' given; the caller frees the solution. */
static double *solved(struct dense_matrix *m, size_t columns, const double *b,
                      const struct gpnn_cg_options *options, struct gpnn_cg_report *report)
{
  struct gpnn_cg_matrix matrix = as_cg_matrix(m);
  double *x = gpnn_alloc(m->n, columns, sizeof *x);
  assert_non_null(x);
  assert_ok(gpnn_cg_solve(&matrix, columns, b, x, options, NULL, report, &err));
  return x;
}

/* |b - A x| / |b| of column j. */
static double true_residual(const struct dense_matrix *m, size_t columns, const double *b,
                            const double *x, size_t j)
{
  double *ax = gpnn_alloc(m->n, columns, sizeof *ax), sum = 0, all = 0;
  assert_non_null(ax);
  dense_product(m, m->a, columns, x, ax);
  for (size_t i = 0; i < m->n; i++) {
    size_t at = block_at(m->inner, columns, i, j);
    sum += (b[at] - ax[at]) * (b[at] - ax[at]);
    all += b[at] * b[at];
  }
  free(ax);
  return all == 0 ? sum : sqrt(sum / all);
}

static double worst_residual(const struct dense_matrix *m, size_t columns, const double *b,
                             const double *x)
{
  double most = 0;
  for (size_t j = 0; j < columns; j++) most = fmax(most, true_residual(m, columns, b, x, j));
  return most;
}

static void solutions_are_those_of_a_factorisation_in_every_layout(void **state)
{
  (void)state;
  const size_t shapes[][3] = {{1, 60, 3}, {60, 1, 3}, {12, 5, 1}, {12, 5, 7}, {1, 1, 2}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
    for (int with = 0; with < 2; with++) {
      size_t columns = shapes[k][2];
      struct dense_matrix m = smooth_matrix(shapes[k][0], shapes[k][1], 4, 0.1);
      if (with) give_preconditioner(&m);
      double *b = normal_rows(m.n, columns, 5), *exact = lapack_solve(&m, columns, b);
      struct gpnn_cg_options options = within(1e-12);
      struct gpnn_cg_report report;
      double *x = solved(&m, columns, b, &options, &report);
      assert_true(report.converged);
      for (size_t i = 0; i < m.n * columns; i++) assert_near(x[i], exact[i], 1e-9);
      free(x);
      free(exact);
      free(b);
      dense_release(&m);
    }
}

static void the_residual_that_is_reported_is_the_true_one(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(20, 3, 3, 0.01);
  double *b = normal_rows(m.n, 4, 6);
  for (double tolerance = 0.3; tolerance > 1e-10; tolerance /= 7) {
    struct gpnn_cg_options options = within(tolerance);
    struct gpnn_cg_report report;
    double *x = solved(&m, 4, b, &options, &report);
    assert_true(report.converged && report.residual <= 2 * tolerance);
    assert_near(report.residual, worst_residual(&m, 4, b, x), 1e-12);
    free(x);
  }
  free(b);
  dense_release(&m);
}

static void an_iteration_less_is_not_enough(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(1, 60, 3, 0.01);
  double *b = normal_rows(m.n, 1, 7);
  struct gpnn_cg_options options = within(1e-3);
  struct gpnn_cg_report report, short_of;
  free(solved(&m, 1, b, &options, &report));
  options.most_iterations = report.iterations - 1;
  free(solved(&m, 1, b, &options, &short_of));
  assert_true(short_of.residual > 1e-3 && short_of.iterations == report.iterations - 1);
  options.most_iterations = 2;
  free(solved(&m, 1, b, &options, &short_of));
  assert_true(!short_of.converged && short_of.residual > 2e-3);
  free(b);
  dense_release(&m);
}

/* As many iterations as there are different eigenvalues: 2 for the unit matrix plus rank one; with
 * the inverse itself as preconditioner 1. */
static void iterations_are_as_many_as_eigenvalues(void **state)
{
  (void)state;
  enum { N = 40 };
  struct dense_matrix m = smooth_matrix(1, N, 3, 0.1);
  double *b = normal_rows(N, 1, 8);
  struct gpnn_cg_options options = within(1e-11);
  struct gpnn_cg_report report;
  for (size_t i = 0; i < N * N; i++)
    m.a[i] = (i % (N + 1) == 0) + cos((double)(i % N)) * cos((double)(i / N));
  free(solved(&m, 1, b, &options, &report));
  assert_int_equal(report.iterations, 2);
  m.inverse = lapack_factor(N, m.a);
  assert_int_equal(LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', N, m.inverse, N), 0);
  for (size_t i = 0; i < N; i++)
    for (size_t k = i; k < N; k++) m.inverse[k * N + i] = m.inverse[i * N + k];
  free(solved(&m, 1, b, &options, &report));
  assert_int_equal(report.iterations, 1);
  free(b);
  dense_release(&m);
}

/* Columns that have finished are left out of products: those of which the first direction is an
 * eigenvector take one iteration. */
static void finished_columns_cost_nothing(void **state)
{
  (void)state;
  enum { N = 30, COLUMNS = 8 };
  struct dense_matrix m = smooth_matrix(N, 1, 3, 0.01);
  for (size_t i = 0; i < N; i++) m.a[i * N] = m.a[i] = i == 0 ? 2 : 0;
  double *b = normal_rows(N, COLUMNS, 9);
  for (size_t j = 0; j < 5; j++)
    for (size_t i = 0; i < N; i++) b[i * COLUMNS + j] = i == 0 ? 1 + (double)j : 0;
  struct gpnn_cg_options options = within(1e-8);
  struct gpnn_cg_report report;
  double *x = solved(&m, COLUMNS, b, &options, &report);
  assert_true(report.iterations > 10 && worst_residual(&m, COLUMNS, b, x) <= 2e-8);
  assert_true(m.n_products <= COLUMNS + 3 * (report.iterations - 1) + COLUMNS);
  free(x);
  free(b);
  dense_release(&m);
}

/* Each column stops by its own residual, and what it is solved with makes no difference. */
static void columns_do_not_depend_on_each_other(void **state)
{
  (void)state;
  enum { COLUMNS = 6 };
  const size_t shapes[][2] = {{40, 1}, {1, 40}, {8, 5}};
  for (size_t k = 0; k < 3; k++) {
    struct dense_matrix m = smooth_matrix(shapes[k][0], shapes[k][1], 3, 0.01);
    double *b = normal_rows(m.n, COLUMNS, 10), *one = gpnn_alloc(m.n, 1, sizeof *one);
    struct gpnn_cg_options options = within(1e-4);
    struct gpnn_cg_report report;
    double *x = solved(&m, COLUMNS, b, &options, &report);
    assert_non_null(one);
    for (size_t j = 0; j < COLUMNS; j++) {
      for (size_t i = 0; i < m.n; i++) one[i] = b[block_at(m.inner, COLUMNS, i, j)];
      double *alone = solved(&m, 1, one, &options, &report);
      for (size_t i = 0; i < m.n; i++) assert_true(alone[i] == x[block_at(m.inner, COLUMNS, i, j)]);
      free(alone);
    }
    free(one);
    free(x);
    free(b);
    dense_release(&m);
  }
}

static void a_column_of_zeros_has_the_solution_zero(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(10, 3, 3, 0.1);
  struct gpnn_cg_matrix matrix = as_cg_matrix(&m);
  double *b = normal_rows(m.n, 3, 11), *x = normal_rows(m.n, 3, 12);
  for (size_t i = 0; i < m.n; i++) b[block_at(3, 3, i, 1)] = 0;
  struct gpnn_cg_options options = within(1e-10);
  struct gpnn_cg_report report;
  assert_ok(gpnn_cg_solve(&matrix, 3, b, x, &options, NULL, &report, &err));
  for (size_t i = 0; i < m.n; i++) assert_true(x[block_at(3, 3, i, 1)] == 0);
  assert_true(report.converged && worst_residual(&m, 3, b, x) <= 2e-10);
  memset(b, 0, 3 * m.n * sizeof *b);
  assert_ok(gpnn_cg_solve(&matrix, 3, b, x, &options, NULL, &report, &err));
  assert_true(report.converged && report.iterations == 0 && report.residual == 0);
  free(x);
  free(b);
  dense_release(&m);
}

static void a_good_start_saves_iterations(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(50, 1, 3, 0.01);
  struct gpnn_cg_matrix matrix = as_cg_matrix(&m);
  double *b = normal_rows(m.n, 2, 13);
  struct gpnn_cg_options options = within(1e-6);
  struct gpnn_cg_report cold, warm;
  double *x = solved(&m, 2, b, &options, &cold), *again = gpnn_alloc(m.n, 2, sizeof *again);
  memcpy(again, x, 2 * m.n * sizeof *x);
  for (size_t i = 0; i < m.n; i++) again[2 * i] *= 1 + 1e-5 * cos((double)i);
  assert_ok(gpnn_cg_solve(&matrix, 2, b, again, &options, NULL, &warm, &err));
  assert_true(warm.converged && warm.iterations < cold.iterations && warm.iterations > 0);
  for (size_t i = 0; i < m.n; i++) assert_true(again[2 * i + 1] == x[2 * i + 1]);
  assert_ok(gpnn_cg_solve(&matrix, 2, b, x, &options, NULL, &warm, &err));
  assert_int_equal(warm.iterations, 0);
  free(again);
  free(x);
  free(b);
  dense_release(&m);
}

/* Rounding lets the residuals that are updated fall without end; the true ones cannot. */
static void a_tolerance_out_of_reach_is_told(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(60, 1, 1, 1e-9);
  double *b = normal_rows(m.n, 1, 14);
  struct gpnn_cg_options options = within(1e-14);
  struct gpnn_cg_report report;
  double *x = solved(&m, 1, b, &options, &report);
  assert_true(!report.converged && report.residual > 2e-14);
  assert_true(report.iterations <= options.most_iterations);
  free(x);
  free(b);
  dense_release(&m);
}

static void the_mean_of_residuals_may_decide(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(80, 1, 4, 0.001);
  double *b = normal_rows(m.n, 5, 15), mean = 0;
  for (size_t i = 0; i < m.n; i++) b[i * 5] = 0;
  struct gpnn_cg_options options = within(0.01);
  struct gpnn_cg_report each, report;
  free(solved(&m, 5, b, &options, &each));
  options.stops_at_mean = true;
  double *x = solved(&m, 5, b, &options, &report);
  for (size_t j = 0; j < 5; j++) mean += true_residual(&m, 5, b, x, j) / 5;
  assert_true(report.converged && mean <= 0.02 && report.iterations <= each.iterations);
  free(x);
  free(b);
  dense_release(&m);
}

static void the_mean_is_not_trusted_before_eleven_iterations(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(80, 1, 30, 1);
  double *b = normal_rows(m.n, 3, 25);
  struct gpnn_cg_options options = within(0.1);
  struct gpnn_cg_report report;
  free(solved(&m, 3, b, &options, &report));
  assert_true(report.iterations < 11);
  options.stops_at_mean = true;
  free(solved(&m, 3, b, &options, &report));
  assert_int_equal(report.iterations, 11);
  free(b);
  dense_release(&m);
}

static void bad_matrices_are_refused(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(10, 1, 3, 0.1);
  struct gpnn_cg_matrix matrix = as_cg_matrix(&m);
  double *b = normal_rows(m.n, 2, 16), *x = gpnn_alloc(m.n, 2, sizeof *x);
  struct gpnn_cg_options options = within(1e-6);
  struct gpnn_cg_report report;
  m.a[0] = -50;
  assert_fails(gpnn_cg_solve(&matrix, 2, b, x, &options, NULL, &report, &err), GPNN_ENUMERIC,
               "the matrix is not positive definite");
  m.a[0] = NAN;
  memset(x, 0, 2 * m.n * sizeof *x);
  assert_fails(gpnn_cg_solve(&matrix, 2, b, x, &options, NULL, &report, &err), GPNN_ENUMERIC,
               "a product with the matrix is not finite");
  m.a[0] = 1.1;
  give_preconditioner(&m);
  matrix = as_cg_matrix(&m);
  memset(x, 0, 2 * m.n * sizeof *x);
  m.inverse[0] = -1e3;
  assert_fails(gpnn_cg_solve(&matrix, 2, b, x, &options, NULL, &report, &err), GPNN_ENUMERIC,
               "the preconditioner is not positive definite");
  free(x);
  free(b);
  dense_release(&m);
}

static void bad_numbers_are_refused_and_failures_passed_on(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(10, 1, 3, 0.1);
  struct gpnn_cg_matrix matrix = as_cg_matrix(&m);
  double *b = normal_rows(m.n, 1, 17), *x = gpnn_alloc(m.n, 1, sizeof *x);
  struct gpnn_cg_options options = within(1e-6);
  struct gpnn_cg_report report;
  m.n_most = 3;
  assert_fails(gpnn_cg_solve(&matrix, 1, b, x, &options, NULL, &report, &err), GPNN_EIO,
               "out of order");
  m.n_most = 0;
  x[3] = INFINITY;
  assert_fails(gpnn_cg_solve(&matrix, 1, b, x, &options, NULL, &report, &err), GPNN_ENUMERIC,
               "starting value is not finite");
  b[3] = 1e300;
  assert_fails(gpnn_cg_solve(&matrix, 1, b, x, &options, NULL, &report, &err), GPNN_ENUMERIC,
               "a right-hand side is not finite");
  assert_ok(gpnn_cg_solve(&matrix, 0, b, x, &options, NULL, &report, &err));
  assert_true(report.converged && report.iterations == 0);
  free(x);
  free(b);
  dense_release(&m);
}

/* A vector long enough for many pieces: a diagonal matrix. */
static enum gpnn_status scale(void *context, size_t columns, const double *x, double *y,
                              struct gpnn_error *err)
{
  (void)err;
  const struct gpnn_cg_matrix *m = context;
  for (size_t o = 0; o < m->outer; o++)
    for (size_t j = 0; j < columns; j++)
      for (size_t i = 0; i < m->inner; i++) {
        size_t at = (o * columns + j) * m->inner + i;
        y[at] = (1.5 + cos((double)(o * m->inner + i))) * x[at];
      }
  return GPNN_OK;
}

static void threads_make_no_difference(void **state)
{
  (void)state;
  enum { N = 60000, COLUMNS = 5 };
  const size_t shapes[][2] = {{1, N}, {N, 1}, {6, N / 6}, {N / 7, 7}, {3, N / 3}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    struct gpnn_cg_matrix matrix = {shapes[k][0], shapes[k][1], scale, NULL, NULL};
    size_t n = matrix.outer * matrix.inner * COLUMNS;
    double *b = normal_rows(n, 1, 18), *x[2];
    for (int t = 0; t < 2; t++) {
      struct gpnn_cg_options options = within(1e-9);
      struct gpnn_cg_report report;
      options.threads = t == 0 ? 1 : 3;
      matrix.context = &matrix;
      x[t] = gpnn_alloc(n, 1, sizeof *x[t]);
      assert_non_null(x[t]);
      assert_ok(gpnn_cg_solve(&matrix, COLUMNS, b, x[t], &options, NULL, &report, &err));
      assert_true(report.converged);
    }
    assert_memory_equal(x[0], x[1], n * sizeof *b);
    for (size_t i = 0; i < n; i += 97) {
      size_t o = i / (COLUMNS * matrix.inner), at = i % matrix.inner;
      assert_near(x[0][i], b[i] / (1.5 + cos((double)(o * matrix.inner + at))), 1e-6);
    }
    free(x[0]);
    free(x[1]);
    free(b);
  }
}

struct seen {
  size_t calls;
  double last;
};

static void look(void *context, size_t iteration, double residual)
{
  struct seen *seen = context;
  assert_int_equal(iteration, ++seen->calls);
  seen->last = residual;
}

static void every_iteration_is_told(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(30, 1, 3, 0.01);
  double *b = normal_rows(m.n, 2, 19);
  struct seen seen = {0};
  struct gpnn_cg_options options = within(1e-5);
  struct gpnn_cg_report report;
  options.progress = look;
  options.progress_context = &seen;
  free(solved(&m, 2, b, &options, &report));
  assert_int_equal(seen.calls, report.iterations);
  assert_true(seen.last <= 1e-5 && seen.last > 0);
  free(b);
  dense_release(&m);
}

/* The error in the norm of A never rises, and so 2 x'b - x'Ax, by which a variance falls, neither
 * falls nor exceeds what the solution gives. */
static void unfinished_solutions_approach_from_one_side(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(40, 1, 3, 0.01);
  double *b = normal_rows(m.n, 1, 20), *exact = lapack_solve(&m, 1, b), last = 0, limit = 0;
  double *ax = gpnn_alloc(m.n, 1, sizeof *ax);
  assert_non_null(ax);
  for (size_t i = 0; i < m.n; i++) limit += b[i] * exact[i];
  for (size_t k = 1; k <= 25; k++) {
    struct gpnn_cg_options options = within(1e-12);
    struct gpnn_cg_report report;
    options.most_iterations = k;
    double *x = solved(&m, 1, b, &options, &report), now = 0;
    dense_product(&m, m.a, 1, x, ax);
    for (size_t i = 0; i < m.n; i++) now += x[i] * (2 * b[i] - ax[i]);
    assert_true(now >= last * (1 - 1e-12) && now <= limit * (1 + 1e-12));
    last = now;
    free(x);
  }
  free(ax);
  free(exact);
  free(b);
  dense_release(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solutions_are_those_of_a_factorisation_in_every_layout),
      cmocka_unit_test(the_residual_that_is_reported_is_the_true_one),
      cmocka_unit_test(an_iteration_less_is_not_enough),
      cmocka_unit_test(iterations_are_as_many_as_eigenvalues),
      cmocka_unit_test(finished_columns_cost_nothing),
      cmocka_unit_test(columns_do_not_depend_on_each_other),
      cmocka_unit_test(a_column_of_zeros_has_the_solution_zero),
      cmocka_unit_test(a_good_start_saves_iterations),
      cmocka_unit_test(a_tolerance_out_of_reach_is_told),
      cmocka_unit_test(the_mean_of_residuals_may_decide),
      cmocka_unit_test(the_mean_is_not_trusted_before_eleven_iterations),
      cmocka_unit_test(bad_matrices_are_refused),
      cmocka_unit_test(bad_numbers_are_refused_and_failures_passed_on),
      cmocka_unit_test(threads_make_no_difference),
      cmocka_unit_test(every_iteration_is_told),
      cmocka_unit_test(unfinished_solutions_approach_from_one_side),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
