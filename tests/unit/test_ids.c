#include "dataset/ids.h"

#include <string.h>

#include "unit.h"

static void assert_id(const struct gpnn_ids *ids, size_t row, const char *text, size_t n)
{
  size_t length;
  const char *found = gpnn_ids_get(ids, row, &length);
  assert_int_equal(length, n);
  assert_memory_equal(found, text, n);
}

static void ids_are_kept_in_their_order(void **state)
{
  struct gpnn_ids_list list = {0};
  char text[16];
  (void)state;
  assert_ok(gpnn_ids_add(&list, "", 0, &err));
  assert_ok(gpnn_ids_add(&list, "a\0b", 3, &err));
  for (int i = 0; i < 1000; i++)
    assert_ok(gpnn_ids_add(&list, text, (size_t)snprintf(text, sizeof text, "%d", i), &err));
  assert_int_equal(list.ids.n, 1002);
  assert_true(gpnn_ids_are_good(&list.ids));
  assert_id(&list.ids, 0, "", 0);
  assert_id(&list.ids, 1, "a\0b", 3);
  for (size_t i = 0; i < 1000; i++)
    assert_id(&list.ids, 2 + i, text, (size_t)snprintf(text, sizeof text, "%zu", i));
  gpnn_ids_release(&list);
}

static void ids_that_overlap_or_end_elsewhere_are_not_good(void **state)
{
  const uint64_t good[] = {2, 2, 5}, overlap[] = {3, 2, 5}, beyond[] = {2, UINT64_MAX, 5};
  struct gpnn_ids ids = {3, 5, good, "abcde"};
  (void)state;
  assert_true(gpnn_ids_are_good(&ids));
  ids.ends = overlap;
  assert_false(gpnn_ids_are_good(&ids));
  ids.ends = beyond;
  assert_false(gpnn_ids_are_good(&ids));
  ids.ends = good;
  ids.n_bytes = 6;
  assert_false(gpnn_ids_are_good(&ids));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ids_are_kept_in_their_order),
      cmocka_unit_test(ids_that_overlap_or_end_elsewhere_are_not_good),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
