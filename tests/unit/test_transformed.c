/* Datasets with transformed targets, models of them, and their predictions. */
#include "dataset/sample.h"
#include "dataset/transformed.h"
#include "fixture.h"
#include "models.h"
#include "models/predict.h"
#include "stats/distributions/normal.h"

enum { N = 300, D = 2, C = 40, M = 20 };

/* The fixture's targets are 3 + 2 y, between 0 and 6. */
struct setting {
  struct fixture f;
  double lengthscale;
  struct gpnn_parameters params;
  struct gpnn_transformed *transformed;
  struct gpnn_model *model;
};

static void set_up(struct setting *s, enum gpnn_transform_kind kind)
{
  *s = (struct setting){.lengthscale = 0.8};
  fixture_new(&s->f, N, D, C, 1);
  s->params = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                       .covariance.n_lengthscales = 1,
                                       .covariance.lengthscale = &s->lengthscale,
                                       .covariance.kernelscale = 0.9,
                                       .covariance.noise = 0.1,
                                       .neighbours = M};
  if (kind != GPNN_TRANSFORM_NONE)
    assert_ok(gpnn_transformed_fit(&s->params.transform, s->f.data, kind, 1, &err));
  assert_ok(gpnn_channels_transform(s->f.data, 1, &s->params, NULL, &s->transformed, &err));
  const struct gpnn_dataset *dataset =
      s->transformed == NULL ? s->f.data : gpnn_transformed_target(s->transformed, 0);
  assert_ok(make_model(&s->model, dataset, &s->params, 0, 2, &err));
}

static void tear_down(struct setting *s)
{
  gpnn_model_free(s->model);
  gpnn_transformed_free(s->transformed);
  fixture_free(&s->f);
}

/* ---- views -------------------------------------------------------------------------------- */

static void targets_are_transformed_and_standardised_anew(void **state)
{
  (void)state;
  struct setting s;
  for (int kind = GPNN_TRANSFORM_LOG; kind <= GPNN_TRANSFORM_RANK; kind++) {
    set_up(&s, (enum gpnn_transform_kind)kind);
    const struct gpnn_dataset *view = gpnn_transformed_target(s.transformed, 0);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < N; i++) {
      assert_near(view->y[i], gpnn_transform_apply(&s.params.transform, 3 + 2 * s.f.y[i]), 1e-9);
      sum += view->y[i];
      squares += view->y[i] * view->y[i];
    }
    for (size_t i = 0; i < C; i++)
      assert_near(view->calibration_y[i],
                  gpnn_transform_apply(&s.params.transform, 3 + 2 * s.f.cy[i]), 1e-9);
    assert_near(sum / N, 0, 1e-12);
    assert_near(squares / N, 1, 1e-12);
    assert_near(gpnn_dataset_standardise(view, 3.5), gpnn_transform_apply(&s.params.transform, 3.5),
                0);
    assert_true(view->x == s.f.data->x && view->n == N && view->scaling.y_sd == 2);
    tear_down(&s);
  }
}

static void a_sample_keeps_the_transform(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_sample *sample = NULL;
  static const uint64_t rows[] = {3, 7, 250};
  set_up(&s, GPNN_TRANSFORM_ASINH);
  const struct gpnn_dataset *view = gpnn_transformed_target(s.transformed, 0);
  assert_ok(gpnn_sample_take(&sample, view, 3, rows, &err));
  const struct gpnn_dataset *few = gpnn_sample_target(sample, 0);
  for (size_t i = 0; i < 3; i++) assert_true(few->y[i] == view->y[rows[i]]);
  assert_ptr_equal(few->transform, view->transform);
  assert_ptr_equal(few->calibration_y, view->calibration_y);
  gpnn_sample_free(sample);
  tear_down(&s);
}

static void a_fit_does_not_depend_on_rows_beyond_its_sample_but_for_moments(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_transform a = {0}, b = {0};
  fixture_new(&f, GPNN_TRANSFORMED_SAMPLE + 2000, 1, 0, 1);
  assert_ok(gpnn_transformed_fit(&a, f.data, GPNN_TRANSFORM_YEO_JOHNSON, 1, &err));
  assert_ok(gpnn_transformed_fit(&b, f.data, GPNN_TRANSFORM_YEO_JOHNSON, 2, &err));
  double low = INFINITY, high = -INFINITY, sum = 0;
  for (size_t i = 0; i < f.n; i++) {
    low = fmin(low, 3 + 2 * f.y[i]);
    high = fmax(high, 3 + 2 * f.y[i]);
    sum += gpnn_transform_apply(&a, 3 + 2 * f.y[i]);
  }
  assert_near(a.low, low, 1e-12);
  assert_near(a.high, high, 1e-12);
  assert_near(sum / (double)f.n, 0, 1e-9);
  assert_true(a.power != b.power && b.low == a.low && b.high == a.high);
  assert_near(a.power, b.power, 0.1);
  fixture_free(&f);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void a_target_that_is_not_positive_is_named(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_transform t = {0};
  struct gpnn_transformed *transformed = NULL;
  const struct gpnn_transform *transforms[] = {&t};
  static const double numbers[] = {0, 1, 1, 2};
  const char *why;
  fixture_new(&f, N, D, C, 1);
  struct gpnn_dataset dataset = *f.data;
  double y[N], cy[C];
  memcpy(y, f.data->y, sizeof y);
  memcpy(cy, f.data->calibration_y, sizeof cy);
  dataset.y = y;
  dataset.calibration_y = cy;
  y[6] = -1.5;
  assert_fails(gpnn_transformed_fit(&t, &dataset, GPNN_TRANSFORM_LOG, 1, &err), GPNN_EDATA,
               "target 'y': training row 7 of the index has 0, but a log transform needs positive");
  y[6] = 0;
  cy[1] = -2;
  assert_true(gpnn_transform_set(&t, GPNN_TRANSFORM_LOG, 4, numbers, &why));
  assert_fails(gpnn_transformed_new(&transformed, &dataset,
                                    &(struct gpnn_changes){.transforms = transforms}, &err),
               GPNN_EDATA, "calibration row 2 of the index has -1");
  assert_ok(gpnn_transformed_check(&dataset, GPNN_TRANSFORM_RANK, &err));
  fixture_free(&f);
}

static void rows_with_known_noise_are_refused(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  struct gpnn_dataset dataset = *f.data;
  dataset.noise = f.y;
  assert_fails(gpnn_transformed_check(&dataset, GPNN_TRANSFORM_ASINH, &err), GPNN_EDATA,
               "known noise variances");
  fixture_free(&f);
}

static void parameters_and_dataset_have_the_same_transform(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_channel channel;
  struct gpnn_transformed *transformed = NULL;
  bool other;
  set_up(&s, GPNN_TRANSFORM_LOG);
  assert_fails(gpnn_channels_find(s.f.data, 1, &s.params, &channel, &other, &err), GPNN_EINVAL,
               "not transformed as the parameters say");
  s.params.transform = (struct gpnn_transform){0};
  assert_fails(gpnn_channels_find(gpnn_transformed_target(s.transformed, 0), 1, &s.params, &channel,
                                  &other, &err),
               GPNN_EINVAL, "not transformed as the parameters say");
  assert_ok(gpnn_channels_transform(s.f.data, 1, &s.params, NULL, &transformed, &err));
  assert_null(transformed);
  tear_down(&s);
}

/* ---- predictions -------------------------------------------------------------------------- */

struct out {
  struct gpnn_distribution distributions[C];
  double mean[C], sd[C];
  struct gpnn_distribution_score scores[C];
};

/* Predicts the calibration rows; the predictor, which distributions borrow from, is the caller's.
 */
static struct gpnn_predictor *predict(const struct setting *s, struct gpnn_predict_options options,
                                      struct out *out)
{
  const struct gpnn_predict_rows rows = {.n = C, .x = s->f.cx};
  const struct gpnn_dataset *dataset = gpnn_model_channel(s->model, 0)->dataset;
  struct gpnn_predictor *predictor = NULL;
  struct gpnn_counts counts = {0};
  double truth[C];
  for (size_t i = 0; i < C; i++)
    truth[i] = gpnn_predict_target(dataset, options.units, 3 + 2 * s->f.cy[i]);
  assert_ok(gpnn_predictor_new(&predictor, s->model, &options, &err));
  assert_ok(gpnn_predict_distributions(predictor, &rows, out->distributions, &counts, &err));
  assert_ok(gpnn_predict_moments(predictor, C, out->distributions, out->mean, out->sd, &err));
  gpnn_predict_scores(predictor, C, out->distributions, truth, out->scores);
  return predictor;
}

/* The latent function and the observation are those of a model of the transformed targets. */
static void quantiles_and_scores_are_those_of_the_transformed_target(void **state)
{
  (void)state;
  struct setting s;
  static struct out out;
  for (int kind = GPNN_TRANSFORM_LOG; kind <= GPNN_TRANSFORM_RANK; kind++) {
    double z[C], variance[C];
    struct gpnn_counts counts = {0};
    set_up(&s, (enum gpnn_transform_kind)kind);
    const struct gpnn_transform *t = &s.params.transform;
    struct gpnn_predictor *predictor = predict(&s, (struct gpnn_predict_options){0}, &out);
    assert_true(gpnn_predictor_needs_scores(predictor, 0));
    assert_ok(gpnn_model_predict(s.model, &(struct gpnn_query){.n = C, .x = s.f.cx},
                                 &(struct gpnn_latent){.mean = z, .variance = variance}, &counts,
                                 &err));
    for (size_t i = 0; i < C; i++) {
      const struct gpnn_distribution *d = &out.distributions[i];
      double y = 3 + 2 * s.f.cy[i], sd = sqrt(variance[i] + 0.1), lower, upper;
      double error = (gpnn_transform_apply(t, y) - z[i]) / sd;
      gpnn_distribution_interval(d, 1.5, &lower, &upper);
      assert_close(lower, gpnn_transform_invert(t, z[i] - 1.5 * sd), 1e-12);
      assert_close(upper, gpnn_transform_invert(t, z[i] + 1.5 * sd), 1e-12);
      assert_near(out.scores[i].pit, gpnn_normal_cdf(error), 1e-12);
      assert_near(out.scores[i].logp,
                  log(gpnn_normal_density(error) / sd) + gpnn_transform_log_slope(t, y), 1e-9);
    }
    gpnn_predictor_free(predictor);
    tear_down(&s);
  }
}

static void standard_units_divide_by_the_moments_of_the_target_itself(void **state)
{
  (void)state;
  struct setting s;
  static struct out original, standard;
  for (int kind = GPNN_TRANSFORM_LOG; kind <= GPNN_TRANSFORM_RANK; kind++) {
    set_up(&s, (enum gpnn_transform_kind)kind);
    struct gpnn_predictor *a = predict(&s, (struct gpnn_predict_options){0}, &original);
    struct gpnn_predictor *b =
        predict(&s, (struct gpnn_predict_options){.units = GPNN_UNITS_STANDARD}, &standard);
    for (size_t i = 0; i < C; i++) {
      assert_near(original.mean[i], 3 + 2 * standard.mean[i], 1e-10);
      assert_close(original.sd[i], 2 * standard.sd[i], 1e-9);
      assert_near(original.scores[i].logp, standard.scores[i].logp - log(2), 1e-9);
      assert_close(original.scores[i].crps, 2 * standard.scores[i].crps, 1e-8);
      assert_near(original.scores[i].pit, standard.scores[i].pit, 1e-9);
    }
    gpnn_predictor_free(a);
    gpnn_predictor_free(b);
    tear_down(&s);
  }
}

static void means_are_those_of_many_draws(void **state)
{
  (void)state;
  enum { DRAWS = 40000 };
  struct setting s;
  static struct out out;
  for (int kind = GPNN_TRANSFORM_LOG; kind <= GPNN_TRANSFORM_RANK; kind++) {
    set_up(&s, (enum gpnn_transform_kind)kind);
    struct gpnn_predictor *predictor = predict(&s, (struct gpnn_predict_options){0}, &out);
    struct gpnn_rng rng;
    gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
    for (size_t i = 0; i < 5; i++) {
      const struct gpnn_distribution *d = &out.distributions[i];
      double sum = 0, squares = 0;
      for (int k = 0; k < DRAWS; k++) {
        double y =
            gpnn_transform_invert(&s.params.transform, d->location + d->sd * gpnn_rng_normal(&rng));
        y = fmin(fmax(y, d->warp->lower), d->warp->upper);
        sum += y / DRAWS;
        squares += y * y / DRAWS;
      }
      double sd = sqrt(squares - sum * sum);
      assert_near(out.mean[i], sum, 4 * sd / sqrt(DRAWS));
      assert_close(out.sd[i], sd, 0.03);
    }
    gpnn_predictor_free(predictor);
    tear_down(&s);
  }
}

/* Far from all rows the prediction is wide, and under log its mean would be far out. */
static void means_stay_within_the_widened_range(void **state)
{
  (void)state;
  struct setting s;
  for (int kind = GPNN_TRANSFORM_LOG; kind <= GPNN_TRANSFORM_RANK; kind++) {
    double x[D] = {1e3, 1e3}, mean, sd;
    struct gpnn_counts counts = {0};
    struct gpnn_predictor *predictor = NULL;
    const struct gpnn_predict_options options = {.beyond = GPNN_BEYOND_PRIOR};
    set_up(&s, (enum gpnn_transform_kind)kind);
    s.params.covariance.kernelscale = 1e4;
    const struct gpnn_predict_rows rows = {.n = 1, .x = x};
    assert_ok(gpnn_predictor_new(&predictor, s.model, &options, &err));
    assert_ok(gpnn_predict(predictor, &rows, &mean, &sd, &counts, &err));
    double low = s.params.transform.low, high = s.params.transform.high;
    assert_true(mean > 2 * low - high && mean < 2 * high - low && sd < 2 * (high - low));
    gpnn_predictor_free(predictor);
    tear_down(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(targets_are_transformed_and_standardised_anew),
      cmocka_unit_test(a_sample_keeps_the_transform),
      cmocka_unit_test(a_fit_does_not_depend_on_rows_beyond_its_sample_but_for_moments),
      cmocka_unit_test(a_target_that_is_not_positive_is_named),
      cmocka_unit_test(rows_with_known_noise_are_refused),
      cmocka_unit_test(parameters_and_dataset_have_the_same_transform),
      cmocka_unit_test(quantiles_and_scores_are_those_of_the_transformed_target),
      cmocka_unit_test(standard_units_divide_by_the_moments_of_the_target_itself),
      cmocka_unit_test(means_are_those_of_many_draws),
      cmocka_unit_test(means_stay_within_the_widened_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
