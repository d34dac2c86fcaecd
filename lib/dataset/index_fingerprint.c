#include "dataset/index_fingerprint_private.h"

#include <stdbool.h>
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
  bool of_columns = memcmp(tag, "COLS", 4) == 0 || memcmp(tag, "ROLE", 4) == 0 ||
                    memcmp(tag, "OCOL", 4) == 0 || memcmp(tag, "GCOL", 4) == 0 ||
                    memcmp(tag, "COLX", 4) == 0;
  return of_columns ? &print->columns : &print->rest;
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
