/* Distributions of noise: their names, variances, and tails. */
#include "base/compare.h"
#include "random.h"
#include "simulate/observation.h"
#include "stats/distributions/normal.h"
#include "stats/distributions/student.h"
#include "unit.h"

enum { N = 100000 };

/* N deviates, sorted. */
static double *draw(const struct gpnn_noise *noise, uint64_t seed)
{
  double *values = malloc(N * sizeof *values);
  assert_non_null(values);
  struct gpnn_rng rng = seeded(seed);
  for (size_t i = 0; i < N; i++) values[i] = gpnn_noise_draw(noise, &rng);
  qsort(values, N, sizeof *values, gpnn_compare_doubles);
  return values;
}

static double normal_below(double z, double degrees)
{
  (void)degrees;
  return gpnn_normal_cdf(z);
}

static double laplace_below(double z, double degrees)
{
  (void)degrees;
  double half = exp(-fabs(z) * sqrt(2)) / 2;
  return z < 0 ? half : 1 - half;
}

static double student_below(double z, double degrees)
{
  return gpnn_student_cdf(z / gpnn_student_unit_scale(degrees), degrees);
}

/* The Kolmogorov-Smirnov statistic against the distribution with variance 1, and the fractions
 * beyond four standard deviations, where the distributions differ most. */
static void check_law(const char *text, double (*below)(double z, double degrees))
{
  struct gpnn_noise noise = {.variance = 2.25};
  assert_true(gpnn_noise_parse(text, &noise));
  double *values = draw(&noise, 7), largest = 0, beyond = 0;
  for (size_t i = 0; i < N; i++) {
    double p = below(values[i] / 1.5, noise.degrees);
    largest = fmax(largest, fmax(fabs(p - (double)i / N), fabs(p - (double)(i + 1) / N)));
    beyond += fabs(values[i]) > 6;
  }
  free(values);
  double share = 2 * below(-4, noise.degrees);
  assert_true(largest * sqrt(N) < 2.2); /* 1 in 8000 */
  assert_near(beyond / N, share, 4 * sqrt(share / N));
}

static void deviates_have_their_distribution(void **state)
{
  (void)state;
  check_law("normal", normal_below);
  check_law("laplace", laplace_below);
  check_law("student:2.5", student_below);
  check_law("student:5", student_below);
  check_law("student:40", student_below);
}

static void the_variance_is_that_given(void **state)
{
  (void)state;
  static const char *const laws[] = {"normal", "laplace", "student:9"};
  for (size_t i = 0; i < 3; i++) {
    struct gpnn_noise noise = {.variance = 0.3};
    assert_true(gpnn_noise_parse(laws[i], &noise));
    double *values = draw(&noise, 11), squares = 0;
    for (size_t k = 0; k < N; k++) squares += values[k] * values[k];
    free(values);
    assert_close(squares / N, 0.3, 0.04);
    noise.variance = 0;
    struct gpnn_rng rng = {1};
    assert_true(gpnn_noise_draw(&noise, &rng) == 0);
  }
}

static void unknown_names_are_refused(void **state)
{
  (void)state;
  static const char *const bad[] = {"",           "gauss",       "normal:3",    "student",
                                    "student:2",  "student:-3",  "student:nan", "student:inf",
                                    "student:3x", "Student:3.0", "laplace:0.1 "};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct gpnn_noise noise = {GPNN_NOISE_STUDENT, 5, 1};
    assert_false(gpnn_noise_parse(bad[i], &noise));
    assert_true(noise.law == GPNN_NOISE_STUDENT && noise.degrees == 5 && noise.variance == 1);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(deviates_have_their_distribution),
      cmocka_unit_test(the_variance_is_that_given),
      cmocka_unit_test(unknown_names_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
