/*
 * .npy files: what is written of a table of text reads back as the same numbers, however the text
 * is cut into pieces, and is refused where the text has something else.
 * The first byte chooses the length of the pieces; the rest is the table.
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "fuzz.h"
#include "table/columns.h"
#include "table/npy.h"
#include "table/table.h"

/* All values of a table, and the same as text with tabs. */
struct values {
  size_t n_columns, n, capacity;
  double *numbers;
  bool has_text; /* a field is neither a number nor missing */
  char *text;
  size_t length;
};

static double value_of(struct values *values, const struct gpnn_field *field)
{
  double value = NAN;
  if (field->length == 0) return NAN;
  enum gpnn_number outcome = gpnn_number_read(field->text, field->length, &value);
  values->has_text = values->has_text || outcome == GPNN_NUMBER_BAD;
  if (outcome != GPNN_NUMBER_NOT_FINITE) return value;
  char *text = fuzz_text((const uint8_t *)field->text, field->length);
  value = strtod(text, NULL);
  free(text);
  return value;
}

static void add_record(struct values *values, const struct gpnn_record *record, FILE *text)
{
  for (size_t j = 0; j < record->n_fields; j++) {
    const struct gpnn_field *field = &record->fields[j];
    /* Our writers quote what has a quote or a delimiter; numbers have neither. */
    bool is_plain = memchr(field->text, '"', field->length) == NULL &&
                    memchr(field->text, '\t', field->length) == NULL &&
                    memchr(field->text, '\n', field->length) == NULL;
    const struct gpnn_field written = is_plain ? *field : (struct gpnn_field){"x", 1};
    if (values->n == values->capacity) {
      values->capacity = 2 * values->capacity + 64;
      values->numbers = realloc(values->numbers, values->capacity * sizeof(double));
      FUZZ_EXPECT(values->numbers != NULL);
    }
    if (j > 0) fputc('\t', text);
    fwrite(written.text, 1, written.length, text);
    values->numbers[values->n++] = value_of(values, &written);
  }
  fputc('\n', text);
}

static struct values read_values(struct gpnn_table *table)
{
  struct values values = {.n_columns = gpnn_table_columns(table)};
  struct gpnn_record record;
  FILE *text = open_memstream(&values.text, &values.length);
  FUZZ_EXPECT(text != NULL);
  for (;;) {
    enum gpnn_status status = gpnn_table_next(table, &record, NULL);
    if (status == GPNN_OK)
      add_record(&values, &record, text);
    else if (status != GPNN_EDATA)
      break;
  }
  fclose(text);
  return values;
}

static bool is_same(double a, double b)
{
  return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void check_back(const struct values *values, const char *path)
{
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_table *table;
  struct gpnn_record record;
  struct gpnn_error err = {0};
  size_t n = 0;
  FUZZ_EXPECT(gpnn_table_open(&table, path, &as_usual, &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_table_columns(table) == values->n_columns);
  while (gpnn_table_next(table, &record, &err) == GPNN_OK)
    for (size_t j = 0; j < record.n_fields; j++, n++)
      FUZZ_EXPECT(n < values->n && is_same(record.numbers[j], values->numbers[n]));
  FUZZ_EXPECT(n == values->n && gpnn_table_next(table, &record, &err) == GPNN_END);
  gpnn_table_close(table);
}

/* Converts the text in pieces, and reads the file back. */
static void convert(const struct values *values, size_t piece)
{
  const struct gpnn_npy_text_format format = {
      .delimiter = '\t', .na = "", .n_columns = values->n_columns};
  struct gpnn_npy_text *npy;
  struct gpnn_error err = {0};
  char header[GPNN_NPY_HEADER_BYTES] = {0}, *file = NULL;
  const char *bytes;
  size_t length = 0, n;
  enum gpnn_status status = GPNN_OK;
  FILE *whole = open_memstream(&file, &length);
  FUZZ_EXPECT(whole != NULL && gpnn_npy_text_new(&npy, "name", &format, &err) == GPNN_OK);
  fwrite(header, 1, sizeof header, whole);
  for (size_t i = 0; i < values->length && status == GPNN_OK; i += piece) {
    size_t left = values->length - i;
    status =
        gpnn_npy_text_convert(npy, values->text + i, left < piece ? left : piece, &bytes, &n, &err);
    if (status == GPNN_OK && n > 0) fwrite(bytes, 1, n, whole);
  }
  fclose(whole);
  FUZZ_EXPECT((status == GPNN_EDATA) == values->has_text);
  if (status == GPNN_OK) {
    gpnn_npy_text_header(npy, header);
    memcpy(file, header, sizeof header);
    check_back(values, fuzz_file(1, file, length));
  } else {
    fuzz_expect_failure(status, &err);
  }
  gpnn_npy_text_free(npy);
  free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  size_t piece = (size_t)fuzz_byte(&bytes, &length) + 1;
  struct gpnn_table *table = fuzz_table(bytes, length, false);
  if (table == NULL) return 0;
  struct values values = read_values(table);
  convert(&values, piece);
  free(values.numbers);
  free(values.text);
  gpnn_table_close(table);
  return 0;
}
