/* Copies of records, which outlast the table's own. */
#include "scratch.h"
#include "table/records.h"
#include "unit.h"

static struct gpnn_table *open_table(const char *text)
{
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_table *table = NULL;
  assert_ok(gpnn_table_open(&table, scratch_text("t.csv", text), &as_usual, &err));
  return table;
}

static void assert_field(const struct gpnn_record *record, size_t j, const char *text)
{
  assert_true(j < record->n_fields);
  assert_int_equal(record->fields[j].length, strlen(text));
  assert_memory_equal(record->fields[j].text, text, strlen(text));
}

static void records_keep_their_fields_and_lines_when_the_table_goes_on(void **state)
{
  (void)state;
  struct gpnn_table *table = open_table(
      "a,b,c\n1,,three\n\n\"x, y\",\"say \"\"hi\"\"\",\"\"\n\"two\nlines\",5,6\r\n7,8,9");
  struct gpnn_records records = {0};
  struct gpnn_record record;
  while (gpnn_table_next(table, &record, NULL) == GPNN_OK)
    assert_ok(gpnn_records_add(&records, &record, &err));
  gpnn_table_close(table);
  assert_int_equal(records.n, 4);
  record = gpnn_records_get(&records, 3);
  assert_int_equal(record.line, 6 + 1);
  assert_field(&record, 0, "7");
  assert_field(&record, 2, "9");
  record = gpnn_records_get(&records, 1);
  assert_int_equal(record.line, 4);
  assert_field(&record, 0, "x, y");
  assert_field(&record, 1, "say \"hi\"");
  assert_field(&record, 2, "");
  record = gpnn_records_get(&records, 0);
  assert_int_equal(record.line, 2);
  assert_field(&record, 1, "");
  assert_field(&record, 2, "three");
  record = gpnn_records_get(&records, 2);
  assert_field(&record, 0, "two\nlines");
  assert_field(&record, 2, "6");
  gpnn_records_release(&records);
}

static void a_cleared_batch_takes_records_as_a_new_one_does(void **state)
{
  (void)state;
  struct gpnn_records records = {0};
  struct gpnn_record record;
  for (int round = 0; round < 3; round++) {
    struct gpnn_table *table = open_table("a,b\n1,2\n3,4\n");
    gpnn_records_clear(&records);
    assert_int_equal(records.n, 0);
    while (gpnn_table_next(table, &record, NULL) == GPNN_OK)
      assert_ok(gpnn_records_add(&records, &record, &err));
    gpnn_table_close(table);
    assert_int_equal(records.n, 2);
    assert_int_equal(records.text_length, 6);
    record = gpnn_records_get(&records, 1);
    assert_field(&record, 0, "3");
    assert_field(&record, 1, "4");
  }
  gpnn_records_release(&records);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records_keep_their_fields_and_lines_when_the_table_goes_on),
      cmocka_unit_test(a_cleared_batch_takes_records_as_a_new_one_does),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
