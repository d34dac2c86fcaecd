/* Records of CSV and TSV tables, good and malformed, in any chunks. */
#include "base/rng.h"
#include "container/container.h"
#include "scratch.h"
#include "table/table.h"

static const struct gpnn_table_options with_header = GPNN_TABLE_OPTIONS_INIT;
static const struct gpnn_table_options no_header = {.has_header = false};

static void assert_field(const struct gpnn_field *field, const char *expected)
{
  if (field->length != strlen(expected) || memcmp(field->text, expected, field->length) != 0)
    fail_msg("the field is \"%.*s\", not \"%s\"", (int)field->length, field->text, expected);
}

/* Appends "line:field|field" of one record, or "line!" of a bad one, to 'shown'. */
static void show_record(char *shown, size_t room, const struct gpnn_record *record,
                        enum gpnn_status status)
{
  size_t used = strlen(shown);
  used += (size_t)snprintf(shown + used, room - used, "%s%zu%s", used == 0 ? "" : "\n",
                           record->line, status == GPNN_OK ? ":" : "!");
  for (size_t j = 0; j < record->n_fields && used < room; j++)
    used += (size_t)snprintf(shown + used, room - used, "%s%.*s", j == 0 ? "" : "|",
                             (int)record->fields[j].length, record->fields[j].text);
}

/* All records of a table in the form of show_record(). */
static enum gpnn_status show_table(const char *path, const struct gpnn_table_options *options,
                                   char *shown, size_t room, struct gpnn_error *err)
{
  struct gpnn_table *table;
  enum gpnn_status status = gpnn_table_open(&table, path, options, err);
  shown[0] = '\0';
  if (status != GPNN_OK) return status;
  struct gpnn_record record;
  while ((status = gpnn_table_next(table, &record, err)) == GPNN_OK || status == GPNN_EDATA)
    show_record(shown, room, &record, status);
  if (status == GPNN_END) { /* and again */
    assert_int_equal(gpnn_table_next(table, &record, err), GPNN_END);
    status = GPNN_OK;
  }
  gpnn_table_close(table);
  return status;
}

static void assert_shows(const char *text, const struct gpnn_table_options *options,
                         const char *expected)
{
  char shown[2000];
  assert_ok(show_table(scratch_text("table", text), options, shown, sizeof shown, &err));
  assert_string_equal(shown, expected);
}

#define assert_opening_fails(text, status, sentence)                                          \
  do {                                                                                        \
    char opening_shown_[2000];                                                                \
    const char *opening_path_ = scratch_text("table", text);                                  \
    assert_fails(show_table(opening_path_, &with_header, opening_shown_, 2000, &err), status, \
                 sentence);                                                                   \
  } while (0)

static void a_plain_table_reads_line_by_line(void **state)
{
  (void)state;
  assert_shows("a,b\n1,2\n3,4\n", &with_header, "2:1|2\n3:3|4");
  assert_shows("a,b\n1,2\n3,4\n", &no_header, "1:a|b\n2:1|2\n3:3|4");
  assert_shows("a,b\n", &with_header, "");
}

static void every_line_end_is_read(void **state)
{
  (void)state;
  assert_shows("a,b\r\n1,2\r\n3,4\r\n", &with_header, "2:1|2\n3:3|4");
  assert_shows("a,b\n1,2", &with_header, "2:1|2");
  assert_shows("a,b\r\n1,2\r", &with_header, "2:1|2");
  assert_shows("a,b\n1,2\r\n3,4\n", &with_header, "2:1|2\n3:3|4");
}

static void blank_lines_are_passed_over_and_counted(void **state)
{
  (void)state;
  assert_shows("\n\r\na,b\n\n1,2\n\r\n\n3,4\n\n\n", &with_header, "5:1|2\n8:3|4");
  assert_shows("a\n1\n\n2\n\"\"\n", &with_header, "2:1\n4:2\n5:");
}

static void empty_fields_count(void **state)
{
  (void)state;
  assert_shows("a,b,c\n,,\n1,,\n,,3\n\"\",\"\",\n", &with_header, "2:||\n3:1||\n4:||3\n5:||");
}

static void quotes_hide_delimiters_line_ends_and_quotes(void **state)
{
  (void)state;
  assert_shows("a,b\n\"1,1\",2\n", &with_header, "2:1,1|2");
  assert_shows("a,b\n\"x\ny\",2\n3,4\n", &with_header, "2:x\ny|2\n4:3|4");
  assert_shows("a,b\r\n\"x\r\ny\",\"2\"\r\n3,4\r\n", &with_header, "2:x\r\ny|2\n4:3|4");
  assert_shows("a,b\n\"\"\"\",\"a\"\"b\"\n\"\"\"x\"\"\",\"\"\"\"\"\"\n", &with_header,
               "2:\"|a\"b\n3:\"x\"|\"\"");
  assert_shows("a,b\n1,\"\n\n\"\n", &with_header, "2:1|\n\n");
}

static void a_quote_within_an_unquoted_field_is_itself(void **state)
{
  (void)state;
  assert_shows("a,b\n5\",6\" x\n1 \"2\",3\n", &with_header, "2:5\"|6\" x\n3:1 \"2\"|3");
}

static void text_after_a_closing_quote_spoils_its_line_only(void **state)
{
  (void)state;
  assert_shows("a,b\n\"1\"x,2\n3,4\n", &with_header, "2!\n3:3|4");
  assert_shows("a,b\n\"1\"x,\"2\n3,4\n", &with_header, "2!\n3:3|4");
  assert_shows("a,b\n\"1\n2\" ,3\n4,5\n", &with_header, "2!\n4:4|5");
  assert_opening_fails("a,\"b\"c\n", GPNN_EDATA, "table:1: field 2: text after the closing quote");
}

static void a_quote_never_closed_names_the_line_it_opened_on(void **state)
{
  (void)state;
  char shown[2000];
  const char *path = scratch_text("open.csv", "a,b\n1,2\n\"x\ny\",\"never\n3,4\n");
  assert_fails(show_table(path, &with_header, shown, sizeof shown, &err), GPNN_EFORMAT,
               "open.csv:4: a quote opened here is never closed");
  assert_string_equal(shown, "2:1|2");
}

static void a_line_of_another_width_is_told_and_passed_over(void **state)
{
  (void)state;
  assert_shows("a,b\n1\n1,2,3\n4,5\n", &with_header, "2!\n3!\n4:4|5");
  struct gpnn_table *table;
  struct gpnn_record record;
  assert_ok(gpnn_table_open(&table, scratch_text("r.csv", "a,b,c\nx,\"y\"\n"), &with_header, &err));
  assert_fails(gpnn_table_next(table, &record, &err), GPNN_EDATA,
               "r.csv:2: has 2 fields, the header has 3");
  assert_int_equal(record.n_fields, 0);
  assert_int_equal(record.line, 2);
  assert_int_equal(record.raw_length, 5);
  assert_memory_equal(record.raw, "x,\"y\"", 5);
  gpnn_table_close(table);
  assert_ok(gpnn_table_open(&table, scratch_text("r.csv", "1,2\n3\n"), &no_header, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_table_next(table, &record, &err), GPNN_EDATA,
               "r.csv:2: has 1 field, the first line has 2");
  gpnn_table_close(table);
}

static void the_delimiter_is_told_from_the_first_line(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    char delimiter;
    size_t columns;
  } cases[] = {{"a,b;c\n", ',', 2},
               {"a;b\n", ';', 2},
               {"a,b\tc\n", '\t', 2},
               {"a\n", '\t', 1},
               {"\"a,b\";c\n", ';', 2},
               {"\"a\tb\",\"c;d\",e\n", ',', 3},
               {"\"a\"\",b\";c\n", ';', 2},
               {"\"a\nb,\";c\n", ';', 2},
               {"a b\n1,2\n", '\t', 1},
               {"a|b\n1|2\n", '|', 2},
               /* Several candidates: at which do the next lines agree? */
               {"a;b,c;d\n1;2;3\n4;5;6\n", ';', 3},
               {"1,5;2,5\n3,25;4\n3,5;4,5\n", ';', 2},
               {"a,b;c\n1,x;y\n2,z\n", ',', 2},
               {"t (a, b)\tc\n1\t2\n", '\t', 2},
               {"a,b;c\n\"x;y\",2\n\"z;y\",4\n", ',', 2},
               /* Blanks, any number of them */
               {" a  b c\n 1   2  3\n4 5 6 \n", ' ', 3},
               {"two words\n5\n6\n", '\t', 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct gpnn_table *table;
    assert_ok(gpnn_table_open(&table, scratch_text("d", cases[i].text), &with_header, &err));
    if (gpnn_table_delimiter(table) != cases[i].delimiter)
      fail_msg("of %s the delimiter is '%c'", cases[i].text, gpnn_table_delimiter(table));
    assert_int_equal(gpnn_table_columns(table), cases[i].columns);
    gpnn_table_close(table);
  }
}

static void blanks_count_as_one_delimiter(void **state)
{
  (void)state;
  char shown[200];
  const struct gpnn_table_options blanks = {.delimiter = ' ', .has_header = true};
  assert_shows("a  b\tc\n  1 2   3\n \t \n4 \"5 6\"\t\"\"  \r\n", &blanks, "2:1|2|3\n4:4|5 6|");
  assert_shows("a b c\n\t1\t\"2\n3\" 4\n", &blanks, "2:1|2\n3|4");
  assert_fails(
      show_table(scratch_text("table", "a b\n\t\",0\n"), &blanks, shown, sizeof shown, &err),
      GPNN_EFORMAT, "table:2: a quote opened here is never closed");
}

static void comments_and_lines_before_the_table_are_passed_over(void **state)
{
  (void)state;
  const struct gpnn_table_options options = {
      .has_header = true, .skip_lines = 2, .notation = {.comment = "#!"}};
  assert_shows("Station: \"x\n\n#! made, \"today\na,b\n#!\n1,2\n#,4\n#! \"\n\"#!\",5", &options,
               "6:1|2\n7:#|4\n9:#!|5");
}

static void comments_before_the_first_line_are_kept(void **state)
{
  (void)state;
  const struct gpnn_table_options options = {.has_header = true, .notation = {.comment = "#"}};
  struct gpnn_table *table;
  assert_ok(
      gpnn_table_open(&table, scratch_text("c", "# a: 1\r\n\n#\nx\n#no\n1\n"), &options, &err));
  assert_string_equal(gpnn_table_comments(table), "# a: 1\n#\n");
  gpnn_table_close(table);
  assert_ok(gpnn_table_open(&table, scratch_text("c", "x\n1\n"), &options, &err));
  assert_string_equal(gpnn_table_comments(table), "");
  gpnn_table_close(table);
}

static void open_and_name(struct gpnn_table **table, const char *text, const char *names)
{
  char found[64] = "";
  assert_ok(gpnn_table_open(table, scratch_text("h.csv", text), &with_header, &err));
  for (size_t j = 0, n = 0; j < gpnn_table_columns(*table); j++)
    n += (size_t)snprintf(found + n, sizeof found - n, "[%s]", gpnn_table_column(*table, j));
  assert_string_equal(found, names);
  gpnn_table_close(*table);
}

static void a_header_may_be_one_name_short(void **state)
{
  (void)state;
  struct gpnn_table *table;
  open_and_name(&table, "a;b\nx;1;2\ny;3;4\nz;5;6\n", "[][a][b]");
  open_and_name(&table, "a;b\r\n1;1;2\r\n2;3;4\r\n3;5;6\r\n", "[][a][b]");
  open_and_name(&table, "a b\n\"7\" 1 2\n\"9\" 3 4\n\"8\" 5 6\n", "[][a][b]");
  open_and_name(&table, "a;b\n7;2;\n9;4;\n8;6;\n", "[a][b][]");
  /* Which name is missing cannot be told from measurements, nor anything from two lines. */
  open_and_name(&table, "a;b\n7;1;2\n9;3;4\n8;5;6\n", "[a][b]");
  open_and_name(&table, "a;b\nx;1;2\ny;3;4\n", "[a][b]");
  open_and_name(&table, "a;b\nx;1;2\ny;3\nz;5;6\n", "[a][b]");
  /* The header may be the next line. */
  open_and_name(&table, "made;today\nid;x;y\nu;1;2\nv;3;4\nw;5;6\n", "[made][today]");
}

static void a_preamble_is_suspected(void **state)
{
  (void)state;
  static const char text[] = "Station: x\nmade: today\n\na;b\n1;2\n3;4\n";
  struct gpnn_table *table;
  struct gpnn_record record;
  char hint[GPNN_TABLE_HINT_BYTES];
  assert_ok(gpnn_table_open(&table, scratch_text("p.csv", text), &with_header, &err));
  assert_int_equal(gpnn_table_preamble(table), 3);
  gpnn_table_close(table);
  assert_ok(gpnn_table_open(&table, scratch_text("p.csv", "x;\ny\na;b;c\n1;2;3\n4;5;6\n"),
                            &with_header, &err));
  assert_fails(gpnn_table_next(table, &record, &err), GPNN_EDATA,
               "p.csv:2: has 1 field, the header has 2; does the table begin on line 3? "
               "--skip-lines 2");
  gpnn_table_close(table);
  assert_ok(gpnn_table_open(&table, scratch_text("p.csv", "a;b\n1;2\n3;4\n"), &with_header, &err));
  assert_int_equal(gpnn_table_preamble(table), 0);
  gpnn_table_close(table);
  /* The first line of a table with names of rows has one field less, but is the header. */
  assert_ok(gpnn_table_open(&table, scratch_text("p.csv", "a;b\n7;1;2\n9;3;4\n8;5;6\n"),
                            &with_header, &err));
  assert_fails(gpnn_table_next(table, &record, &err), GPNN_EDATA,
               "p.csv:2: has 3 fields, the header has 2; is there no name for the first column");
  gpnn_table_close(table);
  /* Titles from a sheet have as many fields as the table, and header and texts may be alike. */
  static const struct {
    const char *text;
    size_t preamble;
  } sheets[] = {
      {"Title,,\n,,\na,b,c\n1,2,3\n4,5,6\n", 2},
      {"\"A, B\",,\r\nby,me,\r\n\r\na,b,c\r\n1,2,3\r\n4,5,6\r\n", 3},
      {"x;;\n\ny;z\nTitle;;\na;b;c\n1;2;3\n4;5;6\n", 4},
      {"a,b,\n1,2,3\n4,5,6\n", 0}, /* the last column has no name */
      {"a,,\n1,,\n4,5,6\n", 0},
      {"a,b,c\nx,,\n1,2,3\n4,5,6\n", 0},
  };
  for (size_t i = 0; i < sizeof sheets / sizeof *sheets; i++) {
    assert_ok(gpnn_table_open(&table, scratch_text("p.csv", sheets[i].text), &with_header, &err));
    assert_int_equal(gpnn_table_preamble(table), sheets[i].preamble);
    gpnn_table_close(table);
  }
  assert_ok(gpnn_table_open(&table, scratch_text("p.csv", "#x\n#y\na;b\n1;2\n3;4\n"), &with_header,
                            &err));
  assert_string_equal(gpnn_table_hint(table, hint), "; are lines of '#' comments? --comment '#'");
  gpnn_table_close(table);
  assert_fails(gpnn_table_open(&table,
                               scratch_text("u.csv", "\xff\xfe"
                                                     "a"),
                               &with_header, &err),
               GPNN_EFORMAT, "u.csv: is in UTF-16: iconv -f UTF-16 -t UTF-8 makes it UTF-8");
}

static void quotes_count_only_at_fields_of_the_chosen_delimiter(void **state)
{
  (void)state;
  assert_shows("a,b;\"c\n1,2\n\"3\",4\n", &with_header, "2:1|2\n3:3|4");
}

static void a_delimiter_may_be_given(void **state)
{
  (void)state;
  struct gpnn_table_options options = {.delimiter = '|', .has_header = true};
  assert_shows("a,a|b\n1,1|\"x|y\"\n", &options, "2:1,1|x|y");
  static const char bad[] = {'"', '\r', '\n', '\x80', '\x7f'};
  for (size_t i = 0; i < sizeof bad; i++) {
    char shown[10];
    options.delimiter = bad[i];
    assert_fails(show_table("/dev/null", &options, shown, sizeof shown, &err), GPNN_EINVAL,
                 "the delimiter must be");
  }
}

static void a_usual_delimiter_is_taken_where_it_is(void **state)
{
  (void)state;
  const struct gpnn_table_options options = {.usual_delimiter = ':', .has_header = true};
  assert_shows("a,b:c,d\n1,2:3,4\n", &options, "2:1,2|3,4");
  assert_shows("a,b\n1:2,4\n", &options, "2:1:2|4");
  assert_shows("a,\"b:c\"\n1,2\n", &options, "2:1|2");
}

static void a_header_may_be_missing_if_it_can_be_no_names(void **state)
{
  (void)state;
  const struct gpnn_table_options options = {
      .has_header = true, .may_lack_header = true, .notation = {.missing = "?", .decimal = ','}};
  struct gpnn_table_options given = options;
  assert_shows("0,5;2\n3;4\n", &options, "1:0,5|2\n2:3|4");
  assert_shows("?;2\n3;4\n", &options, "1:?|2\n2:3|4");
  assert_shows("1;2\n3;4\n", &options, "2:3|4"); /* numbers of columns */
  assert_shows("a;2\n3;4\n", &options, "2:3|4");
  assert_shows("?;\n3;4\n", &options, "2:3|4");
  given.may_lack_header = false;
  assert_shows("0,5;2\n3;4\n", &given, "2:3|4");
  given.has_header = false;
  assert_shows("a;b\n3;4\n", &given, "1:a|b\n2:3|4");
}

static void columns_have_names_or_numbers(void **state)
{
  (void)state;
  const char *path = scratch_text("n", "one,\"t\"\"w\"\"o\",,\"a,b\"\r\n1,2,3,4\r\n");
  static const char *const names[] = {"one", "t\"w\"o", "", "a,b"};
  struct gpnn_table *table;
  assert_ok(gpnn_table_open(&table, path, &with_header, &err));
  assert_int_equal(gpnn_table_columns(table), 4);
  for (size_t j = 0; j < 4; j++) assert_string_equal(gpnn_table_column(table, j), names[j]);
  struct gpnn_field header = gpnn_table_header(table);
  assert_field(&header, "one,\"t\"\"w\"\"o\",,\"a,b\"");
  assert_true(gpnn_table_has_header(table));
  assert_string_equal(gpnn_table_name(table), path);
  gpnn_table_close(table);
  assert_ok(gpnn_table_open(&table, path, &no_header, &err));
  assert_string_equal(gpnn_table_column(table, 0), "1");
  assert_string_equal(gpnn_table_column(table, 3), "4");
  assert_int_equal(gpnn_table_header(table).length, 0);
  gpnn_table_close(table);
}

static void a_byte_order_mark_is_no_text(void **state)
{
  (void)state;
  assert_shows("\xef\xbb\xbf\"a,b\",c\n1,2\n", &no_header, "1:a,b|c\n2:1|2");
  assert_opening_fails("\xef\xbb\xbf", GPNN_EDATA, "is empty");
  assert_shows("\xef\xbb\xbf\n\xef\xbb\xbf,b\n", &no_header, "2:\xef\xbb\xbf|b");
}

static void an_empty_table_is_refused(void **state)
{
  (void)state;
  assert_opening_fails("", GPNN_EDATA, "table: is empty");
  assert_opening_fails("\n\r\n\n", GPNN_EDATA, "table: is empty");
}

static void other_files_of_ours_are_no_tables(void **state)
{
  (void)state;
  struct gpnn_table *table;
  char bytes[GPNN_CONTAINER_KIND_BYTES] = GPNN_CONTAINER_MAGIC;
  const char *path = scratch_write("x.gpi", bytes, sizeof bytes);
  assert_fails(gpnn_table_open(&table, path, &with_header, &err), GPNN_EMISMATCH,
               "x.gpi: is an index, not a table");
  bytes[20] = GPNN_CONTAINER_MODEL;
  path = scratch_write("x.gpm", bytes, sizeof bytes);
  assert_fails(gpnn_table_open(&table, path, &with_header, &err), GPNN_EMISMATCH,
               "x.gpm: is a model file, not a table");
  path = scratch_write("x.gpm", bytes, sizeof bytes - 1);
  assert_fails(gpnn_table_open(&table, path, &with_header, &err), GPNN_EMISMATCH,
               "x.gpm: is a gpnn file of an unknown kind, not a table");
  for (size_t piece = 1; piece <= sizeof bytes; piece += 7) {
    int old = scratch_feed(bytes, sizeof bytes, piece);
    assert_fails(gpnn_table_open(&table, "-", &with_header, &err), GPNN_EMISMATCH,
                 "(stdin): is a model file, not a table");
    scratch_unfeed(old);
  }
  assert_opening_fails("# gpnn parameters 1\nkernel\trbf\n", GPNN_EMISMATCH,
                       "is a parameters file, not a table");
  assert_shows("# gpnn para\n1\n", &with_header, "2:1");
}

static void a_nul_byte_is_refused_where_it_stands(void **state)
{
  (void)state;
  char shown[100];
  const char *path = scratch_write("nul", "a,b\n1,2\n3,\0\n", 12);
  assert_fails(show_table(path, &with_header, shown, sizeof shown, &err), GPNN_EFORMAT,
               "nul:3: has a NUL byte");
  assert_string_equal(shown, "2:1|2");
  assert_fails(show_table("/dev/zero", &with_header, shown, sizeof shown, &err), GPNN_EFORMAT,
               "/dev/zero:1: has a NUL byte");
}

static void a_damaged_gzip_table_gives_the_lines_before_the_damage(void **state)
{
  (void)state;
  char shown[100];
  size_t length;
  char *zip = scratch_read(scratch_gzip("t.gz", "a,b\n1,2\n3,4\n", 12), &length);
  assert_ok(show_table(scratch_path("t.gz"), &with_header, shown, sizeof shown, &err));
  assert_string_equal(shown, "2:1|2\n3:3|4");
  const char *path = scratch_write("t.gz", zip, length - 4);
  assert_fails(show_table(path, &with_header, shown, sizeof shown, &err), GPNN_EFORMAT,
               "t.gz: the gzip data are truncated");
  assert_string_equal(shown, "2:1|2\n3:3|4");
  free(zip);
}

static void chunks_of_any_size_give_the_same_records(void **state)
{
  (void)state;
  static const char text[] =
      "\xef\xbb\xbf\"a\r\nx\",b\r\n\r\n\"1\"\"\",\"\r\n\"\r\n2,\"\"\r\n\"3\"y,4"
      "\r\n5\r\n6,7";
  static const char expected[] = "4:1\"|\r\n\n6:2|\n7!\n8!\n9:6|7";
  for (size_t piece = 1; piece < 8; piece++) {
    char shown[1000];
    int old = scratch_feed(text, sizeof text - 1, piece);
    assert_ok(show_table("-", &with_header, shown, sizeof shown, &err));
    scratch_unfeed(old);
    assert_string_equal(shown, expected);
  }
}

/* Fields and lines of any length, so that they end at every place of what is looked at together;
 * from a file they come whole, from a pipe a few bytes at a time. */
static void pieces_give_the_records_that_the_whole_file_gives(void **state)
{
  (void)state;
  static const char *const ends[] = {"\n", "\r\n", "\n\n", "\r\n\r\n", "\r\r\n"};
  enum { ROOM = 60000 };
  char *text = malloc(ROOM), *whole = malloc(2 * ROOM), *pieces = malloc(2 * ROOM);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  for (size_t trial = 0; trial < 20; trial++) {
    size_t n = (size_t)sprintf(text, "a,b,c\n"), longest = 2 + 12 * trial;
    for (size_t row = 0; row < 60; row++) {
      size_t fields = gpnn_rng_below(&rng, 10) == 0 ? 2 : 3;
      for (size_t j = 0; j < fields; j++) {
        size_t length = gpnn_rng_below(&rng, longest);
        if (j > 0) text[n++] = ',';
        for (size_t k = 0; k < length; k++) text[n++] = (char)('a' + k % 26);
        if (length > 0 && gpnn_rng_below(&rng, 20) == 0) text[n - 1] = '\r';
        if (length > 1 && gpnn_rng_below(&rng, 20) == 0) text[n - 1] = '"';
      }
      n += (size_t)sprintf(text + n, "%s", ends[gpnn_rng_below(&rng, 5)]);
    }
    text[n++] = 'z';
    assert_ok(show_table(scratch_write("w", text, n), &with_header, whole, 2 * ROOM, &err));
    int old = scratch_feed(text, n, 1 + trial % 7);
    assert_ok(show_table("-", &with_header, pieces, 2 * ROOM, &err));
    scratch_unfeed(old);
    assert_string_equal(pieces, whole);
  }
  free(text);
  free(whole);
  free(pieces);
}

/* The line end moves over every place near the border of the 256 KiB read buffer, and the
 * 64 bytes there that are left free. */
static void line_ends_at_the_border_of_the_buffer_are_seen(void **state)
{
  (void)state;
  enum { BORDER = 256 * 1024 };
  char *text = malloc(BORDER + 100);
  for (size_t first = BORDER - 84; first < BORDER + 4; first++) {
    memset(text, 'x', first);
    memcpy(text, "a,b\n\"", 5);
    size_t n = first;
    n += (size_t)sprintf(text + n, "\"\"\",2\r\n\"3\"\"\",4\r\n5,\"6\"");
    struct gpnn_table *table;
    struct gpnn_record record;
    assert_ok(gpnn_table_open(&table, scratch_write("b", text, n), &with_header, &err));
    assert_ok(gpnn_table_next(table, &record, &err));
    assert_int_equal(record.fields[0].length, first - 5 + 1);
    assert_int_equal(record.fields[0].text[first - 5], '"');
    assert_field(&record.fields[1], "2");
    assert_ok(gpnn_table_next(table, &record, &err));
    assert_field(&record.fields[0], "3\"");
    assert_field(&record.fields[1], "4");
    assert_ok(gpnn_table_next(table, &record, &err));
    assert_field(&record.fields[1], "6");
    assert_int_equal(gpnn_table_next(table, &record, NULL), GPNN_END);
    gpnn_table_close(table);
  }
  free(text);
}

static void records_of_ten_megabytes_are_read(void **state)
{
  (void)state;
  enum { COLUMNS = 6000, WIDTH = 1700, RECORD = COLUMNS * (WIDTH + 1) };
  char *text = malloc(2 * RECORD);
  for (size_t i = 0; i < 2 * RECORD; i++) {
    size_t place = i % RECORD;
    text[i] = place == RECORD - 1 ? '\n' : place % (WIDTH + 1) == WIDTH ? '\t' : 'x';
  }
  struct gpnn_table *table;
  struct gpnn_record record;
  assert_ok(gpnn_table_open(&table, scratch_write("big", text, 2 * RECORD), &with_header, &err));
  assert_int_equal(gpnn_table_columns(table), COLUMNS);
  assert_int_equal(strlen(gpnn_table_column(table, COLUMNS - 1)), WIDTH);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_int_equal(record.n_fields, COLUMNS);
  assert_int_equal(record.fields[COLUMNS - 1].length, WIDTH);
  assert_int_equal(record.raw_length, RECORD - 1);
  assert_int_equal(gpnn_table_next(table, &record, NULL), GPNN_END);
  gpnn_table_close(table);
  free(text);
}

static void the_raw_bytes_are_those_of_the_file(void **state)
{
  (void)state;
  struct gpnn_table *table;
  struct gpnn_record record;
  const char *path = scratch_text("raw", "a,b\r\n\"1\"\"\n2\",3\r\n");
  assert_ok(gpnn_table_open(&table, path, &with_header, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_int_equal(record.raw_length, 9);
  assert_memory_equal(record.raw, "\"1\"\"\n2\",3", 9);
  gpnn_table_close(table);
}

static void only_fields_that_need_quotes_get_them(void **state)
{
  (void)state;
  static const char *const fields[] = {"plain", "",     "a b", "a,b", "a\tb",
                                       "\"",    "x\"y", "\r",  "a\nb"};
  const char *path = scratch_path("out");
  struct gpnn_output *output;
  assert_ok(gpnn_output_open(&output, path, &err));
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    assert_ok(gpnn_table_write_field(output, ',', fields[i], strlen(fields[i]), &err));
    assert_ok(gpnn_output_text(output, ",", &err));
  }
  assert_ok(gpnn_output_close(output, &err));
  char *bytes = scratch_read(path, NULL);
  assert_string_equal(bytes, "plain,,a b,\"a,b\",\"a\tb\",\"\"\"\",\"x\"\"y\",\"\r\",\"a\nb\",");
  free(bytes);
}

static void names_that_look_like_another_file_are_names(void **state)
{
  (void)state;
  static const struct {
    char delimiter;
    const char *name, *rest;
  } cases[] = {{',', "\xef\xbb\xbfname", ",b\n"}, {',', "\xef\xbb\xbf", ",b\n"},
               {',', "\x1f\x8b\x08", ",b\n"},     {',', "# gpnn parameters 1", ",b\n"},
               {' ', "#", " gpnn parameters\n"},  {'g', "# ", "gpnn parameters\n"},
               {'p', "# g", "pnn parameters\n"},  {'#', "", "# gpnn parameters\n"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *path = scratch_path("names"), *name = cases[i].name;
    struct gpnn_output *output;
    assert_ok(gpnn_output_open(&output, path, &err));
    assert_ok(gpnn_table_write_field(output, cases[i].delimiter, name, strlen(name), &err));
    assert_ok(gpnn_output_text(output, cases[i].rest, &err));
    assert_ok(gpnn_output_close(output, &err));
    struct gpnn_table_options options = {.delimiter = cases[i].delimiter, .has_header = true};
    struct gpnn_table *table;
    assert_ok(gpnn_table_open(&table, path, &options, &err));
    assert_string_equal(gpnn_table_column(table, 0), name);
    gpnn_table_close(table);
  }
}

/* A random text of few letters, most of which mean something in a table. */
static size_t random_field(struct gpnn_rng *rng, char *text)
{
  static const char letters[] = "ab1\",;\t\n\r \"\"\xc3\xa9";
  size_t length = (size_t)gpnn_rng_below(rng, gpnn_rng_below(rng, 20) == 0 ? 40 : 6);
  for (size_t i = 0; i < length; i++) text[i] = letters[gpnn_rng_below(rng, sizeof letters - 1)];
  return length;
}

static void any_fields_survive_writing_and_reading(void **state)
{
  (void)state;
  enum { TABLES = 300, ROWS = 20, COLUMNS = 7, ROOM = 40 };
  static char texts[ROWS][COLUMNS][ROOM];
  size_t lengths[ROWS][COLUMNS];
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 7, GPNN_RNG_TEST);
  for (int t = 0; t < TABLES; t++) {
    char delimiter = "\t,; "[gpnn_rng_below(&rng, 4)];
    const char *line_end = t % 2 == 0 ? "\n" : "\r\n", *path = scratch_path("round");
    size_t n_columns = 2 + (size_t)gpnn_rng_below(&rng, COLUMNS - 1);
    struct gpnn_output *output;
    assert_ok(gpnn_output_open(&output, path, &err));
    for (size_t i = 0; i < ROWS; i++)
      for (size_t j = 0; j < n_columns; j++) {
        lengths[i][j] = random_field(&rng, texts[i][j]);
        assert_ok(gpnn_table_write_field(output, delimiter, texts[i][j], lengths[i][j], &err));
        assert_ok(j + 1 < n_columns ? gpnn_output_write(output, &delimiter, 1, &err)
                                    : gpnn_output_text(output, line_end, &err));
      }
    assert_ok(gpnn_output_close(output, &err));
    struct gpnn_table *table;
    struct gpnn_record record;
    assert_ok(
        gpnn_table_open(&table, path, &(struct gpnn_table_options){.delimiter = delimiter}, &err));
    for (size_t i = 0; i < ROWS; i++) {
      assert_ok(gpnn_table_next(table, &record, &err));
      assert_int_equal(record.n_fields, n_columns);
      for (size_t j = 0; j < n_columns; j++) {
        assert_int_equal(record.fields[j].length, lengths[i][j]);
        assert_memory_equal(record.fields[j].text, texts[i][j], lengths[i][j]);
      }
    }
    assert_int_equal(gpnn_table_next(table, &record, NULL), GPNN_END);
    gpnn_table_close(table);
  }
}

/* Reads noise to its end; what matters is that it ends, and that the sanitizers are silent. */
static void noise_is_read_or_refused_but_never_loops(void **state)
{
  (void)state;
  static const char letters[] = "\",\n\r\t;a1\0\xef\xbb\xbf";
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 11, GPNN_RNG_TEST);
  for (int t = 0; t < 3000; t++) {
    char text[60];
    /* NUL bytes, the ninth letter, only now and then. */
    size_t n = (size_t)gpnn_rng_below(&rng, sizeof text);
    for (size_t i = 0; i < n; i++) {
      text[i] = letters[gpnn_rng_below(&rng, sizeof letters - 1)];
      if (text[i] == '\0' && t % 8 != 0) text[i] = 'b';
    }
    struct gpnn_table *table;
    struct gpnn_error err;
    enum gpnn_status status =
        gpnn_table_open(&table, scratch_write("noise", text, n), &no_header, &err);
    if (status != GPNN_OK) {
      assert_true(status == GPNN_EDATA || status == GPNN_EFORMAT);
      continue;
    }
    struct gpnn_record record;
    size_t records = 0, last_line = 0;
    while ((status = gpnn_table_next(table, &record, &err)) == GPNN_OK || status == GPNN_EDATA) {
      assert_true(record.line > last_line);
      last_line = record.line;
      assert_true(++records <= n);
    }
    assert_true(status == GPNN_END || status == GPNN_EFORMAT);
    gpnn_table_close(table);
  }
}

static void a_pipe_gives_each_line_without_waiting_for_the_next(void **state)
{
  (void)state;
  int ends[2], old = dup(STDIN_FILENO);
  assert_int_equal(pipe(ends), 0);
  dup2(ends[0], STDIN_FILENO);
  struct gpnn_table *table;
  struct gpnn_record record;
  assert_int_equal(write(ends[1], "a,b\n", 4), 4);
  assert_ok(gpnn_table_open(&table, "-", &with_header, &err));
  for (int i = 0; i < 3; i++) {
    assert_int_equal(write(ends[1], "1,2\n", 4), 4);
    assert_ok(gpnn_table_next(table, &record, &err));
    assert_field(&record.fields[1], "2");
  }
  gpnn_table_close(table);
  close(ends[0]);
  close(ends[1]);
  scratch_unfeed(old);
}

static void what_cannot_be_opened_is_said(void **state)
{
  (void)state;
  struct gpnn_table *table = NULL;
  assert_fails(gpnn_table_open(&table, scratch_path("absent"), &with_header, &err), GPNN_EIO,
               "No such file");
  assert_null(table);
  gpnn_table_close(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plain_table_reads_line_by_line),
      cmocka_unit_test(every_line_end_is_read),
      cmocka_unit_test(blank_lines_are_passed_over_and_counted),
      cmocka_unit_test(empty_fields_count),
      cmocka_unit_test(quotes_hide_delimiters_line_ends_and_quotes),
      cmocka_unit_test(a_quote_within_an_unquoted_field_is_itself),
      cmocka_unit_test(text_after_a_closing_quote_spoils_its_line_only),
      cmocka_unit_test(a_quote_never_closed_names_the_line_it_opened_on),
      cmocka_unit_test(a_line_of_another_width_is_told_and_passed_over),
      cmocka_unit_test(the_delimiter_is_told_from_the_first_line),
      cmocka_unit_test(blanks_count_as_one_delimiter),
      cmocka_unit_test(comments_and_lines_before_the_table_are_passed_over),
      cmocka_unit_test(comments_before_the_first_line_are_kept),
      cmocka_unit_test(a_header_may_be_one_name_short),
      cmocka_unit_test(a_preamble_is_suspected),
      cmocka_unit_test(quotes_count_only_at_fields_of_the_chosen_delimiter),
      cmocka_unit_test(a_delimiter_may_be_given),
      cmocka_unit_test(a_usual_delimiter_is_taken_where_it_is),
      cmocka_unit_test(a_header_may_be_missing_if_it_can_be_no_names),
      cmocka_unit_test(columns_have_names_or_numbers),
      cmocka_unit_test(a_byte_order_mark_is_no_text),
      cmocka_unit_test(an_empty_table_is_refused),
      cmocka_unit_test(other_files_of_ours_are_no_tables),
      cmocka_unit_test(a_nul_byte_is_refused_where_it_stands),
      cmocka_unit_test(a_damaged_gzip_table_gives_the_lines_before_the_damage),
      cmocka_unit_test(chunks_of_any_size_give_the_same_records),
      cmocka_unit_test(pieces_give_the_records_that_the_whole_file_gives),
      cmocka_unit_test(line_ends_at_the_border_of_the_buffer_are_seen),
      cmocka_unit_test(records_of_ten_megabytes_are_read),
      cmocka_unit_test(the_raw_bytes_are_those_of_the_file),
      cmocka_unit_test(only_fields_that_need_quotes_get_them),
      cmocka_unit_test(names_that_look_like_another_file_are_names),
      cmocka_unit_test(any_fields_survive_writing_and_reading),
      cmocka_unit_test(noise_is_read_or_refused_but_never_loops),
      cmocka_unit_test(a_pipe_gives_each_line_without_waiting_for_the_next),
      cmocka_unit_test(what_cannot_be_opened_is_said),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
