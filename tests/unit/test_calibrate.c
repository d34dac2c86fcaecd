#include "base/threads.h"
#include "fixture.h"
#include "methods/calibrate.h"
#include "methods/predict.h"

enum { N = 400, D = 2, C = 120 };

struct setting {
  struct fixture f;
  struct gpnn_params params;
  struct gpnn_localgp *gp;
};

static void set_up(struct setting *s)
{
  fixture_new(&s->f, N, D, C, 1);
  s->params = (struct gpnn_params){.kernel = gpnn_kernel_by_name("matern32"),
                                   .n_lengthscales = 1,
                                   .kernelscale = 0.7,
                                   .noise = 0.3,
                                   .neighbours = 25};
  s->params.lengthscale = calloc(1, sizeof(double));
  assert_non_null(s->params.lengthscale);
  s->params.lengthscale[0] = 0.8;
  s->gp = NULL;
  assert_ok(gpnn_localgp_new(&s->gp, s->f.index, &s->params, 0, 2, &err));
}

static void tear_down(struct setting *s)
{
  gpnn_localgp_free(s->gp);
  gpnn_params_release(&s->params);
  fixture_free(&s->f);
}

/* Mean of z^2 and NLL on the calibration rows with variances multiplied by 'factor'. */
static void score(const struct setting *s, double factor, double *z2, double *nll, double *means)
{
  double latent[C];
  struct gpnn_localgp_counts counts = {0};
  assert_ok(gpnn_localgp_predict(s->gp, &(struct gpnn_points){.n = C, .x = s->f.cx, .self = NULL},
                                 &(struct gpnn_prediction){.mean = means, .latent = latent},
                                 &counts, &err));
  *z2 = *nll = 0;
  for (size_t i = 0; i < C; i++) {
    double v = factor * (latent[i] + s->params.noise), e = s->f.cy[i] - means[i];
    *z2 += e * e / v / C;
    *nll += 0.5 * (log(v) + e * e / v) / C;
  }
}

static void after_calibration_z2_is_one_and_nll_minimal(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibration calibration;
  assert_ok(gpnn_calibrate_rows(s.gp, C, s.f.cx, s.f.cy, C, &calibration, &err));
  double before[C], after[C], z2, best, worse;
  score(&s, 1, &z2, &worse, before);
  assert_close(calibration.alpha, z2, 1e-12);
  gpnn_calibrate_apply(&calibration, &s.params);
  score(&s, 1, &z2, &best, after);
  assert_near(z2, 1, 1e-12);
  assert_true(best < worse);
  for (double factor = 0.9; factor < 1.11; factor += 0.02) {
    score(&s, factor, &z2, &worse, after);
    assert_true(best <= worse + 1e-15);
  }
  for (size_t i = 0; i < C; i++) assert_near(after[i], before[i], 1e-12);
  assert_true(s.params.has_calibration);
  assert_close(s.params.calibration, calibration.alpha, 1e-15);
  tear_down(&s);
}

static void calibrating_again_finds_nothing_to_do(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibration first, second;
  assert_ok(gpnn_calibrate_rows(s.gp, C, s.f.cx, s.f.cy, C, &first, &err));
  gpnn_calibrate_apply(&first, &s.params);
  assert_ok(gpnn_calibrate_rows(s.gp, C, s.f.cx, s.f.cy, C, &second, &err));
  assert_near(second.alpha, 1, 1e-12);
  gpnn_calibrate_apply(&second, &s.params);
  assert_close(s.params.calibration, first.alpha, 1e-12);
  tear_down(&s);
}

static void the_standard_error_is_that_of_a_mean(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibration calibration;
  double mean[C], latent[C], squares = 0;
  struct gpnn_localgp_counts counts = {0};
  assert_ok(gpnn_calibrate_rows(s.gp, C, s.f.cx, s.f.cy, C, &calibration, &err));
  assert_ok(gpnn_localgp_predict(s.gp, &(struct gpnn_points){.n = C, .x = s.f.cx, .self = NULL},
                                 &(struct gpnn_prediction){.mean = mean, .latent = latent}, &counts,
                                 &err));
  for (size_t i = 0; i < C; i++) {
    double z2 = pow(s.f.cy[i] - mean[i], 2) / (latent[i] + s.params.noise);
    squares += pow(z2 - calibration.alpha, 2);
  }
  assert_close(calibration.standard_error, sqrt(squares / C) / sqrt(C), 1e-12);
  assert_int_equal(calibration.n_rows, C);
  assert_ok(gpnn_calibrate_rows(s.gp, C, s.f.cx, s.f.cy, 1, &calibration, &err));
  assert_true(isinf(calibration.standard_error)); /* one row says nothing of its spread */
  tear_down(&s);
}

static void leaving_one_out_over_all_rows_covers_each_row_once(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibration drawn;
  int64_t self[N];
  double mean[N], latent[N], alpha = 0;
  struct gpnn_localgp_counts counts = {0};
  for (size_t i = 0; i < N; i++) self[i] = (int64_t)i;
  assert_ok(gpnn_localgp_predict(s.gp, &(struct gpnn_points){.n = N, .x = s.f.x, .self = self},
                                 &(struct gpnn_prediction){.mean = mean, .latent = latent}, &counts,
                                 &err));
  for (size_t i = 0; i < N; i++)
    alpha += pow(s.f.y[i] - mean[i], 2) / (latent[i] + s.params.noise) / N;
  assert_ok(gpnn_calibrate_left_out(s.gp, 10 * N, 3, &drawn, &err));
  assert_int_equal(drawn.n_rows, N);
  assert_close(drawn.alpha, alpha, 1e-12);
  tear_down(&s);
}

static void auto_takes_all_rows_when_they_are_too_few_for_its_precision(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibration calibration;
  assert_ok(gpnn_calibrate_rows(s.gp, C, s.f.cx, s.f.cy, GPNN_CALIBRATE_AUTO, &calibration, &err));
  assert_int_equal(calibration.n_rows, C);
  tear_down(&s);
}

static void auto_doubles_while_the_standard_error_is_over_its_precision(void **state)
{
  (void)state;
  struct setting s;
  fixture_new(&s.f, 2500, D, 0, 1);
  s.params = (struct gpnn_params){.kernel = gpnn_kernel_by_name("matern32"),
                                  .n_lengthscales = 1,
                                  .kernelscale = 0.7,
                                  .noise = 0.01,
                                  .neighbours = 10};
  s.params.lengthscale = calloc(1, sizeof(double));
  assert_non_null(s.params.lengthscale);
  s.params.lengthscale[0] = 0.8;
  s.gp = NULL;
  assert_ok(gpnn_localgp_new(&s.gp, s.f.index, &s.params, 0, 2, &err));
  struct gpnn_calibration calibration;
  assert_ok(gpnn_calibrate_left_out(s.gp, GPNN_CALIBRATE_AUTO, 1, &calibration, &err));
  /* Normal errors have a relative standard error of sqrt(2/2500), still more than 2 %. */
  assert_int_equal(calibration.n_rows, 2500);
  assert_true(calibration.standard_error > 0.02 * calibration.alpha);
  tear_down(&s);
}

static void no_rows_are_refused(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibration calibration;
  assert_fails(gpnn_calibrate_rows(s.gp, 0, NULL, NULL, 5, &calibration, &err), GPNN_EDATA,
               "no rows");
  tear_down(&s);
}

static void units_latent_and_debias_do_what_they_say(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  const struct gpnn_index_contents *contents = gpnn_index_contents(s.f.index);
  double z[C * D], mean[4][C], sd[4][C];
  struct gpnn_localgp_counts counts = {0};
  const struct gpnn_predict_options options[4] = {{.units = GPNN_UNITS_STANDARD},
                                                  {.units = GPNN_UNITS_ORIGINAL},
                                                  {.units = GPNN_UNITS_STANDARD, .latent = true},
                                                  {.units = GPNN_UNITS_STANDARD, .debias = true}};
  for (size_t k = 0; k < 4; k++)
    assert_ok(gpnn_predict_rows(s.gp, &options[k], C, s.f.cx, z, mean[k], sd[k], &counts, &err));
  double gamma = (s.params.noise + 25 * s.params.kernelscale) / (25 * s.params.kernelscale);
  for (size_t i = 0; i < C; i++) {
    assert_close(mean[1][i], 3 + 2 * mean[0][i], 1e-13); /* the fixture's mean and sd */
    assert_close(sd[1][i], 2 * sd[0][i], 1e-13);
    assert_close(sd[2][i] * sd[2][i] + s.params.noise, sd[0][i] * sd[0][i], 1e-12);
    assert_close(mean[3][i], gamma * mean[0][i], 1e-13);
    assert_true(sd[0][i] * sd[0][i] >= s.params.noise);
    assert_true(sd[0][i] * sd[0][i] <= s.params.noise + s.params.kernelscale);
  }
  assert_close(gpnn_predict_target(contents, GPNN_UNITS_STANDARD, 7), 2, 1e-15);
  tear_down(&s);
}

int main(void)
{
  gpnn_threads_single_blas();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(after_calibration_z2_is_one_and_nll_minimal),
      cmocka_unit_test(calibrating_again_finds_nothing_to_do),
      cmocka_unit_test(the_standard_error_is_that_of_a_mean),
      cmocka_unit_test(leaving_one_out_over_all_rows_covers_each_row_once),
      cmocka_unit_test(auto_takes_all_rows_when_they_are_too_few_for_its_precision),
      cmocka_unit_test(auto_doubles_while_the_standard_error_is_over_its_precision),
      cmocka_unit_test(no_rows_are_refused),
      cmocka_unit_test(units_latent_and_debias_do_what_they_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
