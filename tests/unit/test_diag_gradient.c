/*
 * diag_gradient: estimated derivatives against exact ones.  The seeds of random checks are fixed; a
 * number fails if it is off by more than 4.5 standard errors.
 */
#include "linalg/blas_threads.h"
#include "linalg/iterative/probes.h"
#include "models/inducing/diag/diag.h"

#include "diag.h"

static const double most_errors = 4.5;

static const struct gpnn_diag_solver exact = {
    .truncation = GPNN_TRUNCATION_NONE, .head = 1e-2, .tolerance = 1e-12, .most_steps = 1000};

static double *exact_gradient(const struct diag_case *c, double *bound)
{
  struct gpnn_diag *diag = NULL;
  struct gpnn_diag_batch all = gpnn_diag_all(&c->problem);
  double *gradient = gpnn_alloc(c->size, 1, sizeof *gradient);
  assert_ok(gpnn_diag_new(&diag, &c->problem, &err));
  assert_ok(gpnn_diag_bound(diag, c->point, &all, bound, gradient, &err));
  gpnn_diag_free(diag);
  return gradient;
}

/* B at the point, in double precision. */
static double *matrix_of(const struct diag_case *c)
{
  size_t m = c->problem.m;
  real *kuu = diag_kernel(c, m, c->z, m, c->z);
  double *b = gpnn_alloc(m, m, sizeof *b);
  for (size_t i = 0; i < m; i++) kuu[i * m + i] += expl((real)c->point[m + i]);
  for (size_t i = 0; i < m * m; i++) b[i] = (double)kuu[i];
  free(kuu);
  return b;
}

/* ---- without chance ----------------------------------------------------------------------- */

static void probes_that_are_the_whole_basis_give_the_exact_derivatives(void **state)
{
  (void)state;
  const char *const kernels[] = {"rbf", "exp", "matern52"};
  for (size_t k = 0; k < 3; k++) {
    struct diag_case c = diag_case(kernels[k], 150, 12, 21);
    struct gpnn_diag *diag = NULL;
    struct gpnn_diag_solutions solutions = {0};
    struct gpnn_diag_batch all = gpnn_diag_all(&c.problem);
    double probe[12 * 12] = {0}, bound, estimated, *gradient = exact_gradient(&c, &bound);
    double *estimate = gpnn_alloc(c.size, 1, sizeof *estimate);
    if (k == 1) diag_case_add_noise(&c);
    free(gradient);
    gradient = exact_gradient(&c, &bound);
    for (size_t i = 0; i < 12; i++) probe[i * 13] = sqrt(12);
    assert_ok(gpnn_diag_new(&diag, &c.problem, &err));
    assert_ok(gpnn_diag_estimate(diag, c.point, &all, &(struct gpnn_diag_probes){12, probe}, &exact,
                                 0, estimate, &solutions, &err));
    for (size_t i = 0; i < c.size; i++)
      assert_near(estimate[i], gradient[i], 1e-6 * (1 + fabs(gradient[i])));
    assert_ok(gpnn_diag_measure(diag, c.point, &all, &(struct gpnn_diag_probes){12, probe}, &exact,
                                &estimated, &err));
    assert_near(estimated, bound, 1e-3 * fabs(bound));
    assert_true(solutions.n == 24 && solutions.n_capped == 0);
    gpnn_diag_free(diag);
    free(gradient), free(estimate);
    diag_case_free(&c);
  }
}

static void solutions_are_those_of_a_factorisation(void **state)
{
  (void)state;
  struct diag_case c = diag_case("rbf", 400, 300, 22);
  double *b = matrix_of(&c), *x = gpnn_alloc(300, 3, sizeof *x);
  double *right = normal_rows(300, 3, 23);
  struct gpnn_diag_solutions solutions = {0};
  memset(right + 300, 0, 300 * sizeof *right);
  assert_ok(gpnn_diag_solve(300, b, 3, right, x, &exact, 0, 1, &solutions, &err));
  for (size_t j = 0; j < 3; j++)
    for (size_t i = 0; i < 300; i++) {
      double sum = 0;
      for (size_t l = 0; l < 300; l++) sum += b[i * 300 + l] * x[j * 300 + l];
      assert_near(sum, right[j * 300 + i], 1e-9);
    }
  free(b), free(x), free(right);
  diag_case_free(&c);
}

static void solutions_that_reach_the_most_steps_are_counted(void **state)
{
  (void)state;
  struct diag_case c = diag_case("rbf", 60, 50, 24);
  struct gpnn_diag_solver few = exact;
  struct gpnn_diag_solutions solutions = {0};
  double *b = matrix_of(&c), x[100], *right = normal_rows(100, 1, 25);
  few.most_steps = 4;
  assert_ok(gpnn_diag_solve(50, b, 2, right, x, &few, 0, 1, &solutions, &err));
  assert_int_equal(solutions.n, 2);
  assert_int_equal(solutions.n_capped, 2);
  assert_int_equal(solutions.steps, 8);
  assert_int_equal(solutions.most, 4);
  b[0] = -1;
  assert_fails(gpnn_diag_solve(50, b, 2, right, x, &exact, 0, 1, &solutions, &err), GPNN_ENUMERIC,
               "not positive definite");
  free(b), free(right);
  diag_case_free(&c);
}

static void any_approximate_solution_bounds_the_variance(void **state)
{
  (void)state;
  struct diag_case c = diag_case("rbf", 80, 60, 26);
  double *b = matrix_of(&c), x[60], k[60];
  struct gpnn_rng rng = seeded(27);
  real *wide = real_new(60, 60);
  for (size_t i = 0; i < 3600; i++) wide[i] = b[i];
  real *inverse = real_inverse(60, wide, NULL);
  for (size_t steps = 1; steps < 60; steps++) {
    struct gpnn_diag_solver some = exact;
    struct gpnn_diag_solutions solutions = {0};
    real explained = 0;
    double sure = 0;
    some.most_steps = steps;
    for (size_t i = 0; i < 60; i++) k[i] = b[i] - (i == 0 ? exp(c.point[60]) : 0);
    assert_ok(gpnn_diag_solve(60, b, 1, k, x, &some, 0, 1, &solutions, &err));
    if (steps % 2 == 0)
      for (size_t i = 0; i < 60; i++) x[i] += 0.01 * gpnn_rng_normal(&rng);
    for (size_t i = 0; i < 60; i++) {
      sure += 2 * k[i] * x[i];
      for (size_t j = 0; j < 60; j++) {
        sure -= x[i] * b[i * 60 + j] * x[j];
        explained += (real)k[i] * inverse[i * 60 + j] * (real)k[j];
      }
    }
    assert_true(sure <= (double)explained + 1e-12);
  }
  free(b), free(wide), free(inverse);
  diag_case_free(&c);
}

static void estimates_do_not_depend_on_threads(void **state)
{
  (void)state;
  struct diag_case c = diag_case("matern32", 700, 300, 28);
  const struct gpnn_diag_solver solver = {GPNN_TRUNCATION_GEOMETRIC, 1e-2, 1e-6, 0.3, 300, 1};
  double *probes = gpnn_alloc(4, 300, sizeof *probes), *estimate[2];
  struct gpnn_diag_batch all = gpnn_diag_all(&c.problem);
  gpnn_probes_draw(GPNN_PROBES_SIGNS, 3, 0, 1, 4, 300, NULL, 1, probes);
  for (int turn = 0; turn < 2; turn++) {
    struct gpnn_diag *diag = NULL;
    struct gpnn_diag_solutions solutions = {0};
    estimate[turn] = gpnn_alloc(c.size, 1, sizeof(double));
    c.problem.threads = turn == 0 ? 1 : 3;
    assert_ok(gpnn_diag_new(&diag, &c.problem, &err));
    assert_ok(gpnn_diag_estimate(diag, c.point, &all, &(struct gpnn_diag_probes){4, probes},
                                 &solver, 5, estimate[turn], &solutions, &err));
    gpnn_diag_free(diag);
  }
  assert_memory_equal(estimate[0], estimate[1], c.size * sizeof(double));
  free(estimate[0]), free(estimate[1]), free(probes);
  diag_case_free(&c);
}

/* ---- by chance ---------------------------------------------------------------------------- */

struct moments {
  double *sum, *squares;
  size_t n;
};

static void estimate_often(const struct diag_case *c, size_t draws, struct moments *to)
{
  enum { ROWS = 10, PROBES = 2 };
  const struct gpnn_diag_solver solver = {GPNN_TRUNCATION_QUADRATIC, 0.1, 1e-9, 0.05, 1000, 31};
  struct gpnn_diag *diag = NULL;
  struct gpnn_diag_solutions solutions = {0};
  struct gpnn_rng rng = seeded(32);
  uint64_t row[ROWS];
  double probe[PROBES * 12], *gradient = gpnn_alloc(c->size, 1, sizeof *gradient);
  assert_ok(gpnn_diag_new(&diag, &c->problem, &err));
  for (size_t draw = 0; draw < draws; draw++) {
    const struct gpnn_diag_batch batch = {ROWS, row, (double)c->problem.n / ROWS};
    assert_ok(gpnn_rng_sample(&rng, c->problem.n, ROWS, row, &err));
    gpnn_probes_draw(GPNN_PROBES_SIGNS, 33, draw * PROBES, 1, PROBES, 12, NULL, 1, probe);
    assert_ok(gpnn_diag_estimate(diag, c->point, &batch, &(struct gpnn_diag_probes){PROBES, probe},
                                 &solver, draw, gradient, &solutions, &err));
    for (size_t i = 0; i < c->size; i++) {
      to->sum[i] += gradient[i];
      to->squares[i] += gradient[i] * gradient[i];
    }
  }
  assert_true(solutions.extra > 0 && solutions.n_refused == 0 && solutions.n_capped == 0);
  to->n = draws;
  free(gradient);
  gpnn_diag_free(diag);
}

/* All derivatives, over batches, probes and truncations. */
static void estimates_are_unbiased(void **state)
{
  (void)state;
  struct diag_case c = diag_case("rbf", 60, 12, 30);
  double bound, *truth = exact_gradient(&c, &bound), chi2 = 0;
  struct moments m = {gpnn_alloc(c.size, 1, sizeof(double)), gpnn_alloc(c.size, 1, sizeof(double)),
                      0};
  estimate_often(&c, 6000, &m);
  for (size_t i = 0; i < c.size; i++) {
    double mean = m.sum[i] / (double)m.n, variance = m.squares[i] / (double)m.n - mean * mean;
    double z = (mean - truth[i]) / sqrt(variance / (double)m.n);
    if (!(fabs(z) < most_errors)) fail_msg("derivative %zu is off by %.2f standard errors", i, z);
    chi2 += z * z / (double)c.size;
  }
  if (!(chi2 > 0.4 && chi2 < 1.8)) fail_msg("mean square of all deviations: %.2f", chi2);
  free(truth), free(m.sum), free(m.squares);
  diag_case_free(&c);
}

/* How many standard errors the mean of x'z is off, for two solutions x and z of B x = b whose
 * truncations are the same, or their own. */
static double deviation_of_products(bool shared)
{
  enum { DRAWS = 4000 };
  struct diag_case c = diag_case("rbf", 70, 60, 34);
  const struct gpnn_diag_solver solver = {GPNN_TRUNCATION_GEOMETRIC, 0.1, 1e-8, log(1.3), 1000, 35};
  struct gpnn_diag_solutions solutions = {0};
  double x[120], *right = normal_rows(120, 1, 36), truth = 0, sum = 0, squares = 0;
  for (size_t i = 0; i < 60; i++) c.point[60 + i] = log(0.01);
  double *b = matrix_of(&c);
  memcpy(right + 60, right, 60 * sizeof *right);
  assert_ok(gpnn_diag_solve(60, b, 1, right, x, &exact, 0, 1, &solutions, &err));
  for (size_t i = 0; i < 60; i++) truth += x[i] * x[i];
  for (size_t draw = 0; draw < DRAWS; draw++) {
    double product = 0;
    assert_ok(gpnn_diag_solve(60, b, 2, right, x, &solver, 2 * draw, 1, &solutions, &err));
    for (size_t i = 0; i < 60; i++) product += x[i] * x[i + (shared ? 0 : 60)];
    sum += product / DRAWS;
    squares += product * product / DRAWS;
  }
  free(b), free(right);
  diag_case_free(&c);
  return (sum - truth) / sqrt((squares - sum * sum) / DRAWS);
}

static void products_of_solutions_need_truncations_of_their_own(void **state)
{
  (void)state;
  double own = deviation_of_products(false), shared = deviation_of_products(true);
  if (!(fabs(own) < most_errors)) fail_msg("with truncations of their own: %.2f", own);
  if (!(shared > most_errors)) fail_msg("with the same truncation: %.2f", shared);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(probes_that_are_the_whole_basis_give_the_exact_derivatives),
      cmocka_unit_test(solutions_are_those_of_a_factorisation),
      cmocka_unit_test(solutions_that_reach_the_most_steps_are_counted),
      cmocka_unit_test(any_approximate_solution_bounds_the_variance),
      cmocka_unit_test(estimates_do_not_depend_on_threads),
      cmocka_unit_test(estimates_are_unbiased),
      cmocka_unit_test(products_of_solutions_need_truncations_of_their_own),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
