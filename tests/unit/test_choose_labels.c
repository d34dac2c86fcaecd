/* Fits and choices for targets that hold classes. */
#include "estimate/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "estimate/fit.h"
#include "estimate/neighbourhood.h"
#include "likelihood/categorical.h"
#include "unit.h"

/* ---- data ------------------------------------------------------------------------------- */

/* Rows in classes: a dataset and the arrays that it points to. */
struct rows {
  struct gpnn_dataset dataset;
  double *x, *y;
  uint32_t *group;
};

static struct rows rows_new(size_t n, size_t d, size_t n_classes, uint64_t seed)
{
  struct rows r = {.x = calloc(n * d, sizeof *r.x),
                   .y = calloc(n, sizeof *r.y),
                   .group = calloc(d, sizeof *r.group)};
  struct gpnn_rng rng;
  assert_true(r.x && r.y && r.group);
  gpnn_rng_init(&rng, seed, GPNN_RNG_TEST);
  for (size_t i = 0; i < n * d; i++) r.x[i] = gpnn_rng_normal(&rng);
  for (size_t j = 0; j < d; j++) r.group[j] = (uint32_t)j;
  r.dataset =
      (struct gpnn_dataset){.n = n, .d = d, .n_groups = d, .group = r.group, .x = r.x, .y = r.y};
  r.dataset.schema.target.kind = GPNN_COLUMN_CLASSES;
  r.dataset.schema.target.n_levels = n_classes;
  return r;
}

static void rows_free(struct rows *r)
{
  free(r->x);
  free(r->y);
  free(r->group);
}

/* Three classes along the first input, curved by the second; the others are of no use. */
static struct rows curved_rows(size_t n, size_t d, uint64_t seed)
{
  struct rows r = rows_new(n, d, 3, seed);
  for (size_t i = 0; i < n; i++) {
    double level = r.x[i * d] + 0.7 * sin(2 * r.x[i * d + 1]);
    r.y[i] = level < -0.5 ? 0 : level < 0.6 ? 1 : 2;
  }
  return r;
}

static struct gpnn_choose_options all_open(void)
{
  struct gpnn_choose_options options = {.fit = GPNN_CHOOSE_LABELS_FIT_INIT,
                                        .kernel = true,
                                        .ard = true,
                                        .neighbours = true,
                                        .rotation = true,
                                        .k = true,
                                        .effort = GPNN_EFFORT_NORMAL};
  options.fit.steps = 60;
  options.fit.k = 12;
  options.fit.batch = 32;
  options.fit.refresh = 30;
  return options;
}

struct tried {
  size_t n;
  struct gpnn_candidate list[32];
};

static void note(void *context, const struct gpnn_candidate *candidate)
{
  struct tried *tried = context;
  assert_true(tried->n < 32);
  tried->list[tried->n++] = *candidate;
}

static void choose(const struct rows *r, const struct gpnn_choose_options *options,
                   struct tried *tried, struct gpnn_parameters *params,
                   struct gpnn_choose_report *report)
{
  *tried = (struct tried){0};
  *params = (struct gpnn_parameters){0};
  assert_ok(gpnn_choose(1, (const struct gpnn_dataset *[]){&r->dataset}, options, note, tried,
                        params, report, &err));
  assert_true(tried->n <= gpnn_choose_most(&r->dataset, options));
}

static void check_parameters(const struct rows *r, const struct gpnn_parameters *params)
{
  const struct gpnn_link *link = &params->link;
  assert_int_equal(params->likelihood, GPNN_LIKELIHOOD_CATEGORICAL);
  assert_true(params->covariance.kernelscale == 1 && params->covariance.noise > 0);
  assert_true(link->slope > 0 && link->evidence > 0 && link->floor > 0 && link->spread > 0);
  assert_int_equal(link->n_bias, r->dataset.schema.target.n_levels);
  for (size_t c = 0; c < link->n_bias; c++) assert_true(isfinite(link->bias[c]));
}

/* The mean log loss of rows, each given its nearest others, by exhaustive search. */
static double log_loss(const struct rows *r, const struct gpnn_parameters *params, size_t k)
{
  size_t n = r->dataset.n, d = r->dataset.d;
  double share[16], *lengthscale = calloc(d, sizeof *lengthscale), *r2 = calloc(n, sizeof *r2);
  int64_t *row = calloc(n, sizeof *row), *neighbour = calloc(n * k, sizeof *neighbour);
  assert_true(params->covariance.rotation == NULL && lengthscale && r2 && row && neighbour);
  gpnn_covariance_expand(&params->covariance, d, r->group, lengthscale);
  gpnn_categorical_shares(r->dataset.schema.target.n_levels, n, r->y, share);
  for (size_t i = 0; i < n; i++) {
    row[i] = (int64_t)i;
    for (size_t b = 0; b < n; b++) {
      r2[b] = b == i ? INFINITY : 0;
      for (size_t j = 0; j < d; j++)
        r2[b] += pow((r->x[i * d + j] - r->x[b * d + j]) / lengthscale[j], 2);
    }
    for (size_t a = 0; a < k; a++) {
      size_t best = 0;
      for (size_t b = 1; b < n; b++)
        if (r2[b] < r2[best]) best = b;
      neighbour[i * k + a] = isinf(r2[best]) ? -1 : (int64_t)best;
      r2[best] = INFINITY;
    }
  }
  struct gpnn_neighbourhoods hoods = {
      .n = n, .k = k, .row = row, .neighbour = neighbour, .share = share};
  struct gpnn_neighbourhood_result result = {0};
  assert_ok(gpnn_neighbourhood_objective(&r->dataset, params, NULL, GPNN_DENSITY_LABELS, &hoods,
                                         NULL, 1, &result, &err));
  free(lengthscale);
  free(r2);
  free(row);
  free(neighbour);
  return result.value;
}

/* ---- fits ------------------------------------------------------------------------------- */

static void a_fit_lowers_the_log_loss_and_finds_the_inputs_that_matter(void **state)
{
  (void)state;
  struct rows r = curved_rows(500, 5, 1);
  const struct gpnn_dataset *view = &r.dataset;
  struct gpnn_fit_options options = GPNN_CHOOSE_LABELS_FIT_INIT;
  struct gpnn_parameters params = {0}, start = {0};
  struct gpnn_fit_report report;
  options.kernel = gpnn_kernel_by_name("matern32");
  options.k = 16;
  options.rate = 0.1;
  options.steps = 1;
  assert_ok(gpnn_fit(1, &view, &options, &start, &report, &err));
  options.steps = 150;
  assert_ok(gpnn_fit(1, &view, &options, &params, &report, &err));
  check_parameters(&r, &params);
  assert_int_equal(report.objective, GPNN_OBJECTIVE_LABELS);
  assert_int_equal(params.provenance.estimation.objective, GPNN_OBJECTIVE_LABELS);
  assert_true(log_loss(&r, &params, 16) < 0.7 * log_loss(&r, &start, 16));
  for (size_t j = 2; j < 5; j++)
    for (size_t i = 0; i < 2; i++)
      assert_true(params.covariance.lengthscale[j] > 1.5 * params.covariance.lengthscale[i]);
  gpnn_parameters_release(&params);
  gpnn_parameters_release(&start);
  rows_free(&r);
}

static void what_is_fixed_stays(void **state)
{
  (void)state;
  struct rows r = curved_rows(150, 2, 2);
  const struct gpnn_dataset *view = &r.dataset;
  struct gpnn_fit_options options = GPNN_CHOOSE_LABELS_FIT_INIT;
  struct gpnn_parameters params = {0};
  struct gpnn_fit_report report;
  options.kernel = gpnn_kernel_by_name("exp");
  options.k = 8;
  options.steps = 20;
  options.fixed_noise = 0.25;
  options.fixed_link = (struct gpnn_link){.slope = 3, .spread = 0.5};
  assert_ok(gpnn_fit(1, &view, &options, &params, &report, &err));
  assert_true(params.covariance.noise == 0.25 && params.link.slope == 3 &&
              params.link.spread == 0.5);
  assert_true(params.link.evidence != 0.3 && params.link.floor != 0.02);
  gpnn_parameters_release(&params);
  rows_free(&r);
}

/* A start with a link of as many classes goes on from it, one of others from the usual one. */
static void a_start_gives_its_link_if_the_classes_are_as_many(void **state)
{
  (void)state;
  struct rows r = curved_rows(100, 2, 3);
  const struct gpnn_dataset *view = &r.dataset;
  double lengthscale[2] = {1, 2}, bias[3] = {1, -2, 0.5};
  struct gpnn_fit_options options = GPNN_CHOOSE_LABELS_FIT_INIT;
  struct gpnn_parameters start = {
      .covariance = {.kernel = gpnn_kernel_by_name("exp"),
                     .n_lengthscales = 2,
                     .lengthscale = lengthscale,
                     .kernelscale = 1,
                     .noise = 0.3},
      .link = {.slope = 9, .evidence = 2, .floor = 0.1, .spread = 3, .n_bias = 3, .bias = bias}};
  struct gpnn_fit_report report;
  options.kernel = start.covariance.kernel;
  options.k = 8;
  options.steps = 1;
  options.rate = 1e-9;
  options.start = &start;
  options.n_starts = 1;
  for (size_t n_bias = 3; n_bias >= 2; n_bias--) {
    struct gpnn_parameters params = {0};
    start.link.n_bias = n_bias;
    assert_ok(gpnn_fit(1, &view, &options, &params, &report, &err));
    assert_true(fabs(params.link.slope - (n_bias == 3 ? 9 : 4)) < 1e-6);
    assert_true(fabs(params.link.bias[1] + 2) < 1e-6 || n_bias == 2);
    assert_true(fabs(params.covariance.lengthscale[1] - 2) < 1e-6);
    gpnn_parameters_release(&params);
  }
  rows_free(&r);
}

/* Classes along a diagonal need a rotation. */
static void a_rotation_is_learnt_where_it_helps(void **state)
{
  enum { N = 600, D = 3 };
  (void)state;
  struct rows r = rows_new(N, D, 2, 4);
  const struct gpnn_dataset *view = &r.dataset;
  struct gpnn_fit_options options = GPNN_CHOOSE_LABELS_FIT_INIT;
  struct gpnn_parameters straight = {0}, rotated = {0};
  struct gpnn_fit_report without, with;
  for (size_t i = 0; i < N; i++)
    r.y[i] = sin(2 * (r.x[i * D] - r.x[i * D + 1] + r.x[i * D + 2])) > 0 ? 1 : 0;
  options.kernel = gpnn_kernel_by_name("matern32");
  options.k = 16;
  options.steps = 120;
  options.rate = 0.08;
  assert_ok(gpnn_fit(1, &view, &options, &straight, &without, &err));
  options.start = &straight;
  options.n_starts = 1;
  options.learn_rotation = true;
  assert_ok(gpnn_fit(1, &view, &options, &rotated, &with, &err));
  assert_true(with.value < 0.6 * without.value);
  assert_int_equal(rotated.covariance.n_rotation, D * D);
  gpnn_parameters_release(&straight);
  gpnn_parameters_release(&rotated);
  rows_free(&r);
}

/* ---- choices ---------------------------------------------------------------------------- */

static void the_candidate_with_the_lowest_score_wins(void **state)
{
  (void)state;
  struct rows r = curved_rows(400, 3, 5);
  struct gpnn_choose_options options = all_open();
  struct tried tried;
  struct gpnn_parameters params;
  struct gpnn_choose_report report;
  choose(&r, &options, &tried, &params, &report);
  check_parameters(&r, &params);
  assert_true(tried.n >= 4);
  double lowest = INFINITY;
  for (size_t i = 0; i < tried.n; i++) {
    assert_true(isfinite(tried.list[i].nll) && tried.list[i].error >= 0 && tried.list[i].error < 1);
    lowest = fmin(lowest, tried.list[i].nll);
  }
  assert_true(report.chosen.nll <= lowest + tried.list[0].standard_error);
  assert_true(report.runner_up.nll >= lowest);
  /* From its own neighbours a row is easy to predict; the shares of the classes alone give 1.1. */
  assert_true(report.chosen.nll < 0.5 && report.chosen.error < 0.2);
  assert_true(report.n_rows >= 100 && report.n_rows < 400);
  assert_ptr_equal(params.covariance.kernel, report.chosen.kernel);
  assert_int_equal(params.neighbours, report.fewest.neighbours);
  assert_int_equal(params.provenance.fit_rows, 400); /* fitted again to all rows */
  gpnn_parameters_release(&params);
  rows_free(&r);
}

/* Everything that the options leave no choice is as they say. */
static void given_choices_are_kept(void **state)
{
  (void)state;
  struct rows r = curved_rows(300, 4, 6);
  struct gpnn_choose_options options = all_open();
  struct tried tried;
  struct gpnn_parameters params;
  struct gpnn_choose_report report;
  options.kernel = options.ard = options.neighbours = false;
  options.fit.kernel = gpnn_kernel_by_name("matern");
  options.fit.smoothness = 1.2;
  options.fit.ard = false;
  options.fit.neighbours = 21;
  choose(&r, &options, &tried, &params, &report);
  for (size_t i = 0; i < tried.n; i++) {
    assert_string_equal(tried.list[i].kernel->name, "matern");
    assert_true(!tried.list[i].ard && tried.list[i].neighbours == 21);
  }
  assert_true(params.covariance.smoothness == 1.2 && params.covariance.n_lengthscales == 1);
  assert_int_equal(params.neighbours, 21);
  gpnn_parameters_release(&params);
  options.rotation = false;
  choose(&r, &options, &tried, &params, &report);
  assert_int_equal(tried.n, 0); /* nothing is left to choose */
  assert_ptr_equal(report.chosen.kernel, options.fit.kernel);
  assert_true(isnan(report.chosen.nll) && report.runner_up.kernel == NULL);
  assert_int_equal(params.provenance.fit_rows, 300);
  gpnn_parameters_release(&params);
  rows_free(&r);
}

static void whitening_and_rotations_can_be_asked_for(void **state)
{
  static const enum gpnn_rotate rotations[] = {GPNN_ROTATE_WHITEN, GPNN_ROTATE_LEARN};
  (void)state;
  struct rows r = curved_rows(300, 3, 7);
  for (size_t i = 0; i < 2; i++) {
    struct gpnn_choose_options options = all_open();
    struct tried tried;
    struct gpnn_parameters params;
    struct gpnn_choose_report report;
    options.rotation = false;
    options.rotate = rotations[i];
    choose(&r, &options, &tried, &params, &report);
    for (size_t j = 0; j < tried.n; j++) assert_int_equal(tried.list[j].rotate, rotations[i]);
    assert_int_equal(params.covariance.n_rotation, 9);
    check_parameters(&r, &params);
    gpnn_parameters_release(&params);
  }
  rows_free(&r);
}

static bool are_equal(const struct gpnn_parameters *a, const struct gpnn_parameters *b)
{
  size_t n = a->covariance.n_lengthscales;
  return n == b->covariance.n_lengthscales && a->neighbours == b->neighbours &&
         memcmp(a->covariance.lengthscale, b->covariance.lengthscale, n * sizeof(double)) == 0 &&
         memcmp(a->link.bias, b->link.bias, a->link.n_bias * sizeof(double)) == 0 &&
         a->covariance.noise == b->covariance.noise && a->link.floor == b->link.floor;
}

static void threads_change_no_bit(void **state)
{
  (void)state;
  struct rows r = curved_rows(250, 3, 8);
  struct gpnn_choose_options options = all_open();
  struct tried tried;
  struct gpnn_parameters one, many;
  struct gpnn_choose_report report;
  choose(&r, &options, &tried, &one, &report);
  options.fit.threads = 4;
  choose(&r, &options, &tried, &many, &report);
  assert_true(are_equal(&one, &many));
  gpnn_parameters_release(&one);
  gpnn_parameters_release(&many);
  rows_free(&r);
}

/* Tables larger than the sample are fitted to a part of their rows. */
static void large_tables_are_sampled(void **state)
{
  (void)state;
  struct rows r = curved_rows(400, 2, 9);
  struct gpnn_choose_options options = all_open();
  struct tried tried;
  struct gpnn_parameters params;
  struct gpnn_choose_report report;
  options.sample_rows = 150;
  options.effort = GPNN_EFFORT_FAST;
  choose(&r, &options, &tried, &params, &report);
  check_parameters(&r, &params);
  assert_int_equal(params.provenance.fit_rows, 150);
  gpnn_parameters_release(&params);
  rows_free(&r);
}

/* ---- awkward tables --------------------------------------------------------------------- */

static void tiny_and_degenerate_tables_are_fitted(void **state)
{
  static const size_t sizes[] = {2, 3, 5, 20, 40};
  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
    for (int kind = 0; kind < 4; kind++) {
      size_t n = sizes[s], n_classes = kind == 0 ? 1 : 4;
      struct rows r = rows_new(n, 2, n_classes, 10 + s);
      struct gpnn_choose_options options = all_open();
      struct tried tried;
      struct gpnn_parameters params;
      struct gpnn_choose_report report;
      for (size_t i = 0; i < n; i++) {
        r.y[i] = kind == 0 ? 0 : kind == 1 ? (double)(i % 4) : i == 0 ? 3 : 1;
        if (kind == 2) r.x[2 * i] = r.x[2 * i + 1] = 0; /* all rows at one place */
        if (kind == 3) r.x[2 * i] *= 1e200;
      }
      choose(&r, &options, &tried, &params, &report);
      check_parameters(&r, &params);
      if (kind == 0) assert_true(report.chosen.nll == 0 && report.chosen.error == 0);
      gpnn_parameters_release(&params);
      rows_free(&r);
    }
}

static void rows_too_few_and_targets_without_classes_are_refused(void **state)
{
  (void)state;
  struct rows r = curved_rows(20, 2, 11);
  struct gpnn_choose_options options = all_open();
  struct gpnn_parameters params = {0};
  struct gpnn_choose_report report;
  r.dataset.n = 1;
  assert_fails(gpnn_choose(1, (const struct gpnn_dataset *[]){&r.dataset}, &options, NULL, NULL,
                           &params, &report, &err),
               GPNN_EDATA, "at least 2 rows");
  r.dataset.n = 20;
  r.dataset.schema.target.kind = GPNN_COLUMN_NUMBER;
  assert_fails(gpnn_choose(1, (const struct gpnn_dataset *[]){&r.dataset}, &options, NULL, NULL,
                           &params, &report, &err),
               GPNN_EINVAL, "no classes");
  assert_null(params.covariance.lengthscale);
  rows_free(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_fit_lowers_the_log_loss_and_finds_the_inputs_that_matter),
      cmocka_unit_test(what_is_fixed_stays),
      cmocka_unit_test(a_start_gives_its_link_if_the_classes_are_as_many),
      cmocka_unit_test(a_rotation_is_learnt_where_it_helps),
      cmocka_unit_test(the_candidate_with_the_lowest_score_wins),
      cmocka_unit_test(given_choices_are_kept),
      cmocka_unit_test(whitening_and_rotations_can_be_asked_for),
      cmocka_unit_test(threads_change_no_bit),
      cmocka_unit_test(large_tables_are_sampled),
      cmocka_unit_test(tiny_and_degenerate_tables_are_fitted),
      cmocka_unit_test(rows_too_few_and_targets_without_classes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
