/*
 * States: what is poured is what was read.  The first byte: if odd, all checksums and the length
 * are made right, so that what the sections say counts.  The rest is the state.
 */
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "container/state.h"
#include "fuzz.h"

struct poured {
  unsigned char *bytes;
  size_t length;
};

static enum gpnn_status collect(void *context, const void *bytes, size_t length,
                                struct gpnn_error *err)
{
  struct poured *all = context;
  (void)err;
  all->bytes = realloc(all->bytes, all->length + length + 1);
  FUZZ_EXPECT(all->bytes != NULL);
  if (length > 0) memcpy(all->bytes + all->length, bytes, length);
  all->length += length;
  return GPNN_OK;
}

enum { HEADER = 64, ENTRY = 32, FRONT = HEADER + GPNN_CONTAINER_SECTIONS * ENTRY };

static uint32_t checksum(const void *bytes, size_t length)
{
  return (uint32_t)crc32_z(0, bytes, length);
}

static void repair(unsigned char *file, size_t length)
{
  if (length < FRONT) return;
  gpnn_store_u64(file + 32, length);
  for (unsigned char *entry = file + HEADER; entry < file + FRONT; entry += ENTRY) {
    uint64_t offset = gpnn_load_u64(entry + 8), size = gpnn_load_u64(entry + 16);
    if (offset <= length && size <= length - offset)
      gpnn_store_u32(entry + 24, size == 0 ? 0 : checksum(file + offset, (size_t)size));
  }
  gpnn_store_u32(file + 28, checksum(file + HEADER, FRONT - HEADER));
  gpnn_store_u32(file + 60, checksum(file, 60));
}

static void pour_and_read(const struct gpnn_state *state, const char *text, size_t length)
{
  struct gpnn_error err = {0};
  struct gpnn_state *again = NULL;
  struct poured first = {NULL, 0}, second = {NULL, 0};
  const char *same;
  size_t same_length;
  FUZZ_EXPECT(gpnn_state_pour(state, text, length, collect, &first, &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_state_read(&again, &same, &same_length, "again", first.bytes, first.length,
                              &err) == GPNN_OK);
  FUZZ_EXPECT(again->n == state->n && again->fingerprint == state->fingerprint);
  FUZZ_EXPECT(same_length == length && (length == 0 || memcmp(same, text, length) == 0));
  FUZZ_EXPECT(gpnn_state_pour(again, same, same_length, collect, &second, &err) == GPNN_OK);
  FUZZ_EXPECT(first.length == second.length &&
              memcmp(first.bytes, second.bytes, first.length) == 0);
  gpnn_state_free(again);
  free(first.bytes);
  free(second.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  uint8_t choice = fuzz_byte(&bytes, &length);
  struct gpnn_error err = {0};
  struct gpnn_state *state = NULL;
  const char *text;
  size_t text_length;
  void *copy = malloc(length + 1); /* aligned, and as long as it says */
  FUZZ_EXPECT(copy != NULL);
  if (length > 0) memcpy(copy, bytes, length);
  if (choice & 1) repair(copy, length);
  enum gpnn_status status =
      gpnn_state_read(&state, &text, &text_length, "state", copy, length, &err);
  if (status != GPNN_OK) {
    fuzz_expect_failure(status, &err);
    FUZZ_EXPECT(state == NULL);
  } else {
    pour_and_read(state, text, text_length);
    gpnn_state_free(state);
  }
  free(copy);
  return 0;
}
