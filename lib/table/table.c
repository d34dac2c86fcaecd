#include "table/table.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/container.h"
#include "base/memory.h"

/*
 * A record that lies in the buffer and has no quotes, as nearly all do, is cut into fields in
 * one pass.  Any other is read in two steps.  First its extent: physical lines are taken until
 * one ends outside quotes, reading more of the stream as needed.  Then, when all of it lies in
 * the buffer and nothing moves any more, it is split into fields that point there.
 */

/* The buffer ends with BLOCK_BYTES that are never filled, so that a block can be looked at
 * wherever a byte that was read stands. */
enum { FIRST_BUFFER_BYTES = 256 * 1024, BLOCK_BYTES = 64 };

struct gpnn_table {
  struct gpnn_input *input;
  char delimiter;
  bool has_header;

  char *buffer;                /* bytes start..end are read and not yet taken */
  size_t capacity, start, end; /* capacity: with the last BLOCK_BYTES */
  bool at_end;                 /* the stream has no more */
  size_t line;                 /* number of the line at 'start' */

  struct gpnn_field *fields;
  size_t fields_capacity;
  char *unquoted; /* fields that had doubled quotes */
  size_t unquoted_capacity, unquoted_used;

  size_t n_columns; /* 0 until the first line is read */
  char **columns;   /* into 'names' */
  char *names;
  char *header;
  size_t header_length;
};

/* The bytes of one record in the buffer, and where the next one starts. */
struct extent {
  size_t length;  /* without the line end */
  size_t taken;   /* with it */
  size_t n_lines; /* physical lines */
};

static const char *name_of(const struct gpnn_table *table)
{
  return gpnn_input_name(table->input);
}

/* ---- the extent of a record -------------------------------------------------------------- */

/* Reads more bytes behind those not yet taken, which may move to the buffer's front. */
static enum gpnn_status fill(struct gpnn_table *table, struct gpnn_error *err)
{
  if (table->end == table->capacity - BLOCK_BYTES) {
    memmove(table->buffer, table->buffer + table->start, table->end - table->start);
    table->end -= table->start;
    table->start = 0;
    /* Moving without growing would cost quadratic time once a record fills the buffer. */
    if (table->end > table->capacity / 2 &&
        !gpnn_grow(&table->buffer, &table->capacity, table->end * 2, 1))
      return gpnn_fail_memory(err, "to read a long record");
  }
  size_t got, room = table->capacity - BLOCK_BYTES - table->end;
  enum gpnn_status status =
      gpnn_input_read(table->input, table->buffer + table->end, room, &got, err);
  if (status == GPNN_OK) table->end += got;
  if (status != GPNN_END) return status;
  table->at_end = true;
  return GPNN_OK;
}

/* The first delimiter in [s, end), or NULL; while it is not yet known, any candidate. */
static const char *find_delimiter(const char *s, const char *end, char delimiter)
{
  if (delimiter != 0) return memchr(s, delimiter, (size_t)(end - s));
  for (; s < end; s++)
    if (*s == '\t' || *s == ',' || *s == ';') return s;
  return NULL;
}

/*
 * Whether the physical line number 'line', which starts inside quotes or not, ends inside
 * them; if a quote opens on it, '*opened' becomes 'line'.  Text after a closing quote is
 * malformed and ends the record with its line, so that one stray quote does not swallow the
 * lines that follow; split() will say so.
 */
static bool ends_in_quotes(const char *s, const char *end, char delimiter, bool quoted, size_t line,
                           size_t *opened)
{
  for (;;) {
    bool is_quoted_field = quoted;
    if (!quoted && s < end && *s == '"') {
      quoted = is_quoted_field = true;
      *opened = line;
      s++;
    }
    while (quoted) {
      const char *quote = memchr(s, '"', (size_t)(end - s));
      if (quote == NULL) return true;
      quoted = quote + 1 < end && quote[1] == '"'; /* doubled: goes on */
      s = quote + (quoted ? 2 : 1);
    }
    const char *next = find_delimiter(s, end, delimiter);
    if (next == NULL || (is_quoted_field && next != s)) return false;
    s = next + 1;
  }
}

/*
 * Finds the end of the physical line 'from' bytes after the start: its length without the
 * LF in '*length', and whether there was one in '*has_end'.
 */
static enum gpnn_status find_line_end(struct gpnn_table *table, size_t from, size_t *length,
                                      bool *has_end, struct gpnn_error *err)
{
  for (size_t seen = from;;) {
    const char *s = table->buffer + table->start + seen;
    size_t n = table->end - table->start - seen;
    const char *lf = memchr(s, '\n', n);
    size_t here = lf == NULL ? n : (size_t)(lf - s);
    /* Looked for at once: a binary file may be one endless line. */
    if (memchr(s, '\0', here) != NULL)
      return gpnn_fail(err, GPNN_EFORMAT, "%s:%zu: has a NUL byte: not a text file in UTF-8",
                       name_of(table), table->line);
    seen += here;
    *has_end = lf != NULL;
    if (lf != NULL || table->at_end) {
      *length = seen - from;
      return GPNN_OK;
    }
    enum gpnn_status status = fill(table, err);
    if (status != GPNN_OK) return status;
  }
}

/* Finds the extent of the record at the start; GPNN_END if no byte is left. */
static enum gpnn_status find_record(struct gpnn_table *table, struct extent *extent,
                                    struct gpnn_error *err)
{
  size_t from = 0, n_lines = 0, opened = 0;
  bool quoted = false, has_end;
  do {
    size_t length = 0;
    enum gpnn_status status = find_line_end(table, from, &length, &has_end, err);
    if (status != GPNN_OK) return status;
    const char *s = table->buffer + table->start + from;
    if (quoted || memchr(s, '"', length) != NULL)
      quoted =
          ends_in_quotes(s, s + length, table->delimiter, quoted, table->line + n_lines, &opened);
    from += length + has_end;
    n_lines++;
  } while (quoted && has_end);
  if (quoted)
    return gpnn_fail(err, GPNN_EFORMAT, "%s:%zu: a quote opened here is never closed",
                     name_of(table), opened);
  if (from == 0) return GPNN_END;
  size_t length = from - has_end;
  if (length > 0 && table->buffer[table->start + length - 1] == '\r') length--;
  *extent = (struct extent){length, from, n_lines};
  return GPNN_OK;
}

static void take(struct gpnn_table *table, const struct extent *extent)
{
  table->start += extent->taken;
  table->line += extent->n_lines;
}

/* The same, past blank lines. */
static enum gpnn_status find_next(struct gpnn_table *table, struct extent *extent,
                                  struct gpnn_error *err)
{
  for (;;) {
    enum gpnn_status status = find_record(table, extent, err);
    if (status != GPNN_OK || extent->length > 0) return status;
    take(table, extent);
  }
}

/* ---- the fields of a record -------------------------------------------------------------- */

/* Which of the BLOCK_BYTES from 's' on are a delimiter, LF, quote or NUL: bit k is for s[k]. */
static uint64_t find_marks(const char *s, char delimiter)
{
  uint64_t marks = 0;
#ifdef __SSE2__
  const __m128i lf = _mm_set1_epi8('\n'), quote = _mm_set1_epi8('"'), nul = _mm_setzero_si128();
  const __m128i separator = _mm_set1_epi8(delimiter);
  for (size_t k = 0; k < BLOCK_BYTES; k += sizeof lf) {
    __m128i bytes;
    memcpy(&bytes, s + k, sizeof bytes);
    __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(bytes, lf), _mm_cmpeq_epi8(bytes, separator));
    __m128i odd = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, nul));
    marks |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_or_si128(ends, odd)) << k;
  }
#else
  for (size_t k = 0; k < BLOCK_BYTES; k++) {
    bool is_mark = s[k] == delimiter || s[k] == '\n' || s[k] == '"' || s[k] == '\0';
    marks |= (uint64_t)is_mark << k;
  }
#endif
  return marks;
}

/* Makes room for one field more than 'n'. */
static bool make_room(struct gpnn_table *table, size_t n)
{
  return n < table->fields_capacity ||
         gpnn_grow(&table->fields, &table->fields_capacity, n + 1, sizeof *table->fields);
}

/*
 * Cuts the bytes from 's' on into table->fields at the delimiters, as far as the first LF, quote
 * or NUL, or 'end': there the last field ends.  Returns where that is, or NULL without memory.
 */
static const char *cut(struct gpnn_table *table, const char *s, const char *end, size_t *n_fields)
{
  const char delimiter = table->delimiter, *stop = end;
  size_t n = 0;
  for (const char *block = s; block < stop; block += BLOCK_BYTES) {
    uint64_t marks = find_marks(block, delimiter);
    if (end - block < BLOCK_BYTES) marks &= ((uint64_t)1 << (end - block)) - 1;
    for (; marks != 0; marks &= marks - 1) {
      const char *mark = block + __builtin_ctzll(marks);
      if (*mark != delimiter) {
        stop = mark;
        break;
      }
      if (!make_room(table, n)) return NULL;
      table->fields[n++] = (struct gpnn_field){s, (size_t)(mark - s)};
      s = mark + 1;
    }
  }
  if (!make_room(table, n)) return NULL;
  table->fields[n++] = (struct gpnn_field){s, (size_t)(stop - s)};
  *n_fields = n;
  return stop;
}

/* Cuts the record at the start, if all of it is in the buffer and it has neither quote nor NUL;
 * else returns false. */
static bool cut_record(struct gpnn_table *table, struct extent *extent, size_t *n_fields)
{
  const char *s = table->buffer + table->start, *end = table->buffer + table->end;
  const char *stop = cut(table, s, end, n_fields);
  if (stop == NULL || stop == end || *stop != '\n') return false;
  size_t length = (size_t)(stop - s);
  *extent = (struct extent){length, length + 1, 1};
  if (length > 0 && stop[-1] == '\r') {
    extent->length--;
    table->fields[*n_fields - 1].length--;
  }
  return true;
}

/*
 * Reads the quoted field that begins at 's' into 'field' and returns where it ends.  Room
 * for what has to be copied is there: it is never longer than the record.
 */
static const char *unquote(struct gpnn_table *table, const char *s, const char *end,
                           struct gpnn_field *field)
{
  const char *begin = ++s, *quote = memchr(s, '"', (size_t)(end - s));
  assert(quote != NULL); /* find_record() has seen it */
  if (quote + 1 == end || quote[1] != '"') {
    *field = (struct gpnn_field){begin, (size_t)(quote - begin)};
    return quote + 1;
  }
  char *copy = table->unquoted + table->unquoted_used, *to = copy;
  for (;;) {
    bool doubled = quote + 1 < end && quote[1] == '"';
    size_t n = (size_t)(quote - s) + doubled;
    memcpy(to, s, n);
    to += n;
    if (!doubled) break;
    s = quote + 2;
    quote = memchr(s, '"', (size_t)(end - s));
    assert(quote != NULL);
  }
  *field = (struct gpnn_field){copy, (size_t)(to - copy)};
  table->unquoted_used += field->length;
  return quote + 1;
}

/* Splits a record with quotes in it. */
static enum gpnn_status split_quoted(struct gpnn_table *table, size_t length, size_t *n_fields,
                                     struct gpnn_error *err)
{
  const char *s = table->buffer + table->start, *end = s + length;
  table->unquoted_used = 0;
  if (!gpnn_grow(&table->unquoted, &table->unquoted_capacity, length, 1))
    return gpnn_fail_memory(err, "to read a long record");
  for (size_t n = 0;; s++) {
    if (!make_room(table, n)) return gpnn_fail_memory(err, "for the fields of a record");
    struct gpnn_field *field = &table->fields[n++];
    if (s < end && *s == '"') {
      s = unquote(table, s, end, field);
      if (s < end && *s != table->delimiter)
        return gpnn_fail(err, GPNN_EDATA, "%s:%zu: field %zu: text after the closing quote",
                         name_of(table), table->line, n);
    } else {
      const char *delimiter = memchr(s, table->delimiter, (size_t)(end - s));
      *field = (struct gpnn_field){s, (size_t)((delimiter == NULL ? end : delimiter) - s)};
      s += field->length;
    }
    if (s == end) {
      *n_fields = n;
      return GPNN_OK;
    }
  }
}

/* Splits the record of 'length' bytes at the start into table->fields. */
static enum gpnn_status split(struct gpnn_table *table, size_t length, size_t *n_fields,
                              struct gpnn_error *err)
{
  const char *s = table->buffer + table->start;
  if (memchr(s, '"', length) != NULL) return split_quoted(table, length, n_fields, err);
  if (cut(table, s, s + length, n_fields) == NULL)
    return gpnn_fail_memory(err, "for the fields of a record");
  return GPNN_OK;
}

static enum gpnn_status check_width(const struct gpnn_table *table, size_t n_fields,
                                    struct gpnn_error *err)
{
  if (n_fields == table->n_columns) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA, "%s:%zu: has %zu field%s, the %s has %zu", name_of(table),
                   table->line, n_fields, n_fields == 1 ? "" : "s",
                   table->has_header ? "header" : "first line", table->n_columns);
}

enum gpnn_status gpnn_table_next(struct gpnn_table *table, struct gpnn_record *record,
                                 struct gpnn_error *err)
{
  struct extent extent;
  size_t n_fields = 0;
  enum gpnn_status status = GPNN_OK;
  if (!cut_record(table, &extent, &n_fields) || extent.length == 0) {
    status = find_next(table, &extent, err);
    if (status != GPNN_OK) return status;
    status = split(table, extent.length, &n_fields, err);
    if (status == GPNN_ENOMEM) return status;
  }
  if (status == GPNN_OK) status = check_width(table, n_fields, err);
  bool is_good = status == GPNN_OK;
  *record = (struct gpnn_record){.line = table->line,
                                 .n_fields = is_good ? n_fields : 0,
                                 .fields = is_good ? table->fields : NULL,
                                 .raw = table->buffer + table->start,
                                 .raw_length = extent.length};
  take(table, &extent);
  return status;
}

/* ---- the first line ---------------------------------------------------------------------- */

/*
 * Whether the stream begins with these bytes, of which no more are waited for than it takes
 * to tell: the other end of a pipe may be waiting for us.
 */
static enum gpnn_status begins_with(struct gpnn_table *table, const char *bytes, size_t length,
                                    bool *answer, struct gpnn_error *err)
{
  for (;;) {
    size_t n = table->end < length ? table->end : length;
    bool is_alike = memcmp(table->buffer, bytes, n) == 0;
    if (!is_alike || n == length || table->at_end) {
      *answer = is_alike && n == length;
      return GPNN_OK;
    }
    enum gpnn_status status = fill(table, err);
    if (status != GPNN_OK) return status;
  }
}

static const char params[] = "# gpnn parameters", bom[] = "\xef\xbb\xbf", gzip[] = "\x1f\x8b";

/* Refuses a binary file of ours by the name of its kind. */
static enum gpnn_status check_container(struct gpnn_table *table, struct gpnn_error *err)
{
  bool is_container = false;
  enum gpnn_container_kind kind;
  enum gpnn_status status =
      begins_with(table, GPNN_CONTAINER_MAGIC, GPNN_CONTAINER_MAGIC_BYTES, &is_container, err);
  while (status == GPNN_OK && is_container && table->end < GPNN_CONTAINER_KIND_BYTES &&
         !table->at_end)
    status = fill(table, err);
  if (status == GPNN_OK && gpnn_container_recognise(table->buffer, table->end, &kind))
    status = gpnn_fail(err, GPNN_EMISMATCH, "%s: is %s, not a table", name_of(table),
                       gpnn_container_kind_name(kind));
  return status;
}

/* Refuses our other files and passes over the byte order mark. */
static enum gpnn_status check_beginning(struct gpnn_table *table, struct gpnn_error *err)
{
  bool is_params = false, has_bom = false;
  enum gpnn_status status = check_container(table, err);
  if (status == GPNN_OK) status = begins_with(table, params, sizeof params - 1, &is_params, err);
  if (status == GPNN_OK) status = begins_with(table, bom, sizeof bom - 1, &has_bom, err);
  if (status != GPNN_OK) return status;
  if (is_params)
    return gpnn_fail(err, GPNN_EMISMATCH, "%s: is a parameters file, not a table", name_of(table));
  if (has_bom) table->start += sizeof bom - 1;
  return GPNN_OK;
}

/* Tells the delimiter from a first line in which any candidate may be it. */
static char tell_delimiter(const char *s, const char *end)
{
  bool has_comma = false, has_semicolon = false;
  while (s < end) {
    if (*s == '"') { /* a field begins here: pass over its quoted text */
      for (s++; s < end && (*s != '"' || (s + 1 < end && s[1] == '"')); s++)
        if (*s == '"') s++;
    }
    s = find_delimiter(s, end, 0);
    if (s == NULL) break;
    if (*s == '\t') return '\t';
    has_comma = has_comma || *s == ',';
    has_semicolon = has_semicolon || *s == ';';
    s++;
  }
  return has_comma ? ',' : has_semicolon ? ';' : '\t';
}

/* Finds the first line's extent and, where it is not given, the delimiter. */
static enum gpnn_status find_first(struct gpnn_table *table, struct extent *extent,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = find_next(table, extent, err);
  if (status == GPNN_OK && table->delimiter == 0) {
    const char *s = table->buffer + table->start;
    table->delimiter = tell_delimiter(s, s + extent->length);
    status = find_record(table, extent, err); /* quotes count at its own fields only */
  }
  if (status == GPNN_END)
    return gpnn_fail(err, GPNN_EDATA, "%s: is empty: not even a first line", name_of(table));
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

/* Learns all that the first line says; without a header it stays to be read as a record. */
static enum gpnn_status read_first(struct gpnn_table *table, struct gpnn_error *err)
{
  enum gpnn_status status = check_beginning(table, err);
  if (status != GPNN_OK) return status;
  struct extent extent;
  status = find_first(table, &extent, err);
  if (status == GPNN_OK) status = split(table, extent.length, &table->n_columns, err);
  if (status == GPNN_OK) status = name_columns(table, extent.length, err);
  if (status != GPNN_OK) return status;
  table->header_length = table->has_header ? extent.length : 0;
  table->header = gpnn_copy_text(table->buffer + table->start, table->header_length);
  if (table->header == NULL) return gpnn_fail_memory(err, "for the header");
  if (table->has_header) take(table, &extent);
  return GPNN_OK;
}

static bool is_possible_delimiter(char c)
{
  return c == '\t' || (c >= ' ' && c < 0x7f && c != '"');
}

enum gpnn_status gpnn_table_open(struct gpnn_table **table, const char *path,
                                 const struct gpnn_table_options *options, struct gpnn_error *err)
{
  if (options->delimiter != 0 && !is_possible_delimiter(options->delimiter))
    return gpnn_fail(err, GPNN_EINVAL,
                     "a delimiter is a tab or a printable ASCII character, "
                     "but no quote");
  struct gpnn_table *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "to open a table");
  new->delimiter = options->delimiter;
  new->has_header = options->has_header;
  new->line = 1;
  enum gpnn_status status = gpnn_input_open(&new->input, path, err);
  if (status == GPNN_OK && !gpnn_grow(&new->buffer, &new->capacity, FIRST_BUFFER_BYTES, 1))
    status = gpnn_fail_memory(err, "to open a table");
  if (status == GPNN_OK) status = read_first(new, err);
  if (status != GPNN_OK)
    gpnn_table_close(new);
  else
    *table = new;
  return status;
}

/* ---- what a table is --------------------------------------------------------------------- */

const char *gpnn_table_name(const struct gpnn_table *table)
{
  return name_of(table);
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

void gpnn_table_close(struct gpnn_table *table)
{
  if (table == NULL) return;
  gpnn_input_close(table->input);
  free(table->buffer);
  free(table->fields);
  free(table->unquoted);
  free(table->columns);
  free(table->names);
  free(table->header);
  free(table);
}

/* ---- fields out -------------------------------------------------------------------------- */

/* Whether a file that begins with 'text' and a delimiter may be taken for more, or something else,
 * than a table. */
static bool begins_other_file(char delimiter, const char *text, size_t length)
{
  static const char *const beginnings[] = {bom, gzip, params};
  for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
    size_t n = strlen(beginnings[i]), compared = length < n ? length : n;
    if (memcmp(text, beginnings[i], compared) != 0) continue;
    if (compared == n || beginnings[i][compared] == delimiter) return true;
  }
  return false;
}

/* A tab, or a comma where tabs do not delimit, would pass for the delimiter of a header. */
static bool needs_quotes(char delimiter, const char *text, size_t length)
{
  if (begins_other_file(delimiter, text, length)) return true;
  for (size_t i = 0; i < length; i++)
    if (text[i] == delimiter || text[i] == '"' || text[i] == '\r' || text[i] == '\n' ||
        text[i] == '\t' || (text[i] == ',' && delimiter != '\t'))
      return true;
  return false;
}

enum gpnn_status gpnn_table_write_field(struct gpnn_output *output, char delimiter,
                                        const char *text, size_t length, struct gpnn_error *err)
{
  if (!needs_quotes(delimiter, text, length)) return gpnn_output_write(output, text, length, err);
  enum gpnn_status status = gpnn_output_write(output, "\"", 1, err);
  while (status == GPNN_OK && length > 0) {
    const char *quote = memchr(text, '"', length);
    size_t n = quote == NULL ? length : (size_t)(quote - text) + 1;
    status = gpnn_output_write(output, text, n, err);
    if (status == GPNN_OK && quote != NULL) status = gpnn_output_write(output, "\"", 1, err);
    text += n;
    length -= n;
  }
  return status == GPNN_OK ? gpnn_output_write(output, "\"", 1, err) : status;
}

enum gpnn_status gpnn_table_write_number(struct gpnn_output *output, char delimiter, double value,
                                         const char *na, struct gpnn_error *err)
{
  return isfinite(value) ? gpnn_output_number(output, value, err)
                         : gpnn_table_write_field(output, delimiter, na, strlen(na), err);
}
