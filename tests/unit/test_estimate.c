#include "solvers.h"
#include "unit.h"

#include "linalg/dense.h"
#include "linalg/iterative/estimate.h"

enum { N = 20 };

/* A matrix without any symmetry, multiplied from its rows. */
static enum gpnn_status multiply(void *context, size_t columns, const double *x, double *y,
                                 struct gpnn_error *err)
{
  (void)err;
  const double *a = context;
  for (size_t j = 0; j < columns; j++)
    for (size_t i = 0; i < N; i++) {
      y[j * N + i] = 0;
      for (size_t k = 0; k < N; k++) y[j * N + i] += a[i * N + k] * x[j * N + k];
    }
  return GPNN_OK;
}

static struct gpnn_cg_matrix matrix_of(double *a)
{
  return (struct gpnn_cg_matrix){.outer = 1, .inner = N, .multiply = multiply, .context = a};
}

/* Many estimates of the same, each from 'd' vectors of its own: their moments, and the mean of the
 * squares of the errors that they state. */
struct moments {
  size_t n;
  double mean, squares, stated;
};

static void count(struct moments *m, const struct gpnn_estimate *e)
{
  double off = e->value - m->mean;
  m->mean += off / (double)++m->n;
  m->squares += off * (e->value - m->mean);
  m->stated += (e->error * e->error - m->stated) / (double)m->n;
}

/* They have this mean, and both their spread and their own errors this variance. */
static void check(const struct moments *m, double mean, double variance)
{
  double found = m->squares / (double)(m->n - 1);
  assert_near((m->mean - mean) / sqrt(variance / (double)m->n), 0, 4.5);
  assert_close(found, variance, 0.05);
  assert_close(m->stated, variance, 0.05);
}

/* 2/d (|S|^2 - sum S_ii^2) for signs, 2/d |S|^2 for normals. */
static double variance_of_trace(const double *a, enum gpnn_probes_kind kind, size_t d)
{
  double sum = 0;
  for (size_t i = 0; i < N; i++)
    for (size_t k = 0; k < N; k++) {
      double s = (a[i * N + k] + a[k * N + i]) / 2;
      if (i != k || kind == GPNN_PROBES_NORMALS) sum += s * s;
    }
  return 2 * sum / (double)d;
}

static void traces_have_the_mean_and_variance_of_theory(void **state)
{
  (void)state;
  double *a = normal_rows(N, N, 31), trace = 0;
  struct gpnn_cg_matrix matrix = matrix_of(a);
  for (size_t i = 0; i < N; i++) trace += a[i * N + i];
  for (int kind = 0; kind < 2; kind++) {
    struct gpnn_estimate_probes probes = {.n = 5, .kind = kind, .seed = 2, .threads = 1};
    struct moments m = {0};
    for (size_t draw = 0; draw < 20000; draw++, probes.first += 5) {
      struct gpnn_estimate e;
      assert_ok(gpnn_estimate_trace(&matrix, &probes, &e, &err));
      count(&m, &e);
    }
    check(&m, trace, variance_of_trace(a, kind, 5));
  }
  free(a);
}

/* sum_(k!=i) A_ik^2 / d, and for normals 2 A_ii^2 / d more. */
static double variance_of_element(const double *a, size_t i, enum gpnn_probes_kind kind, size_t d)
{
  double sum = kind == GPNN_PROBES_NORMALS ? 2 * a[i * N + i] * a[i * N + i] : 0;
  for (size_t k = 0; k < N; k++)
    if (k != i) sum += a[i * N + k] * a[i * N + k];
  return sum / (double)d;
}

static void diagonals_have_the_mean_and_variance_of_theory(void **state)
{
  (void)state;
  double *a = normal_rows(N, N, 32);
  struct gpnn_cg_matrix matrix = matrix_of(a);
  for (int kind = 0; kind < 2; kind++) {
    struct gpnn_estimate_probes probes = {.n = 5, .kind = kind, .seed = 3, .threads = 1};
    struct moments m[N] = {{0}};
    for (size_t draw = 0; draw < 20000; draw++, probes.first += 5) {
      struct gpnn_estimate e[N];
      assert_ok(gpnn_estimate_diagonal(&matrix, &probes, e, &err));
      for (size_t i = 0; i < N; i++) count(&m[i], &e[i]);
    }
    for (size_t i = 0; i < N; i++) check(&m[i], a[i * N + i], variance_of_element(a, i, kind, 5));
  }
  free(a);
}

static void the_inverse_has_its_trace_and_diagonal_however_truncated(void **state)
{
  (void)state;
  for (enum gpnn_truncation how = GPNN_TRUNCATION_NONE; how <= GPNN_TRUNCATION_QUADRATIC; how++) {
    struct dense_matrix m = smooth_matrix(1, 50, 5, 0.3);
    struct gpnn_dense dense = {m.n, m.a, 1};
    struct gpnn_cg_matrix direct = gpnn_dense_matrix(&dense), matrix = direct;
    struct gpnn_inverse inverse = {.matrix = &direct};
    inverse.options = (struct gpnn_truncated_cg_options){
        .truncation = how, .head = 0.1, .tolerance = 1e-8, .most_steps = 500, .threads = 1};
    inverse.options.rate = gpnn_truncation_rate(how, 0.1, 1e-8, 15);
    matrix.multiply = gpnn_inverse_multiply;
    matrix.context = &inverse;
    struct gpnn_estimate_probes probes = {.n = 4000, .seed = 3, .threads = 1};
    struct gpnn_estimate trace, diagonal[50];
    assert_ok(gpnn_estimate_trace(&matrix, &probes, &trace, &err));
    assert_ok(gpnn_estimate_diagonal(&matrix, &probes, diagonal, &err));
    double *unit = gpnn_alloc(m.n, m.n, sizeof *unit), sum = 0;
    for (size_t i = 0; i < m.n; i++) unit[i * m.n + i] = 1;
    double *exact = lapack_solve(&m, m.n, unit);
    for (size_t i = 0; i < m.n; i++) {
      sum += exact[i * m.n + i];
      assert_near((diagonal[i].value - exact[i * m.n + i]) / diagonal[i].error, 0, 4.5);
      assert_true(diagonal[i].error < 0.1 * diagonal[i].value);
    }
    assert_near((trace.value - sum) / trace.error, 0, 4.5);
    assert_true(inverse.report.n == 8000 && inverse.options.first == 8000);
    assert_true((inverse.report.most_weight > 1) == (how != GPNN_TRUNCATION_NONE));
    free(unit);
    free(exact);
    dense_release(&m);
  }
}

static void log_determinants_are_within_their_errors(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(10, 12, 5, 0.1);
  struct gpnn_cg_matrix matrix = as_cg_matrix(&m);
  struct gpnn_truncated_cg_options options = {
      .head = 0.1, .tolerance = 1e-8, .most_steps = 500, .threads = 1};
  double exact = lapack_logdet(m.n, m.a);
  for (int kind = 0; kind < 2; kind++) {
    struct gpnn_estimate_probes probes = {.n = 200, .kind = kind, .seed = 3, .threads = 1};
    struct gpnn_truncated_cg_report report = {0};
    struct gpnn_estimate e, few;
    assert_ok(gpnn_estimate_logdet(&matrix, &probes, &options, &e, &report, &err));
    assert_true(e.error > 0 && e.error < 0.02 * fabs(exact));
    assert_near(e.value, exact, 4.5 * e.error + 1e-6);
    assert_true(report.n == 200 && report.n_capped == 0 && report.most_weight == 1);
    options.truncation = GPNN_TRUNCATION_GEOMETRIC; /* makes no difference */
    options.rate = 1;
    assert_ok(gpnn_estimate_logdet(&matrix, &probes, &options, &few, &report, &err));
    assert_true(few.value == e.value && few.error == e.error);
    options.most_steps = 4;
    assert_ok(gpnn_estimate_logdet(&matrix, &probes, &options, &few, &report, &err));
    assert_true(report.n_capped == 200 && few.value != e.value);
    options.most_steps = 500;
  }
  dense_release(&m);
}

static void estimates_depend_on_seed_and_first_alone(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(5, 8, 5, 0.3);
  struct gpnn_cg_matrix matrix = as_cg_matrix(&m);
  struct gpnn_estimate_probes probes = {.n = 50, .seed = 3, .threads = 1}, other = probes;
  struct gpnn_estimate e[3], one[40], two[40];
  assert_ok(gpnn_estimate_trace(&matrix, &probes, &e[0], &err));
  assert_ok(gpnn_estimate_diagonal(&matrix, &probes, one, &err));
  other.threads = 3;
  assert_ok(gpnn_estimate_trace(&matrix, &other, &e[1], &err));
  assert_ok(gpnn_estimate_diagonal(&matrix, &other, two, &err));
  assert_memory_equal(&e[0], &e[1], sizeof e[0]);
  assert_memory_equal(one, two, sizeof one);
  double sum = 0;
  for (size_t i = 0; i < 40; i++) sum += one[i].value;
  assert_near(e[0].value, sum, 1e-10);
  other.first = 50;
  assert_ok(gpnn_estimate_trace(&matrix, &other, &e[2], &err));
  assert_true(e[2].value != e[0].value);
  dense_release(&m);
}

/* Signs on a diagonal matrix are exact; one vector says nothing of its error. */
static void special_cases_are_exact(void **state)
{
  (void)state;
  double a[N * N] = {0};
  struct gpnn_dense none = {.threads = 1};
  struct gpnn_cg_matrix matrix = matrix_of(a), nothing = gpnn_dense_matrix(&none);
  struct gpnn_estimate_probes probes = {.n = 3, .seed = 3, .threads = 1};
  struct gpnn_estimate trace = {0}, diagonal[N];
  for (size_t i = 0; i < N; i++) a[i * N + i] = (double)i + 0.5;
  assert_ok(gpnn_estimate_trace(&matrix, &probes, &trace, &err));
  assert_true(trace.value == N * N / 2 && trace.error == 0);
  probes.n = 1;
  assert_ok(gpnn_estimate_diagonal(&matrix, &probes, diagonal, &err));
  for (size_t i = 0; i < N; i++)
    assert_true(diagonal[i].value == (double)i + 0.5 && isinf(diagonal[i].error));
  probes.n = 2;
  assert_ok(gpnn_estimate_diagonal(&nothing, &probes, diagonal, &err));
  assert_ok(gpnn_estimate_trace(&nothing, &probes, &trace, &err));
  assert_true(trace.value == 0 && trace.error == 0);
  a[0] = NAN;
  assert_fails(gpnn_estimate_trace(&matrix, &probes, &trace, &err), GPNN_ENUMERIC, "not finite");
  assert_true(trace.value == 0);
}

static void failures_of_products_are_passed_on(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(1, 30, 5, 0.3);
  struct gpnn_cg_matrix matrix = as_cg_matrix(&m);
  struct gpnn_estimate_probes probes = {.n = 40, .seed = 3, .threads = 1};
  struct gpnn_truncated_cg_options options = {.head = 1, .tolerance = 1e-6, .most_steps = 99};
  struct gpnn_truncated_cg_report report = {0};
  struct gpnn_estimate e = {1, 2};
  options.threads = 1;
  m.n_most = 20;
  assert_fails(gpnn_estimate_trace(&matrix, &probes, &e, &err), GPNN_EIO, "out of order");
  m.n_products = 0;
  m.n_most = 200;
  assert_fails(gpnn_estimate_logdet(&matrix, &probes, &options, &e, &report, &err), GPNN_EIO,
               "out of order");
  assert_true(e.value == 1 && e.error == 2 && report.n == 0);
  dense_release(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(traces_have_the_mean_and_variance_of_theory),
      cmocka_unit_test(diagonals_have_the_mean_and_variance_of_theory),
      cmocka_unit_test(the_inverse_has_its_trace_and_diagonal_however_truncated),
      cmocka_unit_test(log_determinants_are_within_their_errors),
      cmocka_unit_test(estimates_depend_on_seed_and_first_alone),
      cmocka_unit_test(special_cases_are_exact),
      cmocka_unit_test(failures_of_products_are_passed_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
