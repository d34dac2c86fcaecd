/*
 * Reading the records of a table.
 *
 * A record that is wholly in the buffer and has no quotes, as nearly all, is cut into fields in one
 * pass.  Any other is read in two steps.  The first finds its extent, going on from line to line
 * until one ends outside quotes and reading from the stream as needed.  The second splits it into
 * fields, which can point into the buffer since by then nothing in it moves.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/memory.h"
#include "table/table_private.h"

/* ---- the extent of a record -------------------------------------------------------------- */

enum gpnn_status gpnn_table_fill(struct gpnn_table *table, struct gpnn_error *err)
{
  if (table->failure.status != GPNN_OK) {
    if (err != NULL) *err = table->failure;
    return table->failure.status;
  }
  if (table->end == table->capacity - BLOCK_BYTES) {
    memmove(table->buffer, table->buffer + table->start, table->end - table->start);
    table->end -= table->start;
    table->bytes_dropped = table->bytes_dropped || table->start > 0;
    table->start = 0;
    /* Moving alone would take quadratic time for a record longer than the buffer. */
    if (table->end > table->capacity / 2 &&
        !gpnn_grow(&table->buffer, &table->capacity, table->end * 2, 1))
      return gpnn_fail_memory(err, "to read a long record");
  }
  size_t got, free_bytes = table->capacity - BLOCK_BYTES - table->end;
  enum gpnn_status status =
      gpnn_input_read(table->input, table->buffer + table->end, free_bytes, &got, err);
  if (status == GPNN_OK) table->end += got;
  if (status == GPNN_OK && got > 0) table->ends_in_line = table->buffer[table->end - 1] != '\n';
  if (status != GPNN_END) return status;
  table->at_end = true;
  return GPNN_OK;
}

const char *gpnn_table_find_delimiter(const char *s, const char *end, char delimiter)
{
  if (delimiter == ' ') {
    while (s < end && !gpnn_is_blank(*s)) s++;
    return s < end ? s : NULL;
  }
  if (delimiter != 0) return memchr(s, delimiter, (size_t)(end - s));
  for (; s < end; s++)
    if (*s == '\t' || *s == ',' || *s == ';' || *s == '|') return s;
  return NULL;
}

/*
 * True if line number 'line', which starts inside quotes if 'quoted', ends inside quotes; if a
 * quote opens on it, '*opened' becomes 'line'.  Text after a closing quote makes the record
 * malformed and ends it with this line, so that one stray quote does not swallow the lines that
 * follow; gpnn_table_split() reports it.
 */
static bool ends_in_quotes(const char *s, const char *end, char delimiter, bool quoted, size_t line,
                           size_t *opened)
{
  for (;;) {
    bool is_quoted_field = quoted;
    while (delimiter == ' ' && !quoted && s < end && gpnn_is_blank(*s)) s++;
    if (!quoted && s < end && *s == '"') {
      quoted = is_quoted_field = true;
      *opened = line;
      s++;
    }
    while (quoted) {
      const char *quote = memchr(s, '"', (size_t)(end - s));
      if (quote == NULL) return true;
      quoted = quote + 1 < end && quote[1] == '"'; /* a doubled quote does not close */
      s = quote + (quoted ? 2 : 1);
    }
    const char *next = gpnn_table_find_delimiter(s, end, delimiter);
    if (next == NULL || (is_quoted_field && next != s)) return false;
    s = next + 1;
  }
}

/*
 * Finds the end of the line that begins 'from' bytes after the start of the record: '*length' is
 * its length without the LF, '*has_end' whether it has one.
 */
static enum gpnn_status find_line_end(struct gpnn_table *table, size_t from, size_t *length,
                                      bool *has_end, struct gpnn_error *err)
{
  for (size_t seen = from;;) {
    const char *s = table->buffer + table->start + seen;
    size_t n = table->end - table->start - seen;
    const char *lf = memchr(s, '\n', n);
    size_t here = lf == NULL ? n : (size_t)(lf - s);
    /* Checked before the end is found, as a binary file may be one endless line. */
    if (memchr(s, '\0', here) != NULL)
      return gpnn_fail(err, GPNN_EFORMAT, "%s:%zu: has a NUL byte: not a text file in UTF-8",
                       gpnn_table_name(table), table->line);
    seen += here;
    *has_end = lf != NULL;
    if (lf != NULL || table->at_end) {
      *length = seen - from;
      return GPNN_OK;
    }
    enum gpnn_status status = gpnn_table_fill(table, err);
    if (status != GPNN_OK) return status;
  }
}

enum gpnn_status gpnn_table_find_record(struct gpnn_table *table, struct gpnn_extent *extent,
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
                     gpnn_table_name(table), opened);
  if (from == 0) return GPNN_END;
  size_t length = from - has_end;
  if (length > 0 && table->buffer[table->start + length - 1] == '\r') length--;
  *extent = (struct gpnn_extent){length, from, n_lines};
  return GPNN_OK;
}

void gpnn_table_consume(struct gpnn_table *table, const struct gpnn_extent *extent)
{
  table->start += extent->n_bytes;
  table->line += extent->n_lines;
}

enum gpnn_status gpnn_table_find_line(struct gpnn_table *table, struct gpnn_extent *extent,
                                      struct gpnn_error *err)
{
  size_t length = 0;
  bool has_end = false;
  enum gpnn_status status = find_line_end(table, 0, &length, &has_end, err);
  if (status != GPNN_OK) return status;
  if (length + has_end == 0) return GPNN_END;
  bool has_cr = length > 0 && table->buffer[table->start + length - 1] == '\r';
  *extent = (struct gpnn_extent){length - has_cr, length + has_end, 1};
  return GPNN_OK;
}

/* Sets '*answer' to whether a comment begins here. */
static enum gpnn_status begins_comment(struct gpnn_table *table, bool *answer,
                                       struct gpnn_error *err)
{
  const char *comment = table->values.notation.comment;
  *answer = false;
  if (comment == NULL) return GPNN_OK;
  size_t length = strlen(comment);
  while (table->end - table->start < length && !table->at_end) {
    enum gpnn_status status = gpnn_table_fill(table, err);
    if (status != GPNN_OK) return status;
  }
  *answer = table->end - table->start >= length &&
            memcmp(table->buffer + table->start, comment, length) == 0;
  return GPNN_OK;
}

enum gpnn_status gpnn_table_find_quotes(struct gpnn_table *table, struct gpnn_extent *extent,
                                        bool *ends_inside, struct gpnn_error *err)
{
  bool is_comment = false;
  size_t opened = 0;
  enum gpnn_status status = begins_comment(table, &is_comment, err);
  if (status == GPNN_OK) status = gpnn_table_find_line(table, extent, err);
  if (status != GPNN_OK) return status;
  const char *s = table->buffer + table->start;
  *ends_inside = !is_comment && memchr(s, '"', extent->length) != NULL &&
                 ends_in_quotes(s, s + extent->length, table->delimiter, false, 0, &opened);
  return GPNN_OK;
}

/* True of a record that means nothing: it is empty, or has only blanks where these separate. */
static bool is_blank_record(const struct gpnn_table *table, const struct gpnn_extent *extent)
{
  const char *s = table->buffer + table->start;
  size_t n = extent->length;
  while (table->delimiter == ' ' && n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t')) n--;
  return n == 0;
}

/* True if the fast way does not serve: fields are separated by blanks, or here may be a comment. */
static bool takes_care(const struct gpnn_table *table)
{
  const char *comment = table->values.notation.comment;
  if (table->delimiter == ' ') return true;
  return comment != NULL && table->start < table->end && table->buffer[table->start] == *comment;
}

/* Keeps a comment of 'length' bytes that comes before the first line. */
static enum gpnn_status keep_comment(struct gpnn_table *table, size_t length,
                                     struct gpnn_error *err)
{
  const char *comment = table->buffer + table->start;
  size_t at = table->comments_length;
  if (!gpnn_grow(&table->comments, &table->comments_capacity, at + length + 2, 1))
    return gpnn_fail_memory(err, "for comments");
  memcpy(table->comments + at, comment, length);
  memcpy(table->comments + at + length, "\n", 2);
  table->comments_length = at + length + 1;
  return GPNN_OK;
}

enum gpnn_status gpnn_table_find_next(struct gpnn_table *table, struct gpnn_extent *extent,
                                      struct gpnn_error *err)
{
  for (;;) {
    bool is_comment;
    enum gpnn_status status = begins_comment(table, &is_comment, err);
    if (status == GPNN_OK)
      status = is_comment || table->json != NULL ? gpnn_table_find_line(table, extent, err)
                                                 : gpnn_table_find_record(table, extent, err);
    if (status == GPNN_OK && is_comment && table->n_columns == 0)
      status = keep_comment(table, extent->length, err);
    if (status != GPNN_OK || (!is_comment && !is_blank_record(table, extent))) return status;
    gpnn_table_consume(table, extent);
  }
}

/* ---- the fields of a record -------------------------------------------------------------- */

/* Bit k is set if s[k] is a delimiter, LF, quote or NUL, for k < BLOCK_BYTES. */
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

/* Makes table->fields long enough for n + 1. */
static bool reserve_field(struct gpnn_table *table, size_t n)
{
  return n < table->fields_capacity ||
         gpnn_grow(&table->fields, &table->fields_capacity, n + 1, sizeof *table->fields);
}

/*
 * Cuts the bytes from 's' on into table->fields at each delimiter.  The last field ends before the
 * first LF, quote or NUL, or at 'end'; returns that position, or NULL if memory runs out.
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
      if (!reserve_field(table, n)) return NULL;
      table->fields[n++] = (struct gpnn_field){s, (size_t)(mark - s)};
      s = mark + 1;
    }
  }
  if (!reserve_field(table, n)) return NULL;
  table->fields[n++] = (struct gpnn_field){s, (size_t)(stop - s)};
  *n_fields = n;
  return stop;
}

/* Cuts the next record into fields, if it is wholly in the buffer and has neither quote nor NUL;
 * otherwise returns false. */
static bool cut_record(struct gpnn_table *table, struct gpnn_extent *extent, size_t *n_fields)
{
  const char *s = table->buffer + table->start, *end = table->buffer + table->end;
  const char *stop = cut(table, s, end, n_fields);
  if (stop == NULL || stop == end || *stop != '\n') return false;
  size_t length = (size_t)(stop - s);
  *extent = (struct gpnn_extent){length, length + 1, 1};
  if (length > 0 && stop[-1] == '\r') {
    extent->length--;
    table->fields[*n_fields - 1].length--;
  }
  return true;
}

/*
 * Reads the quoted field that begins at 's' into 'field' and returns where it ends. table->unquoted
 * is as long as the record, so what has to be copied always fits.
 */
static const char *unquote(struct gpnn_table *table, const char *s, const char *end,
                           struct gpnn_field *field)
{
  const char *begin = ++s, *quote = memchr(s, '"', (size_t)(end - s));
  assert(quote != NULL); /* gpnn_table_find_record() has seen it */
  if (quote + 1 == end || quote[1] != '"') {
    *field = (struct gpnn_field){begin, (size_t)(quote - begin)};
    return quote + 1;
  }
  char *copy = table->unquoted + table->unquoted_used, *to = copy;
  for (;;) {
    bool doubled = quote + 1 < end && quote[1] == '"';
    size_t n = (size_t)(quote - s) + doubled; /* one of two quotes is copied */
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

/* Splits a record that has quotes. */
static enum gpnn_status split_quoted(struct gpnn_table *table, size_t length, size_t *n_fields,
                                     struct gpnn_error *err)
{
  const char *s = table->buffer + table->start, *end = s + length;
  table->unquoted_used = 0;
  if (!gpnn_grow(&table->unquoted, &table->unquoted_capacity, length, 1))
    return gpnn_fail_memory(err, "to read a long record");
  for (size_t n = 0;; s++) {
    if (!reserve_field(table, n)) return gpnn_fail_memory(err, "for the fields of a record");
    struct gpnn_field *field = &table->fields[n++];
    if (s < end && *s == '"') {
      s = unquote(table, s, end, field);
      if (s < end && *s != table->delimiter)
        return gpnn_fail(err, GPNN_EDATA, "%s:%zu: field %zu: text after the closing quote",
                         gpnn_table_name(table), table->line, n);
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

/* Splits a record whose fields are separated by blanks, which also may begin and end it. */
static enum gpnn_status split_blanks(struct gpnn_table *table, size_t length, size_t *n_fields,
                                     struct gpnn_error *err)
{
  const char *s = table->buffer + table->start, *end = s + length;
  size_t n = 0;
  table->unquoted_used = 0;
  if (!gpnn_grow(&table->unquoted, &table->unquoted_capacity, length, 1))
    return gpnn_fail_memory(err, "to read a long record");
  for (;; n++) {
    while (s < end && gpnn_is_blank(*s)) s++;
    if (s == end) break;
    if (!reserve_field(table, n)) return gpnn_fail_memory(err, "for the fields of a record");
    const char *begin = s;
    if (*s == '"') {
      s = unquote(table, s, end, &table->fields[n]);
      if (s < end && !gpnn_is_blank(*s))
        return gpnn_fail(err, GPNN_EDATA, "%s:%zu: field %zu: text after the closing quote",
                         gpnn_table_name(table), table->line, n + 1);
      continue;
    }
    while (s < end && !gpnn_is_blank(*s)) s++;
    table->fields[n] = (struct gpnn_field){begin, (size_t)(s - begin)};
  }
  *n_fields = n;
  return GPNN_OK;
}

enum gpnn_status gpnn_table_split(struct gpnn_table *table, size_t length, size_t *n_fields,
                                  struct gpnn_error *err)
{
  const char *s = table->buffer + table->start;
  if (table->delimiter == ' ') return split_blanks(table, length, n_fields, err);
  if (memchr(s, '"', length) != NULL) return split_quoted(table, length, n_fields, err);
  if (cut(table, s, s + length, n_fields) == NULL)
    return gpnn_fail_memory(err, "for the fields of a record");
  return GPNN_OK;
}

static enum gpnn_status check_width(const struct gpnn_table *table, size_t n_fields,
                                    struct gpnn_error *err)
{
  if (n_fields == table->n_columns) return GPNN_OK;
  static const char row_names[] = "; is there no name for the first column, as R leaves it out?";
  char hint[GPNN_TABLE_HINT_BYTES] = "";
  if (table->n_records == 0) gpnn_table_hint(table, hint);
  bool lacks_name = table->n_records == 0 && table->has_header && n_fields == table->n_columns + 1;
  return gpnn_fail(err, GPNN_EDATA, "%s:%zu: has %zu field%s, the %s has %zu%s",
                   gpnn_table_name(table), table->line, n_fields, n_fields == 1 ? "" : "s",
                   table->has_header ? "header" : "first line", table->n_columns,
                   hint[0] == '\0' && lacks_name ? row_names : hint);
}

enum gpnn_status gpnn_table_next(struct gpnn_table *table, struct gpnn_record *record,
                                 struct gpnn_error *err)
{
  if (table->npy.n_columns > 0) return gpnn_table_next_npy(table, record, err);
  if (table->json != NULL) return gpnn_table_next_json(table, record, err);
  struct gpnn_extent extent;
  size_t n_fields = 0;
  enum gpnn_status status = GPNN_OK;
  if (takes_care(table) || !cut_record(table, &extent, &n_fields) || extent.length == 0) {
    status = gpnn_table_find_next(table, &extent, err);
    if (status != GPNN_OK) return status;
    status = gpnn_table_split(table, extent.length, &n_fields, err);
    if (status == GPNN_ENOMEM) return status;
  }
  if (status == GPNN_OK) status = check_width(table, n_fields, err);
  bool is_good = status == GPNN_OK;
  *record = (struct gpnn_record){.line = table->line,
                                 .n_fields = is_good ? n_fields : 0,
                                 .fields = is_good ? table->fields : NULL,
                                 .raw = table->buffer + table->start,
                                 .raw_length = extent.length};
  gpnn_table_consume(table, &extent);
  table->n_records += is_good;
  return status;
}
