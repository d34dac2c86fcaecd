#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

GPNN_PRINTF(3, 0)
static void compose(struct gpnn_error *err, enum gpnn_status status, const char *format,
                    va_list args)
{
  err->status = status;
  err->what = NULL;
  vsnprintf(err->text, sizeof err->text, format, args);
}

enum gpnn_status gpnn_fail(struct gpnn_error *err, enum gpnn_status status, const char *format, ...)
{
  if (err != NULL) {
    va_list args;
    va_start(args, format);
    compose(err, status, format, args);
    va_end(args);
  }
  return status;
}

enum gpnn_status gpnn_fail_errno(struct gpnn_error *err, int errnum, const char *format, ...)
{
  enum gpnn_status status = errnum == ENOMEM ? GPNN_ENOMEM : GPNN_EIO;
  if (err != NULL) {
    va_list args;
    va_start(args, format);
    compose(err, status, format, args);
    va_end(args);
    char reason[128] = "unknown error";
    if (strerror_r(errnum, reason, sizeof reason) != 0)
      snprintf(reason, sizeof reason, "error %d", errnum);
    /* The reason matters more than the end of a long file name, which is cut instead. */
    size_t used = strlen(err->text), room = sizeof err->text - strlen(reason) - sizeof "...: ";
    bool is_cut = used > room;
    if (is_cut) used = room;
    snprintf(err->text + used, sizeof err->text - used, "%s: %s", is_cut ? "..." : "", reason);
  }
  return status;
}

enum gpnn_status gpnn_fail_memory(struct gpnn_error *err, const char *what)
{
  return gpnn_fail(err, GPNN_ENOMEM, "not enough memory %s", what);
}

enum gpnn_status gpnn_prefix(struct gpnn_error *err, enum gpnn_status status, const char *format,
                             ...)
{
  if (err == NULL) return status;
  const struct gpnn_error old = *err;
  va_list args;
  va_start(args, format);
  compose(err, status, format, args);
  va_end(args);
  size_t used = strlen(err->text);
  snprintf(err->text + used, sizeof err->text - used, ": %s", old.text);
  err->what = old.what;
  err->column = old.column;
  return status;
}

/* Decodes the UTF-8 character at 's'; returns its length, or 0 if it is malformed. */
static size_t decode(const unsigned char *s, size_t n, uint32_t *code)
{
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  *code = s[0];
  if (s[0] < 0x80) return 1;
  size_t length = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
  if (length == 0 || length > n) return 0;
  *code = s[0] & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (s[i] & 0x3f);
  }
  bool rejected =
      *code < smallest[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000);
  return rejected ? 0 : length;
}

size_t gpnn_utf8_length(const char *bytes, size_t n)
{
  uint32_t code;
  return n == 0 ? 0 : decode((const unsigned char *)bytes, n, &code);
}

/* The length of the well-formed and printable UTF-8 character at 's', or 0. */
static size_t printable(const unsigned char *s, size_t n)
{
  uint32_t code;
  size_t length = decode(s, n, &code);
  bool rejected = code < 0x20 || (code >= 0x7f && code < 0xa0) /* C0 and C1 controls */
                  || (code >= 0x200b && code < 0x2010)         /* zero width, direction marks */
                  || (code >= 0x2028 && code < 0x202f) || (code >= 0x2066 && code < 0x206a);
  return rejected ? 0 : length;
}

const char *gpnn_mask(char out[GPNN_MASK_BYTES], const char *bytes, size_t n_bytes)
{
  static const char ellipsis[] = "...";
  const unsigned char *s = (const unsigned char *)bytes;
  size_t room = GPNN_MASK_BYTES - sizeof ellipsis, used = 0, i = 0;
  while (i < n_bytes) {
    size_t length = printable(s + i, n_bytes - i);
    size_t wanted = length == 0 ? 1 : length;
    if (used + wanted > room) break;
    if (length == 0)
      out[used] = '?';
    else
      memcpy(out + used, s + i, length);
    used += wanted;
    i += wanted;
  }
  memcpy(out + used, i < n_bytes ? ellipsis : "", i < n_bytes ? sizeof ellipsis : 1);
  return out;
}

void gpnn_mask_all(char *text, const char *kept)
{
  size_t n = strlen(text);
  for (size_t i = 0, length; i < n; i += length) {
    length = printable((const unsigned char *)text + i, n - i);
    if (length > 0) continue;
    if (strchr(kept, text[i]) == NULL) text[i] = '?';
    length = 1;
  }
}
