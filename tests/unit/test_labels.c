/* Probabilities of classes from models, and labels. */
#include "models/labels.h"

#include "class_rows.h"
#include "linalg/blas_threads.h"
#include "models.h"

enum { D = CLASS_INPUTS, N = CLASS_ROWS, POINTS = CLASS_POINTS, M = 16 };

static void classify(const struct class_rows *r, const struct gpnn_predict_options *options,
                     int threads, const struct gpnn_predict_rows *rows, double *p,
                     struct gpnn_counts *counts)
{
  struct gpnn_model *model = NULL;
  struct gpnn_labels *labels = NULL;
  assert_ok(make_model(&model, &r->dataset, &r->params, 0, threads, &err));
  assert_ok(gpnn_labels_new(&labels, model, 0, options, &err));
  assert_int_equal(gpnn_labels_n_classes(labels), r->params.link.n_bias);
  assert_ok(gpnn_labels_predict(labels, rows, p, counts, &err));
  gpnn_labels_free(labels);
  gpnn_model_free(model);
}

static void probabilities_are_those_of_the_formulas_and_sum_to_one(void **state)
{
  (void)state;
  struct class_rows r;
  double p[POINTS * CLASSES_MOST], own[CLASSES_MOST];
  for (size_t k = 2; k <= CLASSES_MOST; k++) {
    struct gpnn_counts counts = {0};
    class_rows_init(&r, k, M);
    classify(&r, &(struct gpnn_predict_options){0}, 1,
             &(struct gpnn_predict_rows){.n = POINTS, .x = r.points}, p, &counts);
    assert_int_equal(counts.n_rows, POINTS);
    for (size_t i = 0; i < POINTS; i++) {
      double sum = 0;
      class_rows_classify(&r, r.points + i * D, -1, M, own);
      for (size_t c = 0; c < k; c++) {
        assert_near(p[i * k + c], own[c], 1e-12);
        sum += p[i * k + c];
      }
      assert_near(sum, 1, 1e-12);
    }
  }
}

static void threads_and_batches_change_no_bit(void **state)
{
  (void)state;
  enum { K = 5 };
  struct class_rows r;
  double all[POINTS * K], p[POINTS * K];
  struct gpnn_counts counts = {0};
  const struct gpnn_predict_options options = {0};
  class_rows_init(&r, K, M);
  r.params.calibration.temperature = 0.8;
  classify(&r, &options, 1, &(struct gpnn_predict_rows){.n = POINTS, .x = r.points}, all, &counts);
  classify(&r, &options, 4, &(struct gpnn_predict_rows){.n = POINTS, .x = r.points}, p, &counts);
  assert_memory_equal(p, all, sizeof p);
  for (size_t i = 0; i < POINTS; i += 8)
    classify(&r, &options, 3, &(struct gpnn_predict_rows){.n = 8, .x = r.points + i * D}, p + i * K,
             &counts);
  assert_memory_equal(p, all, sizeof p);
}

static void a_permutation_of_the_classes_permutes_the_probabilities(void **state)
{
  (void)state;
  enum { K = 4 };
  static const size_t to[K] = {2, 0, 3, 1};
  struct class_rows r, other;
  double p[POINTS * K], q[POINTS * K];
  struct gpnn_counts counts = {0};
  class_rows_init(&r, K, M);
  class_rows_init(&other, K, M);
  for (size_t i = 0; i < N; i++) other.y[i] = (double)to[(size_t)r.y[i]];
  for (size_t c = 0; c < K; c++) other.bias[to[c]] = r.bias[c];
  const struct gpnn_predict_options options = {0};
  classify(&r, &options, 1, &(struct gpnn_predict_rows){.n = POINTS, .x = r.points}, p, &counts);
  classify(&other, &options, 1, &(struct gpnn_predict_rows){.n = POINTS, .x = r.points}, q,
           &counts);
  for (size_t i = 0; i < POINTS; i++)
    for (size_t c = 0; c < K; c++) assert_near(q[i * K + to[c]], p[i * K + c], 1e-12);
}

/* Of two classes the one's latent function is minus the other's, so that a single one is enough. */
static void two_classes_are_one_channel(void **state)
{
  (void)state;
  struct class_rows r;
  double p[POINTS * 2];
  struct gpnn_counts counts = {0};
  class_rows_init(&r, 2, M);
  classify(&r, &(struct gpnn_predict_options){0}, 1,
           &(struct gpnn_predict_rows){.n = POINTS, .x = r.points}, p, &counts);
  const struct gpnn_link *link = &r.params.link;
  double n1 = 0;
  for (size_t i = 0; i < N; i++) n1 += r.y[i];
  double share = (n1 + 0.5) / (N + 1);
  for (size_t i = 0; i < POINTS; i++) {
    size_t near[M];
    double w[M], f = 0;
    class_rows_near(&r, r.points + i * D, -1, M, near);
    double v = class_rows_weigh(&r, r.points + i * D, M, near, w);
    for (size_t a = 0; a < M; a++) f += w[a] * (r.y[near[a]] - share);
    double z = 2 * link->slope * f, sign = 1;
    for (int c = 1; c >= 0; c--, sign = -1) {
      double pi = c == 1 ? share : 1 - share;
      double q = log(1 + exp(20 * (sign * f + pi))) / 20 + link->floor;
      double q0 = log(1 + exp(20 * pi)) / 20 + link->floor;
      z += sign * link->evidence * log(q / q0);
    }
    double logit = r.bias[1] - r.bias[0] + z / sqrt(1 + link->spread * v);
    assert_near(p[2 * i + 1], 1 / (1 + exp(-logit)), 1e-12);
  }
}

static void a_temperature_multiplies_the_logits(void **state)
{
  (void)state;
  enum { K = 3 };
  static const double temperatures[] = {0.4, 1, 3};
  struct class_rows r;
  double p[POINTS * K], q[POINTS * K];
  struct gpnn_counts counts = {0};
  const struct gpnn_predict_options options = {0};
  class_rows_init(&r, K, M);
  classify(&r, &options, 1, &(struct gpnn_predict_rows){.n = POINTS, .x = r.points}, p, &counts);
  for (size_t k = 0; k < 3; k++) {
    r.params.calibration.temperature = temperatures[k];
    classify(&r, &options, 1, &(struct gpnn_predict_rows){.n = POINTS, .x = r.points}, q, &counts);
    for (size_t i = 0; i < POINTS; i++)
      for (size_t c = 1; c < K; c++)
        assert_close(log(q[i * K + c] / q[i * K]), temperatures[k] * log(p[i * K + c] / p[i * K]),
                     1e-10);
  }
  double certain[] = {0, 1, 0};
  gpnn_labels_temper(3, 0.5, certain);
  assert_true(certain[0] == 0 && certain[1] == 1);
}

static void rows_too_far_get_nothing_or_the_biases(void **state)
{
  (void)state;
  enum { K = 3 };
  struct class_rows r;
  double p[2 * K], x[2 * D] = {0}, sum = 0;
  struct gpnn_counts counts = {0};
  struct gpnn_predict_options options = {.max_distance = 5};
  class_rows_init(&r, K, M);
  x[D] = 1e3;
  r.params.calibration = (struct gpnn_calibration){
      .temperature = 2, .has_distance = true, .distance = {0.1, 0.2, 0.3, 5}};
  classify(&r, &options, 1, &(struct gpnn_predict_rows){.n = 2, .x = x}, p, &counts);
  for (size_t c = 0; c < K; c++) assert_true(!isnan(p[c]) && isnan(p[K + c]));
  assert_int_equal(counts.n_beyond, 1);
  assert_int_equal(counts.n_far, 1);
  assert_int_equal(counts.n_upon, 0);
  options.beyond = GPNN_BEYOND_PRIOR;
  classify(&r, &options, 1, &(struct gpnn_predict_rows){.n = 2, .x = x}, p, &counts);
  for (size_t c = 0; c < K; c++) sum += exp(2 * r.bias[c]);
  for (size_t c = 0; c < K; c++) assert_close(p[K + c], exp(2 * r.bias[c]) / sum, 1e-14);
}

static void training_rows_left_out_are_not_seen(void **state)
{
  (void)state;
  enum { K = 4 };
  struct class_rows r;
  int64_t self[POINTS];
  double p[POINTS * K], own[K];
  struct gpnn_counts counts = {0};
  class_rows_init(&r, K, M);
  for (size_t i = 0; i < POINTS; i++) self[i] = (int64_t)i;
  classify(&r, &(struct gpnn_predict_options){0}, 1,
           &(struct gpnn_predict_rows){.n = POINTS, .x = r.x, .self = self}, p, &counts);
  for (size_t i = 0; i < POINTS; i++) {
    class_rows_classify(&r, r.x + i * D, self[i], M, own);
    for (size_t c = 0; c < K; c++) assert_near(p[i * K + c], own[c], 1e-12);
  }
}

static void labels_rank_by_expected_cost_and_then_by_class(void **state)
{
  (void)state;
  static const double p[] = {0.2, 0.1, 0.4, 0.2, 0.1}, cost[] = {1, 9, 1, 1, 8};
  static const size_t by_p[] = {2, 0, 3, 1, 4}, by_cost[] = {1, 4, 2, 0, 3};
  for (size_t n = 0; n <= 5; n++) {
    size_t rank[6] = {9, 9, 9, 9, 9, 9};
    gpnn_labels_rank(5, p, NULL, n, rank);
    for (size_t k = 0; k < 6; k++) assert_int_equal(rank[k], k < n ? by_p[k] : 9);
    gpnn_labels_rank(5, p, cost, n, rank);
    for (size_t k = 0; k < 6; k++) assert_int_equal(rank[k], k < n ? by_cost[k] : 9);
  }
}

static void numbers_have_no_labels_and_classes_no_mean(void **state)
{
  (void)state;
  struct class_rows r;
  struct gpnn_model *model = NULL;
  struct gpnn_labels *labels = NULL;
  struct gpnn_predictor *predictor = NULL;
  const struct gpnn_predict_options options = {0};
  class_rows_init(&r, 3, M);
  assert_ok(make_model(&model, &r.dataset, &r.params, 0, 1, &err));
  assert_fails(gpnn_predictor_new(&predictor, model, &options, &err), GPNN_EINVAL, "holds classes");
  gpnn_model_free(model);
  r.params.likelihood = GPNN_LIKELIHOOD_GAUSSIAN;
  r.params.link = (struct gpnn_link){0};
  r.dataset.schema.target.kind = GPNN_COLUMN_NUMBER;
  assert_ok(make_model(&model, &r.dataset, &r.params, 0, 1, &err));
  assert_fails(gpnn_labels_new(&labels, model, 0, &options, &err), GPNN_EINVAL, "no classes");
  gpnn_model_free(model);
  gpnn_labels_free(NULL);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(probabilities_are_those_of_the_formulas_and_sum_to_one),
      cmocka_unit_test(threads_and_batches_change_no_bit),
      cmocka_unit_test(a_permutation_of_the_classes_permutes_the_probabilities),
      cmocka_unit_test(two_classes_are_one_channel),
      cmocka_unit_test(a_temperature_multiplies_the_logits),
      cmocka_unit_test(rows_too_far_get_nothing_or_the_biases),
      cmocka_unit_test(training_rows_left_out_are_not_seen),
      cmocka_unit_test(labels_rank_by_expected_cost_and_then_by_class),
      cmocka_unit_test(numbers_have_no_labels_and_classes_no_mean),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
