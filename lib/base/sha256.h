/*
 * sha256: checksums that are not the same for different bytes (FIPS 180-4).
 *
 * Calling sequence: gpnn_sha256_begin(), gpnn_sha256_add() any number of times, and
 * gpnn_sha256_value() whenever that of the bytes so far is wanted.  Threads: no shared state.
 */
#ifndef GPNN_BASE_SHA256_H
#define GPNN_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct gpnn_sha256 {
  uint32_t state[8];
  unsigned char block[64];
  uint64_t length; /* bytes so far */
};

void gpnn_sha256_begin(struct gpnn_sha256 *sha);

void gpnn_sha256_add(struct gpnn_sha256 *sha, const void *bytes, size_t n);

/* The checksum of the bytes so far, as 8 words; more may be added afterwards. */
void gpnn_sha256_value(const struct gpnn_sha256 *sha, uint32_t value[8]);

#endif
