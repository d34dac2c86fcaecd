#include "table/npy.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/number.h"

/* What every array can be turned into before it is saved. */
#define SAVE_INSTEAD "save np.ascontiguousarray(x, dtype='<f8')"

/* A header of numbers has some 100 bytes and padding; only structured arrays have long ones. */
enum { HEADER_MOST = 1 << 16, VERSION_AT = 6, LENGTH_AT = 8, TYPE_BYTES = 64 };

enum gpnn_status gpnn_npy_header_length(const char *prefix, const char *name, size_t *length,
                                        struct gpnn_error *err)
{
  const unsigned char *bytes = (const unsigned char *)prefix;
  unsigned major = bytes[VERSION_AT], minor = bytes[VERSION_AT + 1];
  if (major < 1 || major > 3 || minor != 0)
    return gpnn_fail(err, GPNN_EFORMAT,
                     "%s: is a .npy file of version %u.%u, and only 1.0 to 3.0 are known", name,
                     major, minor);
  unsigned length_bytes = major == 1 ? 2 : 4;
  uint64_t header = gpnn_load_bytes(bytes + LENGTH_AT, length_bytes);
  if (header > HEADER_MOST)
    return gpnn_fail(err, GPNN_EFORMAT,
                     "%s: is a .npy file with a header of %llu bytes, too long for an array of "
                     "numbers: " SAVE_INSTEAD,
                     name, (unsigned long long)header);
  *length = LENGTH_AT + length_bytes + (size_t)header;
  return GPNN_OK;
}

/* ---- the dictionary ---------------------------------------------------------------------- */

/* A Python literal on the way. */
struct cursor {
  const char *at, *end;
};

static void skip_blanks(struct cursor *c)
{
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n')) c->at++;
}

/* Takes the character, after blanks, if it is next. */
static bool take(struct cursor *c, char wanted)
{
  skip_blanks(c);
  if (c->at == c->end || *c->at != wanted) return false;
  c->at++;
  return true;
}

static bool take_word(struct cursor *c, const char *word)
{
  size_t length = strlen(word);
  skip_blanks(c);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
  c->at += length;
  return true;
}

/* Takes a text in single or double quotes, of at most TYPE_BYTES - 1 bytes. */
static bool take_text(struct cursor *c, char text[TYPE_BYTES])
{
  skip_blanks(c);
  if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return false;
  const char *from = c->at + 1, *to = memchr(from, *c->at, (size_t)(c->end - from));
  if (to == NULL || to - from >= TYPE_BYTES) return false;
  memcpy(text, from, (size_t)(to - from));
  text[to - from] = '\0';
  c->at = to + 1;
  return true;
}

/* Takes a count, which Python 2 may have ended with an L. */
static bool take_count(struct cursor *c, uint64_t *count)
{
  skip_blanks(c);
  const char *from = c->at;
  while (c->at < c->end && isdigit((unsigned char)*c->at)) c->at++;
  if (!gpnn_number_read_u64(from, (size_t)(c->at - from), count)) return false;
  if (c->at < c->end && *c->at == 'L') c->at++;
  return true;
}

/* What a header says. */
struct header {
  char type[TYPE_BYTES];
  bool has_type, has_order, has_shape, is_fortran;
  bool is_structured; /* its rows have named fields: the type is a list */
  size_t n_dimensions;
  uint64_t shape[2]; /* of the first two dimensions */
};

static bool take_shape(struct cursor *c, struct header *h)
{
  uint64_t count;
  if (!take(c, '(')) return false;
  while (!take(c, ')')) {
    if (!take_count(c, &count)) return false;
    if (h->n_dimensions < 2) h->shape[h->n_dimensions] = count;
    h->n_dimensions++;
    if (!take(c, ',')) return take(c, ')');
  }
  return true;
}

static bool take_item(struct cursor *c, struct header *h)
{
  char key[TYPE_BYTES];
  if (!take_text(c, key) || !take(c, ':')) return false;
  if (strcmp(key, "descr") == 0) {
    h->is_structured = take(c, '[');
    return h->has_type = take_text(c, h->type);
  }
  if (strcmp(key, "shape") == 0) return h->has_shape = take_shape(c, h);
  if (strcmp(key, "fortran_order") != 0) return false;
  h->is_fortran = take_word(c, "True");
  return h->has_order = h->is_fortran || take_word(c, "False");
}

static bool take_header(struct cursor *c, struct header *h)
{
  if (!take(c, '{')) return false;
  while (!take(c, '}')) {
    if (!take_item(c, h)) return false;
    if (take(c, ',')) continue;
    if (!take(c, '}')) return false;
    break;
  }
  skip_blanks(c);
  return c->at == c->end && h->has_type && h->has_order && h->has_shape;
}

/* ---- arrays that are tables -------------------------------------------------------------- */

static enum gpnn_status read_type(const struct header *h, struct gpnn_npy *npy, const char *name,
                                  struct gpnn_error *err)
{
  const char *type = h->type;
  bool is_float = (type[0] == '<' || type[0] == '>') && type[1] == 'f' &&
                  (type[2] == '4' || type[2] == '8') && type[3] == '\0';
  char shown[GPNN_MASK_BYTES];
  if (!is_float)
    return gpnn_fail(err, GPNN_EDATA,
                     "%s: holds values of type '%s', and only float32 and float64 are "
                     "read: " SAVE_INSTEAD,
                     name, gpnn_mask(shown, type, strlen(type)));
  npy->number_bytes = type[2] == '4' ? 4 : 8;
  npy->is_big_endian = type[0] == '>';
  return GPNN_OK;
}

static enum gpnn_status read_shape(const struct header *h, struct gpnn_npy *npy, const char *name,
                                   struct gpnn_error *err)
{
  if (h->n_dimensions != 1 && h->n_dimensions != 2)
    return gpnn_fail(err, GPNN_EDATA,
                     "%s: is an array of %zu dimensions, and a table has 1 or 2: save "
                     "np.ascontiguousarray(x.reshape(%s), dtype='<f8')",
                     name, h->n_dimensions, h->n_dimensions == 0 ? "1, 1" : "len(x), -1");
  if (h->is_fortran && h->n_dimensions == 2)
    return gpnn_fail(err, GPNN_EDATA,
                     "%s: is stored column by column (Fortran order), and only rows are "
                     "read: " SAVE_INSTEAD,
                     name);
  uint64_t n_columns = h->n_dimensions == 2 ? h->shape[1] : 1;
  if (n_columns < 1 || n_columns > GPNN_NPY_COLUMNS_MAX)
    return gpnn_fail(err, GPNN_EDATA, "%s: is an array of %llu columns, and a table has 1 to %d",
                     name, (unsigned long long)n_columns, (int)GPNN_NPY_COLUMNS_MAX);
  npy->n_rows = h->shape[0];
  npy->n_columns = (size_t)n_columns;
  return GPNN_OK;
}

enum gpnn_status gpnn_npy_header_read(struct gpnn_npy *npy, const char *header, size_t length,
                                      const char *name, struct gpnn_error *err)
{
  size_t begin = LENGTH_AT + (header[VERSION_AT] == 1 ? 2 : 4);
  struct cursor c = {header + begin, header + length};
  struct header h = {0};
  struct gpnn_npy read = {0};
  bool is_good = take_header(&c, &h);
  if (h.is_structured)
    return gpnn_fail(err, GPNN_EDATA,
                     "%s: is a structured array, whose columns may be of different types: save "
                     "np.lib.recfunctions.structured_to_unstructured(x, dtype='<f8')",
                     name);
  if (!is_good)
    return gpnn_fail(err, GPNN_EFORMAT,
                     "%s: begins like a .npy file, but its header cannot be read", name);
  enum gpnn_status status = read_type(&h, &read, name, err);
  if (status == GPNN_OK) status = read_shape(&h, &read, name, err);
  if (status == GPNN_OK) *npy = read;
  return status;
}

void gpnn_npy_header_write(char header[GPNN_NPY_HEADER_BYTES], uint64_t n_rows, size_t n_columns)
{
  enum { AT = LENGTH_AT + 2 };
  memset(header, ' ', GPNN_NPY_HEADER_BYTES);
  memcpy(header, GPNN_NPY_MAGIC "\x01", VERSION_AT + 1);
  header[VERSION_AT + 1] = 0;
  gpnn_store_bytes((unsigned char *)header + LENGTH_AT, GPNN_NPY_HEADER_BYTES - AT, 2);
  int length = snprintf(header + AT, GPNN_NPY_HEADER_BYTES - AT,
                        "{'descr': '<f8', 'fortran_order': False, 'shape': (%llu, %zu), }",
                        (unsigned long long)n_rows, n_columns);
  header[AT + length] = ' '; /* where snprintf() has put a NUL */
  header[GPNN_NPY_HEADER_BYTES - 1] = '\n';
}

/* ---- numbers ----------------------------------------------------------------------------- */

static double read_double(const unsigned char *bytes, bool is_big_endian)
{
  uint64_t bits = gpnn_load_u64(bytes);
  if (is_big_endian) bits = __builtin_bswap64(bits);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static float read_float(const unsigned char *bytes, bool is_big_endian)
{
  uint32_t bits = gpnn_load_u32(bytes);
  if (is_big_endian) bits = __builtin_bswap32(bits);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void gpnn_npy_row_read(const struct gpnn_npy *npy, const char *bytes, double *numbers)
{
  const unsigned char *from = (const unsigned char *)bytes;
  bool is_single = npy->number_bytes == sizeof(float);
  for (size_t j = 0; j < npy->n_columns; j++, from += npy->number_bytes)
    numbers[j] = is_single ? (double)read_float(from, npy->is_big_endian)
                           : read_double(from, npy->is_big_endian);
}

/* ---- text becomes .npy -------------------------------------------------------------------- */

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
