/* The weights of neighbours, against predictions and elimination; classes made from them. */
#include "class_rows.h"
#include "linalg/blas_threads.h"
#include "models.h"

enum { D = CLASS_INPUTS, N = CLASS_ROWS, POINTS = CLASS_POINTS };

static struct gpnn_model *model_of(const struct class_rows *r, size_t share, int threads)
{
  struct gpnn_model *model = NULL;
  const struct gpnn_model_options options = {.share = share, .threads = threads};
  assert_ok(make_model_with(&model, &r->dataset, &r->params, options, &err));
  return model;
}

/* The rows as numbers, which the class numbers are. */
static void make_numbers(struct class_rows *r)
{
  r->dataset.schema.target = (struct gpnn_column){0};
  r->params.likelihood = GPNN_LIKELIHOOD_GAUSSIAN;
  r->params.link = (struct gpnn_link){0};
  r->params.covariance.kernelscale = 1.7;
}

struct found {
  int64_t neighbour[POINTS * N];
  double weight[POINTS * N], variance[POINTS], nearest[POINTS];
  struct gpnn_counts counts;
};

static void find(const struct gpnn_model *model, const struct gpnn_query *query,
                 struct found *found)
{
  const struct gpnn_weights to = {found->neighbour, found->weight, found->variance, found->nearest};
  found->counts = (struct gpnn_counts){0};
  assert_ok(gpnn_model_weights(model, 0, query, &to, &found->counts, &err));
}

static void check_sums(const struct class_rows *r, const struct gpnn_model *model,
                       const struct gpnn_query *query)
{
  static struct found found;
  double mean[POINTS], variance[POINTS], nearest[POINTS];
  struct gpnn_counts counts = {0};
  size_t m = gpnn_model_neighbours(model, 0);
  const struct gpnn_latent latent = {.mean = mean, .variance = variance, .nearest = nearest};
  find(model, query, &found);
  assert_ok(gpnn_model_predict(model, query, &latent, &counts, &err));
  for (size_t i = 0; i < query->n; i++) {
    double sum = 0, least = INFINITY, most = -INFINITY;
    for (size_t k = 0; k < m; k++) {
      int64_t row = found.neighbour[i * m + k];
      if (row >= 0) least = fmin(least, r->y[row]);
      if (row >= 0) most = fmax(most, r->y[row]);
      if (row >= 0) sum += found.weight[i * m + k] * r->y[row];
      if (row < 0) assert_true(found.weight[i * m + k] == 0);
      assert_true(query->self == NULL || row != query->self[i]);
    }
    if (r->params.likelihood == GPNN_LIKELIHOOD_GAUSSIAN || (m < N && sum >= least && sum <= most))
      assert_near(sum, mean[i], 1e-12);
    else /* it may be bounded */
      assert_true(fabs(mean[i] - (least + most) / 2) <= fabs(sum - (least + most) / 2) + 1e-12);
    assert_near(found.variance[i], variance[i], 1e-12);
    assert_true(found.nearest[i] == nearest[i]);
  }
}

static void weights_give_the_means_of_predictions(void **state)
{
  (void)state;
  static const size_t numbers[] = {1, 2, 7, 8, 17, 32, N - 1, N, 400};
  struct class_rows r;
  int64_t self[POINTS];
  for (size_t i = 0; i < POINTS; i++) self[i] = i % 3 == 0 ? -1 : (int64_t)i;
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    for (int with_scale = 0; with_scale < 2; with_scale++) { /* which has a factor of all rows */
      class_rows_init(&r, 4, numbers[k]);
      make_numbers(&r);
      r.params.likelihood = with_scale ? GPNN_LIKELIHOOD_STUDENT : GPNN_LIKELIHOOD_GAUSSIAN;
      struct gpnn_model *model = model_of(&r, 1, 2);
      const struct gpnn_query points = {.n = POINTS, .x = r.points};
      const struct gpnn_query rows = {.n = POINTS, .x = r.x, .self = self};
      check_sums(&r, model, &points);
      check_sums(&r, model, &rows);
      gpnn_model_free(model);
    }
}

static void weights_are_those_of_the_inverse(void **state)
{
  (void)state;
  enum { M = 19 };
  static struct found found;
  struct class_rows r;
  class_rows_init(&r, 3, M);
  struct gpnn_model *model = model_of(&r, 64, 1);
  find(model, &(struct gpnn_query){.n = POINTS, .x = r.points}, &found);
  for (size_t i = 0; i < POINTS; i++) {
    size_t near[N];
    double weight[M];
    class_rows_near(&r, r.points + i * D, -1, M, near);
    double v = class_rows_weigh(&r, r.points + i * D, M, near, weight);
    assert_near(found.variance[i], v, 1e-13);
    for (size_t k = 0; k < M; k++) {
      assert_int_equal(found.neighbour[i * M + k], near[k]);
      assert_near(found.weight[i * M + k], weight[k], 1e-13);
    }
  }
  gpnn_model_free(model);
}

static void rows_that_are_excluded_have_no_weight(void **state)
{
  (void)state;
  enum { M = 12 };
  static struct found found;
  static uint32_t row_group[N], group[POINTS];
  struct class_rows r;
  class_rows_init(&r, 3, M);
  make_numbers(&r);
  for (size_t i = 0; i < N; i++) row_group[i] = (uint32_t)(i % 9);
  for (size_t i = 0; i < POINTS; i++) group[i] = (uint32_t)(i % 9);
  r.dataset.row_group = row_group;
  r.dataset.n_row_groups = 9;
  struct gpnn_model *model = model_of(&r, 1, 1);
  const struct gpnn_query query = {.n = POINTS, .x = r.points, .group = group};
  check_sums(&r, model, &query);
  find(model, &query, &found);
  for (size_t i = 0; i < POINTS * M; i++) {
    assert_true(found.neighbour[i] >= 0);
    assert_true(row_group[found.neighbour[i]] != group[i / M]);
  }
  const int64_t few[POINTS * 2] = {3, -1, 5, 7};
  find(model, &(struct gpnn_query){.n = 2, .x = r.points, .candidates = few, .n_candidates = 2},
       &found);
  assert_true(found.neighbour[0] == 3 && found.neighbour[1] == -1);
  assert_true(found.neighbour[M] == 5 && found.neighbour[M + 1] == 7 && found.weight[M + 2] == 0);
  gpnn_model_free(model);
}

static void neighbours_alone_need_no_factor(void **state)
{
  (void)state;
  enum { M = 9 };
  static struct found all;
  static int64_t neighbour[POINTS * M];
  struct class_rows r;
  struct gpnn_counts counts = {0};
  class_rows_init(&r, 3, M);
  r.params.covariance.noise = 0;
  for (size_t i = 1; i < N; i++) memcpy(r.x + i * D, r.x, D * sizeof *r.x);
  struct gpnn_model *model = model_of(&r, 1, 1);
  const struct gpnn_query query = {.n = POINTS, .x = r.points};
  const struct gpnn_weights to = {.neighbour = neighbour};
  assert_ok(gpnn_model_weights(model, 0, &query, &to, &counts, &err));
  assert_int_equal(counts.jitter.n, 0);
  find(model, &query, &all);
  assert_int_equal(all.counts.jitter.n, POINTS);
  assert_memory_equal(neighbour, all.neighbour, sizeof neighbour);
  gpnn_model_free(model);
}

static void classes_are_those_of_the_formulas(void **state)
{
  (void)state;
  static const size_t numbers[] = {1, 20, N};
  struct class_rows r;
  int64_t self[POINTS];
  for (size_t i = 0; i < POINTS; i++) self[i] = (int64_t)i;
  for (size_t k = 0; k < 3; k++)
    for (size_t n_classes = 2; n_classes <= CLASSES_MOST; n_classes += 2) {
      double p[POINTS * CLASSES_MOST], own[CLASSES_MOST], nearest[POINTS];
      struct gpnn_counts counts = {0};
      class_rows_init(&r, n_classes, numbers[k]);
      struct gpnn_model *model = model_of(&r, 1, 3);
      for (int left_out = 0; left_out < 2; left_out++) {
        const double *x = left_out ? r.x : r.points;
        const struct gpnn_query query = {.n = POINTS, .x = x, .self = left_out ? self : NULL};
        assert_ok(gpnn_model_classify(model, 0, &query, p, nearest, &counts, &err));
        for (size_t i = 0; i < POINTS; i++) {
          class_rows_classify(&r, x + i * D, left_out ? self[i] : -1, numbers[k], own);
          for (size_t c = 0; c < n_classes; c++) assert_near(p[i * n_classes + c], own[c], 1e-12);
          assert_true(nearest[i] > 0);
        }
      }
      gpnn_model_free(model);
    }
}

static void members_are_averaged_by_weight(void **state)
{
  (void)state;
  enum { K = 3 };
  struct class_rows r, other;
  double p[3][POINTS * K], bias[K] = {0.4, -0.1, 0};
  struct gpnn_counts counts = {0};
  class_rows_init(&r, K, 10);
  class_rows_init(&other, K, 25);
  other.params.covariance.kernel = gpnn_kernel_by_name("exp");
  memcpy(other.bias, bias, sizeof bias);
  const struct gpnn_query query = {.n = POINTS, .x = r.points};
  for (int k = 0; k < 2; k++) {
    struct gpnn_model *model = model_of(k == 0 ? &r : &other, 1, 1);
    assert_ok(gpnn_model_classify(model, 0, &query, p[k], NULL, &counts, &err));
    gpnn_model_free(model);
  }
  struct gpnn_parameters member = other.params;
  member.likelihood = GPNN_LIKELIHOOD_GAUSSIAN; /* only the first records it */
  member.weight = 0.3;
  r.params.weight = 0.7;
  r.params.members = &member;
  r.params.n_members = 1;
  struct gpnn_model *stack = model_of(&r, 1, 1);
  assert_ok(gpnn_model_classify(stack, 0, &query, p[2], NULL, &counts, &err));
  for (size_t i = 0; i < POINTS * K; i++)
    assert_near(p[2][i], 0.7 * p[0][i] + 0.3 * p[1][i], 1e-15);
  gpnn_model_free(stack);
  member.link.n_bias = K - 1;
  assert_fails(make_model(&stack, &r.dataset, &r.params, 0, 1, &err), GPNN_EMISMATCH,
               "of 2 classes");
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_give_the_means_of_predictions),
      cmocka_unit_test(weights_are_those_of_the_inverse),
      cmocka_unit_test(rows_that_are_excluded_have_no_weight),
      cmocka_unit_test(neighbours_alone_need_no_factor),
      cmocka_unit_test(classes_are_those_of_the_formulas),
      cmocka_unit_test(members_are_averaged_by_weight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
