#include "scratch.h"
#include "table/columns.h"
#include "table/skipped.h"
#include "unit.h"

enum { COLUMNS = 3 };

/* Counts every record of 'text' that has a field which is no number. */
static struct gpnn_table *count_bad(const char *text, struct gpnn_skipped *skipped, size_t *n_good)
{
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_table *table = NULL;
  struct gpnn_record record;
  struct gpnn_error err;
  enum gpnn_status status;
  *n_good = 0;
  status = gpnn_table_open(&table, scratch_text("t.tsv", text), &as_usual, NULL);
  assert_int_equal(status, GPNN_OK);
  while ((status = gpnn_table_next(table, &record, &err)) != GPNN_END) {
    double value;
    for (size_t j = 0; j < COLUMNS && status == GPNN_OK; j++)
      status = gpnn_columns_number(table, &record, j, &value, &err);
    if (status == GPNN_OK)
      ++*n_good;
    else
      gpnn_skipped_add(skipped, &record, &err);
  }
  return table;
}

static void bad_rows_are_told_by_column_the_most_frequent_first(void **state)
{
  (void)state;
  struct gpnn_skipped skipped = {0};
  char text[GPNN_SKIPPED_BYTES];
  size_t n_good;
  struct gpnn_table *table = count_bad("a\tb\tc\n1\t2\t3\nNA\t2\t3\n1\t2,810\t3\n1\t2,811\t3\n1\n"
                                       "1\t2\tinf\n1\t\t3\n",
                                       &skipped, &n_good);
  assert_int_equal(n_good, 1);
  assert_int_equal(skipped.n, 6);
  assert_string_equal(gpnn_skipped_describe(&skipped, table, text),
                      "column 'b': not a number in 2 rows, as \"2,810\" (line 4); column 'a': "
                      "missing value in 1 row, as \"NA\" (line 3); 3 for other reasons");
  gpnn_table_close(table);
}

static void one_reason_is_told_alone(void **state)
{
  (void)state;
  struct gpnn_skipped skipped = {0};
  char text[GPNN_SKIPPED_BYTES];
  size_t n_good;
  struct gpnn_table *table = count_bad("a\tb\tc\n1\t2\n1\t2\t3\n1\t2\t3\t4\n", &skipped, &n_good);
  assert_string_equal(gpnn_skipped_describe(&skipped, table, text),
                      "malformed in 2 rows, as in line 2");
  gpnn_table_close(table);
}

static void parts_are_told_as_the_whole(void **state)
{
  (void)state;
  struct gpnn_skipped first = {0}, second = {0}, joined = {0}, full = {0};
  char text[GPNN_SKIPPED_BYTES];
  char reason[] = "not a number"; /* the same text at another address */
  size_t n_good;
  gpnn_table_close(count_bad("a\tb\tc\n1\t2\t3\nNA\t2\t3\n1\tx\t3\n", &first, &n_good));
  struct gpnn_table *table = count_bad("a\tb\tc\n1\t2\t3\n1\ty\t3\n1\n1\tz\t3\n", &second, &n_good);
  second.kinds[0].what = reason;
  assert_true(gpnn_skipped_join(&joined, &first));
  assert_true(gpnn_skipped_join(&joined, &second));
  assert_int_equal(joined.n, 5);
  assert_string_equal(gpnn_skipped_describe(&joined, table, text),
                      "column 'b': not a number in 3 rows, as \"x\" (line 4); column 'a': missing "
                      "value in 1 row, as \"NA\" (line 3); malformed in 1 row, as in line 4");
  full.n_kinds = GPNN_SKIPPED_KINDS;
  for (size_t k = 0; k < full.n_kinds; k++) full.kinds[k].what = reason;
  assert_false(gpnn_skipped_join(&joined, &full));
  gpnn_table_close(table);
}

static void three_kinds_are_all_named(void **state)
{
  (void)state;
  struct gpnn_skipped skipped = {0};
  char text[GPNN_SKIPPED_BYTES];
  size_t n_good;
  struct gpnn_table *table =
      count_bad("a\tb\tc\n1\t2\t3\nNA\t2\t3\n1\tx\t3\n1\n1\tx\t4\n", &skipped, &n_good);
  assert_string_equal(gpnn_skipped_describe(&skipped, table, text),
                      "column 'b': not a number in 2 rows, as \"x\" (line 4); column 'a': missing "
                      "value in 1 row, as \"NA\" (line 3); malformed in 1 row, as in line 5");
  gpnn_table_close(table);
}

static void names_and_texts_of_any_length_fit(void **state)
{
  (void)state;
  static const char *const row = "1\t2\n";
  char header[4000], text[GPNN_SKIPPED_BYTES];
  for (size_t i = 0; i < sizeof header - 1; i++) header[i] = 'n';
  header[1000] = header[2500] = '\t';
  header[sizeof header - 2] = '\n';
  header[sizeof header - 1] = '\0';
  char *table_text = malloc(2 * sizeof header + 100);
  sprintf(table_text, "%s%s%s", header, header, row);
  struct gpnn_skipped skipped = {0};
  size_t n_good;
  struct gpnn_table *table = count_bad(table_text, &skipped, &n_good);
  gpnn_skipped_describe(&skipped, table, text);
  assert_non_null(strstr(text, "nnn...': not a number in 1 row, as \"nnn"));
  assert_non_null(strstr(text, "malformed in 1 row, as in line 3"));
  gpnn_table_close(table);
  free(table_text);
}

static void reasons_of_any_length_fit(void **state)
{
  (void)state;
  struct {
    char text[GPNN_SKIPPED_BYTES], behind[GPNN_SKIPPED_BYTES];
  } room = {.behind = "untouched"};
  char reason[3 * GPNN_SKIPPED_BYTES] = "";
  memset(reason, 'r', sizeof reason - 1);
  struct gpnn_skipped skipped = {0};
  struct gpnn_field fields[4] = {{"x", 1}, {"x", 1}, {"x", 1}, {"x", 1}};
  const struct gpnn_record record = {.line = 2, .fields = fields, .n_fields = 4};
  for (size_t j = 0; j < 4; j++) {
    const struct gpnn_error why = {GPNN_EDATA, "", reason, j};
    gpnn_skipped_add(&skipped, &record, &why);
  }
  size_t n_good;
  struct gpnn_skipped none = {0};
  struct gpnn_table *table = count_bad("a\tb\tc\td\n1\t2\t3\t4\n", &none, &n_good);
  gpnn_skipped_describe(&skipped, table, room.text);
  assert_true(strlen(room.text) < GPNN_SKIPPED_BYTES);
  assert_string_equal(room.behind, "untouched");
  assert_non_null(strstr(room.text, "; 2 for other reasons"));
  gpnn_table_close(table);
}

static void more_reasons_than_there_is_room_for_are_counted(void **state)
{
  (void)state;
  const struct gpnn_record record = {.line = 7};
  struct gpnn_skipped skipped = {0};
  for (size_t j = 0; j < 2 * GPNN_SKIPPED_KINDS; j++) {
    struct gpnn_field fields[2 * GPNN_SKIPPED_KINDS] = {{"x", 1}};
    struct gpnn_record own = record;
    const struct gpnn_error why = {GPNN_EDATA, "", "not a number", j};
    own.fields = fields;
    own.n_fields = 2 * GPNN_SKIPPED_KINDS;
    gpnn_skipped_add(&skipped, &own, &why);
  }
  assert_int_equal(skipped.n, 2 * GPNN_SKIPPED_KINDS);
  assert_int_equal(skipped.n_kinds, GPNN_SKIPPED_KINDS);
}

static void more_than_a_fifth_is_much(void **state)
{
  (void)state;
  struct gpnn_skipped skipped = {0};
  assert_false(gpnn_skipped_too_many(&skipped, 0));
  gpnn_skipped_add_malformed(&skipped, 0, 9);
  assert_int_equal(skipped.n_kinds, 0);
  gpnn_skipped_add_malformed(&skipped, 20, 2);
  assert_false(gpnn_skipped_too_many(&skipped, 80));
  assert_true(gpnn_skipped_too_many(&skipped, 79));
  assert_true(gpnn_skipped_too_many(&skipped, 0));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_rows_are_told_by_column_the_most_frequent_first),
      cmocka_unit_test(one_reason_is_told_alone),
      cmocka_unit_test(parts_are_told_as_the_whole),
      cmocka_unit_test(three_kinds_are_all_named),
      cmocka_unit_test(names_and_texts_of_any_length_fit),
      cmocka_unit_test(reasons_of_any_length_fit),
      cmocka_unit_test(more_reasons_than_there_is_room_for_are_counted),
      cmocka_unit_test(more_than_a_fifth_is_much),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
