/*
 * JSON Lines: any bytes are read or refused, and what is read is the same again as the text of
 * records; and the records of a table of text are the same again as JSON Lines.
 * The first byte chooses the delimiter and how JSON is written; the rest is the table.
 */
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "table/records.h"
#include "table/table.h"

/* Reads all records; good ones go to 'records'. */
static void read_all(struct gpnn_table *table, struct gpnn_records *records)
{
  size_t last = 0;
  for (;;) {
    struct gpnn_record record;
    struct gpnn_error err = {0};
    enum gpnn_status status = gpnn_table_next(table, &record, &err);
    if (status != GPNN_OK && status != GPNN_END) fuzz_expect_failure(status, &err);
    if (status != GPNN_OK && status != GPNN_EDATA) return;
    FUZZ_EXPECT(record.line > last);
    last = record.line;
    if (status == GPNN_EDATA) continue;
    FUZZ_EXPECT(record.n_fields == gpnn_table_columns(table));
    FUZZ_EXPECT(gpnn_records_add(records, &record, &err) == GPNN_OK);
  }
}

static bool is_same(const struct gpnn_field *a, const struct gpnn_field *b)
{
  return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* The same names and records in both tables. */
static void check_same(const struct gpnn_table *table, struct gpnn_records *records,
                       const char *path, const struct gpnn_table_options *options)
{
  struct gpnn_error err = {0};
  struct gpnn_table *again = NULL;
  struct gpnn_records back = {0};
  size_t n = gpnn_table_columns(table);
  FUZZ_EXPECT(gpnn_table_open(&again, path, options, &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_table_columns(again) == n);
  for (size_t j = 0; j < n; j++)
    FUZZ_EXPECT(strcmp(gpnn_table_column(table, j), gpnn_table_column(again, j)) == 0);
  read_all(again, &back);
  FUZZ_EXPECT(back.n == records->n);
  for (size_t i = 0; i < records->n; i++) {
    struct gpnn_record a = gpnn_records_get(records, i), b = gpnn_records_get(&back, i);
    for (size_t j = 0; j < n; j++) FUZZ_EXPECT(is_same(&a.fields[j], &b.fields[j]));
  }
  gpnn_records_release(&back);
  gpnn_table_close(again);
}

/* A table that is to be written anew: 'text' becomes that, 'records' what is in it. */
struct copy {
  struct gpnn_records records;
  FILE *out;
  char *text;
  size_t length;
};

static void begin_copy(struct copy *copy)
{
  *copy = (struct copy){.text = NULL};
  copy->out = open_memstream(&copy->text, &copy->length);
  FUZZ_EXPECT(copy->out != NULL);
}

static void end_copy(struct copy *copy)
{
  gpnn_records_release(&copy->records);
  free(copy->text);
}

/* The header and the lines of the records are a table of text. */
static void check_lines(struct gpnn_table *table)
{
  const struct gpnn_table_options options = {.delimiter = gpnn_table_delimiter(table),
                                             .has_header = true};
  struct copy copy;
  struct gpnn_record record;
  struct gpnn_field header = gpnn_table_header(table);
  enum gpnn_status status;
  begin_copy(&copy);
  fprintf(copy.out, "%.*s\n", (int)header.length, header.text);
  while ((status = gpnn_table_next(table, &record, NULL)) == GPNN_OK || status == GPNN_EDATA) {
    if (status == GPNN_EDATA) continue;
    fprintf(copy.out, "%.*s\n", (int)record.raw_length, record.raw);
    FUZZ_EXPECT(gpnn_records_add(&copy.records, &record, NULL) == GPNN_OK);
  }
  fclose(copy.out);
  check_same(table, &copy.records, fuzz_file(1, copy.text, copy.length), &options);
  end_copy(&copy);
}

/* Writes a text as JSON; false if it is not ASCII. */
static bool write_text(FILE *out, const char *text, size_t length, bool escapes)
{
  fputc('"', out);
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c >= 0x80) return false;
    if (c < ' ' || escapes)
      fprintf(out, "\\u%04x", c);
    else
      fprintf(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
  }
  fputc('"', out);
  return true;
}

/* Writes fields under the names of 'table', those of odd columns first; false if it cannot be. */
static bool write_object(FILE *out, const struct gpnn_table *table, const struct gpnn_field *fields,
                         bool is_shuffled, bool escapes)
{
  size_t n = gpnn_table_columns(table), n_odd = is_shuffled ? n / 2 : 0;
  for (size_t i = 0; i < n; i++) {
    size_t j = i < n_odd ? 2 * i + 1 : is_shuffled ? 2 * (i - n_odd) : i;
    const char *name = gpnn_table_column(table, j);
    fputs(i == 0 ? "{" : " , ", out);
    if (strlen(name) > 1000 || !write_text(out, name, strlen(name), escapes)) return false;
    fputs(" : ", out);
    if (!write_text(out, fields[j].text, fields[j].length, escapes)) return false;
  }
  fputs("}\n", out);
  return true;
}

/* Texts with one name for each column are the same as JSON Lines. */
static void check_json(struct gpnn_table *table, bool is_shuffled, bool escapes)
{
  const struct gpnn_table_options options = GPNN_TABLE_OPTIONS_INIT;
  struct copy copy;
  begin_copy(&copy);
  read_all(table, &copy.records);
  bool is_told = copy.records.n > 0;
  for (size_t j = 0; j < gpnn_table_columns(table); j++)
    for (size_t k = 0; k < j && is_told; k++)
      is_told = strcmp(gpnn_table_column(table, j), gpnn_table_column(table, k)) != 0;
  for (size_t i = 0; i < copy.records.n && is_told; i++)
    is_told = write_object(copy.out, table, gpnn_records_get(&copy.records, i).fields,
                           i > 0 && is_shuffled, escapes);
  fclose(copy.out);
  if (is_told) check_same(table, &copy.records, fuzz_file(1, copy.text, copy.length), &options);
  end_copy(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  uint8_t choice = fuzz_byte(&bytes, &length);
  const struct gpnn_table_options options = {.delimiter = choice & 1 ? ',' : 0, .has_header = true};
  struct gpnn_error err = {0};
  struct gpnn_table *table = NULL;
  enum gpnn_status status = gpnn_table_open(&table, fuzz_file(0, bytes, length), &options, &err);
  if (status != GPNN_OK) {
    fuzz_expect_failure(status, &err);
    return 0;
  }
  if (gpnn_table_is_json(table))
    check_lines(table);
  else if (gpnn_table_columns(table) < 100)
    check_json(table, choice & 2, choice & 4);
  gpnn_table_close(table);
  return 0;
}
