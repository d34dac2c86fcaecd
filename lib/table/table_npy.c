/*
 * Reading the rows of a .npy file as records.  Each has its numbers, and the same numbers as the
 * text of a line, for whoever copies fields, compares or shows them.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "table/table_private.h"

/* Reads until 'length' bytes lie in the buffer, or the stream ends. */
static enum gpnn_status fill_to(struct gpnn_table *table, size_t length, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK && table->end - table->start < length && !table->at_end)
    status = gpnn_table_fill(table, err);
  return status;
}

static bool has_bytes(const struct gpnn_table *table, size_t length)
{
  return table->end - table->start >= length;
}

static enum gpnn_status fail_in_header(const struct gpnn_table *table, struct gpnn_error *err)
{
  return gpnn_fail(err, GPNN_EFORMAT, "%s: is truncated: it ends in its .npy header",
                   gpnn_table_name(table));
}

static enum gpnn_status read_header(struct gpnn_table *table, struct gpnn_error *err)
{
  const char *name = gpnn_table_name(table);
  size_t length = 0;
  enum gpnn_status status = fill_to(table, GPNN_NPY_PREFIX_BYTES, err);
  if (status != GPNN_OK) return status;
  if (!has_bytes(table, GPNN_NPY_PREFIX_BYTES)) return fail_in_header(table, err);
  status = gpnn_npy_header_length(table->buffer + table->start, name, &length, err);
  if (status == GPNN_OK) status = fill_to(table, length, err);
  if (status != GPNN_OK) return status;
  if (!has_bytes(table, length)) return fail_in_header(table, err);
  status = gpnn_npy_header_read(&table->npy, table->buffer + table->start, length, name, err);
  if (status == GPNN_OK) table->start += length;
  return status;
}

enum gpnn_status gpnn_table_open_npy(struct gpnn_table *table, struct gpnn_error *err)
{
  enum gpnn_status status = read_header(table, err);
  if (status != GPNN_OK) return status;
  size_t n = table->npy.n_columns;
  table->n_columns = n;
  table->has_header = false;
  if (table->delimiter == 0 || table->delimiter == ' ') table->delimiter = '\t';
  table->numbers = gpnn_alloc(n, 1, sizeof *table->numbers);
  if (table->numbers == NULL ||
      !gpnn_grow(&table->fields, &table->fields_capacity, n, sizeof *table->fields) ||
      !gpnn_grow(&table->unquoted, &table->unquoted_capacity, n, GPNN_NUMBER_BYTES))
    return gpnn_fail_memory(err, "for the columns of a table");
  return GPNN_OK;
}

/* Writes the numbers as fields; missing ones are empty.  Returns the length of their line. */
static size_t write_fields(struct gpnn_table *table)
{
  char *to = table->unquoted;
  for (size_t j = 0; j < table->n_columns; j++) {
    size_t length = isnan(table->numbers[j]) ? 0 : gpnn_number_write(to, table->numbers[j]);
    table->fields[j] = (struct gpnn_field){to, length};
    to += length;
    *to++ = table->delimiter;
  }
  size_t length = (size_t)(to - 1 - table->unquoted);
  if (length > 0) return length;
  memcpy(table->unquoted, "\"\"", 2); /* a blank line would be no record */
  return 2;
}

/* After the last row: GPNN_END, or a failure if the file goes on. */
static enum gpnn_status end_table(struct gpnn_table *table, struct gpnn_error *err)
{
  enum gpnn_status status = fill_to(table, 1, err);
  if (status != GPNN_OK) return status;
  if (!has_bytes(table, 1)) return GPNN_END;
  return gpnn_fail(err, GPNN_EFORMAT,
                   "%s: goes on after the %llu rows of its array: a file may hold one array only",
                   gpnn_table_name(table), (unsigned long long)table->npy.n_rows);
}

enum gpnn_status gpnn_table_next_npy(struct gpnn_table *table, struct gpnn_record *record,
                                     struct gpnn_error *err)
{
  if (table->line > table->npy.n_rows) return end_table(table, err);
  size_t row_bytes = table->n_columns * table->npy.number_bytes;
  enum gpnn_status status = fill_to(table, row_bytes, err);
  if (status != GPNN_OK) return status;
  if (!has_bytes(table, row_bytes))
    return gpnn_fail(err, GPNN_EFORMAT, "%s: is truncated: it ends in row %zu of %llu",
                     gpnn_table_name(table), table->line, (unsigned long long)table->npy.n_rows);
  gpnn_npy_row_read(&table->npy, table->buffer + table->start, table->numbers);
  table->start += row_bytes;
  *record = (struct gpnn_record){.line = table->line++,
                                 .n_fields = table->n_columns,
                                 .fields = table->fields,
                                 .numbers = table->numbers,
                                 .raw = table->unquoted,
                                 .raw_length = write_fields(table)};
  return GPNN_OK;
}
