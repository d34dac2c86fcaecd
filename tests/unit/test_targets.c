/* Several targets of one index: predicted together, and fitted to one metric. */
#include "base/threads.h"
#include "estimate/choose.h"
#include "estimate/refit.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models.h"
#include "models/local/local_private.h"
#include "models/model.h"
#include "stats/moments.h"

enum { N = 150, D = 3, TARGETS = 4, POINTS = 25 };

/* An index of four targets, the sine of the fixture and mixtures of it with others. */
struct several {
  struct fixture f;
  double more[(TARGETS - 1) * N], noise[TARGETS * N];
  struct gpnn_parameters params[TARGETS];
};

static const char *const names[TARGETS] = {"y", "a", "b", "c"};
static const double sds[TARGETS] = {2, 0.5, 1, 4};

static void add_targets(struct several *s, struct gpnn_rng *rng, bool with_noise)
{
  struct gpnn_dataset *dataset = &s->f.dataset;
  struct gpnn_schema *schema = &dataset->schema;
  for (size_t i = 0; i < N; i++) {
    const double *x = s->f.x + i * D;
    double known = 0.3 * gpnn_rng_normal(rng);
    for (size_t t = 0; t < TARGETS; t++) s->noise[t * N + i] = known * known / (sds[t] * sds[t]);
    for (size_t t = 1; t < TARGETS; t++)
      s->more[(t - 1) * N + i] =
          cos((double)t * x[0]) - x[1] / (double)t + 0.1 * (double)t * gpnn_rng_normal(rng);
  }
  dataset->n_more = schema->n_more = TARGETS - 1;
  dataset->more = s->more;
  if (with_noise) dataset->noise = s->noise;
  schema->more = calloc(TARGETS - 1, sizeof *schema->more);
  assert_non_null(schema->more);
  schema->n_columns += TARGETS - 1;
  for (size_t t = 1; t < TARGETS; t++) {
    schema->more[t - 1].name = gpnn_copy_text(names[t], 1);
    schema->more[t - 1].position = D + t;
  }
  if (!with_noise) return;
  schema->has_noise = true;
  schema->noise.name = gpnn_copy_text("v", 1);
  schema->noise.position = schema->n_columns++;
}

static void add_moments(struct gpnn_scaling *scaling)
{
  scaling->y_sd = sds[0];
  scaling->n_more = TARGETS - 1;
  scaling->more = calloc(TARGETS - 1, sizeof *scaling->more);
  assert_non_null(scaling->more);
  for (size_t t = 1; t < TARGETS; t++) scaling->more[t - 1] = (struct gpnn_moments){1, sds[t]};
}

/* Parameters of one metric; y and b have one ratio of noise to kernel scale, with known noise in
 * proportion too, a and c another each. */
static void make_params(struct several *s)
{
  static const double scale[TARGETS] = {0.5, 1.2, 2, 0.9}, ratio[TARGETS] = {0.1, 0.3, 0.1, 0.05};
  for (size_t t = 0; t < TARGETS; t++) {
    struct gpnn_parameters *params = &s->params[t];
    *params = (struct gpnn_parameters){.target = gpnn_copy_text(names[t], 1),
                                       .covariance.kernel = gpnn_kernel_by_name("matern52"),
                                       .covariance.n_lengthscales = D,
                                       .covariance.lengthscale = gpnn_alloc(D, 1, sizeof(double)),
                                       .covariance.kernelscale = scale[t],
                                       .covariance.noise = ratio[t] * scale[t],
                                       .mean.kind = GPNN_MEAN_CONSTANT,
                                       .mean.n_coefficients = 1,
                                       .mean.coefficients = gpnn_alloc(1, 1, sizeof(double)),
                                       .neighbours = 20};
    for (size_t j = 0; j < D; j++) params->covariance.lengthscale[j] = 0.7 + 0.4 * (double)j;
    params->mean.coefficients[0] = 0.1 * (double)t;
  }
}

static void several_new(struct several *s, bool with_noise)
{
  struct gpnn_rng rng;
  struct gpnn_search *search = NULL;
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  *s = (struct several){0};
  gpnn_rng_init(&rng, 11, GPNN_RNG_TEST);
  fixture_new(&s->f, N, D, 0, 1);
  gpnn_index_close(s->f.index);
  add_targets(s, &rng, with_noise);
  add_moments(&s->f.dataset.scaling);
  options.kind = GPNN_SEARCH_FLAT;
  assert_ok(gpnn_search_build(&search, N, D, s->f.x, &options, &err));
  assert_ok(gpnn_index_write(s->f.path, &s->f.dataset, search, NULL, &err));
  gpnn_search_free(search);
  assert_ok(gpnn_index_open(&s->f.index, s->f.path, true, &err));
  s->f.data = gpnn_index_dataset(s->f.index);
  make_params(s);
}

static void several_free(struct several *s)
{
  for (size_t t = 0; t < TARGETS; t++) gpnn_parameters_release(&s->params[t]);
  fixture_free(&s->f);
}

struct result {
  double mean[POINTS], latent[POINTS], misfit[POINTS], nearest[POINTS];
  struct gpnn_counts counts;
};

static struct gpnn_latent arrays(struct result *result)
{
  return (struct gpnn_latent){.mean = result->mean,
                              .variance = result->latent,
                              .misfit = result->misfit,
                              .nearest = result->nearest};
}

static struct gpnn_query points_of(const struct several *s, int64_t *self)
{
  for (size_t i = 0; i < POINTS; i++) self[i] = (int64_t)i;
  return (struct gpnn_query){.n = POINTS, .x = s->f.x, .self = self};
}

static enum gpnn_status make_all(const struct several *s, int threads, struct gpnn_model **model,
                                 struct gpnn_error *error)
{
  const struct gpnn_model_options options = {.threads = threads};
  struct gpnn_channel channels[TARGETS];
  bool other_model;
  enum gpnn_status status =
      gpnn_channels_find(s->f.data, TARGETS, s->params, channels, &other_model, error);
  return status == GPNN_OK ? gpnn_model_new(model, TARGETS, channels, &options, error) : status;
}

static void predict_together(const struct several *s, int threads, struct result *results)
{
  enum { ALL = TARGETS * POINTS };
  static double mean[ALL], latent[ALL], misfit[ALL], nearest[ALL];
  int64_t self[POINTS];
  struct gpnn_query query = points_of(s, self);
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts[TARGETS] = {{0}};
  const struct gpnn_latent all = {
      .mean = mean, .variance = latent, .misfit = misfit, .nearest = nearest};
  assert_ok(make_all(s, threads, &model, &err));
  assert_ok(gpnn_model_predict(model, &query, &all, counts, &err));
  for (size_t t = 0; t < TARGETS; t++) {
    memcpy(results[t].mean, mean + t * POINTS, sizeof results[t].mean);
    memcpy(results[t].latent, latent + t * POINTS, sizeof results[t].latent);
    memcpy(results[t].misfit, misfit + t * POINTS, sizeof results[t].misfit);
    memcpy(results[t].nearest, nearest + t * POINTS, sizeof results[t].nearest);
    results[t].counts = counts[t];
  }
  gpnn_model_free(model);
}

static void predict_alone(const struct several *s, size_t t, struct result *result)
{
  int64_t self[POINTS];
  struct gpnn_query points = points_of(s, self);
  struct gpnn_model *gp = NULL;
  struct gpnn_latent prediction = arrays(result);
  assert_ok(make_model(&gp, s->f.data, &s->params[t], 0, 1, &err));
  assert_ok(gpnn_model_predict(gp, &points, &prediction, &result->counts, &err));
  gpnn_model_free(gp);
}

static void compare_with_each_alone(const struct several *s)
{
  static struct result together[TARGETS], threaded[TARGETS];
  predict_together(s, 1, together);
  predict_together(s, 3, threaded);
  for (size_t t = 0; t < TARGETS; t++) {
    struct result alone = {.counts = {0}};
    predict_alone(s, t, &alone);
    for (size_t i = 0; i < POINTS; i++) {
      assert_near(together[t].mean[i], alone.mean[i], 1e-12);
      assert_near(together[t].latent[i], alone.latent[i], 1e-12);
      assert_close(together[t].misfit[i], alone.misfit[i], 1e-9);
      assert_true(together[t].nearest[i] == alone.nearest[i]);
    }
    assert_memory_equal(together[t].mean, threaded[t].mean, sizeof alone.mean);
    assert_memory_equal(together[t].latent, threaded[t].latent, sizeof alone.latent);
    assert_int_equal(together[t].counts.jitter.n, alone.counts.jitter.n);
    assert_near(together[t].counts.jitter.most, alone.counts.jitter.most,
                1e-12 * alone.counts.jitter.most);
  }
}

/* ---- predictions -------------------------------------------------------------------------- */

static void targets_are_predicted_together_as_they_are_alone(void **state)
{
  (void)state;
  static struct several s;
  several_new(&s, false);
  compare_with_each_alone(&s);
  several_free(&s);
}

static void known_noise_in_another_proportion_separates_targets(void **state)
{
  (void)state;
  static struct several s;
  several_new(&s, true);
  compare_with_each_alone(&s);
  /* y and b now have known noise in proportion: 0.5 * 2^2 = 2 * 1^2. */
  assert_true(s.params[0].covariance.kernelscale * sds[0] * sds[0] ==
              s.params[2].covariance.kernelscale * sds[2] * sds[2]);
  s.params[2].covariance.kernelscale *= 3;
  s.params[2].covariance.noise *= 3;
  compare_with_each_alone(&s);
  several_free(&s);
}

static void targets_may_differ_in_metric_kernel_and_uncertain_mean(void **state)
{
  (void)state;
  static struct several s;
  several_new(&s, false);
  s.params[1].covariance.lengthscale[0] = 3;
  s.params[3].covariance.kernel = gpnn_kernel_by_name("exp");
  s.params[2].mean.covariance = gpnn_alloc(1, 1, sizeof(double));
  s.params[2].mean.covariance[0] = 0.2;
  compare_with_each_alone(&s);
  s.params[2].neighbours = 31;
  compare_with_each_alone(&s);
  several_free(&s);
}

static void each_target_counts_its_own_jitter(void **state)
{
  (void)state;
  static struct several s;
  several_new(&s, false);
  for (size_t t = 0; t < TARGETS; t++) {
    s.params[t].covariance.kernel = gpnn_kernel_by_name("rbf");
    s.params[t].covariance.noise = 0;
    for (size_t j = 0; j < D; j++) s.params[t].covariance.lengthscale[j] = 1e4;
  }
  static struct result together[TARGETS];
  predict_together(&s, 2, together);
  for (size_t t = 0; t < TARGETS; t++) {
    assert_int_equal(together[t].counts.jitter.n, POINTS);
    assert_close(together[t].counts.jitter.most / s.params[t].covariance.kernelscale,
                 together[0].counts.jitter.most / s.params[0].covariance.kernelscale, 1e-12);
  }
  several_free(&s);
}

static void targets_with_the_same_metric_share_a_search(void **state)
{
  (void)state;
  static struct several s;
  const struct gpnn_model_options options = {.threads = 1};
  struct gpnn_channel channels[TARGETS];
  void *local = NULL, *other = NULL;
  bool other_model;
  several_new(&s, false);
  assert_ok(gpnn_channels_find(s.f.data, TARGETS, s.params, channels, &other_model, &err));
  assert_ok(gpnn_local_ops.make(&local, TARGETS, channels, &options, &err));
  assert_int_equal(((struct gpnn_local *)local)->n_metrics, 1);
  assert_ok(gpnn_local_ops.with(local, channels, &other, &err));
  assert_ptr_equal(((struct gpnn_local *)local)->metrics[0].search,
                   ((struct gpnn_local *)other)->metrics[0].search);
  gpnn_local_ops.free(other);
  gpnn_local_ops.free(local);
  several_free(&s);
}

static void no_model_is_made_if_one_target_does_not_match(void **state)
{
  (void)state;
  static struct several s;
  struct gpnn_model *model = NULL;
  several_new(&s, false);
  s.params[2].covariance.n_lengthscales = 2;
  assert_fails(make_all(&s, 1, &model, &err), GPNN_EMISMATCH, "lengthscale");
  assert_null(model);
  s.params[2].covariance.n_lengthscales = D;
  several_free(&s);
}

/* ---- fits --------------------------------------------------------------------------------- */

static struct gpnn_fit_options fit_options(enum gpnn_objective_kind objective, int threads)
{
  struct gpnn_fit_options options = GPNN_FIT_OPTIONS_INIT;
  options.kernel = gpnn_kernel_by_name("matern32");
  options.first = objective;
  options.optimizer = GPNN_OPTIMIZER_LBFGS;
  options.n_blocks = 2;
  options.block_size = 60;
  options.k = 12;
  options.neighbours = 12;
  options.mean = GPNN_MEAN_CONSTANT;
  options.threads = threads;
  return options;
}

static void fit(const struct several *s, size_t n, const size_t *which,
                const struct gpnn_fit_options *options, struct gpnn_parameters *params,
                struct gpnn_fit_report *report)
{
  const struct gpnn_dataset *targets[TARGETS];
  for (size_t t = 0; t < n; t++) targets[t] = gpnn_dataset_target(s->f.data, which[t]);
  assert_ok(gpnn_fit(n, targets, options, params, report, &err));
}

static void shared_fits_have_one_metric_and_their_own_variances(void **state)
{
  (void)state;
  static const enum gpnn_objective_kind kinds[] = {GPNN_OBJECTIVE_BLOCK, GPNN_OBJECTIVE_LOO,
                                                   GPNN_OBJECTIVE_MLL_K};
  static struct several s;
  several_new(&s, false);
  for (size_t k = 0; k < 3; k++) {
    struct gpnn_parameters params[3] = {{0}}, again[3] = {{0}};
    struct gpnn_fit_report report[2];
    for (int i = 0; i < 2; i++) {
      struct gpnn_fit_options options = fit_options(kinds[k], 1 + i);
      fit(&s, 3, (const size_t[]){1, 2, 3}, &options, i == 0 ? params : again, &report[i]);
    }
    assert_true(report[0].value == report[1].value);
    for (size_t t = 0; t < 3; t++) {
      assert_memory_equal(params[t].covariance.lengthscale, params[0].covariance.lengthscale,
                          D * sizeof(double));
      assert_true(params[t].covariance.noise == again[t].covariance.noise);
      gpnn_parameters_release(&again[t]);
    }
    /* Their noise has sd 0.1, 0.2, 0.3. */
    assert_true(params[0].covariance.noise < params[1].covariance.noise &&
                params[1].covariance.noise < params[2].covariance.noise);
    for (size_t t = 0; t < 3; t++) gpnn_parameters_release(&params[t]);
  }
  several_free(&s);
}

/* Targets that shared their lengthscales share them again, and those that did not do not. */
static void estimated_again_targets_share_as_before(void **state)
{
  (void)state;
  static const uint64_t some[] = {3, 77};
  static struct several s;
  several_new(&s, false);
  for (size_t together = 1; together <= 2; together++) {
    struct gpnn_fit_options options = fit_options(GPNN_OBJECTIVE_BLOCK, 1);
    struct gpnn_parameters params[2] = {{0}}, all[2] = {{0}}, fewer[2] = {{0}};
    struct gpnn_fit_report report;
    struct gpnn_channel channels[2];
    options.same_ratio = together == 2;
    for (size_t t = 0; t < 2; t += together)
      fit(&s, together, (const size_t[]){1 + t, 2 + t}, &options, params + t, &report);
    for (size_t t = 0; t < 2; t++)
      channels[t] = (struct gpnn_channel){gpnn_dataset_target(s.f.data, 1 + t), &params[t]};
    assert_ok(gpnn_channels_refit(2, channels, 1, 0, NULL, all, &err));
    assert_ok(gpnn_channels_refit(2, channels, 1, 2, some, fewer, &err));
    for (size_t t = 0; t < 2; t++) {
      assert_true(all[t].covariance.noise == params[t].covariance.noise);
      assert_true(all[t].covariance.kernelscale == params[t].covariance.kernelscale);
    }
    assert_int_equal(memcmp(fewer[0].covariance.lengthscale, fewer[1].covariance.lengthscale,
                            D * sizeof(double)) == 0,
                     together == 2);
    for (size_t t = 0; t < 2; t++) {
      gpnn_parameters_release(&params[t]);
      gpnn_parameters_release(&all[t]);
      gpnn_parameters_release(&fewer[t]);
    }
  }
  several_free(&s);
}

/* A wrong gradient would stop the search short of a minimum, elsewhere from each start. */
static void one_ratio_is_kept_and_is_a_minimum(void **state)
{
  (void)state;
  static struct several s;
  several_new(&s, false);
  for (int k = GPNN_OBJECTIVE_BLOCK; k <= GPNN_OBJECTIVE_LOO; k++) {
    struct gpnn_fit_options options = fit_options((enum gpnn_objective_kind)k, 2);
    struct gpnn_parameters params[2] = {{0}}, free_ones[2] = {{0}}, held[2] = {{0}};
    struct gpnn_fit_report report, apart, worse;
    fit(&s, 2, (const size_t[]){1, 3}, &options, free_ones, &apart);
    options.same_ratio = true;
    fit(&s, 2, (const size_t[]){1, 3}, &options, params, &report);
    double ratio = params[0].covariance.noise / params[0].covariance.kernelscale;
    assert_close(params[1].covariance.noise / params[1].covariance.kernelscale, ratio, 1e-14);
    /* The second noise, which is no coordinate, has no prior; with that it is no better. */
    double spared =
        pow(log(params[1].covariance.noise / 0.1) / log(3), 2) / (4 * (double)report.n_rows);
    assert_true(report.optimize.end + spared >= apart.optimize.end - 1e-5);
    /* Going on from a start beside the minimum ends no lower. */
    options.start = free_ones;
    options.n_starts = 2;
    fit(&s, 2, (const size_t[]){1, 3}, &options, held, &worse);
    /* Neighbours that change with the metric give leave-one-out several minima. */
    assert_near(worse.value, report.value, k == GPNN_OBJECTIVE_BLOCK ? 5e-4 : 0.01);
    for (size_t t = 0; t < 2; t++) {
      gpnn_parameters_release(&params[t]);
      gpnn_parameters_release(&free_ones[t]);
      gpnn_parameters_release(&held[t]);
    }
  }
  several_free(&s);
}

/* Alike in all, so that nothing is lost by sharing. */
static void a_target_given_twice_is_fitted_as_once(void **state)
{
  (void)state;
  static struct several s;
  several_new(&s, false);
  for (int k = GPNN_OBJECTIVE_BLOCK; k <= GPNN_OBJECTIVE_LOO; k++) {
    struct gpnn_fit_options options = fit_options((enum gpnn_objective_kind)k, 1);
    struct gpnn_parameters once = {0}, twice[2] = {{0}};
    struct gpnn_fit_report report[2];
    fit(&s, 1, (const size_t[]){2}, &options, &once, &report[0]);
    fit(&s, 2, (const size_t[]){2, 2}, &options, twice, &report[1]);
    assert_near(report[1].value, report[0].value, 1e-4);
    assert_close(twice[0].covariance.noise, twice[1].covariance.noise, 1e-12);
    assert_close(twice[0].covariance.lengthscale[0], once.covariance.lengthscale[0], 0.05);
    gpnn_parameters_release(&once);
    gpnn_parameters_release(&twice[0]);
    gpnn_parameters_release(&twice[1]);
  }
  several_free(&s);
}

/* The minimum of the sum is no lower than the sum of minima, and the shared search finds one that
 * moving any lengthscale, of both targets alike, does not better. */
static void a_shared_fit_lies_between_those_of_the_targets(void **state)
{
  (void)state;
  static struct several s;
  several_new(&s, false);
  struct gpnn_fit_options options = fit_options(GPNN_OBJECTIVE_BLOCK, 2);
  struct gpnn_parameters own[2] = {{0}}, both[2] = {{0}}, held[2] = {{0}};
  struct gpnn_fit_report report[2], shared, worse;
  for (size_t t = 0; t < 2; t++) fit(&s, 1, (const size_t[]){t + 1}, &options, &own[t], &report[t]);
  fit(&s, 2, (const size_t[]){1, 2}, &options, both, &shared);
  assert_true(shared.value >= (report[0].value + report[1].value) / 2 - 1e-6);
  options.ard = false;
  options.fixed_lengthscale = own[0].covariance.lengthscale[0];
  fit(&s, 2, (const size_t[]){1, 2}, &options, held, &worse);
  assert_true(shared.value <= worse.value + 1e-6);
  for (size_t t = 0; t < 2; t++) {
    gpnn_parameters_release(&own[t]);
    gpnn_parameters_release(&both[t]);
    gpnn_parameters_release(&held[t]);
  }
  several_free(&s);
}

static void a_rotation_is_learnt_for_all_targets_alike(void **state)
{
  (void)state;
  static struct several s;
  several_new(&s, false);
  struct gpnn_fit_options options = fit_options(GPNN_OBJECTIVE_LOO, 2);
  struct gpnn_parameters params[2] = {{0}};
  struct gpnn_fit_report report;
  options.learn_rotation = true;
  fit(&s, 2, (const size_t[]){1, 3}, &options, params, &report);
  assert_int_equal(params[1].covariance.n_rotation, D * D);
  assert_memory_equal(params[0].covariance.rotation, params[1].covariance.rotation,
                      D * D * sizeof(double));
  assert_memory_equal(params[0].covariance.lengthscale, params[1].covariance.lengthscale,
                      D * sizeof(double));
  assert_true(report.optimize.end < report.optimize.start);
  gpnn_parameters_release(&params[0]);
  gpnn_parameters_release(&params[1]);
  several_free(&s);
}

static void a_choice_for_all_names_each_target(void **state)
{
  (void)state;
  static struct several s;
  several_new(&s, true);
  const struct gpnn_dataset *targets[TARGETS];
  struct gpnn_parameters params[TARGETS] = {{0}};
  struct gpnn_choose_report report;
  struct gpnn_choose_options options = {.fit = fit_options(GPNN_OBJECTIVE_BLOCK, 1),
                                        .kernel = true,
                                        .neighbours = true,
                                        .effort = GPNN_EFFORT_FAST};
  for (size_t t = 0; t < TARGETS; t++)
    targets[t] = gpnn_dataset_target(gpnn_index_dataset(s.f.index), t);
  assert_ok(gpnn_choose(TARGETS, targets, &options, NULL, NULL, params, &report, &err));
  for (size_t t = 0; t < TARGETS; t++) {
    assert_string_equal(params[t].target, names[t]);
    assert_ptr_equal(params[t].covariance.kernel, report.chosen.kernel);
    assert_int_equal(params[t].neighbours, report.fewest.neighbours);
    gpnn_parameters_release(&params[t]);
  }
  assert_true(isfinite(report.chosen.nll) && isfinite(report.chosen.rmse));
  several_free(&s);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(targets_are_predicted_together_as_they_are_alone),
      cmocka_unit_test(known_noise_in_another_proportion_separates_targets),
      cmocka_unit_test(targets_may_differ_in_metric_kernel_and_uncertain_mean),
      cmocka_unit_test(each_target_counts_its_own_jitter),
      cmocka_unit_test(targets_with_the_same_metric_share_a_search),
      cmocka_unit_test(no_model_is_made_if_one_target_does_not_match),
      cmocka_unit_test(shared_fits_have_one_metric_and_their_own_variances),
      cmocka_unit_test(estimated_again_targets_share_as_before),
      cmocka_unit_test(one_ratio_is_kept_and_is_a_minimum),
      cmocka_unit_test(a_target_given_twice_is_fitted_as_once),
      cmocka_unit_test(a_shared_fit_lies_between_those_of_the_targets),
      cmocka_unit_test(a_rotation_is_learnt_for_all_targets_alike),
      cmocka_unit_test(a_choice_for_all_names_each_target),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
