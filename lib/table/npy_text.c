#include "table/npy_text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/number.h"

struct gpnn_npy_text {
  struct gpnn_npy_text_format format;
  char *name;
  bool in_header, in_quotes;
  uint64_t n_rows;
  size_t n_columns; /* 0: no line has been seen */
  char *line;       /* the beginning of a line that has not ended yet */
  size_t line_length, line_capacity;
  unsigned char *bytes; /* of the lines of one piece */
  size_t n_bytes, capacity;
};

bool gpnn_npy_text_is_wanted(const char *path)
{
  static const char ending[] = ".npy";
  size_t length = strlen(path), n = strlen(ending);
  return length > n && strcmp(path + length - n, ending) == 0;
}

enum gpnn_status gpnn_npy_text_new(struct gpnn_npy_text **text, const char *name,
                                   const struct gpnn_npy_text_format *format,
                                   struct gpnn_error *err)
{
  struct gpnn_npy_text *new = calloc(1, sizeof *new);
  char *copy = gpnn_copy_text(name, strlen(name));
  if (new == NULL || copy == NULL) {
    free(new);
    free(copy);
    return gpnn_fail_memory(err, "to write a .npy file");
  }
  new->format = *format;
  new->name = copy;
  new->in_header = format->has_header;
  new->n_columns = format->n_columns;
  *text = new;
  return GPNN_OK;
}

/* ---- fields ------------------------------------------------------------------------------ */

/* Takes the quotes off a field that has them; doubled ones within stay, as such text is no number.
 */
static void remove_quotes(const char **s, size_t *length)
{
  if (*length < 2 || **s != '"') return;
  ++*s;
  *length -= 2;
}

/* A number that is not finite: NaN, or infinite with its sign, also where it is too large. */
static double extreme(const char *s)
{
  while (*s == ' ' || *s == '\t') s++;
  bool is_negative = *s == '-';
  if (is_negative || *s == '+') s++;
  if (*s == 'n' || *s == 'N') return NAN;
  return is_negative ? -INFINITY : INFINITY;
}

static enum gpnn_status read_field(const struct gpnn_npy_text *text, const char *s, size_t length,
                                   size_t column, double *value, struct gpnn_error *err)
{
  const char *na = text->format.na;
  char shown[GPNN_MASK_BYTES];
  remove_quotes(&s, &length);
  if (length == 0 || (length == strlen(na) && memcmp(s, na, length) == 0)) {
    *value = NAN;
    return GPNN_OK;
  }
  switch (gpnn_number_read(s, length, value)) {
  case GPNN_NUMBER_OK:
    return GPNN_OK;
  case GPNN_NUMBER_NOT_FINITE:
    *value = extreme(s);
    return GPNN_OK;
  default:
    return gpnn_fail(err, GPNN_EDATA,
                     "%s: a .npy file holds only numbers, but column %zu of row %llu is text: "
                     "\"%s\"; leave that column out, or choose another ending",
                     text->name, column + 1, (unsigned long long)text->n_rows + 1,
                     gpnn_mask(shown, s, length));
  }
}

/* The end of the field that begins at 's': a delimiter outside quotes, or 'end'. */
static const char *end_of_field(const char *s, const char *end, char delimiter)
{
  bool in_quotes = false;
  for (; s < end && (in_quotes || *s != delimiter); s++) in_quotes ^= *s == '"';
  return s;
}

/* Converts one field of a row. */
static enum gpnn_status convert_field(struct gpnn_npy_text *text, const char *from, size_t length,
                                      size_t column, struct gpnn_error *err)
{
  double value = 0;
  enum gpnn_status status = read_field(text, from, length, column, &value, err);
  if (status != GPNN_OK) return status;
  if (!gpnn_grow(&text->bytes, &text->capacity, text->n_bytes + sizeof value, 1))
    return gpnn_fail_memory(err, "to write a .npy file");
  gpnn_store_f64(text->bytes + text->n_bytes, value);
  text->n_bytes += sizeof value;
  return GPNN_OK;
}

/* ---- lines ------------------------------------------------------------------------------- */

/* Converts a line; that of the header only tells the number of columns. */
static enum gpnn_status convert_line(struct gpnn_npy_text *text, const char *line, size_t length,
                                     struct gpnn_error *err)
{
  const char *s = line, *end = line + length;
  enum gpnn_status status = GPNN_OK;
  size_t n = 0;
  for (bool has_more = true; has_more && status == GPNN_OK; n++) {
    const char *stop = end_of_field(s, end, text->format.delimiter);
    if (!text->in_header) status = convert_field(text, s, (size_t)(stop - s), n, err);
    has_more = stop < end;
    s = stop + 1;
  }
  if (status != GPNN_OK) return status;
  assert(text->n_columns == 0 || text->n_columns == n);
  text->n_columns = n;
  text->n_rows += !text->in_header;
  text->in_header = false;
  return GPNN_OK;
}

/* The first LF outside quotes in [s, end), or NULL. */
static const char *find_line_end(struct gpnn_npy_text *text, const char *s, const char *end)
{
  for (; s < end; s++) {
    text->in_quotes ^= *s == '"';
    if (*s == '\n' && !text->in_quotes) return s;
  }
  return NULL;
}

static enum gpnn_status keep(struct gpnn_npy_text *text, const char *s, size_t length,
                             struct gpnn_error *err)
{
  if (!gpnn_grow(&text->line, &text->line_capacity, text->line_length + length, 1))
    return gpnn_fail_memory(err, "to write a .npy file");
  if (length > 0) memcpy(text->line + text->line_length, s, length);
  text->line_length += length;
  return GPNN_OK;
}

enum gpnn_status gpnn_npy_text_convert(struct gpnn_npy_text *text, const char *piece, size_t length,
                                       const char **bytes, size_t *n_bytes, struct gpnn_error *err)
{
  const char *s = piece, *end = piece + length, *lf;
  enum gpnn_status status = GPNN_OK;
  text->n_bytes = 0;
  while (status == GPNN_OK && (lf = find_line_end(text, s, end)) != NULL) {
    if (text->line_length == 0) {
      status = convert_line(text, s, (size_t)(lf - s), err);
    } else {
      status = keep(text, s, (size_t)(lf - s), err);
      if (status == GPNN_OK) status = convert_line(text, text->line, text->line_length, err);
      text->line_length = 0;
    }
    s = lf + 1;
  }
  if (status == GPNN_OK) status = keep(text, s, (size_t)(end - s), err);
  *bytes = (const char *)text->bytes;
  *n_bytes = text->n_bytes;
  return status;
}

void gpnn_npy_text_header(const struct gpnn_npy_text *text, char header[GPNN_NPY_HEADER_BYTES])
{
  assert(text->line_length == 0);
  gpnn_npy_header_write(header, text->n_rows, text->n_columns);
}

void gpnn_npy_text_free(struct gpnn_npy_text *text)
{
  if (text == NULL) return;
  free(text->name);
  free(text->line);
  free(text->bytes);
  free(text);
}
