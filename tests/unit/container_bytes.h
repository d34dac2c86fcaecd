/*
 * container_bytes: the bytes of a container file, for tests that damage them.
 *
 * Offsets are those of gpnn-index(5).
 */
#ifndef GPNN_TESTS_CONTAINER_BYTES_H
#define GPNN_TESTS_CONTAINER_BYTES_H

#include <sys/stat.h>
#include <zlib.h>

#include "base/bytes.h"
#include "unit.h"

/* The header and the table of sections. */
enum { CONTAINER_FRONT = 2048 };

struct bytes {
  unsigned char *at; /* the caller frees it */
  size_t length;
};

static inline struct bytes read_bytes(const char *path)
{
  struct stat st;
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fstat(fileno(file), &st), 0);
  struct bytes bytes = {malloc((size_t)st.st_size + 1), (size_t)st.st_size};
  assert_int_equal(fread(bytes.at, 1, bytes.length, file), bytes.length);
  fclose(file);
  return bytes;
}

static inline void write_bytes(const char *path, const void *bytes, size_t length)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

/* Corrects the checksums of header and table. */
static inline void seal_front(struct bytes whole)
{
  gpnn_store_u32(whole.at + 28, (uint32_t)crc32(0, whole.at + 64, CONTAINER_FRONT - 64));
  gpnn_store_u32(whole.at + 60, (uint32_t)crc32(0, whole.at, 60));
}

/* The section's entry in the table. */
static inline unsigned char *entry_of(struct bytes whole, const char *tag)
{
  for (size_t i = 0; i < 62; i++)
    if (memcmp(whole.at + 64 + 32 * i, tag, 4) == 0) return whole.at + 64 + 32 * i;
  fail_msg("no section %s", tag);
  return NULL;
}

/* Corrects the checksum of the section of an entry, and returns the section; '*length' is its
 * length. */
static inline unsigned char *seal_section(struct bytes whole, unsigned char *entry, size_t *length)
{
  unsigned char *section = whole.at + gpnn_load_u64(entry + 8);
  *length = (size_t)gpnn_load_u64(entry + 16);
  gpnn_store_u32(entry + 24, (uint32_t)crc32_z(0, section, *length));
  return section;
}

static inline unsigned char *section_of(struct bytes whole, const char *tag)
{
  return whole.at + gpnn_load_u64(entry_of(whole, tag) + 8);
}

/* Corrects all checksums and writes the file. */
static inline void write_sealed(const char *path, struct bytes whole)
{
  size_t length;
  for (size_t i = 0; i < gpnn_load_u32(whole.at + 24); i++)
    seal_section(whole, whole.at + 64 + 32 * i, &length);
  seal_front(whole);
  write_bytes(path, whole.at, whole.length);
}

#endif
