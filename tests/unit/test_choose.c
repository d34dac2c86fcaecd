#include "base/threads.h"
#include "fixture.h"
#include "methods/choose.h"

static struct gpnn_choose_options all_open(int threads)
{
  struct gpnn_choose_options options = {
      .fit = GPNN_FIT_OPTIONS_INIT, .kernel = true, .ard = true, .neighbours = true};
  options.fit.n_blocks = 2;
  options.fit.block_size = 100;
  options.fit.threads = threads;
  return options;
}

enum { MOST = 32 };

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

/* A target that depends on the first of three inputs alone. */
static void make_one_relevant_input(struct fixture *f)
{
  struct gpnn_rng rng;
  fixture_new(f, 300, 3, 0, 1);
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  for (size_t i = 0; i < f->n; i++) f->y[i] = sin(3 * f->x[3 * i]) + 0.05 * gpnn_rng_normal(&rng);
  gpnn_index_close(f->index);
  gpnn_schema_release(&f->contents.schema);
  gpnn_standard_release(&f->contents.standard);
  fixture_write(f);
}

static void the_best_score_is_kept_and_the_next_recorded(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  struct gpnn_choose_options options = all_open(2);
  struct gpnn_params params = {0};
  struct gpnn_choose_report report;
  struct tried tried = {0};
  assert_ok(gpnn_choose(f.index, gpnn_index_contents(f.index), &options, note, &tried, &params,
                        &report, &err));
  assert_int_equal(tried.n, 8 + 6); /* four kernels with and without ARD, then neighbours */
  size_t best = 0;
  for (size_t i = 1; i < 8; i++)
    if (tried.list[i].nll < tried.list[best].nll) best = i;
  assert_ptr_equal(params.kernel, tried.list[best].kernel);
  assert_true(report.chosen.ard && tried.list[best].ard); /* one input of three matters */
  assert_int_equal(params.n_lengthscales, 3);
  assert_true(params.lengthscale[0] < params.lengthscale[1] &&
              params.lengthscale[0] < params.lengthscale[2]);
  size_t better = 0;
  for (size_t i = 0; i < 8; i++) better += tried.list[i].nll < report.runner_up.nll;
  assert_int_equal(better, 1);
  gpnn_params_release(&params);
  fixture_free(&f);
}

static void neighbours_are_the_fewest_that_are_as_good(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  struct gpnn_choose_options options = all_open(1);
  struct gpnn_params params = {0};
  struct gpnn_choose_report report;
  struct tried tried = {0};
  options.kernel = options.ard = false;
  options.fit.kernel = gpnn_kernel_by_name("matern32");
  assert_ok(gpnn_choose(f.index, gpnn_index_contents(f.index), &options, note, &tried, &params,
                        &report, &err));
  assert_int_equal(tried.n, 1 + 6);
  double best = INFINITY, chosen = NAN, error = NAN;
  size_t most = 0; /* neighbours with the best score */
  for (size_t i = 1; i < tried.n; i++) {
    if (tried.list[i].nll < best) most = tried.list[i].neighbours;
    best = fmin(best, tried.list[i].nll);
    if (tried.list[i].neighbours != params.neighbours) continue;
    chosen = tried.list[i].nll;
    error = tried.list[i].standard_error;
  }
  /* The standard error of the difference of two scores on the same rows is less than that of
   * each, by far when they are as alike as here. */
  assert_true(chosen >= best && chosen <= best + error);
  assert_true(params.neighbours < most);
  assert_int_equal(params.neighbours, report.fewest.neighbours);
  gpnn_params_release(&params);
  fixture_free(&f);
}

static void what_is_given_is_not_chosen_and_the_fit_is_the_same(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  struct gpnn_choose_options options = all_open(1);
  struct gpnn_params chosen = {0}, fitted = {0};
  struct gpnn_choose_report report;
  struct gpnn_fit_report fit;
  options.kernel = options.neighbours = false;
  options.fit.kernel = gpnn_kernel_by_name("rbf");
  options.fit.neighbours = 17;
  assert_ok(gpnn_choose(f.index, gpnn_index_contents(f.index), &options, NULL, NULL, &chosen,
                        &report, &err));
  assert_int_equal(chosen.neighbours, 17);
  options.fit.ard = report.chosen.ard;
  assert_ok(gpnn_fit(gpnn_index_contents(f.index), &options.fit, &fitted, &fit, &err));
  assert_int_equal(chosen.n_lengthscales, fitted.n_lengthscales);
  assert_memory_equal(chosen.lengthscale, fitted.lengthscale,
                      fitted.n_lengthscales * sizeof(double));
  assert_true(chosen.noise == fitted.noise && chosen.kernelscale == fitted.kernelscale);
  gpnn_params_release(&chosen);
  gpnn_params_release(&fitted);
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
    struct gpnn_choose_options options = all_open(1);
    struct gpnn_params params = {0};
    struct gpnn_choose_report report;
    options.kernel = options.ard = options.neighbours = false;
    options.fit.kernel = gpnn_kernel_by_name("matern32");
    options.fit.ard = false;
    options.fit.neighbours = 20;
    options.fit.fixed_lengthscale = 1;
    options.fit.fixed_kernelscale = scale;
    options.fit.fixed_noise = 0.05 * scale;
    assert_ok(gpnn_choose(f.index, gpnn_index_contents(f.index), &options, NULL, NULL, &params,
                          &report, &err));
    nll[k] = report.chosen.nll;
    gpnn_params_release(&params);
  }
  assert_near(nll[1], nll[0], 1e-10);
  fixture_free(&f);
}

static void threads_change_no_choice(void **state)
{
  (void)state;
  struct fixture f;
  make_one_relevant_input(&f);
  struct gpnn_params params[2] = {{0}, {0}};
  struct gpnn_choose_report report[2];
  for (int t = 0; t < 2; t++) {
    struct gpnn_choose_options options = all_open(t == 0 ? 1 : 3);
    options.ard = false;
    assert_ok(gpnn_choose(f.index, gpnn_index_contents(f.index), &options, NULL, NULL, &params[t],
                          &report[t], &err));
  }
  assert_ptr_equal(params[0].kernel, params[1].kernel);
  assert_int_equal(params[0].neighbours, params[1].neighbours);
  assert_true(report[0].chosen.nll == report[1].chosen.nll);
  gpnn_params_release(&params[0]);
  gpnn_params_release(&params[1]);
  fixture_free(&f);
}

static void few_rows_serve_for_fit_and_score_alike(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 12, 2, 0, 1);
  struct gpnn_choose_options options = all_open(1);
  struct gpnn_params params = {0};
  struct gpnn_choose_report report;
  struct tried tried = {0};
  assert_ok(gpnn_choose(f.index, gpnn_index_contents(f.index), &options, note, &tried, &params,
                        &report, &err));
  assert_int_equal(report.n_rows, 12);
  assert_int_equal(tried.n, 8 + 1); /* 16 neighbours are all rows already */
  assert_true(isfinite(report.chosen.nll));
  gpnn_params_release(&params);
  fixture_free(&f);
}

int main(void)
{
  gpnn_threads_single_blas();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_best_score_is_kept_and_the_next_recorded),
      cmocka_unit_test(neighbours_are_the_fewest_that_are_as_good),
      cmocka_unit_test(what_is_given_is_not_chosen_and_the_fit_is_the_same),
      cmocka_unit_test(the_scale_of_variances_changes_no_score),
      cmocka_unit_test(threads_change_no_choice),
      cmocka_unit_test(few_rows_serve_for_fit_and_score_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
