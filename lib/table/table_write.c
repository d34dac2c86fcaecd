/*
 * Writing the fields of a table.
 */
#include <math.h>
#include <string.h>

#include "table/table_private.h"

/* True if a file that begins with 'text' and a delimiter or line end begins with 'magic'. */
static bool begins_with(char delimiter, const char *text, size_t length, const char *magic,
                        size_t magic_bytes)
{
  size_t compared = length < magic_bytes ? length : magic_bytes;
  return memcmp(text, magic, compared) == 0 &&
         (compared == magic_bytes || magic[compared] == delimiter || magic[compared] == '\n');
}

/* True if such a file would lose its first bytes as a byte order mark, or be taken for something
 * else than a table of text in UTF-8. */
static bool begins_other_file(char delimiter, const char *text, size_t length)
{
  static const char *const beginnings[] = {GPNN_TABLE_BOM,    "\xff\xfe", /* UTF-16 */
                                           "\xfe\xff",        "\x1f\x8b", /* gzip */
                                           GPNN_TABLE_PARAMS, GPNN_NPY_MAGIC};
  if (length > 0 && memchr("-0123456789", *text, 11) != NULL) return false; /* as most do */
  for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
    if (begins_with(delimiter, text, length, beginnings[i], strlen(beginnings[i]))) return true;
  for (size_t i = 0; i < GPNN_FOREIGN_FORMATS; i++) {
    const struct gpnn_foreign *format = gpnn_foreign(i);
    if (begins_with(delimiter, text, length, format->magic, format->magic_bytes)) return true;
  }
  return false;
}

/* A tab, or a comma unless tabs delimit, could be detected as the delimiter of a header. */
bool gpnn_table_needs_quotes(char delimiter, const char *text, size_t length)
{
  if (begins_other_file(delimiter, text, length)) return true;
  if (length == 0 && delimiter == ' ') return true; /* or else there is no field */
  for (size_t i = 0; i < length; i++)
    if (text[i] == delimiter || text[i] == '"' || text[i] == '\r' || text[i] == '\n' ||
        text[i] == '\t' || (text[i] == ',' && delimiter != '\t'))
      return true;
  return false;
}

enum gpnn_status gpnn_table_write_field(struct gpnn_output *output, char delimiter,
                                        const char *text, size_t length, struct gpnn_error *err)
{
  if (!gpnn_table_needs_quotes(delimiter, text, length))
    return gpnn_output_write(output, text, length, err);
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
