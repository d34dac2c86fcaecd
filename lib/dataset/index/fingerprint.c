/*
 * The fingerprint of an index: which columns and which rows it is of (gpnn-index(5)).
 */
#include <string.h>

#include "dataset/index/index_private.h"

/* Mixes in eight bytes at a time, the last padded with zeros, each by a bijection, so that changing
 * any one of them changes the hash. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t length)
{
  const unsigned char *from = bytes;
  for (size_t at = 0; at < length; at += 8) {
    uint64_t word = 0;
    memcpy(&word, from + at, length - at < 8 ? length - at : 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

void gpnn_fingerprint_begin(struct gpnn_fingerprint *print,
                            const struct gpnn_index_section *section, uint64_t length)
{
  unsigned char head[12];
  memcpy(head, section->tag.tag, 4);
  gpnn_store_u64(head + 4, length);
  gpnn_fingerprint_add(print, section, head, sizeof head);
}

void gpnn_fingerprint_add(struct gpnn_fingerprint *print, const struct gpnn_index_section *section,
                          const void *bytes, size_t length)
{
  enum gpnn_index_hash either = print->is_earlier ? GPNN_INDEX_GROUPS : GPNN_INDEX_SCALING;
  bool is_of_columns = section->hash == GPNN_INDEX_COLUMNS || section->hash == either;
  if (is_of_columns)
    print->columns = mix(print->columns, bytes, length);
  else if (section->hash != GPNN_INDEX_UNHASHED)
    print->rest = mix(print->rest, bytes, length);
}

uint64_t gpnn_fingerprint_value(const struct gpnn_fingerprint *print)
{
  return print->columns >> 32 << 32 | print->rest >> 32;
}
