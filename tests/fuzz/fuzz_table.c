/*
 * Tables: records as the format promises them, and the same again when they are written.
 * The first byte chooses delimiter and header; the rest is the table.
 */
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "table/columns.h"
#include "table/records.h"
#include "table/table.h"

static void check_record(const struct gpnn_table *table, const struct gpnn_record *record,
                         size_t last_line)
{
  FUZZ_EXPECT(record->line > last_line && record->n_fields == gpnn_table_columns(table));
  FUZZ_EXPECT(record->raw_length > 0 && memchr(record->raw, '\0', record->raw_length) == NULL);
  size_t total = 0;
  for (size_t i = 0; i < record->n_fields; i++) {
    double value;
    struct gpnn_error err = {0};
    total += record->fields[i].length;
    enum gpnn_status status = gpnn_columns_number(table, record, i, &value, &err);
    FUZZ_EXPECT(status == GPNN_OK || status == GPNN_EDATA);
    if (status != GPNN_OK) fuzz_expect_failure(status, &err);
  }
  FUZZ_EXPECT(total + record->n_fields - 1 <= record->raw_length);
}

/* Reads all records; good ones go to 'records'.  Returns how it ended. */
static enum gpnn_status read_all(struct gpnn_table *table, struct gpnn_records *records)
{
  size_t last = 0;
  for (;;) {
    struct gpnn_record record;
    struct gpnn_error err = {0};
    enum gpnn_status status = gpnn_table_next(table, &record, &err);
    if (status == GPNN_EDATA) {
      fuzz_expect_failure(status, &err);
      FUZZ_EXPECT(record.line > last && record.n_fields == 0);
    } else if (status == GPNN_OK) {
      check_record(table, &record, last);
      FUZZ_EXPECT(gpnn_records_add(records, &record, &err) == GPNN_OK);
    } else {
      if (status != GPNN_END) fuzz_expect_failure(status, &err);
      return status;
    }
    last = record.line;
  }
}

static void write_record(struct gpnn_output *output, char delimiter, size_t n,
                         const struct gpnn_field *fields)
{
  struct gpnn_error err = {0};
  /* One empty field alone is no line: writers of such records, of which we have none, see to it.
   * Between blanks an empty field has quotes anyway. */
  bool is_blank = n == 1 && fields[0].length == 0 && delimiter != ' ';
  if (is_blank) FUZZ_EXPECT(gpnn_output_text(output, "\"\"", &err) == GPNN_OK);
  for (size_t i = 0; i < n; i++) {
    if (i > 0) FUZZ_EXPECT(gpnn_output_write(output, &delimiter, 1, &err) == GPNN_OK);
    FUZZ_EXPECT(gpnn_table_write_field(output, delimiter, fields[i].text, fields[i].length, &err) ==
                GPNN_OK);
  }
  FUZZ_EXPECT(gpnn_output_text(output, "\n", &err) == GPNN_OK);
}

static void check_equal(struct gpnn_records *a, struct gpnn_records *b)
{
  FUZZ_EXPECT(a->n == b->n);
  for (size_t i = 0; i < a->n; i++) {
    struct gpnn_record p = gpnn_records_get(a, i), q = gpnn_records_get(b, i);
    FUZZ_EXPECT(p.n_fields == q.n_fields);
    for (size_t j = 0; j < p.n_fields; j++)
      FUZZ_EXPECT(p.fields[j].length == q.fields[j].length &&
                  memcmp(p.fields[j].text, q.fields[j].text, p.fields[j].length) == 0);
  }
}

/* Writes names and records as the tools do, and reads them back. */
static void write_and_read(const struct gpnn_table *table, struct gpnn_records *records)
{
  struct gpnn_error err = {0};
  struct gpnn_output *output;
  struct gpnn_records back = {0};
  struct gpnn_table *again;
  size_t n = gpnn_table_columns(table), length;
  char delimiter = gpnn_table_delimiter(table);
  FUZZ_EXPECT(gpnn_output_open(&output, fuzz_sink(), &err) == GPNN_OK);
  struct gpnn_field *names = calloc(n, sizeof *names);
  FUZZ_EXPECT(names != NULL);
  for (size_t j = 0; j < n; j++)
    names[j] =
        (struct gpnn_field){gpnn_table_column(table, j), strlen(gpnn_table_column(table, j))};
  write_record(output, delimiter, n, names);
  free(names);
  for (size_t i = 0; i < records->n; i++)
    write_record(output, delimiter, n, gpnn_records_get(records, i).fields);
  FUZZ_EXPECT(gpnn_output_close(output, &err) == GPNN_OK);
  char *text = fuzz_drain(&length);
  /* Readers tell the usual delimiters by themselves, where there are any. */
  bool is_told = n > 1 && strchr(",;\t", delimiter) != NULL;
  struct gpnn_table_options options = {.delimiter = is_told ? 0 : delimiter, .has_header = true};
  FUZZ_EXPECT(gpnn_table_open(&again, fuzz_file(1, text, length), &options, &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_table_columns(again) == n);
  for (size_t j = 0; j < n; j++)
    FUZZ_EXPECT(strcmp(gpnn_table_column(table, j), gpnn_table_column(again, j)) == 0);
  FUZZ_EXPECT(read_all(again, &back) == GPNN_END);
  check_equal(records, &back);
  gpnn_records_release(&back);
  gpnn_table_close(again);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  static const char delimiters[] = {0, ',', '\t', ';', ' ', '|', 'a', '"'};
  uint8_t choice = fuzz_byte(&bytes, &length);
  struct gpnn_table_options options = {.delimiter = delimiters[choice % 8],
                                       .has_header = (choice & 8) == 0};
  struct gpnn_error err = {0};
  struct gpnn_table *table = NULL;
  enum gpnn_status status = gpnn_table_open(&table, fuzz_file(0, bytes, length), &options, &err);
  if (status != GPNN_OK) {
    fuzz_expect_failure(status, &err);
    FUZZ_EXPECT(table == NULL);
    return 0;
  }
  struct gpnn_records records = {0};
  read_all(table, &records);
  if (length < 1 << 16) write_and_read(table, &records);
  gpnn_records_release(&records);
  gpnn_table_close(table);
  return 0;
}
