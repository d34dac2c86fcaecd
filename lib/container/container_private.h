/*
 * container_private: the layout of containers (gpnn-index(5)), for their reader and writer.
 */
#ifndef GPNN_CONTAINER_CONTAINER_PRIVATE_H
#define GPNN_CONTAINER_CONTAINER_PRIVATE_H

#include <string.h>
#include <zlib.h>

#include "container/container.h"

/* Offsets of fields in the header (AT_) and in an entry of the table (ENTRY_), and sizes. */
enum {
  AT_MAJOR = 8,
  AT_MINOR = 12,
  AT_ORDER = 16,
  AT_KIND = 20,
  AT_COUNT = 24,
  AT_TABLE_CRC = 28,
  AT_LENGTH = 32,
  AT_FINGERPRINT = 40,
  AT_HEADER_CRC = 60,
  HEADER_BYTES = 64,

  ENTRY_FLAGS = 4,
  ENTRY_OFFSET = 8,
  ENTRY_LENGTH = 16,
  ENTRY_CRC = 24,
  ENTRY_RESERVED = 28,
  ENTRY_BYTES = 32,

  FRONT_BYTES = GPNN_CONTAINER_FRONT_BYTES,
  ALIGN = 64,
  CRITICAL = 1,

  MAJOR = 1,
  ORDER = 0x01020304, /* stored in the byte order of the machine that writes */
};

_Static_assert((int)FRONT_BYTES == HEADER_BYTES + (int)GPNN_CONTAINER_SECTIONS * ENTRY_BYTES,
               "all sections have room");

/* How many bytes bring 'length' to a multiple of ALIGN. */
static inline size_t gpnn_container_padding(uint64_t length)
{
  return (size_t)(-length % ALIGN);
}

static inline uint32_t gpnn_container_checksum(uint32_t crc, const void *bytes, size_t length)
{
  return (uint32_t)crc32_z(crc, bytes, length);
}

/* The format's entry for 'tag', or NULL. */
static inline const struct gpnn_container_tag *
gpnn_container_find_tag(const struct gpnn_container_format *format, const char tag[4])
{
  for (size_t i = 0; i < format->n_tags; i++)
    if (memcmp(format->tags[i].tag, tag, 4) == 0) return &format->tags[i];
  return NULL;
}

#endif
