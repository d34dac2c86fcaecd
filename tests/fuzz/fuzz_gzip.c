/*
 * Compressed input: the bytes come out the same whatever the room for them; and what was
 * compressed comes out whole, or, where it is cut off, as a beginning and a failure.
 * The first byte: 0 to 127, the rest is a file; else, the rest is compressed and cut.
 */
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "fuzz.h"
#include "table/stream.h"

enum { MOST = 1 << 22 };

/* Reads up to MOST bytes, 'room' at a time. */
static enum gpnn_status read_all(const char *path, size_t room, uint8_t *out, size_t *length)
{
  struct gpnn_error err = {0};
  struct gpnn_input *input = NULL;
  *length = 0;
  enum gpnn_status status = gpnn_input_open(&input, path, &err);
  while (status == GPNN_OK && *length < MOST) {
    size_t got = 0, left = MOST - *length;
    status = gpnn_input_read(input, out + *length, room < left ? room : left, &got, &err);
    if (status == GPNN_OK) FUZZ_EXPECT(got > 0 && got <= room);
    if (status == GPNN_OK) *length += got;
  }
  if (status != GPNN_OK && status != GPNN_END) fuzz_expect_failure(status, &err);
  gpnn_input_close(input);
  return status;
}

static void read_file(const uint8_t *bytes, size_t length, uint8_t *a, uint8_t *b)
{
  size_t n_a, n_b;
  const char *path = fuzz_file(0, bytes, length);
  enum gpnn_status status = read_all(path, 1 << 16, a, &n_a);
  FUZZ_EXPECT(read_all(path, 7, b, &n_b) == status);
  if (status == GPNN_END || status == GPNN_OK)
    FUZZ_EXPECT(n_a == n_b && memcmp(a, b, n_a) == 0);
  else
    FUZZ_EXPECT(memcmp(a, b, n_a < n_b ? n_a : n_b) == 0);
  bool is_gzip = length >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
  if (!is_gzip) FUZZ_EXPECT(status == GPNN_END && n_a == length && memcmp(a, bytes, length) == 0);
}

/* Appends a member that holds 'bytes'. */
static size_t compress_member(const uint8_t *bytes, size_t length, int level, uint8_t *out,
                              size_t room)
{
  enum { GZIP = 16 };
  z_stream z = {0};
  FUZZ_EXPECT(deflateInit2(&z, level, Z_DEFLATED, MAX_WBITS + GZIP, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  z.next_in = (z_const Bytef *)(uintptr_t)bytes;
  z.avail_in = (uInt)length;
  z.next_out = out;
  z.avail_out = (uInt)room;
  FUZZ_EXPECT(deflate(&z, Z_FINISH) == Z_STREAM_END);
  size_t used = room - z.avail_out;
  deflateEnd(&z);
  return used;
}

/* Two members, of which the last 'cut' bytes are missing. */
static void read_cut(uint8_t choice, size_t cut, const uint8_t *bytes, size_t length, uint8_t *a,
                     uint8_t *b)
{
  size_t first = length / 3, n_a, at;
  at = compress_member(bytes, first, choice % 10, b, MOST);
  size_t whole =
      at + compress_member(bytes + first, length - first, choice % 10, b + at, MOST - at);
  if (cut > whole) cut = whole;
  enum gpnn_status status = read_all(fuzz_file(0, b, whole - cut), 1 + choice, a, &n_a);
  if (whole - cut < 2) return;
  FUZZ_EXPECT(n_a <= length && memcmp(a, bytes, n_a) == 0);
  FUZZ_EXPECT((status == GPNN_END) == (cut == 0 || whole - cut == at));
  if (cut == 0) FUZZ_EXPECT(n_a == length);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  static uint8_t a[MOST], b[MOST];
  uint8_t choice = fuzz_byte(&bytes, &length);
  if (length > MOST / 8) return 0;
  if (choice < 128)
    read_file(bytes, length, a, b);
  else {
    size_t cut = fuzz_byte(&bytes, &length);
    read_cut(choice, cut, bytes, length, a, b);
  }
  return 0;
}
