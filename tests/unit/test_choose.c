#include "base/threads.h"
#include "estimate/choose_private.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models.h"
#include "models/model.h"

/* Everything but the rotation and the objective is open: quick. */
static struct gpnn_choose_options all_open(int threads)
{
  struct gpnn_choose_options options = {
      .fit = GPNN_FIT_OPTIONS_INIT, .kernel = true, .ard = true, .neighbours = true};
  options.fit.n_blocks = 2;
  options.fit.block_size = 100;
  options.fit.k = 8;
  options.fit.rows = 150;
  options.fit.steps = 30;
  options.fit.batch = 16;
  options.fit.refresh = 15;
  options.fit.threads = threads;
  return options;
}

/* What a user gets who says nothing but how much to try. */
static struct gpnn_choose_options by_effort(enum gpnn_effort effort)
{
  struct gpnn_choose_options options = all_open(1);
  options.rotation = options.objective = true;
  options.effort = effort;
  return options;
}

/* One candidate, whose variances are 'scale' and a twentieth of it. */
static struct gpnn_choose_options all_fixed(double scale)
{
  struct gpnn_choose_options options = all_open(1);
  options.kernel = options.ard = options.neighbours = false;
  options.k = true; /* of no concern to blocks; with nothing open there is no score */
  options.fit.kernel = gpnn_kernel_by_name("matern32");
  options.fit.ard = false;
  options.fit.neighbours = 20;
  options.fit.fixed_lengthscale = 1;
  options.fit.fixed_kernelscale = scale;
  options.fit.fixed_noise = 0.05 * scale;
  return options;
}

enum { MOST = 64 };

struct tried {
  size_t n;
  struct gpnn_candidate list[MOST];
};

static void note(void *context, const struct gpnn_candidate *candidate)
{
  struct tried *tried = context;
  assert_true(tried->n < MOST);
  assert_non_null(candidate->kernel);
  assert_true(isfinite(candidate->nll) && isfinite(candidate->standard_error));
  assert_true((candidate->objective == GPNN_OBJECTIVE_BLOCK) == (candidate->k == 0));
  tried->list[tried->n++] = *candidate;
}

static enum gpnn_status choose(const struct fixture *f, const struct gpnn_choose_options *options,
                               struct tried *tried, struct gpnn_parameters *params,
                               struct gpnn_choose_report *report, struct gpnn_error *err)
{
  size_t before = tried->n;
  enum gpnn_status status = gpnn_choose(1, &f->data, options, note, tried, params, report, err);
  assert_true(tried->n - before <= gpnn_choose_most(f->data, options));
  return status;
}

/* What a choice that succeeded came to. */
struct choice_made {
  struct gpnn_parameters params;
  struct gpnn_choose_report report;
  struct tried tried;
};

static struct choice_made choose_ok(const struct fixture *f,
                                    const struct gpnn_choose_options *options)
{
  struct choice_made made = {.params = {0}};
  assert_ok(choose(f, options, &made.tried, &made.params, &made.report, &err));
  return made;
}

static void release(struct choice_made *made)
{
  gpnn_parameters_release(&made->params);
}

static void assert_same_covariance(const struct gpnn_parameters *params,
                                   const struct gpnn_parameters *expected)
{
  const struct gpnn_covariance *a = &params->covariance, *b = &expected->covariance;
  assert_ptr_equal(a->kernel, b->kernel);
  assert_int_equal(a->n_lengthscales, b->n_lengthscales);
  assert_memory_equal(a->lengthscale, b->lengthscale, a->n_lengthscales * sizeof *a->lengthscale);
  assert_true(a->noise == b->noise && a->kernelscale == b->kernelscale);
}

static bool same_candidate(const struct gpnn_candidate *a, const struct gpnn_candidate *b)
{
  return a->kernel == b->kernel && a->smoothness == b->smoothness && a->ard == b->ard &&
         a->rotate == b->rotate && a->objective == b->objective && a->k == b->k &&
         a->neighbours == b->neighbours && fabs(a->nll - b->nll) < 1e-12;
}

/* How many were tried with a better score than this. */
static size_t count_better(const struct tried *tried, double score)
{
  size_t n = 0;
  for (size_t i = 0; i < tried->n; i++) n += tried->list[i].score < score;
  return n;
}

/* The best score among those that mix the inputs in this way. */
static double best_nll(const struct tried *tried, enum gpnn_rotate rotate)
{
  double best = INFINITY;
  for (size_t i = 0; i < tried->n; i++)
    if (tried->list[i].rotate == rotate) best = fmin(best, tried->list[i].nll);
  return best;
}

/* Puts other targets into a fixture. */
static void rewrite(struct fixture *f)
{
  gpnn_index_close(f->index);
  gpnn_schema_release(&f->dataset.schema);
  gpnn_scaling_release(&f->dataset.scaling);
  fixture_write(f);
}

/* A target that depends on the first of three inputs alone. */
static void make_one_relevant_input(struct fixture *f)
{
  struct gpnn_rng rng;
  fixture_new(f, 300, 3, 0, 1);
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  for (size_t i = 0; i < f->n; i++) f->y[i] = sin(3 * f->x[3 * i]) + 0.05 * gpnn_rng_normal(&rng);
  rewrite(f);
}

static void the_best_score_is_kept_and_the_next_recorded(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  for (int effort = GPNN_EFFORT_FAST; effort <= (int)GPNN_EFFORT_THOROUGH; effort++) {
    struct gpnn_choose_options options = by_effort((enum gpnn_effort)effort);
    options.likelihood = GPNN_LIKELIHOOD_LOCAL; /* or else errors count where scores are level */
    options.neighbours = false;
    options.fit.neighbours = 20;
    struct choice_made made = choose_ok(&f, &options);
    assert_int_equal(count_better(&made.tried, made.report.chosen.score), 0);
    assert_int_equal(count_better(&made.tried, made.report.runner_up.score), 1);
    bool told = false;
    for (size_t i = 0; i < made.tried.n; i++)
      told |= same_candidate(&made.tried.list[i], &made.report.chosen);
    assert_true(told);
    assert_ptr_equal(made.params.covariance.kernel, made.report.chosen.kernel);
    assert_true(made.report.chosen.ard); /* one input of three matters */
    assert_int_equal(made.params.covariance.n_lengthscales, 3);
    assert_true((made.params.covariance.rotation != NULL) ==
                (made.report.chosen.rotate != GPNN_ROTATE_NONE));
    assert_int_equal(made.params.neighbours, 20);
    assert_null(made.report.fewest.kernel);
    assert_int_equal(made.report.fit.objective, made.report.chosen.objective);
    release(&made);
  }
  fixture_free(&f);
}

static void fast_tries_every_kernel_twice_by_blocks(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  struct gpnn_choose_options options = by_effort(GPNN_EFFORT_FAST);
  options.neighbours = false;
  options.fit.neighbours = 20;
  struct choice_made made = choose_ok(&f, &options);
  assert_int_equal(made.tried.n, 8);
  for (size_t i = 0; i < made.tried.n; i++) {
    assert_int_equal(made.tried.list[i].objective, GPNN_OBJECTIVE_BLOCK);
    assert_int_equal(made.tried.list[i].rotate, GPNN_ROTATE_NONE);
    for (size_t k = 0; k < i; k++)
      assert_false(made.tried.list[k].kernel == made.tried.list[i].kernel &&
                   made.tried.list[k].ard == made.tried.list[i].ard);
  }
  release(&made);
  fixture_free(&f);
}

static size_t count_rotated(const struct tried *tried, enum gpnn_rotate rotate)
{
  size_t n = 0;
  for (size_t k = 0; k < tried->n; k++) n += tried->list[k].rotate == rotate;
  return n;
}

/* The rows of the score are the same, so that scores can be compared. */
static void thorough_is_no_worse_than_normal(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  struct gpnn_choose_report report[2];
  struct tried tried[2] = {{0}, {0}};
  for (int i = 0; i < 2; i++) {
    struct gpnn_choose_options options =
        by_effort(i == 0 ? GPNN_EFFORT_NORMAL : GPNN_EFFORT_THOROUGH);
    struct gpnn_parameters params = {0};
    options.neighbours = false;
    options.fit.neighbours = 20;
    assert_ok(choose(&f, &options, &tried[i], &params, &report[i], &err));
    for (size_t k = 0; k < tried[i].n; k++)
      assert_int_equal(tried[i].list[k].objective, GPNN_OBJECTIVE_LOO);
    assert_true(isfinite(best_nll(&tried[i], GPNN_ROTATE_WHITEN)));
    gpnn_parameters_release(&params);
  }
  assert_int_equal(report[0].n_rows, report[1].n_rows);
  assert_true(tried[1].n > tried[0].n);
  /* From the inputs, from whitened ones and, as there are scores of them, from these. */
  assert_true(count_rotated(&tried[1], GPNN_ROTATE_LEARN) >=
              count_rotated(&tried[0], GPNN_ROTATE_LEARN) + 3);
  assert_true(report[1].chosen.nll <= report[0].chosen.nll);
  fixture_free(&f);
}

/* The scores for each number of neighbours by itself say what the rule has to choose among. */
static void the_fewest_neighbours_that_are_as_good_are_chosen(void **state)
{
  (void)state;
  static const size_t counts[] = {16, 32, 64, 128, 256, 400};
  struct fixture f;
  make_one_relevant_input(&f);
  struct gpnn_choose_options options = all_open(1);
  struct gpnn_parameters params = {0};
  struct gpnn_choose_report report, one;
  struct tried tried = {0};
  options.kernel = options.ard = false;
  options.fit.kernel = gpnn_kernel_by_name("matern32");
  assert_ok(choose(&f, &options, &tried, &params, &report, &err));
  options.neighbours = false;
  options.k = true; /* of no concern to blocks; with nothing open there is no score */
  for (size_t i = 0; i < 6; i++) {
    struct gpnn_parameters again = {0};
    options.fit.neighbours = counts[i];
    assert_ok(choose(&f, &options, &tried, &again, &one, &err));
    assert_true(one.chosen.nll >= report.chosen.nll - 1e-9);
    if (counts[i] == report.chosen.neighbours) assert_near(one.chosen.nll, report.chosen.nll, 1e-9);
    if (counts[i] == report.fewest.neighbours) assert_near(one.chosen.nll, report.fewest.nll, 1e-9);
    if (counts[i] < report.fewest.neighbours) assert_true(one.chosen.nll > report.chosen.nll);
    gpnn_parameters_release(&again);
  }
  assert_true(report.fewest.nll <= report.chosen.nll + 0.01);
  assert_true(report.fewest.neighbours <= report.chosen.neighbours);
  assert_int_equal(params.neighbours, report.fewest.neighbours);
  gpnn_parameters_release(&params);
  fixture_free(&f);
}

/* ---- rotations ------------------------------------------------------------------------------ */

/* The target depends on the sum of two inputs alone. */
static void make_mixed(struct fixture *f)
{
  struct gpnn_rng rng;
  fixture_new(f, 500, 3, 0, 1);
  gpnn_rng_init(&rng, 4, GPNN_RNG_TEST);
  for (size_t i = 0; i < f->n; i++)
    f->y[i] = sin(2.5 * (f->x[3 * i] + f->x[3 * i + 1])) + 0.1 * gpnn_rng_normal(&rng);
  rewrite(f);
}

static void relevant_directions_are_learnt(void **state)
{
  (void)state;
  struct fixture f;
  make_mixed(&f);
  struct gpnn_choose_options options = by_effort(GPNN_EFFORT_NORMAL);
  options.fit.rows = 500;
  options.fit.steps = 200;
  options.fit.refresh = 50;
  struct choice_made made = choose_ok(&f, &options);
  assert_int_equal(made.report.chosen.rotate, GPNN_ROTATE_LEARN);
  assert_true(best_nll(&made.tried, GPNN_ROTATE_LEARN) <
              best_nll(&made.tried, GPNN_ROTATE_NONE) - 0.1);
  assert_int_equal(made.params.covariance.n_rotation, 9);
  release(&made);
  fixture_free(&f);
}

static void rotations_can_be_requested_and_forbidden(void **state)
{
  (void)state;
  struct fixture f;
  make_mixed(&f);
  for (int rotate = GPNN_ROTATE_NONE; rotate <= (int)GPNN_ROTATE_LEARN; rotate++) {
    struct gpnn_choose_options options = by_effort(GPNN_EFFORT_NORMAL);
    options.rotation = false;
    options.rotate = (enum gpnn_rotate)rotate;
    options.ard = false;
    struct choice_made made = choose_ok(&f, &options);
    for (size_t i = 0; i < made.tried.n; i++) assert_int_equal(made.tried.list[i].rotate, rotate);
    assert_int_equal(made.params.covariance.n_rotation, rotate == GPNN_ROTATE_NONE ? 0 : 9);
    release(&made);
  }
  fixture_free(&f);
}

static void impossible_rotations_are_refused(void **state)
{
  (void)state;
  struct fixture f;
  make_mixed(&f);
  struct gpnn_choose_options options = by_effort(GPNN_EFFORT_NORMAL);
  struct gpnn_parameters params = {0};
  struct gpnn_choose_report report;
  struct tried tried = {0};
  options.rotation = options.ard = options.fit.ard = false;
  options.rotate = GPNN_ROTATE_LEARN;
  assert_fails(choose(&f, &options, &tried, &params, &report, &err), GPNN_EINVAL, "only with ARD");
  options.fit.ard = true;
  options.rotate = GPNN_ROTATE_WHITEN;
  options.fit.mean = GPNN_MEAN_LINEAR;
  assert_fails(choose(&f, &options, &tried, &params, &report, &err), GPNN_EINVAL,
               "cannot be rotated under a linear mean");
  assert_null(params.covariance.lengthscale);
  /* Left open, they are passed over. */
  options.ard = options.rotation = true;
  assert_ok(choose(&f, &options, &tried, &params, &report, &err));
  assert_null(params.covariance.rotation);
  gpnn_parameters_release(&params);
  fixture_free(&f);
}

/* ---- what is given -------------------------------------------------------------------------- */

/* The parameters are those that a fit with these options finds. */
static void assert_fitted(const struct fixture *f, const struct gpnn_fit_options *options,
                          const struct gpnn_parameters *params)
{
  struct gpnn_parameters fitted = {0};
  struct gpnn_fit_report fit;
  assert_ok(fit_one(f->data, options, &fitted, &fit, &err));
  assert_same_covariance(params, &fitted);
  gpnn_parameters_release(&fitted);
}

static void with_nothing_to_choose_all_rows_are_fitted(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  struct gpnn_choose_options options = all_open(1);
  options.kernel = options.ard = options.neighbours = false;
  options.fit.kernel = gpnn_kernel_by_name("exp");
  options.fit.first = GPNN_OBJECTIVE_LOO;
  options.fit.rows = f.n;
  options.fit.neighbours = 33;
  struct choice_made made = choose_ok(&f, &options);
  assert_int_equal(made.tried.n, 0);
  assert_int_equal(made.report.fit.n_rows, f.n);
  assert_null(made.report.runner_up.kernel);
  assert_int_equal(made.params.neighbours, 33);
  assert_fitted(&f, &options.fit, &made.params);
  release(&made);
  fixture_free(&f);
}

static void several_k_of_the_objective_are_tried(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  struct gpnn_choose_options options = by_effort(GPNN_EFFORT_NORMAL);
  size_t different = 1;
  options.k = true;
  options.kernel = options.rotation = false;
  options.fit.kernel = gpnn_kernel_by_name("exp");
  options.fit.steps = 3;
  struct choice_made made = choose_ok(&f, &options);
  for (size_t i = 1; i < made.tried.n; i++) {
    different += made.tried.list[i].k != made.tried.list[i - 1].k;
    assert_true(made.tried.list[i].k < f.n);
  }
  assert_true(different >= 3);
  assert_int_equal(made.report.chosen.k, made.report.fit.k);
  release(&made);
  fixture_free(&f);
}

static void given_options_are_not_chosen_and_give_the_same_fit(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  struct gpnn_choose_options options = all_open(1);
  options.kernel = options.neighbours = false;
  options.fit.kernel = gpnn_kernel_by_name("rbf");
  options.fit.neighbours = 17;
  struct choice_made made = choose_ok(&f, &options);
  assert_int_equal(made.params.neighbours, 17);
  options.fit.ard = made.report.chosen.ard;
  assert_fitted(&f, &options.fit, &made.params);
  release(&made);
  fixture_free(&f);
}

/* Variances a hundred times too large get the score of the right ones: it is that of calibrated
 * predictions. */
static void the_scale_of_variances_changes_no_score(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  double nll[2];
  for (int k = 0; k < 2; k++) {
    double scale = k == 0 ? 1 : 100;
    const struct gpnn_choose_options options = all_fixed(scale);
    struct choice_made made = choose_ok(&f, &options);
    nll[k] = made.report.chosen.nll;
    release(&made);
  }
  assert_near(nll[1], nll[0], 1e-10);
  fixture_free(&f);
}

static void threads_change_no_choice(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  struct gpnn_parameters params[2] = {{0}, {0}};
  struct gpnn_choose_report report[2];
  for (int t = 0; t < 2; t++) {
    struct gpnn_choose_options options = by_effort(GPNN_EFFORT_NORMAL);
    options.fit.threads = t == 0 ? 1 : 4;
    options.fit.steps = 10;
    assert_ok(gpnn_choose(1, &f.data, &options, NULL, NULL, &params[t], &report[t], &err));
  }
  assert_int_equal(params[0].neighbours, params[1].neighbours);
  assert_same_covariance(&params[0], &params[1]);
  assert_true(report[0].chosen.nll == report[1].chosen.nll);
  gpnn_parameters_release(&params[0]);
  gpnn_parameters_release(&params[1]);
  fixture_free(&f);
}

/* The score of one candidate on rows like those of 'like'. */
static double score_like(const struct fixture *f, const struct gpnn_query *like)
{
  struct gpnn_choose_options options = {.fit = GPNN_FIT_OPTIONS_INIT, .kernel = true, .like = like};
  options.fit.n_blocks = 2;
  options.fit.block_size = 100;
  options.fit.threads = 1;
  struct choice_made made = choose_ok(f, &options);
  release(&made);
  return made.report.chosen.nll;
}

static void rows_like_the_training_rows_score_about_the_same(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  const struct gpnn_dataset *dataset = f.data;
  struct gpnn_query like = {.n = dataset->n, .x = dataset->x};

  assert_near(score_like(&f, &like), score_like(&f, NULL), 0.3);
  fixture_free(&f);
}

/* ---- the best of many ----------------------------------------------------------------------- */

enum { LOSSES = 50, TRIALS = 3 };

/* A trial whose losses are 'nll' on average, and differ from those of others by 'apart' up and
 * down, in a pattern of its own. */
static struct gpnn_choose_trial make_trial(size_t which, double nll, double rmse, double apart)
{
  struct gpnn_choose_trial trial = {
      .candidate = {.score = nll, .nll = nll, .rmse = rmse, .k = which}};
  trial.loss = gpnn_alloc(GPNN_CHOOSE_COUNTS, LOSSES, sizeof *trial.loss);
  assert_non_null(trial.loss);
  trial.best = which % GPNN_CHOOSE_COUNTS; /* the others' losses are none of its own */
  for (size_t i = 0; i < GPNN_CHOOSE_COUNTS * LOSSES; i++) trial.loss[i] = 1e3 * (double)(i % 7);
  for (size_t i = 0; i < LOSSES; i++)
    trial.loss[trial.best * LOSSES + i] = nll + ((i + which) % TRIALS < 2 ? apart : -2 * apart);
  return trial;
}

/* Which of three trials, kept in the order 'order', are the best and the second. */
static void choose_among(const double nll[TRIALS], const double rmse[TRIALS], double apart,
                         enum gpnn_likelihood likelihood, const size_t order[TRIALS],
                         size_t chosen[2])
{
  const struct gpnn_choose_options options = {.likelihood = likelihood};
  struct gpnn_choice c = {.head = &gpnn_choose_numbers, .n = LOSSES, .options = &options};
  for (size_t i = 0; i < TRIALS; i++) {
    struct gpnn_choose_trial trial = make_trial(order[i], nll[order[i]], rmse[order[i]], apart);
    assert_ok(gpnn_choice_keep(&c, &trial, &err));
    assert_null(trial.loss);
  }
  chosen[0] = gpnn_choice_best(&c)->candidate.k;
  chosen[1] = gpnn_choice_second(&c)->candidate.k;
  gpnn_choice_release(&c);
}

/* Scores 0.015 apart: by pairs the second beats the first and the third the second, by their means,
 * where chance explains 0.015 but not 0.03, so that the first beats the third. */
static void the_order_of_candidates_does_not_matter(void **state)
{
  (void)state;
  static const size_t orders[][TRIALS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const double nll[] = {1, 1.015, 1.03}, rmse[] = {0.5, 0.4, 0.3};
  for (size_t i = 0; i < 6; i++) {
    size_t chosen[2];
    /* A standard error of 0.024. */
    choose_among(nll, rmse, 0.07, GPNN_LIKELIHOOD_GAUSSIAN, orders[i], chosen);
    assert_int_equal(chosen[0], 1);
    assert_int_equal(chosen[1], 0);
    /* Far less. */
    choose_among(nll, rmse, 0.001, GPNN_LIKELIHOOD_GAUSSIAN, orders[i], chosen);
    assert_int_equal(chosen[0], 0);
    assert_int_equal(chosen[1], 1);
    /* With a scale, the score has weighed the errors already. */
    choose_among(nll, rmse, 0.07, GPNN_LIKELIHOOD_LOCAL, orders[i], chosen);
    assert_int_equal(chosen[0], 0);
    assert_int_equal(chosen[1], 1);
  }
}

/* ---- little to choose by ------------------------------------------------------------------- */

static void few_rows_are_used_for_both_fit_and_score(void **state)
{
  (void)state;
  static const size_t rows[] = {2, 3, 12, 30};
  for (size_t i = 0; i < 4; i++)
    for (int effort = GPNN_EFFORT_FAST; effort <= (int)GPNN_EFFORT_THOROUGH; effort++) {
      struct fixture f;
      fixture_new(&f, rows[i], 2, 0, 1);
      struct gpnn_choose_options options = by_effort((enum gpnn_effort)effort);
      options.k = true;
      struct choice_made made = choose_ok(&f, &options);
      assert_int_equal(made.report.n_rows, rows[i]); /* fewer than 32 all score */
      assert_true(made.tried.n > 0);
      assert_true(isfinite(made.report.chosen.nll));
      assert_true(made.params.neighbours >= 1 && made.params.neighbours <= 32);
      release(&made);
      fixture_free(&f);
    }
}

/* A fit of few rows would find directions in which chance looks like a function. */
static void options_that_few_rows_cannot_determine_are_not_tried(void **state)
{
  (void)state;
  static const size_t rows[] = {19, 20, 79, 80};
  for (size_t i = 0; i < 4; i++) {
    struct fixture f;
    fixture_new(&f, rows[i], 2, 0, 1);
    struct gpnn_choose_options options = by_effort(GPNN_EFFORT_NORMAL);
    bool ard = false, rotation = false;
    struct choice_made made = choose_ok(&f, &options);
    for (size_t k = 0; k < made.tried.n; k++) {
      ard |= made.tried.list[k].ard;
      rotation |= made.tried.list[k].rotate != GPNN_ROTATE_NONE;
    }
    assert_int_equal(ard, rows[i] >= 2 * 10);
    assert_int_equal(rotation, rows[i] >= 20 * 2 * 2);
    release(&made);
    fixture_free(&f);
  }
}

/* Some parameters predict each of a handful of rows without error, and new ones with great
 * certainty and wrongly. */
static void a_handful_of_rows_does_not_give_an_exact_fit(void **state)
{
  (void)state;
  enum { NEW = 300 };
  for (size_t n = 3; n <= 13; n += 2)
    for (size_t d = 1; d <= 3; d += 2) {
      struct fixture f;
      fixture_new(&f, n, d, NEW, 1);
      struct gpnn_choose_options options = by_effort(GPNN_EFFORT_NORMAL);
      struct gpnn_parameters params = {0};
      struct gpnn_choose_report report;
      struct gpnn_model *gp = NULL;
      struct gpnn_counts counts = {0};
      double mean[NEW], latent[NEW], z2 = 0;
      options.fit.steps = 1500;
      assert_ok(gpnn_choose(1, &f.data, &options, NULL, NULL, &params, &report, &err));
      assert_ok(make_model(&gp, f.data, &params, 0, 1, &err));
      assert_ok(gpnn_model_predict(gp, &(struct gpnn_query){.n = NEW, .x = f.cx},
                                   &(struct gpnn_latent){.mean = mean, .variance = latent}, &counts,
                                   &err));
      for (size_t i = 0; i < NEW; i++)
        z2 += pow(f.cy[i] - mean[i], 2) / (latent[i] + params.covariance.noise) / NEW;
      assert_in_range(100 * z2, 5, 1000);
      gpnn_model_free(gp);
      gpnn_parameters_release(&params);
      fixture_free(&f);
    }
}

/* Mean negative log density of each row left out, under the factor of all others. */
static double score_of_all(const struct fixture *f, const struct gpnn_parameters *params)
{
  enum { ROWS = 30 };
  struct gpnn_model *gp = NULL;
  struct gpnn_counts counts = {0};
  int64_t self[ROWS];
  double mean[ROWS], latent[ROWS], score = 0;
  assert_int_equal(f->n, ROWS);
  for (size_t i = 0; i < ROWS; i++) self[i] = (int64_t)i;
  assert_ok(make_model(&gp, f->data, params, 0, 1, &err));
  assert_ok(gpnn_model_predict(gp, &(struct gpnn_query){.n = ROWS, .x = f->x, .self = self},
                               &(struct gpnn_latent){.mean = mean, .variance = latent}, &counts,
                               &err));
  for (size_t i = 0; i < ROWS; i++) {
    double alpha = 0, e = f->y[i] - mean[i], v = latent[i] + params->covariance.noise;
    for (size_t k = 0; k < ROWS; k++)
      if (k != i)
        alpha += pow(f->y[k] - mean[k], 2) / (latent[k] + params->covariance.noise) / (ROWS - 1);
    score += (log(2 * M_PI * alpha * v) + e * e / (alpha * v)) / 2 / ROWS;
  }
  gpnn_model_free(gp);
  return score;
}

static void a_row_is_scored_under_the_factor_of_the_others(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 30, 2, 0, 1);
  f.y[3] += 2; /* one error that would excuse itself */
  rewrite(&f);
  const struct gpnn_choose_options options = all_fixed(1);
  struct choice_made made = choose_ok(&f, &options);
  assert_int_equal(made.report.n_rows, 30); /* a third of so few would leave it to chance */
  assert_near(made.report.chosen.nll, score_of_all(&f, &made.params), 1e-9);
  release(&made);
  fixture_free(&f);
}

/* Targets that do not vary have a score as long as no prediction is exact ... */
static void constant_targets_have_a_score(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 60, 2, 0, 1);
  for (size_t i = 0; i < f.n; i++) f.y[i] = 0.25;
  rewrite(&f);
  struct gpnn_choose_options options = by_effort(GPNN_EFFORT_NORMAL);
  struct choice_made made = choose_ok(&f, &options);
  assert_true(isfinite(made.report.chosen.nll));
  release(&made);
  fixture_free(&f);
}

/* ... but where all are, variances that fit the errors are zero. */
static void targets_predicted_without_error_are_refused(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 60, 2, 0, 1);
  memset(f.y, 0, f.n * sizeof *f.y);
  rewrite(&f);
  for (int effort = GPNN_EFFORT_FAST; effort <= (int)GPNN_EFFORT_THOROUGH; effort++) {
    struct gpnn_choose_options options = by_effort((enum gpnn_effort)effort);
    struct gpnn_parameters params = {0};
    struct gpnn_choose_report report = {.n_rows = 77};
    assert_fails(gpnn_choose(1, &f.data, &options, NULL, NULL, &params, &report, &err),
                 GPNN_ENUMERIC, "no candidate gives finite predictions");
    assert_null(params.covariance.lengthscale);
    assert_int_equal(report.n_rows, 77);
  }
  fixture_free(&f);
}

/* Of many rows a sample tells candidates apart, and a larger one finishes. */
static void many_rows_are_sampled(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  struct gpnn_choose_options all = by_effort(GPNN_EFFORT_NORMAL);
  struct gpnn_parameters whole = {0}, same = {0}, sampled = {0};
  struct gpnn_choose_report report, sampled_report;
  struct tried tried = {0}, tried_same = {0}, tried_sampled = {0};
  assert_ok(choose(&f, &all, &tried, &whole, &report, &err));
  struct gpnn_choose_options options = all;
  options.sample_rows = options.last_sample_rows = f.n;
  assert_ok(choose(&f, &options, &tried_same, &same, &report, &err));
  assert_true(same.covariance.noise == whole.covariance.noise &&
              same.covariance.kernelscale == whole.covariance.kernelscale);
  assert_int_equal(tried_same.n, tried.n);
  options.sample_rows = 100;
  options.last_sample_rows = 200;
  assert_ok(choose(&f, &options, &tried_sampled, &sampled, &sampled_report, &err));
  /* A third of the larger sample, 67 rows, scores the best two. */
  assert_int_equal(sampled_report.n_rows, 67);
  assert_ptr_equal(sampled_report.chosen.kernel, sampled.covariance.kernel);
  bool told = false;
  for (size_t i = 0; i < tried_sampled.n; i++)
    told |= same_candidate(&tried_sampled.list[i], &sampled_report.chosen);
  assert_true(told);
  assert_true(sampled.covariance.lengthscale[0] < sampled.covariance.lengthscale[1] ||
              sampled.covariance.rotation != NULL);
  assert_true(sampled.covariance.noise != whole.covariance.noise);
  /* With nothing to choose the one fit is that of the larger sample, but blocks need none. */
  options.kernel = options.ard = options.neighbours = options.rotation = options.objective = false;
  options.fit.first = GPNN_OBJECTIVE_BLOCK;
  options.fit.kernel = gpnn_kernel_by_name("exp");
  gpnn_parameters_release(&sampled);
  gpnn_parameters_release(&same);
  assert_ok(choose(&f, &options, &tried_sampled, &sampled, &sampled_report, &err));
  options.last_sample_rows = 0;
  assert_ok(choose(&f, &options, &tried_sampled, &same, &sampled_report, &err));
  assert_true(same.covariance.noise == sampled.covariance.noise);
  gpnn_parameters_release(&whole);
  gpnn_parameters_release(&same);
  gpnn_parameters_release(&sampled);
  fixture_free(&f);
}

/* ---- where it is known what is best ---------------------------------------------------------- */

/* A choice of the number of neighbours alone, for parameters that are held. */
static struct gpnn_choose_options held(double lengthscale, double noise)
{
  struct gpnn_choose_options options = {.fit = GPNN_FIT_OPTIONS_INIT, .neighbours = true};
  options.fit.kernel = gpnn_kernel_by_name("matern32");
  options.fit.ard = false;
  options.fit.n_blocks = 1;
  options.fit.block_size = 20;
  options.fit.steps = 1;
  options.fit.fixed_lengthscale = lengthscale;
  options.fit.fixed_kernelscale = 1;
  options.fit.fixed_noise = noise;
  return options;
}

/* The score with a number of neighbours by itself. */
static double score_with(const struct fixture *f, struct gpnn_choose_options options,
                         size_t neighbours)
{
  struct gpnn_parameters params = {0};
  struct gpnn_choose_report report;
  options.neighbours = false;
  options.fit.neighbours = neighbours;
  options.k = true; /* of no concern to blocks; with nothing open there is no score */
  assert_ok(gpnn_choose(1, &f->data, &options, NULL, NULL, &params, &report, &err));
  gpnn_parameters_release(&params);
  return report.chosen.nll;
}

/*
 * A wave around a circle of rows.  All rows are alike: with a number of neighbours each is
 * predicted as the same share of its target, so that which number is better, and by how much, is
 * the same for all, and certain.
 */
static void make_circle(struct fixture *f, double waves)
{
  fixture_new(f, 300, 2, 0, 1);
  for (size_t i = 0; i < f->n; i++) {
    double angle = 6.283185307179586 * (double)i / (double)f->n;
    f->x[2 * i] = cos(angle);
    f->x[2 * i + 1] = sin(angle);
    f->y[i] = cos(waves * angle);
  }
  rewrite(f);
}

static void fewer_neighbours_that_are_significantly_worse_are_not_chosen(void **state)
{
  (void)state;
  static const double lengthscales[] = {0.07, 0.075, 0.08, 0.85};
  size_t n_near = 0; /* numbers that lose less than a hundredth, but are worse for every row */
  struct fixture f;
  make_circle(&f, 3);
  for (size_t i = 0; i < sizeof lengthscales / sizeof *lengthscales; i++) {
    const struct gpnn_choose_options options = held(lengthscales[i], 0.5);
    struct gpnn_parameters params = {0};
    struct gpnn_choose_report report;
    assert_ok(gpnn_choose(1, &f.data, &options, NULL, NULL, &params, &report, &err));
    for (size_t m = 16; m < report.chosen.neighbours; m *= 2) {
      double worse = score_with(&f, options, m) - report.chosen.nll;
      n_near += worse > 0.002 && worse < 0.01;
    }
    assert_near(report.fewest.nll, report.chosen.nll, 0.001);
    gpnn_parameters_release(&params);
  }
  assert_true(n_near >= 2);
  fixture_free(&f);
}

/* Where all rows are alike, so that what is better is certain, the sum of score and price decides.
 */
static void more_rows_take_fewer_neighbours_by_their_price(void **state)
{
  (void)state;
  static const size_t numbers[] = {16, 32, 64, 128, 256};
  enum { N = sizeof numbers / sizeof *numbers };
  struct fixture f;
  size_t before = SIZE_MAX, n_chosen = 0;
  make_circle(&f, 3);
  struct gpnn_choose_options options = held(0.85, 0.5);
  for (options.n_rows = 1000; options.n_rows < 1000000000000; options.n_rows *= 10) {
    struct gpnn_parameters params = {0};
    struct gpnn_choose_report report;
    assert_ok(gpnn_choose(1, &f.data, &options, NULL, NULL, &params, &report, &err));
    size_t best = 0, taken = report.fewest.neighbours;
    double least = INFINITY;
    for (size_t k = 0; k < N && numbers[k] <= report.chosen.neighbours; k++) {
      double sum = score_with(&f, options, numbers[k]) +
                   0.01 * (double)options.n_rows * gpnn_choose_cost(numbers[k], 2) / 900e6;
      if (sum < least) best = k;
      least = fmin(least, sum);
    }
    assert_int_equal(taken, numbers[best]);
    assert_true(taken <= before);
    n_chosen += taken < before;
    before = taken;
    gpnn_parameters_release(&params);
  }
  assert_true(n_chosen >= 3);
  options.effort = GPNN_EFFORT_THOROUGH;
  struct gpnn_parameters params = {0};
  struct gpnn_choose_report report;
  assert_ok(gpnn_choose(1, &f.data, &options, NULL, NULL, &params, &report, &err));
  assert_near(report.fewest.nll, report.chosen.nll, 0.001);
  gpnn_parameters_release(&params);
  fixture_free(&f);
}

/* Of few rows, with much noise, scores are uncertain by more than that. */
static void fewer_neighbours_lose_no_more_than_a_hundredth(void **state)
{
  (void)state;
  size_t n_fewer = 0;
  struct fixture f;
  struct gpnn_rng rng;
  fixture_new(&f, 90, 2, 0, 1);
  gpnn_rng_init(&rng, 6, GPNN_RNG_TEST);
  for (size_t i = 0; i < f.n; i++) f.y[i] += gpnn_rng_normal(&rng);
  rewrite(&f);
  for (uint64_t seed = 1; seed <= 20; seed++) {
    struct gpnn_choose_options options = held(2, 2);
    struct gpnn_parameters params = {0};
    struct gpnn_choose_report report;
    options.fit.seed = seed;
    assert_ok(gpnn_choose(1, &f.data, &options, NULL, NULL, &params, &report, &err));
    if (!(report.fewest.nll <= report.chosen.nll + 0.01))
      fail_msg("%zu neighbours are worse than %zu by %g, which is more than .01",
               report.fewest.neighbours, report.chosen.neighbours,
               report.fewest.nll - report.chosen.nll);
    n_fewer += report.fewest.neighbours < report.chosen.neighbours;
    assert_near(score_with(&f, options, report.fewest.neighbours), report.fewest.nll, 1e-9);
    gpnn_parameters_release(&params);
  }
  assert_true(n_fewer > 0);
  fixture_free(&f);
}

/* Targets all one, of which noise lets m neighbours find m / (m + 100): the more, the better. */
static void the_best_two_are_scored_with_hundreds_of_neighbours(void **state)
{
  (void)state;
  struct fixture f;
  make_circle(&f, 0);
  struct gpnn_choose_options options = held(10, 100);
  options.kernel = true;
  struct choice_made made = choose_ok(&f, &options);
  assert_ptr_not_equal(made.report.chosen.kernel, made.report.runner_up.kernel);
  const struct gpnn_candidate *two[] = {&made.report.chosen, &made.report.runner_up};
  for (size_t i = 0; i < 2; i++) {
    if (two[i]->neighbours <= 64)
      fail_msg("%s has got %zu neighbours", two[i]->kernel->name, two[i]->neighbours);
    options.kernel = false;
    options.fit.kernel = two[i]->kernel;
    assert_true(two[i]->nll < score_with(&f, options, 64) - 0.02);
  }
  release(&made);
  fixture_free(&f);
}

/* The rows kept for the score are a third of few rows; in the end the fit takes them in. */
static void the_last_fit_uses_all_rows(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  for (int effort = GPNN_EFFORT_NORMAL; effort <= (int)GPNN_EFFORT_THOROUGH; effort++) {
    struct gpnn_choose_options options = by_effort((enum gpnn_effort)effort);
    options.rotation = options.ard = false;
    options.fit.rows = f.n;
    options.fit.steps = 10;
    struct choice_made made = choose_ok(&f, &options);
    assert_int_equal(made.report.fit.n_rows, f.n);
    release(&made);
  }
  fixture_free(&f);
}

static size_t count_exact(const struct tried *tried)
{
  size_t n = 0;
  for (size_t i = 0; i < tried->n; i++) n += tried->list[i].exact;
  return n;
}

/* What a user gets who says nothing, on few rows. */
static struct gpnn_choose_options of_few_rows(enum gpnn_effort effort)
{
  struct gpnn_choose_options options = by_effort(effort);
  options.likelihood = GPNN_LIKELIHOOD_LOCAL;
  return options;
}

static void few_rows_are_fitted_by_their_exact_likelihood(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 130, 3, 10, 1);
  const struct gpnn_choose_options options = of_few_rows(GPNN_EFFORT_NORMAL);
  struct choice_made made = choose_ok(&f, &options);
  assert_true(made.tried.n >= 3);
  assert_int_equal(count_exact(&made.tried), made.tried.n);
  assert_true(made.report.chosen.exact && made.report.chosen.ard);
  assert_int_equal(made.params.neighbours, f.n);
  assert_int_equal(made.report.fewest.neighbours, f.n);
  assert_int_equal(made.report.fit.n_blocks, 1);
  assert_int_equal(made.report.fit.n_rows, f.n);
  /* The last fit, of all rows, is where a fit of them from scratch ends. */
  struct gpnn_fit_options fit = options.fit;
  struct gpnn_fit_report report;
  struct gpnn_parameters params = {0};
  fit.kernel = made.params.covariance.kernel;
  fit.n_blocks = 1;
  fit.block_size = f.n;
  assert_ok(fit_one(f.data, &fit, &params, &report, &err));
  assert_near(made.report.fit.value, report.value, 1e-3);
  gpnn_parameters_release(&params);
  release(&made);
  fixture_free(&f);
}

/* Few rows would leave a choice among more objectives to chance. */
static void more_effort_fits_few_rows_by_their_exact_likelihood_as_well(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 100, 3, 10, 1);
  struct gpnn_choose_options options = of_few_rows(GPNN_EFFORT_THOROUGH);
  options.fit.steps = 10;
  struct choice_made made = choose_ok(&f, &options);
  assert_true(made.tried.n >= 3);
  assert_int_equal(count_exact(&made.tried), made.tried.n);
  release(&made);
  fixture_free(&f);
}

static void exact_fits_are_tried_only_where_options_allow(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 90, 3, 10, 1);
  struct gpnn_choose_options options[5];
  for (int i = 0; i < 5; i++) {
    options[i] = of_few_rows(GPNN_EFFORT_NORMAL);
    options[i].fit.steps = 10;
  }
  options[0].likelihood = GPNN_LIKELIHOOD_GAUSSIAN;
  options[1].objective = false;
  options[2].neighbours = false;
  options[3].effort = GPNN_EFFORT_FAST;
  options[4].fit.optimizer = GPNN_OPTIMIZER_ADAM;
  for (int i = 0; i < 5; i++) {
    struct choice_made made = choose_ok(&f, &options[i]);
    assert_int_equal(count_exact(&made.tried), 0);
    release(&made);
  }
  options[2] = of_few_rows(GPNN_EFFORT_NORMAL);
  options[2].kernel = false;
  options[2].fit.kernel = gpnn_kernel_by_name("exp");
  struct choice_made made = choose_ok(&f, &options[2]);
  assert_int_equal(count_exact(&made.tried), 1);
  assert_ptr_equal(made.params.covariance.kernel, options[2].fit.kernel);
  release(&made);
  fixture_free(&f);
}

static void threads_change_no_exact_fit(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 100, 3, 10, 1);
  struct gpnn_choose_options options = of_few_rows(GPNN_EFFORT_NORMAL);
  struct choice_made one = choose_ok(&f, &options);
  options.fit.threads = 4;
  struct choice_made four = choose_ok(&f, &options);
  assert_same_covariance(&one.params, &four.params);
  assert_true(one.report.chosen.nll == four.report.chosen.nll);
  release(&one);
  release(&four);
  fixture_free(&f);
}

/* The known variances of the rows' noise; what gpnn_choose() takes it from is const for others. */
static void set_noise(const struct fixture *f, const double *noise)
{
  const struct gpnn_dataset *borrowed = f->data;
  struct gpnn_dataset *dataset;
  memcpy(&dataset, &borrowed, sizeof dataset);
  dataset->noise = noise;
}

/* Targets that are their rows' known noise, which differs by a factor of 400: where the variances
 * of the rows are right, the score is that of the noise itself. */
static void known_noise_of_rows_is_included_in_their_score(void **state)
{
  (void)state;
  enum { N_ROWS = 1500 };
  static double noise[N_ROWS];
  struct fixture f;
  struct gpnn_rng rng;
  double loss = 0;
  fixture_new(&f, N_ROWS, 2, 0, 1);
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  for (size_t i = 0; i < f.n; i++) {
    noise[i] = i % 2 == 0 ? 4 : 0.01;
    f.y[i] = sqrt(noise[i]) * gpnn_rng_normal(&rng);
    loss += 0.5 * (log(6.283185307179586 * noise[i]) + 1) / N_ROWS;
  }
  rewrite(&f);
  set_noise(&f, noise);
  struct gpnn_choose_options options = held(2, 1e-5);
  options.fit.fixed_kernelscale = 1e-4;
  /* Of 500 rows scored, four standard errors: of the share of noisy ones, and of their errors. */
  assert_near(score_with(&f, options, 16), loss, 0.3);
  fixture_free(&f);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_best_score_is_kept_and_the_next_recorded),
      cmocka_unit_test(fast_tries_every_kernel_twice_by_blocks),
      cmocka_unit_test(thorough_is_no_worse_than_normal),
      cmocka_unit_test(the_fewest_neighbours_that_are_as_good_are_chosen),
      cmocka_unit_test(relevant_directions_are_learnt),
      cmocka_unit_test(rotations_can_be_requested_and_forbidden),
      cmocka_unit_test(impossible_rotations_are_refused),
      cmocka_unit_test(with_nothing_to_choose_all_rows_are_fitted),
      cmocka_unit_test(several_k_of_the_objective_are_tried),
      cmocka_unit_test(given_options_are_not_chosen_and_give_the_same_fit),
      cmocka_unit_test(the_scale_of_variances_changes_no_score),
      cmocka_unit_test(threads_change_no_choice),
      cmocka_unit_test(rows_like_the_training_rows_score_about_the_same),
      cmocka_unit_test(the_order_of_candidates_does_not_matter),
      cmocka_unit_test(options_that_few_rows_cannot_determine_are_not_tried),
      cmocka_unit_test(a_handful_of_rows_does_not_give_an_exact_fit),
      cmocka_unit_test(a_row_is_scored_under_the_factor_of_the_others),
      cmocka_unit_test(few_rows_are_used_for_both_fit_and_score),
      cmocka_unit_test(constant_targets_have_a_score),
      cmocka_unit_test(targets_predicted_without_error_are_refused),
      cmocka_unit_test(many_rows_are_sampled),
      cmocka_unit_test(fewer_neighbours_that_are_significantly_worse_are_not_chosen),
      cmocka_unit_test(more_rows_take_fewer_neighbours_by_their_price),
      cmocka_unit_test(fewer_neighbours_lose_no_more_than_a_hundredth),
      cmocka_unit_test(the_best_two_are_scored_with_hundreds_of_neighbours),
      cmocka_unit_test(the_last_fit_uses_all_rows),
      cmocka_unit_test(few_rows_are_fitted_by_their_exact_likelihood),
      cmocka_unit_test(more_effort_fits_few_rows_by_their_exact_likelihood_as_well),
      cmocka_unit_test(exact_fits_are_tried_only_where_options_allow),
      cmocka_unit_test(threads_change_no_exact_fit),
      cmocka_unit_test(known_noise_of_rows_is_included_in_their_score),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
