#define _GNU_SOURCE /* memfd_create(), F_SETPIPE_SZ */

#include "fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_BYTES = 32, SINK_BYTES = 1 << 20 };

const char *fuzz_file(int slot, const void *bytes, size_t length)
{
  static int fds[2] = {-1, -1};
  static char paths[2][PATH_BYTES];
  int *fd = &fds[slot];
  if (*fd < 0) *fd = memfd_create("fuzz", MFD_CLOEXEC);
  FUZZ_EXPECT(*fd >= 0 && ftruncate(*fd, 0) == 0);
  FUZZ_EXPECT(pwrite(*fd, bytes, length, 0) == (ssize_t)length);
  snprintf(paths[slot], PATH_BYTES, "/proc/self/fd/%d", *fd);
  return paths[slot];
}

/* Bytes of a character that begins at 'text', 0 if it is malformed or a control character. */
static size_t character(const unsigned char *text)
{
  if (text[0] < 0x80) return text[0] >= 0x20 && text[0] != 0x7f;
  size_t n = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
  if (text[0] < 0xc2 || text[0] > 0xf4) return 0;
  for (size_t i = 1; i < n; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  return text[0] == 0xc2 && text[1] < 0xa0 ? 0 : n;
}

void fuzz_expect_shown(const char *line)
{
  FUZZ_EXPECT(line[0] != '\0');
  for (const unsigned char *text = (const unsigned char *)line; *text != '\0';) {
    size_t n = character(text);
    FUZZ_EXPECT(n > 0);
    text += n;
  }
}

void fuzz_expect_failure(enum gpnn_status status, const struct gpnn_error *err)
{
  FUZZ_EXPECT(status != GPNN_OK && status != GPNN_END && err->status == status);
  fuzz_expect_shown(err->text);
}

static int sink[2] = {-1, -1};

const char *fuzz_sink(void)
{
  static char path[PATH_BYTES];
  if (sink[0] < 0) {
    FUZZ_EXPECT(pipe2(sink, O_CLOEXEC | O_NONBLOCK) == 0);
    FUZZ_EXPECT(fcntl(sink[1], F_SETPIPE_SZ, SINK_BYTES) >= SINK_BYTES);
    snprintf(path, sizeof path, "/proc/self/fd/%d", sink[1]);
  }
  return path;
}

char *fuzz_drain(size_t *length)
{
  static uint8_t bytes[SINK_BYTES];
  *length = 0;
  for (ssize_t got; (got = read(sink[0], bytes + *length, SINK_BYTES - *length)) > 0;)
    *length += (size_t)got;
  return fuzz_text(bytes, *length);
}

struct gpnn_table *fuzz_table(const uint8_t *bytes, size_t length, bool has_header)
{
  struct gpnn_error err = {0};
  struct gpnn_table_options options = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_table *table = NULL;
  options.has_header = has_header;
  enum gpnn_status status = gpnn_table_open(&table, fuzz_file(0, bytes, length), &options, &err);
  if (status != GPNN_OK) fuzz_expect_failure(status, &err);
  return table;
}

uint8_t fuzz_byte(const uint8_t **bytes, size_t *length)
{
  if (*length == 0) return 0;
  --*length;
  return *(*bytes)++;
}

char *fuzz_text(const uint8_t *bytes, size_t length)
{
  char *text = malloc(length + 1);
  FUZZ_EXPECT(text != NULL);
  if (length > 0) memcpy(text, bytes, length);
  text[length] = '\0';
  return text;
}

char *fuzz_line(const uint8_t **bytes, size_t *length)
{
  const uint8_t *end = *length == 0 ? NULL : memchr(*bytes, '\n', *length);
  size_t n = end == NULL ? *length : (size_t)(end - *bytes);
  char *line = fuzz_text(*bytes, n);
  if (end != NULL) n++;
  *bytes += n;
  *length -= n;
  return line;
}

void fuzz_split(char *text, char delimiter, size_t n, char **fields)
{
  for (size_t i = 0; i < n; i++) {
    char *end = text == NULL ? NULL : strchr(text, delimiter);
    if (end != NULL) *end = '\0';
    fields[i] = text != NULL && text[0] != '\0' ? text : NULL;
    text = end == NULL ? NULL : end + 1;
  }
}
