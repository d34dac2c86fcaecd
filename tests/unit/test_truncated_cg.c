#include "solvers.h"
#include "unit.h"

#include "linalg/dense.h"
#include "linalg/iterative/truncated_cg.h"

enum { N = 60, BLOCK = 250 };

/* As many draws of a solution as the moments of its elements need. */
struct moments {
  size_t n;
  double mean[N], squares[N]; /* the second is the sum of squared deviations */
};

static void count(struct moments *m, const double *x)
{
  m->n++;
  for (size_t i = 0; i < N; i++) {
    double off = x[i] - m->mean[i];
    m->mean[i] += off / (double)m->n;
    m->squares[i] += off * (x[i] - m->mean[i]);
  }
}

/* The steps of textbook conjugate gradients that end at 'tolerance': 'path' gets them one after
 * another, 'residual' what is left after each; returns how many. */
static size_t textbook(const struct dense_matrix *m, const double *b, double tolerance, size_t most,
                       double *path, double *residual)
{
  double r[N], p[N], q[N], rho = 0, norm = 0;
  for (size_t i = 0; i < m->n; i++) rho += (r[i] = p[i] = b[i]) * b[i];
  norm = sqrt(rho);
  for (size_t k = 0; k < most; k++) {
    double curvature = 0, next = 0;
    dense_product(m, m->a, 1, p, q);
    for (size_t i = 0; i < m->n; i++) curvature += p[i] * q[i];
    for (size_t i = 0; i < m->n; i++) {
      path[k * m->n + i] = rho / curvature * p[i];
      r[i] -= rho / curvature * q[i];
      next += r[i] * r[i];
    }
    residual[k] = sqrt(next) / norm;
    if (residual[k] <= tolerance) return k + 1;
    for (size_t i = 0; i < m->n; i++) p[i] = r[i] + next / rho * p[i];
    rho = next;
  }
  return most;
}

/* A system, its steps, and what follows from them for a truncation. */
struct example {
  struct dense_matrix m;
  struct gpnn_dense dense;
  double *b;
  double path[N * N], residual[N];
  size_t head, steps; /* the first to reach the head's residual, and the tolerance */
  struct gpnn_truncated_cg_options options;
};

static struct example example(enum gpnn_truncation truncation, double rate)
{
  struct example e = {.m = smooth_matrix(1, N, 6, 0.5), .b = normal_rows(N, 1, 21)};
  e.options = (struct gpnn_truncated_cg_options){.truncation = truncation,
                                                 .head = 0.1,
                                                 .tolerance = 3e-7,
                                                 .rate = rate,
                                                 .most_steps = 1000,
                                                 .seed = 4,
                                                 .threads = 1};
  e.dense = (struct gpnn_dense){N, e.m.a, 1};
  e.steps = textbook(&e.m, e.b, e.options.tolerance, N, e.path, e.residual);
  while (e.residual[e.head++] > e.options.head) continue;
  return e;
}

static void release(struct example *e)
{
  dense_release(&e->m);
  free(e->b);
}

/* The sum of the first 'steps' steps. */
static void after(const struct example *e, size_t steps, double x[N])
{
  memset(x, 0, N * sizeof *x);
  for (size_t k = 0; k < steps; k++)
    for (size_t i = 0; i < N; i++) x[i] += e->path[k * N + i];
}

/* Weights W_j of the steps below the head. */
static void weights_of(const struct example *e, double w[N])
{
  for (size_t j = 0; j < e->steps - e->head; j++) {
    double k = (double)j;
    w[j] =
        exp(e->options.truncation == GPNN_TRUNCATION_GEOMETRIC ? e->options.rate * k
                                                               : e->options.rate * k * (k + 1) / 2);
  }
}

/* sum_jk (W_min(j,k) - 1) delta_ji delta_ki. */
static double variance_of(const struct example *e, const double w[N], size_t i)
{
  double sum = 0;
  size_t tail = e->steps - e->head;
  for (size_t j = 0; j < tail; j++)
    for (size_t k = 0; k < tail; k++)
      sum +=
          (w[j < k ? j : k] - 1) * e->path[(e->head + j) * N + i] * e->path[(e->head + k) * N + i];
  return sum;
}

static double expected_tail(const struct example *e, const double w[N])
{
  double sum = 0;
  for (size_t j = 0; j < e->steps - e->head; j++) sum += 1 / w[j];
  return sum;
}

/* Adds 'draws' solutions of the same right-hand side to the moments. */
static void draw(struct example *e, size_t draws, struct moments *m,
                 struct gpnn_truncated_cg_report *report)
{
  struct gpnn_cg_matrix matrix = gpnn_dense_matrix(&e->dense);
  double *b = gpnn_alloc(BLOCK, N, sizeof *b), *x = gpnn_alloc(BLOCK, N, sizeof *x);
  assert_true(b != NULL && x != NULL);
  for (size_t j = 0; j < BLOCK; j++) memcpy(b + j * N, e->b, N * sizeof *b);
  for (size_t k = 0; k < draws; k += BLOCK) {
    e->options.first = k;
    assert_ok(gpnn_truncated_cg_solve(&matrix, BLOCK, b, x, &e->options, NULL, report, &err));
    for (size_t j = 0; j < BLOCK; j++) count(m, x + j * N);
  }
  free(b);
  free(x);
}

static void means_and_variances_of_solutions_are_those_of_theory(void **state)
{
  (void)state;
  const enum gpnn_truncation truncations[] = {GPNN_TRUNCATION_QUADRATIC, GPNN_TRUNCATION_GEOMETRIC};
  const double rates[] = {0.01, 0.2};
  for (size_t t = 0; t < 2; t++) {
    struct example e = example(truncations[t], rates[t]);
    struct moments m = {0};
    struct gpnn_truncated_cg_report report = {0};
    double exact[N], w[N], ratio = 0;
    draw(&e, 40000, &m, &report);
    after(&e, e.steps, exact);
    weights_of(&e, w);
    for (size_t i = 0; i < N; i++) {
      double variance = variance_of(&e, w, i), found = m.squares[i] / (double)(m.n - 1);
      assert_near((m.mean[i] - exact[i]) / sqrt(variance / (double)m.n), 0, 4.5);
      ratio += sqrt(found / variance) / N;
    }

    assert_near(ratio, 1, 0.05);
    assert_close((double)report.tail / (double)report.n, expected_tail(&e, w), 0.02);
    assert_int_equal(report.steps, report.tail + report.n * e.head);
    assert_true(report.n_capped == 0 && report.n_refused == 0);
    assert_close(report.most_weight, w[e.steps - e.head - 1], 1e-12);
    release(&e);
  }
}

static void without_truncation_solutions_are_those_of_a_factorisation(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(1, 300, 6, 0.1);
  struct gpnn_dense dense = {m.n, m.a, 2};
  struct gpnn_cg_matrix matrix = gpnn_dense_matrix(&dense);
  struct gpnn_truncated_cg_options options = {
      .head = 1e-2, .tolerance = 1e-10, .most_steps = 1000, .threads = 1};
  struct gpnn_truncated_cg_report report = {0};
  double *b = normal_rows(m.n, 5, 3), *exact = lapack_solve(&m, 5, b);
  double *x = normal_rows(m.n, 5, 4); /* whatever was there */
  assert_ok(gpnn_truncated_cg_solve(&matrix, 5, b, x, &options, NULL, &report, &err));
  for (size_t i = 0; i < 5 * m.n; i++) assert_near(x[i], exact[i], 1e-8);
  assert_true(report.n == 5 && report.most_weight == 1 && report.tail < report.steps);
  assert_true(report.most > 50 && report.steps >= 5 * (report.most - 10));
  free(x);
  free(exact);
  free(b);
  dense_release(&m);
}

/* 2 b'x - x'A x of the solution that the options give. */
static double lower_bound(struct example *e)
{
  struct gpnn_cg_matrix matrix = gpnn_dense_matrix(&e->dense);
  struct gpnn_truncated_cg_report report = {0};
  double x[N], product[N], bound = 0;
  assert_ok(gpnn_truncated_cg_solve(&matrix, 1, e->b, x, &e->options, NULL, &report, &err));
  dense_product(&e->m, e->m.a, 1, x, product);
  for (size_t i = 0; i < N; i++) bound += 2 * e->b[i] * x[i] - x[i] * product[i];
  return bound;
}

static void any_solution_bounds_a_quadratic_form_from_below(void **state)
{
  (void)state;
  struct example e = example(GPNN_TRUNCATION_GEOMETRIC, 0.5);
  double *exact = lapack_solve(&e.m, 1, e.b), form = 0, before = 0;
  for (size_t i = 0; i < N; i++) form += e.b[i] * exact[i];
  for (e.options.first = 0; e.options.first < 50; e.options.first++)
    assert_true(lower_bound(&e) <= form * (1 + 1e-12));
  e.options.truncation = GPNN_TRUNCATION_NONE;
  for (e.options.most_steps = 1; e.options.most_steps <= e.steps; e.options.most_steps++) {
    double bound = lower_bound(&e);
    assert_true(bound > before && bound <= form * (1 + 1e-12));
    before = bound;
  }
  assert_close(before, form, 1e-9);
  free(exact);
  release(&e);
}

/* The mean of x'z over 'draws' pairs, less |x_T|^2, and its standard error. */
static double excess(struct example *e, bool shares, size_t draws, double *error)
{
  struct gpnn_cg_matrix matrix = gpnn_dense_matrix(&e->dense);
  double mean = 0, squares = 0, both[2 * N], x[2 * N], exact[N], square = 0;
  struct gpnn_truncated_cg_report report = {0};
  after(e, e->steps, exact);
  for (size_t i = 0; i < N; i++) square += exact[i] * exact[i];
  for (size_t i = 0; i < 2 * N; i++) both[i] = e->b[i % N];
  for (size_t draw = 0; draw < draws; draw++) {
    double product = 0, off;
    e->options.first = 2 * draw;
    assert_ok(gpnn_truncated_cg_solve(&matrix, 2, both, x, &e->options, NULL, &report, &err));
    for (size_t i = 0; i < N; i++) product += x[i] * x[shares ? i : N + i];
    off = product - mean;
    mean += off / (double)(draw + 1);
    squares += off * (product - mean);
  }
  *error = sqrt(squares / (double)(draws - 1) / (double)draws);
  return mean - square;
}

static void products_are_unbiased_only_if_truncations_are_independent(void **state)
{
  (void)state;
  struct example e = example(GPNN_TRUNCATION_GEOMETRIC, 0.6);
  double w[N], error = 0, covariance = 0, found;
  weights_of(&e, w);
  for (size_t i = 0; i < N; i++) covariance += variance_of(&e, w, i);
  found = excess(&e, false, 4000, &error);
  assert_near(found / error, 0, 4.5);
  found = excess(&e, true, 4000, &error);
  assert_true(found > 4.5 * error);
  assert_near((found - covariance) / error, 0, 4.5);
  release(&e);
}

static void a_column_depends_on_its_stream_alone(void **state)
{
  (void)state;
  enum { COLUMNS = 9 };
  struct dense_matrix m = smooth_matrix(COLUMNS, 11, 6, 0.5);
  struct gpnn_cg_matrix matrix = as_cg_matrix(&m);
  struct gpnn_truncated_cg_options options = {.truncation = GPNN_TRUNCATION_GEOMETRIC,
                                              .head = 0.1,
                                              .tolerance = 1e-6,
                                              .rate = 0.3,
                                              .most_steps = 500,
                                              .seed = 8,
                                              .first = 70,
                                              .threads = 1};
  struct gpnn_truncated_cg_report report = {0}, others = {0};
  double *b = normal_rows(m.n, COLUMNS, 5), *x = normal_rows(m.n, COLUMNS, 6);
  double *again = normal_rows(m.n, COLUMNS, 7), *one = normal_rows(m.n, 2, 8);
  assert_ok(gpnn_truncated_cg_solve(&matrix, COLUMNS, b, x, &options, NULL, &report, &err));
  options.threads = 3;
  assert_ok(gpnn_truncated_cg_solve(&matrix, COLUMNS, b, again, &options, NULL, &others, &err));
  assert_memory_equal(x, again, m.n * COLUMNS * sizeof *x);
  assert_memory_equal(&report, &others, sizeof report);
  for (size_t j = 0; j < COLUMNS; j++) {
    options.first = 70 + j;
    for (size_t i = 0; i < m.n; i++) one[i] = b[block_at(m.inner, COLUMNS, i, j)];
    assert_ok(gpnn_truncated_cg_solve(&matrix, 1, one, one + m.n, &options, NULL, &others, &err));
    for (size_t i = 0; i < m.n; i++)
      assert_near(one[m.n + i], x[block_at(m.inner, COLUMNS, i, j)], 1e-9);
  }
  assert_int_equal(others.steps, 2 * report.steps);
  free(b);
  free(x);
  free(again);
  free(one);
  dense_release(&m);
}

static void a_preconditioner_changes_steps_but_not_the_mean(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(1, N, 6, 0.1);
  struct gpnn_truncated_cg_options options = {.truncation = GPNN_TRUNCATION_GEOMETRIC,
                                              .head = 0.5,
                                              .tolerance = 1e-6,
                                              .rate = 0.1,
                                              .most_steps = 500,
                                              .threads = 1};
  struct gpnn_truncated_cg_report report = {0};
  struct moments moments = {0};
  double *b = normal_rows(N, 1, 9), *exact = lapack_solve(&m, 1, b), x[N];
  m.inverse = gpnn_alloc(N, N, sizeof *m.inverse);
  assert_non_null(m.inverse);
  for (size_t i = 0; i < N; i++) m.inverse[i * N + i] = 1 + (double)(i % 2);
  struct gpnn_cg_matrix matrix = as_cg_matrix(&m);
  for (options.first = 0; options.first < 2000; options.first++) {
    assert_ok(gpnn_truncated_cg_solve(&matrix, 1, b, x, &options, NULL, &report, &err));
    count(&moments, x);
  }
  for (size_t i = 0; i < N; i++) {
    double error = sqrt(moments.squares[i] / (double)moments.n / (double)(moments.n - 1));
    assert_near((moments.mean[i] - exact[i]) / error, 0, 4.5);
  }
  free(exact);
  free(b);
  dense_release(&m);
}

static void a_pilot_makes_the_last_weight_the_ratio_of_tolerances(void **state)
{
  (void)state;
  struct example e = example(GPNN_TRUNCATION_QUADRATIC, 0);
  struct gpnn_cg_matrix matrix = gpnn_dense_matrix(&e.dense);
  struct gpnn_truncated_cg_report report = {0};
  double tail = (double)(e.steps - e.head), ratio = e.options.head / e.options.tolerance;
  assert_ok(gpnn_truncated_cg_pilot(&matrix, 1, e.b, &e.options, &report, &err));
  assert_close(exp(e.options.rate * tail * (tail + 1) / 2), ratio, 1e-10);
  struct gpnn_inverse inverse = {.matrix = &matrix, .options = e.options};
  double *x = gpnn_alloc(e.dense.n, 1, sizeof *x);
  inverse.options.rate = 0; /* the first product makes a pilot of its own */
  assert_ok(gpnn_inverse_multiply(&inverse, 1, e.b, x, &err));
  assert_true(inverse.options.rate == e.options.rate && inverse.report.n == 1);
  free(x);
  assert_true(report.n == 1 && report.steps == e.steps && report.tail == e.steps - e.head);
  e.options.truncation = GPNN_TRUNCATION_GEOMETRIC;
  assert_ok(gpnn_truncated_cg_pilot(&matrix, 1, e.b, &e.options, &report, &err));
  assert_close(exp(e.options.rate), (1 + pow(ratio, 2 / tail)) / 2, 1e-10);
  e.options.truncation = GPNN_TRUNCATION_NONE;
  assert_ok(gpnn_truncated_cg_pilot(&matrix, 1, e.b, &e.options, &report, &err));
  assert_true(e.options.rate == 0);
  assert_true(gpnn_truncation_rate(GPNN_TRUNCATION_GEOMETRIC, 0.1, 0.1, 0) == 0);
  assert_true(isfinite(gpnn_truncation_rate(GPNN_TRUNCATION_QUADRATIC, 0.1, 1e-6, 0)));
  release(&e);
}

static void caps_and_refused_weights_are_counted(void **state)
{
  (void)state;
  struct example e = example(GPNN_TRUNCATION_GEOMETRIC, 60);
  struct gpnn_cg_matrix matrix = gpnn_dense_matrix(&e.dense);
  struct gpnn_truncated_cg_report report = {0};
  double x[N], first[N];
  assert_ok(gpnn_truncated_cg_solve(&matrix, 1, e.b, x, &e.options, NULL, &report, &err));
  assert_true(report.n_refused == 1 && report.n_capped == 0 && report.most_weight == 1);
  assert_true(report.steps == e.head + 1 && report.tail == 1);
  after(&e, e.head + 1, first);
  for (size_t i = 0; i < N; i++) assert_near(x[i], first[i], 1e-9);
  e.options.most_steps = 3;
  assert_ok(gpnn_truncated_cg_solve(&matrix, 1, e.b, x, &e.options, NULL, &report, &err));
  assert_true(report.n == 2 && report.n_capped == 1 && report.n_refused == 1);
  assert_true(report.steps == e.head + 4);
  release(&e);
}

/* Rounding leaves a residual of some 1e-7 here, while the one that steps update falls on. */
static void a_residual_that_rounding_forbids_is_not_claimed(void **state)
{
  (void)state;
  struct dense_matrix m = smooth_matrix(1, 200, 2, 1e-7);
  struct gpnn_dense dense = {m.n, m.a, 1};
  struct gpnn_cg_matrix matrix = gpnn_dense_matrix(&dense);
  struct gpnn_truncated_cg_options options = {.head = 1e-2, .most_steps = 3000, .threads = 1};
  double *b = normal_rows(m.n, 1, 3), *x = normal_rows(m.n, 1, 4), *ax = normal_rows(m.n, 1, 4);
  for (options.tolerance = 1e-6; options.tolerance > 1e-8; options.tolerance /= 7) {
    struct gpnn_truncated_cg_report report = {0};
    double left = 0, all = 0;
    assert_ok(gpnn_truncated_cg_solve(&matrix, 1, b, x, &options, NULL, &report, &err));
    dense_product(&m, m.a, 1, x, ax);
    for (size_t i = 0; i < m.n; i++) {
      left += (b[i] - ax[i]) * (b[i] - ax[i]);
      all += b[i] * b[i];
    }
    /* The product that checks it is rounded too, by as much again. */
    assert_true(report.n_capped == 1 || sqrt(left / all) < 2 * options.tolerance);
    /* In between, it depends on where the processor's vectors begin. */
    if (options.tolerance > 5e-7 || options.tolerance < 5e-8)
      assert_true(report.n_capped == (options.tolerance < 1e-7));
  }
  free(b);
  free(x);
  free(ax);
  dense_release(&m);
}

static void nothing_and_zeros_and_bad_numbers(void **state)
{
  (void)state;
  struct example e = example(GPNN_TRUNCATION_QUADRATIC, 0.1);
  struct gpnn_cg_matrix matrix = gpnn_dense_matrix(&e.dense);
  struct gpnn_truncated_cg_report report = {0};
  double b[2 * N] = {0}, x[2 * N] = {1, 2};
  assert_ok(gpnn_truncated_cg_solve(&matrix, 0, b, x, &e.options, NULL, &report, &err));
  assert_ok(gpnn_truncated_cg_pilot(&matrix, 0, b, &e.options, &report, &err));
  assert_true(report.n == 0 && x[0] == 1 && e.options.rate > 0);
  memcpy(b + N, e.b, N * sizeof *b);
  assert_ok(gpnn_truncated_cg_solve(&matrix, 2, b, x, &e.options, NULL, &report, &err));
  for (size_t i = 0; i < N; i++) assert_true(x[i] == 0);
  assert_true(report.n == 2 && report.most == report.steps && report.steps > e.head);
  b[3] = NAN;
  assert_fails(gpnn_truncated_cg_solve(&matrix, 2, b, x, &e.options, NULL, &report, &err),
               GPNN_ENUMERIC, "a right-hand side is not finite");
  b[3] = 1;
  e.m.a[0] = -5;
  assert_fails(gpnn_truncated_cg_solve(&matrix, 2, b, x, &e.options, NULL, &report, &err),
               GPNN_ENUMERIC, "not positive definite");
  assert_true(report.n == 2);
  release(&e);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_and_variances_of_solutions_are_those_of_theory),
      cmocka_unit_test(without_truncation_solutions_are_those_of_a_factorisation),
      cmocka_unit_test(any_solution_bounds_a_quadratic_form_from_below),
      cmocka_unit_test(products_are_unbiased_only_if_truncations_are_independent),
      cmocka_unit_test(a_column_depends_on_its_stream_alone),
      cmocka_unit_test(a_preconditioner_changes_steps_but_not_the_mean),
      cmocka_unit_test(a_pilot_makes_the_last_weight_the_ratio_of_tolerances),
      cmocka_unit_test(caps_and_refused_weights_are_counted),
      cmocka_unit_test(a_residual_that_rounding_forbids_is_not_claimed),
      cmocka_unit_test(nothing_and_zeros_and_bad_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
