/* Noise that hides responses, by changing these one by one. */
#include "cotrain/conceal.h"

#include <math.h>

#include "base/secret.h"
#include "cotrain/respond.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "linalg/cholesky.h"
#include "random.h"

enum { N = 30, D = 2, Q = 4 };

static const double centre = 0.7, scale = 3, low = -2, high = 5;

struct setting {
  struct fixture f;
  struct gpnn_dataset data;
  double lengthscale[D], y[N], *x;
  struct gpnn_parameters params;
  struct gpnn_model *model;
  struct gpnn_answers answers;
};

static void set_up(struct setting *s, size_t m, enum gpnn_report report)
{
  *s = (struct setting){.lengthscale = {0.8, 1.3}};
  fixture_new(&s->f, N, D, 4, 1);
  s->x = normal_rows(Q, D, 9);
  s->data = *s->f.data;
  memcpy(s->y, s->data.y, sizeof s->y);
  s->data.y = s->y;
  s->data.scaling.y_mean = centre;
  s->data.scaling.y_sd = scale;
  s->params = (struct gpnn_parameters){.covariance = {.kernel = gpnn_kernel_by_name("matern32"),
                                                      .n_lengthscales = D,
                                                      .lengthscale = s->lengthscale,
                                                      .kernelscale = 0.7,
                                                      .noise = 0.1},
                                       .neighbours = m};
  const struct gpnn_channel channel = {&s->data, &s->params};
  const struct gpnn_model_options options = {.threads = 1};
  assert_ok(gpnn_model_new(&s->model, 1, &channel, &options, &err));
  s->answers = (struct gpnn_answers){.n = Q, .report = report, .centre = centre, .scale = scale};
  assert_ok(gpnn_answers_allocate(&s->answers, true, &err));
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
  assert_ok(gpnn_respond(clipped.model, s->x, &s->answers, &err));
  const bool is_message = s->answers.report == GPNN_REPORT_MESSAGE;
  memcpy(out, is_message ? s->answers.shift : s->answers.mean, Q * sizeof *out);
  gpnn_clipped_free(&clipped);
  s->y[j] = kept;
}

/* The sensitivity is what the worst response can change, whatever is written there. */
static void assert_sensitivity(size_t m, enum gpnn_report report, enum gpnn_mechanism mechanism)
{
  struct setting s;
  struct gpnn_concealment c = {0};
  const struct gpnn_concealment_options options = {mechanism, high - low, 0.3, 0};
  double worst = 0, at_low[Q], at_high[Q];
  set_up(&s, m, report);
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
    assert_sensitivity(N, GPNN_REPORT_MARGINAL, m);
    assert_sensitivity(5, GPNN_REPORT_MARGINAL, m);
    if (m != GPNN_MECHANISM_PATH) assert_sensitivity(N, GPNN_REPORT_MESSAGE, m);
  }
}

static void responses_at_the_clip_are_counted(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_clipped clipped = {0};
  size_t outside = 0;
  set_up(&s, N, GPNN_REPORT_NONE);
  for (size_t i = 0; i < N; i++) {
    const double y = centre + scale * s.y[i];
    outside += y <= low || y >= high;
  }
  assert_ok(gpnn_clipped_new(s.model, low, high, &clipped, &err));
  assert_int_equal(clipped.n, N);
  assert_int_equal(clipped.reached, outside);
  gpnn_clipped_free(&clipped);
  assert_ok(gpnn_clipped_new(s.model, -1e9, 1e9, &clipped, &err));
  assert_int_equal(clipped.reached, 0);
  gpnn_clipped_free(&clipped);
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

static void what_cannot_be_hidden_is_refused(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_concealment c = {0};
  const struct gpnn_concealment_options options = {GPNN_MECHANISM_PATH, 1, 1, 0};
  set_up(&s, N, GPNN_REPORT_MESSAGE);
  assert_fails(gpnn_concealment_find(s.model, s.x, &s.answers, &options, &c, &err), GPNN_EINVAL,
               "a message is no function");
  tear_down(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sensitivity_is_what_one_response_can_change),
      cmocka_unit_test(responses_at_the_clip_are_counted),
      cmocka_unit_test(noise_is_as_large_as_is_told),
      cmocka_unit_test(what_cannot_be_hidden_is_refused),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
