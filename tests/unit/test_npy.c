/* Tables in .npy files, read and written, whole and broken. */
#include "base/rng.h"
#include "scratch.h"
#include "table/columns.h"
#include "table/npy.h"
#include "table/records.h"
#include "table/table.h"

static const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;

/* A file in memory. */
struct file {
  unsigned char bytes[4096];
  size_t length;
};

/* Begins a file of this version whose header is 'dictionary', padded as NumPy does. */
static struct file begin_file(int version, const char *dictionary)
{
  struct file file = {.bytes = "\x93NUMPY"};
  size_t before = version == 1 ? 10 : 12;
  size_t whole = (before + strlen(dictionary) + 1 + 63) / 64 * 64, length = whole - before;
  file.bytes[6] = (unsigned char)version;
  file.bytes[8] = (unsigned char)(length & 0xff);
  file.bytes[9] = (unsigned char)(length >> 8);
  memset(file.bytes + before, ' ', length);
  memcpy(file.bytes + before, dictionary, strlen(dictionary));
  file.bytes[whole - 1] = '\n';
  file.length = whole;
  return file;
}

/* Appends a number as the type says: "<f8", ">f8", "<f4" or ">f4". */
static void append(struct file *file, const char *type, double value)
{
  unsigned char bytes[8];
  const uint16_t one = 1;
  float single = (float)value;
  size_t n = type[2] == '8' ? 8 : 4;
  memcpy(bytes, n == 8 ? (const void *)&value : (const void *)&single, n);
  bool is_little_here = *(const unsigned char *)&one == 1;
  for (size_t i = 0; i < n; i++)
    file->bytes[file->length++] = bytes[(type[0] == '<') == is_little_here ? i : n - 1 - i];
}

/* A file of three columns that holds 'values', 'n' of them. */
static struct file three_columns(int version, const char *type, const double *values, size_t n)
{
  char dictionary[200];
  snprintf(dictionary, sizeof dictionary,
           "{'descr': '%s', 'fortran_order': False, 'shape': (%zu, 3), }", type, n / 3);
  struct file file = begin_file(version, dictionary);
  for (size_t i = 0; i < n; i++) append(&file, type, values[i]);
  return file;
}

static const char *write_file(const struct file *file)
{
  return scratch_write("t.npy", file->bytes, file->length);
}

static bool is_same(double a, double b)
{
  return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

/* All numbers of a table are 'expected', of 'n' values; NaN is a missing value. */
static void assert_numbers(const char *path, const double *expected, size_t n)
{
  struct gpnn_table *table;
  struct gpnn_record record;
  size_t i = 0, line = 0;
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_false(gpnn_table_has_header(table));
  while (gpnn_table_next(table, &record, NULL) == GPNN_OK) {
    assert_int_equal(record.line, ++line);
    for (size_t j = 0; j < record.n_fields; j++, i++) {
      double value = NAN;
      enum gpnn_status status = gpnn_columns_number(table, &record, j, &value, NULL);
      assert_int_equal(status, isnan(expected[i]) ? GPNN_EDATA : GPNN_OK);
      if (!is_same(value, expected[i])) fail_msg("number %zu is %.17g", i, value);
    }
  }
  assert_int_equal(i, n);
  assert_fails(gpnn_table_next(table, &record, &err), GPNN_END, "");
  gpnn_table_close(table);
}

static const double values[] = {1.5, -0.0, 0.1, 3e38, NAN, -1e-45, 7, 1e-310, -12345.678};
enum { N = 9 };

static void every_version_type_and_byte_order_is_read(void **state)
{
  (void)state;
  static const char *const types[] = {"<f8", ">f8", "<f4", ">f4"};
  for (size_t t = 0; t < 4; t++)
    for (int version = 1; version <= 3; version++) {
      double expected[N];
      for (size_t i = 0; i < N; i++)
        expected[i] = types[t][2] == '8' ? values[i] : (double)(float)values[i];
      struct file file = three_columns(version, types[t], values, N);
      assert_numbers(write_file(&file), expected, N);
    }
}

static void it_may_come_compressed_or_in_pieces(void **state)
{
  (void)state;
  struct file file = three_columns(1, "<f8", values, N);
  assert_numbers(scratch_gzip("t.npy.gz", file.bytes, file.length), values, N);
  for (size_t piece = 1; piece < file.length; piece = piece * 3 + 1) {
    int old = scratch_feed((const char *)file.bytes, file.length, piece);
    assert_numbers("-", values, N);
    scratch_unfeed(old);
  }
}

static void one_dimension_is_one_column(void **state)
{
  (void)state;
  struct file file = begin_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }");
  append(&file, "<f8", 4);
  append(&file, "<f8", NAN);
  assert_numbers(write_file(&file), (const double[]){4, NAN}, 2);
}

static void an_array_may_have_no_rows(void **state)
{
  (void)state;
  struct gpnn_table *table;
  struct file file = three_columns(1, "<f4", NULL, 0);
  assert_numbers(write_file(&file), NULL, 0);
  assert_ok(gpnn_table_open(&table, write_file(&file), &as_usual, &err));
  assert_int_equal(gpnn_table_columns(table), 3);
  assert_string_equal(gpnn_table_column(table, 2), "3");
  gpnn_table_close(table);
}

static void headers_of_other_writers_are_read(void **state)
{
  (void)state;
  static const char *const headers[] = {
      "{'shape':(1L,2L),'fortran_order':False,'descr':'<f8'}",
      "{\"descr\": \"<f8\", \"fortran_order\": False, \"shape\": (1, 2)}",
      "{ 'fortran_order' : False , 'descr' : '<f8' , 'shape' : ( 1 , 2 , ) , }",
      "{'descr': '<f8', 'fortran_order': True, 'shape': (2,)}", /* one column: either order */
  };
  for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
    struct file file = begin_file(1, headers[i]);
    append(&file, "<f8", 5);
    append(&file, "<f8", 6);
    assert_numbers(write_file(&file), (const double[]){5, 6}, 2);
  }
}

static void fields_also_have_text(void **state)
{
  (void)state;
  struct gpnn_table *table;
  struct gpnn_record record;
  struct file file = three_columns(1, "<f8", (const double[]){0.1, NAN, -INFINITY}, 3);
  assert_ok(gpnn_table_open(&table, write_file(&file), &as_usual, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_int_equal(record.raw_length, 9);
  assert_memory_equal(record.raw, "0.1\t\t-inf", 9);
  assert_int_equal(record.fields[1].length, 0);
  assert_memory_equal(record.fields[2].text, "-inf", record.fields[2].length);
  struct gpnn_records records = {0};
  assert_ok(gpnn_records_add(&records, &record, &err));
  gpnn_table_close(table);
  record = gpnn_records_get(&records, 0);
  assert_true(is_same(record.numbers[0], 0.1) && isnan(record.numbers[1]));
  assert_memory_equal(record.fields[0].text, "0.1", record.fields[0].length);
  gpnn_records_release(&records);
}

/* Fields that are blank could not stand between blanks. */
static void the_delimiter_of_text_is_a_tab_where_blanks_are_asked_for(void **state)
{
  (void)state;
  static const char asked[] = {'\0', ' ', ',', ';'}, given[] = {'\t', '\t', ',', ';'};
  struct file file = three_columns(1, "<f8", (const double[]){1, NAN, 3}, 3);
  for (size_t i = 0; i < sizeof asked; i++) {
    struct gpnn_table_options options = GPNN_TABLE_OPTIONS_INIT;
    struct gpnn_table *table;
    struct gpnn_record record;
    const char text[] = {'1', given[i], given[i], '3'};
    options.delimiter = asked[i];
    assert_ok(gpnn_table_open(&table, write_file(&file), &options, &err));
    assert_int_equal(gpnn_table_delimiter(table), given[i]);
    assert_ok(gpnn_table_next(table, &record, &err));
    assert_int_equal(record.raw_length, sizeof text);
    assert_memory_equal(record.raw, text, sizeof text);
    gpnn_table_close(table);
  }
}

static void a_bad_number_is_named_by_its_row(void **state)
{
  (void)state;
  struct gpnn_table *table;
  struct gpnn_record record;
  double value;
  const struct gpnn_table_options two_is_missing = {.notation = {.missing = "2"}};
  struct file file = three_columns(1, "<f8", (const double[]){1, 2, 3, 4, INFINITY, NAN}, 6);
  assert_ok(gpnn_table_open(&table, write_file(&file), &two_is_missing, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_columns_number(table, &record, 1, &value, &err), GPNN_EDATA,
               "t.npy: row 1: column '2': missing value");
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_columns_number(table, &record, 1, &value, &err), GPNN_EDATA,
               "t.npy: row 2: column '2': not a finite number: \"inf\"");
  assert_fails(gpnn_columns_number(table, &record, 2, &value, &err), GPNN_EDATA,
               "t.npy: row 2: column '3': missing value");
  gpnn_table_close(table);
}

/* Opening and reading the file fails, with this sentence. */
static void assert_refused(const struct file *file, enum gpnn_status status, const char *sentence)
{
  struct gpnn_table *table = NULL;
  struct gpnn_record record;
  struct gpnn_error err = {0};
  enum gpnn_status came = gpnn_table_open(&table, write_file(file), &as_usual, &err);
  while (came == GPNN_OK) came = gpnn_table_next(table, &record, &err);
  gpnn_table_close(table);
  if (came != status || strstr(err.text, sentence) == NULL)
    fail_msg("status %d, not %d, or no \"%s\" in: %s", (int)came, (int)status, sentence, err.text);
}

static void arrays_that_are_no_tables_are_refused_with_advice(void **state)
{
  (void)state;
  static const struct {
    const char *dictionary, *sentence;
  } cases[] = {
      {"{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }",
       "holds values of type '<i8', and only float32 and float64 are read: save "
       "np.ascontiguousarray(x, dtype='<f8')"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }", "of type '|O'"},
      {"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }", "of type '<f2'"},
      {"{'descr': '<f16', 'fortran_order': False, 'shape': (2, 3), }", "of type '<f16'"},
      {"{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }",
       "column by column (Fortran order), and only rows are read: save np.ascontiguousarray"},
      {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }",
       "structured array, whose columns may be of different types: save np.lib.recfunctions"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "of 0 dimensions"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3, 4), }",
       "of 3 dimensions, and a table has 1 or 2: save np.ascontiguousarray(x.reshape(len(x), -1)"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 0), }", "of 0 columns"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 9999999999), }",
       "of 9999999999 columns"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct file file = begin_file(1, cases[i].dictionary);
    assert_refused(&file, GPNN_EDATA, cases[i].sentence);
  }
}

static void broken_files_are_refused(void **state)
{
  (void)state;
  static const char *const headers[] = {
      "",
      "{}",
      "{'descr': '<f8', 'fortran_order': False}",
      "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2, 3)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (2, -3)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 99999999999999999999)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'more': 1}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} and more",
      "{'descr': '<f8",
  };
  for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
    struct file file = begin_file(1, headers[i]);
    assert_refused(&file, GPNN_EFORMAT, "its header cannot be read");
  }
  struct file file = three_columns(2, "<f8", values, N);
  file.bytes[11] = 1;
  assert_refused(&file, GPNN_EFORMAT, "a header of 16777");
  file.bytes[6] = 4;
  assert_refused(&file, GPNN_EFORMAT, "version 4.0");
}

static void a_file_cut_anywhere_is_truncated(void **state)
{
  (void)state;
  const struct file whole = three_columns(1, "<f8", values, N);
  for (size_t length = 6; length < whole.length; length++) {
    struct file cut = whole;
    cut.length = length;
    assert_refused(&cut, GPNN_EFORMAT, "is truncated: it ends in");
  }
  struct file longer = whole;
  longer.length++;
  assert_refused(&longer, GPNN_EFORMAT, "goes on after the 3 rows of its array");
}

static void other_formats_are_told_apart(void **state)
{
  (void)state;
  struct file file = {.bytes = "PAR1\x15\x04 ...", .length = 10};
  assert_refused(&file, GPNN_EMISMATCH, "is a Parquet file: pipe in the output of duckdb");
  file = (struct file){.bytes = "ARROW1\0\0 ...", .length = 10};
  assert_refused(&file, GPNN_EMISMATCH, "is an Arrow file: pipe in the output of python3");
  file = (struct file){.bytes = "PK\x03\x04 ...", .length = 8};
  assert_refused(&file, GPNN_EMISMATCH, "is a zip archive");
  file = (struct file){.bytes = "PAR1,PAR2\n3,4\n", .length = 14}; /* columns of that name */
  assert_refused(&file, GPNN_END, "");
}

/* ---- writing ------------------------------------------------------------------------------- */

static const struct gpnn_npy_text_format with_names = {
    .delimiter = '\t', .has_header = true, .na = "NA"};

/* Writes 'text' to t.npy, 'piece' bytes at a time. */
static enum gpnn_status write_text(const char *text, size_t piece,
                                   const struct gpnn_npy_text_format *format,
                                   struct gpnn_error *why)
{
  struct gpnn_output *output;
  size_t length = strlen(text);
  assert_ok(gpnn_output_open(&output, scratch_path("t.npy"), &err));
  assert_ok(gpnn_output_as_npy(output, format, &err));
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < length && status == GPNN_OK; i += piece)
    status = gpnn_output_write(output, text + i, length - i < piece ? length - i : piece, why);
  if (status == GPNN_OK) return gpnn_output_close(output, why);
  gpnn_output_abandon(output);
  return status;
}

static void text_becomes_the_same_numbers_whatever_its_pieces(void **state)
{
  (void)state;
  static const char text[] =
      "price\t\"a\tb\nc\"\tsd\n1.5\t-0\t1e-310\nNA\t\t\"2\"\n-0.1\tnan\t\"NA\"\n";
  const double expected[] = {1.5, -0.0, 1e-310, NAN, NAN, 2, -0.1, NAN, NAN};
  for (size_t piece = 1; piece <= sizeof text; piece++) {
    assert_ok(write_text(text, piece, &with_names, &err));
    assert_numbers(scratch_path("t.npy"), expected, 9);
  }
}

static void infinite_numbers_are_written(void **state)
{
  (void)state;
  size_t length;
  assert_ok(write_text("a\tb\ninf\t-inf\n", 99, &with_names, &err));
  char *bytes = scratch_read(scratch_path("t.npy"), &length);
  double back[2];
  assert_int_equal(length, GPNN_NPY_HEADER_BYTES + sizeof back);
  memcpy(back, bytes + GPNN_NPY_HEADER_BYTES, sizeof back);
  assert_true(back[0] == INFINITY && back[1] == -INFINITY);
  free(bytes);
}

static void numbers_come_back_as_they_were(void **state)
{
  (void)state;
  enum { ROWS = 3000 };
  struct gpnn_rng rng;
  struct gpnn_output *output;
  static double expected[ROWS * 2];
  gpnn_rng_init(&rng, 7, GPNN_RNG_SPLIT);
  assert_ok(gpnn_output_open(&output, scratch_path("t.npy"), &err));
  assert_ok(gpnn_output_as_npy(output, &with_names, &err));
  assert_ok(gpnn_output_text(output, "a\tb\n", &err));
  for (size_t i = 0; i < ROWS * 2; i++) {
    expected[i] = ldexp(gpnn_rng_normal(&rng), (int)gpnn_rng_below(&rng, 2000) - 1000);
    assert_ok(gpnn_output_number(output, expected[i], &err));
    assert_ok(gpnn_output_text(output, i % 2 == 0 ? "\t" : "\n", &err));
  }
  assert_ok(gpnn_output_prepare(output, &err));
  assert_ok(gpnn_output_close(output, &err));
  assert_numbers(scratch_path("t.npy"), expected, ROWS * 2);
}

static void a_table_without_rows_has_its_columns(void **state)
{
  (void)state;
  static const char shape[] = "'shape': (0, 4), }";
  const struct gpnn_npy_text_format nameless = {.delimiter = ',', .na = "NA", .n_columns = 4};
  char *bytes;
  assert_ok(write_text("a\tb\tc\td\n", 99, &with_names, &err));
  bytes = scratch_read(scratch_path("t.npy"), NULL);
  assert_non_null(strstr(bytes + 10, shape));
  free(bytes);
  assert_ok(write_text("", 99, &nameless, &err));
  bytes = scratch_read(scratch_path("t.npy"), NULL);
  assert_non_null(strstr(bytes + 10, shape));
  free(bytes);
}

static void text_in_a_field_is_refused_and_leaves_no_file(void **state)
{
  (void)state;
  scratch_count(1);
  assert_fails(write_text("a\tb\n1\t2\n3\tParis\n", 4, &with_names, &err), GPNN_EDATA,
               "t.npy: a .npy file holds only numbers, but column 2 of row 2 is text: \"Paris\"");
  assert_int_equal(scratch_count(0), 0);
}

static void only_a_regular_file_can_be_written(void **state)
{
  (void)state;
  struct gpnn_output *output;
  assert_ok(gpnn_output_open(&output, "/dev/null", &err));
  assert_fails(gpnn_output_as_npy(output, &with_names, &err), GPNN_EINVAL, "only a regular file");
  gpnn_output_abandon(output);
}

static void the_ending_of_the_name_decides(void **state)
{
  (void)state;
  assert_true(gpnn_npy_text_is_wanted("a.npy"));
  assert_true(gpnn_npy_text_is_wanted("b/.c.npy"));
  assert_false(gpnn_npy_text_is_wanted("a.npy.tsv"));
  assert_false(gpnn_npy_text_is_wanted("npy"));
  assert_false(gpnn_npy_text_is_wanted("-"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_version_type_and_byte_order_is_read),
      cmocka_unit_test(it_may_come_compressed_or_in_pieces),
      cmocka_unit_test(one_dimension_is_one_column),
      cmocka_unit_test(an_array_may_have_no_rows),
      cmocka_unit_test(headers_of_other_writers_are_read),
      cmocka_unit_test(fields_also_have_text),
      cmocka_unit_test(the_delimiter_of_text_is_a_tab_where_blanks_are_asked_for),
      cmocka_unit_test(a_bad_number_is_named_by_its_row),
      cmocka_unit_test(arrays_that_are_no_tables_are_refused_with_advice),
      cmocka_unit_test(broken_files_are_refused),
      cmocka_unit_test(a_file_cut_anywhere_is_truncated),
      cmocka_unit_test(other_formats_are_told_apart),
      cmocka_unit_test(text_becomes_the_same_numbers_whatever_its_pieces),
      cmocka_unit_test(infinite_numbers_are_written),
      cmocka_unit_test(numbers_come_back_as_they_were),
      cmocka_unit_test(a_table_without_rows_has_its_columns),
      cmocka_unit_test(text_in_a_field_is_refused_and_leaves_no_file),
      cmocka_unit_test(only_a_regular_file_can_be_written),
      cmocka_unit_test(the_ending_of_the_name_decides),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
