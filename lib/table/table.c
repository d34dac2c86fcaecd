/*
 * Opening a table and reading its first line.
 */
#include "table/table.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "container/container.h"
#include "table/table_private.h"

/* The first lines of a table that is read to its end, if they tell nothing, end here. */
enum { MOST_LOOKED_AT = 1 << 20 };

/* ---- the first line ---------------------------------------------------------------------- */

/*
 * Sets '*answer' to whether the stream begins with these bytes.  Reads no further than it must to
 * know, as the process at the other end of a pipe may be waiting for us.
 */
static enum gpnn_status begins_with(struct gpnn_table *table, const char *bytes, size_t length,
                                    bool *answer, struct gpnn_error *err)
{
  for (;;) {
    size_t n = table->end < length ? table->end : length;
    bool agrees = memcmp(table->buffer, bytes, n) == 0;
    if (!agrees || n == length || table->at_end) {
      *answer = agrees && n == length;
      return GPNN_OK;
    }
    enum gpnn_status status = gpnn_table_fill(table, err);
    if (status != GPNN_OK) return status;
  }
}

/* Refuses gpnn's binary files; the message names the kind. */
static enum gpnn_status check_container(struct gpnn_table *table, struct gpnn_error *err)
{
  bool is_container = false;
  enum gpnn_container_kind kind;
  enum gpnn_status status =
      begins_with(table, GPNN_CONTAINER_MAGIC, GPNN_CONTAINER_MAGIC_BYTES, &is_container, err);
  while (status == GPNN_OK && is_container && table->end < GPNN_CONTAINER_KIND_BYTES &&
         !table->at_end)
    status = gpnn_table_fill(table, err);
  if (status == GPNN_OK && gpnn_container_recognise(table->buffer, table->end, &kind))
    status = gpnn_fail(err, GPNN_EMISMATCH, "%s: is %s, not a table", gpnn_table_name(table),
                       gpnn_container_kind_name(kind));
  return status;
}

/* Refuses files of other formats, and says what to do with them. */
static enum gpnn_status check_foreign(struct gpnn_table *table, struct gpnn_error *err)
{
  for (size_t i = 0; i < GPNN_FOREIGN_FORMATS; i++) {
    const struct gpnn_foreign *format = gpnn_foreign(i);
    bool is_this = false;
    enum gpnn_status status = begins_with(table, format->magic, format->magic_bytes, &is_this, err);
    if (status != GPNN_OK) return status;
    if (is_this)
      return gpnn_fail(err, GPNN_EMISMATCH, "%s: %s", gpnn_table_name(table), format->advice);
  }
  return GPNN_OK;
}

/* Refuses gpnn's other files and skips a byte order mark. */
static enum gpnn_status check_beginning(struct gpnn_table *table, struct gpnn_error *err)
{
  bool is_params = false, has_bom = false, is_utf16 = false;
  enum gpnn_status status = check_container(table, err);
  if (status == GPNN_OK) status = check_foreign(table, err);
  if (status == GPNN_OK)
    status = begins_with(table, GPNN_TABLE_PARAMS, sizeof GPNN_TABLE_PARAMS - 1, &is_params, err);
  if (status == GPNN_OK)
    status = begins_with(table, GPNN_TABLE_BOM, sizeof GPNN_TABLE_BOM - 1, &has_bom, err);
  if (status == GPNN_OK) status = begins_with(table, "\xff\xfe", 2, &is_utf16, err);
  if (status == GPNN_OK && !is_utf16) status = begins_with(table, "\xfe\xff", 2, &is_utf16, err);
  if (status != GPNN_OK) return status;
  if (is_params)
    return gpnn_fail(err, GPNN_EMISMATCH, "%s: is a parameters file, not a table",
                     gpnn_table_name(table));
  if (is_utf16)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: is in UTF-16: iconv -f UTF-16 -t UTF-8 makes it UTF-8",
                     gpnn_table_name(table));
  if (has_bom) table->start += sizeof GPNN_TABLE_BOM - 1;
  return GPNN_OK;
}

/* Reads on until there are enough lines to tell the delimiter from.  Only if the first line leaves
 * it open: whoever writes to a pipe may be waiting for our answer to that line. */
static enum gpnn_status read_lines(struct gpnn_table *table, size_t first_length,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (!gpnn_table_is_ambiguous(table->buffer + table->start, first_length)) return GPNN_OK;
  while (status == GPNN_OK && !gpnn_table_sees_enough(table) &&
         table->end - table->start < MOST_LOOKED_AT)
    status = gpnn_table_fill(table, err);
  return status;
}

/* Skips the lines before the table. */
static enum gpnn_status skip_lines(struct gpnn_table *table,
                                   const struct gpnn_table_options *options, struct gpnn_error *err)
{
  struct gpnn_extent extent;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < options->skip_lines && status == GPNN_OK; i++) {
    status = gpnn_table_find_line(table, &extent, err);
    if (status == GPNN_OK && options->usual != NULL &&
        gpnn_schema_names_inputs(options->usual, table->buffer + table->start, extent.length))
      break;
    if (status == GPNN_OK) gpnn_table_consume(table, &extent);
  }
  return status == GPNN_END ? GPNN_OK : status;
}

/* Finds the extent of the first line and, unless it was given, the delimiter. */
static enum gpnn_status find_first(struct gpnn_table *table, struct gpnn_extent *extent,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_table_find_next(table, extent, err);
  if (status == GPNN_OK && table->delimiter == 0) {
    status = read_lines(table, extent->length, err);
    if (status != GPNN_OK) return status;
    table->delimiter = gpnn_table_detect_delimiter(table, extent->length);
    /* Again: now that fields are known, quotes that do not begin one no longer count. */
    status = gpnn_table_find_record(table, extent, err);
  }
  if (status == GPNN_END)
    return gpnn_fail(err, GPNN_EDATA, "%s: is empty: it has not even a first line",
                     gpnn_table_name(table));
  return status;
}

/* Names the columns after the first line's fields. */
static enum gpnn_status name_columns(struct gpnn_table *table, size_t raw_length,
                                     struct gpnn_error *err)
{
  enum { NUMBER_BYTES = 21 }; /* any size_t and its NUL */
  size_t n = table->n_columns, room = table->has_header ? 1 : NUMBER_BYTES;
  if (!gpnn_multiply(n, room, &room)) return gpnn_fail_memory(err, "for the column names");
  table->columns = gpnn_alloc(n, 1, sizeof *table->columns);
  table->names = gpnn_alloc(raw_length + room, 1, 1);
  if (table->columns == NULL || table->names == NULL)
    return gpnn_fail_memory(err, "for the column names");
  char *to = table->names;
  for (size_t j = 0; j < n; j++) {
    table->columns[j] = to;
    if (table->has_header) {
      memcpy(to, table->fields[j].text, table->fields[j].length);
      to += table->fields[j].length + 1;
    } else {
      to += snprintf(to, NUMBER_BYTES, "%zu", j + 1) + 1;
    }
  }
  return GPNN_OK;
}

/* Finds out whether the header names all columns, from the lines that follow it.  Only in a file:
 * whoever writes to a pipe may be waiting for our answer to the header. */
static enum gpnn_status find_unnamed(struct gpnn_table *table, size_t first_length,
                                     enum gpnn_unnamed *unnamed, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  size_t n_names;
  *unnamed = GPNN_UNNAMED_NONE;
  if (!table->has_header || isnan(gpnn_input_share(table->input))) return GPNN_OK;
  while (status == GPNN_OK && !gpnn_table_sees_enough(table) &&
         table->end - table->start < MOST_LOOKED_AT)
    status = gpnn_table_fill(table, NULL);
  if (status != GPNN_OK) return GPNN_OK; /* fails again, but for what can be read before */
  status = gpnn_table_split(table, first_length, &n_names, err);
  if (status == GPNN_OK && gpnn_table_preamble(table) == 0)
    *unnamed = gpnn_table_find_unnamed(table, first_length, n_names);
  return status;
}

/* Makes room for an empty name. */
static enum gpnn_status add_unnamed(struct gpnn_table *table, enum gpnn_unnamed unnamed,
                                    struct gpnn_error *err)
{
  size_t n = table->n_columns;
  if (unnamed == GPNN_UNNAMED_NONE) return GPNN_OK;
  if (!gpnn_grow(&table->fields, &table->fields_capacity, n + 1, sizeof *table->fields))
    return gpnn_fail_memory(err, "for the column names");
  size_t at = unnamed == GPNN_UNNAMED_FIRST ? 0 : n;
  memmove(table->fields + at + 1, table->fields + at, (n - at) * sizeof *table->fields);
  table->fields[at] = (struct gpnn_field){"", 0};
  table->n_columns++;
  return GPNN_OK;
}

/* True if the fields of the first line are a row and no names, as far as can be told. */
static bool sees_row(const struct gpnn_table *table)
{
  size_t n_numbers = 0, n_counted = 0;
  for (size_t j = 0; j < table->n_columns; j++) {
    const struct gpnn_field *field = &table->fields[j];
    double value;
    if (gpnn_values_missing(&table->values, field->text, field->length)) continue;
    if (gpnn_values_number(&table->values, field->text, field->length, &value) != GPNN_NUMBER_OK)
      return false;
    n_numbers++;
    n_counted += value == (double)(j + 1);
  }
  return n_numbers > 0 && n_counted < table->n_columns;
}

/* Sets what the first line determines; without a header the line is not consumed. */
static enum gpnn_status read_first_line(struct gpnn_table *table, bool may_lack_header,
                                        struct gpnn_error *err)
{
  struct gpnn_extent extent;
  enum gpnn_unnamed unnamed;
  enum gpnn_status status = find_first(table, &extent, err);
  if (status == GPNN_OK) status = find_unnamed(table, extent.length, &unnamed, err);
  if (status == GPNN_OK) status = gpnn_table_split(table, extent.length, &table->n_columns, err);
  if (status == GPNN_OK) status = add_unnamed(table, unnamed, err);
  if (status == GPNN_OK && may_lack_header && sees_row(table)) table->has_header = false;
  if (status == GPNN_OK) status = name_columns(table, extent.length, err);
  if (status != GPNN_OK) return status;
  table->header_length = table->has_header ? extent.length : 0;
  table->header = gpnn_copy_text(table->buffer + table->start, table->header_length);
  if (table->header == NULL) return gpnn_fail_memory(err, "for the header");
  if (table->has_header) gpnn_table_consume(table, &extent);
  return GPNN_OK;
}

static enum gpnn_status read_beginning(struct gpnn_table *table,
                                       const struct gpnn_table_options *options,
                                       struct gpnn_error *err)
{
  bool is_npy = false;
  enum gpnn_status status = begins_with(table, GPNN_NPY_MAGIC, GPNN_NPY_MAGIC_BYTES, &is_npy, err);
  if (status != GPNN_OK) return status;
  if (is_npy) {
    status = gpnn_table_open_npy(table, err);
    return status == GPNN_OK ? name_columns(table, 0, err) : status;
  }
  status = check_beginning(table, err);
  if (status == GPNN_OK) status = skip_lines(table, options, err);
  if (status == GPNN_OK) status = gpnn_table_open_json(table, err);
  return status == GPNN_OK && !gpnn_table_is_json(table)
             ? read_first_line(table, options->may_lack_header, err)
             : status;
}

bool gpnn_table_can_delimit(char c)
{
  return c == '\t' || (c >= ' ' && c < 0x7f && c != '"');
}

enum gpnn_status gpnn_table_open(struct gpnn_table **table, const char *path,
                                 const struct gpnn_table_options *options, struct gpnn_error *err)
{
  if (options->delimiter != 0 && !gpnn_table_can_delimit(options->delimiter))
    return gpnn_fail(
        err, GPNN_EINVAL,
        "the delimiter must be a tab or a printable ASCII character other than a quote");
  struct gpnn_table *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "to open a table");
  new->delimiter = options->delimiter;
  new->usual_delimiter = options->usual_delimiter;
  new->has_header = options->has_header;
  new->line = 1;
  enum gpnn_status status = gpnn_values_make(&new->values, &options->notation, err);
  if (status == GPNN_OK) status = gpnn_input_open(&new->input, path, err);
  if (status == GPNN_OK && !gpnn_grow(&new->buffer, &new->capacity, FIRST_BUFFER_BYTES, 1))
    status = gpnn_fail_memory(err, "to open a table");
  if (status == GPNN_OK) status = read_beginning(new, options, err);
  if (status != GPNN_OK)
    gpnn_table_close(new);
  else
    *table = new;
  return status;
}

/* ---- properties -------------------------------------------------------------------------- */

const char *gpnn_table_name(const struct gpnn_table *table)
{
  return gpnn_input_name(table->input);
}

struct gpnn_input *gpnn_table_input(struct gpnn_table *table)
{
  return table->input;
}

char gpnn_table_delimiter(const struct gpnn_table *table)
{
  return table->delimiter;
}

bool gpnn_table_has_header(const struct gpnn_table *table)
{
  return table->has_header;
}

const struct gpnn_values *gpnn_table_values(const struct gpnn_table *table)
{
  return &table->values;
}

bool gpnn_table_is_text(const struct gpnn_table *table)
{
  return table->npy.n_columns == 0;
}

bool gpnn_table_is_json(const struct gpnn_table *table)
{
  return table->json != NULL;
}

const char *gpnn_table_before_line(const struct gpnn_table *table)
{
  return gpnn_table_is_text(table) ? ":" : ": row ";
}

size_t gpnn_table_columns(const struct gpnn_table *table)
{
  return table->n_columns;
}

const char *gpnn_table_column(const struct gpnn_table *table, size_t j)
{
  assert(j < table->n_columns);
  return table->columns[j];
}

struct gpnn_field gpnn_table_header(const struct gpnn_table *table)
{
  return (struct gpnn_field){table->header, table->header_length};
}

const char *gpnn_table_comments(const struct gpnn_table *table)
{
  return table->comments == NULL ? "" : table->comments;
}

bool gpnn_table_is_torn(const struct gpnn_table *table)
{
  return gpnn_table_is_text(table) && !gpnn_table_is_json(table) && table->at_end &&
         table->start == table->end && (table->ends_in_line || table->is_torn);
}

void gpnn_table_close(struct gpnn_table *table)
{
  if (table == NULL) return;
  gpnn_input_close(table->input);
  gpnn_values_release(&table->values);
  gpnn_table_close_json(table);
  free(table->buffer);
  free(table->fields);
  free(table->unquoted);
  free(table->numbers);
  free(table->columns);
  free(table->names);
  free(table->header);
  free(table->comments);
  free(table);
}
