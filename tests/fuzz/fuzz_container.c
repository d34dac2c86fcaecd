/*
 * Containers, read as indexes: whatever header and table say, sections that are given out lie
 * inside the file.  The first byte: bit 0, the checksums of header and table are made right; bit 1,
 * the length too.  The rest is the file.
 */
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "dataset/index/index_private.h"
#include "fuzz.h"

enum { HEADER = 64, FRONT = HEADER + GPNN_CONTAINER_SECTIONS * 32 };

static uint32_t checksum(const void *bytes, size_t length)
{
  return (uint32_t)crc32_z(0, bytes, length);
}

static void repair(uint8_t choice, unsigned char *file, size_t length)
{
  if (length < FRONT) return;
  if (choice & 2) gpnn_store_u64(file + 32, length);
  if ((choice & 1) == 0) return;
  gpnn_store_u32(file + 28, checksum(file + HEADER, FRONT - HEADER));
  gpnn_store_u32(file + 60, checksum(file, 60));
}

static void check_sections(const struct gpnn_container *container, const unsigned char *file,
                           size_t length)
{
  for (size_t i = 0; i < gpnn_container_count(container); i++) {
    struct gpnn_error err = {0};
    const struct gpnn_container_section *section = gpnn_container_get(container, i);
    FUZZ_EXPECT(section->offset % 64 == 0 && section->offset <= length);
    FUZZ_EXPECT(section->length <= length - section->offset);
    const unsigned char *bytes = gpnn_container_bytes(container, section);
    FUZZ_EXPECT(memcmp(bytes, file + section->offset, section->length) == 0);
    FUZZ_EXPECT(gpnn_container_find(container, section->tag) == section);
    enum gpnn_status status = gpnn_container_check(container, section, &err);
    FUZZ_EXPECT((status == GPNN_OK) == (checksum(bytes, section->length) == section->crc));
    if (status != GPNN_OK) fuzz_expect_failure(status, &err);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  uint8_t choice = fuzz_byte(&bytes, &length);
  struct gpnn_error err = {0};
  struct gpnn_container *container = NULL;
  struct gpnn_index_format format;
  const struct gpnn_container_format *known = gpnn_index_format(GPNN_CONTAINER_INDEX, &format);
  char *file = fuzz_text(bytes, length);
  repair(choice, (unsigned char *)file, length);
  const char *path = fuzz_file(0, file, length);
  gpnn_index_recognise(path);
  enum gpnn_status status = gpnn_container_open(&container, path, known, &err);
  if (status == GPNN_OK)
    check_sections(container, (const unsigned char *)file, length);
  else
    fuzz_expect_failure(status, &err);
  gpnn_container_close(container);
  free(file);
  return 0;
}
