/* Messages of failures, and bytes from outside made safe to show. */
#include <errno.h>

#include "unit.h"

static void a_failure_has_its_status_and_message(void **state)
{
  (void)state;
  struct gpnn_error err = {0};
  assert_int_equal(gpnn_fail(&err, GPNN_EDATA, "row %d: %s", 7, "bad"), GPNN_EDATA);
  assert_int_equal(err.status, GPNN_EDATA);
  assert_string_equal(err.text, "row 7: bad");
}

static void no_error_object_is_needed(void **state)
{
  (void)state;
  assert_int_equal(gpnn_fail(NULL, GPNN_EFORMAT, "x"), GPNN_EFORMAT);
  assert_int_equal(gpnn_fail_errno(NULL, ENOSPC, "x"), GPNN_EIO);
  assert_int_equal(gpnn_fail_memory(NULL, "x"), GPNN_ENOMEM);
}

static void a_failed_system_call_ends_in_the_reason(void **state)
{
  (void)state;
  struct gpnn_error err = {0};
  assert_int_equal(gpnn_fail_errno(&err, ENOENT, "%s: cannot be opened", "x"), GPNN_EIO);
  assert_string_equal(err.text, "x: cannot be opened: No such file or directory");
  assert_int_equal(gpnn_fail_errno(&err, ENOMEM, "x"), GPNN_ENOMEM);
  assert_int_equal(err.status, GPNN_ENOMEM);
}

static void context_goes_before_the_message(void **state)
{
  (void)state;
  struct gpnn_error err = {0};
  gpnn_fail(&err, GPNN_EVERSION, "inner");
  assert_int_equal(gpnn_prefix(&err, GPNN_EVERSION, "file %d", 1), GPNN_EVERSION);
  assert_int_equal(gpnn_prefix(NULL, GPNN_EDATA, "file"), GPNN_EDATA);
  assert_string_equal(err.text, "file 1: inner");
}

static void long_messages_are_cut_and_terminated(void **state)
{
  (void)state;
  char longer[2 * GPNN_ERROR_BYTES];
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  struct gpnn_error err = {0};
  gpnn_fail(&err, GPNN_EIO, "%s", longer);
  assert_int_equal(strlen(err.text), GPNN_ERROR_BYTES - 1);
  gpnn_prefix(&err, GPNN_EIO, "ab");
  assert_int_equal(strlen(err.text), GPNN_ERROR_BYTES - 1);
  assert_memory_equal(err.text, "ab: xxx", 7);
  gpnn_fail_errno(&err, EIO, "%s", longer);
  assert_int_equal(strlen(err.text), GPNN_ERROR_BYTES - 1);
}

static void assert_masks(const char *bytes, size_t n_bytes, const char *expected)
{
  char out[GPNN_MASK_BYTES];
  assert_ptr_equal(gpnn_mask(out, bytes, n_bytes), out);
  assert_string_equal(out, expected);
}

static void printable_text_is_shown_as_it_is(void **state)
{
  (void)state;
  assert_masks("", 0, "");
  assert_masks(NULL, 0, "");
  assert_masks("abc ~", 5, "abc ~");
  assert_masks("\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7", 9, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7");
}

static void what_could_harm_a_terminal_is_not_shown(void **state)
{
  (void)state;
  assert_masks("a\033[2J\x7f\n\t\0b", 10, "a?[2J????b");
  assert_masks("\xc2\x9b", 2, "??");      /* a C1 control */
  assert_masks("\xe2\x80\xae", 3, "???"); /* right-to-left override */
  assert_masks("\xe2\x80\x8b", 3, "???"); /* zero width space */
}

static void malformed_utf8_is_not_shown(void **state)
{
  (void)state;
  assert_masks("\x80", 1, "?");
  assert_masks("\xc3", 1, "?");                /* cut short */
  assert_masks("\xe2\x82", 2, "??");           /* cut short */
  assert_masks("\xc3(", 2, "?(");              /* no continuation */
  assert_masks("\xc0\xaf", 2, "??");           /* overlong */
  assert_masks("\xe0\x80\xaf", 3, "???");      /* overlong */
  assert_masks("\xed\xa0\x80", 3, "???");      /* a surrogate */
  assert_masks("\xf4\x90\x80\x80", 4, "????"); /* beyond U+10FFFF */
  assert_masks("\xff\xfe", 2, "??");
}

static void long_text_is_cut_between_characters(void **state)
{
  (void)state;
  char text[200], out[GPNN_MASK_BYTES];
  for (size_t i = 0; i + 1 < sizeof text; i += 2) memcpy(text + i, "\xc3\xa9", 2);
  for (size_t n = 0; n <= sizeof text; n++) {
    gpnn_mask(out, text, n);
    size_t length = strlen(out);
    assert_true(length < GPNN_MASK_BYTES);
    if (n >= GPNN_MASK_BYTES) {
      assert_string_equal(out + length - 3, "...");
      assert_int_equal(length % 2, 1); /* whole pairs and three dots */
    }
  }
}

static void a_whole_text_is_masked_in_place(void **state)
{
  (void)state;
  char text[] = "\033[2J\tt\xc3\xa9\xc3(\n\x9b\xe2\x80\xae";
  gpnn_mask_all(text, "\t\n");
  assert_string_equal(text, "?[2J\tt\xc3\xa9?(\n????");
  gpnn_mask_all(text, "");
  assert_string_equal(text, "?[2J?t\xc3\xa9?(?????");
}

static void characters_have_lengths(void **state)
{
  (void)state;
  assert_int_equal(gpnn_utf8_length("a", 1), 1);
  assert_int_equal(gpnn_utf8_length("\n", 1), 1);
  assert_int_equal(gpnn_utf8_length("", 0), 0);
  assert_int_equal(gpnn_utf8_length("\xc3\xa9", 2), 2);
  assert_int_equal(gpnn_utf8_length("\xe2\x80\xae", 3), 3);
  assert_int_equal(gpnn_utf8_length("\xf0\x9f\x90\xa7", 4), 4);
  assert_int_equal(gpnn_utf8_length("\xc3\xa9", 1), 0);         /* cut short */
  assert_int_equal(gpnn_utf8_length("\xc0\x80", 2), 0);         /* longer than it need be */
  assert_int_equal(gpnn_utf8_length("\xed\xa0\x80", 3), 0);     /* half of a pair */
  assert_int_equal(gpnn_utf8_length("\xf4\x90\x80\x80", 4), 0); /* beyond the last */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_failure_has_its_status_and_message),
      cmocka_unit_test(no_error_object_is_needed),
      cmocka_unit_test(a_failed_system_call_ends_in_the_reason),
      cmocka_unit_test(context_goes_before_the_message),
      cmocka_unit_test(long_messages_are_cut_and_terminated),
      cmocka_unit_test(printable_text_is_shown_as_it_is),
      cmocka_unit_test(what_could_harm_a_terminal_is_not_shown),
      cmocka_unit_test(malformed_utf8_is_not_shown),
      cmocka_unit_test(long_text_is_cut_between_characters),
      cmocka_unit_test(a_whole_text_is_masked_in_place),
      cmocka_unit_test(characters_have_lengths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
