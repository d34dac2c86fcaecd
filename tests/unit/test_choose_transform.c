/* The choice of a transform: what is chosen where the best is known, and how it is scored. */
#include "dataset/transformed.h"
#include "estimate/choose_transform.h"
#include "fixture.h"

enum { N = 900, D = 2, C = 10 };

struct scores {
  size_t n;
  struct gpnn_transform_candidate of[8];
};

static void listen(void *context, const struct gpnn_transform_candidate *candidate)
{
  struct scores *scores = context;
  assert_true(scores->n < 8);
  scores->of[scores->n++] = *candidate;
}

/* The fixture's index holds the targets 3 + 2 y; here they are shape(4 y), standardised again. */
static struct gpnn_dataset reshaped(const struct fixture *f, double (*shape)(double), double *y)
{
  struct gpnn_dataset dataset = *f->data;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < N; i++) {
    y[i] = shape(4 * f->y[i]);
    sum += y[i] / N;
    squares += y[i] * y[i] / N;
  }
  dataset.scaling.y_mean = sum;
  dataset.scaling.y_sd = sqrt(squares - sum * sum);
  for (size_t i = 0; i < N; i++) y[i] = (y[i] - sum) / dataset.scaling.y_sd;
  dataset.y = y;
  dataset.source = NULL;
  dataset.n_calibration = 0;
  return dataset;
}

static double same(double y)
{
  return y + 100;
}

static struct gpnn_choose_options options_for(enum gpnn_likelihood likelihood)
{
  struct gpnn_choose_options options = {.fit = GPNN_FIT_OPTIONS_INIT, .likelihood = likelihood};
  options.fit.kernel = gpnn_kernel_by_name("matern32");
  options.fit.rows = 300;
  options.fit.first = GPNN_OBJECTIVE_LOO;
  options.fit.steps = 200;
  options.fit.neighbours = 20;
  return options;
}

static struct gpnn_transform_candidate
choose(const struct gpnn_dataset *dataset, enum gpnn_likelihood likelihood, struct scores *scores)
{
  struct gpnn_transform_candidate chosen;
  struct gpnn_parameters params = {0};
  struct gpnn_fit_report report;
  const struct gpnn_choose_options options = options_for(likelihood);
  assert_ok(gpnn_fit(1, &dataset, &options.fit, &params, &report, &err));
  *scores = (struct scores){0};
  assert_ok(gpnn_choose_transform(dataset, &params, &options, listen, scores, &chosen, &err));
  gpnn_parameters_release(&params);
  return chosen;
}

static void log_is_found_where_noise_is_a_percentage(void **state)
{
  (void)state;
  struct fixture f;
  struct scores scores;
  double y[N];
  fixture_new(&f, N, D, C, 1);
  const struct gpnn_dataset dataset = reshaped(&f, exp, y);
  for (int k = GPNN_LIKELIHOOD_GAUSSIAN; k <= GPNN_LIKELIHOOD_LOCAL; k++) {
    struct gpnn_transform_candidate chosen = choose(&dataset, (enum gpnn_likelihood)k, &scores);
    assert_true(chosen.kind == GPNN_TRANSFORM_LOG || chosen.kind == GPNN_TRANSFORM_BOXCOX);
    assert_true(chosen.gain > 3 * chosen.standard_error);
    assert_int_equal(scores.n, 6);
    assert_true(scores.of[0].kind == GPNN_TRANSFORM_NONE && scores.of[0].gain == 0);
    for (size_t i = 0; i < scores.n; i++)
      assert_near(scores.of[i].nll, scores.of[0].nll - scores.of[i].gain, 1e-9);
  }
  fixture_free(&f);
}

static void none_is_clearly_beaten_by_nothing_where_noise_is_even(void **state)
{
  (void)state;
  struct fixture f;
  struct scores scores;
  double y[N];
  fixture_new(&f, N, D, C, 1);
  const struct gpnn_dataset dataset = reshaped(&f, same, y);
  struct gpnn_transform_candidate chosen = choose(&dataset, GPNN_LIKELIHOOD_LOCAL, &scores);
  assert_true(chosen.gain <= 2 * chosen.standard_error);
  fixture_free(&f);
}

/* Twice the unit of the target costs log 2 in every score, and changes no gain. */
static void scores_are_in_units_of_the_target(void **state)
{
  (void)state;
  struct fixture f;
  struct scores scores, doubled;
  double y[N];
  fixture_new(&f, N, D, C, 1);
  struct gpnn_dataset dataset = reshaped(&f, exp, y);
  (void)choose(&dataset, GPNN_LIKELIHOOD_STUDENT, &scores);
  dataset.scaling.y_mean *= 2;
  dataset.scaling.y_sd *= 2;
  (void)choose(&dataset, GPNN_LIKELIHOOD_STUDENT, &doubled);
  for (size_t i = 0; i < scores.n; i++)
    assert_near(doubled.of[i].nll, scores.of[i].nll + log(2), 1e-3);
  fixture_free(&f);
}

static void log_is_no_candidate_for_targets_of_any_sign(void **state)
{
  (void)state;
  struct fixture f;
  struct scores scores;
  double y[N];
  fixture_new(&f, N, D, C, 1);
  const struct gpnn_dataset dataset = reshaped(&f, sinh, y);
  (void)choose(&dataset, GPNN_LIKELIHOOD_LOCAL, &scores);
  assert_int_equal(scores.n, 4);
  for (size_t i = 0; i < scores.n; i++)
    assert_true(scores.of[i].kind != GPNN_TRANSFORM_LOG &&
                scores.of[i].kind != GPNN_TRANSFORM_BOXCOX);
  fixture_free(&f);
}

static void nothing_is_compared_on_few_rows_or_with_known_noise(void **state)
{
  (void)state;
  struct fixture f;
  struct scores scores;
  struct gpnn_transform_candidate chosen;
  const struct gpnn_choose_options options = options_for(GPNN_LIKELIHOOD_LOCAL);
  struct gpnn_parameters params = {0};
  fixture_new(&f, 19, D, C, 1);
  scores.n = 0;
  assert_ok(gpnn_choose_transform(f.data, &params, &options, listen, &scores, &chosen, &err));
  assert_true(scores.n == 0 && chosen.kind == GPNN_TRANSFORM_NONE && isnan(chosen.nll));
  fixture_free(&f);
  fixture_new(&f, 100, D, C, 1);
  struct gpnn_dataset dataset = *f.data;
  dataset.noise = f.y;
  assert_ok(gpnn_choose_transform(&dataset, &params, &options, listen, &scores, &chosen, &err));
  assert_true(scores.n == 0 && chosen.kind == GPNN_TRANSFORM_NONE && isnan(chosen.nll));
  fixture_free(&f);
}

static void the_final_comparison_agrees_with_what_was_simulated(void **state)
{
  (void)state;
  struct fixture f;
  double y[N];
  const struct gpnn_choose_options options = options_for(GPNN_LIKELIHOOD_LOCAL);
  fixture_new(&f, N, D, C, 1);
  const struct gpnn_dataset dataset = reshaped(&f, exp, y), *plain = &dataset;
  struct gpnn_transform transform = {0};
  struct gpnn_transformed *transformed = NULL;
  const struct gpnn_transform *transforms[] = {&transform};
  assert_ok(gpnn_transformed_fit(&transform, plain, GPNN_TRANSFORM_LOG, 1, &err));
  assert_ok(gpnn_transformed_new(&transformed, plain,
                                 &(struct gpnn_changes){.transforms = transforms}, &err));
  const struct gpnn_dataset *view = gpnn_transformed_target(transformed, 0);
  struct gpnn_parameters a = {0}, b = {0};
  struct gpnn_fit_report report;
  assert_ok(gpnn_fit(1, &plain, &options.fit, &a, &report, &err));
  assert_ok(gpnn_fit(1, &view, &options.fit, &b, &report, &err));
  struct gpnn_transform_candidate score;
  assert_ok(gpnn_choose_compare_transform(
      &(struct gpnn_channel){plain, &a}, &(struct gpnn_channel){view, &b}, &options, &score, &err));
  assert_true(score.kind == GPNN_TRANSFORM_LOG && score.gain > 3 * score.standard_error);
  assert_false(score.harms);
  gpnn_parameters_release(&a);
  gpnn_parameters_release(&b);
  gpnn_transformed_free(transformed);
  fixture_free(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(log_is_found_where_noise_is_a_percentage),
      cmocka_unit_test(none_is_clearly_beaten_by_nothing_where_noise_is_even),
      cmocka_unit_test(scores_are_in_units_of_the_target),
      cmocka_unit_test(log_is_no_candidate_for_targets_of_any_sign),
      cmocka_unit_test(nothing_is_compared_on_few_rows_or_with_known_noise),
      cmocka_unit_test(the_final_comparison_agrees_with_what_was_simulated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
