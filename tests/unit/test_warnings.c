/* Warnings of several targets. */
#include <stdio.h>
#include <string.h>

#include "cmd/common/cli_private.h"
#include "unit.h"

static void assert_text(const struct warnings *warnings, size_t i, const char *expected)
{
  char text[2 * WARNINGS_BYTES];
  assert_string_equal(warnings_text(warnings, i, text), expected);
}

static void one_kind_is_one_warning_that_names_its_targets(void **state)
{
  static const char kind[] = "k", other[] = "o";
  struct warnings warnings = {0};
  (void)state;
  assert_true(warnings_add(&warnings, kind, "odd", "a"));
  assert_text(&warnings, 0, "target 'a': odd");
  assert_true(warnings_add(&warnings, other, "even", "a"));
  assert_true(warnings_add(&warnings, kind, "odd", "b"));
  assert_text(&warnings, 0, "targets 'a' and 'b': odd");
  assert_true(warnings_add(&warnings, kind, "odd", "c"));
  assert_text(&warnings, 0, "targets 'a', 'b' and 'c': odd");
  for (int i = 0; i < 11; i++) assert_true(warnings_add(&warnings, kind, "odd", "d"));
  assert_text(&warnings, 0, "targets 'a', 'b' and 12 more: odd");
  assert_true(warnings_add(&warnings, other, "uneven", "\x1b"));
  assert_text(&warnings, 1, "targets 'a' and '?': even (numbers of 'a')");
  assert_int_equal(warnings.n, 2);
  warnings_release(&warnings);
}

static void warnings_about_no_target_stay_apart(void **state)
{
  static const char kind[] = "k";
  struct warnings warnings = {0};
  (void)state;
  assert_true(warnings_add(&warnings, kind, "odd", NULL));
  assert_true(warnings_add(&warnings, kind, "odd", NULL));
  assert_true(warnings_add(&warnings, kind, "odd", "a"));
  assert_int_equal(warnings.n, 3);
  assert_text(&warnings, 1, "odd");
  assert_text(&warnings, 2, "target 'a': odd");
  warnings_release(&warnings);
}

static void the_longest_warning_is_whole(void **state)
{
  static const char kind[] = "k";
  char name[200], text[WARNINGS_BYTES], shown[2 * WARNINGS_BYTES];
  struct warnings warnings = {0};
  (void)state;
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  memset(text, 't', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  for (int i = 0; i < 3; i++) assert_true(warnings_add(&warnings, kind, text + i, name));
  warnings_text(&warnings, 0, shown);
  assert_non_null(strstr(shown, text));
  assert_int_equal(shown[strlen(shown) - 1], ')');
  warnings_release(&warnings);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_kind_is_one_warning_that_names_its_targets),
      cmocka_unit_test(warnings_about_no_target_stay_apart),
      cmocka_unit_test(the_longest_warning_is_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
