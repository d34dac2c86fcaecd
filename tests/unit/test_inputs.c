#include "simulate/neighbours.h"

#include "unit.h"

/* Means and variances of the coordinates: s^2, R^2/4, s^2/3, within five standard errors. */
static void inputs_have_the_moments_of_their_law(void **state)
{
  (void)state;
  enum { N = 20000 };
  static const double variances[] = {9, 9 / 4.0, 9 / 3.0};
  for (int law = GPNN_INPUTS_NORMAL; law <= GPNN_INPUTS_CUBE; law++) {
    struct gpnn_inputs inputs = {(enum gpnn_inputs_law)law, law == GPNN_INPUTS_DISK ? 2 : 3, 3};
    double *x = malloc(N * inputs.d * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < N; i++) {
      struct gpnn_rng rng;
      gpnn_rng_init_at(&rng, 5, GPNN_RNG_TEST, i);
      gpnn_inputs_draw(&inputs, &rng, x + i * inputs.d);
    }
    for (size_t j = 0; j < inputs.d; j++) {
      double mean = 0, square = 0, product = 0, variance = variances[law];
      for (size_t i = 0; i < N; i++) {
        const double *row = x + i * inputs.d;
        mean += row[j] / N;
        square += row[j] * row[j] / N;
        product += row[j] * row[(j + 1) % inputs.d] / N;
      }
      assert_near(mean, 0, 5 * sqrt(variance / N));
      assert_near(square, variance, 5 * variance * sqrt(2.0 / N));
      assert_near(product, 0, 5 * variance / sqrt(N));
    }
    free(x);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inputs_have_the_moments_of_their_law),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
