#include "cotrain/absorb.h"

#include <math.h>

#include "fixture.h"
#include "linalg/blas_threads.h"
#include "random.h"

enum { N = 25, D = 2, Q = 4 };

static const double centre = 0.5, scale = 2;

/* Answers in units of the target, as views of their arrays. */
struct told {
  double mean[Q], variance[Q], prior_variance[Q], noise_variance[Q];
  double covariance[Q * Q], prior[Q * Q];
  struct gpnn_answers answers;
};

static void tell(struct told *t, enum gpnn_report report)
{
  *t = (struct told){.mean = {1, -2, 0.5, 4},
                     .variance = {1, 2, 4.7999, 0.5},
                     .prior_variance = {4.8, 4.8, 4.8, 4.8},
                     .noise_variance = {0, 0.1, 0.2, 0.3}};
  for (size_t i = 0; i < Q; i++) {
    t->covariance[i * (Q + 1)] = t->variance[i];
    t->prior[i * (Q + 1)] = 4;
  }
  t->answers = (struct gpnn_answers){.centre = centre,
                                     .scale = scale,
                                     .report = report,
                                     .n = Q,
                                     .mean = t->mean,
                                     .noise_variance = t->noise_variance};
  if (report == GPNN_REPORT_NONE) return;
  t->answers.variance = t->variance;
  t->answers.prior_variance = t->prior_variance;
  if (report == GPNN_REPORT_MARGINAL) return;
  t->answers.covariance = t->covariance;
  t->answers.prior = t->prior;
}

/* A prior and a deflated row, together, are the answer. */
static void deflated_rows_lead_from_the_prior_to_the_answer(void **state)
{
  struct told t;
  struct gpnn_absorbed rows[Q];
  (void)state;
  tell(&t, GPNN_REPORT_MARGINAL);
  assert_ok(gpnn_absorb_rows(&t.answers, GPNN_ABSORB_DEFLATED, true, rows, &err));
  for (size_t i = 0; i < Q; i++) {
    assert_int_equal(rows[i].is_dropped, i == 2);
    if (i == 2) continue;
    const double precision = 1 / rows[i].noise + 1 / t.prior_variance[i];
    assert_near(1 / precision, t.variance[i], 1e-12);
    assert_near((rows[i].target / rows[i].noise + centre / t.prior_variance[i]) / precision,
                t.mean[i], 1e-12);
  }
}

static void the_noise_of_privacy_adds_to_that_of_rows(void **state)
{
  struct told t;
  struct gpnn_absorbed rows[Q], quiet[Q];
  (void)state;
  tell(&t, GPNN_REPORT_MARGINAL);
  for (enum gpnn_absorb_rule rule = GPNN_ABSORB_DEFLATED; rule <= GPNN_ABSORB_NONE; rule++) {
    assert_ok(gpnn_absorb_rows(&t.answers, rule, false, rows, &err));
    assert_ok(gpnn_absorb_rows(&t.answers, rule, true, quiet, &err));
    for (size_t i = 0; i < Q; i++) {
      const double factor = rule == GPNN_ABSORB_DEFLATED ? 4.8 / (4.8 - t.variance[i]) : 1;
      if (rows[i].is_dropped) continue;
      assert_near(rows[i].noise - quiet[i].noise, factor * factor * t.noise_variance[i], 1e-12);
      assert_near(rows[i].target, quiet[i].target, 1e-15);
    }
  }
  assert_ok(gpnn_absorb_rows(&t.answers, GPNN_ABSORB_MARGINAL, false, rows, &err));
  assert_near(rows[1].noise, 2.1, 1e-15);
  assert_near(rows[1].target, -2, 1e-15);
}

static void reports_that_lack_what_a_rule_needs_are_refused(void **state)
{
  struct told t;
  struct gpnn_absorbed rows[Q];
  (void)state;
  tell(&t, GPNN_REPORT_NONE);
  assert_ok(gpnn_absorb_rows(&t.answers, GPNN_ABSORB_NONE, false, rows, &err));
  assert_fails(gpnn_absorb_rows(&t.answers, GPNN_ABSORB_MARGINAL, false, rows, &err),
               GPNN_EMISMATCH, "gpnn-answer --report marginal");
}

/* ---- models --------------------------------------------------------------------------------- */

struct setting {
  struct fixture f;
  struct gpnn_dataset view;
  double lengthscale[D], *x;
  struct gpnn_parameters params;
};

static void set_up(struct setting *s)
{
  *s = (struct setting){.lengthscale = {0.8, 1.3}};
  fixture_new(&s->f, N, D, 4, 1);
  s->view = *s->f.data;
  s->view.scaling.y_mean = centre;
  s->view.scaling.y_sd = scale;
  s->x = normal_rows(Q, D, 9);
  s->params = (struct gpnn_parameters){.covariance = {.kernel = gpnn_kernel_by_name("rbf"),
                                                      .n_lengthscales = D,
                                                      .lengthscale = s->lengthscale,
                                                      .kernelscale = 0.7,
                                                      .noise = 0.1}};
}

static void tear_down(struct setting *s)
{
  fixture_free(&s->f);
  free(s->x);
}

/* The same as answers in standardised units, handed to the rule itself. */
static void models_are_those_of_answers_in_standard_units(void **state)
{
  struct setting s;
  struct told t;
  struct gpnn_fusion wanted = {0}, found = {0};
  struct gpnn_absorb_outcome outcome;
  double mean[Q], covariance[Q * Q], privacy[Q * Q] = {0};
  (void)state;
  set_up(&s);
  tell(&t, GPNN_REPORT_MARGINAL);
  memset(covariance, 0, sizeof covariance);
  for (size_t i = 0; i < Q; i++) {
    mean[i] = (t.mean[i] - centre) / scale;
    covariance[i * (Q + 1)] = t.variance[i] / scale / scale;
    privacy[i * (Q + 1)] = t.noise_variance[i] / scale / scale;
  }
  const struct gpnn_fusion_answers standard = {
      .n = Q, .x = s.x, .mean = mean, .covariance = covariance, .privacy = privacy};
  const struct gpnn_absorb_options options = {.rule = GPNN_ABSORB_FULL,
                                              .uncertainty = GPNN_FUSION_MARGINAL};
  assert_ok(gpnn_fusion_new(&wanted, &s.view, &s.params, &standard, GPNN_ABSORB_FULL,
                            GPNN_FUSION_MARGINAL, &err));
  assert_ok(
      gpnn_absorb_model(&s.view, &s.params, &t.answers, s.x, &options, &found, &outcome, &err));
  assert_int_equal(found.m, wanted.m);
  for (size_t i = 0; i < found.m; i++) assert_near(found.weights[i], wanted.weights[i], 1e-10);
  gpnn_fusion_release(&wanted);
  gpnn_fusion_release(&found);
  tear_down(&s);
}

static void the_gate_keeps_bad_answers_out(void **state)
{
  struct setting s;
  struct told t;
  struct gpnn_fusion fusion = {0};
  struct gpnn_absorb_outcome outcome;
  const struct gpnn_absorb_options options = {
      .rule = GPNN_ABSORB_FULL, .uncertainty = GPNN_FUSION_NONE, .gate = true};
  (void)state;
  set_up(&s);
  tell(&t, GPNN_REPORT_FULL);
  memcpy(s.x, s.view.x, Q * D * sizeof *s.x);
  for (size_t i = 0; i < Q; i++) t.mean[i] = 100;
  memset(t.noise_variance, 0, sizeof t.noise_variance);
  assert_ok(
      gpnn_absorb_model(&s.view, &s.params, &t.answers, s.x, &options, &fusion, &outcome, &err));
  assert_false(outcome.is_kept);
  assert_true(outcome.with > outcome.alone);
  assert_int_equal(fusion.m, N);
  gpnn_fusion_release(&fusion);
  tear_down(&s);
}

static void other_units_are_refused(void **state)
{
  struct setting s;
  struct told t;
  (void)state;
  set_up(&s);
  tell(&t, GPNN_REPORT_FULL);
  assert_ok(gpnn_absorb_check_units(&t.answers, &s.view, &err));
  t.answers.scale = 2.001;
  assert_fails(gpnn_absorb_check_units(&t.answers, &s.view, &err), GPNN_EMISMATCH,
               "--target-scale");
  tear_down(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(deflated_rows_lead_from_the_prior_to_the_answer),
      cmocka_unit_test(the_noise_of_privacy_adds_to_that_of_rows),
      cmocka_unit_test(reports_that_lack_what_a_rule_needs_are_refused),
      cmocka_unit_test(models_are_those_of_answers_in_standard_units),
      cmocka_unit_test(the_gate_keeps_bad_answers_out),
      cmocka_unit_test(other_units_are_refused),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
