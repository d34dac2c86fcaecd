#include "cotrain/ask.h"

#include "dense.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models/predict.h"
#include "random.h"

enum { N = 40, D = 2, POOL = 30, COUNT = 7 };

struct setting {
  struct fixture f;
  double lengthscale[D], *pool;
  struct gpnn_parameters params;
  struct gpnn_model *model;
};

static void set_up(struct setting *s, size_t m, int threads)
{
  *s = (struct setting){.lengthscale = {0.8, 1.3}};
  fixture_new(&s->f, N, D, 4, 1);
  s->pool = normal_rows(POOL, D, 9);
  memcpy(s->pool + 20 * D, s->pool + 10 * D, D * sizeof *s->pool); /* two rows alike */
  s->params = (struct gpnn_parameters){.covariance = {.kernel = gpnn_kernel_by_name("matern32"),
                                                      .n_lengthscales = D,
                                                      .lengthscale = s->lengthscale,
                                                      .kernelscale = 0.7,
                                                      .noise = 0.1},
                                       .neighbours = m};
  const struct gpnn_channel channel = {s->f.data, &s->params};
  const struct gpnn_model_options options = {.threads = threads};
  assert_ok(gpnn_model_new(&s->model, 1, &channel, &options, &err));
}

static void tear_down(struct setting *s)
{
  gpnn_model_free(s->model);
  fixture_free(&s->f);
  free(s->pool);
}

static void choose(const struct setting *s, enum gpnn_ask_strategy strategy, size_t count,
                   uint64_t seed, size_t chosen[POOL])
{
  size_t n_chosen;
  assert_ok(
      gpnn_ask_choose(s->model, strategy, POOL, s->pool, count, seed, chosen, &n_chosen, &err));
  assert_int_equal(n_chosen, count < POOL ? count : POOL);
}

/* The variance at a row of the pool, given the training rows and those chosen. */
static double variance_given(const struct setting *s, size_t row, size_t n_chosen,
                             const size_t *chosen)
{
  static long double a[(N + POOL) * (N + POOL)], b[N + POOL], unused[N + POOL];
  const double *x[N + POOL], *at = s->pool + row * D;
  long double explained = 0;
  size_t n = N + n_chosen;
  for (size_t i = 0; i < n; i++) x[i] = i < N ? s->f.data->x + i * D : s->pool + chosen[i - N] * D;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++)
      a[i * n + j] =
          0.7L * dense_kernel("matern32", D, x[i], x[j], D, s->lengthscale) + (i == j ? 0.1L : 0);
    b[i] = 0.7L * dense_kernel("matern32", D, x[i], at, D, s->lengthscale);
    unused[i] = 0;
  }
  long double wanted[N + POOL];
  memcpy(wanted, b, n * sizeof *b);
  dense_solve(n, a, b, unused);
  for (size_t i = 0; i < n; i++) explained += wanted[i] * b[i];
  return (double)(0.7L - explained);
}

static bool is_among(size_t row, size_t n, const size_t *chosen)
{
  for (size_t t = 0; t < n; t++)
    if (chosen[t] == row) return true;
  return false;
}

/* Each row chosen has the largest variance of those left, given 'given' of the ones before it. */
static void assert_largest(const struct setting *s, size_t n_chosen, const size_t *chosen,
                           bool is_greedy)
{
  for (size_t t = 0; t < n_chosen; t++)
    for (size_t i = 0; i < POOL; i++)
      if (!is_among(i, t, chosen))
        assert_true(variance_given(s, chosen[t], is_greedy ? t : 0, chosen) >=
                    variance_given(s, i, is_greedy ? t : 0, chosen) - 1e-12);
}

static void rows_are_chosen_by_their_variance(void **state)
{
  struct setting s;
  size_t chosen[POOL], all[POOL];
  (void)state;
  set_up(&s, N, 2);
  choose(&s, GPNN_ASK_VARIANCE, COUNT, 1, chosen);
  assert_largest(&s, COUNT, chosen, false);
  choose(&s, GPNN_ASK_VARIANCE, 2 * POOL, 1, all);
  for (size_t i = 0; i < POOL; i++) assert_true(is_among(i, POOL, all));
  for (size_t t = 0; t + 1 < POOL; t++)
    if (all[t] == 20) assert_true(is_among(10, t, all)); /* of rows alike, the earlier first */
  tear_down(&s);
}

static void greedy_choices_know_of_those_before(void **state)
{
  struct setting s;
  size_t chosen[POOL], by_variance[POOL];
  (void)state;
  set_up(&s, N, 1);
  choose(&s, GPNN_ASK_GREEDY, COUNT, 1, chosen);
  assert_largest(&s, COUNT, chosen, true);
  choose(&s, GPNN_ASK_VARIANCE, COUNT, 1, by_variance);
  assert_int_equal(chosen[0], by_variance[0]);
  assert_true(memcmp(chosen, by_variance, COUNT * sizeof *chosen) != 0);
  tear_down(&s);
}

/* Rows that are asked about are observed with noise, so that two alike may both be worth it. */
static void all_greedy_choices_know_of_noise(void **state)
{
  struct setting s;
  size_t chosen[POOL];
  (void)state;
  set_up(&s, N, 1);
  choose(&s, GPNN_ASK_GREEDY, POOL, 1, chosen);
  assert_largest(&s, POOL, chosen, true);
  tear_down(&s);
}

static void random_choices_follow_the_seed(void **state)
{
  struct setting s;
  size_t a[POOL], b[POOL], c[POOL];
  (void)state;
  set_up(&s, 5, 1);
  choose(&s, GPNN_ASK_RANDOM, COUNT, 1, a);
  choose(&s, GPNN_ASK_RANDOM, COUNT, 1, b);
  choose(&s, GPNN_ASK_RANDOM, COUNT, 2, c);
  assert_memory_equal(a, b, COUNT * sizeof *a);
  assert_true(memcmp(a, c, COUNT * sizeof *a) != 0);
  for (size_t t = 1; t < COUNT; t++) assert_false(is_among(a[t], t, a));
  tear_down(&s);
}

static void there_is_a_most_for_the_greedy(void **state)
{
  struct setting s;
  size_t n_chosen;
  double *x = normal_rows(GPNN_ASK_MOST + 1, D, 3);
  size_t *chosen = gpnn_alloc(GPNN_ASK_MOST + 1, 1, sizeof *chosen);
  (void)state;
  set_up(&s, 5, 1);
  assert_fails(gpnn_ask_choose(s.model, GPNN_ASK_GREEDY, GPNN_ASK_MOST + 1, x, 2, 1, chosen,
                               &n_chosen, &err),
               GPNN_EINVAL, "5000 are the most, and these are 5001");
  assert_ok(gpnn_ask_choose(s.model, GPNN_ASK_GREEDY, 0, x, 2, 1, chosen, &n_chosen, &err));
  assert_int_equal(n_chosen, 0);
  free(x);
  free(chosen);
  tear_down(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_chosen_by_their_variance),
      cmocka_unit_test(greedy_choices_know_of_those_before),
      cmocka_unit_test(all_greedy_choices_know_of_noise),
      cmocka_unit_test(random_choices_follow_the_seed),
      cmocka_unit_test(there_is_a_most_for_the_greedy),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
