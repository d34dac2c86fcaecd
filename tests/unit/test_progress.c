/* The time left, in words. */
#include "cmd/common/progress.h"
#include "unit.h"

static void assert_left(double seconds, const char *expected)
{
  char text[PROGRESS_TIME_BYTES];
  assert_string_equal(progress_time_left(seconds, text), expected);
}

static void time_left_is_rounded_as_one_would_say_it(void **state)
{
  (void)state;
  assert_left(0, ", a few seconds left");
  assert_left(9.4, ", a few seconds left");
  assert_left(9.6, ", about 10 s left");
  assert_left(54, ", about 50 s left");
  assert_left(56, ", about 1 min left");
  assert_left(200, ", about 3 min left");
  assert_left(59.4 * 60, ", about 59 min left");
  assert_left(59.6 * 60, ", about 1 h left");
  assert_left(47.4 * 3600, ", about 47 h left");
  assert_left(48 * 3600, ", about 2 days left");
  assert_left(1e9, ", about 1.16e+04 days left");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(time_left_is_rounded_as_one_would_say_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
