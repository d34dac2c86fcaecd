#include "dataset/index_fingerprint_private.h"

#include <string.h>

#include "base/bytes.h"

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

static uint64_t *hash_of(struct gpnn_fingerprint *print, const char *tag)
{
  static const char *const of_columns[] = {"COLS", "ROLE", "OCOL", "GCOL", "CLAS",
                                           "ECOL", "COLX", "NAME", "FACT"};
  for (size_t i = 0; i < sizeof of_columns / sizeof *of_columns; i++)
    if (memcmp(tag, of_columns[i], 4) == 0) return &print->columns;
  return &print->rest;
}

void gpnn_fingerprint_begin(struct gpnn_fingerprint *print, const char *tag, uint64_t length)
{
  unsigned char head[12];
  memcpy(head, tag, 4);
  gpnn_store_u64(head + 4, length);
  gpnn_fingerprint_add(print, tag, head, sizeof head);
}

void gpnn_fingerprint_add(struct gpnn_fingerprint *print, const char *tag, const void *bytes,
                          size_t length)
{
  uint64_t *hash = hash_of(print, tag);
  *hash = mix(*hash, bytes, length);
}

uint64_t gpnn_fingerprint_value(const struct gpnn_fingerprint *print)
{
  return print->columns >> 32 << 32 | print->rest >> 32;
}
