/* Comparison functions for qsort(). */
#include "unit.h"

#include <float.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/rng.h"

static void doubles_ascend_with_nan_last(void **state)
{
  (void)state;
  double values[] = {NAN, 2, -INFINITY, NAN, 0, 1e-300, INFINITY, -1, -NAN};
  static const double sorted[] = {-INFINITY, -1, 0, 1e-300, 2, INFINITY};
  qsort(values, 9, sizeof *values, gpnn_compare_doubles);
  for (size_t i = 0; i < 6; i++) assert_true(values[i] == sorted[i]);
  for (size_t i = 6; i < 9; i++) assert_true(isnan(values[i]));
}

/* Of some special numbers and of normal, rounded and positive ones, in numbers that are sorted in
 * either way. */
static void doubles_are_sorted_as_by_qsort(void **state)
{
  (void)state;
  enum { MOST = 3000, KINDS = 5 };
  static double values[MOST], wanted[MOST];
  const double special[] = {INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, DBL_TRUE_MIN, 0, NAN, -0.0};
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  for (size_t n = 0; n < MOST; n = 2 * n + 1)
    for (int kind = 0; kind < KINDS; kind++) {
      for (size_t i = 0; i < n; i++) {
        double z = gpnn_rng_normal(&rng);
        values[i] = kind == 1 ? rint(z) + 0.5 : kind == 2 ? exp(300 * z) : kind == 3 ? 7 : z;
      }
      /* With the last two, which keys cannot tell from others, in the last kind. */
      for (size_t i = 0; i < (kind < KINDS - 1 ? 6 : 8) && 3 * i < n; i++)
        values[3 * i] = special[i];
      memcpy(wanted, values, sizeof wanted);
      qsort(wanted, n, sizeof *wanted, gpnn_compare_doubles);
      gpnn_sort_doubles(n, values);
      assert_memory_equal(values, wanted, n * sizeof *values);
    }
}

static void doubles_that_are_equal_compare_as_equal(void **state)
{
  (void)state;
  assert_int_equal(gpnn_compare_doubles(&(double){0.0}, &(double){-0.0}), 0);
  assert_int_equal(gpnn_compare_doubles(&(double){NAN}, &(double){-NAN}), 0);
  assert_int_equal(gpnn_compare_doubles(&(double){INFINITY}, &(double){INFINITY}), 0);
}

/* Differences of these do not fit their type, or an int. */
static void integers_at_the_ends_of_their_range_keep_their_order(void **state)
{
  (void)state;
  int64_t integers[] = {INT64_MIN, -1, 0, INT64_MAX};
  uint64_t words[] = {0, 1, UINT64_MAX / 2, UINT64_MAX};
  size_t sizes[] = {0, 1, SIZE_MAX / 2, SIZE_MAX};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      int wanted = (i > j) - (i < j);
      assert_int_equal(gpnn_compare_int64s(&integers[i], &integers[j]), wanted);
      assert_int_equal(gpnn_compare_uint64s(&words[i], &words[j]), wanted);
      assert_int_equal(gpnn_compare_sizes(&sizes[i], &sizes[j]), wanted);
    }
}

static void strings_are_compared_byte_by_byte(void **state)
{
  (void)state;
  const char *words[] = {"b", "\xc3\xa4", "", "a", "B", "ab"};
  static const char *const sorted[] = {"", "B", "a", "ab", "b", "\xc3\xa4"};
  qsort(words, 6, sizeof *words, gpnn_compare_strings);
  for (size_t i = 0; i < 6; i++) assert_string_equal(words[i], sorted[i]);
}

static void structures_are_sorted_by_their_first_member(void **state)
{
  (void)state;
  struct point {
    double x;
    int number;
  } points[] = {{3, 0}, {1, 1}, {2, 2}};
  qsort(points, 3, sizeof *points, gpnn_compare_doubles);
  assert_int_equal(points[0].number, 1);
  assert_int_equal(points[1].number, 2);
  assert_int_equal(points[2].number, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(doubles_ascend_with_nan_last),
      cmocka_unit_test(doubles_are_sorted_as_by_qsort),
      cmocka_unit_test(doubles_that_are_equal_compare_as_equal),
      cmocka_unit_test(integers_at_the_ends_of_their_range_keep_their_order),
      cmocka_unit_test(strings_are_compared_byte_by_byte),
      cmocka_unit_test(structures_are_sorted_by_their_first_member),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
