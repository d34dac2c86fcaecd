/* Whether several candidates are stacked, and with which weights. */
#include "estimate/choose_private.h"
#include "fixture.h"

enum { N = 900, D = 2 };

/* A choice among candidates that each see one of the two inputs, of whose functions the target is
 * the sum: the errors of either are the function of the other input. */
struct parts {
  struct fixture f;
  struct gpnn_choose_options options;
  struct gpnn_choose_report report;
  struct gpnn_choice c;
};

/* Puts other targets into a fixture. */
static void rewrite(struct fixture *f)
{
  gpnn_index_close(f->index);
  gpnn_schema_release(&f->dataset.schema);
  gpnn_scaling_release(&f->dataset.scaling);
  fixture_write(f);
}

static void parts_new(struct parts *p, size_t members)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 9, GPNN_RNG_TEST);
  *p = (struct parts){.options = {.fit = GPNN_FIT_OPTIONS_INIT,
                                  .likelihood = GPNN_LIKELIHOOD_LOCAL,
                                  .effort = GPNN_EFFORT_NORMAL,
                                  .members = members}};
  fixture_new(&p->f, N, D, 0, 1);
  for (size_t i = 0; i < N; i++)
    p->f.y[i] = sin(2 * p->f.x[D * i]) + cos(2 * p->f.x[D * i + 1]) + 0.05 * gpnn_rng_normal(&rng);
  rewrite(&p->f);
  p->options.fit.neighbours = 25;
  p->options.fit.rows = 500;
  p->c = (struct gpnn_choice){
      .head = &gpnn_choose_numbers, .n_targets = 1, .options = &p->options, .report = &p->report};
  assert_ok(gpnn_choice_use_rows(&p->c, &p->f.data, &err));
  assert_ok(gpnn_choice_draw_rows(&p->c, &err));
}

/* Scores and keeps a candidate that sees input 'input' alone. */
static void keep(struct parts *p, size_t input, double noise)
{
  struct gpnn_choose_trial trial = {.n_targets = 1, .candidate.sight = GPNN_SIGHT_VALUE};
  trial.loss = gpnn_alloc(GPNN_CHOOSE_COUNTS, p->c.n, sizeof *trial.loss);
  trial.params = gpnn_alloc(1, 1, sizeof *trial.params);
  assert_true(trial.loss != NULL && trial.params != NULL);
  *trial.params =
      (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                               .covariance.n_lengthscales = D,
                               .covariance.lengthscale = gpnn_alloc(D, 1, sizeof(double)),
                               .covariance.kernelscale = 1,
                               .covariance.noise = noise,
                               .likelihood = GPNN_LIKELIHOOD_LOCAL,
                               .neighbours = 25};
  for (size_t j = 0; j < D; j++) trial.params->covariance.lengthscale[j] = j == input ? 1 : 1e3;
  assert_ok(gpnn_numbers_score(&p->c, &trial, 1, &err));
  assert_ok(gpnn_choice_keep(&p->c, &trial, &err));
}

static void parts_free(struct parts *p)
{
  gpnn_choice_release(&p->c);
  fixture_free(&p->f);
}

static void candidates_whose_errors_differ_are_stacked(void **state)
{
  (void)state;
  struct parts p;
  struct gpnn_parameters view;
  parts_new(&p, 4);
  keep(&p, 0, 0.4);
  keep(&p, 1, 0.5);
  assert_ok(gpnn_numbers_stack(&p.c, &err));
  assert_int_equal(p.c.stack.n, 2);
  assert_ptr_equal(p.c.stack.trial[0], gpnn_choice_best(&p.c));
  assert_true(p.c.stack.trial[1] != p.c.stack.trial[0]);
  assert_near(p.c.stack.weight[0], 0.5, 0.15);
  assert_close(p.c.stack.weight[0] + p.c.stack.weight[1], 1, 1e-14);
  assert_true(p.c.stack.nll < p.c.stack.trial[0]->candidate.nll - 0.2);
  assert_true(p.c.stack.rmse < 0.8 * p.c.stack.trial[0]->candidate.rmse);
  assert_true(gpnn_choice_stack_view(&p.c, 0, &view));
  assert_int_equal(gpnn_parameters_n_members(&view), 2);
  assert_true(view.likelihood == GPNN_LIKELIHOOD_LOCAL);
  assert_true(view.members[0].likelihood == GPNN_LIKELIHOOD_GAUSSIAN);
  assert_close(gpnn_parameters_weight(&view, 1), p.c.stack.weight[1], 1e-12);
  free(view.members);
  /* Its scale is that of the stack, whose errors are smaller than its members', not that of the
   * best. */
  assert_ok(gpnn_numbers_estimate_scales(&p.c, &err));
  double of_stack = gpnn_choice_best(&p.c)->params->scale.factor;
  p.c.stack.n = 1;
  assert_ok(gpnn_numbers_estimate_scales(&p.c, &err));
  assert_true(of_stack > 0 && of_stack != gpnn_choice_best(&p.c)->params->scale.factor);
  parts_free(&p);
}

static void copies_of_the_best_are_not_stacked(void **state)
{
  (void)state;
  struct parts p;
  struct gpnn_parameters view;
  parts_new(&p, 4);
  for (int i = 0; i < 4; i++) keep(&p, 0, 0.4);
  assert_ok(gpnn_numbers_stack(&p.c, &err));
  assert_int_equal(p.c.stack.n, 1);
  assert_true(gpnn_choice_stack_view(&p.c, 0, &view));
  assert_null(view.members);
  assert_true(view.weight == 0);
  parts_free(&p);
}

/* With three to choose from, the third a copy, no more than two pay. */
static void no_more_members_are_taken_than_pay(void **state)
{
  (void)state;
  struct parts p;
  parts_new(&p, 4);
  keep(&p, 0, 0.4);
  keep(&p, 1, 0.5);
  keep(&p, 0, 0.41);
  assert_ok(gpnn_numbers_stack(&p.c, &err));
  assert_int_equal(p.c.stack.n, 2);
  assert_true(p.c.stack.trial[0]->params->covariance.lengthscale[0] !=
              p.c.stack.trial[1]->params->covariance.lengthscale[0]);
  parts_free(&p);
}

static void stacks_are_made_only_where_they_are_asked_for(void **state)
{
  (void)state;
  struct parts p;
  const struct gpnn_query like = {.n = N};
  parts_new(&p, 1);
  keep(&p, 0, 0.4);
  keep(&p, 1, 0.5);
  for (int i = 0; i < 4; i++) {
    p.options.members = i == 0 ? 1 : 4;
    p.options.effort = i == 1 ? GPNN_EFFORT_FAST : GPNN_EFFORT_NORMAL;
    p.options.likelihood = i == 2 ? GPNN_LIKELIHOOD_GAUSSIAN : GPNN_LIKELIHOOD_LOCAL;
    p.options.like = i == 3 ? &like : NULL;
    assert_ok(gpnn_numbers_stack(&p.c, &err));
    assert_int_equal(p.c.stack.n, 1);
  }
  p.options.like = NULL;
  assert_ok(gpnn_numbers_stack(&p.c, &err));
  assert_int_equal(p.c.stack.n, 2);
  parts_free(&p);
}

static void threads_change_no_weight(void **state)
{
  (void)state;
  struct parts p;
  double weight[3];
  for (int i = 0; i < 3; i++) {
    parts_new(&p, 4);
    keep(&p, 0, 0.4);
    keep(&p, 1, 0.5);
    p.options.fit.threads = 1 + 2 * i;
    assert_ok(gpnn_numbers_stack(&p.c, &err));
    weight[i] = p.c.stack.weight[0];
    parts_free(&p);
  }
  assert_true(weight[0] == weight[1] && weight[1] == weight[2]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(candidates_whose_errors_differ_are_stacked),
      cmocka_unit_test(copies_of_the_best_are_not_stacked),
      cmocka_unit_test(no_more_members_are_taken_than_pay),
      cmocka_unit_test(stacks_are_made_only_where_they_are_asked_for),
      cmocka_unit_test(threads_change_no_weight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
