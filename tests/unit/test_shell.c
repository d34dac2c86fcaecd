/* Words for a shell, read back by one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/shell.h"
#include "unit.h"

/* What a shell makes of 'text' once it is quoted, with an end mark, for the caller to free(). */
static char *read_back(const char *text)
{
  char *command = NULL, *word = calloc(1, 64);
  size_t length;
  FILE *to = open_memstream(&command, &length);
  assert_non_null(word);
  assert_non_null(to);
  fputs("printf '%s!' ", to);
  shell_print_word(text, to);
  assert_int_equal(fclose(to), 0);
  FILE *from = popen(command, "r");
  assert_non_null(from);
  word[fread(word, 1, 63, from)] = '\0';
  assert_int_equal(pclose(from), 0);
  free(command);
  return word;
}

static void a_shell_reads_back_what_was_quoted(void **state)
{
  static const char *const texts[] = {"",
                                      "plain-1.5_/,:=+%@",
                                      "two words",
                                      "it's",
                                      "'",
                                      "''a",
                                      "$HOME `id` $(id)",
                                      "\\",
                                      "a\nb",
                                      "*?[a-z]{1,2}",
                                      "~",
                                      "#comment",
                                      "a;b|c&d<e>f(g)",
                                      "\"q\"",
                                      "^!",
                                      "caf\xc3\xa9",
                                      "-y",
                                      "{}"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    char expected[64], *word = read_back(texts[i]);
    snprintf(expected, sizeof expected, "%s!", texts[i]);
    assert_string_equal(word, expected);
    free(word);
  }
}

static void a_word_that_needs_no_quotes_gets_none(void **state)
{
  char text[16] = "";
  FILE *to = fmemopen(text, sizeof text, "w");
  (void)state;
  assert_non_null(to);
  shell_print_word("a=%d/%m,b:1", to);
  fclose(to);
  assert_string_equal(text, "a=%d/%m,b:1");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_shell_reads_back_what_was_quoted),
      cmocka_unit_test(a_word_that_needs_no_quotes_gets_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
