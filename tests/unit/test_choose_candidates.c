/* Single decisions of a choice: which candidates are tried, and from where they start. */
#include "estimate/choose_private.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "trained.h"

/* ---- candidates that are simpler ------------------------------------------------------------- */

/* By how much the second trial is better than the first, on average. */
static double gain;

/* Losses that differ by 0.1 from row to row. */
static enum gpnn_status score(struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                              size_t n_counts, struct gpnn_error *error)
{
  (void)n_counts;
  (void)error;
  for (size_t i = 0; i < c->n; i++)
    trial->loss[i] = c->n_trials == 0 ? 1 : 1 - gain + (i % 2 == 0 ? 0.1 : -0.1);
  trial->candidate.score = c->n_trials == 0 ? 1 : 1 - gain;
  return GPNN_OK;
}

/* Whether a simpler candidate is passed over that is better by so many standard errors. */
static bool is_passed_over(double errors)
{
  struct fixture f;
  struct gpnn_choose_options options = {.fit = GPNN_FIT_OPTIONS_INIT,
                                        .likelihood = GPNN_LIKELIHOOD_LOCAL};
  struct gpnn_choose_report report = {0};
  struct gpnn_choose_head head = gpnn_choose_numbers;
  struct gpnn_choice c = {.head = &head, .n_targets = 1, .options = &options, .report = &report};
  head.score = score;
  fixture_new(&f, 240, 2, 0, 1);
  options.fit.first = GPNN_OBJECTIVE_BLOCK;
  options.fit.kernel = gpnn_kernel_by_name("matern32");
  options.fit.n_blocks = 1;
  options.fit.block_size = 50;
  options.fit.neighbours = 10;
  assert_ok(gpnn_choice_use_rows(&c, &f.data, &err));
  assert_ok(gpnn_choice_draw_rows(&c, &err));
  assert_int_equal(c.n, 80);
  gain = errors * 0.1 / sqrt((double)c.n - 1);
  struct gpnn_choose_plan plan = {
      .fit = options.fit, .rotate = GPNN_ROTATE_NONE, .sight = GPNN_SIGHT_VALUE};
  assert_ok(gpnn_choice_try(&c, &plan, &err));
  plan.is_simpler = true;
  assert_ok(gpnn_choice_try(&c, &plan, &err));
  assert_int_equal(c.n_trials, 2);
  bool result = c.trials[1]->passed_over;
  gpnn_choice_release(&c);
  fixture_free(&f);
  return result;
}

static void what_is_simpler_has_to_be_better_by_more_than_chance_explains(void **state)
{
  (void)state;
  assert_true(is_passed_over(-1));
  assert_true(is_passed_over(0.9));
  assert_false(is_passed_over(1.1));
}

/* ---- inputs with scores ---------------------------------------------------------------------- */

/* An index of 'n' rows: y waves with the logarithm of 'a' and is linear in 'b', which has two
 * values, and so no score, if 'is_flag'. */
static struct gpnn_index *make_index(size_t n, bool is_flag)
{
  struct gpnn_rng rng;
  struct gpnn_training training = {0};
  struct gpnn_index *index = NULL;
  struct gpnn_search *search = NULL;
  const char *path = scratch_path("candidates.gpi");
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  const struct gpnn_roles roles = {.target = "y"};
  char *text = malloc(64 * (n + 1));
  size_t length = (size_t)sprintf(text, "a\tb\ty\n");
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  for (size_t i = 0; i < n; i++) {
    double t = 4 * gpnn_rng_uniform(&rng) - 2,
           b = is_flag ? (double)(i % 2) : gpnn_rng_uniform(&rng);
    length += (size_t)sprintf(text + length, "%.9g\t%.9g\t%.9g\n", exp(2 * t), b,
                              sin(3 * t) + b + 0.03 * gpnn_rng_normal(&rng));
  }
  train(&training, text, &roles, GPNN_SCALING_SCALE, 0);
  free(text);
  options.kind = GPNN_SEARCH_TREE;
  assert_ok(gpnn_index_make(path, &training.dataset, NULL, &options, NULL, &search, &err));
  gpnn_search_free(search);
  gpnn_training_release(&training);
  assert_ok(gpnn_index_open(&index, path, false, &err));
  return index;
}

/* The lengthscales that a trial with 'n' of them, 1, 2 ..., is lifted to. */
static void assert_lifted(struct gpnn_choice *c, size_t n, enum gpnn_sight sight, size_t n_expected,
                          const double *expected)
{
  double own[] = {1, 2};
  struct gpnn_parameters params = {.covariance = {.n_lengthscales = n, .lengthscale = own}};
  const struct gpnn_choose_trial trial = {.n_targets = 1, .params = &params};
  struct gpnn_parameters start = {0};
  assert_ok(gpnn_choice_see(c, sight, &err));
  assert_ok(gpnn_choice_lift(c, &trial, sight, &start, &err));
  assert_int_equal(start.covariance.n_lengthscales, n_expected);
  for (size_t g = 0; g < n_expected; g++)
    assert_near(start.covariance.lengthscale[g], expected[g], 1e-12);
  free(start.covariance.lengthscale);
}

static void values_and_scores_share_the_distance_that_values_had(void **state)
{
  (void)state;
  const double root = sqrt(2);
  struct gpnn_index *index = make_index(60, true);
  const struct gpnn_dataset *view = gpnn_index_dataset(index);
  const struct gpnn_choose_options options = {.fit = GPNN_FIT_OPTIONS_INIT, .scores = true};
  struct gpnn_choice c = {.head = &gpnn_choose_numbers, .n_targets = 1, .options = &options};
  assert_ok(gpnn_choice_use_rows(&c, &view, &err));
  assert_lifted(&c, 2, GPNN_SIGHT_BOTH, 3, (double[]){root, root, 2});
  assert_lifted(&c, 1, GPNN_SIGHT_BOTH, 3, (double[]){root, root, 1});
  assert_lifted(&c, 2, GPNN_SIGHT_SCORE, 2, (double[]){1, 2});
  gpnn_choice_release(&c);
  gpnn_index_close(index);
}

/* ---- rotations ------------------------------------------------------------------------------- */

enum { MOST = 64 };

struct tried {
  size_t n;
  struct gpnn_candidate list[MOST];
};

static void note(void *context, const struct gpnn_candidate *candidate)
{
  struct tried *tried = context;
  assert_true(tried->n < MOST);
  tried->list[tried->n++] = *candidate;
}

static struct gpnn_choose_options with_rotations(void)
{
  struct gpnn_choose_options options = {.fit = GPNN_FIT_OPTIONS_INIT,
                                        .likelihood = GPNN_LIKELIHOOD_LOCAL,
                                        .ard = true,
                                        .rotation = true,
                                        .objective = true,
                                        .effort = GPNN_EFFORT_NORMAL};
  options.fit.kernel = gpnn_kernel_by_name("matern32");
  options.fit.neighbours = 20;
  options.fit.steps = 60;
  options.fit.refresh = 20;
  options.fit.k = 16;
  options.fit.batch = 32;
  return options;
}

/* What a choice tried. */
static struct tried choose(const struct gpnn_dataset *view,
                           const struct gpnn_choose_options *options)
{
  struct tried tried = {0};
  struct gpnn_parameters params = {0};
  struct gpnn_choose_report report;
  assert_ok(gpnn_choose(1, &view, options, note, &tried, &params, &report, &err));
  gpnn_parameters_release(&params);
  return tried;
}

/* The candidate that sees values and scores has four inputs, whose rotation would take 320 rows. */
static void rows_have_to_suffice_for_a_rotation_of_all_that_is_seen(void **state)
{
  (void)state;
  struct gpnn_index *index = make_index(260, false);
  struct gpnn_choose_options options = with_rotations();
  options.scores = true;
  struct tried tried = choose(gpnn_index_dataset(index), &options);
  bool any_both = false;
  for (size_t i = 0; i < tried.n; i++) {
    any_both |= tried.list[i].sight == GPNN_SIGHT_BOTH && i > 0 &&
                tried.list[i].score < tried.list[0].score;
    assert_false(tried.list[i].sight != GPNN_SIGHT_VALUE &&
                 tried.list[i].rotate == GPNN_ROTATE_LEARN);
  }
  assert_true(any_both);
  gpnn_index_close(index);
}

/* How many candidates are tried in all rows after those of a sample of 200, which are the same if
 * there are no other rows. */
static size_t count_wider(const struct fixture *f)
{
  struct gpnn_choose_options options = with_rotations();
  options.sample_rows = 200;
  size_t wider = choose(f->data, &options).n;
  options.last_sample_rows = 200;
  return wider - choose(f->data, &options).n;
}

static void a_rotation_that_is_level_in_the_sample_goes_on_in_all_rows(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 600, 2, 0, 1); /* inputs are normal, and independent: rotations do not matter */
  assert_int_equal(count_wider(&f), 2);
  fixture_free(&f);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_simpler_has_to_be_better_by_more_than_chance_explains),
      cmocka_unit_test(values_and_scores_share_the_distance_that_values_had),
      cmocka_unit_test(rows_have_to_suffice_for_a_rotation_of_all_that_is_seen),
      cmocka_unit_test(a_rotation_that_is_level_in_the_sample_goes_on_in_all_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
