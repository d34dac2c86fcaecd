/* How good predictions of new rows will be, by rows whose targets are known. */
#include "assess/crossfit.h"
#include "assess/expected.h"
#include "class_rows.h"
#include "dataset/missing.h"
#include "fixture.h"
#include "models.h"
#include "models/predict.h"
#include "table/stream.h"

static const struct gpnn_expected_options usual = {.seed = 1, .threads = 1};

/* Parameters as they are estimated, which cannot be estimated again. */
static struct gpnn_parameters make_parameters(size_t neighbours)
{
  return (struct gpnn_parameters){
      .covariance = gpnn_covariance_isotropic(gpnn_kernel_by_name("matern32"), 0, 1.5, 0.3, 0.02),
      .likelihood = GPNN_LIKELIHOOD_GAUSSIAN,
      .neighbours = neighbours};
}

static enum gpnn_status find(const struct fixture *f, const struct gpnn_parameters *params,
                             struct gpnn_expected *expected, struct gpnn_error *error)
{
  const struct gpnn_channel channel = {f->data, params};
  return gpnn_expected_scores(1, &channel, 0, f->data, &usual, expected, error);
}

/* The root of the mean squared error of 'n' rows in units of the table, and how many of them are
 * within 'half' standard deviations. */
static double rmse_of(const struct gpnn_model *model, size_t n, const double *x, const double *y,
                      const int64_t *self, const double *noise, double half, double *coverage)
{
  const struct gpnn_predict_options options = {.units = GPNN_UNITS_STANDARD};
  const struct gpnn_predict_rows rows = {.n = n, .x = x, .self = self, .noise = noise};
  struct gpnn_predictor *predictor = NULL;
  struct gpnn_counts counts = {0};
  double *mean = gpnn_alloc(n, 1, sizeof *mean), *sd = gpnn_alloc(n, 1, sizeof *sd);
  double squares = 0;
  size_t within = 0;
  assert_ok(gpnn_predictor_new(&predictor, model, &options, &err));
  assert_ok(gpnn_predict(predictor, &rows, mean, sd, &counts, &err));
  for (size_t i = 0; i < n; i++) {
    squares += (y[i] - mean[i]) * (y[i] - mean[i]);
    within += fabs(y[i] - mean[i]) <= half * sd[i];
  }
  gpnn_predictor_free(predictor);
  free(mean);
  free(sd);
  *coverage = (double)within / (double)n;
  return 2 * sqrt(squares / (double)n); /* the fixture's standard deviation */
}

static void rows_held_out_are_scored_in_units_of_the_target(void **state)
{
  (void)state;
  enum { C = 250 };
  struct fixture f;
  struct gpnn_expected expected;
  struct gpnn_model *model = NULL;
  double coverage;
  fixture_new(&f, 400, 2, C, 1);
  const struct gpnn_parameters params = make_parameters(20);
  assert_ok(find(&f, &params, &expected, &err));
  assert_int_equal(expected.on, GPNN_EXPECTED_HELD_OUT);
  assert_int_equal(expected.scores.n, C);
  assert_near(expected.unit, 2, 0);
  assert_ok(make_model(&model, f.data, &params, 0, 1, &err));
  double rmse = rmse_of(model, C, f.cx, f.cy, NULL, NULL, 1.959963984540054, &coverage);
  assert_near(expected.scores.rmse, rmse, 1e-10 * rmse);
  assert_near(expected.scores.coverage[0], coverage, 1e-12);
  gpnn_model_free(model);
  fixture_free(&f);
}

static void parts_are_rows_dealt_in_turn(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_expected expected;
  struct gpnn_metrics_result parts[GPNN_EXPECTED_PARTS];
  struct gpnn_expected_options options = usual;
  options.parts = parts;
  fixture_new(&f, 400, 2, 255, 1);
  const struct gpnn_parameters params = make_parameters(20);
  const struct gpnn_channel channel = {f.data, &params};
  double nll = 0, mse = 0;
  assert_ok(gpnn_expected_scores(1, &channel, 0, f.data, &options, &expected, &err));
  assert_true(expected.has_parts);
  for (size_t i = 0; i < GPNN_EXPECTED_PARTS; i++) {
    assert_int_equal(parts[i].n, i < 5 ? 26 : 25);
    nll += (double)parts[i].n / 255 * parts[i].nll;
    mse += (double)parts[i].n / 255 * parts[i].mse;
  }
  assert_near(expected.scores.nll, nll, 1e-12);
  assert_near(expected.scores.mse, mse, 1e-12);
  fixture_free(&f);
}

static void without_rows_held_out_each_training_row_is_left_out(void **state)
{
  (void)state;
  enum { N = 90 };
  struct fixture f;
  struct gpnn_expected expected;
  struct gpnn_model *model = NULL;
  int64_t self[N];
  double coverage;
  fixture_new(&f, N, 2, 0, 1);
  for (int64_t i = 0; i < N; i++) self[i] = i;
  const struct gpnn_parameters params = make_parameters(15);
  assert_ok(find(&f, &params, &expected, &err));
  assert_int_equal(expected.on, GPNN_EXPECTED_LEFT_OUT);
  assert_int_equal(expected.scores.n, N);
  assert_ok(make_model(&model, f.data, &params, 0, 1, &err));
  double rmse = rmse_of(model, N, f.x, f.y, self, NULL, 1.959963984540054, &coverage);
  assert_near(expected.scores.rmse, rmse, 1e-10 * rmse);
  assert_near(expected.scores.coverage[0], coverage, 1e-12);
  gpnn_model_free(model);
  fixture_free(&f);
}

/* Each with its own noise, whatever the order in which they are drawn. */
static void rows_left_out_have_their_own_noise(void **state)
{
  (void)state;
  enum { N = 90 };
  struct fixture f;
  struct gpnn_expected expected;
  struct gpnn_model *model = NULL;
  double noise[N], in_units[N], coverage;
  int64_t self[N];
  fixture_new(&f, N, 2, 0, 1);
  for (size_t i = 0; i < N; i++) {
    self[i] = (int64_t)i;
    noise[i] = i % 2 == 0 ? 0.5 : 1e-4;
    in_units[i] = 4 * noise[i]; /* the fixture's standard deviation is 2 */
  }
  struct gpnn_dataset dataset = *f.data;
  dataset.noise = noise;
  const struct gpnn_parameters params = make_parameters(15);
  const struct gpnn_channel channel = {&dataset, &params};
  const struct gpnn_model_options options = {.threads = 1};
  assert_ok(gpnn_expected_scores(1, &channel, 0, &dataset, &usual, &expected, &err));
  assert_int_equal(expected.on, GPNN_EXPECTED_LEFT_OUT);
  assert_ok(gpnn_model_new(&model, 1, &channel, &options, &err));
  double rmse = rmse_of(model, N, f.x, f.y, self, in_units, 1.959963984540054, &coverage);
  assert_near(expected.scores.rmse, rmse, 1e-10 * rmse);
  assert_near(expected.scores.coverage[0], coverage, 1e-12);
  gpnn_model_free(model);
  fixture_free(&f);
}

/* What a row lacks is not known when it is predicted, although training has filled it in. */
static void rows_left_out_lack_what_they_lacked(void **state)
{
  (void)state;
  enum { N = 90 };
  struct fixture f;
  struct gpnn_expected expected;
  struct gpnn_model *model = NULL;
  unsigned char lacks[N] = {0};
  double x[2 * N], coverage;
  int64_t self[N];
  fixture_new(&f, N, 2, 0, 1);
  memcpy(x, f.x, sizeof x);
  for (size_t i = 0; i < N; i++) {
    self[i] = (int64_t)i;
    if (i % 3 > 0) continue;
    gpnn_lacks_note(&lacks[i], 1);
    x[2 * i + 1] = NAN;
  }
  struct gpnn_dataset dataset = *f.data;
  dataset.lacks = lacks;
  const struct gpnn_parameters params = make_parameters(15);
  const struct gpnn_channel channel = {&dataset, &params};
  assert_ok(gpnn_expected_scores(1, &channel, 0, &dataset, &usual, &expected, &err));
  const struct gpnn_model_options options = {.threads = 1};
  assert_ok(gpnn_model_new(&model, 1, &channel, &options, &err));
  double rmse = rmse_of(model, N, x, f.y, self, NULL, 1.959963984540054, &coverage);
  assert_near(expected.scores.rmse, rmse, 1e-10 * rmse);
  assert_near(expected.scores.coverage[0], coverage, 1e-12);
  gpnn_model_free(model);
  fixture_free(&f);
}

/* Probabilities of classes are those that calibration makes of the model's. */
static void classes_are_scored_by_tempered_probabilities(void **state)
{
  (void)state;
  enum { K = 3 };
  struct class_rows r;
  struct gpnn_expected expected;
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  int64_t self[CLASS_ROWS];
  double p[CLASS_ROWS * K], nll = 0;
  class_rows_init(&r, K, 20);
  r.params.calibration.temperature = 1.7;
  const struct gpnn_channel channel = {&r.dataset, &r.params};
  const struct gpnn_model_options options = {.threads = 1};
  for (size_t i = 0; i < CLASS_ROWS; i++) self[i] = (int64_t)i;
  const struct gpnn_query query = {.n = CLASS_ROWS, .x = r.x, .self = self};
  assert_ok(gpnn_model_new(&model, 1, &channel, &options, &err));
  assert_ok(gpnn_model_classify(model, 0, &query, p, NULL, &counts, &err));
  for (size_t i = 0; i < CLASS_ROWS; i++) {
    double sum = 0;
    for (size_t c = 0; c < K; c++) sum += pow(p[i * K + c], 1.7);
    nll -= log(pow(p[i * K + (size_t)r.y[i]], 1.7) / sum) / CLASS_ROWS;
  }
  assert_ok(gpnn_expected_scores(1, &channel, 0, &r.dataset, &usual, &expected, &err));
  assert_true(expected.of_classes && expected.on == GPNN_EXPECTED_LEFT_OUT);
  assert_near(expected.classes.nll, nll, 1e-9);
  gpnn_model_free(model);
}

/* Parameters that the fit made from all rows are estimated again without the rows that are scored.
 */
/* Writes what a cross-fit estimated to a file, and reads it from there. */
static void read_back(const struct gpnn_crossfit *crossfit, struct gpnn_expected_options *options)
{
  char path[256];
  struct gpnn_output *output;
  snprintf(path, sizeof path, "%s/gpnn-folds.%ld", unit_temporary(), (long)getpid());
  assert_ok(gpnn_output_open(&output, path, &err));
  assert_ok(gpnn_crossfit_write(crossfit, output, &err));
  assert_ok(gpnn_output_close(output, &err));
  assert_ok(gpnn_parameters_read(&options->known, &options->n_known, path, &err));
  assert_int_equal(options->n_known, GPNN_CROSSFIT_FOLDS);
  assert_int_equal(remove(path), 0);
}

static void rows_that_the_fit_knows_are_scored_by_parameters_that_do_not(void **state)
{
  (void)state;
  enum { N = 80 };
  struct fixture f;
  struct gpnn_fit_options options = GPNN_FIT_OPTIONS_INIT;
  struct gpnn_fit_report report;
  struct gpnn_parameters params = {0};
  struct gpnn_expected expected, again;
  struct gpnn_crossfit *crossfit = NULL;
  double squares = 0, coverage;
  fixture_new(&f, N, 3, 7, 1);
  options.kernel = gpnn_kernel_by_name("matern32");
  options.first = GPNN_OBJECTIVE_LOO;
  options.k = 12;
  options.steps = 60;
  options.neighbours = 20;
  assert_ok(fit_one(f.data, &options, &params, &report, &err));
  params.likelihood = GPNN_LIKELIHOOD_LOCAL;
  params.degrees = 5;
  assert_ok(find(&f, &params, &expected, &err));
  assert_int_equal(expected.on, GPNN_EXPECTED_CROSS_FITTED);
  assert_int_equal(expected.scores.n, N);
  const struct gpnn_channel channel = {f.data, &params};
  const struct gpnn_model_options model_options = {.threads = 1};
  assert_ok(gpnn_crossfit_new(&crossfit, 1, &channel, &model_options, N, 1, &err));
  for (int64_t i = 0; i < N; i++) {
    const struct gpnn_model *model = gpnn_crossfit_model(crossfit, gpnn_crossfit_fold(crossfit, i));
    double rmse = rmse_of(model, 1, f.x + 3 * i, f.y + i, &i, NULL, 2, &coverage);
    squares += rmse * rmse;
  }
  assert_near(expected.scores.rmse, sqrt(squares / N), 1e-10);
  const struct gpnn_expected_options threads = {.seed = 1, .threads = 3};
  assert_ok(gpnn_expected_scores(1, &channel, 0, f.data, &threads, &again, &err));
  assert_memory_equal(&again.scores.rmse, &expected.scores.rmse, sizeof again.scores.rmse);
  assert_memory_equal(&again.scores.nll, &expected.scores.nll, sizeof again.scores.nll);
  struct gpnn_expected_options known = usual;
  read_back(crossfit, &known);
  assert_ok(gpnn_expected_scores(1, &channel, 0, f.data, &known, &again, &err));
  assert_memory_equal(&again.scores.nll, &expected.scores.nll, sizeof again.scores.nll);
  assert_null(known.known[0].covariance.kernel); /* taken over */
  gpnn_parameters_free(known.known, known.n_known);
  gpnn_crossfit_free(crossfit);
  gpnn_parameters_release(&params);
  fixture_free(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_held_out_are_scored_in_units_of_the_target),
      cmocka_unit_test(parts_are_rows_dealt_in_turn),
      cmocka_unit_test(without_rows_held_out_each_training_row_is_left_out),
      cmocka_unit_test(rows_left_out_have_their_own_noise),
      cmocka_unit_test(rows_left_out_lack_what_they_lacked),
      cmocka_unit_test(classes_are_scored_by_tempered_probabilities),
      cmocka_unit_test(rows_that_the_fit_knows_are_scored_by_parameters_that_do_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
