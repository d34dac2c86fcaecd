/* The link from latent functions to classes, against finite differences and its limits. */
#include "likelihood/categorical.h"
#include "unit.h"

enum { K = 4 };

static double bias[K] = {0.3, -0.2, 0.1, -1.1};
static struct gpnn_link link = {3.1, 0.4, 0.05, 0.6, K, bias};
static double share[K] = {0.4, 0.3, 0.25, 0.05};
static const struct gpnn_categorical usual = {K, &link, share, 1};
static const double latents[][K] = {
    {0.5, -0.25, -0.2, -0.05}, {0, 0, 0, 0}, {-0.4, -0.3, -0.25, 0.95}, {1.7, -0.9, -0.7, -0.1}};
static const double variances[] = {0.3, 1, 0, 0.01};
enum { N_ROWS = sizeof variances / sizeof *variances };

static double loss(const double *h, double v, size_t label)
{
  double p[K];
  return gpnn_categorical_loss(&usual, h, v, label, p, NULL);
}

static void probabilities_sum_to_one_and_give_the_loss(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_ROWS; i++) {
    double p[K], same[K], sum = 0;
    gpnn_categorical_probabilities(&usual, latents[i], variances[i], p);
    for (size_t c = 0; c < K; c++) {
      double found = gpnn_categorical_loss(&usual, latents[i], variances[i], c, same, NULL);
      assert_close(found, -log(p[c]), 1e-12);
      sum += p[c];
    }
    assert_near(sum, 1, 1e-15);
  }
}

static void far_from_all_rows_only_the_biases_count(void **state)
{
  (void)state;
  double p[K], sum = 0;
  gpnn_categorical_probabilities(&usual, latents[1], 1, p);
  for (size_t c = 0; c < K; c++) sum += exp(bias[c]);
  for (size_t c = 0; c < K; c++) assert_close(p[c], exp(bias[c]) / sum, 1e-14);
}

static void slopes_are_those_of_finite_differences(void **state)
{
  (void)state;
  const double step = 1e-5, tolerance = 1e-8;
  double by_bias[K], by_latent[K], p[K], h[K];
  struct gpnn_categorical_slopes by = {.bias = by_bias, .latent = by_latent};
  double *const numbers[GPNN_LINK_NUMBERS] = {&link.slope, &link.evidence, &link.floor,
                                              &link.spread};
  for (size_t i = 0; i < N_ROWS; i++)
    for (size_t label = 0; label < K; label++) {
      double v = variances[i];
      memcpy(h, latents[i], sizeof h);
      gpnn_categorical_loss(&usual, h, v, label, p, &by);
      for (size_t j = 0; j < GPNN_LINK_NUMBERS; j++) {
        double at = *numbers[j];
        *numbers[j] = at * exp(step);
        double more = loss(h, v, label);
        *numbers[j] = at * exp(-step);
        double less = loss(h, v, label);
        *numbers[j] = at;
        assert_near(by.link[j], (more - less) / (2 * step), tolerance);
      }
      for (size_t c = 0; c < K; c++) {
        double at = bias[c];
        bias[c] = at + step;
        double more = loss(h, v, label);
        bias[c] = at - step;
        double less = loss(h, v, label);
        bias[c] = at;
        assert_near(by_bias[c], (more - less) / (2 * step), tolerance);
        h[c] = latents[i][c] + step;
        more = loss(h, v, label);
        h[c] = latents[i][c] - step;
        less = loss(h, v, label);
        h[c] = latents[i][c];
        assert_near(by_latent[c], (more - less) / (2 * step), tolerance);
      }
      if (v > step)
        assert_near(by.variance, (loss(h, v + step, label) - loss(h, v - step, label)) / (2 * step),
                    tolerance);
    }
}

/* With two classes the logit is the difference of two channels. */
static void two_classes_have_one_logit(void **state)
{
  (void)state;
  double two_biases[] = {-0.4, 0.7}, two_shares[] = {0.8, 0.2}, p[2];
  const struct gpnn_link own = {2.5, 0.7, 0.02, 0.9, 2, two_biases};
  const struct gpnn_categorical two = {2, &own, two_shares, 1.3};
  for (double h1 = -0.5; h1 < 1; h1 += 0.17) {
    const double h[] = {-h1, h1};
    double z[2], v = 0.37;
    for (size_t c = 0; c < 2; c++) {
      double q = log(1 + exp(20 * (h[c] + two_shares[c]))) / 20 + own.floor;
      double q0 = log(1 + exp(20 * two_shares[c])) / 20 + own.floor;
      z[c] = two_biases[c] +
             (own.slope * h[c] + own.evidence * log(q / q0)) / sqrt(1 + own.spread * v);
    }
    gpnn_categorical_probabilities(&two, h, v, p);
    assert_close(p[1], 1 / (1 + exp(-1.3 * (z[1] - z[0]))), 1e-12);
  }
}

static void a_permutation_of_the_classes_permutes_the_probabilities(void **state)
{
  (void)state;
  static const size_t order[K] = {2, 0, 3, 1};
  double h[K], other_bias[K], other_share[K], p[K], q[K];
  struct gpnn_link other = link;
  const struct gpnn_categorical permuted = {K, &other, other_share, 1};
  other.bias = other_bias;
  for (size_t i = 0; i < N_ROWS; i++) {
    for (size_t c = 0; c < K; c++) {
      h[c] = latents[i][order[c]];
      other_bias[c] = bias[order[c]];
      other_share[c] = share[order[c]];
    }
    gpnn_categorical_probabilities(&usual, latents[i], variances[i], p);
    gpnn_categorical_probabilities(&permuted, h, variances[i], q);
    for (size_t c = 0; c < K; c++) assert_near(q[c], p[order[c]], 1e-15);
  }
}

static void shares_are_smoothed(void **state)
{
  (void)state;
  static const double y[] = {0, 2, 2, 0, 2};
  double found[3];
  gpnn_categorical_shares(3, 5, y, found);
  assert_close(found[0], 2.5 / 6.5, 1e-15);
  assert_close(found[1], 0.5 / 6.5, 1e-15);
  assert_close(found[2], 3.5 / 6.5, 1e-15);
}

static void extremes_stay_finite(void **state)
{
  (void)state;
  double p[K];
  const double h[K] = {1e6, -1e6, 0, 0};
  assert_close(gpnn_categorical_loss(&usual, h, 0, 1, p, NULL), 2e6 * link.slope, 1e-4);
  assert_true(p[0] == 1 && p[1] == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(probabilities_sum_to_one_and_give_the_loss),
      cmocka_unit_test(far_from_all_rows_only_the_biases_count),
      cmocka_unit_test(slopes_are_those_of_finite_differences),
      cmocka_unit_test(two_classes_have_one_logit),
      cmocka_unit_test(a_permutation_of_the_classes_permutes_the_probabilities),
      cmocka_unit_test(shares_are_smoothed),
      cmocka_unit_test(extremes_stay_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
