#include "table/split.h"
#include "text_table.h"
#include "unit.h"

/* Adds the rows of a table of one column. */
static enum gpnn_status add_all(struct gpnn_order *order, const char *text,
                                struct gpnn_error *error)
{
  struct gpnn_table *table = open_notation(text, true, &(struct gpnn_notation){.missing = "-99"});
  struct gpnn_record record;
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK && gpnn_table_next(table, &record, NULL) == GPNN_OK)
    status = gpnn_order_add(order, table, &record, error);
  gpnn_table_close(table);
  return status;
}

/* The last rows, as a text of 0 and 1. */
static void assert_last(const char *text, size_t n_last, const char *wanted)
{
  struct gpnn_order order = {0};
  bool *is_last = NULL;
  assert_ok(add_all(&order, text, &err));
  assert_int_equal(order.n, strlen(wanted));
  assert_ok(gpnn_order_last(&order, n_last, &is_last, &err));
  for (size_t i = 0; i < order.n; i++) assert_int_equal(is_last[i], wanted[i] == '1');
  free(is_last);
  gpnn_order_release(&order);
}

static void numbers_are_compared_as_numbers_and_texts_as_bytes(void **state)
{
  (void)state;
  assert_last("a\n9\n10\n-1e9\n1e1\n", 2, "0101");
  assert_last("a\n9\n10\n-1e9\n1e1\n", 3, "1101");
  assert_last("a\nw9\n10\n-1e9\nw\n", 2, "1001");
  assert_last("a\n2024-02-01\n2023-12-31T23:59\n2023-12-31\n", 2, "110");
}

static void of_equal_values_the_later_rows_come_last(void **state)
{
  (void)state;
  assert_last("a\n1\n1.0\n0\n1e0\n", 2, "0101");
  assert_last("a\n-0\n0\n", 1, "01");
  assert_last("a\nx\nx\nw\nx\n", 2, "0101");
}

static void none_and_all_rows_can_be_asked_for(void **state)
{
  (void)state;
  assert_last("a\n", 0, "");
  assert_last("a\n5\n4\n", 0, "00");
  assert_last("a\n5\n4\n", 2, "11");
}

/* The first that has not the form of a date; none where all do. */
static void a_text_that_is_no_date_with_its_year_first_is_remembered(void **state)
{
  (void)state;
  static const char *const good[] = {"2024-03", "2024/03/01", "2024.03.01 6:00", "2024-03-01T06"};
  static const char *const bad[] = {"2024-3-01", "2024-03-1", "2024-03-x", "01.03.2024", "monday"};
  char text[100];
  for (size_t i = 0; i < sizeof good / sizeof *good + sizeof bad / sizeof *bad; i++) {
    bool is_good = i < sizeof good / sizeof *good;
    struct gpnn_order order = {0};
    const char *value = is_good ? good[i] : bad[i - sizeof good / sizeof *good];
    snprintf(text, sizeof text, "a\n2024-01-01\n%s\nnone\n", value);
    assert_ok(add_all(&order, text, &err));
    assert_int_equal(order.doubtful_line, is_good ? 4 : 3);
    assert_string_equal(order.doubtful, is_good ? "none" : value);
    gpnn_order_release(&order);
  }
}

static void missing_values_and_mixtures_are_refused(void **state)
{
  (void)state;
  static const char *const bad[][2] = {{"a\nx\n-99\n", "t.csv:3: column 'a': missing value"},
                                       {"a\n1\n-99.0\n", "t.csv:3: column 'a': missing value"},
                                       {"a\n1\nx\n", "t.csv:3: column 'a': not a number: \"x\""},
                                       {"a\ninf\n", "t.csv:2: column 'a': not a finite number"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct gpnn_order order = {.n = 0};
    assert_fails(add_all(&order, bad[i][0], &err), GPNN_EDATA, bad[i][1]);
    gpnn_order_release(&order);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_compared_as_numbers_and_texts_as_bytes),
      cmocka_unit_test(of_equal_values_the_later_rows_come_last),
      cmocka_unit_test(none_and_all_rows_can_be_asked_for),
      cmocka_unit_test(a_text_that_is_no_date_with_its_year_first_is_remembered),
      cmocka_unit_test(missing_values_and_mixtures_are_refused),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
