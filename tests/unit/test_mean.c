#include "unit.h"

#include "kernel/mean.h"

enum { D = 3, R = 2 };
static const double x[] = {4, -5, 6}, regressors[] = {0.5, -7};

static void means_have_names(void **state)
{
  (void)state;
  static const char *const names[] = {"zero", "constant", "linear", "regressors"};
  for (int i = 0; i < GPNN_MEANS; i++) assert_string_equal(gpnn_mean_names[i], names[i]);
}

static void each_mean_has_its_terms(void **state)
{
  (void)state;
  static const double right[][4] = {{9, 9, 9, 9}, {1, 9, 9, 9}, {1, 4, -5, 6}, {1, 0.5, -7, 9}};
  static const size_t widths[] = {0, 1, 1 + D, 1 + R};
  for (int mean = GPNN_MEAN_ZERO; mean <= GPNN_MEAN_REGRESSORS; mean++) {
    double terms[4] = {9, 9, 9, 9}; /* terms past the width stay as they are */
    assert_int_equal(gpnn_mean_width((enum gpnn_mean)mean, D, R), widths[mean]);
    gpnn_mean_terms((enum gpnn_mean)mean, D, x, R, regressors, terms);
    assert_memory_equal(terms, right[mean], sizeof terms);
  }
}

static void value_is_coefficients_times_terms(void **state)
{
  (void)state;
  static const double b[] = {100, 10, 2, 0.25}, right[] = {0, 100, 131.5, 91};
  for (int mean = GPNN_MEAN_ZERO; mean <= GPNN_MEAN_REGRESSORS; mean++)
    assert_true(gpnn_mean_value((enum gpnn_mean)mean, b, D, x, R, regressors) == right[mean]);
}

static void without_inputs_or_regressors_a_constant_is_left(void **state)
{
  (void)state;
  double b = 3, term = 0;
  assert_int_equal(gpnn_mean_width(GPNN_MEAN_LINEAR, 0, 0), 1);
  assert_int_equal(gpnn_mean_width(GPNN_MEAN_REGRESSORS, D, 0), 1);
  gpnn_mean_terms(GPNN_MEAN_REGRESSORS, D, x, 0, NULL, &term);
  assert_true(term == 1);
  assert_true(gpnn_mean_value(GPNN_MEAN_REGRESSORS, &b, D, x, 0, NULL) == 3);
  assert_true(gpnn_mean_value(GPNN_MEAN_ZERO, NULL, D, x, 0, NULL) == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_have_names),
      cmocka_unit_test(each_mean_has_its_terms),
      cmocka_unit_test(value_is_coefficients_times_terms),
      cmocka_unit_test(without_inputs_or_regressors_a_constant_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
