#include "solvers.h"
#include "unit.h"

#include "linalg/blas_threads.h"
#include "linalg/factors/woodbury.h"
#include "linalg/iterative/lanczos.h"
#include "linalg/iterative/probes.h"

/* The steps that the columns of 'z' take to a residual of 'tolerance'. */
static struct gpnn_cg_steps steps_of(struct dense_matrix *m, size_t columns, const double *z,
                                     double tolerance)
{
  struct gpnn_cg_matrix matrix = as_cg_matrix(m);
  struct gpnn_cg_options options = {.tolerance = tolerance, .most_iterations = 400, .threads = 1};
  struct gpnn_cg_steps steps = {0};
  struct gpnn_cg_report report;
  double *x = gpnn_alloc(m->n, columns, sizeof *x);
  assert_non_null(x);
  assert_ok(gpnn_cg_solve(&matrix, columns, z, x, &options, &steps, &report, &err));
  assert_true(report.converged);
  free(x);
  return steps;
}

static struct gpnn_lanczos_estimate estimated(const struct gpnn_cg_steps *steps, size_t n)
{
  struct gpnn_lanczos_estimate e = {0};
  assert_ok(gpnn_lanczos_logdet(steps, 0, steps->columns, n, &e, &err));
  return e;
}

/* Over all unit vectors, the quadratures sum to the trace of log A. */
static void unit_vectors_give_the_log_determinant_itself(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(8, 5, 3, 0.05);
  double *z = gpnn_alloc(m.n, m.n, sizeof *z);
  for (size_t i = 0; i < m.n; i++) z[block_at(5, m.n, i, i)] = 3;
  struct gpnn_cg_steps steps = steps_of(&m, m.n, z, 1e-12);
  assert_near(estimated(&steps, m.n).value, lapack_logdet(m.n, m.a), 1e-6);
  gpnn_cg_steps_release(&steps);
  free(z);
  dense_release(&m);
}

/* So do the columns of a root of M, with M as the preconditioner, to log|A| - log|M|. */
static void columns_of_a_root_give_that_of_the_preconditioned_matrix(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(1, 40, 3, 0.05), other = smooth_matrix(1, 40, 3, 0.2);
  double *z = lapack_factor(m.n, other.a);
  m.inverse = lapack_factor(m.n, other.a);
  assert_int_equal(LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', 40, m.inverse, 40), 0);
  for (size_t i = 0; i < 40; i++)
    for (size_t k = i + 1; k < 40; k++) {
      m.inverse[k * 40 + i] = m.inverse[i * 40 + k];
      z[k * 40 + i] = 0;
    }
  struct gpnn_cg_steps steps = steps_of(&m, m.n, z, 1e-12);
  assert_near(estimated(&steps, m.n).value, lapack_logdet(m.n, m.a) - lapack_logdet(m.n, other.a),
              1e-6);
  gpnn_cg_steps_release(&steps);
  free(z);
  dense_release(&m);
  dense_release(&other);
}

/* Within four standard errors, which are those of the spread; from a part of the columns too. */
static void probes_estimate_it(void **state)
{
  (void)state;
  enum { PROBES = 200 };
  struct dense_matrix m = smooth_matrix(12, 5, 3, 0.1);
  double *z = gpnn_alloc(m.n, PROBES, sizeof *z), exact = lapack_logdet(m.n, m.a);
  for (int kind = 0; kind < 2; kind++) {
    gpnn_probes_draw(kind, 41, 0, 12, PROBES, 5, NULL, 1, z);
    struct gpnn_cg_steps steps = steps_of(&m, PROBES, z, 1e-8);
    struct gpnn_lanczos_estimate all = estimated(&steps, m.n), part;
    assert_true(fabs(all.value - exact) < 4 * all.error && all.error < 0.1 * fabs(exact));
    assert_ok(gpnn_lanczos_logdet(&steps, 100, 50, m.n, &part, &err));
    assert_true(fabs(part.value - exact) < 4 * part.error);
    assert_true(part.error > 1.3 * all.error && part.error < 3 * all.error);
    gpnn_cg_steps_release(&steps);
  }
  free(z);
  dense_release(&m);
}

/* Draws from N(0, M) under the preconditioner M, which takes most of the variance away. */
static void a_preconditioner_lessens_the_error(void **state)
{
  (void)state;
  enum { N = 60, PROBES = 60, RANK = 12 };
  struct dense_matrix m = smooth_matrix(N, 1, 3, 0.1);
  double *x = gpnn_alloc(N, PROBES, sizeof *x), *u = normal_rows(RANK, PROBES, 42);
  double *l = lapack_factor(N, m.a), *precision = gpnn_alloc(N, 1, sizeof *precision);
  for (size_t i = 0; i < N; i++) precision[i] = 1 / 0.1;
  for (size_t j = 0; j < RANK; j++)
    for (size_t i = 0; i < j; i++) l[j * N + i] = 0;
  struct gpnn_woodbury w;
  assert_ok(gpnn_woodbury_make(&w, N, 1, RANK, l, precision, 1, &err));
  gpnn_probes_draw(GPNN_PROBES_NORMALS, 43, 0, N, PROBES, 1, NULL, 1, x);
  struct gpnn_cg_steps plain = steps_of(&m, PROBES, x, 1e-8);
  for (size_t i = 0; i < N; i++)
    for (size_t k = 0; k < PROBES; k++) {
      double *draw = &x[i * PROBES + k];
      *draw /= sqrt(precision[i]);
      for (size_t j = 0; j < RANK; j++) *draw += l[j * N + i] * u[k * RANK + j];
    }
  m.inverse = gpnn_alloc(N, N, sizeof *m.inverse);
  for (size_t i = 0; i < N; i++) m.inverse[i * N + i] = 1;
  assert_ok(gpnn_woodbury_solve(&w, N, m.inverse, m.inverse, &err));
  struct gpnn_cg_steps with = steps_of(&m, PROBES, x, 1e-8);
  struct gpnn_lanczos_estimate before = estimated(&plain, N), after = estimated(&with, N);
  double exact = lapack_logdet(N, m.a);
  assert_true(fabs(after.value + w.log_determinant - exact) < 4 * after.error);
  assert_true(fabs(before.value - exact) < 4 * before.error && after.error < before.error);
  gpnn_cg_steps_release(&plain);
  gpnn_cg_steps_release(&with);
  gpnn_woodbury_release(&w);
  free(x);
  free(u);
  free(l);
  free(precision);
  dense_release(&m);
}

static void bad_steps_are_refused(void **state)
{
  (void)state;
  size_t n[] = {1, 0};
  double a[] = {0.5, 0.5}, b[] = {0, 0};
  struct gpnn_cg_steps steps = {.columns = 2, .capacity = 1, .n = n, .a = a, .b = b};
  struct gpnn_lanczos_estimate e = {0};
  assert_ok(gpnn_lanczos_logdet(&steps, 0, 1, 10, &e, &err));
  assert_close(e.value, 10 * log(2), 1e-14);
  assert_true(!isfinite(e.error));
  assert_fails(gpnn_lanczos_logdet(&steps, 0, 2, 10, &e, &err), GPNN_ENUMERIC, "from 0 steps");
  a[0] = -1;
  assert_fails(gpnn_lanczos_logdet(&steps, 0, 1, 10, &e, &err), GPNN_ENUMERIC,
               "not positive definite");
  a[0] = NAN;
  assert_fails(gpnn_lanczos_logdet(&steps, 0, 1, 10, &e, &err), GPNN_ENUMERIC, "no quadrature");
  assert_close(e.value, 10 * log(2), 1e-14);
  assert_ok(gpnn_lanczos_logdet(&steps, 0, 1, 0, &e, &err));
  assert_true(e.value == 0 && e.error == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unit_vectors_give_the_log_determinant_itself),
      cmocka_unit_test(columns_of_a_root_give_that_of_the_preconditioned_matrix),
      cmocka_unit_test(probes_estimate_it),
      cmocka_unit_test(a_preconditioner_lessens_the_error),
      cmocka_unit_test(bad_steps_are_refused),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
