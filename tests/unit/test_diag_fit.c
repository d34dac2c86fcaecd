/*
 * diag_fit: what a fit of inducing points with a diagonal covariance finds, by both optimisers and
 * all solvers.
 */
#include "linalg/blas_threads.h"
#include "models/inducing/diag/fit.h"

#include "random.h"
#include "unit.h"

enum { N = 300, D = 2 };

struct rows {
  double *x, *y;
  struct gpnn_dataset view;
};

static const uint32_t group[D] = {0, 1};

/* y is a smooth function of the first input alone, with noise of variance 0.04. */
static struct rows make_rows(uint64_t seed)
{
  struct rows r = {.x = normal_rows(N, D, seed), .y = normal_rows(N, 1, seed + 1)};
  for (size_t i = 0; i < N; i++) r.y[i] = sin(2 * r.x[i * D]) + 0.2 * r.y[i];
  r.view = (struct gpnn_dataset){.n = N, .d = D, .n_groups = D, .group = group, .x = r.x, .y = r.y};
  r.view.schema.target.name = (char *)"y";
  return r;
}

static void free_rows(struct rows *r)
{
  free(r->x);
  free(r->y);
}

struct fitted {
  struct gpnn_parameters params;
  struct gpnn_state *arrays;
  struct gpnn_diag_report report;
};

static struct fitted fit(const struct rows *r, const struct gpnn_diag_options *options)
{
  struct fitted f = {0};
  assert_ok(gpnn_state_new(&f.arrays, 0, &err));
  assert_ok(gpnn_diag_fit(&r->view, options, &f.params, f.arrays, &f.report, &err));
  return f;
}

static void release(struct fitted *f)
{
  gpnn_parameters_release(&f->params);
  gpnn_state_free(f->arrays);
}

static const double *array(const struct fitted *f, const char *name, size_t n)
{
  const struct gpnn_state_array *a = gpnn_state_find(f->arrays, "y", name);
  assert_non_null(a);
  assert_int_equal(a->n, n);
  return a->values;
}

/* Root mean square of what the mean of a fit, at fresh rows, is away from the function. */
static double error_of(const struct fitted *f)
{
  const struct gpnn_covariance *c = &f->params.covariance;
  size_t m = f->report.m;
  const double *z = array(f, "inducing", m * D), *weights = array(f, "weights", m);
  double *x = normal_rows(200, D, 99), sum = 0;
  for (size_t i = 0; i < 200; i++) {
    double mean = 0;
    for (size_t j = 0; j < m; j++) {
      double r2 = 0;
      for (size_t l = 0; l < D; l++) {
        double t = (x[i * D + l] - z[j * D + l]) / c->lengthscale[c->n_lengthscales == 1 ? 0 : l];
        r2 += t * t;
      }
      gpnn_kernel_correlate(c->kernel, c->smoothness, 1, &r2);
      mean += weights[j] * c->kernelscale * r2;
    }
    sum += pow(mean - sin(2 * x[i * D]), 2);
  }
  free(x);
  return sqrt(sum / 200);
}

static struct gpnn_diag_options small_options(void)
{
  struct gpnn_diag_options options = gpnn_diag_default_options();
  options.m = 40;
  options.batch = 50;
  options.iterations = 20;
  return options;
}

static void defaults_find_the_function_and_the_noise(void **state)
{
  (void)state;
  struct rows r = make_rows(1);
  struct gpnn_diag_options options = small_options();
  struct fitted f = fit(&r, &options);
  assert_true(f.report.cholesky && f.report.solutions.n == 0);
  assert_int_equal(f.params.family, GPNN_FAMILY_DIAG);
  assert_int_equal(f.params.covariance.n_lengthscales, D);
  assert_true(f.params.covariance.lengthscale[1] > 4 * f.params.covariance.lengthscale[0]);
  assert_near(f.params.covariance.noise, 0.04, 0.01);
  assert_true(error_of(&f) < 0.1);
  assert_true(isfinite(f.report.bound));
  release(&f);
  free_rows(&r);
}

/* The bound is that of the collapsed family but for what the diagonal costs. */
static void polishing_only_raises_the_bound(void **state)
{
  (void)state;
  struct rows r = make_rows(2);
  struct gpnn_diag_options options = small_options();
  struct fitted f = fit(&r, &options);
  struct gpnn_diag_problem p = {.n = N, .d = D, .x = r.x, .y = r.y, .m = f.report.m};
  p.z = array(&f, "inducing", p.m * D);
  p.kernel = options.kernel;
  p.n_lengthscales = D;
  p.group = group;
  p.threads = 1;
  struct gpnn_diag *diag = NULL;
  struct gpnn_diag_batch all = gpnn_diag_all(&p);
  size_t size = gpnn_diag_size(&p);
  double *point = gpnn_alloc(size, 2, sizeof *point), bound;
  memcpy(point, array(&f, "weights", p.m), p.m * sizeof *point);
  memcpy(point + p.m, array(&f, "rho", p.m), p.m * sizeof *point);
  for (size_t l = 0; l < D; l++) point[2 * p.m + l] = log(f.params.covariance.lengthscale[l]);
  point[size - 2] = log(f.params.covariance.kernelscale);
  point[size - 1] = log(f.params.covariance.noise);
  assert_ok(gpnn_diag_new(&diag, &p, &err));
  assert_ok(gpnn_diag_bound(diag, point, &all, &bound, point + size, &err));
  assert_near(bound, f.report.bound, 1e-6 * fabs(bound));
  for (size_t j = 0; j < p.m; j++) {
    assert_near(point[size + j], 0, 1e-4 * fabs(bound));
    assert_near(point[size + p.m + j], 0, 0.1);
  }
  gpnn_diag_free(diag);
  free(point);
  release(&f);
  free_rows(&r);
}

/* With probes, random truncation, and the published optimiser, all at once. */
static void the_published_way_finds_the_function_too(void **state)
{
  (void)state;
  struct rows r = make_rows(3);
  struct gpnn_diag_options options = gpnn_diag_published_options();
  options.m = 30;
  options.batch = 50;
  options.probes = 2;
  options.iterations = 2000;
  struct fitted f = fit(&r, &options);
  assert_false(f.report.cholesky);
  assert_true(f.report.beta > 0 && f.report.solutions.extra > 0);
  assert_true(f.report.solutions.n >= 4 * 2500 && isnan(f.report.bound));
  assert_true(error_of(&f) < 0.3);
  release(&f);
  free_rows(&r);
}

static void all_solvers_and_truncations_end_at_the_same_mean(void **state)
{
  (void)state;
  struct rows r = make_rows(4);
  struct gpnn_diag_options options = small_options();
  double error[4];
  for (int turn = 0; turn < 4; turn++) {
    options.solver = turn == 0 ? GPNN_DIAG_SOLVER_CHOLESKY : GPNN_DIAG_SOLVER_CG;
    options.truncation = turn == 0 ? GPNN_TRUNCATION_NONE : (enum gpnn_truncation)(turn - 1);
    struct fitted f = fit(&r, &options);
    error[turn] = error_of(&f);
    assert_int_equal(f.report.cholesky, turn == 0);
    release(&f);
  }
  for (int turn = 1; turn < 4; turn++) assert_near(error[turn], error[0], 0.02);
  free_rows(&r);
}

static void records_say_what_happens(void *context, const struct gpnn_diag_record *record)
{
  size_t *n = context;
  assert_int_equal(record->iteration, 5 * ++*n);
  assert_int_equal(record->n_lengthscales, D);
  assert_true(record->steps_mean > 1 && (double)record->steps_most >= record->steps_mean);
  assert_true(record->rmse_batch > 0 && record->rmse_batch < 2);
  assert_true(isfinite(record->bound) && record->bound < 400);
  assert_true(record->kernelscale > 0 && record->noise > 0 && record->least_s > 0);
  assert_true(record->lengthscale[0] > 0);
}

static void records_come_as_often_as_wanted(void **state)
{
  (void)state;
  struct rows r = make_rows(5);
  struct gpnn_diag_options options = small_options();
  size_t n = 0;
  options.solver = GPNN_DIAG_SOLVER_CG;
  options.warmup = 3;
  options.iterations = 17;
  options.record_every = 5;
  options.record = records_say_what_happens;
  options.record_context = &n;
  struct fitted f = fit(&r, &options);
  assert_int_equal(n, 4);
  release(&f);
  free_rows(&r);
}

static void during_warmup_the_kernel_scale_stays(void **state)
{
  (void)state;
  struct rows r = make_rows(6);
  struct gpnn_diag_options options = gpnn_diag_published_options();
  options.m = 20;
  options.warmup = 30;
  options.iterations = 0;
  struct fitted f = fit(&r, &options);
  assert_true(f.params.covariance.kernelscale == 1);
  assert_true(f.params.covariance.noise != 0.1);
  release(&f);
  free_rows(&r);
}

static void results_do_not_depend_on_threads(void **state)
{
  (void)state;
  struct rows r = make_rows(7);
  struct gpnn_diag_options options = small_options();
  for (int turn = 0; turn < 2; turn++) {
    options.solver = turn == 0 ? GPNN_DIAG_SOLVER_CHOLESKY : GPNN_DIAG_SOLVER_CG;
    options.truncation = GPNN_TRUNCATION_GEOMETRIC;
    options.threads = 1;
    struct fitted one = fit(&r, &options);
    options.threads = 4;
    struct fitted four = fit(&r, &options);
    assert_memory_equal(array(&one, "weights", 40), array(&four, "weights", 40),
                        40 * sizeof(double));
    assert_memory_equal(array(&one, "rho", 40), array(&four, "rho", 40), 40 * sizeof(double));
    assert_true(one.params.covariance.noise == four.params.covariance.noise);
    release(&one);
    release(&four);
  }
  free_rows(&r);
}

static void few_rows_ties_and_constants_are_no_obstacle(void **state)
{
  (void)state;
  struct rows r = make_rows(8);
  struct gpnn_diag_options options = small_options();
  r.view.n = 3;
  struct fitted f = fit(&r, &options);
  assert_int_equal(f.report.m, 3);
  release(&f);
  r.view.n = 20;
  for (size_t i = 0; i < 20; i++) {
    memcpy(r.x + i * D, r.x + i % 4 * D, D * sizeof *r.x);
    r.y[i] = 0;
  }
  f = fit(&r, &options);
  assert_int_equal(f.report.m, 4);
  for (size_t j = 0; j < 4; j++) assert_true(array(&f, "weights", 4)[j] == 0);
  release(&f);
  free_rows(&r);
}

static void solutions_that_did_not_end_are_remembered(void **state)
{
  (void)state;
  struct rows r = make_rows(9);
  struct gpnn_diag_options options = gpnn_diag_published_options();
  options.m = 200;
  options.tolerance = 1e-300; /* nothing gets there */
  options.truncation = GPNN_TRUNCATION_NONE;
  options.warmup = 0;
  options.iterations = 2;
  struct fitted f = fit(&r, &options);
  assert_int_equal(f.report.solutions.n_capped, f.report.solutions.n);
  assert_non_null(f.params.provenance.comments);
  assert_non_null(strstr(f.params.provenance.comments, "solves: 32, of which 32 (100.0 %)"));
  release(&f);
  free_rows(&r);
}

static void what_makes_no_sense_is_refused(void **state)
{
  (void)state;
  struct rows r = make_rows(10);
  struct gpnn_parameters params = {0};
  struct gpnn_diag_report report;
  struct gpnn_state *arrays = NULL;
  struct gpnn_diag_options options = small_options();
  assert_ok(gpnn_state_new(&arrays, 0, &err));
  options.m = 0;
  assert_fails(gpnn_diag_fit(&r.view, &options, &params, arrays, &report, &err), GPNN_EINVAL,
               "at least 1");
  options = small_options();
  options.tolerance = 0.5;
  assert_fails(gpnn_diag_fit(&r.view, &options, &params, arrays, &report, &err), GPNN_EINVAL,
               "tolerance");
  options = small_options();
  options.rate = 0;
  assert_fails(gpnn_diag_fit(&r.view, &options, &params, arrays, &report, &err), GPNN_EINVAL,
               "positive");
  options = small_options();
  r.view.n = 1;
  assert_fails(gpnn_diag_fit(&r.view, &options, &params, arrays, &report, &err), GPNN_EINVAL,
               "two training rows");
  assert_int_equal(arrays->n, 0);
  gpnn_state_free(arrays);
  free_rows(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_find_the_function_and_the_noise),
      cmocka_unit_test(polishing_only_raises_the_bound),
      cmocka_unit_test(the_published_way_finds_the_function_too),
      cmocka_unit_test(all_solvers_and_truncations_end_at_the_same_mean),
      cmocka_unit_test(records_come_as_often_as_wanted),
      cmocka_unit_test(during_warmup_the_kernel_scale_stays),
      cmocka_unit_test(results_do_not_depend_on_threads),
      cmocka_unit_test(few_rows_ties_and_constants_are_no_obstacle),
      cmocka_unit_test(solutions_that_did_not_end_are_remembered),
      cmocka_unit_test(what_makes_no_sense_is_refused),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
