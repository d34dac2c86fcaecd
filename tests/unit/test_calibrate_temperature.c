/* The temperature of classes, against a search of its definition, and rows that ask for one. */
#include "assess/calibrate.h"

#include "class_rows.h"
#include "linalg/blas_threads.h"
#include "models.h"

enum { D = CLASS_INPUTS, N = CLASS_ROWS, POINTS = CLASS_POINTS, K = 3, M = 16 };

static struct class_rows rows;
static double p[POINTS * K], y[POINTS];

/* Points with classes drawn from probabilities that the temperature 'truth' makes of the model's.
 */
static struct gpnn_model *prepare(double truth)
{
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  class_rows_init(&rows, K, M);
  assert_ok(make_model(&model, &rows.dataset, &rows.params, 0, 1, &err));
  assert_ok(gpnn_model_classify(model, 0, &(struct gpnn_query){.n = POINTS, .x = rows.points}, p,
                                NULL, &counts, &err));
  for (size_t i = 0; i < POINTS; i++) {
    double sum = 0, at = gpnn_rng_uniform(&rng);
    for (size_t c = 0; c < K; c++) sum += pow(p[i * K + c], truth);
    y[i] = 0;
    for (at -= pow(p[i * K], truth) / sum; at > 0 && y[i] + 1 < K;) {
      y[i] += 1;
      at -= pow(p[i * K + (size_t)y[i]], truth) / sum;
    }
  }
  return model;
}

static double loss_of(size_t i, double temperature)
{
  double sum = 0;
  for (size_t c = 0; c < K; c++) sum += pow(p[i * K + c], temperature);
  return log(sum) - temperature * log(p[i * K + (size_t)y[i]]);
}

/* Equation 13.23. */
static double objective(size_t n, double temperature)
{
  double sum = pow(log(temperature), 2) / (2 * 0.1 * 0.1);
  for (size_t i = 0; i < n; i++) sum += loss_of(i, temperature);
  return sum;
}

static struct gpnn_calibrate_options given(size_t n)
{
  return (struct gpnn_calibrate_options){
      .on = GPNN_CALIBRATE_GIVEN,
      .wanted = SIZE_MAX,
      .given = {.query = {.n = n, .x = rows.points}, .y = y, .cluster_rows = 1}};
}

static void the_temperature_minimises_its_definition(void **state)
{
  (void)state;
  static const double truths[] = {0.3, 1, 3};
  for (size_t k = 0; k < 3; k++) {
    struct gpnn_model *model = prepare(truths[k]);
    struct gpnn_calibrate_report report = {0};
    const struct gpnn_calibrate_options options = given(POINTS);
    assert_ok(gpnn_calibrate(model, &options, &report, &err));
    double t = report.alpha, step = 1e-4, squares = 0, before = 0, after = 0;
    assert_true(report.by_temperature && !report.by_factor && !report.by_scale);
    assert_true(objective(POINTS, t) <= objective(POINTS, t * (1 + step)));
    assert_true(objective(POINTS, t) <= objective(POINTS, t * (1 - step)));
    assert_true(k == 1 || (truths[k] < 1) == (t < 1));
    double bend = 1 / pow(0.1 * t, 2);
    for (size_t i = 0; i < POINTS; i++) {
      double more = loss_of(i, t + step), less = loss_of(i, t - step), at = loss_of(i, t);
      squares += pow((more - less) / (2 * step), 2);
      bend += (more - 2 * at + less) / (step * step);
      before += loss_of(i, 1) / POINTS;
      after += at / POINTS;
      assert_near(report.z[i], at, 1e-10);
    }
    assert_close(report.standard_error, sqrt(squares) / bend, 1e-5);
    assert_close(report.losses.before, before, 1e-12);
    assert_close(report.losses.after, after, 1e-10);
    assert_true(report.losses.before_error > 0 && report.losses.after_error > 0);
    gpnn_calibrate_report_release(&report);
    gpnn_model_free(model);
  }
}

static void only_the_temperature_is_set(void **state)
{
  (void)state;
  struct gpnn_model *model = prepare(0.3);
  struct gpnn_calibrate_report report = {0}, again = {0};
  const struct gpnn_calibrate_options options = given(POINTS);
  assert_ok(gpnn_calibrate(model, &options, &report, &err));
  struct gpnn_parameters params = rows.params;
  gpnn_calibrate_apply(&report, &params);
  assert_true(params.calibration.temperature == report.alpha);
  assert_true(params.covariance.kernelscale == 1 && !params.calibration.has_factor);
  assert_true(params.covariance.noise == rows.params.covariance.noise && params.degrees == 0);
  rows.params.calibration.temperature = report.alpha; /* what calibration finds replaces it */
  assert_ok(gpnn_calibrate(model, &options, &again, &err));
  assert_true(again.alpha == report.alpha);
  assert_close(again.losses.before, report.losses.after, 1e-14);
  params.calibration.temperature = 0;
  assert_true(gpnn_calibrate_apply_bound(&report, &params)); /* below 1 */
  assert_true(params.calibration.temperature == report.alpha);
  report.alpha = 1.2;
  assert_false(gpnn_calibrate_apply_bound(&report, &params));
  gpnn_calibrate_report_release(&report);
  gpnn_calibrate_report_release(&again);
  gpnn_model_free(model);
}

static void a_few_rows_that_are_right_hardly_count(void **state)
{
  (void)state;
  struct gpnn_model *model = prepare(1);
  struct gpnn_calibrate_report report = {0};
  for (size_t n = 1; n <= 4; n++) {
    for (size_t i = 0; i < n; i++) {
      y[i] = 0;
      for (size_t c = 1; c < K; c++)
        if (p[i * K + c] > p[i * K + (size_t)y[i]]) y[i] = (double)c;
    }
    const struct gpnn_calibrate_options options = given(n);
    assert_ok(gpnn_calibrate(model, &options, &report, &err));
    assert_true(report.alpha > 1 && report.alpha < 1.05);
    assert_true(n > 1 || isinf(report.losses.after_error));
    gpnn_calibrate_report_release(&report);
  }
  const struct gpnn_calibrate_options none = given(0);
  assert_fails(gpnn_calibrate(model, &none, &report, &err), GPNN_EDATA, "no rows");
  struct gpnn_calibrate_options noise = given(POINTS);
  noise.by = GPNN_CALIBRATE_NOISE;
  assert_fails(gpnn_calibrate(model, &noise, &report, &err), GPNN_EINVAL, "Gaussian");
  gpnn_model_free(model);
}

static void left_out_training_rows_calibrate_too(void **state)
{
  (void)state;
  struct gpnn_model *model = prepare(1);
  struct gpnn_calibrate_report report = {0};
  const struct gpnn_calibrate_options options = {
      .on = GPNN_CALIBRATE_LEFT_OUT, .wanted = GPNN_CALIBRATE_AUTO, .seed = 1};
  assert_ok(gpnn_calibrate(model, &options, &report, &err));
  assert_int_equal(report.n_rows, N);
  double loss = 0;
  for (size_t i = 0; i < N; i++) {
    double own[K];
    class_rows_classify(&rows, rows.x + i * D, (int64_t)i, M, own);
    loss -= log(own[(size_t)rows.y[i]]) / N;
  }
  assert_near(report.losses.before, loss, 1e-12);
  assert_true(report.losses.after <= report.losses.before);
  gpnn_calibrate_report_release(&report);
  gpnn_model_free(model);
}

static void rows_of_the_fit_are_circular_however_many(void **state)
{
  (void)state;
  class_rows_init(&rows, K, M);
  rows.params.provenance.fit_rows = 5000;
  assert_true(gpnn_calibrate_is_circular(&rows.params, 49999));
  assert_false(gpnn_calibrate_is_circular(&rows.params, 50000));
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_temperature_minimises_its_definition),
      cmocka_unit_test(only_the_temperature_is_set),
      cmocka_unit_test(a_few_rows_that_are_right_hardly_count),
      cmocka_unit_test(left_out_training_rows_calibrate_too),
      cmocka_unit_test(rows_of_the_fit_are_circular_however_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
