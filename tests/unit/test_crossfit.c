/* Training rows predicted by parameters that have not seen them. */
#include "assess/calibrate.h"
#include "assess/crossfit.h"
#include "base/threads.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models.h"

enum { N = 103, D = 3 };

struct setting {
  struct fixture f;
  struct gpnn_dataset grouped;
  struct gpnn_parameters params;
  struct gpnn_model *model;
};

/* Fits with many numbers for the rows, so that they are fitted too well. */
static void set_up(struct setting *s, size_t n, enum gpnn_mean mean, int threads)
{
  struct gpnn_fit_options options = GPNN_FIT_OPTIONS_INIT;
  struct gpnn_fit_report report;
  fixture_new(&s->f, n, D, 5, 1);
  s->params = (struct gpnn_parameters){0};
  s->model = NULL;
  options.kernel = gpnn_kernel_by_name("matern32");
  options.first = GPNN_OBJECTIVE_LOO;
  options.k = 12;
  options.steps = 60;
  options.mean = mean;
  options.neighbours = 20;
  assert_ok(fit_one(s->f.data, &options, &s->params, &report, &err));
  assert_ok(make_model(&s->model, s->f.data, &s->params, 0, threads, &err));
}

static void tear_down(struct setting *s)
{
  gpnn_model_free(s->model);
  gpnn_parameters_release(&s->params);
  fixture_free(&s->f);
}

/* Divides the rows into groups, written to 'group'. */
static void group_rows(struct setting *s, size_t n_groups, uint32_t group[N])
{
  for (size_t i = 0; i < N; i++) group[i] = (uint32_t)((i + i / 3) % n_groups);
  s->grouped = *s->f.data;
  s->grouped.row_group = group;
  s->grouped.n_row_groups = n_groups;
  s->grouped.schema.has_by = true; /* else they are sets of copies */
  s->grouped.source = NULL;
  gpnn_model_free(s->model);
  assert_ok(make_model(&s->model, &s->grouped, &s->params, 0, 1, &err));
}

static enum gpnn_status cross_fit(struct gpnn_crossfit **crossfit, const struct gpnn_model *model,
                                  size_t n_rows, uint64_t seed, struct gpnn_error *error)
{
  return gpnn_crossfit_new(crossfit, 1, gpnn_model_channel(model, 0), gpnn_model_options(model),
                           n_rows, seed, error);
}

static const struct gpnn_parameters *parameters_of(const struct gpnn_crossfit *crossfit,
                                                   size_t fold)
{
  return gpnn_model_channel(gpnn_crossfit_model(crossfit, fold), 0)->parameters;
}

static void the_folds_divide_the_rows(void **state)
{
  (void)state;
  enum { DRAWN = 23 };
  struct setting s;
  struct gpnn_crossfit *crossfit = NULL;
  size_t members[GPNN_CROSSFIT_FOLDS + 1] = {0};
  bool drawn[N] = {false};
  set_up(&s, N, GPNN_MEAN_ZERO, 1);
  assert_ok(cross_fit(&crossfit, s.model, DRAWN, 1, &err));
  assert_int_equal(gpnn_crossfit_n_rows(crossfit), DRAWN);
  assert_int_equal(gpnn_crossfit_n_folds(crossfit), GPNN_CROSSFIT_FOLDS);
  for (size_t i = 0; i < DRAWN; i++) {
    int64_t row = gpnn_crossfit_rows(crossfit)[i];
    assert_true(row >= 0 && row < N && !drawn[row]);
    drawn[row] = true;
  }
  for (int64_t row = 0; row < N; row++) {
    size_t fold = gpnn_crossfit_fold(crossfit, row);
    assert_true(fold <= GPNN_CROSSFIT_FOLDS);
    assert_int_equal(fold == GPNN_CROSSFIT_FOLDS, !drawn[row]);
    members[fold]++;
  }
  for (size_t f = 0; f < GPNN_CROSSFIT_FOLDS; f++)
    assert_true(members[f] == DRAWN / GPNN_CROSSFIT_FOLDS ||
                members[f] == DRAWN / GPNN_CROSSFIT_FOLDS + 1);
  gpnn_crossfit_free(crossfit);
  tear_down(&s);
}

/* A row's target changes the parameters of all folds but its own. */
static void a_fold_has_not_seen_its_rows(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_crossfit *before = NULL, *after = NULL;
  set_up(&s, N, GPNN_MEAN_ZERO, 1);
  assert_ok(cross_fit(&before, s.model, N, 1, &err));
  size_t own = gpnn_crossfit_fold(before, 31);
  double *y = gpnn_alloc(N, 1, sizeof *y);
  memcpy(y, s.f.data->y, N * sizeof *y);
  y[31] += 4;
  struct gpnn_dataset changed = *s.f.data;
  changed.y = y;
  changed.source = NULL;
  struct gpnn_model *model = NULL;
  assert_ok(make_model(&model, &changed, &s.params, 0, 1, &err));
  assert_ok(cross_fit(&after, model, N, 1, &err));
  for (size_t f = 0; f < GPNN_CROSSFIT_FOLDS; f++) {
    const struct gpnn_covariance *p = &parameters_of(before, f)->covariance;
    const struct gpnn_covariance *q = &parameters_of(after, f)->covariance;
    assert_int_equal(p->noise == q->noise, f == own);
    assert_int_equal(memcmp(p->lengthscale, q->lengthscale, D * sizeof(double)) == 0, f == own);
  }
  gpnn_crossfit_free(before);
  gpnn_crossfit_free(after);
  gpnn_model_free(model);
  free(y);
  tear_down(&s);
}

/* Seven groups, of which some rows are drawn; two groups; and groups of which one is drawn. */
static void folds_are_made_of_whole_groups(void **state)
{
  (void)state;
  static const struct {
    size_t n_groups, n_drawn, n_folds;
  } cases[] = {{7, 60, GPNN_CROSSFIT_FOLDS}, {2, N, 2}, {7, 1, 1}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    struct setting s;
    struct gpnn_crossfit *crossfit = NULL;
    uint32_t group[N];
    size_t fold_of[N];
    bool used[GPNN_CROSSFIT_FOLDS + 1] = {false};
    set_up(&s, N, GPNN_MEAN_ZERO, 1);
    group_rows(&s, cases[c].n_groups, group);
    assert_ok(cross_fit(&crossfit, s.model, cases[c].n_drawn, 1, &err));
    assert_int_equal(gpnn_crossfit_n_rows(crossfit), cases[c].n_drawn);
    assert_int_equal(gpnn_crossfit_n_folds(crossfit), cases[c].n_folds);
    for (size_t g = 0; g < cases[c].n_groups; g++) fold_of[g] = cases[c].n_folds;
    for (size_t i = 0; i < cases[c].n_drawn; i++) {
      int64_t row = gpnn_crossfit_rows(crossfit)[i];
      fold_of[group[row]] = gpnn_crossfit_fold(crossfit, row);
      used[fold_of[group[row]]] = true;
    }
    for (size_t f = 0; f <= GPNN_CROSSFIT_FOLDS; f++)
      assert_int_equal(used[f], f < cases[c].n_folds);
    for (int64_t row = 0; row < N; row++)
      assert_int_equal(gpnn_crossfit_fold(crossfit, row), fold_of[group[row]]);
    gpnn_crossfit_free(crossfit);
    tear_down(&s);
  }
}

/* As an index may hold that was made by hand. */
static void a_group_that_does_not_exist_is_refused(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_crossfit *crossfit = NULL;
  uint32_t group[N];
  set_up(&s, N, GPNN_MEAN_ZERO, 1);
  group_rows(&s, 7, group);
  group[N - 1] = 7;
  assert_fails(cross_fit(&crossfit, s.model, 1, 1, &err), GPNN_EFORMAT, "is in group 8 of 7");
  assert_null(crossfit);
  tear_down(&s);
}

/* Neither parameters nor predictions of a row depend on the targets of its group. */
static void a_fold_has_not_seen_the_groups_of_its_rows(void **state)
{
  (void)state;
  enum { DRAWN = 40 };
  struct setting s;
  struct gpnn_crossfit *before = NULL, *after = NULL;
  uint32_t group[N];
  double y[N], mean[2];
  set_up(&s, N, GPNN_MEAN_ZERO, 1);
  group_rows(&s, 11, group);
  assert_ok(cross_fit(&before, s.model, DRAWN, 1, &err));
  int64_t row = gpnn_crossfit_rows(before)[0];
  size_t own = gpnn_crossfit_fold(before, row);
  for (int64_t i = 0; i < N; i++)
    y[i] = s.f.data->y[i] + (i != row && group[i] == group[row] ? 3 : 0);
  struct gpnn_dataset changed = *gpnn_model_channel(s.model, 0)->dataset;
  changed.y = y;
  struct gpnn_model *model = NULL;
  assert_ok(make_model(&model, &changed, &s.params, 0, 1, &err));
  assert_ok(cross_fit(&after, model, DRAWN, 1, &err));
  for (size_t f = 0; f < GPNN_CROSSFIT_FOLDS; f++)
    assert_int_equal(parameters_of(before, f)->covariance.noise ==
                         parameters_of(after, f)->covariance.noise,
                     f == own);
  for (int a = 0; a < 2; a++) {
    struct gpnn_counts counts = {0};
    assert_ok(gpnn_crossfit_predict(a == 0 ? before : after, 1, &row,
                                    &(struct gpnn_latent){.mean = &mean[a]}, NULL, &counts, &err));
  }
  assert_true(mean[0] == mean[1]);
  gpnn_crossfit_free(before);
  gpnn_crossfit_free(after);
  gpnn_model_free(model);
  tear_down(&s);
}

struct out {
  double mean[N], variance[N], misfit[N], nearest[N], noise[N];
};

static void predict(const struct gpnn_crossfit *crossfit, size_t n, const int64_t *rows,
                    struct out *out)
{
  struct gpnn_counts counts = {0};
  const struct gpnn_latent latent = {
      .mean = out->mean, .variance = out->variance, .misfit = out->misfit, .nearest = out->nearest};
  assert_ok(gpnn_crossfit_predict(crossfit, n, rows, &latent, out->noise, &counts, &err));
}

/* Each prediction is that of the fold's model, from all other rows. */
static void predictions_are_those_of_the_fold(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_crossfit *crossfit = NULL;
  struct out out;
  set_up(&s, N, GPNN_MEAN_LINEAR, 1);
  assert_ok(cross_fit(&crossfit, s.model, N, 2, &err));
  const int64_t *rows = gpnn_crossfit_rows(crossfit);
  predict(crossfit, N, rows, &out);
  for (size_t i = 0; i < N; i++) {
    size_t fold = gpnn_crossfit_fold(crossfit, rows[i]);
    double mean, variance, misfit, nearest;
    struct gpnn_counts counts = {0};
    assert_ok(gpnn_model_predict(
        gpnn_crossfit_model(crossfit, fold),
        &(struct gpnn_query){.n = 1, .x = s.f.data->x + rows[i] * D, .self = &rows[i]},
        &(struct gpnn_latent){
            .mean = &mean, .variance = &variance, .misfit = &misfit, .nearest = &nearest},
        &counts, &err));
    assert_true(out.mean[i] == mean && out.variance[i] == variance);
    assert_true(out.misfit[i] == misfit && out.nearest[i] == nearest);
    assert_true(out.noise[i] == parameters_of(crossfit, fold)->covariance.noise);
  }
  gpnn_crossfit_free(crossfit);
  tear_down(&s);
}

static void neither_order_nor_threads_matter(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_crossfit *one = NULL, *three = NULL;
  struct gpnn_model *threaded = NULL;
  struct out out, reversed;
  int64_t back[N];
  set_up(&s, N, GPNN_MEAN_CONSTANT, 1);
  assert_ok(make_model(&threaded, s.f.data, &s.params, 0, 3, &err));
  assert_ok(cross_fit(&one, s.model, N, 1, &err));
  assert_ok(cross_fit(&three, threaded, N, 1, &err));
  for (size_t i = 0; i < N; i++) back[i] = gpnn_crossfit_rows(one)[N - 1 - i];
  predict(one, N, gpnn_crossfit_rows(one), &out);
  predict(three, N - 40, back, &reversed);
  for (size_t i = 0; i < N - 40; i++) {
    assert_true(out.mean[N - 1 - i] == reversed.mean[i]);
    assert_true(out.variance[N - 1 - i] == reversed.variance[i]);
    assert_true(out.noise[N - 1 - i] == reversed.noise[i]);
  }
  gpnn_crossfit_free(one);
  gpnn_crossfit_free(three);
  gpnn_model_free(threaded);
  tear_down(&s);
}

/* Mean of z^2: about 1 on rows that were fitted, whatever the truth, and more on new rows. */
static void errors_are_larger_than_on_rows_that_were_fitted(void **state)
{
  (void)state;
  enum { FEW = 40 };
  struct setting s;
  struct gpnn_crossfit *crossfit = NULL;
  struct out out;
  struct gpnn_counts counts = {0};
  double naive = 0, cross = 0;
  set_up(&s, FEW, GPNN_MEAN_ZERO, 1);
  assert_ok(cross_fit(&crossfit, s.model, FEW, 1, &err));
  const int64_t *rows = gpnn_crossfit_rows(crossfit);
  predict(crossfit, FEW, rows, &out);
  for (size_t i = 0; i < FEW; i++)
    cross += pow(s.f.data->y[rows[i]] - out.mean[i], 2) / (out.variance[i] + out.noise[i]) / FEW;
  for (int64_t i = 0; i < FEW; i++) {
    double mean, variance;
    assert_ok(gpnn_model_predict(
        s.model, &(struct gpnn_query){.n = 1, .x = s.f.data->x + i * D, .self = &i},
        &(struct gpnn_latent){.mean = &mean, .variance = &variance}, &counts, &err));
    naive += pow(s.f.data->y[i] - mean, 2) / (variance + s.params.covariance.noise) / FEW;
  }
  if (!(cross > 1.2 * naive)) fail_msg("%g is not well above %g", cross, naive);
  gpnn_crossfit_free(crossfit);
  tear_down(&s);
}

/* A scale that depends on nothing, for errors that are nearly normal: the mean of z^2, roughly. */
static void a_scale_is_that_of_the_rows_predicted_across(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_crossfit *crossfit = NULL;
  struct gpnn_calibrate_report report = {0};
  struct out out;
  double squares = 0, scaled = 0;
  set_up(&s, N, GPNN_MEAN_ZERO, 1);
  assert_ok(cross_fit(&crossfit, s.model, N, 1, &err));
  struct gpnn_calibrate_options options = {
      .on = GPNN_CALIBRATE_CROSS_FITTED, .wanted = SIZE_MAX, .crossfit = crossfit};
  assert_fails(gpnn_calibrate(s.model, &options, &report, &err), GPNN_EINVAL,
               "a Gaussian likelihood is not calibrated by a cross-fit");
  s.params.likelihood = GPNN_LIKELIHOOD_STUDENT;
  assert_ok(gpnn_calibrate(s.model, &options, &report, &err));
  assert_true(report.by_scale && report.n_rows == N);
  const int64_t *rows = gpnn_crossfit_rows(crossfit);
  predict(crossfit, N, rows, &out);
  for (size_t i = 0; i < N; i++) {
    double error = s.f.data->y[rows[i]] - out.mean[i], variance = out.variance[i] + out.noise[i];
    double degrees = report.law.degrees;
    squares += error * error / variance / N;
    assert_close(report.z[i], error / sqrt(report.alpha * variance * degrees / (degrees - 2)),
                 1e-9);
    assert_true(report.nearest[i] == out.nearest[i]);
    scaled += report.z[i] * report.z[i] / N;
  }
  assert_near(scaled, 1, 0.35);
  assert_near(log(squares), log(report.alpha * report.law.degrees / (report.law.degrees - 2)),
              0.35);
  options.wanted = 30;
  gpnn_calibrate_report_release(&report);
  assert_ok(gpnn_calibrate(s.model, &options, &report, &err));
  assert_int_equal(report.n_rows, 30);
  gpnn_calibrate_report_release(&report);
  gpnn_crossfit_free(crossfit);
  tear_down(&s);
}

/* How far factors below 1 were trusted before does not matter to the errors found now. */
static void an_earlier_calibration_leaves_no_traces(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_calibrate_report first = {0}, again = {0};
  set_up(&s, N, GPNN_MEAN_ZERO, 1);
  s.params.likelihood = GPNN_LIKELIHOOD_STUDENT;
  s.params.covariance.noise *= 50; /* so that the factor is below 1 */
  const struct gpnn_calibrate_options options = {.on = GPNN_CALIBRATE_LEFT_OUT, .wanted = SIZE_MAX};
  assert_ok(gpnn_calibrate(s.model, &options, &first, &err));
  assert_true(first.alpha < 0.5);
  s.params.calibration.has_distance = true;
  for (int i = 0; i < GPNN_N_DISTANCES; i++) s.params.calibration.distance[i] = 1e-3;
  assert_ok(gpnn_calibrate(s.model, &options, &again, &err));
  assert_memory_equal(first.z, again.z, N * sizeof *first.z);
  gpnn_calibrate_report_release(&first);
  gpnn_calibrate_report_release(&again);
  tear_down(&s);
}

static void few_rows_are_folds_of_their_own(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_crossfit *crossfit = NULL;
  struct out out;
  set_up(&s, 3, GPNN_MEAN_ZERO, 1);
  assert_ok(cross_fit(&crossfit, s.model, 3, 1, &err));
  assert_int_equal(gpnn_crossfit_n_folds(crossfit), 3);
  predict(crossfit, 3, gpnn_crossfit_rows(crossfit), &out);
  for (size_t i = 0; i < 3; i++) assert_true(isfinite(out.mean[i]) && out.variance[i] >= 0);
  predict(crossfit, 0, NULL, &out);
  gpnn_crossfit_free(crossfit);
  tear_down(&s);
  set_up(&s, 2, GPNN_MEAN_ZERO, 1);
  assert_fails(cross_fit(&crossfit, s.model, 2, 1, &err), GPNN_EDATA,
               "without 1 of the 2 training rows: estimation needs at least 2 rows; 1 remain");
  tear_down(&s);
}

static void a_row_outside_the_folds_is_refused(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_crossfit *crossfit = NULL;
  int64_t row = 0;
  double mean;
  struct gpnn_counts counts = {0};
  set_up(&s, N, GPNN_MEAN_ZERO, 1);
  assert_ok(cross_fit(&crossfit, s.model, 7, 1, &err));
  while (gpnn_crossfit_fold(crossfit, row) < gpnn_crossfit_n_folds(crossfit)) row++;
  assert_fails(gpnn_crossfit_predict(crossfit, 1, &row, &(struct gpnn_latent){.mean = &mean}, NULL,
                                     &counts, &err),
               GPNN_EINVAL, "belongs to no fold");
  gpnn_crossfit_free(crossfit);
  gpnn_crossfit_free(NULL);
  tear_down(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_folds_divide_the_rows),
      cmocka_unit_test(a_fold_has_not_seen_its_rows),
      cmocka_unit_test(folds_are_made_of_whole_groups),
      cmocka_unit_test(a_group_that_does_not_exist_is_refused),
      cmocka_unit_test(a_fold_has_not_seen_the_groups_of_its_rows),
      cmocka_unit_test(predictions_are_those_of_the_fold),
      cmocka_unit_test(neither_order_nor_threads_matter),
      cmocka_unit_test(errors_are_larger_than_on_rows_that_were_fitted),
      cmocka_unit_test(a_scale_is_that_of_the_rows_predicted_across),
      cmocka_unit_test(an_earlier_calibration_leaves_no_traces),
      cmocka_unit_test(few_rows_are_folds_of_their_own),
      cmocka_unit_test(a_row_outside_the_folds_is_refused),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
