/* Predictions in the user's units: options, known noise, far rows, widths of intervals. */
#include <float.h>

#include "base/threads.h"
#include "dense.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models.h"
#include "models/predict.h"
#include "stats/distributions/normal.h"

enum { N = 400, D = 2, C = 60, M = 25 };

struct setting {
  struct fixture f;
  double lengthscale, coefficients[1 + D];
  double covariance[(2 + D) * (1 + D)]; /* and a row more, which is not to be read */
  struct gpnn_parameters params;
  struct gpnn_model *gp;
};

static void set_up(struct setting *s)
{
  fixture_new(&s->f, N, D, C, 1);
  s->lengthscale = 0.8;
  s->params = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                       .covariance.n_lengthscales = 1,
                                       .covariance.lengthscale = &s->lengthscale,
                                       .covariance.kernelscale = 0.7,
                                       .covariance.noise = 0.3,
                                       .neighbours = M};
  s->gp = NULL;
  assert_ok(make_model(&s->gp, s->f.data, &s->params, 0, 2, &err));
}

/* Gives the process a linear mean whose coefficients are uncertain. */
static void set_up_linear(struct setting *s)
{
  set_up(s);
  for (size_t i = 0; i < 1 + D; i++) {
    s->coefficients[i] = 0.5 - 0.3 * (double)i;
    for (size_t k = 0; k < 1 + D; k++) s->covariance[i * (1 + D) + k] = i == k ? 0.2 : 0.05;
    s->covariance[(1 + D) * (1 + D) + i] = NAN;
  }
  s->params.mean.kind = GPNN_MEAN_LINEAR;
  s->params.mean.n_coefficients = 1 + D;
  s->params.mean.coefficients = s->coefficients;
  s->params.mean.covariance = s->covariance;
}

static void tear_down(struct setting *s)
{
  gpnn_model_free(s->gp);
  fixture_free(&s->f);
}

/* Predicted numbers of rows. */
struct out {
  double mean[C], sd[C], nearest[C];
  struct gpnn_counts counts;
};

static enum gpnn_status try_predict(const struct setting *s, struct gpnn_predict_options options,
                                    const double *noise, struct out *out, struct gpnn_error *error)
{
  const struct gpnn_predict_rows rows = {.n = C, .x = s->f.cx, .noise = noise};
  struct gpnn_predictor *predictor = NULL;
  out->counts = (struct gpnn_counts){0};
  assert_ok(gpnn_predictor_new(&predictor, s->gp, &options, &err));
  enum gpnn_status status = gpnn_predict(predictor, &rows, out->mean, out->sd, &out->counts, error);
  gpnn_predictor_free(predictor);
  return status;
}

static void predict(const struct setting *s, struct gpnn_predict_options options,
                    const double *noise, struct out *out)
{
  struct gpnn_counts counts = {0};
  assert_ok(try_predict(s, options, noise, out, &err));
  assert_int_equal(out->counts.n_rows, C);
  assert_ok(gpnn_model_predict(s->gp, &(struct gpnn_query){.n = C, .x = s->f.cx},
                               &(struct gpnn_latent){.nearest = out->nearest}, &counts, &err));
}

static void units_and_latent_convert_predictions(void **state)
{
  (void)state;
  struct setting s;
  static struct out scaling, original, latent;
  set_up(&s);
  predict(&s, (struct gpnn_predict_options){.units = GPNN_UNITS_STANDARD}, NULL, &scaling);
  predict(&s, (struct gpnn_predict_options){.units = GPNN_UNITS_ORIGINAL}, NULL, &original);
  predict(&s, (struct gpnn_predict_options){.units = GPNN_UNITS_STANDARD, .latent = true}, NULL,
          &latent);
  for (size_t i = 0; i < C; i++) {
    double variance = scaling.sd[i] * scaling.sd[i];
    assert_close(original.mean[i], 3 + 2 * scaling.mean[i], 1e-13); /* the fixture's mean, sd */
    assert_close(original.sd[i], 2 * scaling.sd[i], 1e-13);
    assert_close(latent.sd[i] * latent.sd[i] + 0.3, variance, 1e-12);
    assert_true(variance >= 0.3 && variance <= 1);
  }
  assert_close(gpnn_predict_target(gpnn_index_dataset(s.f.index), GPNN_UNITS_STANDARD, 7), 2,
               1e-15);
  tear_down(&s);
}

static void offsets_are_added_to_means_and_to_nothing_else(void **state)
{
  (void)state;
  struct setting s;
  static struct out plain, with;
  double offset[C];
  set_up(&s);
  for (size_t i = 0; i < C; i++) offset[i] = 10 * (double)i - 7;
  for (int latent = 0; latent < 2; latent++)
    for (int standard = 0; standard < 2; standard++) {
      const struct gpnn_predict_options options = {
          .units = standard ? GPNN_UNITS_STANDARD : GPNN_UNITS_ORIGINAL, .latent = latent};
      const struct gpnn_predict_rows rows = {.n = C, .x = s.f.cx, .offset = offset};
      struct gpnn_predictor *predictor = NULL;
      predict(&s, options, NULL, &plain);
      assert_ok(gpnn_predictor_new(&predictor, s.gp, &options, &err));
      assert_ok(gpnn_predict(predictor, &rows, with.mean, with.sd, &with.counts, &err));
      gpnn_predictor_free(predictor);
      for (size_t i = 0; i < C; i++) {
        assert_near(with.mean[i], plain.mean[i] + offset[i] / (standard ? 2 : 1), 1e-12);
        assert_true(with.sd[i] == plain.sd[i]);
      }
    }
  tear_down(&s);
}

static void debias_stretches_the_difference_from_the_mean_function(void **state)
{
  (void)state;
  struct setting s;
  static struct out plain, debiased;
  for (int linear = 0; linear < 2; linear++) {
    linear ? set_up_linear(&s) : set_up(&s);
    predict(&s, (struct gpnn_predict_options){.units = GPNN_UNITS_STANDARD}, NULL, &plain);
    predict(&s, (struct gpnn_predict_options){.units = GPNN_UNITS_STANDARD, .debias = true}, NULL,
            &debiased);
    double gamma = (s.params.covariance.noise + M * s.params.covariance.kernelscale) /
                   (M * s.params.covariance.kernelscale);
    for (size_t i = 0; i < C; i++) {
      double *x = s.f.cx + i * D, trend = linear ? 0.5 + 0.2 * x[0] - 0.1 * x[1] : 0;
      assert_near(debiased.mean[i] - trend, gamma * (plain.mean[i] - trend), 1e-12);
    }
    tear_down(&s);
  }
}

/* Without an infinity, nor with what comes of one. */
static void predictions_out_of_range_are_refused(void **state)
{
  (void)state;
  struct setting s;
  struct out out;
  set_up(&s);
  struct gpnn_predict_options options = {.debias = true};
  s.params.covariance.kernelscale = 1e-300;
  s.params.covariance.noise = 1e300;
  assert_fails(try_predict(&s, options, NULL, &out, &err), GPNN_ENUMERIC,
               "too large relative to the kernel scale");
  double noise[C] = {0};
  noise[C - 1] = INFINITY; /* taken for the largest number, to which another comes */
  s.params.covariance.noise = DBL_MAX;
  options.debias = false;
  assert_fails(try_predict(&s, options, noise, &out, &err), GPNN_ENUMERIC,
               "larger than any number");
  tear_down(&s);
}

static void known_noise_of_a_row_is_added_to_its_variance(void **state)
{
  (void)state;
  struct setting s;
  static struct out without, with, latent;
  double noise[C];
  set_up(&s);
  for (size_t i = 0; i < C; i++) noise[i] = 0.1 * (double)i;
  predict(&s, (struct gpnn_predict_options){0}, NULL, &without);
  predict(&s, (struct gpnn_predict_options){0}, noise, &with);
  for (size_t i = 0; i < C; i++)
    assert_close(with.sd[i] * with.sd[i], without.sd[i] * without.sd[i] + noise[i], 1e-12);
  predict(&s, (struct gpnn_predict_options){.latent = true}, noise, &with);
  predict(&s, (struct gpnn_predict_options){.latent = true}, NULL, &latent);
  for (size_t i = 0; i < C; i++) assert_true(with.sd[i] == latent.sd[i]);
  tear_down(&s);
}

static void rows_beyond_the_largest_distance_are_missing_or_the_prior(void **state)
{
  (void)state;
  struct setting s;
  static struct out all, missing, prior;
  size_t n_beyond = 0;
  struct gpnn_predict_options options = {.units = GPNN_UNITS_STANDARD};
  set_up_linear(&s);
  predict(&s, options, NULL, &all);
  options.max_distance = 0.1;
  predict(&s, options, NULL, &missing);
  options.beyond = GPNN_BEYOND_PRIOR;
  predict(&s, options, NULL, &prior);
  for (size_t i = 0; i < C; i++) {
    const double *x = s.f.cx + i * D;
    if (all.nearest[i] <= 0.1) {
      assert_true(missing.mean[i] == all.mean[i] && prior.sd[i] == all.sd[i]);
      continue;
    }
    n_beyond++;
    assert_true(isnan(missing.mean[i]) && isnan(missing.sd[i]));
    assert_near(prior.mean[i], 0.5 + 0.2 * x[0] - 0.1 * x[1], 1e-14);
    double spread = 0.15 * (1 + x[0] * x[0] + x[1] * x[1]) + 0.05 * pow(1 + x[0] + x[1], 2);
    assert_close(prior.sd[i] * prior.sd[i], 0.7 + 0.3 + spread, 1e-12);
  }
  assert_true(n_beyond > 3 && n_beyond < C - 3);
  assert_int_equal(missing.counts.n_beyond, n_beyond);
  assert_int_equal(prior.counts.n_beyond, n_beyond);
  assert_int_equal(all.counts.n_beyond, 0);
  tear_down(&s);
}

static void rows_farther_than_the_calibration_rows_are_counted(void **state)
{
  (void)state;
  struct setting s;
  static struct out out;
  set_up(&s);
  predict(&s, (struct gpnn_predict_options){0}, NULL, &out);
  assert_int_equal(out.counts.n_far, 0); /* no distances are known */
  s.params.calibration.has_distance = true;
  s.params.calibration.distance[GPNN_N_DISTANCES - 1] = 0.2;
  predict(&s, (struct gpnn_predict_options){0}, NULL, &out);
  size_t n_far = 0;
  for (size_t i = 0; i < C; i++) n_far += out.nearest[i] > 0.2;
  assert_true(n_far > 0);
  assert_int_equal(out.counts.n_far, n_far);
  assert_true(gpnn_predict_warns_of_far(&(struct gpnn_counts){.n_rows = 100, .n_far = 6}));
  assert_false(gpnn_predict_warns_of_far(&(struct gpnn_counts){.n_rows = 100, .n_far = 5}));
  assert_false(gpnn_predict_warns_of_far(&(struct gpnn_counts){0}));
  tear_down(&s);
}

/* Each from all others by the dense formula. */
static void a_training_row_is_left_out_of_its_own_prediction(void **state)
{
  (void)state;
  enum { ROWS = 40 };
  struct setting s;
  struct gpnn_model *all = NULL;
  struct gpnn_predictor *predictor = NULL;
  struct gpnn_distribution d[3];
  struct gpnn_counts counts = {0};
  const int64_t self[] = {0, 17, ROWS - 1};
  double x[3 * D], others[ROWS * D], y[ROWS];
  fixture_new(&s.f, ROWS, D, C, 1);
  s.lengthscale = 0.8;
  s.params = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                      .covariance.n_lengthscales = 1,
                                      .covariance.lengthscale = &s.lengthscale,
                                      .covariance.kernelscale = 0.7,
                                      .covariance.noise = 0.3,
                                      .degrees = 5,
                                      .neighbours = ROWS};
  assert_ok(make_model(&all, s.f.data, &s.params, 0, 2, &err));
  assert_ok(gpnn_predictor_new(&predictor, all,
                               &(struct gpnn_predict_options){.units = GPNN_UNITS_STANDARD}, &err));
  for (size_t i = 0; i < 3; i++) memcpy(x + i * D, s.f.x + self[i] * D, D * sizeof *x);
  const struct gpnn_predict_rows rows = {.n = 3, .x = x, .self = self};
  assert_ok(gpnn_predict_distributions(predictor, &rows, d, &counts, &err));
  for (size_t i = 0; i < 3; i++) {
    size_t before = (size_t)self[i], after = ROWS - 1 - before;
    double mean, latent;
    memcpy(others, s.f.x, before * D * sizeof *others);
    memcpy(others + before * D, s.f.x + (before + 1) * D, after * D * sizeof *others);
    memcpy(y, s.f.y, before * sizeof *y);
    memcpy(y + before, s.f.y + before + 1, after * sizeof *y);
    dense_predict("matern32", ROWS - 1, D, others, y, x + i * D, 1, &s.lengthscale, 0.7, 0.3, &mean,
                  &latent);
    assert_near(d[i].location, mean, 1e-10);
    assert_close(d[i].sd, sqrt(latent + 0.3), 1e-10);
    assert_true(d[i].degrees == 5 && d[i].warp == NULL);
  }
  gpnn_predictor_free(predictor);
  gpnn_model_free(all);
  fixture_free(&s.f);
}

/* In either units, whatever the threads. */
static void distributions_give_the_same_means_and_their_scores(void **state)
{
  (void)state;
  struct setting s;
  static struct out out;
  static struct gpnn_distribution d[C];
  static struct gpnn_distribution_score scores[C];
  double truth[C];
  set_up(&s);
  for (int units = 0; units < 2; units++) {
    const struct gpnn_predict_options options = {.units = units == 0 ? GPNN_UNITS_ORIGINAL
                                                                     : GPNN_UNITS_STANDARD};
    const struct gpnn_predict_rows rows = {.n = C, .x = s.f.cx};
    struct gpnn_predictor *predictor = NULL;
    struct gpnn_counts counts = {0};
    predict(&s, options, NULL, &out);
    assert_ok(gpnn_predictor_new(&predictor, s.gp, &options, &err));
    assert_false(gpnn_predictor_needs_scores(predictor, 0));
    assert_ok(gpnn_predict_distributions(predictor, &rows, d, &counts, &err));
    for (size_t i = 0; i < C; i++) {
      truth[i] = out.mean[i] + 0.1 * (double)i * out.sd[i];
      assert_true(d[i].location == out.mean[i] && d[i].sd == out.sd[i] && isinf(d[i].degrees));
    }
    gpnn_predict_scores(predictor, C, d, truth, scores);
    for (size_t i = 0; i < C; i++) {
      assert_close(scores[i].pit, gpnn_normal_cdf(0.1 * (double)i), 1e-9);
      assert_close(scores[i].logp, -gpnn_normal_nll(truth[i] - out.mean[i], out.sd[i]), 1e-12);
    }
    gpnn_predictor_free(predictor);
  }
  tear_down(&s);
}

/* As subtracting them by hand does, before truths are converted to either units. */
static void truths_are_scored_without_their_offsets(void **state)
{
  (void)state;
  struct setting s;
  static struct gpnn_distribution d[C];
  static struct gpnn_distribution_score by_hand[C], scores[C];
  double offset[C], truth[C];
  set_up(&s);
  for (int units = 0; units < 2; units++) {
    const struct gpnn_predict_options options = {.units = units == 0 ? GPNN_UNITS_ORIGINAL
                                                                     : GPNN_UNITS_STANDARD};
    struct gpnn_predict_rows rows = {.n = C, .x = s.f.cx};
    struct gpnn_predictor *predictor = NULL;
    struct gpnn_counts counts = {0};
    assert_ok(gpnn_predictor_new(&predictor, s.gp, &options, &err));
    assert_ok(gpnn_predict_distributions(predictor, &rows, d, &counts, &err));
    for (size_t i = 0; i < C; i++) {
      offset[i] = 6 * (double)i - 50;
      truth[i] = gpnn_predict_target(s.f.data, options.units, 3 + 0.2 * (double)i);
    }
    gpnn_predict_scores(predictor, C, d, truth, by_hand);
    for (size_t i = 0; i < C; i++)
      truth[i] = gpnn_predict_target(s.f.data, options.units, 3 + 0.2 * (double)i + offset[i]);
    rows.offset = offset;
    assert_ok(gpnn_predict_distributions(predictor, &rows, d, &counts, &err));
    gpnn_predict_scores(predictor, C, d, truth, scores);
    for (size_t i = 0; i < C; i++) {
      assert_near(scores[i].logp, by_hand[i].logp, 1e-10);
      assert_near(scores[i].crps, by_hand[i].crps, 1e-11);
      assert_near(scores[i].pit, by_hand[i].pit, 1e-11);
    }
    gpnn_predictor_free(predictor);
  }
  tear_down(&s);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(units_and_latent_convert_predictions),
      cmocka_unit_test(offsets_are_added_to_means_and_to_nothing_else),
      cmocka_unit_test(debias_stretches_the_difference_from_the_mean_function),
      cmocka_unit_test(predictions_out_of_range_are_refused),
      cmocka_unit_test(known_noise_of_a_row_is_added_to_its_variance),
      cmocka_unit_test(rows_beyond_the_largest_distance_are_missing_or_the_prior),
      cmocka_unit_test(rows_farther_than_the_calibration_rows_are_counted),
      cmocka_unit_test(a_training_row_is_left_out_of_its_own_prediction),
      cmocka_unit_test(distributions_give_the_same_means_and_their_scores),
      cmocka_unit_test(truths_are_scored_without_their_offsets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
