/* Parts of a table. */
#include "text_table.h"
#include "unit.h"

/* Appends the records of a table, malformed ones too, each with the number of its line, to 'out'.
 */
static size_t list_records(struct gpnn_table *table, char *out)
{
  struct gpnn_record record;
  struct gpnn_error error;
  size_t used = 0;
  enum gpnn_status status;
  while ((status = gpnn_table_next(table, &record, &error)) == GPNN_OK || status == GPNN_EDATA)
    used +=
        (size_t)sprintf(out + used, "%zu %.*s\n", record.line, (int)record.raw_length, record.raw);
  assert_int_equal(status, GPNN_END);
  return used;
}

static const struct gpnn_notation notation = {.comment = "#"};

/* The same of part 'k' of 'n', behind '*n_before' lines, which become those behind it too. */
static size_t list_part(const char *text, bool has_header, size_t k, size_t n, uint64_t *n_before,
                        struct gpnn_table_part *part, char *out)
{
  struct gpnn_table *table = open_notation(text, has_header, &notation);
  assert_true(gpnn_table_has_parts(table));
  assert_ok(gpnn_table_find_part(table, k, n, part, &err));
  assert_ok(gpnn_table_take_part(table, part, *n_before, &err));
  size_t used = list_records(table, out);
  *n_before += part->n_lines;
  gpnn_table_close(table);
  return used;
}

static void parts_have_the_records_of_the_table(void **state)
{
  (void)state;
  enum { MOST = 12, BYTES = 4096, LACKS_HEADER = 3 };
  const char *texts[] = {
      "a,b\n1,2\n3,4\n5,6\n7,8\n9,10\n",
      "a,b\r\n1,2\r\n\r\n3,4\r\n5,6",
      "# c\na,b\n\n\n1,2\n\n",
      "1,2\n333333333333333333333333333333333333,4\n5,6\n",
      "{\"a\": 1, \"b\": \"x\"}\n{\"a\": 2, \"b\": \"y\"}\n{\"a\": 3, \"b\": \"z\"}\n",
      "a,b\n",
      "\"a\",\"b\"\n\"1\",\"\"\"2\"\"\"\n# \"\n3,4\"\n\"5\"x,6\n,\"7\"\r\n",
  };
  for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
    for (size_t n = 1; n <= MOST; n++) {
      char whole[BYTES] = "", parts[BYTES] = "";
      size_t used = 0;
      uint64_t n_before = 0;
      bool has_header = t != LACKS_HEADER, is_torn = false;
      struct gpnn_table *table = open_notation(texts[t], has_header, &notation);
      list_records(table, whole);
      bool was_torn = gpnn_table_is_torn(table);
      gpnn_table_close(table);
      for (size_t k = 0; k < n; k++) {
        struct gpnn_table_part part;
        used += list_part(texts[t], has_header, k, n, &n_before, &part, parts + used);
        assert_false(part.ends_in_quotes);
        is_torn = is_torn || part.is_torn;
      }
      assert_string_equal(parts, whole);
      assert_int_equal(is_torn, was_torn);
    }
}

static void a_line_that_ends_inside_quotes_is_seen(void **state)
{
  (void)state;
  const char *texts[] = {"a,b\n0,0\n0,0\n0,0\n1,2\n3,\"4\n7\"\n8,9\n8,9\n",
                         "a,b\n0,0\n0,0\n0,0\n1,2\n3,4\n7,8\n8,\"9\n",
                         "a,b\n0,0\n0,0\n0,0\n1,2\n3,a \"quote\n7,8\n8,9\n"};
  for (size_t t = 0; t < 3; t++)
    for (size_t k = 0; k < 2; k++) {
      struct gpnn_table_part part;
      struct gpnn_table *table = open_notation(texts[t], true, &notation);
      assert_ok(gpnn_table_find_part(table, k, 2, &part, &err));
      assert_int_equal(part.ends_in_quotes, k == 1 && t < 2);
      gpnn_table_close(table);
    }
}

static void lines_may_be_longer_than_a_block(void **state)
{
  (void)state;
  enum { LONG = 200000, N = 5 };
  char *text = malloc(N * (LONG + 8) + 8), *out = malloc(N * (LONG + 8) + 8);
  size_t used = (size_t)sprintf(text, "a,b\n"), found = 0;
  for (int i = 0; i < N; i++) used += (size_t)sprintf(text + used, "%0*d,%d\n", LONG, i, i);
  uint64_t n_before = 0;
  for (size_t k = 0; k < 3; k++) {
    struct gpnn_table_part part;
    size_t n = list_part(text, true, k, 3, &n_before, &part, out + found);
    assert_int_equal(n > 0, part.begin < part.end);
    found += n;
  }
  assert_int_equal(n_before, N);
  assert_int_equal(found, used - 4 + 2 * N); /* with numbers of lines, without the header */
  free(text);
  free(out);
}

static void what_cannot_be_read_from_any_byte_on_has_no_parts(void **state)
{
  (void)state;
  struct gpnn_table *table = NULL;
  struct gpnn_table_part part;
  const struct gpnn_table_options options = GPNN_TABLE_OPTIONS_INIT;
  assert_ok(gpnn_table_open(&table, scratch_gzip("t.gz", "a,b\n1,2\n", 8), &options, &err));
  assert_false(gpnn_table_has_parts(table));
  assert_fails(gpnn_table_find_part(table, 0, 2, &part, &err), GPNN_EIO, "cannot be read in parts");
  gpnn_table_close(table);
  int old = scratch_feed("a,b\n1,2\n", 8, 8);
  assert_ok(gpnn_table_open(&table, "-", &options, &err));
  assert_false(gpnn_table_has_parts(table));
  gpnn_table_close(table);
  scratch_unfeed(old);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_have_the_records_of_the_table),
      cmocka_unit_test(a_line_that_ends_inside_quotes_is_seen),
      cmocka_unit_test(lines_may_be_longer_than_a_block),
      cmocka_unit_test(what_cannot_be_read_from_any_byte_on_has_no_parts),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
