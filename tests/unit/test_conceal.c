/* Noise that hides responses, by changing these one by one. */
#include "cotrain/conceal.h"

#include <math.h>

#include "base/secret.h"
#include "cotrain/respond.h"
#include "fixture.h"
#include "likelihood/scale.h"
#include "linalg/blas_threads.h"
#include "linalg/factors/cholesky.h"
#include "random.h"

enum { N = 30, D = 2, Q = 4 };

static const double centre = 0.7, scale = 3, low = -2, high = 5;

struct setting {
  struct fixture f;
  struct gpnn_dataset data;
  double lengthscale[D], y[N], *x;
  struct gpnn_parameters params, member;
  struct gpnn_model *model;
  struct gpnn_answers answers;
};

/* Distributions of an observation, the last that of a stack. */
enum law { GAUSSIAN, STUDENT, LOCAL, CONJUGATE, STACK, LAWS };

static void set_law(struct setting *s, enum law law)
{
  s->params.likelihood = law == STUDENT                 ? GPNN_LIKELIHOOD_STUDENT
                         : law == LOCAL || law == STACK ? GPNN_LIKELIHOOD_LOCAL
                                                        : GPNN_LIKELIHOOD_GAUSSIAN;
  if (law != GAUSSIAN) s->params.degrees = 5;
  if (law != GAUSSIAN && law != CONJUGATE) s->params.scale.factor = 1.3;
  for (size_t j = 0; j < GPNN_SCALE_FEATURES && (law == LOCAL || law == STACK); j++)
    s->params.scale.term[j] = (struct gpnn_scale_term){0.3 + 0.1 * (double)j, -2, 1.5};
  if (law != STACK) return;
  s->member = s->params;
  s->member.covariance.kernelscale = 1.4;
  s->member.covariance.kernel = gpnn_kernel_by_name("exp");
  s->member.weight = 0.4;
  s->params.weight = 0.6;
  s->params.n_members = 1;
  s->params.members = &s->member;
}

static void set_up_law(struct setting *s, size_t m, enum gpnn_report report, enum law law)
{
  *s = (struct setting){.lengthscale = {0.8, 1.3}};
  fixture_new(&s->f, N, D, 4, 1);
  s->x = normal_rows(Q, D, 9);
  s->data = *s->f.data;
  memcpy(s->y, s->data.y, sizeof s->y);
  s->data.y = s->y;
  s->data.scaling.y_mean = centre;
  s->data.scaling.y_sd = scale;
  s->data.scaling.y_given = true;
  s->params = (struct gpnn_parameters){.covariance = {.kernel = gpnn_kernel_by_name("matern32"),
                                                      .n_lengthscales = D,
                                                      .lengthscale = s->lengthscale,
                                                      .kernelscale = 0.7,
                                                      .noise = 0.1},
                                       .neighbours = m};
  set_law(s, law);
  const struct gpnn_channel channel = {&s->data, &s->params};
  const struct gpnn_model_options options = {.threads = 1};
  assert_ok(gpnn_model_new(&s->model, 1, &channel, &options, &err));
  s->answers = (struct gpnn_answers){.n = Q, .report = report, .centre = centre, .scale = scale};
  assert_ok(gpnn_answers_allocate(&s->answers, true, &err));
}

static void set_up(struct setting *s, size_t m, enum gpnn_report report)
{
  set_up_law(s, m, report, GAUSSIAN);
}

static void tear_down(struct setting *s)
{
  gpnn_answers_release(&s->answers);
  gpnn_model_free(s->model);
  fixture_free(&s->f);
  free(s->x);
}

/* The answers from clipped responses, of which that of row j is 'y'. */
static void answer(struct setting *s, size_t j, double y, double out[Q])
{
  struct gpnn_clipped clipped = {0};
  const double kept = s->y[j];
  s->y[j] = (y - centre) / scale;
  assert_ok(gpnn_clipped_new(s->model, low, high, &clipped, &err));
  assert_ok(gpnn_respond(clipped.model, clipped.blank, s->x, &s->answers, &err));
  memcpy(out, s->answers.mean, Q * sizeof *out);
  gpnn_clipped_free(&clipped);
  s->y[j] = kept;
}

/* The sensitivity is what the worst response can change, whatever is written there. */
static void assert_sensitivity(size_t m, enum gpnn_mechanism mechanism)
{
  struct setting s;
  struct gpnn_concealment c = {0};
  const struct gpnn_concealment_options options = {mechanism, high - low, 0.3, 0};
  double worst = 0, at_low[Q], at_high[Q];
  set_up(&s, m, GPNN_REPORT_MARGINAL);
  assert_ok(gpnn_concealment_find(s.model, s.x, &s.answers, &options, &c, &err));
  for (size_t j = 0; j < N; j++) {
    double square = 0;
    answer(&s, j, -1e6, at_low);
    answer(&s, j, 1e6, at_high);
    for (size_t i = 0; i < Q; i++) at_high[i] -= at_low[i];
    gpnn_cholesky_forward(Q, c.release.factor, 1, at_high);
    for (size_t i = 0; i < Q; i++) square += at_high[i] * at_high[i];
    worst = fmax(worst, sqrt(square));
  }
  assert_near(c.release.sensitivity / worst, 1, 1e-9);
  assert_near(c.tau, worst / 0.3, 1e-8 * c.tau);
  assert_near(c.mu, 0.3, 1e-12);
  gpnn_concealment_free(&c);
  tear_down(&s);
}

static void the_sensitivity_is_what_one_response_can_change(void **state)
{
  (void)state;
  for (enum gpnn_mechanism m = GPNN_MECHANISM_SHAPED; m < GPNN_MECHANISMS; m++) {
    assert_sensitivity(N, m);
    assert_sensitivity(5, m);
  }
}

/* ---- what leaves -------------------------------------------------------------------------- */

/* All that a release tells, by the same noise each time, where the response of row j is 'y'; j = N:
 * all are as they were. */
static void release(struct setting *s, const struct gpnn_concealment_options *options, size_t j,
                    double y)
{
  struct gpnn_clipped clipped = {0};
  struct gpnn_concealment c = {0};
  struct gpnn_secret secret;
  const double kept = s->y[j % N];
  if (j < N) s->y[j] = (y - centre) / scale;
  gpnn_secret_insecure(&secret, 5);
  assert_ok(gpnn_concealment_find(s->model, s->x, &s->answers, options, &c, &err));
  assert_ok(gpnn_clipped_new(s->model, low, high, &clipped, &err));
  assert_ok(gpnn_respond(clipped.model, clipped.blank, s->x, &s->answers, &err));
  assert_ok(gpnn_concealment_apply(&c, &secret, &s->answers, &err));
  gpnn_clipped_free(&clipped);
  gpnn_concealment_free(&c);
  s->y[j % N] = kept;
}

/* Everything but the noised numbers, one array after another; returns how many numbers. */
static size_t all_but_noised(const struct gpnn_answers *a, double *to)
{
  const struct {
    const double *values;
    size_t n;
  } arrays[] = {{a->variance, Q},       {a->prior_variance, Q}, {a->noise_variance, Q},
                {a->covariance, Q * Q}, {a->prior, Q * Q},      {a->privacy, Q * Q}};
  size_t n = 0;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    if (arrays[i].values == NULL) continue;
    memcpy(to + n, arrays[i].values, arrays[i].n * sizeof *to);
    n += arrays[i].n;
  }
  return n;
}

/* The change of the noised numbers in units of the noise's standard deviation. */
static double change(const struct gpnn_concealment *c, const double *from, const double *to)
{
  double moved[Q], square = 0;
  for (size_t i = 0; i < Q; i++) moved[i] = to[i] - from[i];
  gpnn_cholesky_forward(Q, c->release.factor, 1, moved);
  for (size_t i = 0; i < Q; i++) square += moved[i] * moved[i];
  return sqrt(square) / c->tau;
}

static void assert_hidden(enum law law, size_t m, enum gpnn_report report,
                          enum gpnn_mechanism mechanism)
{
  enum { MOST = 3 * Q + 4 * Q * Q };
  const struct gpnn_concealment_options options = {mechanism, high - low, 0.3, 0};
  const double responses[] = {-1e6, low, 1, 1e6};
  double before[MOST], after[MOST], noised[Q];
  struct setting s;
  struct gpnn_concealment c = {0};
  set_up_law(&s, m, report, law);
  const double *told = s.answers.mean;
  assert_ok(gpnn_concealment_find(s.model, s.x, &s.answers, &options, &c, &err));
  release(&s, &options, N, 0);
  const size_t n = all_but_noised(&s.answers, before);
  memcpy(noised, told, sizeof noised);
  for (size_t j = 0; j < N; j++)
    for (size_t k = 0; k < sizeof responses / sizeof *responses; k++) {
      release(&s, &options, j, responses[k]);
      assert_int_equal(all_but_noised(&s.answers, after), n);
      assert_memory_equal(before, after, n * sizeof *before);
      assert_true(change(&c, noised, told) <= c.mu * (1 + 1e-4)); /* they are rounded */
    }
  gpnn_concealment_free(&c);
  tear_down(&s);
}

static void nothing_but_noised_numbers_follows_a_response(void **state)
{
  (void)state;
  for (enum law law = GAUSSIAN; law < LAWS; law++)
    for (enum gpnn_report r = GPNN_REPORT_NONE; r < GPNN_REPORTS; r++)
      for (enum gpnn_mechanism m = GPNN_MECHANISM_SHAPED; m < GPNN_MECHANISMS; m++) {
        assert_hidden(law, 5, r, m);
        if (law == LOCAL) assert_hidden(law, N, r, m);
      }
}

/* Of the same model without privacy they are others, as local scales follow responses. */
static void what_is_hidden_of_a_local_scale_is_its_middle(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_clipped clipped = {0};
  double usual[Q];
  set_up_law(&s, 5, GPNN_REPORT_MARGINAL, LOCAL);
  assert_ok(gpnn_respond(s.model, s.model, s.x, &s.answers, &err));
  memcpy(usual, s.answers.variance, sizeof usual);
  assert_ok(gpnn_clipped_new(s.model, low, high, &clipped, &err));
  assert_ok(gpnn_respond(clipped.model, clipped.blank, s.x, &s.answers, &err));
  /* The features are in their order: misfit, nearest, share, mean, mean^2. */
  const struct gpnn_latent_row middle = {.mean = 0};
  const double exponent = (0.3 + 0.6 + 0.7) * -0.25;
  struct gpnn_scale held = s.params.scale;
  gpnn_scale_hold_responses(&held);
  assert_near(held.factor, 1.3 * exp(exponent), 1e-12);
  assert_near(gpnn_scale_factor(&held, &middle, 0.1), held.factor * exp(0.4 * -2 + 0.5 * -2),
              1e-12);
  for (size_t i = 0; i < Q; i++) assert_true(usual[i] != s.answers.variance[i]);
  gpnn_clipped_free(&clipped);
  tear_down(&s);
}

static void what_responses_decide_is_refused(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_clipped clipped = {0};
  set_up(&s, N, GPNN_REPORT_NONE);
  s.data.scaling.y_given = false;
  assert_fails(gpnn_clipped_new(s.model, low, high, &clipped, &err), GPNN_EMISMATCH,
               "gpnn-index --target-scale");
  s.data.scaling.y_given = true;
  s.data.observed = s.y;
  assert_fails(gpnn_clipped_new(s.model, low, high, &clipped, &err), GPNN_EMISMATCH,
               "without --row-weights");
  tear_down(&s);
}

static void noise_is_as_large_as_is_told(void **state)
{
  (void)state;
  enum { DRAWS = 4000 };
  struct setting s;
  struct gpnn_concealment c = {0};
  struct gpnn_secret secret;
  const struct gpnn_concealment_options options = {GPNN_MECHANISM_SHAPED, high - low, 0, 0.4};
  double sum[Q * Q] = {0};
  set_up(&s, N, GPNN_REPORT_FULL);
  assert_ok(gpnn_concealment_find(s.model, s.x, &s.answers, &options, &c, &err));
  assert_near(c.tau, 0.4 * scale, 1e-12);
  gpnn_secret_insecure(&secret, 3);
  for (size_t t = 0; t < DRAWS; t++) {
    double *mean = s.answers.mean;
    memset(mean, 0, Q * sizeof *mean);
    assert_ok(gpnn_concealment_apply(&c, &secret, &s.answers, &err));
    for (size_t i = 0; i < Q; i++) {
      const double steps = ldexp(mean[i], 19); /* of 2^-19: 2^1 is the scale of 3, rounded down */
      assert_true(steps == round(steps));
    }
    for (size_t i = 0; i < Q * Q; i++) sum[i] += mean[i / Q] * mean[i % Q] / DRAWS;
  }
  for (size_t i = 0; i < Q * Q; i++) {
    const double *v = s.answers.noise_variance, bound = sqrt(2 * v[i / Q] * v[i % Q] / DRAWS);
    assert_near(sum[i], s.answers.privacy[i], 4.5 * bound);
    if (i % (Q + 1) == 0) assert_true(s.answers.privacy[i] == v[i / Q]);
  }
  gpnn_concealment_free(&c);
  tear_down(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sensitivity_is_what_one_response_can_change),
      cmocka_unit_test(nothing_but_noised_numbers_follows_a_response),
      cmocka_unit_test(what_is_hidden_of_a_local_scale_is_its_middle),
      cmocka_unit_test(what_responses_decide_is_refused),
      cmocka_unit_test(noise_is_as_large_as_is_told),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
