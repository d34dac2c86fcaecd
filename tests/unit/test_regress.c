#include "base/memory.h"
#include "base/threads.h"
#include "gls.h"
#include "kernel/coefficients.h"
#include "linalg/blas_threads.h"
#include "stats/moments.h"
#include "unit.h"
#include "vecchia/gls.h"

enum { N = 50, D = 2, P = 2 };

static const struct gpnn_coordinate inputs[D] = {{0, 0, 0, false, false}, {1, 1, 1, false, false}};

/* Rows with two regressors and known noise; group 0 is the first input. */
struct setting {
  double *x, *y, *regressors, *noise;
  uint32_t group[D];
  double lengthscale[D];
  struct gpnn_column columns[D + P];
  struct gpnn_moments moments[P];
  struct gpnn_dataset dataset;
  struct gpnn_parameters params;
};

static void set_up(struct setting *s, size_t n, enum gpnn_mean mean)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 11, GPNN_RNG_TEST);
  *s = (struct setting){.group = {0, 1}, .lengthscale = {0.7, 1.5}};
  s->x = gpnn_alloc(n, D, sizeof(double));
  s->y = gpnn_alloc(n, 1, sizeof(double));
  s->regressors = gpnn_alloc(n, P, sizeof(double));
  s->noise = gpnn_alloc(n, 1, sizeof(double));
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < D; j++) s->x[i * D + j] = gpnn_rng_normal(&rng);
    for (size_t j = 0; j < P; j++) s->regressors[i * P + j] = gpnn_rng_normal(&rng);
    s->noise[i] = 0.1 * gpnn_rng_uniform(&rng);
    s->y[i] = 0.4 + 0.5 * s->regressors[i * P] - 2 * s->regressors[i * P + 1] +
              0.5 * sin(3 * s->x[i * D]) + 0.3 * gpnn_rng_normal(&rng);
  }
  s->dataset = (struct gpnn_dataset){.n = n,
                                     .d = D,
                                     .n_groups = D,
                                     .group = s->group,
                                     .coordinates = inputs,
                                     .x = s->x,
                                     .y = s->y,
                                     .n_regressors = P,
                                     .regressors = s->regressors,
                                     .noise = s->noise,
                                     .schema = {.n_inputs = D,
                                                .inputs = s->columns,
                                                .target.name = "F\tCH",
                                                .n_regressors = P,
                                                .regressors = s->columns + D},
                                     .scaling = {.n_in = D,
                                                 .n_out = D,
                                                 .y_mean = 100,
                                                 .y_sd = 7,
                                                 .n_regressors = P,
                                                 .regressors = s->moments}};
  s->columns[0].name = "east";
  s->columns[1].name = "north";
  s->columns[D].name = "slope";
  s->columns[D + 1].name = "as\tpect";
  s->moments[0] = (struct gpnn_moments){5, 0.25};
  s->moments[1] = (struct gpnn_moments){-40, 12};
  s->params = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                       .covariance.n_lengthscales = D,
                                       .covariance.lengthscale = s->lengthscale,
                                       .covariance.kernelscale = 0.3,
                                       .covariance.noise = 0.09,
                                       .mean.kind = mean};
}

static void tear_down(struct setting *s)
{
  free(s->x);
  free(s->y);
  free(s->regressors);
  free(s->noise);
  s->params.covariance.lengthscale = NULL;
  gpnn_parameters_release(&s->params);
}

static struct gpnn_regress_options with_neighbours(size_t neighbours)
{
  struct gpnn_regress_options options = GPNN_REGRESS_OPTIONS_INIT;
  options.neighbours = neighbours;
  return options;
}

static void as_many_neighbours_as_rows_give_dense_least_squares(void **state)
{
  (void)state;
  for (enum gpnn_mean mean = GPNN_MEAN_CONSTANT; mean <= GPNN_MEAN_REGRESSORS; mean++) {
    struct setting s;
    struct gls g = {.n = N, .p = mean == GPNN_MEAN_CONSTANT ? 1 : 3};
    struct gpnn_regress_options options = with_neighbours(N);
    struct gpnn_regress_report report;
    set_up(&s, N, mean);
    for (size_t i = 0; i < N; i++) {
      const double *terms = mean == GPNN_MEAN_LINEAR ? s.x + i * D : s.regressors + i * P;
      g.y[i] = s.y[i];
      g.t[i * g.p] = 1;
      for (size_t t = 1; t < g.p; t++) g.t[i * g.p + t] = terms[t - 1];
      for (size_t j = 0; j < N; j++)
        g.m[i * N + j] =
            0.3L * dense_kernel("matern32", D, s.x + i * D, s.x + j * D, D, s.lengthscale) +
            (i == j ? 0.09L + (long double)s.noise[i] : 0);
    }
    gls_fit(&g);
    assert_ok(gpnn_regress(&s.dataset, &options, &s.params, &report, &err));
    assert_int_equal(report.n_rows, N);
    assert_int_equal(s.params.mean.n_coefficients, g.p);
    for (size_t t = 0; t < g.p; t++)
      assert_close(s.params.mean.coefficients[t], (double)g.coefficients[t], 1e-10);
    for (size_t t = 0; t < g.p * g.p; t++)
      assert_near(s.params.mean.covariance[t], (double)g.covariance[t], 1e-12);
    tear_down(&s);
  }
}

static void a_mean_of_zero_has_no_coefficients(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_regress_options options = with_neighbours(5);
  struct gpnn_regress_report report;
  set_up(&s, N, GPNN_MEAN_ZERO);
  assert_ok(gpnn_regress(&s.dataset, &options, &s.params, &report, &err));
  assert_int_equal(s.params.mean.n_coefficients, 0);
  tear_down(&s);
}

static void a_few_neighbours_of_some_rows_find_the_coefficients(void **state)
{
  (void)state;
  static const double truth[] = {0.4, 0.5, -2};
  struct setting s;
  struct gpnn_regress_options options = with_neighbours(10);
  struct gpnn_regress_report report;
  set_up(&s, 3000, GPNN_MEAN_REGRESSORS);
  options.most_rows = 1000;
  assert_ok(gpnn_regress(&s.dataset, &options, &s.params, &report, &err));
  assert_int_equal(report.n_rows, 1000);
  for (size_t t = 0; t < 3; t++) {
    double sd = sqrt(s.params.mean.covariance[t * 3 + t]);
    assert_true(sd < (t == 0 ? 0.3 : 0.03));
    assert_near(s.params.mean.coefficients[t], truth[t], 4 * sd);
  }
  tear_down(&s);
}

static void threads_change_no_bit(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_regress_options options = with_neighbours(12);
  double coefficients[3], covariance[9];
  struct gpnn_regress_report report;
  set_up(&s, 5000, GPNN_MEAN_LINEAR);
  assert_ok(gpnn_regress(&s.dataset, &options, &s.params, &report, &err));
  memcpy(coefficients, s.params.mean.coefficients, sizeof coefficients);
  memcpy(covariance, s.params.mean.covariance, sizeof covariance);
  options.threads = 3;
  assert_ok(gpnn_regress(&s.dataset, &options, &s.params, &report, &err));
  assert_memory_equal(coefficients, s.params.mean.coefficients, sizeof coefficients);
  assert_memory_equal(covariance, s.params.mean.covariance, sizeof covariance);
  tear_down(&s);
}

static void collinear_terms_are_named(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_regress_options options = with_neighbours(N);
  struct gpnn_regress_report report;
  set_up(&s, N, GPNN_MEAN_REGRESSORS);
  for (size_t i = 0; i < N; i++) s.regressors[i * P + 1] = 3 - 2 * s.regressors[i * P];
  assert_fails(gpnn_regress(&s.dataset, &options, &s.params, &report, &err), GPNN_EDATA,
               "'as?pect'");
  for (size_t i = 0; i < N; i++) s.regressors[i * P] = 0;
  assert_fails(gpnn_regress(&s.dataset, &options, &s.params, &report, &err), GPNN_EDATA, "'slope'");
  assert_null(s.params.mean.coefficients);
  tear_down(&s);
}

/* Three indicators add up to 1: the last is dropped, and the others are differences from it. */
static void a_linear_mean_drops_one_of_indicators(void **state)
{
  (void)state;
  static const double of_level[] = {5, 7, 4};
  double products[25] = {0}, coefficients[4], covariance[16], residual;
  struct gpnn_gls_sums sums = {.n_terms = 4, .products = products};
  for (int i = 0; i < 90; i++) {
    int level = i % 3;
    double row[] = {1, level == 0, level == 1, level == 2, of_level[level] + (i % 2 == 0 ? 1 : -1)};
    gpnn_gls_add(&sums, row, 1);
  }
  assert_ok(gpnn_gls_solve(&sums, NULL, true, coefficients, covariance, &residual, &err));
  assert_near(coefficients[0], 4, 1e-9);
  assert_near(coefficients[1], 1, 1e-9);
  assert_near(coefficients[2], 3, 1e-9);
  assert_near(coefficients[3], 0, 1e-9);
  assert_near(residual, 90, 1e-8);
  assert_near(covariance[0], 1 / 30., 1e-9);
  assert_near(covariance[5], 2 / 30., 1e-9);
  assert_near(covariance[15], 0, 1e-9);
}

/* 1 and 1 + e s, with s = 1, -1, 1 ...: the fraction e^2 of the squares of the second is its own.
 */
static void a_term_is_a_combination_if_less_than_1e_10_is_its_own(void **state)
{
  (void)state;
  char name[2][8] = {"one", "almost"}, *const names[] = {name[0], name[1]};
  static const double own[] = {4e-11, 4e-10};
  for (size_t k = 0; k < 2; k++) {
    double products[9] = {0}, coefficients[2], covariance[4], residual;
    struct gpnn_gls_sums sums = {.n_terms = 2, .products = products};
    for (int i = 0; i < 100; i++) {
      double s = i % 2 == 0 ? 1 : -1, row[] = {1, 1 + sqrt(own[k]) * s, s};
      gpnn_gls_add(&sums, row, 1);
    }
    if (own[k] > 1e-10)
      assert_ok(gpnn_gls_solve(&sums, names, false, coefficients, covariance, &residual, &err));
    else
      assert_fails(gpnn_gls_solve(&sums, names, false, coefficients, covariance, &residual, &err),
                   GPNN_EDATA, "'almost'");
  }
}

static void nothing_to_regress_on_is_refused(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_regress_options options = with_neighbours(0);
  struct gpnn_regress_report report;
  set_up(&s, N, GPNN_MEAN_CONSTANT);
  assert_fails(gpnn_regress(&s.dataset, &options, &s.params, &report, &err), GPNN_EINVAL,
               "neighbours");
  options.neighbours = 3;
  s.dataset.n_groups = 3;
  assert_fails(gpnn_regress(&s.dataset, &options, &s.params, &report, &err), GPNN_EMISMATCH,
               "lengthscales");
  tear_down(&s);
}

/* Regression on the table's own numbers, whose covariance is y_sd^2 times as large. */
static void coefficients_in_table_units_are_those_of_the_table(void **state)
{
  (void)state;
  struct setting s, table;
  struct gpnn_regress_options options = with_neighbours(N);
  struct gpnn_coefficient_units units = {0};
  double coefficients[3], standard_errors[3];
  struct gpnn_regress_report report;
  set_up(&s, N, GPNN_MEAN_REGRESSORS);
  set_up(&table, N, GPNN_MEAN_REGRESSORS);
  for (size_t i = 0; i < N; i++) {
    table.y[i] = 100 + 7 * s.y[i];
    table.noise[i] *= 49;
    for (size_t j = 0; j < P; j++)
      table.regressors[i * P + j] = s.moments[j].mean + s.moments[j].sd * s.regressors[i * P + j];
  }
  table.params.covariance.kernelscale *= 49;
  table.params.covariance.noise *= 49;
  assert_ok(gpnn_regress(&s.dataset, &options, &s.params, &report, &err));
  assert_ok(gpnn_regress(&table.dataset, &options, &table.params, &report, &err));
  assert_ok(gpnn_coefficient_units_init(&units, &s.dataset, GPNN_MEAN_REGRESSORS, &err));
  assert_ok(gpnn_coefficients_in_units(&s.params, &units, coefficients, standard_errors, &err));
  for (size_t t = 0; t < 3; t++) {
    assert_close(coefficients[t], table.params.mean.coefficients[t], 1e-9);
    assert_close(standard_errors[t], sqrt(table.params.mean.covariance[t * 3 + t]), 1e-9);
  }
  gpnn_coefficient_units_release(&units);
  tear_down(&s);
  tear_down(&table);
}

static void comments_say_coefficients_with_units(void **state)
{
  (void)state;
  struct setting s;
  double coefficients[] = {1, 0.5, 0.25}, covariance[9] = {0.04};
  set_up(&s, N, GPNN_MEAN_REGRESSORS);
  struct gpnn_parameters params = {.mean.kind = GPNN_MEAN_REGRESSORS,
                                   .mean.n_coefficients = 3,
                                   .mean.coefficients = coefficients,
                                   .mean.covariance = covariance};
  s.moments[1].mean = 0;
  covariance[4] = 0.01;
  assert_ok(gpnn_coefficients_describe(&params, &s.dataset, &err));
  assert_string_equal(params.provenance.comments,
                      "# coefficient constant 37 (standard error 14) in F?CH\n"
                      "# coefficient slope 14 (standard error 2.8) in F?CH per unit of slope\n"
                      "# coefficient as?pect 0.145833 (standard error 0) in F?CH per unit of "
                      "as?pect\n");
  free(params.provenance.comments);
  params.provenance.comments = NULL;
  params.mean.covariance = NULL;
  params.mean.kind = GPNN_MEAN_LINEAR;
  assert_ok(gpnn_coefficients_describe(&params, &s.dataset, &err));
  assert_string_equal(params.provenance.comments,
                      "# coefficient constant 107 in F?CH\n"
                      "# coefficient east 3.5 in F?CH per unit of east\n"
                      "# coefficient north 1.75 in F?CH per unit of north\n");
  free(params.provenance.comments);
  tear_down(&s);
}

static void inputs_that_were_scaled_are_told_in_their_units(void **state)
{
  (void)state;
  struct setting s;
  double mean[] = {10, 20, 30}, weight[] = {0.5, 0, 0.1}; /* the second was constant */
  struct gpnn_column columns[3] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
  struct gpnn_coefficient_units units = {0};
  static const struct gpnn_coordinate kept[] = {{0, 0, 0, false, false}, {2, 2, 1, false, false}};
  set_up(&s, N, GPNN_MEAN_LINEAR);
  s.dataset.schema.n_inputs = s.dataset.scaling.n_in = 3;
  s.dataset.schema.inputs = columns;
  s.dataset.scaling.method = GPNN_SCALING_SCALE;
  s.dataset.scaling.mean = mean;
  s.dataset.scaling.weight = weight;
  s.dataset.coordinates = kept;
  assert_ok(gpnn_coefficient_units_init(&units, &s.dataset, GPNN_MEAN_LINEAR, &err));
  assert_int_equal(units.n_terms, 3);
  assert_string_equal(units.names[1], "a");
  assert_string_equal(units.names[2], "c");
  assert_near(units.terms[1].mean, 10, 0);
  assert_near(units.terms[1].sd, 2, 0);
  assert_near(units.terms[2].mean, 30, 0);
  assert_near(units.terms[2].sd, 10, 1e-14);
  gpnn_coefficient_units_release(&units);
  tear_down(&s);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_many_neighbours_as_rows_give_dense_least_squares),
      cmocka_unit_test(a_mean_of_zero_has_no_coefficients),
      cmocka_unit_test(a_few_neighbours_of_some_rows_find_the_coefficients),
      cmocka_unit_test(threads_change_no_bit),
      cmocka_unit_test(collinear_terms_are_named),
      cmocka_unit_test(a_linear_mean_drops_one_of_indicators),
      cmocka_unit_test(a_term_is_a_combination_if_less_than_1e_10_is_its_own),
      cmocka_unit_test(nothing_to_regress_on_is_refused),
      cmocka_unit_test(coefficients_in_table_units_are_those_of_the_table),
      cmocka_unit_test(comments_say_coefficients_with_units),
      cmocka_unit_test(inputs_that_were_scaled_are_told_in_their_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
