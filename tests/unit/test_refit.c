/* Parameters estimated again without some of the rows. */
#include "base/rng.h"
#include "base/threads.h"
#include "estimate/refit.h"
#include "linalg/blas_threads.h"
#include "models.h"
#include "unit.h"

enum { ROWS = 90, D = 2 };

static const uint32_t groups[D] = {0, 1};

struct data {
  double x[ROWS * D], y[ROWS];
  struct gpnn_dataset dataset;
};

static void make_data(struct data *data, size_t n)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 9, GPNN_RNG_TEST);
  for (size_t i = 0; i < ROWS; i++) {
    double *x = data->x + i * D;
    for (size_t j = 0; j < D; j++) x[j] = gpnn_rng_normal(&rng);
    data->y[i] = sin(2 * x[0]) + 0.3 * x[1] + 0.2 * gpnn_rng_normal(&rng);
  }
  data->dataset = (struct gpnn_dataset){
      .n = n, .d = D, .n_groups = D, .group = groups, .x = data->x, .y = data->y};
}

static struct gpnn_fit_options options(enum gpnn_objective_kind objective)
{
  struct gpnn_fit_options options = GPNN_FIT_OPTIONS_INIT;
  options.kernel = gpnn_kernel_by_name("matern32");
  options.first = objective;
  options.k = 12;
  options.steps = 60;
  options.n_blocks = 2;
  options.block_size = 30;
  options.neighbours = 20;
  options.seed = 3;
  return options;
}

static void fit(struct data *data, const struct gpnn_fit_options *options,
                struct gpnn_parameters *params)
{
  struct gpnn_fit_report report;
  *params = (struct gpnn_parameters){0};
  assert_ok(fit_one(&data->dataset, options, params, &report, &err));
}

/* Estimates again with 'n' rows excluded. */
static enum gpnn_status refit(struct data *data, const struct gpnn_parameters *params, int threads,
                              size_t n, const uint64_t *excluded, struct gpnn_parameters *again,
                              struct gpnn_error *error)
{
  const struct gpnn_channel channel = {&data->dataset, params};
  *again = (struct gpnn_parameters){0};
  assert_true(gpnn_channels_can_refit(1, &channel));
  return gpnn_channels_refit(1, &channel, threads, n, excluded, again, error);
}

static void assert_same(const struct gpnn_parameters *a, const struct gpnn_parameters *b)
{
  const struct gpnn_covariance *p = &a->covariance, *q = &b->covariance;
  assert_ptr_equal(p->kernel, q->kernel);
  assert_int_equal(p->n_lengthscales, q->n_lengthscales);
  assert_int_equal(p->n_rotation, q->n_rotation);
  assert_memory_equal(p->lengthscale, q->lengthscale, p->n_lengthscales * sizeof(double));
  if (p->n_rotation > 0)
    assert_memory_equal(p->rotation, q->rotation, p->n_rotation * sizeof(double));
  assert_true(p->kernelscale == q->kernelscale && p->noise == q->noise);
  assert_int_equal(a->mean.n_coefficients, b->mean.n_coefficients);
  for (size_t j = 0; j < a->mean.n_coefficients; j++)
    assert_true(a->mean.coefficients[j] == b->mean.coefficients[j]);
  assert_int_equal(a->neighbours, b->neighbours);
}

static const enum gpnn_objective_kind objectives[] = {GPNN_OBJECTIVE_BLOCK, GPNN_OBJECTIVE_LOO,
                                                      GPNN_OBJECTIVE_MLL_K, GPNN_OBJECTIVE_VECCHIA};
enum { OBJECTIVES = sizeof objectives / sizeof *objectives };

static void without_exclusions_the_same_parameters_come_out(void **state)
{
  (void)state;
  struct data data;
  make_data(&data, ROWS);
  for (int i = 0; i < OBJECTIVES; i++)
    for (int mean = GPNN_MEAN_ZERO; mean <= GPNN_MEAN_CONSTANT; mean++) {
      struct gpnn_fit_options how = options(objectives[i]);
      struct gpnn_parameters params, again;
      how.mean = (enum gpnn_mean)mean;
      how.ard = i % 2 == 0;
      how.thin = i == 1 ? 0.1 : -1;
      how.fixed_noise = i == 2 ? 0.07 : 0;
      fit(&data, &how, &params);
      assert_ok(refit(&data, &params, 1, 0, NULL, &again, &err));
      assert_same(&params, &again);
      assert_int_equal(again.provenance.estimation.objective, objectives[i]);
      gpnn_parameters_release(&params);
      gpnn_parameters_release(&again);
    }
}

static void many_rows_need_fewer_steps(void **state)
{
  (void)state;
  enum { MANY = 2500 };
  struct gpnn_dataset dataset = {.n = MANY, .d = D, .n_groups = D, .group = groups};
  double *x = calloc(MANY * D, sizeof *x), *y = calloc(MANY, sizeof *y);
  struct gpnn_rng rng;
  assert_true(x != NULL && y != NULL);
  gpnn_rng_init(&rng, 4, GPNN_RNG_TEST);
  for (size_t i = 0; i < MANY * D; i++) x[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < MANY; i++) y[i] = sin(x[i * D]) + 0.1 * gpnn_rng_normal(&rng);
  dataset.x = x;
  dataset.y = y;
  struct gpnn_fit_options how = options(GPNN_OBJECTIVE_LOO);
  struct gpnn_parameters params = {0}, fewer = {0}, again = {0};
  struct gpnn_fit_report report;
  const struct gpnn_channel channel = {&dataset, &params};
  how.k = 4;
  how.steps = 50;
  assert_ok(fit_one(&dataset, &how, &params, &report, &err));
  how.steps = 40; /* 50 times 2000 / 2500 */
  assert_ok(fit_one(&dataset, &how, &fewer, &report, &err));
  assert_ok(gpnn_channels_refit(1, &channel, 1, 0, NULL, &again, &err));
  assert_same(&again, &fewer);
  gpnn_parameters_release(&params);
  gpnn_parameters_release(&fewer);
  gpnn_parameters_release(&again);
  free(x);
  free(y);
}

/* Excluding rows is the same as never having had them, and what they are does not matter. */
static void excluded_rows_leave_no_trace(void **state)
{
  (void)state;
  static const uint64_t last[] = {ROWS - 3, ROWS - 2, ROWS - 1};
  struct data all, fewer;
  make_data(&all, ROWS);
  make_data(&fewer, ROWS - 3);
  for (int i = 0; i < OBJECTIVES; i++) {
    const struct gpnn_fit_options how = options(objectives[i]);
    struct gpnn_parameters with, without, expected, again;
    fit(&all, &how, &with);
    fit(&fewer, &how, &expected);
    assert_ok(refit(&all, &with, 1, 3, last, &without, &err));
    assert_same(&without, &expected);
    for (size_t r = 0; r < 3; r++) all.y[last[r]] += 5;
    for (size_t j = 0; j < 3 * D; j++) all.x[last[0] * D + j] *= 3;
    assert_ok(refit(&all, &with, 1, 3, last, &again, &err));
    assert_same(&again, &expected);
    make_data(&all, ROWS);
    gpnn_parameters_release(&with);
    gpnn_parameters_release(&without);
    gpnn_parameters_release(&expected);
    gpnn_parameters_release(&again);
  }
}

/* Not even through the values that the estimation could start from. */
static void the_given_values_leave_no_trace(void **state)
{
  (void)state;
  static const uint64_t some[] = {0, 17, 40};
  struct data data;
  make_data(&data, ROWS);
  for (int rotated = 0; rotated < 2; rotated++) {
    struct gpnn_fit_options how = options(GPNN_OBJECTIVE_LOO);
    struct gpnn_parameters params, before, after;
    how.learn_rotation = rotated;
    fit(&data, &how, &params);
    assert_ok(refit(&data, &params, 1, 3, some, &before, &err));
    params.covariance.kernelscale *= 3;
    params.covariance.noise *= 0.1;
    params.covariance.lengthscale[1] *= 7;
    for (size_t j = 0; j < params.covariance.n_rotation; j++)
      params.covariance.rotation[j] += 0.3 * (double)(1 + j);
    assert_ok(refit(&data, &params, 1, 3, some, &after, &err));
    assert_same(&before, &after);
    assert_int_equal(before.covariance.n_rotation, rotated ? D * D : 0);
    gpnn_parameters_release(&params);
    gpnn_parameters_release(&before);
    gpnn_parameters_release(&after);
  }
}

static void what_was_given_stays(void **state)
{
  (void)state;
  static const uint64_t some[] = {5, 6};
  double turn[] = {0.6, 0.8, -0.8, 0.6};
  struct data data;
  make_data(&data, ROWS);
  struct gpnn_fit_options how = options(GPNN_OBJECTIVE_LOO);
  struct gpnn_parameters params, again;
  how.rotation = turn;
  how.fixed_lengthscale = 0.9;
  how.fixed_kernelscale = 1.3;
  fit(&data, &how, &params);
  params.neighbours = 33;
  assert_ok(refit(&data, &params, 1, 2, some, &again, &err));
  for (size_t j = 0; j < D; j++) assert_true(again.covariance.lengthscale[j] == 0.9);
  assert_true(again.covariance.kernelscale == 1.3);
  assert_true(again.covariance.noise != params.covariance.noise);
  assert_memory_equal(again.covariance.rotation, turn, sizeof turn);
  assert_int_equal(again.neighbours, 33);
  gpnn_parameters_release(&params);
  gpnn_parameters_release(&again);
}

/* Under white noise the constant of the mean is the average of the rows that remain. */
static void a_constant_is_the_average_of_the_others(void **state)
{
  (void)state;
  static const uint64_t some[] = {1, 2, 50};
  struct data data;
  make_data(&data, ROWS);
  struct gpnn_fit_options how = options(GPNN_OBJECTIVE_BLOCK);
  struct gpnn_parameters params, again;
  double sum = 0;
  how.mean = GPNN_MEAN_CONSTANT;
  how.fixed_lengthscale = 1e-4;
  fit(&data, &how, &params);
  assert_ok(refit(&data, &params, 1, 3, some, &again, &err));
  for (size_t i = 0; i < ROWS; i++)
    if (i != 1 && i != 2 && i != 50) sum += data.y[i];
  assert_near(again.mean.coefficients[0], sum / (ROWS - 3), 1e-9);
  assert_true(fabs(params.mean.coefficients[0] - again.mean.coefficients[0]) > 1e-6);
  gpnn_parameters_release(&params);
  gpnn_parameters_release(&again);
}

static void threads_change_nothing(void **state)
{
  (void)state;
  static const uint64_t some[] = {8, 9};
  struct data data;
  make_data(&data, ROWS);
  const struct gpnn_fit_options how = options(GPNN_OBJECTIVE_LOO);
  struct gpnn_parameters params, one, three;
  fit(&data, &how, &params);
  assert_ok(refit(&data, &params, 1, 2, some, &one, &err));
  assert_ok(refit(&data, &params, 3, 2, some, &three, &err));
  assert_same(&one, &three);
  gpnn_parameters_release(&params);
  gpnn_parameters_release(&one);
  gpnn_parameters_release(&three);
}

/* A fit that continues another one has its steps and its rotation. */
static void a_fit_that_continues_another_is_recorded_as_both(void **state)
{
  (void)state;
  struct data data;
  make_data(&data, ROWS);
  struct gpnn_fit_options how = options(GPNN_OBJECTIVE_LOO), more = how;
  struct gpnn_parameters first, second;
  how.learn_rotation = true;
  how.thin = 0;
  fit(&data, &how, &first);
  more.steps = 20;
  more.start = &first;
  more.n_starts = 1;
  more.rotation = first.covariance.rotation;
  fit(&data, &more, &second);
  const struct gpnn_estimation *a = &first.provenance.estimation;
  const struct gpnn_estimation *b = &second.provenance.estimation;
  assert_true(a->learnt_rotation && b->learnt_rotation);
  assert_int_equal(b->steps, 60);
  assert_int_equal(b->k, 12);
  assert_int_equal(b->seed, 3);
  assert_true(a->has_thin && a->thin == 0 && !b->has_thin);
  assert_false(b->shared_lengthscales || b->fixed_noise || b->fixed_lengthscale);
  gpnn_parameters_release(&first);
  gpnn_parameters_release(&second);
}

static void parameters_without_a_record_cannot_be_estimated_again(void **state)
{
  (void)state;
  struct data data;
  make_data(&data, ROWS);
  const struct gpnn_fit_options how = options(GPNN_OBJECTIVE_BLOCK);
  struct gpnn_parameters params;
  fit(&data, &how, &params);
  const struct gpnn_channel channel = {&data.dataset, &params};
  assert_true(gpnn_channels_can_refit(1, &channel));
  params.provenance.estimation = (struct gpnn_estimation){0};
  assert_false(gpnn_channels_can_refit(1, &channel));
  gpnn_parameters_release(&params);
}

static void too_few_rows_are_refused(void **state)
{
  (void)state;
  static const uint64_t some[] = {0, 2};
  struct data data;
  make_data(&data, 3);
  struct gpnn_fit_options how = options(GPNN_OBJECTIVE_LOO);
  struct gpnn_parameters params, again;
  fit(&data, &how, &params);
  assert_ok(refit(&data, &params, 1, 1, some, &again, &err));
  gpnn_parameters_release(&again);
  assert_fails(refit(&data, &params, 1, 2, some, &again, &err), GPNN_EDATA,
               "at least 2 rows; 1 remain");
  gpnn_parameters_release(&again);
  gpnn_parameters_release(&params);
}

/* Excluding rows of classes is the same as never having had them; the link is estimated again. */
static void classes_are_fitted_again_as_they_were(void **state)
{
  (void)state;
  static const uint64_t last[] = {ROWS - 3, ROWS - 2, ROWS - 1};
  struct data all, fewer;
  struct gpnn_fit_options how = options(GPNN_OBJECTIVE_LABELS);
  struct gpnn_parameters with, expected, again;
  make_data(&all, ROWS);
  for (size_t i = 0; i < ROWS; i++) all.y[i] = all.y[i] < -0.3 ? 0 : all.y[i] < 0.4 ? 1 : 2;
  all.dataset.schema.target.kind = GPNN_COLUMN_CLASSES;
  all.dataset.schema.target.n_levels = 3;
  fewer = all;
  fewer.dataset.n = ROWS - 3;
  fewer.dataset.x = fewer.x;
  fewer.dataset.y = fewer.y;
  how.ard = true;
  fit(&all, &how, &with);
  fit(&fewer, &how, &expected);
  assert_ok(refit(&all, &with, 1, 3, last, &again, &err));
  assert_same(&again, &expected);
  assert_int_equal(again.likelihood, GPNN_LIKELIHOOD_CATEGORICAL);
  assert_memory_equal(again.link.bias, expected.link.bias, 3 * sizeof(double));
  assert_true(again.link.slope == expected.link.slope && again.link.slope != with.link.slope);
  gpnn_parameters_release(&with);
  gpnn_parameters_release(&expected);
  gpnn_parameters_release(&again);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_exclusions_the_same_parameters_come_out),
      cmocka_unit_test(many_rows_need_fewer_steps),
      cmocka_unit_test(excluded_rows_leave_no_trace),
      cmocka_unit_test(classes_are_fitted_again_as_they_were),
      cmocka_unit_test(the_given_values_leave_no_trace),
      cmocka_unit_test(what_was_given_stays),
      cmocka_unit_test(a_constant_is_the_average_of_the_others),
      cmocka_unit_test(threads_change_nothing),
      cmocka_unit_test(a_fit_that_continues_another_is_recorded_as_both),
      cmocka_unit_test(parameters_without_a_record_cannot_be_estimated_again),
      cmocka_unit_test(too_few_rows_are_refused),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
