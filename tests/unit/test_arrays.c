#include "linalg/arrays.h"

#include <stdint.h>

#include "unit.h"

static void test_arrays_are_made_together_and_zeroed(void **state)
{
  double *x = NULL;
  size_t *row = NULL;
  (void)state;
  struct gpnn_arrays *arrays = GPNN_ARRAYS(GPNN_ARRAY(x, 3, 5), GPNN_ARRAY(row, 7, 1));
  assert_non_null(arrays);
  for (size_t i = 0; i < 15; i++) assert_true(x[i] == 0);
  for (size_t i = 0; i < 7; i++) assert_int_equal(row[i], 0);
  for (size_t i = 0; i < 15; i++) x[i] = 1;
  for (size_t i = 0; i < 7; i++) assert_int_equal(row[i], 0);
  gpnn_arrays_free(arrays);
}

static void test_an_array_that_is_not_wanted_leaves_its_pointer_alone(void **state)
{
  double *x = NULL, one, *y = &one;
  (void)state;
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY_IF(x == NULL, x, 0, 4), GPNN_ARRAY_IF(x != NULL, y, 2, 2));
  assert_non_null(arrays);
  assert_non_null(x); /* of no items, but there */
  assert_ptr_equal(y, &one);
  gpnn_arrays_free(arrays);
}

static void test_without_memory_for_all_there_are_none(void **state)
{
  double *x = NULL, *y = NULL;
  (void)state;
  assert_null(GPNN_ARRAYS(GPNN_ARRAY(x, 3, 1), GPNN_ARRAY(y, SIZE_MAX / 4, 8)));
  assert_null(x);
  assert_null(y);
  gpnn_arrays_free(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrays_are_made_together_and_zeroed),
      cmocka_unit_test(test_an_array_that_is_not_wanted_leaves_its_pointer_alone),
      cmocka_unit_test(test_without_memory_for_all_there_are_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
