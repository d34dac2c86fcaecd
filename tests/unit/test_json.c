/* Records of JSON Lines: names, values, and what is refused. */
#include <math.h>

#include "base/rng.h"
#include "table/columns.h"
#include "table/records.h"
#include "text_table.h"

/* Appends fields to 'shown', with bars between them. */
static void show(char *shown, size_t room, size_t n, const struct gpnn_field *fields)
{
  size_t used = strlen(shown);
  for (size_t j = 0; j < n && used < room; j++)
    used += (size_t)snprintf(shown + used, room - used, "%s%.*s", j == 0 ? "" : "|",
                             (int)fields[j].length, fields[j].text);
}

/* Appends "line:field|field" of one record, or "line!" of a bad one. */
static void show_record(char *shown, size_t room, const struct gpnn_record *record, bool is_good)
{
  size_t used = strlen(shown);
  snprintf(shown + used, room - used, "\n%zu%s", record->line, is_good ? ":" : "!");
  show(shown, room, record->n_fields, record->fields);
}

/* A line of all names, and one for each record; 'err' has what is wrong with the last bad one. */
static enum gpnn_status show_table(const char *text, const struct gpnn_table_options *options,
                                   char *shown, size_t room, struct gpnn_error *err)
{
  struct gpnn_table *table;
  struct gpnn_record record;
  shown[0] = '\0';
  enum gpnn_status status = gpnn_table_open(&table, scratch_text("t.jsonl", text), options, err);
  if (status != GPNN_OK) return status;
  for (size_t j = 0; j < gpnn_table_columns(table); j++) {
    const char *name = gpnn_table_column(table, j);
    if (j > 0) strcat(shown, "|");
    show(shown, room, 1, &(struct gpnn_field){name, strlen(name)});
  }
  while ((status = gpnn_table_next(table, &record, err)) == GPNN_OK || status == GPNN_EDATA)
    show_record(shown, room, &record, status == GPNN_OK);
  gpnn_table_close(table);
  return status == GPNN_END ? GPNN_OK : status;
}

static const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;

static void assert_shows(const char *text, const char *expected)
{
  char shown[2000];
  assert_ok(show_table(text, &as_usual, shown, sizeof shown, &err));
  assert_string_equal(shown, expected);
}

/* The second line is bad, which 'sentence' says, and the third is read all the same. */
static void assert_bad(const char *second, const char *sentence)
{
  char text[3000], shown[2000];
  struct gpnn_error bad;
  snprintf(text, sizeof text, "{\"a\":1,\"b\":{\"c\":2}}\n%s\n{\"a\":5}\n", second);
  assert_ok(show_table(text, &as_usual, shown, sizeof shown, &bad));
  assert_string_equal(shown, "a|b.c\n1:1|2\n2!\n3:5|");
  if (strstr(bad.text, sentence) == NULL) fail_msg("no '%s' in: %s", sentence, bad.text);
}

static void assert_refused(const char *text, const char *sentence)
{
  char shown[2000];
  assert_fails(show_table(text, &as_usual, shown, sizeof shown, &err), GPNN_EDATA, sentence);
}

static void members_are_fields_by_name(void **state)
{
  (void)state;
  assert_shows("{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\",\"a\":2}\n", "a|b\n1:1|x\n2:2|y");
  assert_shows("{\"a\":1,\"b\":2,\"c\":3}\n{\"c\":6}\n{\"b\":5,\"c\":7,\"a\":4}\n{}\n",
               "a|b|c\n1:1|2|3\n2:||6\n3:4|5|7\n4:||");
}

static void numbers_stay_as_they_are_written(void **state)
{
  (void)state;
  assert_shows("{\"a\":-0.50,\"b\":1E+2,\"c\":123456789012345678901234567890}",
               "a|b|c\n1:-0.50|1E+2|123456789012345678901234567890");
}

static void what_is_no_number_has_a_value_all_the_same(void **state)
{
  (void)state;
  assert_shows("{\"a\":true,\"b\":false,\"c\":null,\"d\":\"\",\"e\":NaN,\"f\":-NaN}",
               "a|b|c|d|e|f\n1:1|0||||");
}

static void texts_are_decoded(void **state)
{
  (void)state;
  assert_shows("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "a\n1:\"\\/\b\f\n\r\t");
  assert_shows("{\"\\u0061\":\"\\u00e9\\u20AC\\uD83D\\ude00\"}",
               "a\n1:\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  assert_shows("{\"h\xc3\xb6he\":\"\xed\x9f\xbf\"}", "h\xc3\xb6he\n1:\xed\x9f\xbf");
}

static void nested_members_are_named_with_a_point(void **state)
{
  (void)state;
  assert_shows("{\"a\":{\"x\":1,\"y\":2},\"b\":{},\"c\":3}\n{\"c\":4,\"a\":{\"y\":5}}\n"
               "{\"a\":null,\"c\":6}\n",
               "a.x|a.y|c\n1:1|2|3\n2:|5|4\n3:||6");
  assert_shows("{\"a.b\":1,\"a\":{\"c\":2}}\n{\"a\":{\"b\":3,\"c\":4}}\n", "a.b|a.c\n1:1|2\n2:3|4");
}

static void lines_are_counted_and_may_be_blank(void **state)
{
  (void)state;
  assert_shows("\n\r\n{\"a\":1}\r\n\n{\"a\":2}", "a\n3:1\n5:2");
  assert_shows("\xef\xbb\xbf  { \"a\" : 1 } \n", "a\n1:1");
}

static void comments_and_first_lines_are_passed_over(void **state)
{
  (void)state;
  const struct gpnn_table_options options = {
      .has_header = true, .skip_lines = 1, .notation = {.comment = "#"}};
  char shown[200];
  assert_ok(
      show_table("{\"log\n# \"a\n{\"a\":1}\n#\n{\"a\":2}\n", &options, shown, sizeof shown, &err));
  assert_string_equal(shown, "a\n3:1\n5:2");
}

static void only_an_object_with_a_name_begins_json_lines(void **state)
{
  (void)state;
  assert_shows("{a},b\n1,2\n", "{a}|b\n2:1|2");
  assert_shows("{,b\n1,2\n", "{|b\n2:1|2");
  assert_shows("{}\n1\n", "{}\n2:1");
  assert_shows("\"{\"\"a\"\": 1}\",b\n1,2\n", "{\"a\": 1}|b\n2:1|2");
  assert_refused("{\"a\"},b\n1,2\n", "t.jsonl:1: column 'a': not JSON at byte 5: missing a colon "
                                     "after a name of object member; a table whose first line "
                                     "begins with { and a quote is read as JSON Lines");
}

static void names_are_those_of_the_first_object(void **state)
{
  (void)state;
  assert_bad("{\"a\":1,\"d\":2}", "t.jsonl:2: column 'd': is not in the first object, which names "
                                  "the columns; give it there too, as null");
  assert_bad("{\"b\":{\"d\":2}}", "t.jsonl:2: column 'b.d': is not in the first object");
  assert_bad("{\"b\":2}", "t.jsonl:2: column 'b': is not in the first object");
  assert_refused("{\"a\":{}}\n", "t.jsonl:1: the first object has no members");
}

static void a_name_has_one_value(void **state)
{
  (void)state;
  assert_bad("{\"a\":1,\"a\":1}", "t.jsonl:2: column 'a': occurs twice in one object");
  assert_bad("{\"a\":1,\"b\":{\"c\":1,\"c\":null}}", "column 'b.c': occurs twice in one object");
  assert_bad("{\"b\":{\"c\":1},\"b\":{}}", "column 'b': occurs twice in one object");
  assert_bad("{\"b\":{},\"b\":{\"c\":1}}", "column 'b': occurs twice in one object");
  assert_bad("{\"b\":null,\"b\":{\"c\":1}}", "column 'b': occurs twice in one object");
  assert_bad("{\"b\":null,\"b\":null}", "column 'b': occurs twice in one object");
  assert_bad("{\"b.c\":1,\"b\":{\"c\":1}}", "column 'b.c': occurs twice in one object");
  assert_shows("{\"a\":null,\"a\":{\"b\":1}}", "a|a.b\n1!");
  assert_shows("{\"a\":{\"b\":1},\"a\":2}", "a.b|a\n1!");
  assert_refused("{\"a\":1,\"b\":2,\"a\":1}", "t.jsonl:1: column 'a': occurs twice in one object");
}

static void arrays_and_deep_objects_are_refused_by_name(void **state)
{
  (void)state;
  assert_bad("{\"a\":[1]}", "t.jsonl:2: column 'a': is an array");
  assert_bad("{\"b\":{\"c\":[]}}", "t.jsonl:2: column 'b.c': is an array");
  assert_bad("{\"b\":{\"c\":{\"d\":1}}}", "t.jsonl:2: column 'b.c': is nested more than two deep");
}

static void a_line_that_is_no_object_is_refused(void **state)
{
  (void)state;
  static const char *const lines[] = {"[1,2]", "1", "\"a\"", "null", "a,b", "# {", " ", "}"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
    assert_bad(lines[i], "t.jsonl:2: is not a JSON object, as each line of JSON Lines is");
}

static void a_line_that_is_not_json_is_refused_with_its_place(void **state)
{
  (void)state;
  assert_bad("{\"a\":1 \"b\":2}", "t.jsonl:2: column 'a': not JSON at byte 8: missing a comma or");
  assert_bad("{\"a\":1},", "t.jsonl:2: not JSON at byte 8: the document root must not be followed");
  assert_bad("{\"a\":1,}", "column 'a': not JSON at byte 8: missing a name for object member");
  assert_bad("{\"a\":01}", "column 'a': not JSON at byte 7: missing a comma");
  assert_bad("{\"a\":.5}", "column 'a': not JSON at byte 6: invalid value");
  assert_bad("{\"a\":'x'}", "column 'a': not JSON at byte 6: invalid value");
  assert_bad("{\"a\":1e999}", "column 'a': not JSON at byte 6: number too big");
  assert_bad("{\"a\":\"\\x\"}", "column 'a': not JSON at byte 7: invalid escape character");
  assert_bad("{\"a\":\"\\u12g4\"}", "column 'a': not JSON at byte 7: incorrect hex digit");
  assert_bad("{\"a\":\"\xff\"}", "column 'a': not JSON at byte 7: invalid encoding");
  assert_bad("{\"a\":\"\xed\xa0\x80\"}", "column 'a': not JSON at byte 7: invalid encoding");
}

static void half_a_surrogate_pair_and_nul_are_refused(void **state)
{
  (void)state;
  assert_bad("{\"a\":\"\\ud83d\"}", "column 'a': not JSON at byte 7: the surrogate pair in string");
  assert_bad("{\"a\":\"\\ud83dx\"}", "the surrogate pair in string is invalid");
  assert_bad("{\"a\":\"\\ud83d\\u0041\"}", "the surrogate pair in string is invalid");
  assert_bad("{\"a\":\"x\\ude00\"}", "the surrogate pair in string is invalid");
  assert_bad("{\"a\":\"x\\u0000\"}", "column 'a': not JSON at byte 15: a NUL character in string");
}

static void an_object_that_was_cut_off_is_refused(void **state)
{
  (void)state;
  static const char whole[] = "{\"a\": \"x\", \"b\": {\"c\": -1.5e3}}";
  for (size_t n = 1; n < sizeof whole - 1; n++) {
    char text[200], shown[200];
    struct gpnn_error bad;
    snprintf(text, sizeof text, "%s\n%.*s", whole, (int)n, whole);
    assert_ok(show_table(text, &as_usual, shown, sizeof shown, &bad));
    assert_string_equal(shown, "a|b.c\n1:x|-1.5e3\n2!");
    if (strstr(bad.text, "ends within its object: was the file cut off") == NULL)
      fail_msg("after %zu bytes: %s", n, bad.text);
  }
}

static void a_last_line_without_end_is_not_torn(void **state)
{
  (void)state;
  struct gpnn_record record;
  struct gpnn_table *table = open_text("{\"a\":1}\n{\"a\":2}", true);
  while (gpnn_table_next(table, &record, NULL) == GPNN_OK) continue;
  assert_true(gpnn_table_is_json(table) && !gpnn_table_is_torn(table));
  gpnn_table_close(table);
}

static void names_may_be_of_a_thousand_bytes(void **state)
{
  (void)state;
  char name[1002], text[3000], shown[2000];
  memset(name, 'n', 1001);
  name[1001] = '\0';
  snprintf(text, sizeof text, "{\"%s\":1}\n", name + 1);
  assert_ok(show_table(text, &as_usual, shown, sizeof shown, &err));
  assert_int_equal(strlen(shown), 1000 + strlen("\n1:1"));
  snprintf(text, sizeof text, "{\"%s\":1}\n", name);
  assert_refused(text, "has too long a name");
  snprintf(text, sizeof text, "{\"%s\":{\"\":1}}\n", name + 1);
  assert_refused(text, "has too long a name");
  snprintf(text, sizeof text, "{\"%s\":{\"n\":1}}\n", name + 2);
  assert_refused(text, "has too long a name");
  snprintf(text, sizeof text, "{\"%s\":null}", name + 1);
  assert_bad(text, "is not in the first object");
}

static void names_stand_whatever_the_options_say_of_a_header(void **state)
{
  (void)state;
  struct gpnn_record record;
  struct gpnn_table *table = open_text("{\"a\":1,\"b\":2}\n", false);
  assert_true(gpnn_table_has_header(table) && gpnn_table_delimiter(table) == '\t');
  struct gpnn_field header = gpnn_table_header(table);
  assert_int_equal(header.length, 3);
  assert_memory_equal(header.text, "a\tb", 3);
  assert_ok(gpnn_table_next(table, &record, &err));
  gpnn_table_close(table);
}

/* The line of a record, as CSV, has its fields. */
static void a_record_has_a_line_of_its_fields(void **state)
{
  (void)state;
  static const char text[] = "{\"a\":\"x, \\\"y\\\"\",\"b,c\":2}\n{\"a\":\"\\n\"}\n";
  const struct gpnn_table_options options = {.delimiter = ',', .has_header = true};
  static const char *const lines[] = {"\"x, \"\"y\"\"\",2", "\"\n\","};
  struct gpnn_table *table;
  struct gpnn_record record;
  assert_ok(gpnn_table_open(&table, scratch_text("t.jsonl", text), &options, &err));
  assert_int_equal(gpnn_table_header(table).length, strlen("a,\"b,c\""));
  for (size_t i = 0; i < 2; i++) {
    assert_ok(gpnn_table_next(table, &record, &err));
    assert_int_equal(record.raw_length, strlen(lines[i]));
    assert_memory_equal(record.raw, lines[i], record.raw_length);
  }
  gpnn_table_close(table);
  table = open_text("{\"a\":null}\n", true);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_int_equal(record.raw_length, 2);
  assert_memory_equal(record.raw, "\"\"", 2);
  gpnn_table_close(table);
}

static void numbers_are_numbers_in_any_notation(void **state)
{
  (void)state;
  const struct gpnn_notation notation = {.decimal = ',', .thousands = true, .missing = "-999"};
  struct gpnn_table *table =
      open_notation("{\"a\":1.234,\"b\":\"1.234\",\"c\":-999,\"d\":\"x\"}\n", true, &notation);
  struct gpnn_records records = {0};
  struct gpnn_record record;
  double value;
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_records_add(&records, &record, &err));
  record = gpnn_records_get(&records, 0);
  assert_ok(gpnn_columns_number(table, &record, 0, &value, &err));
  assert_true(value == 1.234);
  assert_ok(gpnn_columns_copy(table, &record, 1, &value, &err));
  assert_true(value == 1234);
  assert_fails(gpnn_columns_number(table, &record, 2, &value, &err), GPNN_EDATA,
               "t.csv:1: column 'c': missing value");
  assert_fails(gpnn_columns_copy(table, &record, 3, &value, &err), GPNN_EDATA,
               "t.csv:1: column 'd': not a number: \"x\"");
  gpnn_records_release(&records);
  gpnn_table_close(table);
}

static void an_object_may_be_longer_than_the_buffer(void **state)
{
  (void)state;
  enum { LONG = 1 << 20 };
  char *text = NULL;
  size_t length;
  struct gpnn_record record;
  FILE *out = open_memstream(&text, &length);
  for (int i = 0; i < 3; i++) fprintf(out, "{\"a\":\"%0*d\",\"b\":%d}\n", LONG, i, i);
  fclose(out);
  struct gpnn_table *table = open_text(text, true);
  for (int i = 0; i < 3; i++) {
    assert_ok(gpnn_table_next(table, &record, &err));
    assert_true(record.fields[0].length == LONG && record.fields[0].text[LONG - 1] == '0' + i);
    assert_true(record.fields[1].length == 1 && *record.fields[1].text == '0' + i);
  }
  gpnn_table_close(table);
  free(text);
}

/* Column j of 'text', which has names n0, n1 ..., in an order of the members of its own. */
static void wide_objects_in_any_order_are_sorted_out(void **state)
{
  (void)state;
  enum { WIDE = 500, ROWS = 20 };
  char *text = NULL;
  size_t length, order[WIDE] = {0};
  struct gpnn_record record;
  struct gpnn_rng rng;
  FILE *out = open_memstream(&text, &length);
  gpnn_rng_init(&rng, 1, GPNN_RNG_SPLIT);
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t j = 0; j < WIDE; j++) {
      size_t k = i == 0 ? j : (size_t)gpnn_rng_below(&rng, j + 1);
      order[j] = order[k];
      order[k] = j;
    }
    for (size_t j = 0; j < WIDE; j++)
      fprintf(out, "%s\"n%zu\":%zu", j == 0 ? "{" : ",", order[j], 1000 * i + order[j]);
    fprintf(out, "}\n");
  }
  fclose(out);
  struct gpnn_table *table = open_text(text, true);
  assert_int_equal(gpnn_table_columns(table), WIDE);
  for (size_t i = 0; i < ROWS; i++) {
    assert_ok(gpnn_table_next(table, &record, &err));
    for (size_t j = 0; j < WIDE; j++) {
      double value;
      assert_ok(gpnn_columns_number(table, &record, j, &value, &err));
      assert_true(value == (double)(1000 * i + j));
    }
  }
  gpnn_table_close(table);
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_are_fields_by_name),
      cmocka_unit_test(numbers_stay_as_they_are_written),
      cmocka_unit_test(what_is_no_number_has_a_value_all_the_same),
      cmocka_unit_test(texts_are_decoded),
      cmocka_unit_test(nested_members_are_named_with_a_point),
      cmocka_unit_test(lines_are_counted_and_may_be_blank),
      cmocka_unit_test(comments_and_first_lines_are_passed_over),
      cmocka_unit_test(only_an_object_with_a_name_begins_json_lines),
      cmocka_unit_test(names_are_those_of_the_first_object),
      cmocka_unit_test(a_name_has_one_value),
      cmocka_unit_test(arrays_and_deep_objects_are_refused_by_name),
      cmocka_unit_test(a_line_that_is_no_object_is_refused),
      cmocka_unit_test(a_line_that_is_not_json_is_refused_with_its_place),
      cmocka_unit_test(half_a_surrogate_pair_and_nul_are_refused),
      cmocka_unit_test(an_object_that_was_cut_off_is_refused),
      cmocka_unit_test(a_last_line_without_end_is_not_torn),
      cmocka_unit_test(names_may_be_of_a_thousand_bytes),
      cmocka_unit_test(names_stand_whatever_the_options_say_of_a_header),
      cmocka_unit_test(a_record_has_a_line_of_its_fields),
      cmocka_unit_test(numbers_are_numbers_in_any_notation),
      cmocka_unit_test(an_object_may_be_longer_than_the_buffer),
      cmocka_unit_test(wide_objects_in_any_order_are_sorted_out),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
