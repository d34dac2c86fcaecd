/* Posteriors from batches, against those of the collapsed bound. */
#include "random.h"
#include "unit.h"

#include "linalg/blas_threads.h"
#include "linalg/optimize.h"
#include "models/inducing/collapsed/collapsed.h"

enum { D = 3, M = 20, N = 150, LENGTHSCALES = 3, PARAMETERS = LENGTHSCALES + 2 };

static const uint32_t groups[] = {0, 1, 2};

struct case_of {
  double *x, *y, *z;
  struct gpnn_cross_problem problem;
  struct gpnn_collapsed_data data;
  double log_parameters[PARAMETERS];
};

static struct case_of made(size_t n, const char *kernel)
{
  struct case_of c = {.x = normal_rows(n, D, 1), .y = normal_rows(n, 1, 2)};
  c.z = normal_rows(M, D, 3);
  for (size_t i = 0; i < n; i++) c.y[i] = sin(c.x[i * D]) + 0.4 * c.y[i];
  c.problem = (struct gpnn_cross_problem){.m = M,
                                          .d = D,
                                          .z = c.z,
                                          .kernel = gpnn_kernel_by_name(kernel),
                                          .n_lengthscales = LENGTHSCALES,
                                          .group = groups};
  c.data = (struct gpnn_collapsed_data){n, c.x, c.y, GPNN_COLLAPSED_JITTER, 2};
  const double values[] = {1.1, 0.8, 2, 1.3, 0.2};
  for (size_t j = 0; j < PARAMETERS; j++) c.log_parameters[j] = log(values[j]);
  return c;
}

static void release(struct case_of *c)
{
  free(c->x);
  free(c->y);
  free(c->z);
}

struct result {
  double bound, weights[M], root[M * M], log_parameters[PARAMETERS];
  size_t rank;
};

static struct result fit(const struct case_of *c, struct gpnn_svgp_options options)
{
  struct result r = {0};
  memcpy(r.log_parameters, c->log_parameters, sizeof r.log_parameters);
  assert_ok(gpnn_svgp_fit(&c->problem, &c->data, &options, r.log_parameters, &r.bound, r.weights,
                          r.root, &r.rank, &err));
  return r;
}

/* The bound, and a negative gradient for a row, at these parameters. */
static double collapsed_at(const struct case_of *c, const double *log_parameters, double *gradient)
{
  double lengthscale[LENGTHSCALES], bound;
  struct gpnn_collapsed *collapsed = NULL;
  for (size_t l = 0; l < LENGTHSCALES; l++) lengthscale[l] = exp(log_parameters[l]);
  struct gpnn_collapsed_parameters at = {lengthscale, exp(log_parameters[LENGTHSCALES]),
                                         exp(log_parameters[LENGTHSCALES + 1])};
  assert_ok(gpnn_collapsed_new(&collapsed, &c->problem, &c->data, &err));
  assert_ok(gpnn_collapsed_bound(collapsed, &at, &bound, gradient, &err));
  gpnn_collapsed_free(collapsed);
  for (size_t j = 0; gradient != NULL && j < PARAMETERS; j++) gradient[j] /= -(double)c->data.n;
  return bound;
}

static struct result collapsed(const struct case_of *c)
{
  struct result r = {0};
  double lengthscale[LENGTHSCALES];
  struct gpnn_collapsed *made = NULL;
  for (size_t l = 0; l < LENGTHSCALES; l++) lengthscale[l] = exp(c->log_parameters[l]);
  struct gpnn_collapsed_parameters at = {lengthscale, exp(c->log_parameters[LENGTHSCALES]),
                                         exp(c->log_parameters[LENGTHSCALES + 1])};
  assert_ok(gpnn_collapsed_new(&made, &c->problem, &c->data, &err));
  assert_ok(gpnn_collapsed_posterior(made, &at, false, &r.bound, r.weights, r.root, &r.rank, &err));
  gpnn_collapsed_free(made);
  return r;
}

/* Means and variances at rows of random covariances are the same. */
static void assert_same(const struct result *a, const struct result *b, double tolerance)
{
  struct gpnn_rng rng = seeded(5);
  for (size_t t = 0; t < 20; t++) {
    double mean[2] = {0}, variance[2] = {0}, k[M];
    for (size_t j = 0; j < M; j++) k[j] = 0.05 * gpnn_rng_uniform(&rng);
    for (size_t w = 0; w < 2; w++) {
      const struct result *r = w == 0 ? a : b;
      for (size_t j = 0; j < M; j++) mean[w] += r->weights[j] * k[j];
      for (size_t i = 0; i < r->rank; i++) {
        double sum = 0;
        for (size_t j = 0; j < M; j++) sum += r->root[i * M + j] * k[j];
        variance[w] += sum * sum;
      }
    }
    assert_near(mean[0], mean[1], tolerance);
    assert_near(variance[0], variance[1], tolerance);
  }
}

static const char *const kernels[] = {"rbf", "exp", "matern32", "matern52"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static void one_step_with_all_rows_is_the_optimum(void **state)
{
  (void)state;
  for (size_t k = 0; k < KERNELS; k++) {
    struct case_of c = made(N, kernels[k]);
    struct result all = fit(&c, (struct gpnn_svgp_options){.batch = 1000, .n_steps = 1});
    struct result expected = collapsed(&c);
    assert_near(all.bound, expected.bound, 1e-8 * fabs(expected.bound));
    assert_same(&all, &expected, 1e-8);
    release(&c);
  }
}

/* Falling steps weigh all batches alike: a pass over equal batches has seen all rows. */
static void a_pass_over_batches_is_the_optimum_too(void **state)
{
  (void)state;
  struct case_of c = made(N, "matern32");
  struct result pass = fit(&c, (struct gpnn_svgp_options){.batch = 30, .n_steps = 5, .seed = 3});
  struct result passes = fit(&c, (struct gpnn_svgp_options){.batch = 30, .n_steps = 10, .seed = 4});
  struct result expected = collapsed(&c);
  assert_near(pass.bound, expected.bound, 1e-8 * fabs(expected.bound));
  assert_same(&pass, &expected, 1e-8);
  assert_same(&passes, &expected, 1e-8);
  release(&c);
}

static void the_bound_of_batches_rises_to_the_collapsed_one(void **state)
{
  (void)state;
  struct case_of c = made(2000, "matern52");
  double best = collapsed(&c).bound, last = -INFINITY;
  for (size_t n_steps = 1; n_steps <= 16; n_steps *= 4) {
    double bound =
        fit(&c, (struct gpnn_svgp_options){.batch = 97, .n_steps = n_steps, .seed = 1}).bound;
    assert_true(bound <= best && bound > last);
    last = bound;
  }
  double much = fit(&c, (struct gpnn_svgp_options){.batch = 97, .n_steps = 210, .seed = 1}).bound;
  assert_true(much <= best + 1e-8 * fabs(best));
  assert_near(much, best, 1e-3 * fabs(best));
  release(&c);
}

static enum gpnn_status negative_collapsed(void *context, size_t n, const double *x, double *f,
                                           double *gradient, struct gpnn_error *err)
{
  const struct case_of *c = context;
  (void)n;
  (void)err;
  *f = -collapsed_at(c, x, gradient) / (double)c->data.n;
  return GPNN_OK;
}

/* With all rows and steps of size 1 the posterior is optimal at each step, where derivatives with
 * it held are those of the collapsed bound: Adam must come to the same parameters. */
static void parameters_move_by_the_gradient_of_the_bound(void **state)
{
  (void)state;
  for (size_t k = 0; k < KERNELS; k++) {
    struct case_of c = made(N, kernels[k]);
    const struct gpnn_adam adam = {.n_steps = 25, .rate = 0.05, .falling = true};
    struct gpnn_optimize_report report;
    double expected[PARAMETERS];
    memcpy(expected, c.log_parameters, sizeof expected);
    assert_ok(
        gpnn_optimize_adam(negative_collapsed, &c, PARAMETERS, &adam, expected, &report, &err));
    struct result moved = fit(
        &c, (struct gpnn_svgp_options){
                .batch = N, .n_steps = 1, .n_parameter_steps = 25, .rate = 0.05, .least_step = 1});
    for (size_t j = 0; j < PARAMETERS; j++) assert_near(moved.log_parameters[j], expected[j], 1e-6);
    assert_near(moved.bound, -report.end * N, 1e-6 * fabs(moved.bound));
    release(&c);
  }
}

static void batches_improve_parameters(void **state)
{
  (void)state;
  struct case_of c = made(2000, "matern32");
  c.log_parameters[LENGTHSCALES + 1] = log(1.5);
  struct result moved = fit(&c, (struct gpnn_svgp_options){.batch = 200,
                                                           .n_steps = 10,
                                                           .n_parameter_steps = 100,
                                                           .rate = 0.1,
                                                           .least_step = 0.1,
                                                           .seed = 2});
  assert_true(moved.bound > collapsed(&c).bound + 200);
  assert_near(moved.bound, collapsed_at(&c, moved.log_parameters, NULL), 1);
  assert_near(exp(moved.log_parameters[LENGTHSCALES + 1]), 0.16, 0.03);
  release(&c);
}

static void threads_change_nothing_and_the_seed_does(void **state)
{
  (void)state;
  struct case_of c = made(1300, "rbf");
  struct gpnn_svgp_options options = {.batch = 1100,
                                      .n_steps = 1,
                                      .n_parameter_steps = 2,
                                      .rate = 0.01,
                                      .least_step = 0.1,
                                      .seed = 1};
  struct result four, one;
  c.data.threads = 4;
  four = fit(&c, options);
  c.data.threads = 1;
  one = fit(&c, options);
  assert_memory_equal(&one, &four, sizeof one);
  options.seed = 2;
  four = fit(&c, options);
  assert_true(four.bound != one.bound);
  release(&c);
}

static void few_rows_and_more_points_are_enough(void **state)
{
  (void)state;
  struct case_of c = made(3, "matern32");
  struct result few = fit(&c, (struct gpnn_svgp_options){.batch = 1, .n_steps = 3, .seed = 1});
  struct result expected = collapsed(&c);
  assert_near(few.bound, expected.bound, 1e-8);
  assert_same(&few, &expected, 1e-8);
  release(&c);
}

static void what_is_not_finite_fails(void **state)
{
  (void)state;
  struct case_of c = made(N, "rbf");
  double weights[M], root[M * M], log_parameters[PARAMETERS];
  const struct gpnn_svgp_options options = {.batch = N, .n_steps = 1};
  size_t rank;
  c.z[4] = NAN;
  memcpy(log_parameters, c.log_parameters, sizeof log_parameters);
  assert_fails(gpnn_svgp_fit(&c.problem, &c.data, &options, log_parameters, NULL, weights, root,
                             &rank, &err),
               GPNN_ENUMERIC, "20 inducing points");
  assert_memory_equal(log_parameters, c.log_parameters, sizeof log_parameters);
  release(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_step_with_all_rows_is_the_optimum),
      cmocka_unit_test(a_pass_over_batches_is_the_optimum_too),
      cmocka_unit_test(the_bound_of_batches_rises_to_the_collapsed_one),
      cmocka_unit_test(parameters_move_by_the_gradient_of_the_bound),
      cmocka_unit_test(batches_improve_parameters),
      cmocka_unit_test(threads_change_nothing_and_the_seed_does),
      cmocka_unit_test(few_rows_and_more_points_are_enough),
      cmocka_unit_test(what_is_not_finite_fails),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
