/*
 * shard_private: the manifest, which shard_deal.c writes and shard.c reads.
 */
#ifndef GPNN_SHARD_SHARD_PRIVATE_H
#define GPNN_SHARD_SHARD_PRIVATE_H

#include "shard/shard.h"

/* What the manifest says of a shard. */
struct gpnn_shard_entry {
  uint64_t n;           /* rows */
  uint64_t fingerprint; /* of its index */
  uint64_t numbers;     /* checksum of their numbers */
};

/* The checksum of the numbers of rows. */
uint64_t gpnn_shard_checksum(uint64_t n, const uint64_t *number);

#define GPNN_SHARD_FIRST_LINE "gpnn-shards 1\n"

#endif
