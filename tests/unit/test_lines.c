/* Lines of a table that are records, read apart from it. */
#include <stdlib.h>

#include "table/lines.h"
#include "text_table.h"
#include "unit.h"

enum { BYTES = 1 << 16, MUCH = 1 << 20 };

/* Appends the next record of a table, or what is wrong with it, with the number of its line, to the
 * '*used' bytes of 'out'; returns its status. */
static enum gpnn_status list_next(struct gpnn_table *table, char *out, size_t *used)
{
  struct gpnn_record record = {.line = 0};
  struct gpnn_error error = {.status = GPNN_OK};
  enum gpnn_status status = gpnn_table_next(table, &record, &error);
  if (status == GPNN_END) return status;
  *used +=
      (size_t)sprintf(out + *used, "%zu %zu %.*s %s\n", record.line, record.n_fields,
                      (int)record.raw_length, record.raw == NULL ? "" : record.raw, error.text);
  return status;
}

static bool goes_on(enum gpnn_status status)
{
  return status == GPNN_OK || status == GPNN_EDATA;
}

static void list_all(struct gpnn_table *table, char *out)
{
  size_t used = 0;
  while (goes_on(list_next(table, out, &used))) {
  }
}

/* The same where lines are taken, 'most' at a time or of 'most_bytes' bytes; returns how many. */
static size_t list_by_lines(struct gpnn_table *table, size_t most, size_t most_bytes, char *out)
{
  struct gpnn_lines lines = {0};
  struct gpnn_table *of_lines = NULL;
  size_t used = 0, n = 0;
  enum gpnn_status status = GPNN_OK;
  assert_ok(gpnn_lines_open(&of_lines, table, &err));
  while (goes_on(status)) {
    assert_ok(gpnn_lines_take(table, most, most_bytes, &lines, &err));
    assert_true(lines.n <= most);
    n += lines.n;
    if (lines.n == 0) {
      status = list_next(table, out, &used);
      continue;
    }
    gpnn_lines_set(of_lines, &lines);
    while (goes_on(status)) status = list_next(of_lines, out, &used);
    assert_int_equal(status, GPNN_END);
    status = GPNN_OK;
  }
  gpnn_lines_close(of_lines);
  free(lines.bytes);
  return n;
}

/* Compares both ways of reading a file; returns the number of lines that were taken. */
static size_t compare(const char *path, const struct gpnn_notation *notation, size_t most,
                      size_t most_bytes)
{
  static char whole[BYTES], parts[BYTES];
  const struct gpnn_table_options options = {.has_header = true, .notation = *notation};
  struct gpnn_table *table = NULL;
  whole[0] = parts[0] = '\0';
  assert_ok(gpnn_table_open(&table, path, &options, &err));
  list_all(table, whole);
  gpnn_table_close(table);
  assert_ok(gpnn_table_open(&table, path, &options, &err));
  size_t n = list_by_lines(table, most, most_bytes, parts);
  gpnn_table_close(table);
  assert_string_equal(parts, whole);
  return n;
}

static const struct gpnn_notation usual = {.missing = NULL};

static void lines_and_records_are_those_of_the_table(void **state)
{
  (void)state;
  enum { MOST = 6 };
  const char *texts[] = {
      "a,b\n1,2\n3,4\n5,6\n7,8\n9,10\n",
      "a,b\r\n1,2\r\n\r\n3,4\r\n5,6\n7,8\r\n9,10",
      "a,b\n\n\n1,2\n\n3,4\n5,6\n7,8,9\n10\n11,12\n",
      "a,b\n1,2\n3,4\n\"5\",6\n7,8\n9,\"1\n0\"\n11,12\n13,\"1\"4\n15,16\n17,18\n",
      "a,b\n1,2\n3,4\n5,\"6\n7,8\n",
      "a b\n1 2\n3   4\n 5 6\n",
      "{\"a\": 1, \"b\": 2}\n{\"a\": 3, \"b\": 4}\n{\"a\": 5, \"b\": 6}\n",
      "a,b\n",
  };
  for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
    for (size_t most = 1; most <= MOST; most++)
      compare(scratch_text("t.csv", texts[t]), &usual, most, MUCH);
  const char *path = scratch_write("t.csv", "a,b\n1,2\n3,4\n5,\0\n7,8\n", 20);
  for (size_t most = 1; most <= MOST; most++) compare(path, &usual, most, MUCH);
}

static void lines_are_taken_where_they_are_plain(void **state)
{
  (void)state;
  const char *path = scratch_text("t.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n9,10\n\n11,12\n");
  /* The first record tells that lines have as many fields as the header. */
  assert_int_equal(compare(path, &usual, 2, MUCH), 4);
  assert_int_equal(compare(path, &usual, 4, MUCH), 4);
  assert_int_equal(compare(path, &usual, 5, MUCH), 0);
  assert_int_equal(compare(path, &usual, 5, 4), 4);
  assert_int_equal(compare(path, &(struct gpnn_notation){.comment = "#"}, 2, MUCH), 0);
}

static void damage_is_found_behind_the_records_before_it(void **state)
{
  (void)state;
  enum { ROWS = 3000, MOST = 1024 };
  char *text = malloc(BYTES);
  size_t used = (size_t)sprintf(text, "a,b\n"), length;
  for (int i = 0; i < ROWS; i++) used += (size_t)sprintf(text + used, "%d,%d\n", i, i * i % 1009);
  char *zip = scratch_read(scratch_gzip("t.gz", text, used), &length);
  const char *path = scratch_write("t.gz", zip, length / 2);
  assert_true(compare(path, &usual, MOST / 8, MUCH) > 0);
  compare(path, &usual, MOST, MUCH);
  free(zip);
  free(text);
}

static void a_line_without_end_is_not_waited_for(void **state)
{
  (void)state;
  enum { ROWS = 100, MOST_BYTES = 1 << 12 };
  const struct gpnn_table_options options = {.has_header = true};
  struct gpnn_lines lines = {0};
  struct gpnn_table *table = NULL;
  struct gpnn_record record;
  char *text = calloc(2, MUCH);
  size_t used = (size_t)sprintf(text, "a,b\n");
  for (int i = 0; i < ROWS; i++) used += (size_t)sprintf(text + used, "%d,2\n", i);
  assert_ok(gpnn_table_open(&table, scratch_write("t.csv", text, 2 * MUCH), &options, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_lines_take(table, MUCH, MOST_BYTES, &lines, &err));
  assert_int_equal(lines.n, 0);
  assert_true(gpnn_input_share(gpnn_table_input(table)) < 0.5);
  for (int i = 1; i < ROWS; i++) assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_table_next(table, &record, &err), GPNN_EFORMAT, "t.csv:102: has a NUL byte");
  gpnn_table_close(table);
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_and_records_are_those_of_the_table),
      cmocka_unit_test(lines_are_taken_where_they_are_plain),
      cmocka_unit_test(damage_is_found_behind_the_records_before_it),
      cmocka_unit_test(a_line_without_end_is_not_waited_for),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
