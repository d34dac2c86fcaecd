/* Allocation whose sizes cannot overflow. */
#include "unit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"

static void products_that_do_not_fit_are_noticed(void **state)
{
  (void)state;
  size_t product = 7;
  assert_true(gpnn_multiply(SIZE_MAX, 1, &product) && product == SIZE_MAX);
  assert_true(gpnn_multiply(0, SIZE_MAX, &product) && product == 0);
  assert_true(gpnn_multiply(SIZE_MAX / 3, 3, &product) && product == SIZE_MAX / 3 * 3);
  assert_false(gpnn_multiply(SIZE_MAX / 2 + 1, 2, &product));
  assert_false(gpnn_multiply(SIZE_MAX, SIZE_MAX, &product));
}

static void blocks_are_aligned_and_zero(void **state)
{
  (void)state;
  static const size_t counts[] = {0, 1, 7, 8, 9, 1000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (size_t j = 0; j < sizeof counts / sizeof *counts; j++) {
      size_t bytes = counts[i] * counts[j] * 3;
      unsigned char *block = gpnn_alloc(counts[i], counts[j], 3);
      assert_non_null(block);
      assert_int_equal((uintptr_t)block % 64, 0);
      for (size_t k = 0; k < bytes; k++) assert_int_equal(block[k], 0);
      memset(block, 1, bytes); /* all of it is ours */
      free(block);
    }
}

/* Each product may be the one that overflows, and so may rounding up to the alignment. */
static void blocks_larger_than_memory_can_be_are_refused(void **state)
{
  (void)state;
  assert_null(gpnn_alloc(SIZE_MAX, 2, 1));
  assert_null(gpnn_alloc(SIZE_MAX / 8, 2, 8));
  assert_null(gpnn_alloc(2, SIZE_MAX / 2, 2));
  assert_null(gpnn_alloc(SIZE_MAX, 1, 1));
  assert_null(gpnn_alloc(1, SIZE_MAX - 62, 1));
  assert_null(gpnn_alloc(SIZE_MAX / 2 + 1, 1, 1));
}

static void arrays_keep_their_items_as_they_grow(void **state)
{
  (void)state;
  int *array = NULL;
  size_t capacity = 0;
  assert_true(gpnn_grow(&array, &capacity, 0, sizeof *array));
  assert_true(array == NULL && capacity == 0);
  for (size_t n = 1; n < 1000; n++) {
    size_t before = capacity;
    assert_true(gpnn_grow(&array, &capacity, n, sizeof *array));
    assert_true(capacity >= n);
    assert_true(capacity == before || capacity >= before + before / 2);
    array[n - 1] = (int)n;
  }
  assert_true(gpnn_grow(&array, &capacity, 100000, sizeof *array));
  assert_int_equal(capacity, 100000);
  for (size_t n = 1; n < 1000; n++) assert_int_equal(array[n - 1], n);
  free(array);
}

static void an_array_that_cannot_grow_is_unchanged(void **state)
{
  (void)state;
  char *array = NULL;
  size_t capacity = 0;
  assert_true(gpnn_grow(&array, &capacity, 1, 1));
  array[0] = 'x';
  char *before = array;
  size_t room = capacity;
  assert_false(gpnn_grow(&array, &capacity, SIZE_MAX / 2, 4));
  assert_true(array == before && capacity == room && array[0] == 'x');
  free(array);
}

static void copies_of_text_are_terminated(void **state)
{
  (void)state;
  char *copy = gpnn_copy_text("abcdef", 3);
  assert_string_equal(copy, "abc");
  free(copy);
  copy = gpnn_copy_text(NULL, 0);
  assert_string_equal(copy, "");
  free(copy);
  assert_null(gpnn_copy_text("", SIZE_MAX));
}

static void the_machine_has_the_memory_that_tests_need(void **state)
{
  (void)state;
  assert_true(gpnn_memory_allowed() == 0 || gpnn_memory_allowed() > (size_t)1 << 24);
}

static void what_exceeds_the_limit_is_refused_with_the_need(void **state)
{
  (void)state;
  struct gpnn_error err = {0};
  struct rlimit limit, before;
  assert_int_equal(gpnn_memory_check("the work", 1e6, &err), GPNN_OK);
  assert_int_equal(gpnn_memory_check("the work", 0, &err), GPNN_OK);
  assert_int_equal(gpnn_memory_check("the work", 1e30, &err), GPNN_ENOMEM);
  assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
  limit = before;
  limit.rlim_cur = 1000000000;
  assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
  assert_true(gpnn_memory_allowed() <= 1000000000);
  assert_int_equal(gpnn_memory_check("the work", 3.1e9, &err), GPNN_ENOMEM);
  assert_string_equal(err.text, "the work needs about 3.1 GB of memory, more than is left of the 1 "
                                "GB that are allowed");
  assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_that_do_not_fit_are_noticed),
      cmocka_unit_test(the_machine_has_the_memory_that_tests_need),
      cmocka_unit_test(what_exceeds_the_limit_is_refused_with_the_need),
      cmocka_unit_test(blocks_are_aligned_and_zero),
      cmocka_unit_test(blocks_larger_than_memory_can_be_are_refused),
      cmocka_unit_test(arrays_keep_their_items_as_they_grow),
      cmocka_unit_test(an_array_that_cannot_grow_is_unchanged),
      cmocka_unit_test(copies_of_text_are_terminated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
