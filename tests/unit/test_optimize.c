#include "unit.h"

#include "linalg/optimize.h"

/* Rosenbrock's valley: minimum 0 at (1, 1). */
static enum gpnn_status valley(void *context, size_t n, const double *x, double *f,
                               double *gradient, struct gpnn_error *err)
{
  (void)context;
  (void)n;
  (void)err;
  double a = 1 - x[0], b = x[1] - x[0] * x[0];
  *f = a * a + 100 * b * b;
  if (gradient != NULL) {
    gradient[0] = -2 * a - 400 * x[0] * b;
    gradient[1] = 200 * b;
  }
  return GPNN_OK;
}

/* The same, but undefined left of -1, and failing in another way right of '*context'. */
static enum gpnn_status cliff(void *context, size_t n, const double *x, double *f, double *gradient,
                              struct gpnn_error *err)
{
  const double *end = context;
  if (x[0] < -1) return gpnn_fail(err, GPNN_ENUMERIC, "undefined here");
  if (end != NULL && x[0] > *end) return gpnn_fail(err, GPNN_EIO, "the disk is gone");
  return valley(NULL, n, x, f, gradient, err);
}

static enum gpnn_status steps_down(void *context, size_t n, const double *x, double *f,
                                   double *gradient, struct gpnn_error *err)
{
  (void)err;
  double *seen = context; /* records the points it is asked at */
  for (size_t i = 0; i < n; i++) *f = 3 * x[i];
  if (gradient != NULL) gradient[0] = 3;
  seen[(size_t)seen[9]] = x[0];
  seen[9]++;
  return GPNN_OK;
}

static const double low[] = {-10, -10}, high[] = {10, 10};

static void lbfgs_finds_the_floor_of_a_valley(void **state)
{
  (void)state;
  double x[] = {-1.2, 1};
  struct gpnn_optimize_report report;
  assert_ok(gpnn_optimize_lbfgs(valley, NULL, 2, 400, 0, low, high, x, &report, &err));
  assert_near(x[0], 1, 1e-4);
  assert_near(x[1], 1, 1e-4);
  assert_close(report.start, 24.2, 1e-12);
  assert_true(report.end < 1e-8);
  assert_in_range(report.n_evaluations, 2, 400);
  assert_non_null(report.outcome);
}

static void lbfgs_stops_at_a_bound(void **state)
{
  (void)state;
  const double upper[] = {0.5, 10};
  double x[] = {-1.2, 1};
  struct gpnn_optimize_report report;
  assert_ok(gpnn_optimize_lbfgs(valley, NULL, 2, 400, 0, low, upper, x, &report, &err));
  assert_near(x[0], 0.5, 1e-12);
  assert_near(x[1], 0.25, 1e-4);
}

static void lbfgs_avoids_points_without_a_value(void **state)
{
  (void)state;
  double x[] = {-0.99, -3};
  struct gpnn_optimize_report report;
  assert_ok(gpnn_optimize_lbfgs(cliff, NULL, 2, 400, 0, low, high, x, &report, &err));
  assert_true(x[0] >= -1);
  assert_true(report.end < report.start);
  double f;
  assert_ok(valley(NULL, 2, x, &f, NULL, &err));
  assert_true(f == report.end);
}

static void lbfgs_refuses_to_start_at_a_point_without_a_value(void **state)
{
  (void)state;
  double x[] = {-2, 1};
  struct gpnn_optimize_report report = {.n_evaluations = 77};
  assert_fails(gpnn_optimize_lbfgs(cliff, NULL, 2, 400, 0, low, high, x, &report, &err),
               GPNN_ENUMERIC, "undefined here");
  assert_true(x[0] == -2 && report.n_evaluations == 77);
}

static void other_failures_end_the_search(void **state)
{
  (void)state;
  double x[] = {-0.9, 1}, end = 0.2;
  struct gpnn_optimize_report report = {0};
  assert_fails(gpnn_optimize_lbfgs(cliff, &end, 2, 400, 0, low, high, x, &report, &err), GPNN_EIO,
               "the disk is gone");
  assert_true(x[0] == -0.9);
  x[0] = 0.15;
  const struct gpnn_adam adam = {.n_steps = 200, .rate = 0.1};
  assert_fails(gpnn_optimize_adam(cliff, &end, 2, &adam, x, &report, &err), GPNN_EIO,
               "the disk is gone");
  assert_true(x[0] == 0.15);
}

/* Under a constant gradient both corrected moments are constant, so that each step is
 * rate * 3 / (3 + 1e-8). */
static void adam_steps_by_its_rate_under_a_constant_gradient(void **state)
{
  (void)state;
  double x = 1, seen[10] = {0};
  const struct gpnn_adam adam = {.n_steps = 5, .rate = 0.1};
  struct gpnn_optimize_report report;
  assert_ok(gpnn_optimize_adam(steps_down, seen, 1, &adam, &x, &report, &err));
  for (size_t t = 0; t <= 5; t++) assert_near(seen[t], 1 - 0.1 * (double)t, 5e-9);
  assert_true(x == seen[5]);
  assert_true(report.start == 3 && report.end == 3 * x);
  assert_int_equal(report.n_evaluations, 6);
}

/* f = x^2 / 2 from 1. */
static enum gpnn_status bowl(void *context, size_t n, const double *x, double *f, double *gradient,
                             struct gpnn_error *err)
{
  (void)context;
  (void)n;
  (void)err;
  *f = 0.5 * x[0] * x[0];
  if (gradient != NULL) gradient[0] = x[0];
  return GPNN_OK;
}

static void adam_stops_once_nothing_moves(void **state)
{
  (void)state;
  double x = 1;
  struct gpnn_adam adam = {.n_steps = 5000, .rate = 0.1};
  struct gpnn_optimize_report report;
  assert_ok(gpnn_optimize_adam(bowl, NULL, 1, &adam, &x, &report, &err));
  assert_int_equal(report.n_evaluations, 5001);
  adam.least_move = 1e-3;
  x = 1;
  assert_ok(gpnn_optimize_adam(bowl, NULL, 1, &adam, &x, &report, &err));
  assert_true(report.n_evaluations < 1000 && report.n_evaluations % 10 == 1);
  assert_true(fabs(x) < 0.05);
}

static void adam_without_steps_stays(void **state)
{
  (void)state;
  double x = 1, seen[10] = {0};
  const struct gpnn_adam adam = {.n_steps = 0, .rate = 0.1};
  struct gpnn_optimize_report report;
  assert_ok(gpnn_optimize_adam(steps_down, seen, 1, &adam, &x, &report, &err));
  assert_true(x == 1 && report.start == 3 && report.end == 3);
}

/* Four steps of 0.4 (1 - t/4) each: 0.4 + 0.3 + 0.2 + 0.1. */
static void a_falling_rate_decreases_linearly_to_zero(void **state)
{
  (void)state;
  double x = 1, seen[10] = {0};
  const double by[] = {0, 0.4, 0.7, 0.9, 1};
  const struct gpnn_adam adam = {.n_steps = 4, .rate = 0.4, .falling = true};
  struct gpnn_optimize_report report;
  assert_ok(gpnn_optimize_adam(steps_down, seen, 1, &adam, &x, &report, &err));
  for (size_t t = 0; t <= 4; t++) assert_near(seen[t], 1 - by[t], 2e-8);
}

static void adam_divides_its_rate_by_five_at_each_drop(void **state)
{
  (void)state;
  double x = 0;
  static const double drop[] = {0.25, 0.5};
  struct gpnn_optimize_report report;
  const struct gpnn_adam adam = {.n_steps = 4, .rate = 0.5, .n_drops = 2, .drop = drop};
  double seen[10] = {0};
  assert_ok(gpnn_optimize_adam(steps_down, seen, 1, &adam, &x, &report, &err));
  assert_near(x, -(0.5 + 0.1 + 0.02 + 0.02), 1e-6);
}

static void adam_keeps_within_bounds(void **state)
{
  (void)state;
  const double upper[] = {0.5, 10};
  double x[] = {-1.2, 1};
  const struct gpnn_adam adam = {
      .n_steps = 3000, .rate = 0.1, .falling = true, .lower = low, .upper = upper};
  struct gpnn_optimize_report report;
  assert_ok(gpnn_optimize_adam(valley, NULL, 2, &adam, x, &report, &err));
  assert_true(x[0] == 0.5);
  assert_near(x[1], 0.25, 1e-3);
}

static void no_more_evaluations_than_allowed(void **state)
{
  (void)state;
  double x[] = {-1.2, 1};
  struct gpnn_optimize_report report;
  assert_ok(gpnn_optimize_lbfgs(valley, NULL, 2, 5, 0, low, high, x, &report, &err));
  assert_in_range(report.n_evaluations, 1, 6);
  assert_true(report.end > 1e-8 && report.end <= report.start);
  assert_string_equal(report.outcome, "the evaluations are used up");
}

static void adam_divides_its_rate_by_a_root_of_the_steps(void **state)
{
  (void)state;
  double seen[10] = {0}, x = 0;
  struct gpnn_optimize_report report;
  const struct gpnn_adam adam = {.n_steps = 3, .rate = 0.5, .half_life = 1};
  assert_ok(gpnn_optimize_adam(steps_down, seen, 1, &adam, &x, &report, &err));
  assert_near(x, -0.5 * (1 + 1 / sqrt(2) + 1 / sqrt(3)), 1e-6);
}

static void adagrad_steps_by_accumulated_squares(void **state)
{
  (void)state;
  double seen[10] = {0}, x = 0;
  struct gpnn_optimize_report report;
  const struct gpnn_adagrad adagrad = {.n_steps = 4, .rate = 0.5};
  assert_ok(gpnn_optimize_adagrad(steps_down, seen, 1, &adagrad, &x, &report, &err));
  assert_near(x, -0.5 * (1 + 1 / sqrt(2) + 1 / sqrt(3) + 1. / 2), 1e-7);
  assert_near(report.start, 0, 0);
  assert_near(report.end, 3 * x, 1e-12);
  assert_int_equal(report.n_evaluations, 5);
}

static void adagrad_keeps_within_bounds(void **state)
{
  (void)state;
  double x[] = {1, 1}, end = -5;
  const double lower = 0.25, upper = 2;
  struct gpnn_optimize_report report;
  struct gpnn_adagrad adagrad = {.n_steps = 200, .rate = 0.3, .lower = &lower, .upper = &upper};
  assert_ok(gpnn_optimize_adagrad(bowl, NULL, 1, &adagrad, x, &report, &err));
  assert_true(x[0] == 0.25);
  adagrad.lower = adagrad.upper = NULL;
  assert_fails(gpnn_optimize_adagrad(cliff, &end, 2, &adagrad, x, &report, &err), GPNN_EIO, "disk");
  assert_true(x[0] == 0.25);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lbfgs_finds_the_floor_of_a_valley),
      cmocka_unit_test(lbfgs_stops_at_a_bound),
      cmocka_unit_test(lbfgs_avoids_points_without_a_value),
      cmocka_unit_test(lbfgs_refuses_to_start_at_a_point_without_a_value),
      cmocka_unit_test(other_failures_end_the_search),
      cmocka_unit_test(adam_steps_by_its_rate_under_a_constant_gradient),
      cmocka_unit_test(adam_without_steps_stays),
      cmocka_unit_test(adam_stops_once_nothing_moves),
      cmocka_unit_test(a_falling_rate_decreases_linearly_to_zero),
      cmocka_unit_test(adam_divides_its_rate_by_five_at_each_drop),
      cmocka_unit_test(adam_keeps_within_bounds),
      cmocka_unit_test(no_more_evaluations_than_allowed),
      cmocka_unit_test(adam_divides_its_rate_by_a_root_of_the_steps),
      cmocka_unit_test(adagrad_steps_by_accumulated_squares),
      cmocka_unit_test(adagrad_keeps_within_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
