/* Lists with commas: every item, in order, empty ones too. */
#include "base/list.h"
#include "unit.h"

static void items_come_in_order_and_may_be_empty(void **state)
{
  (void)state;
  static const char *const expected[] = {"a", "", "bc", ""};
  const char *item, *rest = "a,,bc,";
  size_t length, n = 0;
  while ((item = gpnn_list_next(&rest, &length)) != NULL) {
    assert_true(n < 4);
    assert_int_equal(length, strlen(expected[n]));
    assert_memory_equal(item, expected[n], length);
    n++;
  }
  assert_int_equal(n, 4);
}

static void the_empty_text_has_one_item_and_no_text_none(void **state)
{
  (void)state;
  const char *rest = "";
  size_t length = 9;
  assert_non_null(gpnn_list_next(&rest, &length));
  assert_int_equal(length, 0);
  assert_null(rest);
  assert_null(gpnn_list_next(&rest, &length));
}

static void only_whole_items_are_found(void **state)
{
  (void)state;
  const char *list = "one,two,three";
  assert_true(gpnn_list_has(list, "one", 3));
  assert_true(gpnn_list_has(list, "threefold", 5));
  assert_false(gpnn_list_has(list, "on", 2));
  assert_false(gpnn_list_has(list, "two,three", 9));
  assert_false(gpnn_list_has(list, "", 0));
  assert_false(gpnn_list_has(NULL, "one", 3));
}

static void a_pair_is_two_numbers_and_nothing_else(void **state)
{
  (void)state;
  static const char *const bad[] = {"", "1", "1,", ",2", "1,2,", "1,2,3", "1;2", "1,x", "1,inf"};
  double pair[2];
  assert_true(gpnn_list_read_pair("-1.5, 2e3", pair));
  assert_true(pair[0] == -1.5 && pair[1] == 2000);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_false(gpnn_list_read_pair(bad[i], pair));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(items_come_in_order_and_may_be_empty),
      cmocka_unit_test(the_empty_text_has_one_item_and_no_text_none),
      cmocka_unit_test(only_whole_items_are_found),
      cmocka_unit_test(a_pair_is_two_numbers_and_nothing_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
