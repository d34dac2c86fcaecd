#include "unit.h"

#include "likelihood/logistic.h"
#include "stats/distributions/normal.h"

/* The expectation as a fine sum over f. */
static double reference(double sign, double mean, double variance)
{
  double sum = 0, step = 1e-3;
  for (double z = -10; z < 10; z += step)
    sum += step * gpnn_normal_density(z) / (1 + exp(-sign * (mean + sqrt(variance) * z)));
  return sum;
}

static void probability_is_the_expectation(void **state)
{
  (void)state;
  static const struct {
    double sd, error;
  } cases[] = {{1e-5, 1e-8}, {0.3, 1e-9}, {1, 1e-6}, {2, 1e-4}, {3, 1e-3}, {5, 0.01}, {10, 0.1}};
  static const double means[] = {0, 2.5, -4};
  struct gpnn_logistic logistic;
  gpnn_logistic_init(&logistic);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (size_t j = 0; j < 3; j++) {
      double v = cases[i].sd * cases[i].sd;
      double p = exp(gpnn_logistic_log_probability(&logistic, 1, means[j], v, NULL));
      assert_close(p, reference(1, means[j], v), cases[i].error);
    }
}

static void signs_have_probabilities_that_sum_to_one(void **state)
{
  (void)state;
  struct gpnn_logistic logistic;
  gpnn_logistic_init(&logistic);
  for (double sd = 1e-3; sd < 30; sd *= 1.9)
    for (double mean = -30; mean < 30; mean += 1.7) {
      double up = exp(gpnn_logistic_log_probability(&logistic, 1, mean, sd * sd, NULL)),
             down = exp(gpnn_logistic_log_probability(&logistic, -1, mean, sd * sd, NULL));
      assert_near(up + down, 1, 1e-13);
      double mirrored = exp(gpnn_logistic_log_probability(&logistic, -1, -mean, sd * sd, NULL));
      assert_close(mirrored, up, 1e-12);
    }
}

static void tiny_probabilities_have_all_digits(void **state)
{
  (void)state;
  struct gpnn_logistic logistic;
  gpnn_logistic_init(&logistic);
  /* Far below zero the sigmoid is exp(f), whose expectation is known. */
  assert_close(gpnn_logistic_log_probability(&logistic, 1, -2000, 0.25, NULL), -2000 + 0.125,
               1e-14);
  assert_close(gpnn_logistic_log_probability(&logistic, -1, 2000, 0.25, NULL), -2000 + 0.125,
               1e-14);
}

static void slopes_are_the_derivatives(void **state)
{
  (void)state;
  struct gpnn_logistic logistic;
  gpnn_logistic_init(&logistic);
  static const double variances[] = {1e-4, 0.3, 2, 15.9, 16.1, 80};
  for (size_t i = 0; i < sizeof variances / sizeof variances[0]; i++)
    for (double mean = -40; mean < 8; mean += 3.3)
      for (double sign = -1; sign < 2; sign += 2) {
        double v = variances[i], h = 1e-5;
        struct gpnn_logistic_slopes slopes;
        gpnn_logistic_log_probability(&logistic, sign, mean, v, &slopes);
        double by_mean = (gpnn_logistic_log_probability(&logistic, sign, mean + h, v, NULL) -
                          gpnn_logistic_log_probability(&logistic, sign, mean - h, v, NULL)) /
                         (2 * h);
        double by_variance =
            (gpnn_logistic_log_probability(&logistic, sign, mean, v * (1 + h), NULL) -
             gpnn_logistic_log_probability(&logistic, sign, mean, v * (1 - h), NULL)) /
            (2 * h * v);
        assert_near(slopes.mean, by_mean, 1e-8 * (1 + fabs(mean)));
        assert_near(slopes.variance, by_variance, 1e-7 * (1 + 1e-2 / v));
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(probability_is_the_expectation),
      cmocka_unit_test(signs_have_probabilities_that_sum_to_one),
      cmocka_unit_test(tiny_probabilities_have_all_digits),
      cmocka_unit_test(slopes_are_the_derivatives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
