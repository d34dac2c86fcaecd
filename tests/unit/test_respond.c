/* How answers depend on responses, by changing these one by one. */
#include "cotrain/respond.h"

#include "fixture.h"
#include "linalg/blas_threads.h"
#include "random.h"

enum { N = 30, D = 2, Q = 4 };

static const double centre = 0.7, scale = 3;

struct setting {
  struct fixture f;
  struct gpnn_dataset data;
  double lengthscale[D], y[N], *x;
  struct gpnn_parameters params;
  struct gpnn_model *model;
};

static void set_up(struct setting *s, size_t m)
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
}

static void tear_down(struct setting *s)
{
  gpnn_model_free(s->model);
  fixture_free(&s->f);
  free(s->x);
}

/* The means with a response 'd' (in the target's units) higher. */
static void answer(struct setting *s, size_t j, double d, double out[Q])
{
  struct gpnn_answers answers = {.n = Q, .report = GPNN_REPORT_MARGINAL};
  assert_ok(gpnn_answers_allocate(&answers, false, &err));
  s->y[j] += d / scale;
  assert_ok(gpnn_respond(s->model, s->model, s->x, &answers, &err));
  s->y[j] -= d / scale;
  memcpy(out, answers.mean, Q * sizeof *out);
  gpnn_answers_release(&answers);
}

static int compare(const void *a, const void *b)
{
  const double *p = a, *q = b;
  return (*p > *q) - (*p < *q);
}

/* The first answers' parts of all responses, sorted, as those found do not say whose they are. */
static void assert_parts(size_t m)
{
  struct setting s;
  struct gpnn_dependence dependence = {0};
  double before[Q], after[Q];
  set_up(&s, m);
  assert_ok(gpnn_respond_depend(s.model, Q, s.x, &dependence, &err));
  answer(&s, 0, 0, before);
  for (size_t i = 0; i < Q; i++) {
    double wanted[N] = {0}, found[N] = {0};
    for (size_t j = 0; j < N; j++) {
      answer(&s, j, 1, after);
      wanted[j] = after[i] - before[i];
    }
    assert_true(dependence.n <= N);
    for (size_t j = 0; j < dependence.n; j++) found[j] = dependence.parts[j * Q + i];
    qsort(wanted, N, sizeof *wanted, compare);
    qsort(found, N, sizeof *found, compare);
    for (size_t j = 0; j < N; j++) assert_near(found[j], wanted[j], 1e-10);
  }
  gpnn_dependence_release(&dependence);
  tear_down(&s);
}

static void answers_depend_on_responses_as_is_told(void **state)
{
  (void)state;
  assert_parts(N);
  assert_parts(5);
}

static void a_column_of_parts_is_of_one_response(void **state)
{
  struct setting s;
  struct gpnn_dependence dependence = {0};
  double before[Q], after[Q];
  (void)state;
  set_up(&s, N);
  assert_ok(gpnn_respond_depend(s.model, Q, s.x, &dependence, &err));
  answer(&s, 0, 0, before);
  for (size_t j = 0; j < N; j++) {
    double nearest = INFINITY;
    answer(&s, j, 2, after);
    for (size_t k = 0; k < dependence.n; k++) {
      double distance = 0;
      for (size_t i = 0; i < Q; i++)
        distance = fmax(distance, fabs(after[i] - before[i] - 2 * dependence.parts[k * Q + i]));
      nearest = fmin(nearest, distance);
    }
    assert_near(nearest, 0, 1e-10);
  }
  gpnn_dependence_release(&dependence);
  tear_down(&s);
}

static void what_cannot_be_covered_is_refused(void **state)
{
  struct setting s;
  struct gpnn_dependence dependence = {0};
  (void)state;
  set_up(&s, N);
  gpnn_model_free(s.model);
  double coefficient = 1, covariance = 0.1;
  s.params.mean.kind = GPNN_MEAN_CONSTANT;
  s.params.mean.n_coefficients = 1;
  s.params.mean.coefficients = &coefficient;
  s.params.mean.covariance = &covariance;
  const struct gpnn_channel channel = {&s.data, &s.params};
  const struct gpnn_model_options options = {.threads = 1};
  assert_ok(gpnn_model_new(&s.model, 1, &channel, &options, &err));
  assert_fails(gpnn_respond_depend(s.model, Q, s.x, &dependence, &err), GPNN_EINVAL,
               "coefficients of a mean function");
  tear_down(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_depend_on_responses_as_is_told),
      cmocka_unit_test(a_column_of_parts_is_of_one_response),
      cmocka_unit_test(what_cannot_be_covered_is_refused),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
