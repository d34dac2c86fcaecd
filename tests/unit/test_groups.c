/* Numbers for named groups. */
#include "table/groups.h"
#include "unit.h"

static void names_get_numbers_in_the_order_of_their_appearance(void **state)
{
  (void)state;
  enum { GROUPS = 5000 };
  struct gpnn_groups groups = {0};
  uint32_t number = 77;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < GROUPS; i++) {
      char name[24];
      int length = snprintf(name, sizeof name, "group %u", i * i);
      assert_ok(gpnn_groups_number(&groups, name, (size_t)length, &number, &err));
      assert_int_equal(number, i);
    }
  assert_int_equal(groups.n, GROUPS);
  gpnn_groups_release(&groups);
}

static void names_are_compared_to_the_last_byte(void **state)
{
  (void)state;
  struct gpnn_groups groups = {0};
  static const char *const names[] = {"", "a", "b", "ab", "a ", " a", "1", "1.0", "A"};
  uint32_t number;
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_ok(gpnn_groups_number(&groups, names[i], strlen(names[i]), &number, &err));
    assert_int_equal(number, i);
  }
  assert_ok(gpnn_groups_number(&groups, "abc", 2, &number, &err));
  assert_int_equal(number, 3);
  gpnn_groups_release(&groups);
  assert_int_equal(groups.n, 0);
}

static void many_names_get_the_numbers_of_one_after_another(void **state)
{
  (void)state;
  enum { NAMES = 3000, PIECE = 37 };
  static uint64_t name[NAMES];
  static uint32_t number[NAMES];
  for (uint64_t i = 0; i < NAMES; i++) name[i] = i * i % 1009 << 32 | i % 7;
  for (size_t room = 0; room <= NAMES; room += NAMES / 2) {
    struct gpnn_groups each = {0}, all = {0};
    for (size_t from = 0, n; from < NAMES; from += n) {
      n = NAMES - from < PIECE ? NAMES - from : PIECE;
      assert_ok(gpnn_groups_number_all(&all, room, n, name + from, number + from, &err));
    }
    for (size_t i = 0; i < NAMES; i++) {
      uint32_t expected;
      assert_ok(gpnn_groups_number(&each, (const char *)&name[i], 8, &expected, &err));
      assert_int_equal(number[i], expected);
    }
    assert_int_equal(all.n, each.n);
    gpnn_groups_release(&each);
    gpnn_groups_release(&all);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_get_numbers_in_the_order_of_their_appearance),
      cmocka_unit_test(names_are_compared_to_the_last_byte),
      cmocka_unit_test(many_names_get_the_numbers_of_one_after_another),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
