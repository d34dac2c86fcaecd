/* How many threads there are, and how many a piece of work is shared between. */
#include <limits.h>
#include <stdint.h>

#include "base/threads.h"
#include "unit.h"

static void there_is_a_processor(void **state)
{
  (void)state;
  assert_true(gpnn_threads_available() >= 1);
}

static void no_thread_is_without_a_piece(void **state)
{
  (void)state;
  assert_int_equal(gpnn_threads_for(8, 1), 1);
  assert_int_equal(gpnn_threads_for(8, 7), 7);
  assert_int_equal(gpnn_threads_for(8, 8), 8);
  assert_int_equal(gpnn_threads_for(8, 9), 8);
  assert_int_equal(gpnn_threads_for(1, 1000), 1);
  assert_int_equal(gpnn_threads_for(INT_MAX, SIZE_MAX), INT_MAX);
}

static void there_is_always_one(void **state)
{
  (void)state;
  assert_int_equal(gpnn_threads_for(8, 0), 1);
  assert_int_equal(gpnn_threads_for(0, 8), 1);
  assert_int_equal(gpnn_threads_for(-3, 8), 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(there_is_a_processor),
      cmocka_unit_test(no_thread_is_without_a_piece),
      cmocka_unit_test(there_is_always_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
