/* Columns by name and number, lists of them, and the numbers that stand in them. */
#include "table/columns.h"
#include "text_table.h"

static void assert_finds(const struct gpnn_table *table, const char *wanted, size_t expected)
{
  size_t column = 99;
  assert_ok(gpnn_columns_find(table, wanted, &column, &err));
  if (column != expected) fail_msg("'%s' is column %zu, not %zu", wanted, column, expected);
}

static void assert_lists(const struct gpnn_table *table, const char *list, const char *expected)
{
  size_t *columns, n;
  char shown[200] = "";
  assert_ok(gpnn_columns_find_list(table, list, &columns, &n, &err));
  for (size_t i = 0; i < n; i++)
    snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%zu ", columns[i]);
  free(columns);
  assert_string_equal(shown, expected);
}

static void a_column_is_found_by_name_before_number(void **state)
{
  (void)state;
  struct gpnn_table *table = open_text("b,2,a,1-3,\n", true);
  assert_finds(table, "a", 2);
  assert_finds(table, "2", 1);
  assert_finds(table, "1", 0);
  assert_finds(table, "5", 4);
  assert_finds(table, "1-3", 3);
  assert_finds(table, "", 4);
  gpnn_table_close(table);
}

static void an_unknown_column_is_refused_with_a_near_name(void **state)
{
  (void)state;
  struct gpnn_table *table = open_text("latitude,longitude,Price\n", true);
  size_t column = 99;
  assert_fails(gpnn_columns_find(table, "lattitude", &column, &err), GPNN_EINVAL,
               "t.csv: no column 'lattitude' (did you mean 'latitude'?)");
  assert_fails(gpnn_columns_find(table, "price", &column, &err), GPNN_EINVAL, "mean 'Price'?");
  assert_fails(gpnn_columns_find(table, "pirce", &column, &err), GPNN_EINVAL, "mean 'Price'?");
  assert_fails(gpnn_columns_find(table, "zebra", &column, &err), GPNN_EINVAL,
               "t.csv: no column 'zebra': there are 3 columns");
  assert_fails(gpnn_columns_find(table, "4", &column, &err), GPNN_EINVAL, "there are 3 columns");
  assert_fails(gpnn_columns_find(table, "0", &column, &err), GPNN_EINVAL, "no column '0'");
  assert_fails(gpnn_columns_find(table, "1-2", &column, &err), GPNN_EINVAL, "no column '1-2'");
  assert_fails(gpnn_columns_find(table, "a\033[1m", &column, &err), GPNN_EINVAL, "'a?[1m'");
  assert_int_equal(column, 99);
  gpnn_table_close(table);
  char text[1000];
  snprintf(text, sizeof text, "%0500d,b\n", 7); /* a name too long to be compared */
  table = open_text(text, true);
  text[400] = '\0';
  assert_fails(gpnn_columns_find(table, text + 1, &column, &err), GPNN_EINVAL, "0...'");
  assert_fails(gpnn_columns_find(table, "x7", &column, &err), GPNN_EINVAL, "there are 2 columns");
  gpnn_table_close(table);
  table = open_text("1,2\n", false);
  assert_fails(gpnn_columns_find(table, "x", &column, &err), GPNN_EINVAL,
               "no column 'x': there are 2 columns");
  gpnn_table_close(table);
}

static void a_name_that_occurs_twice_is_refused(void **state)
{
  (void)state;
  struct gpnn_table *table = open_text("x,y,x\n", true);
  size_t column;
  assert_fails(gpnn_columns_find(table, "x", &column, &err), GPNN_EINVAL,
               "t.csv: 2 columns are named 'x'");
  assert_finds(table, "3", 2);
  gpnn_table_close(table);
}

static void a_list_keeps_the_order_asked(void **state)
{
  (void)state;
  struct gpnn_table *table = open_text("a,b,c,d,2-3\n", true);
  assert_lists(table, "c,a", "2 0 ");
  assert_lists(table, "4,1-2,c", "3 0 1 2 ");
  assert_lists(table, "2-3", "4 ");
  assert_lists(table, "3-3", "2 ");
  assert_lists(table, "1-5", "0 1 2 3 4 ");
  gpnn_table_close(table);
}

static void a_bad_list_is_refused(void **state)
{
  (void)state;
  struct gpnn_table *table = open_text("a,b,c,d\n", true);
  static const char *const unknown[] = {"",   "a,", ",a",   "3-2", "1-9",   "0-2",
                                        "-2", "2-", "1--2", "a-c", "1-2-3", "a, b"};
  size_t *columns = NULL, n;
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    assert_fails(gpnn_columns_find_list(table, unknown[i], &columns, &n, &err), GPNN_EINVAL,
                 "t.csv: no column '");
  assert_fails(gpnn_columns_find_list(table, "a,1", &columns, &n, &err), GPNN_EINVAL,
               "column 'a' is given twice");
  assert_fails(gpnn_columns_find_list(table, "1-3,b", &columns, &n, &err), GPNN_EINVAL,
               "column 'b' is given twice");
  assert_null(columns);
  gpnn_table_close(table);
}

static void a_bad_number_is_named_with_its_place(void **state)
{
  (void)state;
  struct gpnn_table *table =
      open_notation("lat,b,c,d,e\n\nabc,,inf, 2.5 ,-999\n\"a\"\"\nb\",NA,1e999,nan,1\n", true,
                    &(struct gpnn_notation){.missing = "-999"});
  struct gpnn_record record;
  double value = 99;
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_columns_number(table, &record, 0, &value, &err), GPNN_EDATA,
               "t.csv:3: column 'lat': not a number: \"abc\"");
  assert_fails(gpnn_columns_number(table, &record, 1, &value, &err), GPNN_EDATA,
               "t.csv:3: column 'b': missing value");
  assert_fails(gpnn_columns_number(table, &record, 2, &value, &err), GPNN_EDATA,
               "t.csv:3: column 'c': not a finite number: \"inf\"");
  assert_fails(gpnn_columns_number(table, &record, 4, &value, &err), GPNN_EDATA,
               "t.csv:3: column 'e': missing value");
  assert_true(value == 99);
  assert_ok(gpnn_columns_number(table, &record, 3, &value, &err));
  assert_true(value == 2.5);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_columns_number(table, &record, 0, &value, &err), GPNN_EDATA,
               "t.csv:4: column 'lat': not a number: \"a\"?b\"");
  assert_fails(gpnn_columns_number(table, &record, 1, &value, &err), GPNN_EDATA,
               "t.csv:4: column 'b': not a number: \"NA\"");
  assert_fails(gpnn_columns_number(table, &record, 2, &value, &err), GPNN_EDATA,
               "not a finite number: \"1e999\"");
  gpnn_table_close(table);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_column_is_found_by_name_before_number),
      cmocka_unit_test(an_unknown_column_is_refused_with_a_near_name),
      cmocka_unit_test(a_name_that_occurs_twice_is_refused),
      cmocka_unit_test(a_list_keeps_the_order_asked),
      cmocka_unit_test(a_bad_list_is_refused),
      cmocka_unit_test(a_bad_number_is_named_with_its_place),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
